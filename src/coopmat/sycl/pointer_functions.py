"""Pointers, and the bits of values, as other types: address_space_cast (SYCL 4.7.7.2), reinterpret_cast, bit_cast."""

from __future__ import annotations

from typing import Any

from coopmat.sycl.device_functions import device_function, host_device_function
from coopmat.sycl.pointers import cast_address_space


@host_device_function
def address_space_cast(space: Any, is_decorated: Any, pointer: Any) -> Any:
    """``address_space_cast[space, is_decorated](pointer)``: the pointer in an address space, as a multi_ptr.

    On the host, memory or a pointer to it; in a kernel, a pointer whose address space is that one or generic.
    """
    return cast_address_space(space, is_decorated, pointer)


@device_function
def reinterpret_cast(pointer: Any) -> Any:
    """``reinterpret_cast[ptr[float4]](p)``: the same address as a pointer to another type in that address space."""


@device_function
def bit_cast(value: Any) -> Any:
    """``bit_cast[T](x)``: the bits of a number or vector as another type of the same size (SYCL 3.9.2)."""
