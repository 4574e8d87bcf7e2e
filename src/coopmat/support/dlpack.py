"""DLPack: arrays of other libraries, and memory for them, by its capsules of C structures.

https://dmlc.github.io/dlpack/latest/c_api.html, without the versioned form, which every library gives the other of when
it is not asked for.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import ml_dtypes
import numpy as np

NAME, USED_NAME = b"dltensor", b"used_dltensor"


class Kind(IntEnum):
    """DLDeviceType: where memory is."""

    CPU = 1
    CUDA = 2
    CUDA_HOST = 3
    CUDA_MANAGED = 13


ON_HOST = (Kind.CPU, Kind.CUDA_HOST)
ON_GPU = (Kind.CUDA, Kind.CUDA_MANAGED)
_DTYPES: dict[tuple[int, int], np.dtype[Any]] = {
    **{(0, bits): np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{(1, bits): np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{(2, bits): np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    (4, 16): np.dtype(ml_dtypes.bfloat16),
    (6, 8): np.dtype(np.bool_),
}
"""By DLDataTypeCode and bits."""
_CODES = {dtype: code for code, dtype in _DTYPES.items()}


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]

_API = ctypes.pythonapi
_POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _API))
_POINTER_OF_ADDRESS = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _API))
_IS_VALID = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _API))
_SET_NAME = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _API))
_CAPSULE_DELETER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_NEW = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _CAPSULE_DELETER)(
    ("PyCapsule_New", _API))


@dataclass(frozen=True)
class Shown:
    """What a capsule says. strides: in bytes; None without gaps. owner: the memory lives as long."""

    address: int
    kind: int
    device: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype[Any]
    owner: Any


class _Owner:
    """A capsule that was taken over; the other library's memory is let go of with it."""

    def __init__(self, managed: Any) -> None:
        self._managed = managed

    def __del__(self) -> None:
        deleter = self._managed.contents.deleter
        if deleter:
            deleter(self._managed)


def read(capsule: Any) -> Shown:
    """What a capsule says; it is used then. TypeError for what is no capsule of DLPack, or has other elements."""
    try:
        address = _POINTER(capsule, NAME)
    except (ValueError, ctypes.ArgumentError):
        raise TypeError("no capsule of DLPack that nobody has used yet") from None
    managed = ctypes.cast(address, ctypes.POINTER(_Managed))
    tensor = managed.contents.tensor
    dtype = _DTYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise TypeError(f"elements of DLPack's type {tensor.code} of {tensor.bits} bits")
    _SET_NAME(capsule, USED_NAME)
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(step * dtype.itemsize for step in tensor.strides[:tensor.ndim]) if tensor.strides else None
    return Shown((tensor.data or 0) + tensor.offset, tensor.device.kind, tensor.device.number, shape, strides, dtype,
                 _Owner(managed))


def host_array(shown: Shown, *, is_read_only: bool = False) -> np.ndarray[Any, Any]:
    """Memory of the host as an array."""
    dtype = shown.dtype
    holder = type("_Shown", (), {"__array_interface__": {
        "data": (shown.address, is_read_only), "shape": shown.shape, "strides": shown.strides,
        "typestr": dtype.str if dtype.kind != "V" else f"<V{dtype.itemsize}", "version": 3}})()
    holder.owner = shown.owner
    return np.asarray(holder).view(dtype)


_MADE: dict[int, Any] = {}
"""What other libraries have been given, by the address of its structure, until they let go of it."""


@_DELETER
def _let_go(managed: Any) -> None:
    _MADE.pop(ctypes.addressof(managed.contents), None)


@_CAPSULE_DELETER
def _unused(capsule: int) -> None:
    """At the end of a capsule: of one that nobody has used, the structure ends with it."""
    if _IS_VALID(capsule, NAME):
        _MADE.pop(_POINTER_OF_ADDRESS(capsule, NAME), None)


def capsule(address: int, kind: Kind, device: int, shape: Sequence[int], dtype: np.dtype[Any], owner: Any) -> Any:
    """A capsule for memory without gaps, which ``owner`` keeps. TypeError for elements that DLPack does not know."""
    if dtype not in _CODES:
        raise TypeError(f"DLPack has no elements of {dtype}")
    code, bits = _CODES[dtype]
    managed = _Managed()
    extents = (ctypes.c_int64 * len(shape))(*shape)
    strides = (ctypes.c_int64 * len(shape))(*(math.prod(shape[axis + 1:]) for axis in range(len(shape))))
    managed.tensor = _Tensor(address, _Device(kind, device), len(shape), code, bits, 1, extents, strides, 0)
    managed.deleter = _let_go
    _MADE[ctypes.addressof(managed)] = managed, extents, strides, owner
    return _NEW(ctypes.addressof(managed), NAME, _unused)
