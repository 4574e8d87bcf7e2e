"""The pictures of block reads and writes against execution on the simulator."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.layout import Picture, block_2d, block_io
from coopmat.opencl.builtins import block_io as functions
from tests.kit.layout.pictures import WORDS, Drawn, drawn, registers_of

TYPES = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}


def run(source: str, size: int, *arguments: np.ndarray) -> None:
    """One sub-group of ``size`` work-items."""
    device = cm.device("sim:generic")
    full = f"__attribute__((intel_reqd_sub_group_size({size})))\n{source}"
    cm.Queue(device).enqueue(cm.build(full, device=device).kernel("k"), size, size, *arguments).wait()


# ------------------------------------------------------------------ one-dimensional blocks

SUFFIXES = {"": 32, "_ui": 32, "_uc": 8, "_us": 16, "_ul": 64}


@pytest.mark.parametrize("size", [8, 16, 32])
@pytest.mark.parametrize("count", [1, 2, 4, 8])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_block_read_and_write(suffix: str, count: int, size: int) -> None:
    """Every element read is where the picture says, and a write puts it back."""
    bits = SUFFIXES[suffix]
    number = str(count) if count > 1 else ""
    kind = f"{TYPES[bits]}{number}"
    read, write = (f"intel_sub_group_block_{way}{suffix}{number}" for way in ("read", "write"))
    memory = np.arange(size * count, dtype=WORDS[bits])
    held, copy = np.zeros((size, count), WORDS[bits]), np.zeros_like(memory)
    run(f"""kernel void k(global {TYPES[bits]} *memory, global {kind} *held, global {TYPES[bits]} *copy) {{
        held[get_local_id(0)] = {read}(memory);
        {write}(copy, held[get_local_id(0)]);
    }}""", size, memory, held, copy)
    for columns in {4, size, 2 * size} & {n for n in range(1, size * count + 1) if size * count % n == 0}:
        tile = memory.reshape(-1, columns)
        places = list(drawn(block_io(read, *tile.shape, size, bits).to_svg()))
        assert len(places) == tile.size
        for place in places:
            assert held[place.lane, place.register] == tile[place.row, place.column]
    np.testing.assert_array_equal(copy, memory)


# ------------------------------------------------------------------ two-dimensional blocks

WIDTH, HEIGHT, X, Y = 128, 64, 8, 3  # of the surface that the blocks lie in, in elements; where they begin
SHAPE = re.compile(r"intel_sub_group_2d_block_(\w+?)_(\d+)b_(\d+)r(\d+)x(\d+)c")
POINTEES = {row.names: row.signature.rpartition(" ")[2].removesuffix("*)")
            for row in functions.ROWS if row.needs == functions.BLOCK_2D}
BITS = {kind: bits for bits, kind in TYPES.items()}


def block_of(name: str) -> tuple[Picture, list[Drawn]]:
    """The picture of a 2D block function, and its elements."""
    match = SHAPE.fullmatch(name)
    assert match is not None
    bits, height, width, count = map(int, match.groups()[1:])
    picture = block_2d(name, width, height, count, bits, BITS[POINTEES[name]],
                       transpose=match[1] == "read_transpose", transform=match[1] == "read_transform")
    places = list(drawn(picture.to_svg()))
    assert len({(place.row, place.column) for place in places}) == len(places) == height * width * count
    return picture, places


SURFACE = "{0}, {1}, {0}, (int2)({2}, {3})"


@pytest.mark.parametrize("name", [name for name in POINTEES if "_read_" in name])
def test_2d_block_read(name: str) -> None:
    """Memory holds the number of each element's row in one run, and of its column in another."""
    picture, places = block_of(name)
    bits, count = picture.layout.element_bits, registers_of(picture)
    dtype, words = WORDS[bits], WORDS[picture.layout.register_bits]
    surface = SURFACE.format(WIDTH * bits // 8, HEIGHT, X, Y)
    numbers = np.indices((HEIGHT, WIDTH))
    results = []
    for memory in numbers:
        held = np.zeros((16, count), words)
        run(f"""kernel void k(global const void *memory, global {POINTEES[name]} *held) {{
            {POINTEES[name]} x[{count}];
            {name}(memory, {surface}, x);
            for (int i = 0; i < {count}; ++i)
                held[get_local_id(0) * {count} + i] = x[i];
        }}""", 16, np.ascontiguousarray(memory, dtype).view(np.uint8), held)
        results.append(held)
    for place in places:
        found = [int(held[place.lane, place.register]) >> place.bit & (1 << bits) - 1 for held in results]
        assert found == [Y + place.row, X + place.column]


@pytest.mark.parametrize("name", [name for name in POINTEES if "_write_" in name])
def test_2d_block_write(name: str) -> None:
    """Every work-item writes its number in one run, and the numbers of its elements in another."""
    picture, places = block_of(name)
    bits, count = picture.layout.element_bits, registers_of(picture)
    words = WORDS[picture.layout.register_bits]
    surface = SURFACE.format(WIDTH * bits // 8, HEIGHT, X, Y)
    per_register = picture.layout.register_bits // bits
    counted = np.arange(count * per_register, dtype=WORDS[bits]).view(words)
    lanes = np.repeat(np.arange(16, dtype=WORDS[bits]), counted.nbytes * 8 // bits)
    results = []
    for held in (lanes.view(words), np.tile(counted, 16)):
        memory = np.zeros((HEIGHT, WIDTH), WORDS[bits])
        run(f"""kernel void k(global void *memory, global const {POINTEES[name]} *held) {{
            {POINTEES[name]} x[{count}];
            for (int i = 0; i < {count}; ++i)
                x[i] = held[get_local_id(0) * {count} + i];
            {name}(memory, {surface}, x);
        }}""", 16, memory.view(np.uint8), held)
        results.append(memory)
    for place in places:
        found = [int(memory[Y + place.row, X + place.column]) for memory in results]
        assert found == [place.lane, place.register * per_register + place.bit // bits]
