"""Local memory that is declared in a kernel (sycl_ext_oneapi_local_memory)."""

from __future__ import annotations

from typing import Any

from coopmat.sycl.device_functions import device_function


@device_function
def group_local_memory_for_overwrite(g: Any) -> Any:
    """``group_local_memory_for_overwrite[T, rows, columns](item.get_group())``: an array of one to three dimensions in
    local memory, one for each work-group, whose elements have no values yet; ``[T]`` alone is one element.

    It is what a local_accessor of that shape is in a kernel: ``tile[i, j]`` is an element, ``tile[i]`` a row, and
    joint_matrix_load and joint_matrix_store take it as a pointer. Each place in the source is one array.
    """
