"""NVIDIA's driver, through cuda-bindings: every call is checked, and every error of the driver is one of ours.

Some errors are of the GPU's context: after an illegal access nothing works there until the process ends. Such an error
is noted (:class:`State`), and every later call says so.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from coopmat.diagnostics import Error, LaunchError
from coopmat.support.forks import ProcessBound

MISSING = "CUDA devices need NVIDIA's Python bindings: 'pip install coopmat[cuda]' brings them"
FORKED = ("CUDA was in use before this process was forked, and nothing of it works in the child: start processes with "
          "multiprocessing's method 'spawn' or 'forkserver', or fork before the first use of a GPU")
LAST = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": "a work-item accessed memory that is not there",
    "CUDA_ERROR_MISALIGNED_ADDRESS": "a work-item accessed memory at an address that is no multiple of the size",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": "a work-item used a pointer in an address space that it does not point to",
    "CUDA_ERROR_INVALID_PC": "a work-item left the code",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": "the chip does not know an instruction",
    "CUDA_ERROR_HARDWARE_STACK_ERROR": "the stack of a work-item was damaged or is too small",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "the kernel ran longer than the system allows on this GPU",
    "CUDA_ERROR_LAUNCH_FAILED": "the kernel failed",
    "CUDA_ERROR_ASSERT": "an assertion of a kernel failed",
    "CUDA_ERROR_ECC_UNCORRECTABLE": "the GPU's memory is damaged",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": "another library has destroyed the context",
}
"""The errors after which a GPU's context is of no use, and what they mean."""
TO_DIAGNOSE = ("CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED",
               "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_INVALID_PC", "CUDA_ERROR_HARDWARE_STACK_ERROR")
"""Those of them that a wrong access may lead to."""
WAYS = {
    "CUDA_ERROR_OUT_OF_MEMORY": "free memory of the GPU first; libraries keep some for later use "
                                "(torch.cuda.empty_cache() gives it back)",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "a work-group takes more registers or local memory than there are: make it "
                                          "smaller",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the driver is older than the GPU's code: update it",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the code is for another chip",
    "CUDA_ERROR_NOT_INITIALIZED": FORKED,
}
"""What to do about errors after which the GPU can be used further."""
NOT_READY = "CUDA_ERROR_NOT_READY"


class ContextLost(LaunchError):
    """What a kernel did has ended all use of the GPU in this process. ``status``: the driver's name for it."""

    def __init__(self, message: str, status: str) -> None:
        self.status = status
        super().__init__(message)


class State(threading.local):
    """What a thread works with: the context that it uses, as an object with the attribute ``lost``."""

    context: Any = None


state = State()


@cache
def bindings() -> Any:
    """The module cuda.bindings.driver. Error if it is not installed."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise Error(f"{MISSING} ({error})") from None
    return driver


@cache
def started() -> Any:
    """The driver, initialised. Error if there is none, or no GPU."""
    if _forks.is_child:
        raise Error(FORKED)
    driver = bindings()
    try:
        status = driver.cuInit(0)[0]
    except RuntimeError as error:  # the library itself is not there
        raise Error(f"there is no NVIDIA driver here: {error}") from None
    if status:
        raise Error(f"NVIDIA's driver does not start: {_text(driver, status)}{_way(status.name)}")
    _forks.is_started = True
    return driver


_forks = ProcessBound(started.cache_clear)


def call(name: str, *arguments: Any, error: type[Error] = LaunchError, what: str = "") -> Any:
    """Call a function of the driver; what it gives beside its status. ``what``: what was to be done, for the error."""
    driver = started()
    status, *found = getattr(driver, name)(*arguments)
    if status:
        raise failure(status, what or name, error)
    return found[0] if len(found) == 1 else tuple(found) or None


def failure(status: Any, what: str, error: type[Error] = LaunchError) -> Error:
    """The error for a status of the driver; one of the context is noted for the thread's context."""
    shown, name = _text(started(), status), getattr(status, "name", str(status))
    if name not in LAST:
        return error(f"{what}: {shown}{_way(name)}")
    message = (f"{what}: {LAST[name]}: {shown}. The GPU's context is lost, and with it all of its memory: nothing can "
               "be done on this GPU until the process is started again")
    if state.context is not None and state.context.lost is None:
        state.context.lost = message
    return ContextLost(message, name)


def is_done(name: str, handle: Any) -> bool:
    """What cuStreamQuery and cuEventQuery say: whether everything has ended. LaunchError for an error of it."""
    status = getattr(started(), name)(handle)[0]
    if status and getattr(status, "name", "") != NOT_READY:
        raise failure(status, name)
    return not status


def _text(driver: Any, status: Any) -> str:
    """The driver's words for an error."""
    failed, words = driver.cuGetErrorString(status)
    known = "" if failed or not words else f" ({words.decode()})"
    return f"{getattr(status, 'name', status)}{known}"


def _way(name: str) -> str:
    return f": {WAYS[name]}" if name in WAYS else ""


def device_count() -> int:
    """The GPUs that the driver shows; 0 where there is no driver."""
    try:
        return int(call("cuDeviceGetCount", error=Error))
    except Error:
        return 0


def driver_version() -> int:
    """The CUDA version that the driver knows: 13.0 is 13000."""
    return int(call("cuDriverGetVersion", error=Error))
