"""The type joint_matrix<Group, T, Use, Rows, Cols, Layout> (section "New joint_matrix class")."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from coopmat.devices import WORK_GROUP_MULTIPLE
from coopmat.devices.lane_layout import can_be_packed
from coopmat.diagnostics import Error
from coopmat.runtime.element_types import BY_FORMAT, ElementType, element_type
from coopmat.sycl import constraints
from coopmat.sycl.constraints import BrokenConstraint
from coopmat.sycl.enumerations import layout, use
from coopmat.sycl.ranges import sub_group, work_group
from coopmat.tree import types as t

MAX_ELEMENTS = 1 << 16
ELEMENT_TYPES = tuple(BY_FORMAT.values())
"""The types that the device tables can list."""
SCOPES: dict[Any, t.ExecutionScope] = {sub_group: t.ExecutionScope.SUBGROUP, work_group: t.ExecutionScope.WORKGROUP}
"""The scope of the work-items that share a matrix, by the Group."""


@dataclass(frozen=True, slots=True)
class JointMatrixType:
    """A checked joint_matrix type; make one with ``joint_matrix[...]`` or ``matrix_params``."""

    element: ElementType
    use: use
    rows: int
    columns: int
    layout: layout
    scope: t.ExecutionScope = t.ExecutionScope.SUBGROUP

    @property
    def tree(self) -> t.Matrix:
        """The type in the kernel tree, which knows no layout and keeps tf32 as float."""
        return t.Matrix(self.element.storage.scalar, self.scope, self.rows, self.columns, self.use.value)

    @property
    def shape(self) -> str:
        """Rows and columns, as messages show them."""
        return f"{self.rows}x{self.columns}"

    def __str__(self) -> str:
        shown = "" if self.layout is layout.dynamic else f", {self.layout}"
        return f"joint_matrix[{_NAMES[self.scope]}, {self.element}, {self.use}, {self.rows}, {self.columns}{shown}]"

    __repr__ = __str__


_NAMES = {scope: known.__name__ for known, scope in SCOPES.items()}


def joint_matrix_type(Group: Any, T: Any, Use: Any, Rows: Any, Cols: Any, Layout: Any = None) -> JointMatrixType:
    """Check the template arguments. Raises BrokenConstraint for those that the extension does not allow."""
    scope = next((scope for known, scope in SCOPES.items() if known is Group), None)
    if scope is None:
        raise BrokenConstraint(constraints.GROUP, found=shown(Group))
    element = element_type(T)
    if element not in ELEMENT_TYPES:
        raise BrokenConstraint(constraints.ELEMENT_TYPE, found=shown(T), expected=", ".join(map(str, ELEMENT_TYPES)))
    if not isinstance(Use, use):
        raise BrokenConstraint(constraints.USE, found=shown(Use))
    rows, columns = _size("rows", Rows), _size("columns", Cols)
    if rows * columns > MAX_ELEMENTS:
        raise BrokenConstraint(constraints.TOO_LARGE, rows=rows, columns=columns, limit=MAX_ELEMENTS)
    for what, size in (("rows", rows), ("columns", columns)):
        if scope is t.ExecutionScope.WORKGROUP and size % WORK_GROUP_MULTIPLE:
            raise BrokenConstraint(constraints.WORK_GROUP_SHAPE, what=what, found=size, multiple=WORK_GROUP_MULTIPLE)
    order = _layout(Use, Layout)
    if order is layout.ext_intel_packed and Use is use.b and not can_be_packed(rows, element.storage.scalar.bits):
        raise BrokenConstraint(constraints.LAYOUT_PACKED, rows=rows, element=element)
    return JointMatrixType(element, Use, rows, columns, order, scope)


class joint_matrix:
    """``joint_matrix(Group, T, Use, Rows, Cols[, Layout])``: in a kernel a new matrix object, whose elements are
    undefined; on the host, and with square brackets, the type, which a kernel calls to make an object.

    Group: sub_group, or work_group, where all work-items of a work-group share the matrix and Rows and Cols are
    multiples of 16. T: an element type. Use: use.a, use.b or use.accumulator. Layout: row_major, col_major or
    ext_intel_packed for A and B; left out for accumulators. Raises BrokenConstraint for what the extensions do not
    allow.
    """

    def __new__(cls, Group: Any, T: Any, Use: Any, Rows: Any, Cols: Any, Layout: Any = None) -> JointMatrixType:  # type: ignore[misc]
        return joint_matrix_type(Group, T, Use, Rows, Cols, Layout)

    def __class_getitem__(cls, arguments: Any) -> JointMatrixType:
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        if not 5 <= len(given) <= 6:
            raise Error("joint_matrix takes Group, T, Use, Rows, Cols and, for A and B, Layout; found "
                        f"{len(given)} arguments")
        return joint_matrix_type(*given)


def _size(what: str, given: Any) -> int:
    try:
        size = operator.index(given)
    except TypeError:
        size = 0
    if isinstance(given, bool) or size < 1:
        raise BrokenConstraint(constraints.SHAPE, what=what, found=shown(given))
    return size


def _layout(role: use, given: Any) -> layout:
    if given is not None and not isinstance(given, layout):
        raise BrokenConstraint(constraints.LAYOUT_KIND, found=shown(given))
    if role is use.accumulator:
        if given not in (None, layout.dynamic):
            raise BrokenConstraint(constraints.LAYOUT_OF_ACCUMULATOR, found=given)
        return layout.dynamic
    if given is None:
        raise BrokenConstraint(constraints.LAYOUT_MISSING, use=role)
    if given is layout.dynamic:
        raise BrokenConstraint(constraints.LAYOUT_DYNAMIC, use=role)
    return given


def shown(value: Any) -> str:
    """A value as a message shows it: a class by its name."""
    return value.__name__ if isinstance(value, type) else str(value)
