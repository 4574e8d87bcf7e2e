"""OpenCL through pyopencl: every error of a driver is one of ours; what pyopencl does not pass on, through its library.

The loader and all drivers that it finds are loaded at the first use in a process, and they do not survive a fork.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from coopmat.diagnostics import Error, LaunchError
from coopmat.support.forks import ProcessBound

MISSING = "OpenCL devices need pyopencl: 'pip install coopmat[opencl]' brings it"
FORKED = ("OpenCL was in use before this process was forked, and its drivers do not work in the child: start processes "
          "with multiprocessing's method 'spawn' or 'forkserver', or fork before the first use of an OpenCL device")
WAYS = {
    "MEM_OBJECT_ALLOCATION_FAILURE": "the device's memory does not suffice: free some of it first",
    "OUT_OF_RESOURCES": "the device has not enough of something: a work-group may take too much local memory or too "
                        "many registers; make it smaller",
    "OUT_OF_HOST_MEMORY": "the driver found no more memory of the host",
    "INVALID_WORK_GROUP_SIZE": "the driver does not take work-groups of this size for this kernel",
    "INVALID_BUFFER_SIZE": "the device has no buffers as large as that",
    "DEVICE_NOT_AVAILABLE": "another program may hold the device, or it has been lost",
}
"""What to know of a driver's error, by its name in OpenCL."""
NO_PLATFORM = -1001  # CL_PLATFORM_NOT_FOUND_KHR

_INFO = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p,
                         ctypes.POINTER(ctypes.c_size_t))


@cache
def bindings() -> Any:
    """The module pyopencl. Error if it is not installed."""
    try:
        import pyopencl
    except Exception as error:  # a broken installation has many ways to say so
        raise Error(f"{MISSING} ({error})") from None
    return pyopencl


_forks = ProcessBound()


def started() -> Any:
    """The module pyopencl, in a process in which drivers work. Error in the child of one that has used them."""
    if _forks.is_child:
        raise Error(FORKED)
    _forks.is_started = True
    return bindings()


@contextmanager
def errors(what: str, error: type[Error] = LaunchError) -> Iterator[None]:
    """Make errors of the driver ours; ``what`` was to be done."""
    try:
        yield
    except bindings().Error as found:
        raise error(f"{what}: {words_of(found)}") from None


def words_of(found: Any) -> str:
    """The driver's error, in its words and ours."""
    name = code_name(found.code)
    return f"{found.routine}: CL_{name}" + (f": {WAYS[name]}" if name in WAYS else "")


def code_name(code: int) -> str:
    """``OUT_OF_RESOURCES`` for -5."""
    return str(bindings().status_code.to_string(code, "error %d"))


# --------------------------------------------------------------------------- what pyopencl does not pass on


@cache
def library() -> ctypes.CDLL:
    """OpenCL's own functions: those of the loader that pyopencl is linked with."""
    return ctypes.CDLL(bindings()._cl.__file__)


def info_bytes(device: Any, number: int) -> bytes | None:
    """What a device answers to a query, by its number; None if it does not know it."""
    get = _INFO(("clGetDeviceInfo", library()))
    size = ctypes.c_size_t()
    if get(device.int_ptr, number, 0, None, ctypes.byref(size)):
        return None
    found = ctypes.create_string_buffer(size.value)
    if get(device.int_ptr, number, size.value, found, None):
        return None
    return found.raw


def info_words(device: Any, number: int, size: int = 4) -> list[int]:
    """The same, as unsigned integers of ``size`` bytes."""
    found = info_bytes(device, number) or b""
    return [int.from_bytes(found[place:place + size], "little") for place in range(0, len(found) - size + 1, size)]


def info_texts(device: Any, number: int) -> list[str] | None:
    """The same, of an answer that is an array of pointers to texts."""
    if info_bytes(device, number) is None:
        return None
    return [ctypes.string_at(address).decode(errors="replace") for address in info_words(device, number, 8) if address]


def set_pointer(kernel: Any, place: int, address: int) -> int:
    """Pass an address as an argument: of the host where the driver has fine-grained system memory, or of SVM. The
    driver's status."""
    return int(library().clSetKernelArgSVMPointer(ctypes.c_void_p(kernel.int_ptr), ctypes.c_uint(place),
                                                  ctypes.c_void_p(address)))
