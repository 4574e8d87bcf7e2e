"""Which matrices and products a kernel has, and whether a device supports them (section "Backend support status").

SPIR-V says less: its integers have no sign, and its floats may hold tf32. So this is asked of the kernel itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import KernelNotSupported, SourceLocation
from coopmat.runtime.element_types import ElementType
from coopmat.sycl.enumerations import use
from coopmat.sycl.joint_matrices import JointMatrixType
from coopmat.tree.types import ExecutionScope


@dataclass
class MatrixUses:
    """Each with the place where it occurs first. ``products`` are the types of A, B, C and D."""

    matrices: dict[JointMatrixType, SourceLocation] = field(default_factory=dict)
    products: dict[tuple[JointMatrixType, ...], SourceLocation] = field(default_factory=dict)

    def require(self, device: DeviceDescription, kernel: str) -> None:
        """Raise KernelNotSupported, naming the place, for the first that the device does not support."""
        for (a, b, c, d), location in self.products.items():
            product = device.require_of_work_group if a.scope is ExecutionScope.WORKGROUP else device.require
            _require(kernel, location, product, *map(_format, (a, b, c, d)), a.rows, b.columns, a.columns)
        for matrix, location in self.matrices.items():
            require = device.require_matrix_of_work_group if matrix.scope is ExecutionScope.WORKGROUP else \
                device.require_matrix
            _require(kernel, location, require, _format(matrix), matrix.use.name, matrix.rows, matrix.columns)


def _format(matrix: JointMatrixType) -> str:
    """The element type as tables have it; an accumulator of tf32 is one of float."""
    element: ElementType = matrix.element.storage if matrix.use is use.accumulator else matrix.element
    assert element.format is not None
    return element.format


def _require(kernel: str, location: SourceLocation, require: Any, *arguments: Any) -> None:
    try:
        require(*arguments)
    except KernelNotSupported as error:
        raise KernelNotSupported(error.message, kernel, location) from None
