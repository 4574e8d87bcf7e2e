"""The operations on joint matrices (section "Collective matrix operations"; sycl_ext_intel_matrix).

They are group functions: all work-items of the sub-group must reach them together, with the same arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coopmat.formats import round_to
from coopmat.sycl.device_functions import device_function, host_device_function
from coopmat.sycl.properties import properties

NO_HINTS = properties()


@device_function
def joint_matrix_load(g: Any, res: Any, src: Any, stride: Any, Layout: Any = None) -> None:
    """Load ``res`` from memory (section "Load").

    src: a pointer to elements of res's type (float32 for tf32), possibly const, possibly annotated.
    stride: elements from one row to the next (row_major), or from one column to the next (col_major).
    Layout: for an accumulator, row_major or col_major, also known at run time only; A and B have theirs.
    """


@device_function
def joint_matrix_store(g: Any, src: Any, dest: Any, stride: Any, Layout: Any = None) -> None:
    """Store the accumulator ``src`` to memory (section "Store"); parameters as in joint_matrix_load.

    sycl_ext_intel_matrix also stores A and B, whose Layout is that of their type.
    """


@device_function
def joint_matrix_mad(g: Any, D: Any, A: Any, B: Any, C: Any) -> None:
    """``D = A*B + C``: A of M x K, B of K x N, C and D of M x N (section "Multiply and Add")."""


@device_function
def joint_matrix_fill(g: Any, m: Any, v: Any) -> None:
    """Set every element of ``m`` to ``v``, converted to its type (section "Fill")."""


@device_function
def joint_matrix_copy(g: Any, src: Any, dest: Any) -> None:
    """Copy the elements of ``src`` to ``dest`` of the same shape, converting type and use (section "Copy")."""


@device_function
def joint_matrix_transpose(g: Any, src: Any, dest: Any) -> None:
    """Copy the elements of ``src`` to ``dest`` with rows and columns exchanged, converting type and use; dest has as
    many rows as src has columns, and as many columns as src has rows. Not of the extension."""


@device_function
def joint_matrix_reduce(g: Any, m: Any, axis: Any, op: Any, size: Any = None) -> Any:
    """A matrix of ``m``'s type, each of whose elements is what all of its row, of its column or of the matrix give
    together.

    m: an accumulator. axis: "row", "column" or "all". op: "add", "min", "max" or "mul", or plus(), minimum(),
    maximum() or multiplies(). size: for "row" the columns of the result, for "column" its rows; m's if it is left out.
    Integers wrap; minimum and maximum of a number and a NaN are the number. The order in
    which floating-point numbers are added is the device's (docs/numerics.md). Not of the extension; SPIR-V's
    OpCooperativeMatrixReduceEXT.
    """


@device_function
def joint_matrix_apply(g: Any, m: Any, *rest: Any) -> None:
    """Call a function for each element of ``m`` (section "Element-Wise Operations").

    ``joint_matrix_apply(g, m, f)``: f(x) returns the new value; if it returns nothing, the last value of its
    parameter is the new one. f(x, row, col) also gets the element's coordinates. ``joint_matrix_apply(g, m0, m1, f)``
    calls f(x0, x1), or f(x0, x1, row, col), for the elements of two matrices of one shape and use; both parameters'
    last values are stored, unless it returns a value, which is the second element's.
    """


@device_function
def joint_matrix_prefetch(g: Any, ptr: Any, stride: Any, Layout: Any, Properties: Any = NO_HINTS) -> None:
    """``joint_matrix_prefetch[Rows, Cols](g, ptr, stride, Layout[, properties(prefetch_hint_L2)])``: have
    Rows x Cols elements brought into the cache, L1 where no level is given (section "Prefetch")."""


@device_function
def joint_matrix_load_checked(g: Any, res: Any, src: Any, stride: Any, *rest: Any) -> None:
    """``(g, res, src, stride, [Layout,] height, width, row, col)``: load the part of a height x width matrix at
    ``src`` that begins at (row, col); elements outside of it are 0 (sycl_ext_intel_matrix). That matrix is what lies in
    memory, its rows a stride apart: the columns of a col_major ``res``, whose own row is then ``col``."""


@device_function
def joint_matrix_store_checked(g: Any, src: Any, dest: Any, stride: Any, *rest: Any) -> None:
    """``(g, src, dest, stride, [Layout,] height, width, row, col)``: store to the part of a height x width matrix
    at ``dest`` that begins at (row, col); elements outside of it are not written (sycl_ext_intel_matrix). That matrix
    is what lies in memory, as with :func:`joint_matrix_load_checked`."""


@device_function
def joint_matrix_fill_checked(g: Any, m: Any, v: Any, height: Any, width: Any, row: Any, col: Any) -> None:
    """Set the elements of ``m`` that lie in a height x width matrix to ``v`` and the others to 0, where ``m``
    begins at (row, col) (sycl_ext_intel_matrix)."""


@host_device_function
def round_to_tf32(elem: Any) -> Any:
    """``elem``, a float32 (on the host also an array), rounded to tf32: 10 fraction bits, to nearest even
    (section "Rounding TF32 values")."""
    rounded = round_to(np.asarray(elem, np.float32), "tf32").astype(np.float32)
    return rounded if isinstance(elem, np.ndarray) else rounded[()]
