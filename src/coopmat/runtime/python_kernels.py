"""Launching kernels in Python: compiled once for each device and each set of captured values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from coopmat.diagnostics import CompileWarning, LaunchError
from coopmat.runtime.building import build
from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.runtime.program import Kernel, Program
from coopmat.sycl.kernel import SyclKernel
from coopmat.sycl.ranges import NdItemType, nd_range

if TYPE_CHECKING:
    from coopmat.runtime.queue import Queue

_PROGRAMS: WeakKeyDictionary[SyclKernel, dict[tuple[Device, str], Program]] = WeakKeyDictionary()


def launch(queue: Queue, ranges: Any, kernel: Any, arguments: Sequence[Any]) -> Event:
    """Queue.parallel_for."""
    if not isinstance(ranges, nd_range):
        raise LaunchError("parallel_for takes an nd_range, such as nd_range((64, 16), (1, 16)); found "
                          f"{type(ranges).__name__} {ranges!r}")
    if isinstance(kernel, FunctionType):
        kernel = SyclKernel(kernel)
    if not isinstance(kernel, SyclKernel):
        raise LaunchError("parallel_for takes a function with the decorator @kernel after the nd_range; found "
                          f"{type(kernel).__name__}; kernels of cm.build are launched with enqueue")
    _check_dimensions(kernel, ranges)
    found = _built(kernel, queue.device)
    names = [parameter.name or "" for parameter in found.signature.parameters]
    return queue.launch(found, ranges.global_range[::-1], ranges.local_range[::-1], kernel.arguments(arguments, names),
                        [kernel.spelled(name) for name in names])


def _built(kernel: SyclKernel, device: Device) -> Kernel:
    """The kernel for a device; from memory if what it captures has not changed."""
    key = kernel.key()
    programs = _PROGRAMS.setdefault(kernel, {})
    program = None if key is None else programs.get((device, key))
    if program is None:
        program = build(kernel, device=device)
        for warning in program.warnings:
            warnings.warn(f"\n{warning}", CompileWarning, stacklevel=4)
        if key is not None:
            programs[device, key] = program
    return program.kernel(kernel.name)


def _check_dimensions(kernel: SyclKernel, ranges: nd_range) -> None:
    """The nd_item must have the dimensions of the nd_range."""
    code = kernel.function.__code__
    first = kernel.function.__annotations__.get(code.co_varnames[0]) if code.co_argcount else None
    if isinstance(first, str):  # from __future__ import annotations
        first = next((type_ for type_ in map(NdItemType, (1, 2, 3)) if str(type_) in first), None)
    if isinstance(first, NdItemType) and first.dimensions != ranges.dimensions:
        raise LaunchError(f"kernel '{kernel.name}' has an {first}, and the nd_range has {ranges.dimensions} "
                          f"dimensions: {ranges.global_range}")
