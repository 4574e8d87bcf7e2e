"""Arrays over the memory that host programs give to kernels and queues: numpy's, or whatever shows its memory."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from coopmat.runtime.device_arrays import is_constant
from coopmat.support import dlpack
from coopmat.targets.base.device_array import DeviceArray

EXPECTED = "a numpy array, or an object that shows its memory by the buffer protocol or __array_interface__"
"""What has memory, for messages."""


def behind(argument: Any) -> Any:
    """What an argument stands for: ``__coopmat_array__()`` gives the array of a pointer; every other argument stands
    for itself. Raises LaunchError for memory that was freed."""
    return argument.__coopmat_array__() if hasattr(type(argument), "__coopmat_array__") else argument


def array_over(given: Any) -> np.ndarray | None:
    """The memory of an object as an array of its elements, without a copy; None if it shows none.

    A numpy array is itself. Objects of the buffer protocol (bytes, memoryview, array.array, mmap, ctypes arrays …)
    and of ``__array_interface__``, and arrays of other libraries by DLPack, have arrays of the elements that they name.
    A masked array has none: a kernel knows
    no masks.
    """
    found = behind(given)
    if isinstance(found, np.ndarray):
        return None if is_masked(found) else np.asarray(found)
    if isinstance(found, np.generic | str | DeviceArray):
        return None  # a number shows a copy of itself
    try:
        if isinstance(found, ctypes.Array):  # what they say of structures is not always right
            return np.frombuffer(memoryview(found).cast("B"), np.dtype(found._type_))
        if hasattr(found, "__array_interface__"):
            return np.asarray(found)
        if hasattr(type(found), "__dlpack_device__") and not hasattr(type(found), "__buffer__"):
            return _by_dlpack(found)
        return np.asarray(memoryview(found))
    except (TypeError, ValueError, AttributeError, BufferError, NotImplementedError, RuntimeError):
        return None


def _by_dlpack(given: Any) -> np.ndarray | None:
    """The array of an object that speaks DLPack, such as a tensor of torch; None if it is not in the host's memory."""
    if given.__dlpack_device__()[0] not in dlpack.ON_HOST:
        return None
    return dlpack.host_array(dlpack.read(given.__dlpack__()), is_read_only=is_constant(given))


def is_of_bytes(given: Any) -> bool:
    """Whether an object's memory is plain bytes, which stand for elements of any type."""
    if isinstance(given, np.ndarray) or hasattr(given, "__array_interface__"):
        return False
    try:
        return memoryview(given).format in ("B", "c", "<B", "<c")
    except (TypeError, ValueError, BufferError):
        return False


def is_masked(array: np.ndarray) -> bool:
    """Whether some elements of an array do not count; numpy loads its module of such arrays when it is named."""
    return type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray)


def what_is_wrong(array: np.ndarray) -> str | None:
    """Why no kernel or command can use an array's memory as it is; None if it can."""
    if array.dtype.hasobject:
        return f"an array of {array.dtype} holds Python objects, not numbers"
    if not array.flags.c_contiguous:
        return (f"the array of shape {array.shape} is not contiguous (strides {array.strides}): pass a copy made with "
                "numpy.ascontiguousarray")
    return None
