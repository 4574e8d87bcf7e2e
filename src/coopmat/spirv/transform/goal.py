"""What a pass is told, and what it tells: the machine that a module is transformed for, and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from coopmat.devices import Combination, DeviceDescription, Use
from coopmat.devices.subgroup_layout import has_2d_block_io, matrix_rows_of

Say = Callable[[str], None]
"""Takes a note: what a pass did, or what it did not do and why."""

Moves = Literal["khr", "intel", "local"]
"""How data go from one work-item of a sub-group to another: by the instructions of SPIR-V 1.3 (capabilities
GroupNonUniformShuffle and GroupNonUniformBallot), by those of SPV_INTEL_subgroups, or by way of local memory."""

JOINT_MATRIX = "SPV_INTEL_joint_matrix"
MATRIX_FUNCTIONS = "SPV_EXT_cooperative_matrix_maintenance1"
MATRIX_FUNCTIONS_NV = "SPV_NV_cooperative_matrix2"
SUB_GROUP_PRODUCTS = "SPV_INTEL_subgroup_matrix_multiply_accumulate"
BLOCKS_2D = "SPV_INTEL_2d_block_io"
BLOCKS = "SPV_INTEL_subgroups"
ROUND_TO_TF32 = "SPV_INTEL_tensor_float32_conversion"
BFLOAT16 = "SPV_KHR_bfloat16"
BFLOAT16_CONVERSION = "SPV_INTEL_bfloat16_conversion"
EXTENSIONS = frozenset({JOINT_MATRIX, MATRIX_FUNCTIONS, MATRIX_FUNCTIONS_NV, SUB_GROUP_PRODUCTS, BLOCKS_2D, BLOCKS,
                        ROUND_TO_TF32, BFLOAT16, BFLOAT16_CONVERSION})
"""The extensions of SPIR-V whose instructions the pass ``matrices`` can do without."""


@dataclass(frozen=True)
class MatrixSupport:
    """What a machine, or its driver, has for matrices.

    name: in messages. combinations: those of sub-group scope; ``any_combination``: every one instead. extensions:
    those of :data:`EXTENSIONS` that it has. sub_group_size: that of kernels which require none. moves: how data go
    from one work-item to another. work_group_items: the most of a work-group, for which there is local memory where
    data go that way. work_groups: the combinations of work-group scope.
    """

    name: str
    combinations: tuple[Combination, ...] = ()
    any_combination: bool = False
    extensions: frozenset[str] = frozenset()
    sub_group_size: int = 16
    moves: Moves = "khr"
    work_group_items: int = 1024
    work_groups: tuple[Combination, ...] = ()

    def supports(self, a: str, b: str, c: str, d: str, m: int, n: int, k: int) -> bool:
        """Whether it has ``D = A*B + C`` of these types and sizes."""
        return self.any_combination or any(row.types == (a, b, c, d) and row.supports_sizes(m, n, k)
                                           for row in self.combinations)

    def supports_matrix(self, fmt: str, use: Use, rows: int, columns: int) -> bool:
        """Whether a matrix of this element type, use and shape is part of a combination."""
        return self.any_combination or any(row.supports_matrix(fmt, use, rows, columns) for row in self.combinations)

    @classmethod
    def of(cls, device: DeviceDescription) -> MatrixSupport:
        """What a device of the tables has."""
        lacks = {SUB_GROUP_PRODUCTS: not matrix_rows_of(device), BLOCKS_2D: not has_2d_block_io(device)}
        return cls(device.name, device.combinations, device.any_combination,
                   EXTENSIONS - {name for name, is_lacking in lacks.items() if is_lacking}, device.sub_group_sizes[0])


@dataclass(frozen=True)
class Goal:
    """What a module is transformed for. ``device``: whose matrices it is to have. ``tile``: M, N and K to cut matrices
    to, instead of the device's. ``driver``: what the driver that takes the module has, where that is not what the
    device's table says. ``merge``: how many work-groups become one, down and across; ``work_group``: the work-items of
    one, of kernels that require no size; ``sub_group_size``: the same of a sub-group, where it is known.
    ``functions``: those of OpenCL.std that stay, ``fma`` of all types or
    ``fma.f32`` of one."""

    device: DeviceDescription | None = None
    tile: tuple[int, int, int] | None = None
    driver: MatrixSupport | None = None
    merge: tuple[int, int] | None = None
    work_group: tuple[int, int, int] | None = None
    sub_group_size: int | None = None
    functions: frozenset[str] = frozenset()

    @property
    def matrices(self) -> MatrixSupport | None:
        """The matrices that the module is to have; None where nobody says."""
        if self.driver is not None:
            return self.driver
        return None if self.device is None else MatrixSupport.of(self.device)


def counted(number: int, what: str, plural: str = "") -> str:
    """``1 call``, ``2 calls``."""
    return f"{number} {what if number == 1 else plural or what + 's'}"
