"""The value of integer code that has no branches, for tests of what writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer

_LINE = re.compile(r"\s*(%\S+) = (\w+)(?: n[us]w)* (i\d+) (\S+), (\S+)")
_OPERATIONS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "shl": lambda a, b: a << b, "lshr": lambda a, b: a >> b, "udiv": lambda a, b: a // b,
    "urem": lambda a, b: a % b}


def values(writer: Writer, given: Mapping[str, int]) -> dict[str, int]:
    """The values of all names that a writer has written, from those of some."""
    found = dict(given)
    for line in writer.lines:
        match = _LINE.fullmatch(line)
        assert match, line
        name, operation, llvm, *operands = match.groups()
        numbers = [found[one] if one in found else int(one) for one in operands]
        found[name] = _OPERATIONS[operation](*numbers) & (1 << int(llvm[1:])) - 1
    return found


def value(number: Number, known: Mapping[str, int]) -> int:
    """The value of a number."""
    return known[number.base] if number.base in known else int(number.base)
