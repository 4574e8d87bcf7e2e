"""``coopmat bench``: how fast the matrix products of examples/ are on a device, beside numpy and PyTorch."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coopmat.diagnostics import Error
from coopmat.support.terminal import console, progress, table

if TYPE_CHECKING:
    from rich.table import Table

    from coopmat.command_line.gemm_bench import Measurement

MOST_REPETITIONS = 1000
LARGEST_SIZE = 16384


def bench(
    name: Annotated[str, typer.Option("--device", metavar="DEVICE", help="One that takes every shape.")] = "cpu",
    sizes: Annotated[list[int] | None, typer.Option(
        "--size", metavar="N", help="Multiply N x N matrices (repeatable); 1024 by default.")] = None,
    types: Annotated[list[str] | None, typer.Option(
        "--type", metavar="bf16|s8|fp32|fp16", help="Only these elements (repeatable).")] = None,
    threads: Annotated[list[int] | None, typer.Option(
        "--threads", metavar="N", help="So many threads (repeatable); by default one, and all.")] = None,
    repetitions: Annotated[int, typer.Option("--repeat", metavar="N", help="Runs of each; their median counts.")] = 11,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time the matrix products of examples/, beside numpy and, if it is installed, PyTorch; check the results."""
    from coopmat.command_line.gemm_bench import ELEMENTS, measurable, measure_apart, tolerance
    from coopmat.runtime import device

    jobs = _jobs(name, sizes or [1024], types or measurable(device(name)), threads, repetitions)
    found: list[Measurement] = []
    for number, (elements, size, count) in enumerate(jobs, 1):
        with progress(f"{number} of {len(jobs)}: {elements}, {size}x{size}x{size}, threads: {count}"):
            found += measure_apart(name, ELEMENTS[elements], size, count, repetitions)
    if as_json:
        print(json.dumps([_described(one, found) for one in found], indent=1))
    else:
        console().print(_table(name, found))
    wrong = [one for one in found if one.error is not None and not one.error <= tolerance(ELEMENTS[one.elements])]
    for one in wrong:
        print(f"WRONG: {one.name} {one.elements} {one.size}: relative error {one.error:g}", file=sys.stderr)
    if wrong:
        sys.exit(1)


def _jobs(name: str, sizes: list[int], types: list[str], threads: list[int] | None,
          repetitions: int) -> list[tuple[str, int, int]]:
    """Elements, size and threads of each measurement; Error for what cannot be measured."""
    from coopmat.command_line.gemm_bench import ELEMENTS, SIZE_STEP
    from coopmat.runtime import device
    from coopmat.targets.cpu.options import MOST_THREADS, default_threads

    chosen = device(name)
    if not chosen.description.any_combination or not chosen.has_matrices:
        has = "of certain shapes only" if chosen.has_matrices else "not at all, as its driver has no sub-groups"
        raise Error(f"the device '{name}' has matrices {has}; the kernels take devices with every shape: cpu, "
                    "sim:generic")
    for size in sizes:
        if size % SIZE_STEP or not SIZE_STEP <= size <= LARGEST_SIZE:
            raise Error(f"--size takes multiples of {SIZE_STEP} up to {LARGEST_SIZE}; found {size}")
    for one in types:
        if one not in ELEMENTS:
            raise Error(f"--type takes {', '.join(ELEMENTS)}; found '{one}'")
    counts = threads or sorted({1, default_threads()}) if name == "cpu" else [1]
    for count in counts:
        if not 1 <= count <= MOST_THREADS:
            raise Error(f"--threads takes numbers from 1 to {MOST_THREADS}; found {count}")
    if not 1 <= repetitions <= MOST_REPETITIONS:
        raise Error(f"--repeat takes numbers from 1 to {MOST_REPETITIONS}; found {repetitions}")
    return [(one, size, count) for one in types for size in sizes for count in counts]


def _peers(one: Measurement, found: list[Measurement]) -> dict[str, float]:
    """How many times as fast as each peer a kernel is."""
    return {other.name: other.seconds / one.seconds for other in found
            if other.error is None and one.error is not None
            and (other.elements, other.size, other.threads) == (one.elements, one.size, one.threads)}


def _described(one: Measurement, found: list[Measurement]) -> dict[str, Any]:
    return {**asdict(one), "gflops": one.gflops, "ratios": _peers(one, found)}


def _table(name: str, found: list[Measurement]) -> Table:
    others = list(dict.fromkeys(one.name for one in found if one.error is None))
    result = table("type", "size", "threads", "kernel", "time", "GFLOP/s", *(f"/ {other}" for other in others),
                   title=f"C = A*B on {name}")
    for one in found:
        ratios = _peers(one, found)
        result.add_row(one.elements, str(one.size), str(one.threads), one.name, f"{one.seconds * 1e3:.2f} ms",
                       f"{one.gflops:,.1f}", *(f"{ratios[other]:.2f}" if other in ratios else "" for other in others))
    return result
