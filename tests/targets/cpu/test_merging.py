"""Merged work-groups on the CPU: the bits of the kernel as it was written, and of numpy; what is said of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.merge import NoMerge
from coopmat.spirv.transform.enlarge.runs import ALL, Runs
from coopmat.sycl import (
    int8,
    int32,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_load_checked,
    joint_matrix_mad,
    joint_matrix_store,
    joint_matrix_store_checked,
    kernel,
    layout,
    nd_item,
    ptr,
    sub_group,
    use,
)
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.cpu.features import LEVELS, cpu_features
from coopmat.targets.cpu.features import VARIABLE as FEATURES
from coopmat.targets.cpu.host.frame import Shared
from coopmat.targets.cpu.host.grids import GridPlan
from coopmat.targets.cpu.host.launch import MergedPlan
from coopmat.targets.cpu.host.threads import POOL, ThreadPool
from coopmat.targets.cpu.merging import VARIABLE
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.fuzz.products import C_BEFORE, LOOPS, SOURCE, TYPES, drawn
from tests.kit.targets.processors import processor


def compare(seed: int, level: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Launch a kernel merged and as it is; whether it was merged."""
    one = drawn(seed)
    dtype, _, sums, _ = TYPES[one.element]
    m, n, k = one.sizes
    rng = np.random.default_rng(seed)
    if np.issubdtype(sums, np.integer):
        info = np.iinfo(dtype)
        a, b = (rng.integers(info.min, info.max + 1, shape).astype(dtype) for shape in ((m, k), (k, n)))
        bias = rng.integers(-1000, 1000, (m, n)).astype(sums)
    else:
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
        bias = rng.standard_normal((m, n)).astype(sums)
    given = one.in_memory(a, b)
    device = cm.device("cpu", options=cm.CpuOptions(threads=one.threads))
    kernel = cm.build(SOURCE, one.options, device=device)
    found, merged = [], False
    for merge in ("0", one.merge):
        monkeypatch.setenv(VARIABLE, merge)
        program = CpuProgram(kernel.module, cpu_features({FEATURES: level}), device.options)
        out = np.full((m, n), C_BEFORE, sums)
        arguments = [*given, bias, out, np.int32(m), np.int32(n), np.int32(k)]
        program.launch("gemm", (one.groups[0] * 16, one.groups[1]), (16, 1), arguments)
        found.append(out)
        (plan, _), = program._plans.values()
        plan = plan.chosen[0] if isinstance(plan, GridPlan) and plan.chosen is not None else plan
        merged = isinstance(plan, MergedPlan) and plan.is_merged
    np.testing.assert_array_equal(found[0], found[1], str(one))
    wide = np.int64 if np.issubdtype(sums, np.integer) else np.float64
    a, b = (changed.astype(dtype).astype(wide) for changed in one.changed(a.astype(wide), b.astype(wide)))
    expected = a @ b + (bias if one.start else 0)
    expected = expected.astype(sums) if wide is np.int64 else expected  # integers wrap around
    expected = (expected, expected * expected.dtype.type(3), np.maximum(expected, 0), expected + bias,
                expected * expected.dtype.type(2) + bias * bias.dtype.type(3), expected + C_BEFORE)[one.end]
    if wide is np.int64:
        np.testing.assert_array_equal(found[1], expected.astype(sums), str(one))
    else:
        size = 3 * (np.abs(a) @ np.abs(b) + np.abs(bias)) + C_BEFORE
        assert (np.abs(found[1] - expected) <= (k + 4) * np.finfo(sums).eps * size).all(), str(one)
    return merged


