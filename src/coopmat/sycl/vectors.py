"""Vector types: ``vec[float32, 4]`` and its short names, ``float4`` and so on (SYCL 4.14.2).

The lengths are 2, 3, 4, 8 and 16. Short names that are those of element types (``int8``, ``uint16``) or look like
them (``float8``, ``float16``) do not exist: ``vec[int32, 8]`` says what is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.element_types import (
    BY_SCALAR,
    ElementType,
    boolean,
    element_type,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from coopmat.tree import types as t

COUNTS = t.VECTOR_COUNTS
_PADDED = 4  # a vector of three takes the room of four
_LETTERS = {**{letter: index for index, letter in enumerate("xyzw")},
            **{letter: index for index, letter in enumerate("rgba")}}


@dataclass(frozen=True, slots=True)
class VectorType:
    """``count`` numbers of an element type; three are aligned, and lie in memory, as four."""

    element: ElementType
    count: int

    @property
    def type(self) -> t.Vector:
        """The type in the kernel tree."""
        return t.Vector(self.element.scalar, self.count)

    @property
    def nbytes(self) -> int:
        """The bytes that one takes in memory."""
        return (_PADDED if self.count == 3 else self.count) * self.element.nbytes

    def __call__(self, *values: Any) -> np.ndarray[Any, Any]:
        """On the host: an array that a parameter of this type takes."""
        found = np.concatenate([np.ravel(value) for value in values]) if values else np.zeros(1)
        if found.size not in (1, self.count):
            raise Error(f"{self} takes 1 or {self.count} numbers in all; found {found.size}")
        return np.array([self.element(one.item()) for one in np.resize(found, self.count)], self.element.dtype)

    def __str__(self) -> str:
        return SHORT_NAMES.get((self.element, self.count), f"vec[{self.element}, {self.count}]")

    __repr__ = __str__


class _VectorTemplate:
    """``vec[T, N]``."""

    def __getitem__(self, given: Any) -> VectorType:
        element, count = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        found = element_type(element)
        if found is None or found.is_abstract or found == boolean or count not in COUNTS:
            raise Error("vec[T, N] takes an element type and a length of 2, 3, 4, 8 or 16, such as vec[float32, 4]; "
                        f"found {value_text(given)}")
        return VectorType(found, int(count))

    def __repr__(self) -> str:
        return "vec"


vec = _VectorTemplate()


def _of(element: ElementType, counts: tuple[int, ...] = COUNTS) -> list[VectorType]:
    return [VectorType(element, count) for count in counts]


char2, char3, char4, char8, char16 = _of(int8)
uchar2, uchar3, uchar4, uchar8, uchar16 = _of(uint8)
short2, short3, short4, short8, short16 = _of(int16)
ushort2, ushort3, ushort4, ushort8, ushort16 = _of(uint16)
int2, int3, int4 = _of(int32, COUNTS[:3])
uint2, uint3, uint4 = _of(uint32, COUNTS[:3])
long2, long3, long4, long8, long16 = _of(int64)
ulong2, ulong3, ulong4, ulong8, ulong16 = _of(uint64)
half2, half3, half4, half8, half16 = _of(half)
float2, float3, float4 = _of(float32, COUNTS[:3])
double2, double3, double4, double8, double16 = _of(float64)

SHORT_NAMES = {(value.element, value.count): name for name, value in list(globals().items())
               if isinstance(value, VectorType)}
"""The short name of each vector type that has one."""


def vector_of(type_: t.Vector) -> VectorType:
    """The vector type of one of the tree."""
    return VectorType(BY_SCALAR[type_.scalar], type_.count)


def components(name: str, count: int) -> tuple[int, ...] | None:
    """The components that an attribute of a vector of ``count`` means: ``x``, ``xyz``, ``s0F``, ``lo`` …; None for no
    components."""
    halves = {"lo": range(count // 2), "hi": range(count // 2, count), "even": range(0, count, 2),
              "odd": range(1, count, 2)}
    if name in halves and count % 2 == 0:
        return tuple(halves[name])
    found = [int(digit, 16) for digit in name[1:]] if re.fullmatch("[sS][0-9a-fA-F]+", name) \
        else [_LETTERS[letter] for letter in name] if re.fullmatch("[xyzw]+|[rgba]+", name) else []
    if len(found) not in (1, *COUNTS) or max(found) >= count:
        return None
    return tuple(found)


__all__ = [
    "char2", "char3", "char4", "char8", "char16", "double2", "double3", "double4", "double8", "double16", "float2",
    "float3", "float4", "half2", "half3", "half4", "half8", "half16", "int2", "int3", "int4", "long2", "long3", "long4",
    "long8", "long16", "short2", "short3", "short4", "short8", "short16", "uchar2", "uchar3", "uchar4", "uchar8",
    "uchar16", "uint2", "uint3", "uint4", "ulong2", "ulong3", "ulong4", "ulong8", "ulong16", "ushort2", "ushort3",
    "ushort4", "ushort8", "ushort16", "vec",
]
