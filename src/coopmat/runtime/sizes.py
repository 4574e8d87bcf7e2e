"""The sizes of a launch: checked, and chosen where the caller leaves that to the runtime."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from coopmat.diagnostics import LaunchError, value_text
from coopmat.runtime.device import Device
from coopmat.spirv.analysis.kernels import KernelSignature

MAX_GLOBAL_SIZE = 2**32
CHOSEN_SIZE = 256
"""Work-items that a work-group has at most, if the runtime chooses."""

class Kernel(Protocol):
    """What sizes are chosen by, of a :class:`coopmat.Kernel`."""

    signature: KernelSignature

    @property
    def uses_sub_groups(self) -> bool:
        """Whether it may count on what a sub-group is."""


Size = int | Sequence[int]
Sizes = tuple[int, ...]
_INTS = {int}


def check_sizes(global_size: Size, local_size: Size, most: int) -> tuple[Sizes, Sizes]:
    """Both sizes as tuples of one length, checked, for work-groups of at most ``most`` work-items; LaunchError says
    which dimension is wrong and why."""
    usual = _is_usual(global_size) and _is_usual(local_size)
    return (_checked if usual else _checked.__wrapped__)(global_size, local_size, most)


def _is_usual(size: Any) -> bool:
    """Whether a size consists of ints and nothing else."""
    return type(size) is int or (type(size) is tuple and set(map(type, size)) == _INTS)


@lru_cache(maxsize=256)
def _checked(global_size: Any, local_size: Any, most: int) -> tuple[Sizes, Sizes]:
    """:func:`check_sizes`, remembered for ints and tuples of ints; True equals 1, but is no size."""
    global_sizes = _size_tuple("global", global_size)
    local_sizes = _size_tuple("local", local_size)
    if len(global_sizes) != len(local_sizes):
        raise LaunchError(f"the global size {global_sizes} and the local size {local_sizes} differ in their number "
                          f"of dimensions, {len(global_sizes)} and {len(local_sizes)}: give both the same number")
    for dimension, (whole, part) in enumerate(zip(global_sizes, local_sizes, strict=True)):
        if whole % part:
            below, above = whole // part * part, -(-whole // part) * part
            nearest = f"{below} or {above}" if below else str(above)
            raise LaunchError(f"global size {whole} in dimension {dimension} is not a multiple of the local "
                              f"size {part}: use {nearest}, and let the surplus work-items do nothing")
    work_items = math.prod(local_sizes)
    if work_items > most:
        raise LaunchError(f"a work-group of {' x '.join(map(str, local_sizes))} has {work_items} work-items; "
                          f"the device takes at most {most}")
    if math.prod(global_sizes) > MAX_GLOBAL_SIZE:
        raise LaunchError(f"global size {global_sizes}: more than {MAX_GLOBAL_SIZE} work-items in one launch")
    return global_sizes, local_sizes


def chosen_local_size(kernel: Kernel, global_size: Size, device: Device) -> Sizes:
    """The local size for a launch that names none: the one that the kernel requires; otherwise so many work-items that
    sub-groups are whole, as far as the global size can be divided into such work-groups. Kernels with matrices or
    functions of sub-groups get one sub-group, others up to CHOSEN_SIZE work-items."""
    sizes = _size_tuple("global", global_size)
    required = kernel.signature.work_group_size
    if required is not None:
        return required[:len(sizes)] if all(size == 1 for size in required[len(sizes):]) else required
    sub_group = kernel.signature.sub_group_size or device.sub_group_sizes[0]
    most = sub_group if kernel.uses_sub_groups else max(CHOSEN_SIZE, sub_group)
    return _divided(sizes, sub_group, min(most, device.max_work_group_size))


@lru_cache(maxsize=256)
def _divided(sizes: Sizes, sub_group: int, most: int) -> Sizes:
    """The largest work-group that divides the global size, with at most so many work-items: of whole sub-groups if
    there is such a one, and rather long in the first dimension."""
    divisors = [[part for part in range(1, min(size, most) + 1) if size % part == 0] for size in sizes]
    found = (parts for parts in itertools.product(*divisors) if math.prod(parts) <= most)
    return max(found, key=lambda parts: (math.prod(parts) % sub_group == 0, math.prod(parts), parts))


def _size_tuple(label: str, size: Size) -> Sizes:
    sizes = (size,) if isinstance(size, (int, np.integer)) else size
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, (Sequence, np.ndarray)):
        raise LaunchError(f"the {label} size must be an int or a sequence of one to three ints, "
                          f"found {value_text(size)}")
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"the {label} size must have one to three dimensions, found {len(sizes)}: {value_text(size)}")
    for value in sizes:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise LaunchError(f"the {label} size must consist of ints, found {value_text(value)} in {value_text(size)}")
        if value < 1:
            raise LaunchError(f"the {label} size must be at least 1 in each dimension, found {value_text(size)}")
        if value > MAX_GLOBAL_SIZE:
            raise LaunchError(f"{label} size {value_text(size)}: more than {MAX_GLOBAL_SIZE} work-items in one launch")
    return tuple(int(value) for value in sizes)
