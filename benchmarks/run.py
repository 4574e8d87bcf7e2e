"""The performance figures of the README: ``python benchmarks/run.py [NAME…] [--repeat N] [--json FILE]``.

Each figure is the median of several runs, measured in the same run as its peers.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import compile_time
import cpu
import cpu_bounds
import launches
import mathematics
import python_kernels
import simulator
import spirv_modules

import numerics

BENCHMARKS = {"simulator": simulator.run, "compile_time": compile_time.run, "spirv_modules": spirv_modules.run,
              "python_kernels": python_kernels.run, "numerics": numerics.run, "launches": launches.run,
              "cpu_bounds": cpu_bounds.run, "cpu": cpu.run, "mathematics": mathematics.run}


def main() -> None:
    """Measure, print tables, and write JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{' or '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--repeat", type=int, default=11, help="runs per figure (default: 11)")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark '{unknown[0]}'; there are {', '.join(BENCHMARKS)}")
    figures = [figure for name in options.names or BENCHMARKS for figure in BENCHMARKS[name](options.repeat)]
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1))


if __name__ == "__main__":
    main()
