"""The functions of libdevice: in double, by the C library where it has them."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import struct
from collections.abc import Callable, Sequence
from functools import cache

FORMS = {"float": struct.Struct("<f"), "double": struct.Struct("<d"), "i32": struct.Struct("<i")}
ARGUMENTS = {"float": ctypes.c_double, "double": ctypes.c_double, "i32": ctypes.c_int}


def _of_half_turns(x: float, *, quarters: int) -> float:
    """The cosine of x half turns; a quarter of a turn before, the sine."""
    if math.isinf(x) or math.isnan(x):
        return math.nan
    turned = math.fmod(abs(x), 2.0)
    number = round(2 * turned)
    angle = math.pi * (turned - number / 2)
    return [math.cos(angle), -math.sin(angle), -math.cos(angle), math.sin(angle)][(number + quarters) % 4] + 0.0


def _root(x: float) -> float:
    if x == 0.0:
        return math.copysign(math.inf, x)
    return math.nan if x < 0.0 or math.isnan(x) else 1.0 / math.sqrt(x)


OWN: dict[str, Callable[[float], float]] = {
    "rsqrt": _root, "cospi": lambda x: _of_half_turns(x, quarters=0),
    "sinpi": lambda x: math.copysign(1.0, x) * _of_half_turns(x, quarters=3) if x else x}


@cache
def function(name: str, operands: tuple[str, ...]) -> Callable[..., float]:
    """A function of doubles, by its name in C."""
    if name in OWN:
        return OWN[name]
    found = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    found.argtypes, found.restype = [ARGUMENTS[one] for one in operands], ctypes.c_double
    return found  # type: ignore[no-any-return]


def result(name: str, types: Sequence[str], operands: Sequence[int], kind: str) -> int:
    """The bits of a function's result, of its operands'."""
    numbers = [FORMS[one].unpack(bits.to_bytes(FORMS[one].size, "little"))[0]
               for one, bits in zip(types, operands, strict=True)]
    found = function(name.removesuffix("f") if kind == "float" and name != "erf" else name, tuple(types))(*numbers)
    try:
        content = FORMS[kind].pack(found)
    except OverflowError:
        content = FORMS[kind].pack(math.copysign(math.inf, found))
    return int.from_bytes(content, "little")