@pytest.mark.parametrize("level", LEVELS)
def test_random_kernels(level: str, long_form: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 60 if long_form else 3
    first = 6 * list(LEVELS).index(level)
    assert sum(compare(seed, level, monkeypatch) for seed in range(first, first + count)) > count // 3


@pytest.mark.parametrize("element", TYPES)
def test_columns_of_a(element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors take words of A as memory has them, by rows or by columns."""
    assert any(compare(seed, "avx512", monkeypatch) for seed in range(200, 500) if (one := drawn(seed)).columns[0]
               and one.element == element and one.tiles == "a grid")


def test_rounded_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """bf16 products of eight columns have no instruction that takes two numbers along K, as those of blocks would."""
    one = drawn(105)
    assert (one.element, one.tile[1]) == ("__bf16", 8)
    program = CpuProgram(cm.build(SOURCE, one.options).module, processor("avx512"), cm.CpuOptions(threads=1))
    signature = program.signatures["gemm"]
    geometry = Geometry.checked(signature, (one.groups[0] * 16, one.groups[1], 1), (16, 1, 1), None, 16)
    with pytest.raises(NoMerge, match="rounded otherwise"):
        program.merged_form("gemm", program.variant(signature, geometry.local_size), geometry)
    assert compare(105, "avx2", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 1100))
def test_more_random_kernels(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(seed, list(LEVELS)[seed % len(LEVELS)], monkeypatch)


# ------------------------------------------------------------------ kernels of other forms

PRELUDE = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SCOPE, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
typedef char matrix_a M(16, 64, A);
typedef char matrix_b M(64, 16, B);
typedef int matrix_c M(16, 16, ACCUMULATOR);
__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
kernel void k(global const char *A, global const char *B, global int *C, global const int *bias, int N, int K)
{
    PLACE
    matrix_c s = START;
    LOOP
    STORE
}
"""
USUAL = {
    "SCOPE_SCOPE": "SCOPE_SUBGROUP",
    "ITEMS": "16",
    "PLACE": "size_t r = get_group_id(1) * 16, c = get_group_id(0) * 16;",
    "START": "coop_mat_init(0)",
    "LOOP": """for (int k = 0; k < K; k += 64) {
        matrix_a a = coop_mat_load(A + r * K + k, ROW, K);
        matrix_b b = coop_mat_load(B + (size_t)k * N + c, ROW, N);
        s = coop_matmul_add(a, b, s, 15);
    }""",
    "STORE": "coop_mat_store(C + r * N + c, s, ROW, N);",
}
N, K = 128, 256
FORMS = {
    "C is added to": ({"START": "coop_mat_load(C + r * N + c, ROW, N)"}, lambda a, b, c, bias: a @ b + c),
    "one row for all rows": ({"START": "coop_mat_load(bias + c, ROW, 0)"}, lambda a, b, c, bias: a @ b + bias),
    "one column for all columns": ({"START": "coop_mat_load(bias + r, COLUMN, 0)"},
                                   lambda a, b, c, bias: a @ b + bias[:, None]),
    "one row at the end": ({"STORE": "matrix_c t = coop_mat_load(bias + c, ROW, 0); s = s + t;" + USUAL["STORE"]},
                           lambda a, b, c, bias: a @ b + bias),
    "one row of A": ({"LOOP": USUAL["LOOP"].replace("A + r * K + k, ROW, K", "A + k, ROW, 0")},
                     lambda a, b, c, bias: np.broadcast_to(a[0] @ b, c.shape)),
    "the first rows of A": ({"LOOP": USUAL["LOOP"].replace("A + r * K + k, ROW, K", "A + k, ROW, K")},
                            lambda a, b, c, bias: np.tile(a[:16] @ b, (N // 16, 1))),
    "a loop that begins later": ({"LOOP": USUAL["LOOP"].replace("k = 0", "k = 64")},
                                 lambda a, b, c, bias: a[:, 64:] @ b[64:]),
    "a loop backwards": ({"LOOP": USUAL["LOOP"].replace("k = 0; k < K; k += 64", "k = K - 64; k >= 0; k -= 64")},
                         lambda a, b, c, bias: a @ b),
    "two loops": ({"LOOP": f"for (int o = 0; o < 2; o++) {{ {USUAL['LOOP']} }}"}, lambda a, b, c, bias: 2 * (a @ b)),
    "the sum grows with each round": (
        {"LOOP": USUAL["LOOP"].replace("15);", "15); s = s * 3;")},
        lambda a, b, c, bias: sum(3**(K // 64 - at) * (a[:, 64 * at:64 * at + 64] @ b[64 * at:64 * at + 64])
                                  for at in range(K // 64))),
    "the number of the work-group": ({"START": "coop_mat_init((int)r)"},
                                     lambda a, b, c, bias: a @ b + np.arange(N)[:, None] // 16 * 16),
    "stored by columns": ({"STORE": "coop_mat_store(C + c * N + r, s, COLUMN, N);"}, lambda a, b, c, bias: (a @ b).T),
    "axes the other way": ({"PLACE": "size_t r = get_group_id(0) * 16, c = get_group_id(1) * 16;"},
                           lambda a, b, c, bias: a @ b),
    "K in parts": ({"LOOP": USUAL["LOOP"].replace("(int k = 0; k < K;", "(int o = 0; o < K; o += 128)"
                                                   " for (int k = o; k < o + 128;")},
                   lambda a, b, c, bias: a @ b),
    "a product behind the loop": (
        {"LOOP": USUAL["LOOP"].replace("for (int k = 0; k < K", "int k; for (k = 0; k < K - 64")
         + USUAL["LOOP"][USUAL["LOOP"].index("{"):]}, lambda a, b, c, bias: a @ b),
    "the loop goes on in another": (
        {"LOOP": USUAL["LOOP"].replace("for (int k = 0; k < K", "int k; for (k = 0; k < K - 128")
         + USUAL["LOOP"].replace("int k = 0", "")}, lambda a, b, c, bias: a @ b),
    "a loop that an argument ends": ({"LOOP": USUAL["LOOP"].replace("15);", "15); if (N == 128) break;")},
                                     lambda a, b, c, bias: a[:, :64] @ b[:64]),
    "an early return": ({"PLACE": USUAL["PLACE"] + "if (r >= 64) return;"},
                        lambda a, b, c, bias: np.where(np.arange(N)[:, None] < 64, a @ b, c)),
}
"""What is written otherwise than usually → what C is then, of integers without overflow."""


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("scope", "items"), [("SUBGROUP", 16), ("WORKGROUP", 64)])
@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str, scope: str, items: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of sub-groups, and of work-groups of several."""
    changed, expected = FORMS[form]
    rng = np.random.default_rng(len(form))
    a, b = rng.integers(-128, 128, (N, K)).astype(np.int8), rng.integers(-128, 128, (K, N)).astype(np.int8)
    c, bias = rng.integers(-999, 999, (N, N)).astype(np.int32), rng.integers(-999, 999, N).astype(np.int32)
    source = PRELUDE
    for name, text in (USUAL | {"SCOPE_SCOPE": f"SCOPE_{scope}", "ITEMS": str(items)} | changed).items():
        source = source.replace(name, text, 1)
    device = cm.device("cpu")
    kernel, queue = cm.build(source, device=device).kernel("k"), cm.Queue(device)
    wanted = expected(*(one.astype(np.int64) for one in (a, b, c, bias)))
    for merge in ("", "0", "2x4"):
        monkeypatch.setenv(VARIABLE, merge)
        out = c.copy()
        fresh = cm.build(source, f"-DTURN=_{merge}", device="cpu").kernel("k") if merge else kernel
        queue.enqueue(fresh, (N // 16 * items, N // 16), (items, 1), a, b, out, bias, np.int32(N), np.int32(K)).wait()
        np.testing.assert_array_equal(out, wanted, merge)
    if form == "C is added to":
        said = "\n".join(device.explanation(kernel.program.load(device)))
        assert re.search(r"[48] x 8 neighbouring work-groups are one", said), said  # by the number of threads


OTHERS_OF_A_PROGRAM = """
constant int table[4] = {1, 2, 3, 4};
global int state[2] = {1, 2};
kernel void first(global half *p)
{
    local half tile[256];
    half M(16, 16, A) a = coop_mat_load(p, ROW, 16);
    half M(16, 16, B) b = coop_mat_load(p, ROW, 16);
    float M(16, 16, ACCUMULATOR) s = coop_mat_init(0.0f);
    s = coop_matmul_add(a, b, s, 0);
    tile[get_local_id(0)] = s[0];
    p[0] = tile[1] + table[get_local_id(0) & 3] + state[1];
}
"""


def test_other_kernels_of_a_program() -> None:
    """Their variables, and the types of their products, are no reasons, nor are constants; variables of the kernel are,
    with name and line."""
    source = PRELUDE.replace("kernel void k(", OTHERS_OF_A_PROGRAM.strip().replace("kernel", "__kernel")
                             + "\nkernel void k(", 1)
    source = source.replace("__attribute__((reqd_work_group_size(ITEMS, 1, 1)))", "")
    for name, text in (USUAL | {"SCOPE_SCOPE": "SCOPE_SUBGROUP"}).items():
        source = source.replace(name, text, 1)
    rng, device = np.random.default_rng(0), cm.device("cpu")
    a, b = rng.integers(-128, 128, (N, K)).astype(np.int8), rng.integers(-128, 128, (K, N)).astype(np.int8)
    out, queue = np.zeros((N, N), np.int32), cm.Queue(device)
    for uses in ("", "table", "state"):
        line = source[:source.index("matrix_c s =")].count("\n") + 1
        program = cm.build(source.replace("coop_mat_init(0);", f"coop_mat_init({uses}[K & 1]);" if uses else
                                          "coop_mat_init(0);"), device=device)
        queue.enqueue(program.kernel("k"), (N, N // 16), (16, 1), a, b, out, np.zeros(N, np.int32), N, K).wait()
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b + bool(uses))
        said = "\n".join(device.explanation(program.load(device)))
        assert (f"not merged: it uses a variable of the program, 'state' (<source>:{line})" if uses == "state" else
                "neighbouring work-groups are one") in said, said


ROWS_APART = {
    "work-groups along z": "size_t h = get_group_id(2);",
    "rounds": "for (int h = 0; h < 2; h++)",
    "rounds downwards": "for (int o = 0, h = 1; o < 2; o++, h = 1 - o)",
}
"""What two halves of the rows are; each has three tiles, no whole number of blocks."""


@pytest.mark.parametrize("form", ROWS_APART)
def test_blocks_end_where_the_next_ones_begin(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a block reaches beyond its own work-groups belongs to others, and is added up only once."""
    source = PRELUDE
    changed = {"PLACE": ROWS_APART[form] + " { size_t r = h * 48 + get_group_id(1) * 16, c = get_group_id(0) * 16;",
               "SCOPE_SCOPE": "SCOPE_SUBGROUP", "START": "coop_mat_load(C + r * N + c, ROW, N)",
               "STORE": USUAL["STORE"] + "}"}
    for name, text in (USUAL | changed).items():
        source = source.replace(name, text, 1)
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (96, K)).astype(np.int8), rng.integers(-128, 128, (K, 96)).astype(np.int8)
    c = rng.integers(-999, 999, (96, 96)).astype(np.int32)
    for merge in ("2x4", "4x4"):
        monkeypatch.setenv(VARIABLE, merge)
        device, out = cm.device("cpu"), c.copy()
        program = cm.build(source, f"-DTURN=_{merge}", device=device)
        cm.Queue(device).enqueue(program.kernel("k"), (96, 3, 2 if "z" in form else 1), (16, 1, 1), a, b, out,
                                 np.zeros(96, np.int32), 96, K).wait()
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32) + c)
    if form != "rounds downwards":  # of which it is not known that they end at the first row
        assert "neighbouring work-groups are one" in "\n".join(device.explanation(program.load(device)))


GUARDS = {
    "an early return": {"PLACE": USUAL["PLACE"] + "if (r >= N || c >= N) return;"},
    "around all": {"PLACE": "int r = get_group_id(1) * 16, c = get_group_id(0) * 16; if (r < N && N > c) {",
                   "STORE": USUAL["STORE"] + "}"},
    "of last elements": {"PLACE": USUAL["PLACE"] + "if (r + 15 > N - 1) return;"},
}
"""What keeps work-groups beyond the last row or column from the matrices."""


@pytest.mark.parametrize("form", GUARDS)
def test_guards(form: str) -> None:
    """Work-groups beyond do nothing, and the others are merged."""
    source = PRELUDE
    for name, text in (USUAL | {"SCOPE_SCOPE": "SCOPE_SUBGROUP"} | GUARDS[form]).items():
        source = source.replace(name, text, 1)
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (N, K)).astype(np.int8), rng.integers(-128, 128, (K, N)).astype(np.int8)
    device, bias = cm.device("cpu"), np.zeros(N, np.int32)
    program = cm.build(source, device=device)
    for more in (0, 1):
        out = np.full((N + 16, N), 7, np.int32)
        cm.Queue(device).enqueue(program.kernel("k"), (N, N // 16 + more), (16, 1), a, b, out, bias, N, K).wait()
        np.testing.assert_array_equal(out[:N], a.astype(np.int32) @ b)
        assert (out[N:] == 7).all()
        said = "\n".join(device.explanation(program.load(device)))
        assert "neighbouring work-groups are one" in said


@kernel(sub_group_size=16)
def checked(item: nd_item[2], A: ptr[int8], B: ptr[int8], C: ptr[int32], bias: ptr[int32], M: int32, N: int32,
            K: int32):
    """K in parts, an edge in each dimension, and a row for all rows."""
    sg, r, c = item.get_sub_group(), item.get_group(0) * 16, item.get_group(1) * 16
    a = joint_matrix(sub_group, int8, use.a, 16, 32, layout.row_major)
    b = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    s = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    joint_matrix_load_checked(sg, s, bias, 0, layout.row_major, 16, N, 0, c)
    for part in range(0, K, 64):
        for k in range(0, 64, 32):
            joint_matrix_load_checked(sg, a, A, K, M, K, r, part + k)
            joint_matrix_load_checked(sg, b, B, N, K, N, part + k, c)
            joint_matrix_mad(sg, s, a, b, s)
    joint_matrix_store_checked(sg, s, C, N, layout.row_major, M, N, r, c)


@kernel(sub_group_size=16)
def persistent(item: nd_item[1], A: ptr[int8], B: ptr[int8], C: ptr[int32], M: int32, N: int32, K: int32):
    """Tile after tile."""
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, int8, use.a, 16, 32, layout.row_major)
    b = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    s = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    for tile in range(item.get_group(0), M // 16 * (N // 16), item.get_group_range(0)):
        r, c = tile // (N // 16) * 16, tile % (N // 16) * 16
        joint_matrix_fill(sg, s, 0)
        for k in range(0, K, 32):
            joint_matrix_load(sg, a, A + r * K + k, K)
            joint_matrix_load(sg, b, B + k * N + c, N)
            joint_matrix_mad(sg, s, a, b, s)
        joint_matrix_store(sg, s, C + r * N + c, N, layout.row_major)


def test_persistent_in_python() -> None:
    """Of the range's step it is not known that it is positive, but in a launch it is."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (96, 64)).astype(np.int8), rng.integers(-128, 128, (64, 80)).astype(np.int8)
    device, out = cm.device("cpu"), np.zeros((96, 80), np.int32)
    program = cm.build(persistent, device=device)
    cm.Queue(device).enqueue(program.kernel("persistent"), (3 * 16,), (16,), a, b, out, 96, 80, 64).wait()
    np.testing.assert_array_equal(out, a.astype(np.int32) @ b)
    assert "are work-groups, a grid of 5 x 6 x 1" in "\n".join(device.explanation(program.load(device)))


@pytest.mark.parametrize("k", [4, 20])
def test_sums_of_negative_zeros(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind the end of K in a line of the unit's words does not make 0 of -0."""
    source = PRELUDE
    for name, text in (USUAL | {"SCOPE_SCOPE": "SCOPE_SUBGROUP", "ITEMS": "16", "(16, 64, A)": f"(16, {k}, A)",
                                "(64, 16, B)": f"({k}, 16, B)", "k += 64": f"k += {k}", ", s, 15": ", s, 0",
                                "START": "coop_mat_load(C + r * N + c, ROW, N)"}).items():
        source = source.replace(name, text)
    source = source.replace("char", "float").replace("int *", "float *").replace("int matrix_c", "float matrix_c")
    device = cm.device("cpu")
    for merge in ("0", "2x2"):
        monkeypatch.setenv(VARIABLE, merge)
        out = np.full((32, 32), -0.0, np.float32)
        kernel = cm.build(source, f"-DTURN=_{merge}", device=device).kernel("k")
        a, b = np.full((32, k), -1, np.float32), np.zeros((k, 32), np.float32)
        cm.Queue(device).enqueue(kernel, (32, 2), (16, 1), a, b, out, out, 32, k).wait()
        assert np.signbit(out).all(), merge


OTHERS = "OUT M(TM, TN, ACCUMULATOR) others[4][RM][RN]; for (int s = 0; s < 4; s++) EACH others[s][i][j] = START; "
SUMS = {
    "two sums": (LOOPS["two sums"], Runs(16, 32), "by rows"),
    "two sums and a rest": (LOOPS["two sums and a rest"], Runs(16, 32), "packed"),
    "in halves": (LOOPS["in halves"], ALL, "by rows"),
    "four sums": (OTHERS + """for (int at = 0; at < k; at += 4 * TK)
        for (int s = 0; s < 4; s++) { LOAD(x, y, at + s * TK); ADD(x, y, others[s]); }
        EACH sums[i][j] = (others[0][i][j] + others[1][i][j]) + (others[2][i][j] + others[3][i][j]);""", Runs(16, 64),
                  "by columns"),
    "pairs of rounds": (OTHERS + """for (int at = 0; at < k; at += 4 * TK)
        for (int s = 0; s < 4; s++) { LOAD(x, y, at + s * TK); ADD(x, y, others[s / 2]); }
        EACH sums[i][j] = others[0][i][j] + others[1][i][j];""", Runs(32, 64), "packed"),
    "every third round": ("for (int at = TK; at < k; at += 3 * TK) { LOAD(x, y, at); ADD(x, y, sums); }", Runs(16, 48),
                          "by columns"),
    "another B": ("for (int at = 0; at < k; at += TK) { LOAD(x, y, at); LOAD(next_x, y, 0); ADD(x, y, sums); }", ALL,
                  "by rows"),
}
"""How a kernel adds floats up in several sums, or in parts of K, what its products take of that, and how A and B lie in
memory."""


def of_sums(loop: str, element: str = "__bf16", memory: str = "by rows") -> Module:
    """A kernel of a tile for each work-group."""
    by_columns = int(memory == "by columns")
    given = {"IN": element, "OUT": "float", "FLAGS": 0, "TM": 16, "TN": 16, "TK": 16, "RM": 1, "RN": 1,
             "TOGETHER": 1 + (memory == "packed"), "BY_COLUMNS_A": by_columns, "BY_COLUMNS_B": by_columns, "TILES": "",
             "END": "", "ROW_OF": "get_group_id(0)", "COLUMN_OF": "get_group_id(1)", "START": "coop_mat_init(0)",
             "LOOP": loop.replace("\n", " ")}
    return cm.build(SOURCE, [f"-D{name}={value}" for name, value in given.items()]).module


@pytest.mark.parametrize("form", SUMS)
@pytest.mark.parametrize("level", [pytest.param("amx", marks=pytest.mark.oracle("amx")), "avx512"])
def test_several_sums(form: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of floats stay as many as the kernel has, of which each is added up in its order; the last block of K has a
    part of a run of each."""
    (loop, runs, memory), rng = SUMS[form], np.random.default_rng(0)
    element = "__bf16" if level == "amx" else "half"
    m, n, k = 96, 80, 16 * 68
    a, b = (rng.standard_normal(shape).astype(TYPES[element][0]) for shape in ((m, k), (k, n)))
    given = {"by rows": (a, b), "by columns": (a.T, b.T), "packed": (a, b.reshape(k // 2, 2, n).transpose(0, 2, 1))}
    found, module = [], of_sums(loop, element, memory)
    for merge in ("0", "4x3"):
        monkeypatch.setenv(VARIABLE, merge)
        program = CpuProgram(module, cpu_features({FEATURES: level}), cm.CpuOptions(threads=1))
        found.append(np.full((m, n), C_BEFORE, np.float32))
        program.launch("gemm", (m, n // 16), (16, 1), [*map(np.ascontiguousarray, given[memory]), found[-1], found[-1],
                                                       m, n, k])
        (plan, merged), = program._plans.values()
    assert isinstance(plan, MergedPlan)
    assert plan.is_merged
    assert not isinstance(merged, str)
    assert merged.merged.runs == runs
    said = f"along K each takes {runs.length} of {runs.period} elements"
    assert any(said in line for line in program.explanation()) == (runs != ALL)
    np.testing.assert_array_equal(*(one.view(np.uint32) for one in found))


@pytest.mark.oracle("amx")
@pytest.mark.parametrize(("loop", "tiles", "factors"), [
    (SUMS["two sums"][0], 64, (8, 16, 1)),
    (SUMS["two sums"][0], 4, (4, 4, 1)),
    (SUMS["four sums"][0], 64, (4, 16, 1)),
    (SUMS["another B"][0], 64, (32, 8, 1)),
])
def test_blocks_of_several_sums(loop: str, tiles: int, factors: tuple[int, int, int]) -> None:
    """Blocks of several sums are smaller; where several rounds cannot be one, each loads and stores the sums, and
    blocks are large."""
    program = CpuProgram(of_sums(loop), cpu_features({FEATURES: "amx"}), cm.CpuOptions(threads=1))
    signature = program.signatures["gemm"]
    geometry = Geometry.checked(signature, (16 * tiles, tiles, 1), (16, 1, 1), None, 16)
    variant = program.variant(signature, geometry.local_size)
    merged = program.merged_form("gemm", variant, geometry).merged
    assert merged.factors == factors
    assert merged.module.validate() == []


def test_checks_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the work-groups are that become one is a limit beside those that the kernel has: fewer of them are launched
    than the matrices have rows and columns."""
    monkeypatch.setenv(VARIABLE, "4x4")
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (90, 75)).astype(np.int8), rng.integers(-128, 128, (75, 101)).astype(np.int8)
    c, bias = (rng.integers(-999, 999, shape).astype(np.int32) for shape in ((90, 101), 101))
    for down, across in ((6, 7), (3, 5)):
        device, out, wanted = cm.device("cpu"), c.copy(), c.copy()
        program = cm.build(checked, device=device)
        cm.Queue(device).enqueue(program.kernel("checked"), (across * 16, down), (16, 1), a, b, out, bias, 90, 101,
                                 75).wait()
        wanted[:down * 16, :across * 16] = (a.astype(np.int32) @ b + bias)[:down * 16, :across * 16]
        np.testing.assert_array_equal(out, wanted)
    said = "\n".join(device.explanation(program.load(device)))
    assert "4 x 4 neighbouring work-groups are one" in said


HALVES = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void k(global const half *A, global const half *B, global half *C, int N, int K)
{
    size_t r = get_group_id(1) * 16 * TILES, c = get_group_id(0) * 16;
    half M(16, 16, ACCUMULATOR) s[TILES];
    for (int i = 0; i < TILES; i++)
        s[i] = coop_mat_init(0);
    for (int k = 0; k < K; k += 16 * TILES)
        for (int i = 0; i < TILES; i++)
            for (int j = 0; j < TILES; j++) {
                half M(16, 16, A) a = coop_mat_load(A + (r + 16 * i) * K + k + 16 * j, ROW, K);
                half M(16, 16, B) b = coop_mat_load(B + (k + 16 * j) * N + c, ROW, N);
                s[i] = coop_matmul_add(a, b, s[i], 0);
            }
    for (int i = 0; i < TILES; i++)
        coop_mat_store(C + (r + 16 * i) * N + c, s[i], ROW, N);
}
"""


@pytest.mark.parametrize("tiles", [1, 2])
def test_sums_of_fewer_bits(tiles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each product rounds its sums to halves: neither rounds nor products that follow each other become one."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((64, 96), (96, 64)))
    device, found = cm.device("cpu"), []
    module = cm.build(HALVES, f"-DTILES={tiles}", device=device).module
    for merge in ("0", "2x2", "4x1"):
        monkeypatch.setenv(VARIABLE, merge)
        out = np.zeros((64, 64), np.float16)
        program = CpuProgram(module, cpu_features(), device.options)
        program.launch("k", (64, 4 // tiles), (16, 1), [a, b, out, np.int32(64), np.int32(96)])
        found.append(out)
        (plan, _), = program._plans.values()
        assert merge == "0" or (isinstance(plan, MergedPlan) and plan.is_merged)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_strips_are_those_of_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """B changes between launches, lies before C in one array, and is A."""
    monkeypatch.setenv(VARIABLE, "2x4")
    source = PRELUDE
    for name, text in USUAL.items():
        source = source.replace(name, text, 1)
    kernel, queue = cm.build(source, device="cpu").kernel("k"), cm.Queue("cpu")
    rng = np.random.default_rng(0)
    a, bias = rng.integers(-128, 128, (N, K)).astype(np.int8), np.zeros(N, np.int32)
    memory = np.zeros(K * N + 4 * N * N, np.int8)
    b, out = memory[:K * N].reshape(K, N), memory[K * N:].view(np.int32).reshape(N, N)
    for _ in range(4):
        b[:] = rng.integers(-128, 128, (K, N))
        queue.enqueue(kernel, (N, N // 16), (16, 1), a, b, out, bias, np.int32(N), np.int32(K)).wait()
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32))
    square = np.ascontiguousarray(a[:, :N])
    queue.enqueue(kernel, (N, N // 16), (16, 1), square, square, out, bias, np.int32(N), np.int32(N)).wait()
    np.testing.assert_array_equal(out, square.astype(np.int32) @ square.astype(np.int32))


@pytest.mark.parametrize("level", LEVELS)
def test_strips_of_many_threads(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More threads than cores make strips of B together, of all of its columns or of a window, for one launch."""
    source = PRELUDE
    for name, text in (USUAL | {"SCOPE_SCOPE": "SCOPE_SUBGROUP"}).items():
        source = source.replace(name, text, 1)
    options = cm.CpuOptions(threads=12)
    module = cm.build(source, device=cm.device("cpu", options=options)).module
    rng, bias = np.random.default_rng(0), np.zeros(1, np.int32)
    for columns, merge in ((512, "2x8"), (528, "4x16"), (1024, "1x4")):
        monkeypatch.setenv(VARIABLE, merge)
        program = CpuProgram(module, cpu_features({FEATURES: level}), options)
        a = rng.integers(-128, 128, (256, 1088)).astype(np.int8)
        for _ in range(3):
            b = rng.integers(-128, 128, (1088, columns)).astype(np.int8)
            out = np.zeros((256, columns), np.int32)
            program.launch("k", (columns, 16), (16, 1), [a, b, out, bias, np.int32(columns), np.int32(1088)])
            np.testing.assert_array_equal(out, (a.astype(np.float64) @ b).astype(np.int32))
            assert POOL._teams[-1]._shared[Shared.COUNT] > 0


@pytest.mark.parametrize("loops", [False, True])
def test_who_takes_part(loops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's main thread, which Ctrl-C goes to, does where a launch before with the same numbers was short; not where
    elements may decide how often a loop runs."""
    source = PRELUDE
    changed = {"SCOPE_SCOPE": "SCOPE_SUBGROUP"}
    if loops:
        halved = "int halved(uint row, uint column, int x) { while (x > 9) x /= 2; return x; }"
        source = source.replace("__attribute__((reqd", f"{halved}\n__attribute__((reqd", 1)
        changed["STORE"] = f"s = coop_mat_apply(s, halved); {USUAL['STORE']}"
    for name, text in (USUAL | changed).items():
        source = source.replace(name, text, 1)
    found: list[bool] = []
    run = ThreadPool.run
    monkeypatch.setattr(ThreadPool, "run", lambda self, share, threads, stop, *, ends: (
        found.append(ends) or run(self, share, threads, stop, ends=ends)))
    device = cm.device("cpu", options=cm.CpuOptions(threads=2))
    program, queue = cm.build(source, device=device), cm.Queue(device)
    a, b = np.ones((N, K), np.int8), np.ones((K, N), np.int8)
    out, bias = np.zeros((N, N), np.int32), np.zeros(N, np.int32)
    for depth in (K, K, K, 64, 64):
        queue.enqueue(program.kernel("k"), (N, N // 16), (16, 1), a, b, out, bias, N, depth).wait()
    assert "neighbouring work-groups are one" in "\n".join(device.explanation(program.load(device)))
    assert found == [False, not loops, not loops, False, not loops]


def test_blocks_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel runs as it is, and it is said why."""
    monkeypatch.setenv(VARIABLE, "99x99")
    source = PRELUDE
    for name, text in USUAL.items():
        source = source.replace(name, text, 1)
    device = cm.device("cpu")
    program = cm.build(source, device=device)
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (N, K)).astype(np.int8), rng.integers(-128, 128, (K, N)).astype(np.int8)
    out, bias = np.zeros((N, N), np.int32), np.zeros(N, np.int32)
    for _ in range(2):
        out[:] = 0
        cm.Queue(device).enqueue(program.kernel("k"), (N, N // 16), (16, 1), a, b, out, bias, N, K).wait()
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32))
    said = "\n".join(device.explanation(program.load(device)))
    assert "not merged: a matrix of 1584x1584 components" in said


TWICE = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void k(global const char *A, global const char *B, global int *C, global int *D)
{
    size_t r = get_group_id(1) * 16;
    int M(16, 16, ACCUMULATOR) s[2];
    for (int j = 0; j < 2; j++) {
        s[j] = coop_mat_init(0);
        s[j] = coop_matmul_add((char M(16, 64, A))coop_mat_load(A + r * 64, ROW, 64),
                               (char M(64, 16, B))coop_mat_load(B + 16 * j, ROW, 32), s[j], 15);
    }
    int M(16, 16, ACCUMULATOR) left = s[0] * 3, right = s[1] * 3;
    coop_mat_store(D + r * 32 + 16, right, ROW, 32);
    coop_mat_store(C + r * 32, s[0], ROW, 32);
    coop_mat_store(C + r * 32 + 16, s[1], ROW, 32);
    coop_mat_store(D + r * 32, left, ROW, 32);
}
"""


def test_an_array_twice() -> None:
    """What is stored last stays, where two arguments are one array; where they are not, work-groups are merged."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (64, 64)).astype(np.int8), rng.integers(-128, 128, (64, 32)).astype(np.int8)
    device, wanted = cm.device("cpu"), a.astype(np.int32) @ b
    program = cm.build(TWICE, device=device)
    for other in (np.zeros((64, 32), np.int32), None):
        out = np.zeros((64, 32), np.int32)
        tripled = out if other is None else other
        cm.Queue(device).enqueue(program.kernel("k"), (16, 4), (16, 1), a, b, out, tripled).wait()
        said = "\n".join(device.explanation(program.load(device)))
        if other is None:
            np.testing.assert_array_equal(out, np.hstack((3 * wanted[:, :16], wanted[:, 16:])))
            assert "not merged: argument 2 'C' and argument 3 'D' share memory" in said
        else:
            np.testing.assert_array_equal(out, wanted)
            np.testing.assert_array_equal(other, 3 * wanted)
            assert "neighbouring work-groups are one" in said


CONVERTED = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef OF_A given_a M(16, 16, A); typedef OF_B given_b M(16, 16, B);
typedef IN matrix_a M(16, 16, A); typedef IN matrix_b M(16, 16, B);
kernel void k(global const OF_A *a, global const OF_B *b, global float *c, int n, int k)
{
    const int row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    float M(16, 16, ACCUMULATOR) sum = coop_mat_init(0.0f);
    for (int at = 0; at < k; at += 16) {
        given_a x = coop_mat_load(a + row * k + at, ROW, k);
        given_b y = coop_mat_load(b + at * n + column * TOGETHER, LAYOUT, n * TOGETHER);
        matrix_a left = coop_mat_convert(x);
        matrix_b right;
        CONVERT
        sum = coop_matmul_add(left, right, sum, 0);
    }
    coop_mat_store(c + row * n + column, sum, ROW, n);
}
"""
WAYS = {"at once": "right = coop_mat_convert(y);",
        "one by one": "for (int i = 0; i < coop_mat_length(right); i++) right[i] = (IN)y[i];"}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(("of_a", "of_b", "element", "way"), [
    ("half", "half", "float", "at once"), ("__bf16", "__bf16", "float", "one by one"),
    ("__bf16", "char", "__bf16", "at once"), ("uchar", "__bf16", "__bf16", "at once"),
    ("__bf16", "uchar", "__bf16", "one by one"), ("half", "char", "half", "one by one"),
    ("char", "uchar", "float", "at once"), ("short", "half", "float", "at once"),
])
@pytest.mark.parametrize("level", LEVELS)
def test_operands_that_are_converted(level: str, of_a: str, of_b: str, element: str, way: str, is_packed: bool,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """A and B that become other numbers are taken from where they lie, B packed, too; several rounds are one."""
    size, rng = 96, np.random.default_rng(2)
    a, b = (np.abs(10 * rng.standard_normal((size, size))).astype(TYPES[one][0]) for one in (of_a, of_b))
    together = 4 // b.itemsize if is_packed else 1
    layout = "PACKED_INTEL" if is_packed else "ROW_MAJOR"
    options = (f"-DOF_A={of_a}", f"-DOF_B={of_b}", f"-DIN={element}", f"-DCONVERT={WAYS[way]}",
               f"-DTOGETHER={together}", f"-DLAYOUT=CLK_COOPERATIVE_MATRIX_LAYOUT_{layout}")
    module = cm.build(CONVERTED, options).module
    given = b.reshape(size // together, together, size).transpose(0, 2, 1)
    found = []
    for merge in ("0", "2x3"):
        monkeypatch.setenv(VARIABLE, merge)
        program = CpuProgram(module, cpu_features({FEATURES: level}), cm.CpuOptions(threads=2))
        out = np.zeros((size, size), np.float32)
        program.launch("k", (size, size // 16), (16, 1), [a, np.ascontiguousarray(given), out, np.int32(size),
                                                          np.int32(size)])
        found.append(out)
        (plan, _), = program._plans.values()
        assert isinstance(plan, MergedPlan) == (merge != "0")
    np.testing.assert_array_equal(*(one.view(np.uint32) for one in found))
    np.testing.assert_allclose(found[0], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4, atol=1e-1)
    assert any("B: converted from" in line for line in program.explanation()) == (of_b != element)
