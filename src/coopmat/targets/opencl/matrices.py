"""Which matrices a driver computes itself."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.devices import Combination
from coopmat.targets.base.matrix_probe import Layouts, MatrixProbe
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.support import Support, candidates

LAYOUTS: tuple[Layouts, ...] = ((0, 2, 0, 0), (0, 0, 0, 0))
"""Of A, B, C and D, that a product is tried with: B in VNNI order, as Intel's runtime for CPUs wants it, and all by
rows."""


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
