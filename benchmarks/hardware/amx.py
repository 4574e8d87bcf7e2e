"""Compare the models of AMX with the processor's tile instructions, bit for bit:

    python benchmarks/hardware/amx.py [--dots 1000000] [--record FILE.npz]

Needs Linux on a processor with AMX, and ziglang or gcc. ``--dots`` is the least number of dot products per instruction;
``--record`` keeps the processor's results for a few tiles of each, which a test compares with the models anywhere.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from inputs import KINDS, WIDTHS, Bits, operands
from models import product

from coopmat.formats import FORMATS

SEED = 20261122
ARCHITECTURE = "intel_cpu_gnr"
RECORDED = 4  # tiles of each instruction and kind
DOTS = 1_000_000
SOURCE = Path(__file__).parent / "amx.c"
# M, N, and K in words of 32 bits: a whole tile, parts of one, and K of several tiles
WHOLE, PARTS = (16, 16, 16), ((1, 1, 1), (16, 16, 1), (5, 3, 9), (1, 16, 16), (16, 2, 15), (7, 16, 40))
PART_PRODUCTS = 200


@dataclass(frozen=True)
class Instruction:
    """One instruction: its number in amx.c, the types of A, B and C, and what the kernel calls the feature."""

    name: str
    number: int
    types: tuple[str, str, str]
    feature: str

    @property
    def per_word(self) -> int:
        """Elements of A or B in 32 bits."""
        return 32 // WIDTHS[self.types[0]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of operands that there are for the types."""
        return KINDS if FORMATS[self.types[0]].is_float else ("ordinary", "huge")


INSTRUCTIONS = (
    Instruction("tdpbssd", 0, ("sint8", "sint8", "sint32"), "amx_int8"),
    Instruction("tdpbsud", 1, ("sint8", "uint8", "sint32"), "amx_int8"),
    Instruction("tdpbusd", 2, ("uint8", "sint8", "sint32"), "amx_int8"),
    Instruction("tdpbuud", 3, ("uint8", "uint8", "sint32"), "amx_int8"),
    Instruction("tdpbf16ps", 4, ("bf16", "bf16", "fp32"), "amx_bf16"),
    Instruction("tdpfp16ps", 5, ("fp16", "fp16", "fp32"), "amx_fp16"))


# --------------------------------------------------------------------------------------
# The processor
# --------------------------------------------------------------------------------------


def compiler() -> list[str]:
    """The command that compiles amx.c."""
    has_zig = importlib.util.find_spec("ziglang") is not None
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu"] if has_zig else ["gcc"]
    return [*command, "-O1", *(f"-mamx-{part}" for part in ("tile", "int8", "bf16", "fp16"))]


class Tiles:
    """The tile instructions of this processor, through a library that is compiled into a folder."""

    def __init__(self, folder: Path) -> None:
        path = folder / "amx.so"
        subprocess.run([*compiler(), "-shared", "-fPIC", str(SOURCE), "-o", str(path)], check=True, timeout=120)
        self._library = ctypes.CDLL(str(path))
        if self._library.request_tiles() != 0:
            raise OSError("the kernel refuses the tile registers to this process")

    def multiply(self, found: Instruction, a: Bits, b: Bits, c: Bits) -> Bits:
        """C + A * B of bit patterns [count, rows, columns], tile after tile in ascending k."""
        (count, m, k), n = a.shape, b.shape[-1]
        result, step = c.astype(np.uint32), 16 * found.per_word
        for start in range(0, k, step):
            left, right = a_tile(a[:, :, start:start + step]), b_tile(b[:, start:start + step], found.per_word)
            addresses = (ctypes.c_void_p(array.ctypes.data) for array in (left, right, result))
            self._library.tile_products(found.number, *addresses, ctypes.c_long(count), m, n, right.shape[1])
        return result

    def copy(self, memory: Bits, rows: int, row_bytes: int) -> Bits:
        """What a tile holds after it was loaded from the first rows and bytes of ``memory``, a matrix of bytes."""
        result = np.zeros((rows, row_bytes), np.uint8)
        self._library.tile_copy(ctypes.c_void_p(memory.ctypes.data), ctypes.c_long(memory.strides[0]),
                                ctypes.c_void_p(result.ctypes.data), rows, row_bytes)
        return result


