"""Launches as the driver takes them, with everything that it needs, to be submitted as often as wanted."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import bindings, driver_version
from coopmat.targets.cuda.host.streams import Stream
from coopmat.targets.cuda.succession import FIRST

CAPTURING_DRIVER = 12030  # the first one whose graphs take kernels that begin before others have ended

Submission = Callable[[], Any]
"""What submits a launch, in a thread that uses the context; the driver's status, in a tuple."""


def submit(function: Any, grid: Sequence[int], threads: Sequence[int], shared: int, stream: Stream, block: Any) -> Any:
    """Launch a function of the driver's; its status, in a tuple. grid: work-groups along each axis; threads: of a
    work-group; shared: bytes of shared memory; block: the launch's words and arguments."""
    parameter = ctypes.c_void_p(ctypes.addressof(block))
    return bindings().cuLaunchKernel(function, *grid, *threads, shared, stream.handle, ctypes.addressof(parameter), 0)


def early_submission(context: Context, function: Any, grid: Sequence[int], threads: Sequence[int], shared: int,
                     stream: Stream, block: Any) -> Submission:
    """The same, as often as wanted, of a kernel that waits itself for those before it: it begins before they have
    ended, if the GPU and its driver allow that. The block has to stay."""
    if not context.chip.has(FIRST) or driver_version() < CAPTURING_DRIVER:
        return functools.partial(submit, function, grid, threads, shared, stream, block)
    driver = bindings()
    allowed = driver.CUlaunchAttribute()
    allowed.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    allowed.value.programmaticStreamSerializationAllowed = 1
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = threads
    config.sharedMemBytes, config.hStream = shared, stream.handle
    config.attrs, config.numAttrs = [allowed], 1
    parameter = ctypes.c_void_p(ctypes.addressof(block))

    def run() -> Any:
        return driver.cuLaunchKernelEx(config, function, ctypes.addressof(parameter), 0)

    return run
