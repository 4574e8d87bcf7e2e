"""Matrix instructions of chips before Ampere, on the emulated GPU: every row of their tables."""

from __future__ import annotations

import pytest

from coopmat.devices import ARCHITECTURES
from tests.kit.targets.emulated_gpu.driver import emulated
from tests.kit.targets.matrix_rows import Case
from tests.targets.cuda.test_matrix_rows import compare

ROWS = [(capability, Case(row.types, *row.largest)) for capability in (70, 75)
        for row in ARCHITECTURES[f"nvidia_gpu_sm_{capability}"].combinations]


@pytest.mark.parametrize(("capability", "case"), ROWS, ids=str)
def test_rows_of_the_tables(capability: int, case: Case) -> None:
    """Volta's wmma, which knows its fragments itself, and Turing's mma.sync."""
    with emulated(capability):
        compare(case, 0, 1)
