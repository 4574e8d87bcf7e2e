"""Products as people write them: their work-groups are merged, or it is said why not, and the results are the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.merging import VARIABLE

PRELUDE = """
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char ta MATRIX(16, 32, A);
typedef char tb MATRIX(32, 16, B);
typedef int tc MATRIX(16, 16, ACCUMULATOR);
#define LOOP for (int k = 0; k < K; k += 32) \\
        s = coop_matmul_add((ta)coop_mat_load(A + row * K + k, ROW, K), \\
                            (tb)coop_mat_load(B + k * N + column, ROW, N), s, 15);
kernel void k(global const char *A, global const char *B, global int *C, global int *D, int M, int N, int K)
{
    BODY
}
"""
M, N, K = 16 * 12, 16 * 6, 96
TILES = M // 16 * (N // 16)
PLACE = "int row = get_group_id(1) * 16, column = get_group_id(0) * 16;"
START = "tc s = coop_mat_init(0);"
STORE = "coop_mat_store(C + row * N + column, s, ROW, N);"
COMPONENTS = "for (int i = 0; i < coop_mat_length(s); i++)"
Expected = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Written:
    """A kernel. said: of the merged one, or why it is not; groups, items: of the launch; expected: C, from A * B and
    what D was. shares: whether D is C; packs: whether B is packed, four rows in a word."""

    body: str
    said: str = "neighbouring work-groups are one"
    groups: tuple[int, int] = (N // 16, M // 16)
    items: int = 16
    expected: Expected = lambda product, d: product
    shares: bool = False
    packs: bool = False


TWO = """int row = get_group_id(1) * 16, column = get_group_id(0) * 32; tc t[2];
        for (int j = 0; j < 2; j++) t[j] = coop_mat_init(0);
        for (int k = 0; k < K; k += 32) {
            ta a = coop_mat_load(A + row * K + k, ROW, K);
            for (int j = 0; j < 2; j++)
                t[j] = coop_matmul_add(a, (tb)coop_mat_load(B + k * N + column + 16 * j, ROW, N), t[j], 15);
        }
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < coop_mat_length(t[j]); i++) {
                int2 at = coop_mat_get_coord(t[j], i);
                t[j][i] = t[j][i] * 3 + D[(row + at.x) * N + column + at.y + OFFSET];
            }
            coop_mat_store(C + row * N + column + 16 * j, t[j], ROW, N);
        }"""


def with_left_tiles(product: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Of each pair of tiles, the right one is added to what the left one has become."""
    pairs = 3 * product.reshape(M, N // 32, 2, 16)
    pairs[:, :, 0] += d.reshape(M, N // 32, 2, 16)[:, :, 0]
    pairs[:, :, 1] += pairs[:, :, 0]
    return pairs.reshape(M, N)


EACH = "for (int id = get_group_id(0); id < M / 16 * (N / 16); id += get_num_groups(0))"
OF_TILE = "int row = id / (N / 16) * 16, column = id % (N / 16) * 16;"
ROUNDS = "the rounds of its loop over tiles (<source>:13) are work-groups, a grid of"
OVERLAP = "not merged: rounds of its loop over tiles may reach the same memory (<source>:13)"
WRITTEN = {
    "two tiles, added to what is elsewhere": Written(TWO.replace("OFFSET", "16 * j"), groups=(N // 32, M // 16),
                                                     expected=lambda product, d: product * 3 + d),
    "two tiles, added to each other": Written(
        TWO.replace("OFFSET", "0"), "not merged: argument 2 'C' and argument 3 'D' share memory", (N // 32, M // 16),
        expected=with_left_tiles, shares=True),

    "bias and activation": Written(f"""{PLACE} {START} LOOP
        {COMPONENTS} {{
            int v = s[i] + D[column + coop_mat_get_coord(s, i).y];
            s[i] = v > 0 ? v : 0;
        }} {STORE}""", expected=lambda product, d: np.maximum(product + d.ravel()[:N], 0)),
    "added to what is elsewhere": Written(f"""{PLACE} {START} LOOP
        {COMPONENTS} {{
            int2 at = coop_mat_get_coord(s, i);
            s[i] = s[i] * 3 + D[(row + at.x) * N + column + at.y];
        }} {STORE}""", expected=lambda product, d: product * 3 + d),
    "two sums": Written(f"""{PLACE} {START} LOOP tc t = s; {START.replace("tc ", "")} LOOP
        {COMPONENTS} s[i] = t[i] > 0 ? s[i] : -t[i]; {STORE}""", expected=lambda product, d: np.abs(product)),
    "two outputs of 1 x 3 tiles": Written("""int row = get_group_id(1) * 16, column = get_group_id(0) * 48; tc t[3];
        for (int j = 0; j < 3; j++) t[j] = coop_mat_init(0);
        for (int k = 0; k < K; k += 32) {
            ta a = coop_mat_load(A + row * K + k, ROW, K);
            for (int j = 0; j < 3; j++)
                t[j] = coop_matmul_add(a, (tb)coop_mat_load(B + k * N + column + 16 * j, ROW, N), t[j], 15);
        }
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < coop_mat_length(t[j]); i++) t[j][i] = max(t[j][i], K);
            coop_mat_store(C + row * N + column + 16 * j, t[j], ROW, N);
            coop_mat_store(D + row * N + column + 16 * j, t[j], ROW, N);
        }""", groups=(N // 48, M // 16), expected=lambda product, d: np.maximum(product, K)),
    "a number for each tile": Written(f"""int id = get_group_id(0), row = id / (N / 16) * 16;
        int column = id % (N / 16) * 16; {START} LOOP {STORE}""", "taken as a grid of 6 x 12 x 1", (TILES, 1)),
    "and a guard": Written(f"""uint id = get_global_id(0) / 16, across = N / 16; if (id >= M / 16 * across) return;
        int row = id / across * 16, column = (id - id / across * across) * 16; {START} LOOP {STORE}""",
                           "taken as a grid of 6 x 12 x 1", (TILES, 1)),
    "columns first": Written(f"""int id = get_group_id(0), down = M / 16, row = id % down * 16, column = id / down * 16;
        {START} LOOP {STORE}""", "taken as a grid of 12 x 6 x 1", (TILES, 1)),
    "tiles in groups of four rows": Written(f"""int id = get_group_id(0), each = 4 * (N / 16), first = id / each * 4;
        int high = min(M / 16 - first, 4), row = (first + id % each % high) * 16, column = id % each / high * 16;
        {START} LOOP {STORE}""", "taken as a grid of 4 x 6 x 3", (TILES, 1)),
    "in groups of five": Written(f"""int id = get_group_id(0), each = 5 * (N / 16), first = id / each * 5;
        int high = min(M / 16 - first, 5), row = (first + id % each % high) * 16, column = id % each / high * 16;
        {START} LOOP {STORE}""", "not merged", (TILES, 1)),
    "sub-groups by their number": Written(f"""int sg = get_sub_group_id();
        int row = (get_group_id(1) * 4 + sg / 1) * 16, column = get_group_id(0) * 16; {START} LOOP {STORE}""",
                                          groups=(N // 16, M // 64), items=64),
    "2 x 2 sub-groups": Written(f"""uint sg = get_sub_group_id(); int row = (get_group_id(1) * 2 + (sg >> 1)) * 16;
        int column = (get_group_id(0) * 2 + (sg & 1)) * 16; if (column < N) {{ {START} LOOP {STORE} }}""",
                                groups=(N // 32 + 1, M // 32), items=64),
    "2 x 2 sub-groups by columns": Written(f"""int sg = get_local_id(0) / 16, row = (get_group_id(1) * 2 + sg % 2) * 16;
        int column = (get_group_id(0) * 2 + sg / 2) * 16; {START} LOOP {STORE}""", groups=(N // 32, M // 32), items=64),
    "tile after tile": Written(f"{EACH} {{ {OF_TILE} {START} LOOP {STORE} }}", f"{ROUNDS} 6 x 12 x 1", (5, 1)),
    "tiles of sub-groups": Written(f"""uint id = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();
        while (id < M / 16 * (N / 16)) {{ {OF_TILE} {START} LOOP {STORE}
            id += get_num_groups(0) * get_num_sub_groups(); }}""", "are work-groups, a grid of 6 x 12 x 1", (5, 1), 64),
    "2 x 2 sub-groups, tile after tile": Written(f"""uint sg = get_sub_group_id();
        for (long id = get_group_id(0); id < M / 32 * (N / 32); id += get_num_groups(0)) {{
            int row = (id / (N / 32) * 2 + sg / 2) * 16, column = (id % (N / 32) * 2 + sg % 2) * 16;
            {START} LOOP {STORE} }}""", "are work-groups, a grid of 3 x 6 x 1", (5, 1), 64),
    "tile after tile, loaded if there is another round": Written(f"""int id = get_group_id(0); ta next_a; tb next_b;
        while (true) {{ if (id >= M / 16 * (N / 16)) break; {OF_TILE} {START} int k = 0;
            ta a = coop_mat_load(A + row * K, ROW, K); tb b = coop_mat_load(B + column, ROW, N);
            while (true) {{ if (k < K) {{
                if (k + 32 < K) {{
                    next_a = coop_mat_load(A + row * K + k + 32, ROW, K);
                    next_b = coop_mat_load(B + (k + 32) * N + column, ROW, N);
                }}
                s = coop_matmul_add(a, b, s, 15); a = next_a; b = next_b; k += 32; }} else break;
            }} {STORE} id += get_num_groups(0); }}""", "are work-groups, a grid of 6 x 12 x 1", (5, 1)),
    "rows after rows": Written(f"""for (int row = get_group_id(0) * 16; row < M; row += 16 * get_num_groups(0))
        for (int column = 0; column < N; column += 16) {{ {START} LOOP {STORE} }}""", f"{ROUNDS} 12 x 1 x 1", (5, 1)),
    "tile after tile, added to C": Written(
        f"{EACH} {{ {OF_TILE} tc s = coop_mat_load(C + row * N + column, ROW, N); LOOP {STORE} }}",
        f"{ROUNDS} 6 x 12 x 1", (5, 1), expected=lambda product, d: product + 77),
    "tile after tile, those of a column added up": Written(
        f"""{EACH} {{ {OF_TILE} {START} LOOP
        if (row) {{ tc t = coop_mat_load(C + (row - 16) * N + column, ROW, N); s = s + t; }} {STORE} }}""", OVERLAP,
        (1, 1), expected=lambda product, d: product.reshape(M // 16, 16, N).cumsum(axis=0).reshape(M, N)),
    "the last tile of a column": Written(
        f"{EACH} {{ {OF_TILE} {START} LOOP coop_mat_store(C + column, s, ROW, N); }}", OVERLAP, (1, 1),
        expected=lambda product, d: np.vstack([product[-16:], np.full((M - 16, N), 77)])),
    "tiles added to the ones before": Written(
        f"{START} {EACH} {{ {OF_TILE} LOOP {STORE} }}", "not merged: its loop over tiles carries a value from round to "
        "round (<source>:13)", (1, 1), expected=lambda product, d: product.reshape(M // 16, 16, N // 16, 16).swapaxes(
            1, 2).reshape(-1, 16, 16).cumsum(axis=0).reshape(M // 16, N // 16, 16, 16).swapaxes(1, 2).reshape(M, N)),
    "tiles by the number of work-groups": Written(
        f"{EACH} {{ {OF_TILE} {START} LOOP s = s * (int)get_num_groups(0); {STORE} }}",
        "not merged: its loop over tiles is not all that depends on NumWorkgroups (<source>:13)", (5, 1),
        expected=lambda product, d: product * 5),
    "tiles until one is too far": Written(
        f"{EACH} {{ {OF_TILE} if (row > 100) break; {START} LOOP {STORE} }}",
        "not merged: its loop over tiles does not only end where there are no more (<source>:13)", (1, 1),
        expected=lambda product, d: np.where(np.arange(M)[:, None] < 112, product, 77)),
    "tile after tile with a barrier": Written(
        f"{EACH} {{ {OF_TILE} {START} LOOP {STORE} barrier(CLK_GLOBAL_MEM_FENCE); }}",
        "not merged: it has other effects than on matrices (OpControlBarrier) (<source>:13)", (5, 1)),
    "tile after tile, added to D": Written(
        f"{EACH} {{ {OF_TILE} tc s = coop_mat_load(D + row * N + column, ROW, N); LOOP {STORE} }}",
        "not merged: argument 2 'C' and argument 3 'D' share memory, of which one is stored to", (5, 1),
        expected=lambda product, d: product + d, shares=True),
    "counted down": Written(f"""{PLACE} {START} global const char *a = A + row * K, *b = B + column; int left = K / 32;
        while (left--) {{
            s = coop_matmul_add((ta)coop_mat_load(a, ROW, K), (tb)coop_mat_load(b, ROW, N), s, 15);
            a += 32; b += 32 * N;
        }} {STORE}"""),
    "a sum of every second tile": Written(f"""{PLACE} {START} tc t = s; int k = 0;
        for (; k < K - 32; k += 64) {{
            s = coop_matmul_add((ta)coop_mat_load(A + row * K + k, ROW, K),
                                (tb)coop_mat_load(B + k * N + column, ROW, N), s, 15);
            t = coop_matmul_add((ta)coop_mat_load(A + row * K + k + 32, ROW, K),
                                (tb)coop_mat_load(B + (k + 32) * N + column, ROW, N), t, 15);
        }}
        s = coop_matmul_add((ta)coop_mat_load(A + row * K + k, ROW, K),
                            (tb)coop_mat_load(B + k * N + column, ROW, N), s + t, 15); {STORE}""", ""),
    "loaded a round ahead": Written(f"""{PLACE} {START} ta a = coop_mat_load(A + row * K, ROW, K);
        tb b = coop_mat_load(B + column, ROW, N);
        for (int k = 32; k < K; k += 32) {{
            ta next_a = coop_mat_load(A + row * K + k, ROW, K);
            tb next_b = coop_mat_load(B + k * N + column, ROW, N);
            s = coop_matmul_add(a, b, s, 15); a = next_a; b = next_b;
        }}
        s = coop_matmul_add(a, b, s, 15); {STORE}"""),
    "loaded if there is another round": Written(f"""{PLACE} {START} ta a = coop_mat_load(A + row * K, ROW, K);
        global const char *at = B + column; tb b = coop_mat_load(at, ROW, N);
        for (int k = 0; k < K; k += 32) {{
            ta next_a; tb next_b; at += 32 * N;
            if (k < K - 32) {{
                next_a = coop_mat_load(A + row * K + k + 32, ROW, K);
                next_b = coop_mat_load(at, ROW, N);
            }}
            s = coop_matmul_add(a, b, s, 15); a = next_a; b = next_b;
        }} {STORE}"""),
    "B packed": Written(f"""{PLACE} {START} for (int k = 0; k < K; k += 32)
        s = coop_matmul_add((ta)coop_mat_load(A + row * K + k, ROW, K), (tb)coop_mat_load(B + k * N + column * 4,
                            CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL, 4 * N), s, 15); {STORE}""", packs=True),
    "B packed, from within a word": Written(f"""{PLACE} {START} for (int k = 0; k < K; k += 32)
        s = coop_matmul_add((ta)coop_mat_load(A + row * K + k, ROW, K), (tb)coop_mat_load(B + k * N + column * 4 + K %
                            2, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL, 4 * N), s, 15); {STORE}""",
                                            "not merged: a packed matrix does not begin with a whole word", packs=True),
    "one component": Written(f"{PLACE} {START} LOOP s[0] += 0; {STORE}", "not merged: a matrix is used by"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = WRITTEN[name]
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (M, K)).astype(np.int8), rng.integers(-128, 128, (K, N)).astype(np.int8)
    before = rng.integers(-9999, 9999, (M, N)).astype(np.int32)
    wanted = one.expected(a.astype(np.int64) @ b, before)
    b = np.ascontiguousarray(b.reshape(K // 4, 4, N).transpose(0, 2, 1)) if one.packs else b
    for merge in ("", "0"):
        monkeypatch.setenv(VARIABLE, merge)
        device = cm.device("cpu")
        program = cm.build(PRELUDE.replace("BODY", one.body), f"-DTURN=_{merge}", device=device)
        other, (x, y) = before.copy(), one.groups
        out = other if one.shares else np.full((M, N), 77, np.int32)
        cm.Queue(device).enqueue(program.kernel("k"), (x * one.items, y), (one.items, 1), a, b, out, other, M, N,
                                 K).wait()
        np.testing.assert_array_equal(out, wanted, merge)
        said = "\n".join(device.explanation(program.load(device)))
        assert (one.said if not merge else "not merged: COOPMAT_MERGE=0") in said, said
        assert merge or "neighbouring work-groups are one" in said or one.said[:10] in ("", "not merged")


def test_products_of_sub_groups() -> None:
    """Of Intel's functions it is said, with the line, why their work-groups are not merged."""
    device = cm.device("cpu")
    program = cm.build("""__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global int *C, global const short *A, global const int *B)
{
    int i = get_sub_group_local_id();
    int8 b = {B[i], B[i + 16], B[i + 32], B[i + 48], B[i + 64], B[i + 80], B[i + 96], B[i + 112]};
    C[i] = intel_sub_group_i8_i8_matrix_mad_k32((short)(A[i] * 2), b, 0);
}""", device=device)
    out, a, b = np.zeros(16, np.int32), np.full(16, 0x0101, np.int16), np.full(128, 0x02020202, np.int32)
    cm.Queue(device).enqueue(program.kernel("k"), 16, 16, out, a, b).wait()
    assert (out == 128).all()
    said = "\n".join(device.explanation(program.load(device)))
    assert "not merged: its products of Intel's sub-group functions do not become those of cooperative" in said
    assert "(<source>:6)" in said