def a_tile(a: Bits) -> Bits:
    """A [..., M, K] as rows of bytes: A[i][k] is in row i, from byte k * width / 8 on."""
    return np.ascontiguousarray(a).view(np.uint8)


def b_tile(b: Bits, per_word: int) -> Bits:
    """B [..., K, N] as rows of dwords: B[k][j] is in row k / per_word, dword j, at bit width * (k % per_word)."""
    *batch, k, n = b.shape
    words = b.reshape(*batch, k // per_word, per_word, n).swapaxes(-1, -2)
    return np.ascontiguousarray(words).view(np.uint32)[..., 0]


# --------------------------------------------------------------------------------------
# The comparison
# --------------------------------------------------------------------------------------


def inputs_of(found: Instruction, kind: str, shape: tuple[int, int, int], count: int) -> tuple[Bits, Bits, Bits]:
    """The operands of ``count`` products; ``shape`` is M, N, and K in words."""
    m, n, words = shape
    k = words * found.per_word
    return operands((SEED, found.number, found.kinds.index(kind), *shape, count), kind, found.types,
                    ((count, m, k), (count, k, n), (count, m, n)))


def cases(found: Instruction, dots: int) -> Iterator[tuple[str, tuple[Bits, Bits, Bits]]]:
    """All that is compared: kinds of operands, and operands for at least so many dot products in whole tiles."""
    m, n, _ = WHOLE
    for kind in found.kinds:
        yield kind, inputs_of(found, kind, WHOLE, -(-dots // (m * n * len(found.kinds))))
        for shape in PARTS:
            yield kind, inputs_of(found, kind, shape, PART_PRODUCTS)


def model(found: Instruction, a: Bits, b: Bits, c: Bits) -> Bits:
    """What the model computes, as bits."""
    return product(ARCHITECTURE, (*found.types, found.types[2]), a, b, c)


def compare(tiles: Tiles, found: Instruction, dots: int) -> int:
    """Print how many dot products agree; the number of those that do not."""
    total = wrong = 0
    for kind, given in cases(found, dots):
        differs = tiles.multiply(found, *given) != model(found, *given)
        total, wrong = total + differs.size, wrong + int(differs.sum())
        if differs.any():
            print(f"  {kind}: {int(differs.sum())} differ, the first at {np.argwhere(differs)[0].tolist()}")
    print(f"{found.name}: {total - wrong} of {total} equal", flush=True)
    return wrong


def processor() -> tuple[str, set[str]]:
    """What the kernel says of the processor: family, model and stepping; its features."""
    lines = [line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines()]
    said = {name.strip(): text.strip() for name, _, text in reversed(lines)}
    numbers = (f"{name} {said[key]}" for name, key in (("family", "cpu family"), ("model", "model"),
                                                       ("stepping", "stepping")))
    return f"{said['model name']}, {', '.join(numbers)}", set(said["flags"].split())


def instructions_here() -> list[Instruction]:
    """Those that this processor has."""
    _, features = processor()
    return [found for found in INSTRUCTIONS if {"amx_tile", found.feature} <= features]


def main() -> int:
    """Compare all instructions that there are; 0 if the models are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dots", type=int, default=DOTS)
    parser.add_argument("--record")
    options = parser.parse_args()
    name, here = processor()[0], instructions_here()
    if not here:
        parser.error(f"this processor has no AMX: {name}")
    with tempfile.TemporaryDirectory() as folder:
        tiles = Tiles(Path(folder))
        print(f"{name}, {datetime.now(UTC):%Y-%m-%d}, seed {SEED}", flush=True)
        wrong = sum(compare(tiles, found, options.dots) for found in here)
        if options.record:
            np.savez_compressed(options.record, **{f"{found.name} {kind}": tiles.multiply(
                found, *inputs_of(found, kind, WHOLE, RECORDED)) for found in here for kind in found.kinds})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
