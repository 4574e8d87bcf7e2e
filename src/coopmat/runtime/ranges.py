"""nd_range: the index space of a launch, in SYCL's order (SYCL 4.9.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import Error, LaunchError, value_text

MAX_DIMENSIONS = 3


def sizes(what: str, given: Any) -> tuple[int, ...]:
    """``given``, one number or one to three, as a tuple of ints."""
    values = tuple(given) if isinstance(given, (Sequence, set)) or hasattr(given, "__iter__") else (given,)
    if not 1 <= len(values) <= MAX_DIMENSIONS:
        raise LaunchError(f"the {what} of an nd_range has one to three dimensions; found {value_text(given)}")
    for value in values:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise LaunchError(f"the {what} of an nd_range consists of ints; "
                              f"found {value_text(value)} in {value_text(given)}")
    return tuple(int(value) for value in values)


@dataclass(frozen=True, init=False, slots=True)
class nd_range:
    """Global and local range, in SYCL's order: the last dimension is the fastest. Without a local range, or with None,
    the runtime chooses one at the launch.

    Raises :class:`coopmat.LaunchError` unless both have the same number of dimensions, one to three, and each
    global size is a multiple of the local one.
    """

    global_range: tuple[int, ...]
    local_range: tuple[int, ...] | None

    def __init__(self, global_range: int | Sequence[int], local_range: int | Sequence[int] | None = None) -> None:
        whole = sizes("global range", global_range)
        part = whole if local_range is None else sizes("local range", local_range)
        if len(whole) != len(part):
            raise LaunchError(f"nd_range: the global range {whole} and the local range {part} differ in their number "
                              f"of dimensions, {len(whole)} and {len(part)}")
        for dimension, (size, step) in enumerate(zip(whole, part, strict=True)):
            if step < 1 or size < 1 or size % step:
                raise LaunchError(f"nd_range: global size {size} in dimension {dimension} must be a positive multiple "
                                  f"of the local size {step}: {whole} and {part}")
        object.__setattr__(self, "global_range", whole)
        object.__setattr__(self, "local_range", None if local_range is None else part)

    def __class_getitem__(cls, dimensions: Any) -> Callable[..., nd_range]:
        """``nd_range[2](G, L)``: one of that number of dimensions."""
        if dimensions not in range(1, MAX_DIMENSIONS + 1):
            raise Error(f"nd_range has 1, 2 or 3 dimensions, such as nd_range[2]; found {value_text(dimensions)}")

        def made(global_range: int | Sequence[int], local_range: int | Sequence[int] | None = None) -> nd_range:
            found = cls(global_range, local_range)
            if found.dimensions != dimensions:
                raise LaunchError(f"nd_range[{dimensions}]: the ranges have {found.dimensions} dimensions: "
                                  f"{found.global_range} and {found.local_range}")
            return found

        return made

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        return len(self.global_range)

    def get_global_range(self) -> tuple[int, ...]:
        """The global range."""
        return self.global_range

    def get_local_range(self) -> tuple[int, ...]:
        """The local range. LaunchError if the runtime chooses it."""
        if self.local_range is None:
            raise LaunchError(f"nd_range: the runtime chooses the local range of {self.global_range} at the launch")
        return self.local_range

    def get_group_range(self) -> tuple[int, ...]:
        """The number of work-groups in each dimension. LaunchError if the runtime chooses that."""
        return tuple(size // step for size, step in zip(self.global_range, self.get_local_range(), strict=True))
