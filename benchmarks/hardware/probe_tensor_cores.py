"""Probe Hopper's tensor cores, and print what they show beside what the models claim (docs/probing.md):

    python benchmarks/hardware/probe_tensor_cores.py

Needs an H100 or H200 and cuda-bindings. The exit code is 1 if a property differs from the model's claim.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import partial

from fragments import INSTRUCTIONS, Instruction
from probe_report import report, summary
from ptx import Driver

from coopmat.probing import Multiply

ARCHITECTURE = "nvidia_gpu_sm_90"


def instruction_report(found: Instruction, multiply: Multiply) -> tuple[list[str], int]:
    """The lines about one instruction, and how many properties differ."""
    return report(found.mnemonic, ARCHITECTURE, (found.a, found.b, found.c, found.d), (found.m, found.n, found.k),
                  multiply, saturating=found.saturating)


def main() -> int:
    """Probe all instructions; 0 if everything is as claimed."""
    driver = Driver()
    print(f"{driver.name}, {datetime.now(UTC):%Y-%m-%d}", flush=True)
    differences = 0
    for found in INSTRUCTIONS:
        lines, count = instruction_report(found, partial(driver.run, found))
        print("\n".join(lines), flush=True)
        differences += count
    return summary(len(INSTRUCTIONS), differences)


if __name__ == "__main__":
    sys.exit(main())
