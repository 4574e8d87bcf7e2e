"""What a compute shader takes from its host, as the parameters of a kernel (docs/shaders.md).

First come the descriptors, by set and binding: a buffer is one pointer. A uniform buffer that holds addresses of other
buffers becomes its members instead, and so do, last, the push constants: values, and pointers where a member is an
address. What the shader does not use is no parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.analysis.shader_layout import COMPOSITES, Layout, Placed
from coopmat.spirv.grammar import Capability, Decoration, ExecutionModel, Op, StorageClass
from coopmat.spirv.module.content import Content, EntryPoint, Function
from coopmat.spirv.module.instruction import Instruction

MOST_MEMBERS = 256
"""Values that a block may have whose members are parameters."""
_OF_HOST = (StorageClass.StorageBuffer, StorageClass.Uniform, StorageClass.UniformConstant, StorageClass.PushConstant)


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a shader finds a parameter's value.

    kind: a whole buffer, or a member of a uniform buffer or of the push constants. variable, type_id: the ids of the
    variable and of the type of the block or member. set, binding: of a descriptor. path: the indices that lead to a
    member; offset, size: its bytes. is_address: whether it is a pointer. is_read_only: whether the shader does not
    write through it.
    """

    name: str
    kind: Literal["storage buffer", "uniform buffer", "uniform member", "push constant"]
    variable: int
    placed: Placed
    set: int = 0
    binding: int = 0
    path: tuple[int, ...] = ()
    offset: int = 0
    size: int = 0
    is_address: bool = False
    is_read_only: bool = False

    @property
    def is_buffer(self) -> bool:
        """Whether it is a whole buffer."""
        return self.kind in ("storage buffer", "uniform buffer")


@dataclass(frozen=True)
class Interface:
    """The parameters of a compute shader, in order. ``measured``: those buffers, by their place, whose size the shader
    asks for."""

    entry: EntryPoint
    slots: tuple[Slot, ...]
    measured: tuple[int, ...]


def is_shader(module: Content) -> bool:
    """Whether a module has compute shaders, and is none of kernels."""
    return (Capability.Kernel not in module.capabilities
            and any(entry.model == ExecutionModel.GLCompute for entry in module.entry_points))


def interfaces(module: Content) -> dict[str, Interface]:
    """Name → parameters of each compute shader. Error for what cannot be a parameter."""
    return {entry.name: _Reader(module, entry).interface() for entry in module.entry_points
            if entry.model == ExecutionModel.GLCompute}


def functions_reached(module: Content, function_id: int) -> list[Function]:
    """A function and those that it calls, in the module's order."""
    functions = {function.id: function for function in module.functions}
    waiting, reached = [function_id], {function_id}
    while waiting:
        function = functions.get(waiting.pop())
        for row in () if function is None else rows_of(function):
            called = [one for one in callees_of(row) if one not in reached]
            reached.update(called)
            waiting += called
    return [function for function in module.functions if function.id in reached]


def rows_of(function: Function) -> Iterator[Instruction]:
    """The instructions of a function's blocks."""
    return (row for block in function.blocks for row in block.instructions)


