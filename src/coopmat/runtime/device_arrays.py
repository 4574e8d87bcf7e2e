"""Memory of GPUs that objects of other libraries show: torch, cupy, numba, JAX, and whatever speaks as they do.

By ``__cuda_array_interface__`` (version 3) and DLPack; tensors of torch are asked directly, which is faster. No library
is imported here: who passes its arrays has done so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.support import dlpack
from coopmat.targets.base.device_array import LEGACY_STREAM, DeviceArray, Memory, is_contiguous, is_writable

__all__ = ["DeviceArray", "Foreign", "Memory", "device_array", "is_writable", "refused_by", "way_to_host"]

_SPECIAL = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}
"""The dtypes whose names numpy does not know."""


def device_array(given: Any) -> DeviceArray | None:
    """The memory of a GPU that an object shows, without a copy; None if it shows none.

    LaunchError for memory with gaps, and of elements that numpy and ml_dtypes do not know.
    """
    kind = type(given)
    if kind is DeviceArray:
        found: DeviceArray = given
        return found
    if hasattr(kind, "__coopmat_array__"):
        behind = given.__coopmat_array__()
        return behind if type(behind) is DeviceArray else None
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(kind, "is_cuda") and isinstance(given, torch.Tensor):
        return _of_torch(torch, given) if given.is_cuda else None
    interface = getattr(given, "__cuda_array_interface__", None)
    if interface is not None and ("stream" in interface or not hasattr(given, "__dlpack__")):
        return _of_interface(given, interface)
    if hasattr(kind, "__dlpack_device__") and hasattr(kind, "__dlpack__"):
        return _of_dlpack(given)
    return None


def _of_torch(torch: Any, tensor: Any) -> DeviceArray:
    shape = tuple(tensor.shape)
    if not tensor.is_contiguous():
        raise _with_gaps(shape, [step * tensor.element_size() for step in tensor.stride()], "tensor.contiguous()")
    index = tensor.device.index
    return DeviceArray(tensor.data_ptr(), shape, _dtype_of_torch(tensor.dtype), device=index,
                       stream=torch.cuda.current_stream(index).cuda_stream or LEGACY_STREAM,
                       owner=tensor)


@cache
def _dtype_of_torch(dtype: Any) -> np.dtype[Any]:
    name = str(dtype).removeprefix("torch.")
    try:
        return _SPECIAL.get(name) or np.dtype({"float8_e4m3fn": ml_dtypes.float8_e4m3fn,
                                               "float8_e5m2": ml_dtypes.float8_e5m2}.get(name, name))
    except TypeError:
        raise LaunchError(f"a tensor of {dtype} cannot be passed: numpy has no such elements; tensor.view(torch.uint8) "
                          "is one of bytes") from None


def _of_interface(given: Any, interface: Any) -> DeviceArray:
    """What ``__cuda_array_interface__`` says."""
    shape, (address, is_read_only) = tuple(interface["shape"]), interface["data"]
    dtype = np.dtype(interface["typestr"])
    strides = interface.get("strides")
    if not is_contiguous(shape, strides, dtype.itemsize):
        raise _with_gaps(shape, strides, "cupy.ascontiguousarray, or the like of its library")
    if interface.get("mask") is not None:
        raise LaunchError("a kernel knows no masks: pass the array without its mask")
    return DeviceArray(int(address or 0), shape, dtype, is_read_only=bool(is_read_only),
                       stream=interface.get("stream") or LEGACY_STREAM, owner=given)


def _of_dlpack(given: Any) -> DeviceArray | None:
    """What a capsule of DLPack says. It is made for CUDA's default stream, which the launch comes after."""
    try:
        kind, _ = given.__dlpack_device__()
        if kind not in dlpack.ON_GPU:
            return None
        shown = dlpack.read(given.__dlpack__(stream=LEGACY_STREAM))
    except (BufferError, TypeError, RuntimeError) as error:
        raise LaunchError(f"the {type(given).__name__} gives its memory to nobody: {error}") from None
    if not is_contiguous(shown.shape, shown.strides, shown.dtype.itemsize):
        raise _with_gaps(shown.shape, shown.strides or (), "a function of its library such as ascontiguousarray")
    return DeviceArray(shown.address, shown.shape, shown.dtype, device=shown.device, stream=LEGACY_STREAM,
                       owner=shown.owner, is_lent=True, is_read_only=is_constant(given))


def is_constant(given: Any) -> bool:
    """Whether an array is one of a library whose arrays never change, which DLPack does not tell."""
    return library_of(given) in ("jax", "jaxlib")


def library_of(given: Any) -> str:
    """The package that an object comes from."""
    return type(given).__module__.partition(".")[0]


def _with_gaps(shape: Sequence[int], strides: Sequence[int] | None, way: str) -> LaunchError:
    return LaunchError(f"the array of shape {tuple(shape)} is not contiguous (strides {tuple(strides or ())}): pass a "
                       f"copy made with {way}")


_WAYS: dict[str, str] = {
    "torch": "tensor.cpu()", "cupy": "cupy.asnumpy(array)", "cupyx": "cupy.asnumpy(array)",
    "numba": "array.copy_to_host()", "jax": "numpy.asarray(array)", "jaxlib": "numpy.asarray(array)",
    "coopmat": "memory.to_host()",
}
"""How libraries copy an array to the host."""


def way_to_host(given: Any) -> str:
    """How to copy an object's memory to the host, for messages."""
    return _WAYS.get(library_of(given), "the function of its library")


Foreign = Callable[[Any], DeviceArray | None]
"""What a device makes of memory that is not the host's: what kernels there take, or an error that says what would
work; None for what is no such memory."""


def refused_by(device: str) -> Foreign:
    """Of a device that reaches the host's memory only."""
    def refuse(given: Any) -> None:
        found = device_array(given)
        if found is not None:
            on = found.place
            raise LaunchError(f"its memory is on {on}, and the device '{device}' reaches the host's only: pass a copy, "
                              f"made with {way_to_host(given)}, or launch on {'cuda:0' if on == 'a GPU' else on}")

    return refuse
