"""A kernel whose annotations name what its body does not; Python evaluates them when it is defined, because this
file has no ``from __future__ import annotations``."""

from coopmat.sycl import kernel, nd_item, ptr


def incremented(T, Count=int):
    @kernel(sub_group_size=16)
    def add(item: nd_item[1], A: ptr[T], count: Count):
        A[item.get_global_id(0)] += count
    return add
