"""What parts of a launch have done to memory, put together: each had a copy of what the kernel writes.

Nothing is written before everything is known to fit: an element that two parts have changed differently shows that
work-groups race for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.support.unwritten import copied
from coopmat.targets.analysis.sharing import Combination, Sharing

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "min": np.fmin, "max": np.fmax, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_FROM_ZERO = frozenset({"add", "xor"})
"""Operations for which all parts but one begin with zeros."""


@dataclass
class _Memory:
    """An array that the kernel writes, what each part has in its place, and how that is put together."""

    label: str
    original: np.ndarray
    combination: Combination | None
    copies: list[np.ndarray]


class Copies:
    """The arguments of parts of a launch. labels: what messages call the arguments.

    Raises LaunchError where arrays share memory without being one.
    """

    def __init__(self, arguments: Sequence[Any], sharing: Sharing, parts: int, labels: Sequence[str]) -> None:
        self._arguments = arguments
        self._memory: dict[tuple[int, int], _Memory] = {}
        for place in sorted(sharing.written):
            array = arguments[place]
            if isinstance(array, np.ndarray) and array.nbytes and _span(array) not in self._memory:
                self._check_alone(place, labels)
                alone = sum(_is_at(other, _span(array)) for other in arguments) == 1
                combination = sharing.combined.get(place) if alone else None
                copies = [_copy(array, combination, part) for part in range(parts)]
                self._memory[_span(array)] = _Memory(labels[place], array, combination, copies)

    def _check_alone(self, place: int, labels: Sequence[str]) -> None:
        start, end = _span(self._arguments[place])
        for other, argument in enumerate(self._arguments):
            if isinstance(argument, np.ndarray) and argument.nbytes:
                begins, ends = _span(argument)
                if (begins, ends) != (start, end) and begins < end and start < ends:
                    raise LaunchError(f"{labels[place]} and {labels[other]} share a part of their memory, so a launch "
                                      "cannot be split over devices: pass the same array, or copies")

    @property
    def arrays(self) -> int:
        """How many arguments are arrays of the host."""
        return sum(isinstance(one, np.ndarray) for one in self._arguments)

    def of(self, part: int) -> list[Any]:
        """The arguments of a part."""
        return [self._memory[_span(one)].copies[part] if isinstance(one, np.ndarray) and _span(one) in self._memory
                else one for one in self._arguments]

    def put_together(self, *, checks: bool = True) -> None:
        """Write what all parts have done to the arrays. LaunchError, and nothing is written, for a race; without
        ``checks``, the last part that has written an element counts."""
        results = [_combined(one) if one.combination else _merged(one, checks) for one in self._memory.values()]
        for memory, result in zip(self._memory.values(), results, strict=True):
            _bytes(memory.original)[...] = result
            copied(memory.original)


def _span(array: np.ndarray) -> tuple[int, int]:
    return array.ctypes.data, array.ctypes.data + array.nbytes


def _is_at(argument: Any, span: tuple[int, int]) -> bool:
    return isinstance(argument, np.ndarray) and _span(argument) == span


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.asarray(array).reshape(-1).view(np.uint8)


def _copy(array: np.ndarray, combination: Combination | None, part: int) -> np.ndarray:
    from_zero = combination is not None and combination.operation in _FROM_ZERO and part
    return np.zeros_like(array) if from_zero else np.array(array)


def _combined(memory: _Memory) -> np.ndarray:
    """What atomic operations of all parts make of an array, as bytes."""
    assert memory.combination is not None
    operation, dtype = _OPERATIONS[memory.combination.operation], memory.combination.dtype
    found, *others = (_bytes(one).view(dtype) for one in memory.copies)
    with np.errstate(all="ignore"):
        for other in others:
            found = operation(found, other)
    return found.view(np.uint8)


def _merged(memory: _Memory, checks: bool) -> np.ndarray:
    """What all parts have changed of an array, as bytes."""
    before, found = _bytes(memory.original), _bytes(memory.copies[0])
    taken = found != before
    for copy in memory.copies[1:]:
        own = _bytes(copy)
        changed = own != before
        both = changed & taken
        clash = both & (own != found)
        if checks and clash.any():
            element = int(np.argmax(clash)) // memory.original.itemsize
            raise LaunchError(f"{memory.label}: work-groups on different devices have written different values to "
                              f"element {element}, so the result would depend on which of them is later; nothing was "
                              "written. The kernel has a race between work-groups: run it on one simulated device, "
                              "which says where")
        np.copyto(found, own, where=changed)
        taken |= changed
    return found
