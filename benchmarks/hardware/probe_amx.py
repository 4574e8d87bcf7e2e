"""Probe this processor's AMX, and print what it shows beside what the models claim (docs/probing.md):

    python benchmarks/hardware/probe_amx.py

Needs Linux on a processor with AMX, and ziglang or gcc. The exit code is 1 if a property differs from its claim.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from amx import ARCHITECTURE, WHOLE, Instruction, Tiles, instructions_here, processor
from probes import Probed, report_all


def of_instruction(found: Instruction) -> Probed:
    """A whole tile."""
    m, n, words = WHOLE
    a, b, c = found.types
    return Probed(found.name, (a, b, c, c), (m, n, words * found.per_word), ARCHITECTURE)


def main() -> int:
    """Probe all instructions that there are; 0 if everything is as claimed."""
    here = instructions_here()
    if not here:
        print(f"this processor has no AMX: {processor()[0]}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        tiles = Tiles(Path(folder))
        print(f"{processor()[0]}, {datetime.now(UTC):%Y-%m-%d}", flush=True)
        return 1 if report_all((of_instruction(found), partial(tiles.multiply, found)) for found in here) else 0


if __name__ == "__main__":
    sys.exit(main())