class _Reader:
    def __init__(self, module: Content, entry: EntryPoint) -> None:
        self.module = module
        self.entry = entry
        self.layout = Layout(module)
        self.rows = [row for function in functions_reached(module, entry.function_id) for row in rows_of(function)]
        self.used = {identifier for row in self.rows for identifier in row.ids()}

    def interface(self) -> Interface:
        variables = [row for row in self.module.of_opcode(Op.Variable)
                     if row.result_id in self.used and row.words[0] in _OF_HOST]
        described = [row for row in variables if row.words[0] != StorageClass.PushConstant]
        slots: list[Slot] = []
        for row in sorted(described, key=self._place):
            slots += self._descriptor(row)
        for row in variables:
            if row.words[0] == StorageClass.PushConstant:
                slots += self._members(row, "push constant")
        measured = {row.words[0] for row in self.rows if row.opcode == Op.ArrayLength}
        known = {slot.variable for slot in slots if slot.is_buffer}
        if not measured <= known:
            raise Error(f"compute shader '{self.entry.name}' asks for the length of an array that is not a member of a "
                        "storage buffer's variable")
        return Interface(self.entry, tuple(slots), tuple(i for i, slot in enumerate(slots)
                                                         if slot.is_buffer and slot.variable in measured))

    def _place(self, row: Instruction) -> tuple[int, int]:
        found = dict(self.module.decorations(row.result_id or 0))
        missing = [one.name for one in (Decoration.DescriptorSet, Decoration.Binding) if one not in found]
        if missing:
            raise Error(f"the variable '{self.layout.name(row.result_id or 0)}' has no {missing[0]}: where its buffer "
                        "is bound is not known")
        return found[Decoration.DescriptorSet][0], found[Decoration.Binding][0]

    def _block(self, row: Instruction) -> Placed:
        pointee = self.module.definition(row.type_id or 0).words[1]
        type_ = self.module.definition(pointee)
        name = self._name(row, Placed(pointee))
        if type_.opcode in (Op.TypeArray, Op.TypeRuntimeArray):
            raise Error(f"'{name}' is an array of descriptors, which cannot be parameters of a kernel: give each "
                        "buffer a binding of its own, or pass its address (buffer_reference)")
        if type_.opcode != Op.TypeStruct:
            raise Error(f"'{name}' is {type_.name}: of descriptors, only storage buffers and uniform buffers can be "
                        "parameters of a kernel")
        return Placed(pointee)

    def _descriptor(self, row: Instruction) -> Iterator[Slot]:
        block = self._block(row)
        kinds = {decoration for decoration, _ in self.module.decorations(block.type_id)}
        is_uniform = row.words[0] == StorageClass.Uniform and Decoration.BufferBlock not in kinds
        if is_uniform and any(self._is_address(one) for one in self.layout.scalars(block)):
            yield from self._members(row, "uniform member")
            return
        place, binding = self._place(row)
        yield Slot(self._name(row, block), "uniform buffer" if is_uniform else "storage buffer", row.result_id or 0,
                   block, place, binding, size=self.layout.size(block), is_address=True,
                   is_read_only=is_uniform or self._is_read_only(row, block))

    def _is_read_only(self, row: Instruction, block: Placed) -> bool:
        if any(one == Decoration.NonWritable for one, _ in self.module.decorations(row.result_id or 0)):
            return True
        return all(any(one == Decoration.NonWritable for one, _ in self.module.member_decorations(block.type_id, index))
                   for index in range(self.layout.length(block)))

    def _is_address(self, type_id: int) -> bool:
        return self.module.definition(type_id).opcode == Op.TypePointer

    def _name(self, row: Instruction, block: Placed) -> str:
        """The variable's name; of a block without one, as GLSL has it, that of its only member, or the block's own."""
        name = self.module.names.get(row.result_id or 0)
        if not name and self.module.definition(block.type_id).opcode == Op.TypeStruct:
            only = self.module.member_names.get((block.type_id, 0)) if self.layout.length(block) == 1 else None
            name = only or self.module.names.get(block.type_id)
        return name or f"%{row.result_id}"

    # --- members ------------------------------------------------------------------------

    def _members(self, row: Instruction, kind: Literal["uniform member", "push constant"]) -> Iterator[Slot]:
        block = self._block(row)
        place, binding = self._place(row) if kind == "uniform member" else (0, 0)
        found = list(self._leaves(block, "", (), 0))
        if len(found) > MOST_MEMBERS:
            raise Error(f"'{self._name(row, block)}' has {len(found)} values; as parameters, there can be "
                        f"{MOST_MEMBERS}")
        for name, placed, path, offset in found:
            yield Slot(name, kind, row.result_id or 0, placed, place, binding, path, offset, self.layout.size(placed),
                       self._is_address(placed.type_id))

    def _leaves(self, placed: Placed, name: str, path: tuple[int, ...],
                offset: int) -> Iterator[tuple[str, Placed, tuple[int, ...], int]]:
        type_ = self.layout.definition(placed)
        is_column = type_.opcode == Op.TypeVector and placed.row_major
        if type_.opcode not in COMPOSITES and not is_column:
            yield name, placed, path, offset
            return
        if type_.opcode == Op.TypeRuntimeArray:
            raise Error(f"'{name}' has no length: only a storage buffer can hold such an array")
        for index, (part, start) in enumerate(self.layout.parts(placed)):
            if type_.opcode == Op.TypeStruct:
                own = self.module.member_names.get((placed.type_id, index)) or f"member {index}"
                part_name = f"{name}.{own}" if name else own
            else:
                part_name = f"{name}[{index}]"
            yield from self._leaves(part, part_name, (*path, index), offset + start)
