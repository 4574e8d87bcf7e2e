"""The types and constants of a shader as a kernel has them.

Integers have no sign, matrices of columns are arrays, structures and arrays lie as C's. A pointer to memory that
decorations lay out points to a scalar or a vector in it: that is all that such memory is accessed by.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.shader_layout import Layout, Placed
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import Capability, Decoration, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_number

HOST_MEMORY = frozenset({StorageClass.StorageBuffer, StorageClass.Uniform, StorageClass.PhysicalStorageBuffer,
                         StorageClass.PushConstant})
"""Where pointers lead to memory that the host sees."""
_BYTE = 8


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a kernel's pointer to laid out memory points to: the id of a scalar or vector type, and its bytes."""

    type_id: int
    size: int


class Types:
    """The types of a shader in the module that is being built."""

    def __init__(self, module: Module, builder: ModuleBuilder) -> None:
        self.module = module
        self.builder = builder
        self.layout = Layout(module)
        self.private = StorageClass.Private
        """Where the variables of work-items are that stand outside of functions."""
        self._made: dict[int, int] = {}
        self._blocks_in_local_memory = (
            Capability.WorkgroupMemoryExplicitLayoutKHR in module.capabilities
            and any(self._is_block(row) for row in module.of_opcode(Op.Variable)
                    if row.words[0] == StorageClass.Workgroup))

    def definition(self, identifier: int) -> Instruction:
        """An instruction of the shader."""
        return self.module.definition(identifier)

    def _is_block(self, variable: Instruction) -> bool:
        pointee = self.definition(variable.type_id or 0).words[1]
        return any(one == Decoration.Block for one, _ in self.module.decorations(pointee))

    # --- pointers to memory that is laid out --------------------------------------------

    def is_laid_out(self, type_id: int | None) -> bool:
        """Whether a type is that of pointers to memory whose layout decorations give."""
        type_ = self.definition(type_id or 0)
        if type_.opcode != Op.TypePointer:
            return False
        return type_.words[0] in HOST_MEMORY or (
            type_.words[0] == StorageClass.Workgroup and self._blocks_in_local_memory)

    def storage(self, type_id: int) -> StorageClass:
        """The storage class of a kernel's pointers for a shader's."""
        storage = StorageClass(self.definition(type_id).words[0])
        return StorageClass.CrossWorkgroup if storage in HOST_MEMORY else storage

    def leaf(self, placed: Placed) -> Leaf:
        """What pointers to a type point to: the type itself where it is a scalar or a plain vector, that of an array's
        elements or of a structure's only member, the one kind of scalars that a structure has, or else bytes."""
        type_ = self.layout.definition(placed)
        match type_.opcode:
            case Op.TypeVector if not self.layout.is_plain_vector(placed):
                return self.leaf(Placed(type_.words[0]))
            case Op.TypeArray | Op.TypeRuntimeArray | Op.TypeMatrix:
                return self.leaf(self.layout.element(placed)[0])
            case Op.TypeStruct if len(type_.words) == 1:
                return self.leaf(self.layout.member(placed, 0)[0])
            case Op.TypeStruct:
                scalars = {self.leaf(Placed(one)) for one in self.layout.scalars(placed)}
                return scalars.pop() if len(scalars) == 1 else self.bytes
            case Op.TypePointer:
                return Leaf(self.builder.type_int(64), 8)
        return Leaf(self[placed.type_id], self.layout.size(placed))

    @property
    def bytes(self) -> Leaf:
        """A byte."""
        return Leaf(self.builder.type_int(_BYTE), 1)

    # --- types as values have them ------------------------------------------------------

    def __getitem__(self, type_id: int) -> int:
        """The id of a kernel's type."""
        if type_id not in self._made:
            self._made[type_id] = self._make(self.definition(type_id))
            name = self.module.names.get(type_id)
            if name and self.definition(type_id).opcode == Op.TypeStruct:
                self.builder.name(self._made[type_id], name)
        return self._made[type_id]

    def _make(self, type_: Instruction) -> int:
        builder, words = self.builder, type_.words
        match type_.opcode:
            case Op.TypeVoid | Op.TypeBool | Op.TypeFloat | Op.TypeEvent:
                return builder.type_opaque(Op(type_.opcode), *words)
            case Op.TypeInt:
                return builder.type_int(words[0])
            case Op.TypeVector:
                return builder.type_vector(self[words[0]], words[1])
            case Op.TypeMatrix:
                return builder.type_array(self[words[0]], words[1])
            case Op.TypeArray:
                length = self.module.constant_value(words[1])
                if not isinstance(length, int) or length < 1:
                    raise Error("the length of an array is no constant that is known when the kernel is built")
                return builder.type_array(self[words[0]], length)
            case Op.TypeStruct:
                return builder.type_struct([self[word] for word in words])
            case Op.TypePointer if self.is_laid_out(type_.result_id):
                pointee = self.leaf(Placed(words[1]))
                return builder.type_pointer(self.storage(type_.result_id or 0), pointee.type_id)
            case Op.TypePointer:
                storage = self.private if words[0] == StorageClass.Private else StorageClass(words[0])
                return builder.type_pointer(storage, self[words[1]])
            case Op.TypeFunction:
                return builder.type_function(self[words[0]], [self[word] for word in words[1:]])
            case Op.TypeCooperativeMatrixKHR:
                return builder.type_opaque(Op.TypeCooperativeMatrixKHR, self[words[0]],
                                           *(self._number(word) for word in words[1:]))
        raise Error(f"{type_.name} of shaders has no counterpart in kernels: what can be run are buffers, push "
                    "constants, local memory and cooperative matrices")

    def _number(self, identifier: int) -> int:
        value = self.module.constant_value(identifier)
        if not isinstance(value, int):
            raise Error("a cooperative matrix has a size that is no constant when the kernel is built")
        return self.builder.constant(self.builder.type_int(32), value)

    # --- constants ----------------------------------------------------------------------

    def constant(self, row: Instruction, of: dict[int, int]) -> int | None:
        """The id of a constant of the kernel, whose parts are in ``of``; None for what is no constant."""
        builder = self.builder
        match row.opcode:
            case Op.ConstantTrue | Op.ConstantFalse:
                return builder.constant_bool(row.opcode == Op.ConstantTrue)
            case Op.Constant:
                return builder.constant_bits(self[row.type_id or 0], decode_number(row.words))
            case Op.ConstantComposite:
                return builder.constant_composite(self[row.type_id or 0], [of[word] for word in row.words])
            case Op.ConstantNull:
                return builder.constant_null(self[row.type_id or 0])
            case Op.Undef:
                return builder.undef(self[row.type_id or 0])
            case Op.ConstantCompositeReplicateEXT:
                return builder.constant_replicated(self[row.type_id or 0], of[row.words[0]])
            case Op.SpecConstantOp:
                return self._operation(row, of)
        return None

    def _operation(self, row: Instruction, of: dict[int, int]) -> int:
        """A constant operation that no scalar constant stands for: a part of a composite is that constant."""
        op, *operands = row.words
        if op == Op.CompositeExtract:
            found = self.definition(operands[0])
            for index in operands[1:]:
                if found.opcode != Op.ConstantComposite:
                    break
                found = self.definition(found.words[index])
            else:
                return of[found.result_id or 0]
        literal = {Op.CompositeExtract: 1, Op.CompositeInsert: 2, Op.VectorShuffle: 2}.get(Op(op), len(operands))
        words = [of[word] if place < literal else word for place, word in enumerate(operands)]
        return self.builder.constant_operation(self[row.type_id or 0], Op(op), *words)
