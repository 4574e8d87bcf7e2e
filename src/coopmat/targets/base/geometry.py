"""The sizes of a launch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.diagnostics import LaunchError
from coopmat.spirv.analysis.kernels import KernelSignature

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Geometry:
    """The sizes of one launch, in work-items; three dimensions, the first is the fastest. ``dimensions``: as many as
    were given."""

    dimensions: int
    global_size: Triple
    local_size: Triple
    global_offset: Triple
    sub_group_size: int

    @classmethod
    def checked(cls, signature: KernelSignature, global_size: Sequence[int], local_size: Sequence[int],
                global_offset: Sequence[int] | None, sub_group_size: int) -> Geometry:
        """The sizes, in one to three dimensions. Raises LaunchError for those that do not fit each other or the
        kernel."""
        offset = (0,) * len(global_size) if global_offset is None else global_offset
        whole, local, first = (tuple(int(n) for n in size) for size in (global_size, local_size, offset))
        if not 1 <= len(whole) <= 3 or len(local) != len(whole) or len(first) != len(whole):
            raise LaunchError("global size, local size and offset need the same number of dimensions, one to three")
        if min(whole) < 1 or min(local) < 1 or min(first) < 0:
            raise LaunchError(f"sizes must be positive: global size {whole}, local size {local}, offset {first}")
        if any(w % n for w, n in zip(whole, local, strict=True)):
            raise LaunchError(f"the global size {whole} is not a multiple of the local size {local}")
        found = cls(len(whole), _triple(whole, 1), _triple(local, 1), _triple(first, 0), sub_group_size)
        required = signature.work_group_size
        if required is not None and tuple(required) != found.local_size:
            raise LaunchError(f"kernel '{signature.name}' requires work-groups of {required}, found "
                              f"{found.local_size}")
        return found

    @property
    def group_counts(self) -> Triple:
        """Work-groups in each dimension."""
        x, y, z = (g // n for g, n in zip(self.global_size, self.local_size, strict=True))
        return x, y, z

    @property
    def group_total(self) -> int:
        """Work-groups."""
        return math.prod(self.group_counts)

    @property
    def local_total(self) -> int:
        """Work-items of a work-group."""
        return math.prod(self.local_size)

    @property
    def sub_groups_per_group(self) -> int:
        """Sub-groups of a work-group; the last one may be a part."""
        return -(-self.local_total // self.sub_group_size)


def _triple(size: tuple[int, ...], fill: int) -> Triple:
    x, y, z = (*size, *[fill] * (3 - len(size)))
    return x, y, z
