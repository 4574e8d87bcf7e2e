"""Probe the processor's tile instructions, and print what they show beside what the models claim (docs/probing.md):

    python benchmarks/hardware/probe_amx.py

Needs Linux on a processor with AMX, and ziglang or gcc. The exit code is 1 if a property differs from the claim.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from amx import ARCHITECTURE, INSTRUCTIONS, WHOLE, Instruction, Tiles, processor
from probe_report import report, summary

from coopmat.probing import Multiply


def instruction_report(found: Instruction, multiply: Multiply) -> tuple[list[str], int]:
    """The lines about one instruction on whole tiles, and how many properties differ."""
    m, n, words = WHOLE
    return report(found.name, ARCHITECTURE, (*found.types, found.types[2]), (m, n, words * found.per_word), multiply)


def main() -> int:
    """Probe all instructions that there are; 0 if everything is as claimed."""
    name, features = processor()
    here = [found for found in INSTRUCTIONS if {"amx_tile", found.feature} <= features]
    if not here:
        print(f"this processor has no AMX: {name}", file=sys.stderr)
        return 1
    print(f"{name}, {datetime.now(UTC):%Y-%m-%d}", flush=True)
    differences = 0
    with tempfile.TemporaryDirectory() as folder:
        tiles = Tiles(Path(folder))
        for found in here:
            lines, count = instruction_report(found, partial(tiles.multiply, found))
            print("\n".join(lines), flush=True)
            differences += count
    return summary(len(here), differences)


if __name__ == "__main__":
    sys.exit(main())
