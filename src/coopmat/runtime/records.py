"""Whether numpy's structures lie in memory as a kernel's do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.spirv.analysis.kernels import DataType

MOST_NUMBERS = 1 << 16
"""Structures of more numbers are told apart by their size only."""

_KINDS = {"i": "int", "u": "int", "b": "int", "f": "float"}


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a structure: the way to it, where it lies, and what it is."""

    name: str
    offset: int
    kind: str
    size: int

    def __str__(self) -> str:
        kind = {"bfloat": "bfloat16", "pointer": "pointer"}.get(self.kind, f"{self.kind}{8 * self.size}")
        return f"{kind} at byte {self.offset}"


def difference(kernels: DataType, dtype: np.dtype[Any]) -> str | None:
    """How a structure of a kernel and one of numpy differ, in words; None if they are the same in memory.

    Signs of integers do not count, nor what lies in the gaps of the kernel's structure, nor how numbers are grouped.
    """
    if dtype.itemsize != kernels.size:
        return f"it has {dtype.itemsize} bytes"
    if dtype.kind == "V" and dtype.names is None and dtype.subdtype is None:
        return None  # plain bytes
    if kernels.size > MOST_NUMBERS:
        return None
    given = {number.offset: number for number in _numbers_of_dtype("", 0, dtype)}
    for number in _numbers("", 0, kernels):
        found = given.get(number.offset)
        if found is None or (found.kind, found.size) != (number.kind, number.size):
            what = "nothing begins there" if found is None else f"'{found.name}' is {found}"
            return f"the kernel's member '{number.name}' is {number}, and {what}"
    return None


def is_native(dtype: np.dtype[Any]) -> bool:
    """Whether all numbers of a dtype have this machine's byte order; numpy itself does not look into subarrays."""
    if dtype.subdtype is not None:
        return is_native(dtype.subdtype[0])
    if dtype.fields is not None:
        return all(is_native(field[0]) for field in dtype.fields.values())
    return dtype.isnative


def _numbers(name: str, offset: int, kind: DataType) -> Iterator[_Number]:
    """The numbers of a kernel's type, as far as they are known."""
    if kind.kind == "record":
        for member in kind.members:
            way = f"{name}.{member.name}".strip(".")
            for index in range(member.count):
                numbered = f"{way}[{index}]" if not member.name else way
                yield from _numbers(numbered, offset + member.offset + index * member.type.size, member.type)
        return
    size = max(1, kind.bits // 8)
    for index in range(kind.count):
        shown = f"{name}[{index}]" if kind.count > 1 else name
        yield _Number(shown, offset + index * size, "int" if kind.kind == "bool" else kind.kind, size)


def _numbers_of_dtype(name: str, offset: int, dtype: np.dtype[Any]) -> Iterator[_Number]:
    """The numbers of a dtype."""
    if dtype.names is not None and dtype.fields is not None:
        for field in dtype.names:
            member, start = dtype.fields[field][:2]
            yield from _numbers_of_dtype(f"{name}.{field}".strip("."), offset + start, member)
    elif dtype.subdtype is not None:
        base, shape = dtype.subdtype
        for index in range(int(np.prod(shape))):
            yield from _numbers_of_dtype(f"{name}[{index}]", offset + index * base.itemsize, base)
    else:
        kind = "bfloat" if dtype == ml_dtypes.bfloat16 else _KINDS.get(dtype.kind, str(dtype))
        yield _Number(name, offset, kind, dtype.itemsize)
