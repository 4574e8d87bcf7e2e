"""Which matrices a driver computes itself."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.devices import Combination
from coopmat.spirv.grammar import Capability
from coopmat.spirv.transform.goal import EXTENSIONS, MatrixSupport, Moves
from coopmat.targets.base.matrix_probe import Layouts, MatrixProbe
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.support import Support, candidates

LAYOUTS: tuple[Layouts, ...] = ((0, 2, 0, 0), (0, 0, 0, 0))
"""Of A, B, C and D, that a product is tried with: B in VNNI order, as Intel's runtime for CPUs wants it, and all by
rows."""


def matrix_support(support: Support, options: OpenCLOptions) -> MatrixSupport:
    """What the driver has for matrices, as the pass that replaces the others takes it."""
    device = support.device
    return MatrixSupport(f"the driver {device}", (), extensions=EXTENSIONS & (device.spirv_extensions or frozenset()),
                         sub_group_size=support.sub_group_sizes[0], moves=_moves(device))


def _moves(device: DriverDevice) -> Moves:
    """How data go from one work-item of a sub-group to another."""
    for moves, capabilities, extensions in _MOVES:
        if device.spirv_capabilities is None:
            if extensions <= device.extensions:
                return moves
        elif not any(map(device.lacks, capabilities)):
            return moves
    return "local"


_MOVES: tuple[tuple[Moves, tuple[Capability, ...], set[str]], ...] = (
    ("khr", (Capability.GroupNonUniformShuffle, Capability.GroupNonUniformBallot),
     {"cl_khr_subgroup_shuffle", "cl_khr_subgroup_ballot"}),
    ("intel", (Capability.SubgroupShuffleINTEL,), {"cl_intel_subgroups"}),
)
"""Ways, best first, each with the capabilities that a driver lists, or the extensions of one that lists none."""


def native_combinations(support: Support, options: OpenCLOptions) -> Iterator[Combination]:
    """The combinations of the tables that the driver computes."""
    if not options.native_matrices or not support.sub_group_sizes:
        return
    rows = candidates(support.device)
    proven: set[Combination] = set()
    for layouts in LAYOUTS:
        waiting = [row for row in rows if row not in proven]
        found = support.matrices([_probe(support, row, layouts) for row in waiting])
        proven.update(row for row, verdict in zip(waiting, found, strict=True) if verdict.works)
    yield from (row for row in rows if row in proven)


def _probe(support: Support, row: Combination, layouts: Layouts) -> MatrixProbe:
    a, b, c, d = row.types
    return MatrixProbe((a, b, c, d), row.largest, layouts, support.sub_group_sizes[0],
                       requires_size=support.requires_sizes)
