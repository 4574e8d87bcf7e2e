"""address_space_cast, on the host and in kernels (SYCL 4.7.7.2)."""

from __future__ import annotations

from typing import Any

from coopmat.sycl.device_functions import host_device_function
from coopmat.sycl.pointers import cast_address_space


@host_device_function
def address_space_cast(space: Any, is_decorated: Any, pointer: Any) -> Any:
    """``address_space_cast[space, is_decorated](pointer)``: the pointer in an address space, as a multi_ptr.

    On the host, memory or a pointer to it; in a kernel, a pointer whose address space is that one or generic.
    """
    return cast_address_space(space, is_decorated, pointer)
