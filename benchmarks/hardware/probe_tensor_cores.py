"""Probe Hopper's tensor cores, and print what they show beside what the models claim (docs/probing.md):

    python benchmarks/hardware/probe_tensor_cores.py

Needs an H100 or H200 and cuda-bindings. The exit code is 1 if a property differs from the model's claim.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from fragments import INSTRUCTIONS, Instruction
from inputs import Bits
from ptx import Driver

from coopmat.probing import Multiply, claims, compare, probe, setup_of

ARCHITECTURE = "nvidia_gpu_sm_90"


def report(found: Instruction, multiply: Multiply) -> tuple[list[str], int]:
    """The lines about one instruction, and how many properties differ."""
    setup = setup_of((found.a, found.b, found.c, found.d), found.k)
    properties = compare(probe(multiply, setup, found.m, found.n),
                         claims(ARCHITECTURE, setup, found.m, found.n, saturating=found.saturating))
    lines = [found.mnemonic]
    for each in properties:
        claimed = "as claimed" if each.agrees else f"DIFFERS from the claim: {each.claimed}"
        lines.append(f"  {each.name + ':':44} {each.found}  ({claimed})")
    return lines, sum(not each.agrees for each in properties)


def main() -> int:
    """Probe all instructions; 0 if everything is as claimed."""
    driver = Driver()
    print(f"{driver.name}, {datetime.now(UTC):%Y-%m-%d}", flush=True)
    differences = 0
    for found in INSTRUCTIONS:

        def multiply(a: Bits, b: Bits, c: Bits, found: Instruction = found) -> Bits:
            return driver.run(found, a, b, c)

        lines, count = report(found, multiply)
        print("\n".join(lines), flush=True)
        differences += count
    print(f"{len(INSTRUCTIONS)} instructions, {differences} properties differ from the models' claims")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
