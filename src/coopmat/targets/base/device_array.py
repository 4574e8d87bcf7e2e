"""Memory of a GPU as targets take it for a pointer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LEGACY_STREAM = 1
"""CUDA's default stream, which other streams that block wait for, as ``__cuda_array_interface__`` calls it."""


class DeviceArray:
    """Contiguous memory of a GPU: an address, as the GPU has it, and what lies there.

    device: the GPU's number; None if only the driver knows. stream: the stream on which its owner works with it: a
    launch comes after what is there, and what the owner does later after the launch; None where the program itself
    orders launches. owner: what keeps the memory. is_lent: whether it must do so until a launch has ended; for all
    others it is enough that the owner comes after the launch. place: the device's name.
    """

    __slots__ = ("_place", "address", "device", "dtype", "is_lent", "is_read_only", "owner", "shape", "stream")

    def __init__(self, address: int, shape: Sequence[int], dtype: np.dtype[Any], *, is_read_only: bool = False,
                 device: int | None = None, stream: int | None = None, owner: Any = None,
                 is_lent: bool = False, place: str | None = None) -> None:
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self.is_read_only = is_read_only
        self.device = device
        self.stream = stream
        self.owner = owner
        self.is_lent = is_lent
        self._place = place

    @property
    def place(self) -> str:
        """The name of the device that has it."""
        return self._place or ("a GPU" if self.device is None else f"cuda:{self.device}")

    @property
    def is_cuda(self) -> bool:
        """Whether CUDA knows the address."""
        return self._place is None

    @property
    def size(self) -> int:
        """The number of elements."""
        found = 1
        for count in self.shape:
            found *= count
        return found

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"<{self.dtype} of shape {tuple(self.shape)} at {self.address:#x} of {self.place}>"


Memory = np.ndarray[Any, Any] | DeviceArray
"""Memory of the host or of a GPU."""


def is_writable(memory: Memory) -> bool:
    """Whether a kernel may write there."""
    return not memory.is_read_only if isinstance(memory, DeviceArray) else bool(memory.flags.writeable)


def is_contiguous(shape: Sequence[int], strides: Sequence[int] | None, step: int) -> bool:
    """Whether strides are those of memory without gaps, the last index first; ``step`` is one element's. None: they
    are."""
    if strides is None or 0 in shape:
        return True
    for count, stride in zip(reversed(shape), reversed(strides), strict=True):
        if count != 1 and stride != step:
            return False
        step *= count
    return True
