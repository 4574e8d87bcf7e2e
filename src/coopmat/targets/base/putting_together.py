"""What parts of a launch have done to memory, put together: each had a copy of what the kernel writes.

Nothing is written before everything is known to fit: an element that two parts have changed differently shows that
work-groups race for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.support.unwritten import copied
from coopmat.targets.analysis.sharing import Combination, Sharing
from coopmat.targets.base.spans import Bytes, Span, Spans, as_in, changed_bytes

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "min": np.fmin, "max": np.fmax, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_FROM_ZERO = frozenset({"add", "xor"})
"""Operations for which all parts but one begin with zeros."""


@dataclass
class _Memory:
    """A span of memory that the kernel writes, what each part has in its place, and how that is put together. label: of
    the first array there, and itemsize of its elements."""

    label: str
    itemsize: int
    span: Span
    combination: Combination | None
    copies: list[Bytes]


class Copies:
    """The arguments of parts of a launch. labels: what messages call the arguments."""

    def __init__(self, arguments: Sequence[Any], sharing: Sharing, parts: int, labels: Sequence[str]) -> None:
        self._arguments = arguments
        self._spans = Spans.of(arguments, sharing.written)
        self._memory: dict[Span, _Memory] = {}
        for span in self._spans.all:
            if span.written:
                place = span.arrays[0]
                combination = sharing.combined.get(place) if len(span.arrays) == 1 else None
                from_zero = combination is not None and combination.operation in _FROM_ZERO
                copies = [span.duplicate(is_zero=from_zero and part > 0) for part in range(parts)]
                self._memory[span] = _Memory(labels[place], arguments[place].itemsize, span, combination, copies)

    def of(self, part: int) -> list[Any]:
        """The arguments of a part."""
        return [self._of(part, one) if isinstance(one, np.ndarray) else one for one in self._arguments]

    def _of(self, part: int, array: np.ndarray) -> np.ndarray:
        found = self._spans.place(array)
        if found is None or not found[0].written:
            return array
        span, offset = found
        return as_in(self._memory[span].copies[part], offset, array)

    def put_together(self, *, checks: bool = True) -> None:
        """Write what all parts have done to the arrays. LaunchError, and nothing is written, for a race; without
        ``checks``, the last part that has written an element counts."""
        results = [_combined(one) if one.combination else _merged(one, checks) for one in self._memory.values()]
        for span, result in zip(self._memory, results, strict=True):
            span.content[...] = result
            for place in span.arrays:
                copied(self._arguments[place])


def _combined(memory: _Memory) -> np.ndarray:
    """What atomic operations of all parts make of an array, as bytes."""
    assert memory.combination is not None
    operation, dtype = _OPERATIONS[memory.combination.operation], memory.combination.dtype
    found, *others = (one.view(dtype) for one in memory.copies)
    with np.errstate(all="ignore"):
        for other in others:
            found = operation(found, other)
    return found.view(np.uint8)


def _merged(memory: _Memory, checks: bool) -> np.ndarray:
    """What all parts have changed of an array, as bytes."""
    before, found = memory.span.content, memory.copies[0]
    parts = [changed_bytes(before, own) for own in memory.copies]
    if _are_apart(parts):
        for own, part in zip(memory.copies[1:], parts[1:], strict=True):
            found[part] = own[part]
        return found
    taken = found != before
    for own in memory.copies[1:]:
        changed = own != before
        both = changed & taken
        clash = both & (own != found)
        if checks and clash.any():
            element = int(np.argmax(clash)) // memory.itemsize
            raise LaunchError(f"{memory.label}: work-groups on different devices have written different values to "
                              f"element {element}, so the result would depend on which of them is later; nothing was "
                              "written. The kernel has a race between work-groups: run it on one simulated device, "
                              "which says where")
        np.copyto(found, own, where=changed)
        taken |= changed
    return found


def _are_apart(parts: Sequence[slice]) -> bool:
    """Whether no byte is in two parts."""
    inside = sorted((one.start, one.stop) for one in parts if one.stop)
    return all(last[1] <= following[0] for last, following in pairwise(inside))
