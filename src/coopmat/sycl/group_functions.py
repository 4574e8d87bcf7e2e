"""Functions that the work-items of a group call together (SYCL 4.17.3 and 4.17.4), and their function objects.

All work-items of the group must reach the call. ``g`` is a sub-group (``item.get_sub_group()``) or a work-group
(``item.get_group()``). Values are numbers of any type; a linear id counts the work-items of a work-group with the last
dimension as the fastest. The joint_ functions on ranges of memory do not exist here: use a loop and these.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coopmat.sycl.device_functions import device_function


@dataclass(frozen=True, slots=True)
class FunctionObject:
    """``plus`` and its like (SYCL 4.17.2): ``plus()`` and ``plus[float32]()``, as C++ writes them, are the same.

    ``what`` is what the tree's instructions call it, empty for the logical ones; ``symbol`` is the operator, empty
    where it is none.
    """

    name: str
    what: str
    symbol: str
    compute: Callable[[Any, Any], Any] = field(repr=False)

    def __getitem__(self, _: Any) -> FunctionObject:
        return self

    def __call__(self, *operands: Any) -> Any:
        return self.compute(*operands) if operands else self

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


plus = FunctionObject("plus", "add", "+", operator.add)
multiplies = FunctionObject("multiplies", "mul", "*", operator.mul)
minimum = FunctionObject("minimum", "min", "", np.fmin)
maximum = FunctionObject("maximum", "max", "", np.fmax)
bit_and = FunctionObject("bit_and", "and", "&", operator.and_)
bit_or = FunctionObject("bit_or", "or", "|", operator.or_)
bit_xor = FunctionObject("bit_xor", "xor", "^", operator.xor)
logical_and = FunctionObject("logical_and", "", "&", np.logical_and)
logical_or = FunctionObject("logical_or", "", "|", np.logical_or)


@device_function
def group_barrier(g: Any, fence_scope: Any = None) -> None:
    """Wait for all work-items of the group; what they wrote before is visible to those of ``fence_scope``
    (a memory_scope; by default the group) after it."""


@device_function
def group_broadcast(g: Any, x: Any, local_id: Any = 0) -> Any:
    """``x`` of the work-item ``local_id``: a linear id, or a tuple with one number for each dimension of g."""


@device_function
def reduce_over_group(g: Any, x: Any, *rest: Any) -> Any:
    """``reduce_over_group(g, x, op)`` and ``(g, x, init, op)``: all work-items' ``x``, and init, combined.

    op: plus, multiplies, minimum, maximum, bit_and, bit_or, bit_xor, logical_and or logical_or. The result has the
    type of x, or of init; that of a logical operator is bool.
    """


@device_function
def exclusive_scan_over_group(g: Any, x: Any, *rest: Any) -> Any:
    """``exclusive_scan_over_group(g, x, op)`` and ``(g, x, init, op)``: ``x`` of the work-items before this one, and
    init, combined; op's identity for the first. The work-items of a work-group are in the order of their linear ids."""


@device_function
def inclusive_scan_over_group(g: Any, x: Any, *rest: Any) -> Any:
    """``inclusive_scan_over_group(g, x, op)`` and ``(g, x, op, init)``: ``x`` of the work-items up to this one, and
    init, combined."""


@device_function
def any_of_group(g: Any, x: Any, pred: Any = None) -> Any:
    """Whether ``x`` is true for a work-item of the group; with ``pred``, whether pred(x) is."""


@device_function
def all_of_group(g: Any, x: Any, pred: Any = None) -> Any:
    """Whether ``x`` is true for all work-items of the group; with ``pred``, whether pred(x) is."""


@device_function
def none_of_group(g: Any, x: Any, pred: Any = None) -> Any:
    """Whether ``x`` is true for no work-item of the group; with ``pred``, whether pred(x) is."""


@device_function
def shift_group_left(g: Any, x: Any, delta: Any = 1) -> Any:
    """``x`` of the work-item whose id is greater by ``delta``; undefined where there is none. g is a sub-group."""


@device_function
def shift_group_right(g: Any, x: Any, delta: Any = 1) -> Any:
    """``x`` of the work-item whose id is less by ``delta``; undefined where there is none. g is a sub-group."""


@device_function
def permute_group_by_xor(g: Any, x: Any, mask: Any) -> Any:
    """``x`` of the work-item whose id is this one's xor ``mask``. g is a sub-group."""


@device_function
def select_from_group(g: Any, x: Any, remote_local_id: Any) -> Any:
    """``x`` of the work-item ``remote_local_id``, which may differ from one work-item to the next. g is a
    sub-group."""
