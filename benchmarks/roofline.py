"""A roofline picture of what matrices_cuda.py printed, or of the figures of ``cpu_kernels.py --json``:
``python benchmarks/roofline.py benchmarks/hardware/results/nvidia_h200_matrices.txt docs/measured/nvidia_h200.svg``.

A kernel cannot be faster than the chip computes, nor than memory brings each byte once; how near each comes is what the
picture shows. Needs matplotlib (``pip install coopmat[viz]``).
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "coopmat"  # the same picture of the same figures
import matplotlib.pyplot as plt

LINE = re.compile(r"^(?P<name>\S.*?) +(?P<intensity>\d+) +(?P<speed>[\d.]+)  (?P<peers>\w.*ratio.*)$")
PEER = re.compile(r"(\w+) +([\d.]+)  ratio ([\d.]+)")
KINDS = {"bf16": "16 bits", "fp16": "16 bits", "sub-groups": "sub-groups", "attention": "attention", "s8": "8 bits",
         "tf32": "tf32"}
"""What a line's name begins with, and what the picture calls it."""
CPU_KINDS = ("bf16", "int8", "fp16", "fp32", "attention", "convolution")
"""What of a job's name the picture calls its kind: the first that is in it."""
MARGIN = 1.5  # around the points, and the roofs above them


@dataclass(frozen=True)
class Chip:
    """TFLOP/s or TOP/s of products, by kind, and TB/s of memory."""

    name: str
    peaks: dict[str, float]
    bandwidth: float


GPUS = {"H200": Chip("NVIDIA H200", {"16 bits": 989, "8 bits": 1979, "tf32": 495}, 4.8),
        "H100": Chip("NVIDIA H100 SXM", {"16 bits": 989, "8 bits": 1979, "tf32": 495}, 3.35)}
"""NVIDIA H100 and H200 data sheets, dense products."""


@dataclass(frozen=True)
class Point:
    """A kernel: operations a byte, ours, and the first peer's."""

    name: str
    kind: str
    intensity: float
    speed: float
    peer: float


def points_of_log(text: str) -> Iterator[Point]:
    """The lines of matrices_cuda.py that have figures."""
    for line in text.splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        kind = next((kind for start, kind in KINDS.items() if match["name"].startswith(start)), None)
        peer = PEER.search(match["peers"])
        if kind is not None and peer is not None:
            yield Point(match["name"], kind, float(match["intensity"]), float(match["speed"]), float(peer[2]))


def chip_of_figures(given: dict[str, Any], threads: int) -> Chip:
    """The roofs that were measured with so many threads."""
    found = next(one["roofs"] for one in given["found"] if "roofs" in one and one["threads"] == threads)
    peaks = {name: speed / 1e12 for name, speed in found.items() if name != "memory"}
    name = f"{given['processor']}, {threads} thread{'s' if threads > 1 else ''}"
    return Chip(name, peaks, found["memory"] / 1e12)


def points_of_figures(given: dict[str, Any], threads: int) -> Iterator[Point]:
    """The jobs of which operations and bytes were counted."""
    for one in given["found"]:
        kind = next((kind for kind in reversed(CPU_KINDS) if kind in one.get("name", "")), None)
        if one["threads"] == threads and kind is not None and one["operations"] and one["best"]:
            own, peer = (one["operations"] / one["times"][name] / 1e12 for name in ("coopmat", one["best"]))
            yield Point(one["name"], kind, one["operations"] / one["traffic"], own, peer)


def draw(chip: Chip, found: list[Point], target: Path) -> None:
    """Write the picture."""
    figure, axes = plt.subplots(figsize=(9, 5.5))
    places = [point.intensity for point in found]
    speeds = [*(one for point in found for one in (point.speed, point.peer)), *chip.peaks.values()]
    left, right = _limits(places)
    low, high = _limits(speeds)
    for kind, peak in chip.peaks.items():
        text = f"{kind}: {peak:,.0f}" if peak > 10 else f"{kind}: {peak:.3g}"
        axes.plot([max(left, peak / chip.bandwidth), right], [peak, peak], color="0.4", linewidth=1)
        axes.annotate(text, (0.95 * right, peak), ha="right", va="bottom", color="0.4", fontsize=8)
    corner = max(chip.peaks.values()) / chip.bandwidth
    axes.plot([left, corner], [left * chip.bandwidth, corner * chip.bandwidth], color="0.4", linewidth=1,
              label=f"memory: {1e3 * chip.bandwidth:,.0f} GB/s")
    for number, kind in enumerate(dict.fromkeys(point.kind for point in found)):
        some = [point for point in found if point.kind == kind]
        where = [point.intensity for point in some]
        axes.scatter(where, [point.speed for point in some], s=36, color=f"C{number}", label=kind, zorder=3)
        axes.scatter(where, [point.peer for point in some], s=36, facecolors="none", edgecolors=f"C{number}", zorder=2)
    axes.scatter([], [], s=36, facecolors="none", edgecolors="0.3", label="its first peer")
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low, high), title=chip.name,
             xlabel="operations for each byte of the matrices", ylabel="TFLOP/s, TOP/s")
    axes.grid(visible=True, which="both", linewidth=0.3)
    axes.legend(loc="best", fontsize=8)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def _limits(values: list[float]) -> tuple[float, float]:
    """Of an axis: 1, 2 or 5 times powers of ten with a margin around the values."""
    found = []
    for value, choose in ((min(values) / MARGIN, max), (max(values) * MARGIN, min)):
        power: float = 10.0 ** math.floor(math.log10(value))
        steps = [factor * power for factor in (1, 2, 5, 10)]
        found.append(choose(step for step in steps if (step <= value) == (choose is max)))
    return found[0], found[1]


def main() -> None:
    """Draw the picture of a log, or of figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path, help="what matrices_cuda.py printed, or what cpu_kernels.py --json wrote")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--threads", type=int, default=1, help="of the figures of a CPU")
    options = parser.parse_args()
    text = options.log.read_text()
    if options.log.suffix == ".json":
        given = json.loads(text)
        chip, found = chip_of_figures(given, options.threads), list(points_of_figures(given, options.threads))
    else:
        gpu = next((chip for name, chip in GPUS.items() if name in text), None)
        found = list(points_of_log(text))
        if gpu is None or not found:
            raise SystemExit(f"{options.log} has no figures of {' or '.join(GPUS)}")
        chip = gpu
    draw(chip, found, options.picture)


if __name__ == "__main__":
    main()
