"""Types as shaders have them: how values are held, and what parts of a value lie where in memory.

A pointer is a number: of global memory its 64-bit address, of other memory the 32-bit position in an array
(:mod:`coopmat.spirv.transform.to_vulkan.regions`). Vectors of 8 and 16 are structures of vectors of 4. An event is a
number that nobody looks at.
"""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import (
    ArrayType,
    BoolType,
    EventType,
    FloatType,
    IntType,
    MatrixType,
    PointerType,
    StructType,
    Type,
    VectorType,
    VoidType,
)
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import CooperativeMatrixUse, FPEncoding, StorageClass

LONGEST = 4
"""Components of a vector in a shader."""
PRIVATE = frozenset({StorageClass.Function, StorageClass.Private})
LOCAL = PRIVATE | {StorageClass.Workgroup}
"""Storage classes whose pointers are positions in arrays."""
U8, U16, U32, U64 = (IntType(width) for width in (8, 16, 32, 64))
UNSIGNED = {1: U8, 2: U16, 4: U32, 8: U64}
"""Bytes → the integers of so many."""
UNITS: dict[int, IntType | VectorType] = {**UNSIGNED, 16: VectorType(U32, 4)}
"""Bytes → the elements of arrays that are memory."""


def parts_of(kind: VectorType) -> VectorType:
    """The type of the parts of a long vector."""
    return VectorType(kind.component, LONGEST)


def is_long(kind: Type) -> bool:
    """Whether a shader has no such vectors."""
    return isinstance(kind, VectorType) and kind.length > LONGEST


def is_leaf(kind: Type) -> bool:
    """Whether a value is loaded and stored as a whole."""
    return not isinstance(kind, ArrayType | StructType) and not is_long(kind)


def members(kind: Type) -> Iterator[tuple[int, Type]]:
    """The offset and the type of each member, of an array or a long vector of each element."""
    if isinstance(kind, StructType):
        yield from zip(kind.offsets, kind.members, strict=True)
    elif isinstance(kind, ArrayType):
        yield from ((index * kind.stride, kind.element) for index in range(kind.length))
    elif isinstance(kind, VectorType):
        part = parts_of(kind)
        yield from ((index * part.size, part) for index in range(kind.length // LONGEST))


def as_number(kind: Type) -> Type:
    """The type that a pointer or event has as a number, in memory too; any other type itself."""
    return U64 if isinstance(kind, PointerType | EventType) else kind


class ShaderTypes:
    """Type → the id of the type of its values in the shader."""

    def __init__(self, out: ModuleBuilder) -> None:
        self.out = out
        self._known: dict[Type, int] = {}

    def __call__(self, kind: Type) -> int:
        """The id of the type of a value; Error for one that no shader has."""
        if kind not in self._known:
            self._known[kind] = self._made(kind)
        return self._known[kind]

    def _made(self, kind: Type) -> int:
        out = self.out
        match kind:
            case VoidType():
                return out.type_void()
            case BoolType():
                return out.type_bool()
            case IntType() if kind.width in (8, 16, 32, 64):
                return out.type_int(kind.width)
            case FloatType():
                return out.type_float(kind.width, None if kind.encoding is None else FPEncoding(kind.encoding))
            case VectorType():
                if kind.length <= LONGEST:
                    return out.type_vector(self(kind.component), kind.length)
                return out.type_struct([self(parts_of(kind))] * (kind.length // LONGEST))
            case PointerType():
                return out.type_int(32 if kind.storage in LOCAL else 64)
            case EventType():
                return out.type_int(64)
            case ArrayType():
                return out.type_array(self(kind.element), kind.length)
            case StructType():
                return out.type_struct([self(member) for member in kind.members])
            case MatrixType():
                return out.type_cooperative_matrix(self(kind.component), kind.scope, kind.rows, kind.columns,
                                                   CooperativeMatrixUse(kind.use))
        raise Error(f"values of type {kind} cannot be translated to a shader")
