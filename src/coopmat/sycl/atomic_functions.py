"""Atomic operations and fences (SYCL 4.15.3 and 4.15.1)."""

from __future__ import annotations

from typing import Any

from coopmat.sycl.device_functions import device_function


@device_function
def atomic_ref(ref: Any) -> Any:
    """``atomic_ref[T, DefaultOrder, DefaultScope, Space](A[i])``: atomic operations on an element of memory.

    T: int32, uint32, int64, uint64, float32 or float64, the element's type. DefaultOrder: memory_order.relaxed,
    .acq_rel or .seq_cst. DefaultScope: a memory_scope. Space: the address space, which may be left out.

    Methods (order and scope may be left out): ``load(order, scope)``, ``store(x, order, scope)``,
    ``exchange(x, order, scope)``, ``fetch_add``, ``fetch_sub``, ``fetch_min``, ``fetch_max`` and, of integers,
    ``fetch_and``, ``fetch_or``, ``fetch_xor``, which return the former value; ``ref += x``, ``-=``, ``&=``, ``|=``
    and ``^=`` update without returning it.

    ``compare_exchange_strong(expected, desired, order, scope)``, or ``(expected, desired, success, failure, scope)``,
    stores desired if the element has the value expected (its bits, of floating-point numbers), and says whether it
    did. Python passes numbers by value, so expected does not change as it does in C++; a loop reads it again:
    ``while not ref.compare_exchange_weak(old, f(old)): old = ref.load()``.
    """


@device_function
def atomic_fence(order: Any, scope: Any) -> None:
    """Order the accesses to memory of this work-item before and after, as seen in ``scope``."""
