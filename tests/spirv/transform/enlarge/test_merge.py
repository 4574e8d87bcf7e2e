"""Kernels of merged work-groups compute what their work-groups computed, touch nothing else, and what cannot be merged
is refused with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Scope
from coopmat.spirv.transform.enlarge.matrices import NoMerge
from coopmat.spirv.transform.enlarge.merge import Block, Merged, Neighbours
from coopmat.spirv.transform.enlarge.pack import packed
from coopmat.spirv.transform.without_variables import with_values

SIZE = 8  # of sub-groups
A, B, C = ("CLK_COOPERATIVE_MATRIX_A", "CLK_COOPERATIVE_MATRIX_B", "CLK_COOPERATIVE_MATRIX_ACCUMULATOR")
PRELUDE = f"""
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define SIGNED CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED | CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED
#define M(rows, columns, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, use)))
typedef char tile_a M(4, 8, {A});
typedef char tile_b M(8, 4, {B});
typedef int tile_c M(4, 4, {C});
typedef global const char *in;
"""


@dataclass(frozen=True)
class Source:
    """A kernel ``c(in a, in b, global int *c, int n, int k)``: c = a * b, a with rows of k + 8, c of n elements.

    rows, columns: what a work-group computes. local: its work-items. by_columns: whether b is column-major. adds:
    whether c is added to; borders: whether the first row of b and the first column of a are. once: whether the loop
    does a round in any case.
    """

    text: str
    rows: int = 4
    columns: int = 4
    local: tuple[int, int] = (SIZE, 1)
    by_columns: bool = False
    adds: bool = False
    depth: int = 8
    borders: bool = False
    once: bool = False


LOOP = """
    tile_c c = coop_mat_init(0);
    for (int i = 0; i < k; i += 8) {
        tile_a x = coop_mat_load(a + row * (k + 8) + i, ROW, k + 8);
        tile_b y = coop_mat_load(b + (size_t)i * n + column, ROW, n);
        c = coop_matmul_add(x, y, c, SIGNED);
    }
    coop_mat_store(out + row * n + column, c, ROW, n);"""
STEP = """tile_a x = coop_mat_load(a, ROW, k + 8);
        tile_b y = coop_mat_load(b, ROW, n);
        c = coop_matmul_add(x, y, c, SIGNED);"""
POINTERS = """
    a += get_group_id(1) * 4 * (k + 8); b += get_group_id(0) * 4;
    tile_c c = coop_mat_init(0);
    LOOP
    coop_mat_store(out + get_group_id(1) * 4 * n + get_group_id(0) * 4, c, ROW, n);"""
SOURCES = {
    "group ids": Source(f"size_t row = get_group_id(1) * 4, column = get_group_id(0) * 4; {LOOP}"),
    "unsigned numbers": Source(f"uint row = get_group_id(1) * 4, column = get_group_id(0) * 4; {LOOP}"),
    "numbers with a sign": Source(f"int row = get_group_id(1) * 4, column = get_global_id(0) / 8 * 4; {LOOP}"),
    "global ids": Source(
        f"size_t row = get_global_id(1) * 4, column = get_global_id(0) / get_sub_group_size() * 4; {LOOP}"),
    "shifts": Source(f"size_t row = get_global_id(1) << 2, column = get_global_id(0) >> 3 << 2; {LOOP}"),
    "sub-groups below each other": Source(f"size_t row = get_global_id(1) * 4, column = get_group_id(0) * 4; {LOOP}",
                                          8, 4, (SIZE, 2)),
    "sub-groups side by side": Source(
        f"size_t row = get_group_id(1) * 4, column = (get_group_id(0) * 2 + get_sub_group_id()) * 4; {LOOP}",
        4, 8, (2 * SIZE, 1)),
    "a grid of sub-groups": Source(
        f"size_t row = get_global_id(1) * 4, column = get_global_id(0) / 8 * 4; {LOOP}", 8, 8, (2 * SIZE, 2)),
    "pointers that are moved": Source("""
    a += get_group_id(1) * 4 * (k + 8); b += get_group_id(0) * 4;
    tile_c c = coop_mat_init(0);
    for (uint i = 0; i < k / 8; ++i, a += 8, b += 8 * n) {
        tile_a x = coop_mat_load(a, ROW, k + 8);
        tile_b y = coop_mat_load(b, ROW, n);
        c = coop_matmul_add(x, y, c, SIGNED);
    }
    coop_mat_store(out + get_group_id(1) * 4 * n + get_group_id(0) * 4, c, ROW, n);"""),
    "shifts of rounds": Source(f"int row = get_group_id(1) * 4, column = (get_global_id(0) & ~7) >> 1; {LOOP}".replace(
        "i < k; i += 8", "i < k >> 3; i++").replace("+ i", "+ (i << 3)").replace("(size_t)i", "(size_t)(i * 8)")),
    "a round before it is asked": Source(f"int row = get_group_id(1) * 4, column = get_group_id(0) * 4; {LOOP}".replace(
        "for (int i = 0; i < k; i += 8) {", "int i = 0; do {").replace(" }", " } while ((i += 8) < k);"), once=True),
    "rounds that are left": Source(POINTERS.replace("LOOP", f"""int left = k / 8;
    do {{ {STEP} a += 8; b += 8 * n; }} while (--left);"""), once=True),
    "the number of rounds": Source(POINTERS.replace("LOOP", f"""uint rounds = 0;
    do {{ {STEP} a += 8; b += 8 * n; }} while (rounds++ != k / 8 - 1);"""), once=True),
    "up to a pointer": Source(POINTERS.replace("LOOP", f"""in end = a + k;
    while (a < end) {{ {STEP} a += 8; b += 8 * n; }}""")),
    "a row of B after the other": Source(POINTERS.replace("LOOP", f"""
    for (in end = b + (size_t)k * n; b != end; a += 8, b += 8 * n) {{ {STEP} }}""")),
    "up to the end of B": Source(POINTERS.replace("LOOP", f"""in end = b + (size_t)k * n;
    for (; b < end; a += 8, b += 8 * n) {{ {STEP} }}""")),
    "what is left of a row": Source(POINTERS.replace("LOOP", f"""in end = a + k;
    for (; end - a >= 8; a += 8, b += 8 * n) {{ {STEP} }}""")),
    "from the last one": Source(f"""size_t row = (get_num_groups(1) - 1 - get_group_id(1)) * 4;
    int column = n - 4 - (int)get_group_id(0) * 4; {LOOP}"""),
    "B by columns": Source("""
    size_t row = get_group_id(1) * 4, column = get_group_id(0) * 4;
    tile_c c = coop_mat_init(0);
    for (int i = 0; i <= k - 8; i += 8)
        c = coop_matmul_add((tile_a)coop_mat_load(a + row * (k + 8) + i, ROW, k + 8),
                            (tile_b)coop_mat_load(b + column * k + i, COLUMN, k), c, SIGNED);
    coop_mat_store(out + row * n + column, c, ROW, n);""", by_columns=True),
    "sums go on": Source(f"""
    size_t row = get_group_id(1) * 4, column = get_group_id(0) * 4;
    tile_c before = coop_mat_load(out + row * n + column, ROW, n);
    {LOOP.replace("coop_mat_store(out + row * n + column, c,", "coop_mat_store(out + row * n + column, c + before,")}
    """, adds=True),
    "2 x 2 tiles": Source("""
    size_t row = get_group_id(1) * 8, column = get_group_id(0) * 8;
    tile_c c[2][2];
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) c[i][j] = coop_mat_init(0);
    for (int l = 0; l < k; l += 8)
        for (int i = 0; i < 2; ++i) {
            tile_a x = coop_mat_load(a + (row + 4 * i) * (k + 8) + l, ROW, k + 8);
            for (int j = 0; j < 2; ++j) {
                tile_b y = coop_mat_load(b + (size_t)l * n + column + 4 * j, ROW, n);
                c[i][j] = coop_matmul_add(x, y, c[i][j], SIGNED);
            }
        }
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j)
        coop_mat_store(out + (row + 4 * i) * n + column + 4 * j, c[i][j], ROW, n);""", 8, 8),
    "1 x 2 tiles, two steps": Source("""
    uint row = get_group_id(1) * 4, column = get_group_id(0) * 8;
    tile_c c0 = coop_mat_init(0), c1 = coop_mat_init(0);
    for (uint l = 0; l < k; l += 16) {
        in p = b + (l * n + column);
        tile_a x0 = coop_mat_load(a + (row * (k + 8) + l), ROW, k + 8);
        tile_a x1 = coop_mat_load(a + (row * (k + 8) + l + 8), ROW, k + 8);
        c0 = coop_matmul_add(x0, (tile_b)coop_mat_load(p, ROW, n), c0, SIGNED);
        c1 = coop_matmul_add(x0, (tile_b)coop_mat_load(p + 4, ROW, n), c1, SIGNED);
        c0 = coop_matmul_add(x1, (tile_b)coop_mat_load(p + 8 * n, ROW, n), c0, SIGNED);
        c1 = coop_matmul_add(x1, (tile_b)coop_mat_load(p + 8 * n + 4, ROW, n), c1, SIGNED);
    }
    coop_mat_store(out + (row * n + column), c0, ROW, n);
    coop_mat_store(out + (row * n + column + 4), c1, ROW, n);""", 4, 8, depth=16),
    "components": Source("size_t row = get_group_id(1) * 4, column = get_group_id(0) * 4;" + LOOP.replace(
        "coop_mat_store", """for (int i = 0; i < coop_mat_length(c); i++) {
        int2 at = coop_mat_get_coord(c, i);
        c[i] += b[column + at.y] + a[(row + at.x) * (k + 8)];
    }
    coop_mat_store"""), borders=True),
    "components by pointers": Source("""
    int row = get_global_id(1) * 4, column = (get_group_id(0) * 2 + get_sub_group_id()) * 4;
    in first = b + column;""" + LOOP.replace("coop_mat_store(out + row", """tile_c d = c;
    for (uint i = 0; i < coop_mat_length(c); i++) {
        int2 at = coop_mat_get_coord(d, i);
        if (at.x + row >= 0) { d[i] += first[at.y]; d[i] = d[i] + a[(size_t)(row + at.x) * (k + 8)]; }
    }
    c = d;
    coop_mat_store(out + (size_t)row"""), 4, 8, (2 * SIZE, 1), borders=True),
}


def module_of(body: str) -> Module:
    """A kernel with values instead of variables."""
    program = cm.build(f"{PRELUDE} __attribute__((intel_reqd_sub_group_size({SIZE}))) kernel void f(in a, in b, "
                       f"global int *out, int n, int k) {{ {body} }}")
    return with_values(program.module, element_loops=False)


@cache
def merged(name: str, block: Block) -> Merged:
    source = SOURCES[name]
    local = (*source.local, 1)
    module, conditions, apart = packed(module_of(source.text), "f", local, SIZE)
    return Neighbours(module, "f", local, SIZE, conditions, apart).merged(block)


@cache
def kernel_of(spirv: bytes) -> cm.Kernel:
    return cm.build(spirv).kernel("f")


def run(found: Merged, source: Source, groups: tuple[int, int], rounds: int, device: str) -> None:
    """Launch it, and compare with numpy; the arrays end where the tiles do."""
    rng = np.random.default_rng([*groups, rounds])
    m, n, k = groups[1] * source.rows, groups[0] * source.columns, rounds * source.depth
    a = rng.integers(-128, 128, (m, k + 8), dtype=np.int8)
    b = rng.integers(-128, 128, (k, n), dtype=np.int8)
    out = rng.integers(-99, 99, (m, n), dtype=np.int32)
    expected = a[:, :k].astype(np.int64) @ b + out * source.adds
    if source.borders:
        expected += b[:1] + a[:, :1].astype(np.int64)
    counts = (*groups, 1)
    arguments = [a.ravel()[:m * (k + 8) - 8], np.ascontiguousarray(b.T) if source.by_columns else b, out, n, k]
    assert found.takes([0, 0, 0, n, k], counts) or (source.once and not rounds)
    if source.once and not rounds:
        return
    kernel = kernel_of(found.module.to_bytes())
    sizes = tuple(count * size for count, size in zip(found.group_counts(counts), found.local_size, strict=True))
    cm.Queue(device).enqueue(kernel, sizes, found.local_size, *arguments, *found.given(counts)).wait()
    np.testing.assert_array_equal(out, expected)


WHOLE = Block(16, 32, 32, (16, 1, 1), Scope.Workgroup)


@pytest.mark.parametrize("name", SOURCES)
def test_results(name: str) -> None:
    """Grids that are no multiple of a block, and loops that are no multiple of its depth."""
    found = merged(name, WHOLE)
    assert not [one for one in found.module.validate() if one.severity == "error"]
    for groups, rounds in (((8, 4), 4), ((3, 5), 3), ((1, 1), 1), ((9, 1), 5)):
        for device in ("sim:generic", "cpu"):
            run(found, SOURCES[name], groups, rounds, device)


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(sorted(SOURCES)), st.sampled_from([(16, 16), (16, 48), (32, 16)]), st.sampled_from([16, 32, 64]),
       st.tuples(st.integers(1, 7), st.integers(1, 7)), st.integers(0, 6),
       st.sampled_from([((SIZE, 1, 1), Scope.Subgroup), ((32, 1, 1), Scope.Workgroup)]))
def test_any_block(name: str, extents: tuple[int, int], depth: int, groups: tuple[int, int], rounds: int,
                   work_group: tuple[tuple[int, int, int], Scope]) -> None:
    """Blocks of all sizes, of sub-groups and of work-groups."""
    found = merged(name, Block(*extents, depth, *work_group))
    run(found, SOURCES[name], groups, rounds, "sim:generic")


def test_numbers_that_wrap_around_are_not_merged() -> None:
    """In 32 bits, as the kernel computes them, places would be others than in 64."""
    found = merged("unsigned numbers", WHOLE)
    assert found.takes([0, 0, 0, 1 << 20, 64], (1 << 10, 1 << 9, 1))
    assert not found.takes([0, 0, 0, 1 << 23, 64], (1 << 10, 1 << 9, 1))  # row * n
    assert not found.takes([0, 0, 0, 1 << 20, (1 << 31) - 1], (1 << 10, 1 << 9, 1))  # the end of the loop
    assert not found.takes([0, 0, 0, 1 << 20, -64], (1 << 10, 1 << 9, 1)) or found.takes([0, 0, 0, 64, -64], (1, 1, 1))


START = "size_t row = get_group_id(1) * 4, column = get_group_id(0) * 4;"
ADDING = LOOP.replace("coop_mat_store", "for (int e = 0; e < coop_mat_length(c); e++) c[e] += ADDED; coop_mat_store")
REFUSED = {
    "a barrier": (f"{START} barrier(CLK_GLOBAL_MEM_FENCE); {LOOP}", "other effects than on matrices"),
    "an atomic": (f"{START} atomic_inc(out); {LOOP}", "other effects than on matrices"),
    "printf": (f'{START} printf("%d", n); {LOOP}', "other effects than on matrices"),
    "a store": (f"{START} out[0] = 1; {LOOP}", "other effects than on matrices"),
    "a branch": (f"{START} if (row + column >= 64) return; {LOOP}", "a branch depends on the work-group's position"),
    "a branch of a sub-group": (f"{START} if (get_local_id(0) > n) return; {LOOP}",
                                "a branch depends on LocalInvocationId"),
    "the position in a loop": (f"{START} {LOOP.replace('i < k', 'i < k + get_group_id(0) * get_group_id(1)')}",
                               "a branch depends on the work-group's position"),
    "the same tile": (LOOP.replace("row", "0ul").replace("column", "0ul"), "no matrix lies beside"),
    "components": (f"{START} {LOOP.replace('coop_mat_store', 'c[0] += 1; coop_mat_store')}", "a matrix is used by"),
    "the last round": (f"{START} int last = 0; {ADDING.replace('ADDED', 'last').replace('8) {', '8) { last = i;')}",
                       "depends on how often a loop has run"),
    "a product of positions": (f"{START} size_t both = row * column; {ADDING.replace('ADDED', 'both')}",
                               "does not rise with its matrix"),
    "no products": ("tile_c c = coop_mat_init(0); coop_mat_store(out + get_group_id(0) * 4, c, ROW, n);",
                    "multiplies no matrices"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, reason = REFUSED[name]
    with pytest.raises(NoMerge, match=reason):
        Neighbours(module_of(text), "f", (SIZE, 1, 1), SIZE).merged(WHOLE)


ALONG_ROWS = {
    "gaps": f"{START.replace('* 4, column', '* 8, column')} {LOOP}",
    "a branch": f"{START} if (row >= 64) return; {LOOP}",
    "the end of a loop": f"{START} int end = min(k, (int)(get_group_id(1) + 1) * 8);"
                         f"{LOOP.replace('i < k', 'i < end')}",
    "where a loop begins": f"{START} {LOOP.replace('i = 0', 'i = clamp((int)row - 8, 0, k) / 8 * 8')}",
    "a number": f"{START} {LOOP.replace('coop_mat_init(0)', 'coop_mat_init((int)get_global_id(1))')}",
    "a row within limits": f"{START} size_t last = max(row, 4ul) - 4; {LOOP.replace('a + row', 'a + last')}",
}


@pytest.mark.parametrize("name", ALONG_ROWS)
def test_along_one_axis(name: str) -> None:
    """Work-groups are merged along the other axis only, and what depends on the position along this one is the same."""
    module = module_of(ALONG_ROWS[name])
    found = Neighbours(module, "f", (SIZE, 1, 1), SIZE).merged(Block(16, 32, 32, (SIZE, 1, 1), Scope.Subgroup))
    assert found.factors == (8, 1, 1)
    assert found.module.validate() == []
    rng, counts = np.random.default_rng(0), (11, 19, 1)
    m, n, k = counts[1] * 4 * 2, counts[0] * 4, 24
    a, b = rng.integers(-128, 128, (m, k + 8), dtype=np.int8), rng.integers(-128, 128, (k, n), dtype=np.int8)
    assert found.takes([0, 0, 0, n, k], counts)
    results = []
    for one, groups, more in ((module, counts, ()), (found.module, found.group_counts(counts), found.given(counts))):
        results.append(np.zeros((m, n), np.int32))
        size = SIZE if one is module else found.local_size[0]
        cm.Queue("sim:generic").enqueue(cm.build(one.to_bytes()).kernel("f"), (groups[0] * size, *groups[1:]),
                                        (size, 1, 1), a, b, results[-1], n, k, *more).wait()
    np.testing.assert_array_equal(*results)


def test_other_work_groups() -> None:
    with pytest.raises(NoMerge, match="not made of sub-groups of 8 along its first axis"):
        Neighbours(module_of(SOURCES["group ids"].text), "f", (4, 4, 1), SIZE)
    with pytest.raises(NoMerge, match="blocks of 18 rows or columns are no whole tiles of 4"):
        merged("group ids", Block(18, 32, 32, (16, 1, 1), Scope.Workgroup))
