"""A roofline picture of what matrices_cuda.py printed:
``python benchmarks/hardware/roofline.py results/nvidia_h200_matrices.txt ../../docs/measured/nvidia_h200.svg``.

A kernel cannot be faster than the chip computes, nor than memory brings each byte once; how near each comes is what the
picture shows. Needs matplotlib (``pip install coopmat[viz]``).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "coopmat"  # the same picture of the same figures
import matplotlib.pyplot as plt

LINE = re.compile(r"^(?P<name>\S.*?) +(?P<intensity>\d+) +(?P<speed>[\d.]+)  (?P<peers>\w.*ratio.*)$")
PEER = re.compile(r"(\w+) +([\d.]+)  ratio ([\d.]+)")
KINDS = {"bf16": "16 bits", "fp16": "16 bits", "sub-groups": "sub-groups", "attention": "attention", "s8": "8 bits",
         "tf32": "tf32"}
"""What a line's name begins with, and what the picture calls it."""


@dataclass(frozen=True)
class Chip:
    """TFLOP/s or TOP/s of the dense products, by kind, and TB/s of memory: NVIDIA H100 and H200 data sheets."""

    name: str
    peaks: dict[str, float]
    bandwidth: float


CHIPS = {"H200": Chip("NVIDIA H200", {"16 bits": 989, "8 bits": 1979, "tf32": 495}, 4.8),
         "H100": Chip("NVIDIA H100 SXM", {"16 bits": 989, "8 bits": 1979, "tf32": 495}, 3.35)}


@dataclass(frozen=True)
class Point:
    """A line of the log: operations a byte, ours, and the first peer's."""

    name: str
    kind: str
    intensity: float
    speed: float
    peer: float


def points(text: str) -> Iterator[Point]:
    """The lines that have figures."""
    for line in text.splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        kind = next((kind for start, kind in KINDS.items() if match["name"].startswith(start)), None)
        peer = PEER.search(match["peers"])
        if kind is not None and peer is not None:
            yield Point(match["name"], kind, float(match["intensity"]), float(match["speed"]), float(peer[2]))


def draw(chip: Chip, found: list[Point], target: Path) -> None:
    """Write the picture."""
    figure, axes = plt.subplots(figsize=(9, 5.5))
    top = max(chip.peaks.values())
    for kind, peak in chip.peaks.items():
        corner = peak / chip.bandwidth
        axes.plot([corner, 1e4], [peak, peak], color="0.4", linewidth=1)
        axes.annotate(f"{kind}: {peak:.0f}", (9.5e3, peak), ha="right", va="bottom", color="0.4", fontsize=8)
    axes.plot([10, top / chip.bandwidth], [10 * chip.bandwidth, top], color="0.4", linewidth=1)
    axes.annotate(f"memory: {chip.bandwidth} TB/s", (60, 60 * chip.bandwidth), rotation=32, va="bottom", color="0.4",
                  fontsize=8)
    for number, kind in enumerate(dict.fromkeys(point.kind for point in found)):
        some = [point for point in found if point.kind == kind]
        places = [point.intensity for point in some]
        axes.scatter(places, [point.speed for point in some], s=36, color=f"C{number}", label=kind, zorder=3)
        axes.scatter(places, [point.peer for point in some], s=36, facecolors="none", edgecolors=f"C{number}", zorder=2)
    axes.scatter([], [], s=36, facecolors="none", edgecolors="0.3", label="its first peer")
    axes.set(xscale="log", yscale="log", xlim=(50, 1e4), ylim=(50, 2.5e3), title=chip.name,
             xlabel="operations for each byte of the matrices", ylabel="TFLOP/s, TOP/s")
    axes.grid(visible=True, which="both", linewidth=0.3)
    axes.legend(loc="lower right", fontsize=8)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    """Draw the picture of a log."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    text = options.log.read_text()
    chip = next((chip for name, chip in CHIPS.items() if name in text), None)
    found = list(points(text))
    if chip is None or not found:
        raise SystemExit(f"{options.log} has no figures of {' or '.join(CHIPS)}")
    draw(chip, found, options.picture)


if __name__ == "__main__":
    main()
