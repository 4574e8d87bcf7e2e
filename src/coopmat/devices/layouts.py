"""The layout of every matrix on every device: the one place where the simulator, messages and pictures look.

A device's cooperative matrices have the layout of its family; where a family has no rule for a matrix, such as for
another sub-group size than the hardware's, and on ``generic`` and ``cpu``, the elements are dealt out to the lanes in
turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from coopmat.devices import amd, describe, intel_amx, intel_xmx, nvidia_fragments
from coopmat.devices.instructions import LANES
from coopmat.devices.lane_layout import LaneLayout, dealt
from coopmat.devices.model import Combination, DeviceDescription
from coopmat.devices.operands import USES, Use, shape_of
from coopmat.devices.subgroup_layout import matrix_rows_of
from coopmat.devices.subgroup_matrices import M_SIZES
from coopmat.diagnostics import Error, KernelNotSupported, value_text
from coopmat.formats import Format, format_of

MOST_ELEMENTS = 1 << 20  # of a matrix
DEALT = "coopmat's choice: elements are dealt out along the rows"

Rule = Callable[[DeviceDescription, Use, Format, int, int, int], LaneLayout | None]


def _xmx(device: DeviceDescription, use: Use, fmt: Format, rows: int, columns: int, lanes: int) -> LaneLayout | None:
    return intel_xmx.layout(use, fmt, rows, columns, lanes) if lanes in device.xmx_sub_group_sizes else None


def _fragment(device: DeviceDescription, use: Use, fmt: Format, rows: int, columns: int,
              lanes: int) -> LaneLayout | None:
    """That of the first instruction which cooperative matrices are made of and which has such a matrix."""
    for instruction in device.instructions:
        if instruction.kind.makes_combinations and instruction.has_fragment(use, fmt.name):
            shape = instruction.shape_with(use, rows, columns)
            if shape is not None:
                return instruction.layout(use, fmt, shape) if lanes == LANES[instruction.kind.scope] else None
    return None


RULES: dict[str, Rule] = {
    "intel_amx": lambda device, *matrix: intel_amx.layout(*matrix),
    "intel_xmx": _xmx,
    "nvidia": _fragment,
    "amd": lambda device, *matrix: amd.layout(*matrix),
    "generic": lambda device, *matrix: None,
    "host": lambda device, *matrix: None,
    "cuda": lambda device, *matrix: None,  # its matrices are those of an architecture in the tables
    "vulkan": lambda device, *matrix: None,  # drivers do not tell
    "vulkan_cpu": lambda device, *matrix: None,
}
"""The layout of a matrix that a device of this family has, by family; None where it has no rule."""


@lru_cache(maxsize=1024)
def matrix_layout(architecture: str, use: Use, fmt: str, rows: int, columns: int, sub_group_size: int) -> LaneLayout:
    """The layout of a cooperative matrix on the architecture of this name."""
    device, described = describe(architecture), format_of(fmt)
    rule = RULES[device.vendor_family]
    found = None
    if device.supports_matrix(fmt, use, rows, columns):
        found = rule(device, use, described, rows, columns, sub_group_size)
    elif device.vendor_family == "nvidia" and sub_group_size == LANES["warp"]:
        found = nvidia_fragments.grid_fragment(use, described, rows, columns)
    if found is not None:
        return found
    return LaneLayout(rows, columns, described.bits, described.bits, dealt(rows, columns, sub_group_size), DEALT,
                      implementation_dependent=True)


@lru_cache(maxsize=256)
def work_group_layout(architecture: str, use: Use, fmt: str, rows: int, columns: int, work_items: int) -> LaneLayout:
    """The layout of a cooperative matrix of a work-group on the architecture of this name."""
    described, found = format_of(fmt), None
    if describe(architecture).vendor_family == "nvidia":
        found = nvidia_fragments.work_group_fragment(use, described, rows, columns, work_items)
    if found is not None:
        return found
    return LaneLayout(rows, columns, described.bits, described.bits, dealt(rows, columns, work_items), DEALT,
                      implementation_dependent=True)


def layout_of(device: DeviceDescription, use: Use, fmt: str, m: int, n: int, k: int,
              sub_group_size: int | None = None) -> LaneLayout:
    """The layout of one operand of ``D = A*B + C``: of a combination in the device's table, of a multiply-accumulate of
    cl_intel_subgroup_matrix_multiply_accumulate, or of an instruction of NVIDIA's (mma.sync, wgmma).

    sub_group_size: the device's default if None; combinations only, the others have one.

    Raises :class:`coopmat.KernelNotSupported` for what the device does not have, and :class:`coopmat.Error` for an
    unknown type or use, or a sub-group size that the device does not have.
    """
    described = format_of(fmt)
    if use not in USES:
        raise Error(f"unknown matrix use {value_text(use)} (known: {', '.join(USES)})")
    size = _sub_group_size(device, sub_group_size)
    if _has_combination(device, use, fmt, m, n, k):
        return matrix_layout(device.name, use, fmt, *shape_of(use, m, n, k), size)
    for row in matrix_rows_of(device):
        if row.has(use, fmt, m, n, k):
            return row.layout(use, m)
    for instruction in device.instructions:
        shape = instruction.shape(m, n, k)
        if shape is None or fmt not in instruction.types_of(use):
            continue
        if instruction.kind.homes(use) != ("shared memory",):  # there it lies as any matrix in memory does
            found = instruction.layout(use, described, shape)
            if found is not None:
                return found
    raise KernelNotSupported(_unsupported(device, use, fmt, m, n, k))


def _sub_group_size(device: DeviceDescription, wanted: int | None) -> int:
    if wanted is not None and wanted not in device.sub_group_sizes:
        raise Error(f"{device.name} has no sub-groups of {wanted} work-items "
                    f"(known: {', '.join(map(str, device.sub_group_sizes))})")
    return wanted or device.sub_group_sizes[0]


def _has_combination(device: DeviceDescription, use: Use, fmt: str, m: int, n: int, k: int) -> bool:
    if not device.any_combination:
        return any(fmt in row.types_of(use) and row.supports_sizes(m, n, k) for row in device.combinations)
    if min(m, n, k) < 1 or max(m * n, m * k, n * k) > MOST_ELEMENTS:
        raise KernelNotSupported(
            f"matrices of {device.name} have 1 to {MOST_ELEMENTS} elements; found M={m} N={n} K={k}")
    return True


def _unsupported(device: DeviceDescription, use: Use, fmt: str, m: int, n: int, k: int) -> str:
    """Which sizes there are for this use and type, or which types."""
    def sizes(row: Combination) -> str:
        return str(row).split(", ", 1)[1]

    rows = [row for row in device.combinations if fmt in row.types_of(use)]
    shown = [*dict.fromkeys(sizes(row) for row in sorted(rows, key=lambda row: row.shape_distance(m, n, k)))]
    some = ", ".join(map(str, M_SIZES))
    shown += [f"N={row.sub_group_size} K={row.k} with M in {some}" for row in matrix_rows_of(device)
              if fmt in row.types_of(use) and not rows]
    # Those of warp groups are too many to be listed.
    shown += [row.name(shape) for row in device.instructions if row.has_fragment(use, fmt)
              and row.kind.scope == "warp" and not row.kind.makes_combinations for shape in row.shapes]
    asked = f"{device.name} has no {fmt} matrix of use '{use}' for M={m} N={n} K={k}"
    if shown:
        return f"{asked}; for this type it has {'; '.join([*dict.fromkeys(shown)])}"
    types = dict.fromkeys(name for row in device.combinations for name in row.types_of(use))
    return f"{asked}; types of this use are {', '.join(types)}"
