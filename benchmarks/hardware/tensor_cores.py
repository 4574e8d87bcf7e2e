"""Compare the models of Hopper's tensor cores with the chip, bit for bit:

    python benchmarks/hardware/tensor_cores.py [--dots 160000] [--record FILE.npz]

Needs an H100 or H200 and cuda-bindings. ``--dots`` is the number of dot products per instruction and kind of operands;
``--record`` keeps the chip's results for a few matrices of each, which a test compares with the models anywhere.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

import numpy as np
from fragments import INSTRUCTIONS, Instruction
from inputs import KINDS, Bits, operands
from models import product
from ptx import Driver

SEED = 20261122
ARCHITECTURE = "nvidia_gpu_sm_90"
RECORDED = 2  # matrices of each instruction and kind
RECORDED_INSTRUCTIONS = tuple(found for found in INSTRUCTIONS if found.n == 8)  # the wide ones would take megabytes


def inputs_of(index: int, kind: str, count: int) -> tuple[Bits, Bits, Bits]:
    """The operands of ``count`` matrices for the instruction with this number."""
    found = INSTRUCTIONS[index]
    shapes = ((count, found.m, found.k), (count, found.k, found.n), (count, found.m, found.n))
    return operands((SEED, index, KINDS.index(kind), count), kind, (found.a, found.b, found.c), shapes)


def model(found: Instruction, a: Bits, b: Bits, c: Bits) -> Bits:
    """What the model computes, as bits."""
    return product(ARCHITECTURE, (found.a, found.b, found.c, found.d), a, b, c, saturating=found.saturating)


def key(found: Instruction, kind: str) -> str:
    """The name of a recorded array."""
    return f"{found.mnemonic}/{kind}"


def compare(driver: Driver, index: int, dots: int) -> int:
    """Print how many dot products agree; the number of those that do not."""
    found = INSTRUCTIONS[index]
    total = wrong = 0
    for kind in KINDS:
        a, b, c = inputs_of(index, kind, max(1, dots // (found.m * found.n)))
        chip = driver.run(found, a, b, c)
        differs = chip != model(found, a, b, c)
        total, wrong = total + chip.size, wrong + int(differs.sum())
        if differs.any():
            print(f"  {kind}: {int(differs.sum())} differ, the first at {np.argwhere(differs)[0].tolist()}")
    print(f"{found.mnemonic}: {total - wrong} of {total} equal", flush=True)
    return wrong


def main() -> int:
    """Compare all instructions; 0 if the models are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dots", type=int, default=160_000)
    parser.add_argument("--record")
    options = parser.parse_args()
    driver = Driver()
    print(f"{driver.name}, {datetime.now(UTC):%Y-%m-%d}, seed {SEED}", flush=True)
    wrong = sum(compare(driver, index, options.dots) for index in range(len(INSTRUCTIONS)))
    if options.record:
        results = {key(found, kind): driver.run(found, *inputs_of(INSTRUCTIONS.index(found), kind, RECORDED))
                   for found in RECORDED_INSTRUCTIONS for kind in KINDS}
        np.savez_compressed(options.record, **{name.replace("/", " "): bits for name, bits in results.items()})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
