"""Launching kernels in Python: compiled once for each device and each set of captured values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from coopmat.diagnostics import LaunchError, value_text
from coopmat.runtime.building import build
from coopmat.runtime.device import Device
from coopmat.runtime.program import Kernel, Program
from coopmat.runtime.python_kernels import PythonKernel, kernel_of
from coopmat.runtime.ranges import nd_range
from coopmat.runtime.sizes import Sizes, check_sizes, chosen_local_size

MOST_PROGRAMS = 256  # that are kept
_PROGRAMS: OrderedDict[tuple[Device, str, tuple[str, ...]], Program] = OrderedDict()
"""What kernels were compiled into, the last used ones last."""


def prepare(device: Device, ranges: Any, kernel: Any, arguments: Sequence[Any],
            named: Mapping[str, Any]) -> tuple[Kernel, tuple[Sizes, Sizes], Sequence[Any]]:
    """What Queue.parallel_for launches: the kernel as it is compiled for a device, the sizes, and a value for each
    parameter."""
    if not isinstance(ranges, nd_range):
        raise LaunchError("parallel_for takes an nd_range, such as nd_range((64, 16), (1, 16)); found "
                          f"{type(ranges).__name__} {value_text(ranges)}")
    kernel = kernel_of(kernel)
    if not isinstance(kernel, PythonKernel):
        raise LaunchError("parallel_for takes a function with the decorator @kernel after the nd_range; found "
                          f"{type(kernel).__name__}; kernels of cm.build are launched with enqueue")
    check_dimensions(kernel, ranges)
    found = built(kernel, device).kernel(kernel.name)
    whole, part = ranges.global_range[::-1], ranges.local_range
    local = chosen_local_size(found, whole, device) if part is None else part[::-1]
    sizes = check_sizes(whole, local, device.max_work_group_size)
    required = found.signature.work_group_size
    if part is not None and required is not None and (*local, 1, 1)[:3] != tuple(required):
        count = max([len(part), *(axis + 1 for axis, size in enumerate(required) if size > 1)])  # in SYCL's order
        raise LaunchError(f"kernel '{kernel.name}' requires work-groups of {tuple(required[:count][::-1])}, found "
                          f"{tuple(part)}")
    return found, sizes, kernel.arguments(arguments, named, found.names)


def built(kernel: PythonKernel, device: Device, options: tuple[str, ...] = ()) -> Program:
    """The kernel's program for a device, with build options after its own; from memory if what it captures has not
    changed."""
    text = kernel.key()
    if text is None:
        return build(kernel, options, device=device)
    key = device, text, options
    known = _PROGRAMS.get(key)
    if known is None:
        known = build(kernel, options, device=device)
        known.forget_source()  # the kernel may hold large arrays
        while len(_PROGRAMS) >= MOST_PROGRAMS:
            _PROGRAMS.popitem(last=False)
        _PROGRAMS[key] = known
    else:
        with suppress(KeyError):  # another thread has made place
            _PROGRAMS.move_to_end(key)
    return known


def check_dimensions(kernel: PythonKernel, ranges: nd_range) -> None:
    """The nd_item must have the dimensions of the nd_range."""
    item = kernel.item
    if item is not None and item.dimensions != ranges.dimensions:
        raise LaunchError(f"kernel '{kernel.name}' has an {item}, and the nd_range has {ranges.dimensions} "
                          f"dimensions: {ranges.global_range}")
