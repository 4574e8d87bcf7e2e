"""Launches in child processes, of modules that a driver may not survive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.targets.base.children import answers
from coopmat.targets.opencl.host.compiling import log_of
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.driver import code_name, set_pointer, started

SECONDS = 60.0
"""That one launch may take, with the start of its process and the driver's compiler."""
BUILD_FAILED = "the driver's compiler refuses it"


@dataclass(frozen=True)
class Trial:
    """A launch. arguments: arrays for pointers, and arrays of no dimension for values. in_place: the kernel gets the
    addresses of the arrays, and no buffers."""

    spirv: bytes
    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: tuple[np.ndarray[Any, Any], ...]
    in_place: bool = False


def launched(device: DriverDevice, trials: Sequence[Trial], environment: Mapping[str, str]) -> list[Any]:
    """For each trial the arguments after the launch, or what went wrong: a text, or the end of a process."""
    return answers(f"{__name__}:launch", [(device, one) for one in trials], seconds=SECONDS, environment=environment)


def launch(job: tuple[DriverDevice, Trial]) -> list[np.ndarray[Any, Any]] | str:
    """One launch, in the child."""
    described, trial = job
    cl = started()
    device = cl.get_platforms()[described.platform].get_devices()[described.device]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    log = ""
    try:
        program = cl.Program(context, trial.spirv)
        try:
            program.build()
        except cl.Error:
            log = f": {_words(log_of(program, device))}"
            raise
        kernel = cl.Kernel(program, trial.kernel)
    except cl.Error as error:
        return f"{BUILD_FAILED} (CL_{code_name(error.code)}){log}"
    bound = []
    try:
        for place, array in enumerate(trial.arguments):
            if not array.ndim:
                kernel.set_arg(place, array.tobytes())
            elif trial.in_place:
                if set_pointer(kernel, place, array.ctypes.data):
                    return "the driver takes no address of the host's memory"
            else:
                memory = array.reshape(-1).view(np.uint8)
                buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=memory)
                kernel.set_arg(place, buffer)
                bound.append((memory, buffer))
        cl.enqueue_nd_range_kernel(queue, kernel, trial.global_size, trial.local_size)
        for memory, buffer in bound:
            cl.enqueue_copy(queue, memory, buffer)
        queue.finish()
    except cl.Error as error:
        return f"the launch fails: {_words(str(error))}"
    return list(trial.arguments)


def _words(text: str) -> str:
    return " ".join(text.split())[:1000]
