"""Queues: launching kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.runtime.arguments import bind
from coopmat.runtime.commands import MemoryCommands
from coopmat.runtime.device import MAX_WORK_GROUP_SIZE, Device
from coopmat.runtime.events import Event
from coopmat.runtime.program import Kernel
from coopmat.runtime.selection import Selector
from coopmat.runtime.selection import device as find_device

MAX_GLOBAL_SIZE = 2**32


class Queue(MemoryCommands):
    """An in-order queue of a device: a Device, or what :func:`coopmat.device` takes (by default, its default).

    Commands have finished when the call that submits them returns.
    """

    def __init__(self, device: Device | str | Selector | None = None) -> None:
        self.device = find_device(device)

    def enqueue(self, kernel: Kernel, global_size: int | Sequence[int], local_size: int | Sequence[int],
                *args: Any) -> Event:
        """Run ``kernel`` over ``global_size`` work-items in work-groups of ``local_size``.

        Sizes are in OpenCL's order: ``global_size[0]`` is ``get_global_size(0)``; one to three
        dimensions, each global size a multiple of the local size. ``args`` are the kernel's arguments
        in order: numpy arrays for pointers (written in place), numbers for scalars,
        :func:`coopmat.local` for local memory. The results are in the arrays after ``wait()``.

        Raises :class:`LaunchError` for sizes or arguments that do not fit the kernel,
        :class:`KernelNotSupported` for matrices that the device does not have, and a
        :class:`SimulationError` for undefined behaviour during execution.
        """
        if not isinstance(kernel, Kernel):
            raise LaunchError(f"expected a kernel of a built program, found {type(kernel).__name__}; "
                              "take one with program.kernel(name)")
        return self.launch(kernel, global_size, local_size, args, kernel.shown)

    def launch(self, kernel: Kernel, global_size: int | Sequence[int], local_size: int | Sequence[int],
               args: Sequence[Any], shown: Sequence[str]) -> Event:
        """:meth:`enqueue`, with its parameters as messages show them."""
        global_sizes, local_sizes = check_sizes(global_size, local_size)
        executable = kernel.program.load(self.device)
        arguments = bind(kernel, args, shown)
        executable.prepare(kernel.name, global_sizes, local_sizes)
        return Event.of(lambda: executable.launch(kernel.name, global_sizes, local_sizes, arguments))

    def parallel_for(self, nd_range: Any, kernel: Any, *args: Any) -> Event:
        """Compile a kernel in Python for the queue's device, if that has not been done, and run it over ``nd_range``.

        nd_range: :class:`coopmat.sycl.nd_range`, in SYCL's order: the last dimension is the fastest.
        kernel: a function with the decorator :func:`coopmat.sycl.kernel`, or a plain one, which then requires no
            sub-group size.
        args: the arguments after the nd_item, as in :meth:`enqueue`; arrays that the kernel captures are not given.

        Raises what :func:`coopmat.build` and :meth:`enqueue` raise.
        """
        from coopmat.runtime.python_kernels import launch

        return launch(self, nd_range, kernel, args)

    def __repr__(self) -> str:
        return f"<coopmat.Queue on {self.device.name}>"


def check_sizes(global_size: int | Sequence[int],
                local_size: int | Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both sizes as tuples of one length, checked; LaunchError says which dimension is wrong and why."""
    is_usual = all(type(size) is int or (type(size) is tuple and all(type(value) is int for value in size))
                   for size in (global_size, local_size))
    return (_checked if is_usual else _checked.__wrapped__)(global_size, local_size)


@lru_cache(maxsize=256)
def _checked(global_size: Any, local_size: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
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
    if work_items > MAX_WORK_GROUP_SIZE:
        raise LaunchError(f"a work-group of {' x '.join(map(str, local_sizes))} has {work_items} work-items; "
                          f"at most {MAX_WORK_GROUP_SIZE} are possible")
    if math.prod(global_sizes) > MAX_GLOBAL_SIZE:
        raise LaunchError(f"global size {global_sizes}: more than {MAX_GLOBAL_SIZE} work-items in one launch")
    return global_sizes, local_sizes


def _size_tuple(label: str, size: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (size,) if isinstance(size, (int, np.integer)) else size
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, (Sequence, np.ndarray)):
        raise LaunchError(f"the {label} size must be an int or a sequence of one to three ints, found {size!r}")
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"the {label} size must have one to three dimensions, found {len(sizes)}: {size!r}")
    for value in sizes:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise LaunchError(f"the {label} size must consist of ints, found {value!r} in {size!r}")
        if value < 1:
            raise LaunchError(f"the {label} size must be at least 1 in each dimension, found {size!r}")
    return tuple(int(value) for value in sizes)
