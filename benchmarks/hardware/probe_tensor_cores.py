"""Probe Hopper's tensor cores, and print what they show beside what the models claim (docs/probing.md):

    python benchmarks/hardware/probe_tensor_cores.py

Needs an H100 or H200 and cuda-bindings. The exit code is 1 if a property differs from the model's claim.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from fragments import INSTRUCTIONS, Instruction
from probes import Probed, report_all
from ptx import Driver
from wmma import ROWS, multiply

from coopmat.devices import Combination
from coopmat.probing import Multiply

ARCHITECTURE = "nvidia_gpu_sm_90"
# The model of tf32 is that of mma.sync, with eight products at a time; wmma's shape is two blocks of four.
PROBED_ROWS = tuple(row for row in ROWS if row.atype != "tf32")


def of_instruction(found: Instruction) -> Probed:
    """mma.sync or wgmma."""
    return Probed(found.mnemonic, (found.a, found.b, found.c, found.d), (found.m, found.n, found.k), ARCHITECTURE,
                  found.saturating)


def of_row(row: Combination, *, saturating: bool = False) -> Probed:
    """wmma."""
    return Probed(f"wmma {row}{', saturating' * saturating}", row.types, row.largest, ARCHITECTURE, saturating)


def probed(driver: Driver) -> Iterator[tuple[Probed, Multiply]]:
    """Everything that is probed, and how it is run."""
    for found in INSTRUCTIONS:
        yield of_instruction(found), partial(driver.run, found)
    for row in PROBED_ROWS:
        for saturating in (False, True) if row.dtype == "sint32" else (False,):
            yield of_row(row, saturating=saturating), partial(multiply, driver, row, saturating=saturating)


def main() -> int:
    """Probe all instructions; 0 if everything is as claimed."""
    driver = Driver()
    print(f"{driver.name}, {datetime.now(UTC):%Y-%m-%d}", flush=True)
    return 1 if report_all(probed(driver)) else 0


if __name__ == "__main__":
    sys.exit(main())
