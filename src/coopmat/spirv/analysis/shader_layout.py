"""How the types of shaders lie in memory: by decorations, not by C's rules (Vulkan, 'Offset and Stride Assignment')."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction

ADDRESS_BYTES = 8
COMPOSITES = frozenset({Op.TypeStruct, Op.TypeArray, Op.TypeRuntimeArray, Op.TypeMatrix})


@dataclass(frozen=True, slots=True)
class Placed:
    """A type in memory. ``matrix_stride``: bytes between the columns of the matrices in it, or between their rows where
    they are ``row_major``; of a vector that is a column of such a matrix, bytes between its components."""

    type_id: int
    matrix_stride: int = 0
    row_major: bool = False


class Layout:
    """The places of a module's types."""

    def __init__(self, module: Content) -> None:
        self._module = module

    def definition(self, placed: Placed) -> Instruction:
        """The instruction that declares the type."""
        return self._module.definition(placed.type_id)

    def length(self, placed: Placed) -> int:
        """How many parts a composite has; 0 for an array whose length only the bound memory tells."""
        type_ = self.definition(placed)
        if type_.opcode == Op.TypeStruct:
            return len(type_.words)
        if type_.opcode == Op.TypeArray:
            return int(self._module.constant_value(type_.words[1]) or 0)
        return 0 if type_.opcode == Op.TypeRuntimeArray else type_.words[1]

    def member(self, placed: Placed, index: int) -> tuple[Placed, int]:
        """A structure's member, and its offset in bytes."""
        words = self.definition(placed).words
        if index >= len(words):
            raise Error(f"member {index} is used of a structure of {len(words)} members")
        found = dict(self._module.member_decorations(placed.type_id, index))
        if Decoration.Offset not in found:
            raise Error(f"member {index} of the structure '{self.name(placed.type_id)}' has no Offset")
        stride = found.get(Decoration.MatrixStride, (0,))[0]
        return Placed(words[index], stride, Decoration.RowMajor in found), found[Decoration.Offset][0]

    def element(self, placed: Placed) -> tuple[Placed, int]:
        """What an array, a matrix or a vector consists of, and the bytes from one to the next."""
        type_ = self.definition(placed)
        inner = replace(placed, type_id=type_.words[0])
        match type_.opcode:
            case Op.TypeArray | Op.TypeRuntimeArray:
                found = dict(self._module.decorations(placed.type_id))
                if Decoration.ArrayStride not in found:
                    raise Error("an array in memory that the host sees has no ArrayStride")
                return inner, found[Decoration.ArrayStride][0]
            case Op.TypeMatrix if not placed.row_major:
                return Placed(type_.words[0]), placed.matrix_stride
            case Op.TypeMatrix:
                return inner, self._scalar_size(self._module.definition(type_.words[0]).words[0])
            case Op.TypeVector:  # also a column of a matrix that is row_major
                size = self._scalar_size(type_.words[0])
                return Placed(type_.words[0]), placed.matrix_stride if placed.row_major else size
        raise Error(f"{type_.name} has no parts in memory")

    def parts(self, placed: Placed) -> Iterator[tuple[Placed, int]]:
        """The parts of a composite of a known length, each with its offset."""
        if self.definition(placed).opcode == Op.TypeStruct:
            yield from (self.member(placed, index) for index in range(self.length(placed)))
        else:
            inner, stride = self.element(placed)
            yield from ((inner, index * stride) for index in range(self.length(placed)))

    def size(self, placed: Placed) -> int:
        """The bytes from the beginning of a type to the end of its last part; of a runtime array none."""
        type_ = self.definition(placed)
        if type_.opcode in COMPOSITES or type_.opcode == Op.TypeVector:
            return max((offset + self.size(part) for part, offset in self.parts(placed)), default=0)
        return self._scalar_size(placed.type_id)

    def scalars(self, placed: Placed) -> Iterator[int]:
        """The scalar types in a type, each array's once."""
        type_ = self.definition(placed)
        if type_.opcode == Op.TypeStruct:
            for index in range(len(type_.words)):
                yield from self.scalars(self.member(placed, index)[0])
        elif type_.opcode in COMPOSITES or type_.opcode == Op.TypeVector:
            yield from self.scalars(Placed(type_.words[0]))
        else:
            yield placed.type_id

    def is_plain_vector(self, placed: Placed) -> bool:
        """Whether this is a vector that lies in memory as kernels have it: of 2 or 4 components side by side."""
        type_ = self.definition(placed)
        return type_.opcode == Op.TypeVector and type_.words[1] in (2, 4) and not placed.row_major

    def name(self, identifier: int) -> str:
        """The name that the module gives an id, or the id itself."""
        return self._module.names.get(identifier) or f"%{identifier}"

    def _scalar_size(self, type_id: int) -> int:
        type_ = self._module.definition(type_id)
        if type_.opcode == Op.TypePointer:
            return ADDRESS_BYTES
        if type_.opcode in (Op.TypeInt, Op.TypeFloat):
            return type_.words[0] // 8
        raise Error(f"{type_.name} cannot lie in a buffer")
