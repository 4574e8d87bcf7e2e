"""Element types of the joint_matrix language: ``int8`` … ``float64``, ``half``, ``bfloat16``, ``precision.tf32``.

One table holds for each type its C++ spelling, its row in :data:`coopmat.formats.FORMATS` and the scalar type of
the kernel tree. On the host a type makes numpy scalars (``int8(5)``) and is taken by numpy as a dtype; in a
kernel it converts (``float32(x)``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.diagnostics import Error
from coopmat.formats import FORMATS
from coopmat.tree import types as t


@dataclass(frozen=True, slots=True, eq=False)
class ElementType:
    """A scalar type. ``cpp`` is its C++ spelling, ``scalar`` the type of its values in a kernel.

    ``format`` is its name in the device tables, None for bool. An abstract type (``precision.tf32``; section
    "Support for Machine Learning Types") occurs as the element type of a joint_matrix only; its values are
    those of its storage type. A type equals its ``matrix_type``, as the example of section "Runtime Query"
    compares them.
    """

    name: str
    cpp: str
    scalar: t.Scalar
    format: str | None
    is_abstract: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy or ml_dtypes type of arrays with elements of this type."""
        return np.dtype(np.bool_) if self.format is None else FORMATS[self.format].dtype

    @property
    def type(self) -> t.Scalar:
        """The type of its values in the kernel tree."""
        return self.scalar

    @property
    def nbytes(self) -> int:
        """The bytes that one takes in memory."""
        return self.dtype.itemsize

    @property
    def storage(self) -> ElementType:
        """The type in which elements are kept in memory: the type itself, float32 for tf32."""
        return float32 if self.is_abstract else self

    def __call__(self, value: Any = 0) -> Any:
        """``value`` as a numpy scalar of this type (on the host); C++'s conversion, so integers wrap."""
        if self.is_abstract:
            raise Error(f"{self.name} is the element type of a joint_matrix; its values are {self.storage}")
        with np.errstate(all="ignore"):
            if self.scalar.is_integer and isinstance(value, (int, float)):
                bits = int(value) & (1 << self.scalar.bits) - 1
                return np.array(bits, f"u{self.scalar.bits // 8}").view(self.dtype)[()]
            return np.asarray(value).astype(self.dtype)[()]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ElementType):
            return self.name == other.name
        return isinstance(other, str) and self.format == other

    def __hash__(self) -> int:
        return hash(self.format)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name


boolean = ElementType("bool", "bool", t.BOOL, None)
int8 = ElementType("int8", "int8_t", t.CHAR, "sint8")
int16 = ElementType("int16", "int16_t", t.SHORT, "sint16")
int32 = ElementType("int32", "int32_t", t.INT, "sint32")
int64 = ElementType("int64", "int64_t", t.LONG, "sint64")
uint8 = ElementType("uint8", "uint8_t", t.UCHAR, "uint8")
uint16 = ElementType("uint16", "uint16_t", t.USHORT, "uint16")
uint32 = ElementType("uint32", "uint32_t", t.UINT, "uint32")
uint64 = ElementType("uint64", "uint64_t", t.ULONG, "uint64")
half = ElementType("half", "sycl::half", t.HALF, "fp16")
bfloat16 = ElementType("bfloat16", "bfloat16", t.BFLOAT16, "bf16")
float32 = ElementType("float32", "float", t.FLOAT, "fp32")
float64 = ElementType("float64", "double", t.DOUBLE, "fp64")
size_t = uint64


class precision:
    """Abstract element types of matrices (section "Support for Machine Learning Types")."""

    tf32 = ElementType("precision.tf32", "precision::tf32", t.FLOAT, "tf32", is_abstract=True)


VALUE_TYPES = (boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, half, bfloat16, float32, float64)
"""The types that variables, parameters and memory can have."""

BY_SCALAR: dict[t.Scalar, ElementType] = {type_.scalar: type_ for type_ in VALUE_TYPES}
BY_FORMAT: dict[str, ElementType] = {
    type_.format: type_ for type_ in (*VALUE_TYPES, precision.tf32) if type_.format is not None}
_OF_PYTHON: dict[type, ElementType] = {bool: boolean, int: int32, float: float32, ml_dtypes.bfloat16: bfloat16}


def element_type(given: Any) -> ElementType | None:
    """The element type that ``given`` stands for: one of these, Python's ``int`` (int32), ``float`` (float32) and
    ``bool``, or a numpy or ml_dtypes type; None if it is none."""
    if isinstance(given, ElementType):
        return given
    if not isinstance(given, (type, np.dtype)):
        return None
    if given in _OF_PYTHON:
        return _OF_PYTHON[given]  # type: ignore[index]
    if isinstance(given, type) and not issubclass(given, np.generic):
        return None
    return of_dtype(np.dtype(given))


def of_dtype(dtype: np.dtype[Any]) -> ElementType | None:
    """The element type of arrays of ``dtype``; None if there is none."""
    return next((type_ for type_ in VALUE_TYPES if type_.dtype == dtype), None)
