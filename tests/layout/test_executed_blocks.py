"""The pictures of block reads and writes and of cooperative matrices against execution on the simulator."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.layout import ElementLayout, as_svg, block_2d, block_io, cooperative_matrix
from coopmat.opencl.builtins import block_io as functions
from tests.layout.pictures import Drawn, drawn

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
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
    memory = np.arange(size * count, dtype=UNSIGNED[bits])
    held, copy = np.zeros((size, count), UNSIGNED[bits]), np.zeros_like(memory)
    run(f"""kernel void k(global {TYPES[bits]} *memory, global {kind} *held, global {TYPES[bits]} *copy) {{
        held[get_local_id(0)] = {read}(memory);
        {write}(copy, held[get_local_id(0)]);
    }}""", size, memory, held, copy)
    for columns in {4, size, 2 * size} & {n for n in range(1, size * count + 1) if size * count % n == 0}:
        tile = memory.reshape(-1, columns)
        layout = block_io(read, *tile.shape, size, bits)
        places = list(drawn(as_svg(layout)))
        assert len(places) == tile.size
        for place in places:
            assert held[place.lane, place.component] == tile[place.row, place.column]
    np.testing.assert_array_equal(copy, memory)


# ------------------------------------------------------------------ two-dimensional blocks

WIDTH, HEIGHT, X, Y = 128, 64, 8, 3  # of the surface that the blocks lie in, in elements; where they begin
SHAPE = re.compile(r"intel_sub_group_2d_block_(\w+?)_(\d+)b_(\d+)r(\d+)x(\d+)c")
POINTEES = {row.names: row.signature.rpartition(" ")[2].removesuffix("*)")
            for row in functions.ROWS if row.needs == functions.BLOCK_2D}
BITS = {kind: bits for bits, kind in TYPES.items()}


def block_of(name: str) -> tuple[ElementLayout, list[Drawn]]:
    """The layout of a 2D block function, and its picture's elements."""
    match = SHAPE.fullmatch(name)
    assert match is not None
    bits, height, width, count = map(int, match.groups()[1:])
    layout = block_2d(name, width, height, count, bits, BITS[POINTEES[name]],
                      transpose=match[1] == "read_transpose", transform=match[1] == "read_transform")
    places = list(drawn(as_svg(layout)))
    assert len({(place.row, place.column) for place in places}) == len(places) == height * width * count
    return layout, places


SURFACE = "{0}, {1}, {0}, (int2)({2}, {3})"


@pytest.mark.parametrize("name", [name for name in POINTEES if "_read_" in name])
def test_2d_block_read(name: str) -> None:
    """Memory holds the number of each element's row in one run, and of its column in another."""
    layout, places = block_of(name)
    dtype, bits = UNSIGNED[layout.element_bits], layout.element_bits
    surface = SURFACE.format(WIDTH * bits // 8, HEIGHT, X, Y)
    numbers = np.indices((HEIGHT, WIDTH))
    results = []
    for memory in numbers:
        held = np.zeros((16, layout.components), UNSIGNED[layout.component_bits])
        run(f"""kernel void k(global const void *memory, global {POINTEES[name]} *held) {{
            {POINTEES[name]} x[{layout.components}];
            {name}(memory, {surface}, x);
            for (int i = 0; i < {layout.components}; ++i)
                held[get_local_id(0) * {layout.components} + i] = x[i];
        }}""", 16, np.ascontiguousarray(memory, dtype).view(np.uint8), held)
        results.append(held)
    for place in places:
        found = [int(held[place.lane, place.component]) >> place.bit & (1 << bits) - 1 for held in results]
        assert found == [Y + place.row, X + place.column]


@pytest.mark.parametrize("name", [name for name in POINTEES if "_write_" in name])
def test_2d_block_write(name: str) -> None:
    """Every work-item writes its number in one run, and the numbers of its elements in another."""
    layout, places = block_of(name)
    bits = layout.element_bits
    surface = SURFACE.format(WIDTH * bits // 8, HEIGHT, X, Y)
    per_component = layout.component_bits // bits
    counted = np.arange(layout.components * per_component, dtype=UNSIGNED[bits]).view(UNSIGNED[layout.component_bits])
    lanes = np.repeat(np.arange(16, dtype=UNSIGNED[bits]), counted.nbytes * 8 // bits)
    results = []
    for held in (lanes.view(UNSIGNED[layout.component_bits]), np.tile(counted, 16)):
        memory = np.zeros((HEIGHT, WIDTH), UNSIGNED[bits])
        run(f"""kernel void k(global void *memory, global const {POINTEES[name]} *held) {{
            {POINTEES[name]} x[{layout.components}];
            for (int i = 0; i < {layout.components}; ++i)
                x[i] = held[get_local_id(0) * {layout.components} + i];
            {name}(memory, {surface}, x);
        }}""", 16, memory.view(np.uint8), held)
        results.append(memory)
    for place in places:
        found = [int(memory[Y + place.row, X + place.column]) for memory in results]
        assert found == [place.lane, place.component * per_component + place.bit // bits]


# ------------------------------------------------------------------ cooperative matrices


@pytest.mark.parametrize("size", [4, 8, 16, 32, 64])
@pytest.mark.parametrize(("rows", "columns"), [(8, 16), (16, 16), (32, 8), (8, 8), (3, 5)])
@pytest.mark.parametrize("use", ["A", "B", "ACCUMULATOR"])
def test_cooperative_matrix(rows: int, columns: int, size: int, use: str) -> None:
    """What a component holds after a load, and the place that it says it has, are as drawn."""
    layout = cooperative_matrix(rows, columns, size, 32)
    count = -(-rows * columns // size)
    memory = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    held, coordinates = np.full((size, count), -1, np.int32), np.full((size, count, 2), -1, np.int32)
    run(f"""kernel void k(global const int *memory, global int *held, global int2 *coordinates) {{
        int __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {rows}, {columns},
                                    CLK_COOPERATIVE_MATRIX_{use}))) m;
        m = coop_mat_load(memory, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {columns});
        for (uint i = 0; i < coop_mat_length(m); ++i) {{
            held[get_local_id(0) * {count} + i] = m[i];
            coordinates[get_local_id(0) * {count} + i] = coop_mat_get_coord(m, i);
        }}
    }}""", size, memory, held, coordinates)
    places = list(drawn(as_svg(layout)))
    assert len(places) == rows * columns
    for place in places:
        assert held[place.lane, place.component] == memory[place.row, place.column]
        assert tuple(coordinates[place.lane, place.component]) == (place.row, place.column)
