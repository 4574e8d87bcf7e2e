"""Kernels whose work-groups may be more than there are tiles: those that have one are merged, in the simulator with all
checks and on the CPU, which gives what numpy does."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.transform.enlarge.guards import Guarded, without_guards
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.merge import merged_of
from coopmat.spirv.transform.passes import chosen, transform
from coopmat.spirv.transform.without_variables import with_values
from coopmat.sycl import (
    bfloat16,
    float32,
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
    nd_range,
    ptr,
    sub_group,
    use,
)
from coopmat.targets.cpu.merging import VARIABLE
from tests.kit.oracles.vulkan import spirv_val
from tests.spirv.transform.test_merge import plain

PRELUDE = """
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define LOAD_A coop_mat_load(A + row * K + k, ROW, K)
#define LOAD_B coop_mat_load(B + k * N + col, ROW, N)
#define LOOP for (int k = 0; k < K; k += 32)
#define ADD s = coop_matmul_add((ta)LOAD_A, (tb)LOAD_B, s, FLAGS)
#define ZERO tc s = coop_mat_init(0)
#define STORE coop_mat_store(C + row * N + col, s, ROW, N)
#define WORK ZERO; LOOP ADD; STORE
#define EACH for (int i = 0; i < coop_mat_length(s); i++)
typedef IN ta MATRIX(16, 32, A);
typedef IN tb MATRIX(32, 16, B);
typedef OUT tc MATRIX(16, 16, ACCUMULATOR);
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const IN *A, global const IN *B, global OUT *C, global const OUT *D, int M, int N, int K)
{
BODY
}
"""
TYPES = {"char": (np.int8, "int", np.int32, 15), "half": (np.float16, "float", np.float32, 0),
         "__bf16": (ml_dtypes.bfloat16, "float", np.float32, 0), "float": (np.float32, "float", np.float32, 0)}
"""Type of A and B → its numpy type, C's, its numpy type, which operands have a sign."""
SIZE, BEFORE = 16, 7
DOWN, ACROSS, K = 5, 3, 64
"""Tiles of C, and its depth."""
INTS = "int row = get_group_id(1) * 16, col = get_group_id(0) * 16;"
SIZES = "size_t row = get_group_id(1) * 16, col = get_group_id(0) * 16;"


class Form(NamedTuple):
    """A kernel. items: of a work-group; tiles: those of one along x and y, none where its number along x tells the
    tile; adds: whether D is added; both: whether there may be more along both axes; passes: whether the pass merges it,
    too."""

    body: str
    items: tuple[int, int] = (SIZE, 1)
    tiles: tuple[int, int] | None = (1, 1)
    adds: bool = False
    both: bool = True
    passes: bool = True


FORMS = {
    "an early return": Form(f"{INTS} if (row >= M || col >= N) return; WORK;"),
    "two of them, of sizes": Form(f"{SIZES} if (row >= M) return; if (col >= (size_t)N) return; WORK;"),
    "of other types": Form(f"{INTS} if ((size_t)row >= M || (uint)col >= (uint)N) return; WORK;"),
    "around all": Form(f"{INTS} if (row < M && col < N) {{ WORK; }}"),
    "one in the other": Form(f"{INTS} if (row < M) {{ if (N > col) {{ WORK; }} }}"),
    "turned round": Form(f"{INTS} if (!(row < M && col < N)) return; WORK;"),
    "a number": Form(f"{INTS} int inside = (row < M) & (col < N); if (inside) {{ WORK; }}"),
    "of whole tiles": Form(f"{INTS} if (row + 16 > M || col + 16 > N) return; WORK;"),
    "of last elements": Form(f"{INTS} if (row + 15 >= M || col + 15 > N - 1) return; WORK;"),
    "of tiles": Form(f"if (get_group_id(0) >= N / 16 || get_group_id(1) >= M >> 4) return; {INTS} WORK;"),
    "of tiles, rounded up": Form("uint down = (M + 15) / 16, across = (N + 15) / 16;"
                                 f"if (get_group_id(0) >= across || get_group_id(1) >= down) return; {INTS} WORK;"),
    "of the smaller number": Form(f"{INTS} if (row >= min(M, 1 << 20) || col >= clamp(N, 0, 800)) return; WORK;"),
    "without a rest": Form(f"{INTS} if (row >= M - M % 16 || col >= (N & ~15)) return; WORK;"),
    "of work-items": Form(f"if (get_global_id(0) >= N || get_global_id(1) * 16 >= M) return; {INTS} WORK;"),
    "in the loop": Form(f"{INTS} ZERO; LOOP if (row < M && col < N) ADD; if (row < M && col < N) STORE;"),
    "said twice": Form(f"{INTS} ZERO; if (row < M && col < N) LOOP ADD; if (M <= row || col >= N) return; STORE;"),
    "of nothing else": Form(f"{INTS} if (N == 0 || row >= M / N * N + M % N || col >= N) return; WORK;"),
    "and one that is never there": Form(f"{INTS} if (row < 0 || row >= M || col >= N) return; WORK;"),
    "from the last one": Form("int row = (get_num_groups(1) - 1 - get_group_id(1)) * 16, col = get_group_id(0) * 16;"
                              "if (row >= M || col >= N) return; WORK;"),
    "of C that is added to": Form(f"{INTS} if (row >= M || col >= N) return;"
                                  "tc s = coop_mat_load(D + row * N + col, ROW, N); LOOP ADD; STORE;", adds=True),
    "of a function of elements": Form(
        f"""{SIZES} if ((uint)row >= M || (int)col >= N) return; ZERO; LOOP ADD;
        EACH {{ int2 at = coop_mat_get_coord(s, i); s[i] += D[N * ((int)row + at.x) + (int)col + at.y]; }}
        STORE;""", adds=True),
    "with a way for whole tiles": Form(f"""{INTS} if (row >= M || col >= N) return; ZERO; LOOP ADD;
        if (row + 16 <= M && col + 16 <= N) STORE; else s[0] = 1, coop_mat_store(C, s, ROW, N);""", passes=False),
    "one way only": Form(f"{INTS} if (row >= M) return; WORK;", both=False),
    "sub-groups in a row": Form("int row = get_group_id(1) * 16, col = (get_group_id(0) * 4 + get_sub_group_id()) * 16;"
                                "if (row >= M || col >= N) return; WORK;", (64, 1), (4, 1)),
    "sub-groups of a square": Form(
        """int row = (get_group_id(1) * 2 + get_sub_group_id() / 2) * 16;
        int col = (get_group_id(0) * 2 + get_sub_group_id() % 2) * 16;
        if (row >= M || col >= N) return; WORK;""", (64, 1), (2, 2), passes=False),
    "sub-groups of two axes": Form("int row = get_global_id(1) * 16, col = get_global_id(0) / 16 * 16;"
                                   "if (row < M && col < N) { WORK; }", (32, 2), (2, 2)),
    "work-groups of sub-groups": Form(
        """int row = get_group_id(1) * 16, col = get_group_id(0) * 48; if (row >= M || col >= N) return;
        col += get_sub_group_id() * 16; WORK;""", (48, 1), (3, 1)),
    "of numbered tiles": Form("""uint t = get_group_id(0), across = N / 16; if (t >= M / 16 * across) return;
        int row = t / across * 16, col = t % across * 16; WORK;""", tiles=None, passes=False),
}
"""Ways to say which work-groups have a tile."""
ASKED = ("of numbered tiles", "with a way for whole tiles")
"""Those that are merged if the launch has a tile at all."""


def compiled(body: str, element: str = "char", device: cm.Device | str | None = None) -> cm.Program:
    _, sums, _, flags = TYPES[element]
    return cm.build(PRELUDE.replace("BODY", body), (f"-DIN={element}", f"-DOUT={sums}", f"-DFLAGS={flags}"),
                    device=device)


def launched(kernel: cm.Kernel, device: cm.Device | str, groups: tuple[int, int], items: tuple[int, int],
             operands: list[np.ndarray], sizes: tuple[int, int, int], more: tuple[int, ...] = ()) -> np.ndarray:
    """What a kernel makes of C."""
    a, b, d = operands
    out = np.full(d.shape, BEFORE, d.dtype)
    (x, y), (width, height) = groups, items
    cm.Queue(device).enqueue(kernel, (x * width, y * height), items, a, b, out, d, *sizes, *more).wait()
    return out


def groups_of(form: Form, more: tuple[int, int]) -> tuple[int, int]:
    """The work-groups of a launch with more than there are tiles."""
    if form.tiles is None:
        return DOWN * ACROSS + more[0], 1
    x, y = (-(-count // own) + rest for count, own, rest in zip((ACROSS, DOWN), form.tiles, more, strict=True))
    return (x if form.both else ACROSS), y


LAUNCHES = ((0, 0), True), ((1, 3), True), ((0, 0), False)
"""How many more work-groups there are than tiles along x and y, and whether there are any tiles."""


@pytest.mark.thinned(2)
@pytest.mark.parametrize("form", FORMS)
def test_results(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the CPU, merged as one likes and as it likes, and the transformed module in the simulator."""
    compare(form, "char", monkeypatch)


@pytest.mark.parametrize("element", ["half", "__bf16", "float"])
def test_types(element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare("around all", element, monkeypatch, merges=("2x3",))


def compare(form: str, element: str, monkeypatch: pytest.MonkeyPatch, merges: tuple[str, ...] = ("2x3", "")) -> None:
    """Launch a kernel with as many work-groups as tiles, with more, and where there are no tiles."""
    one, (dtype, _, sums, _) = FORMS[form], TYPES[element]
    m, n, rng = DOWN * 16, ACROSS * 16, np.random.default_rng(len(form))
    a, b, d = (rng.integers(-4, 5, shape) for shape in ((m, K), (K, n), (m, n)))
    expected, operands = a @ b + (d if one.adds else 0), [a.astype(dtype), b.astype(dtype), d.astype(sums)]
    for merge in merges:
        monkeypatch.setenv(VARIABLE, merge)
        device = cm.device("cpu")
        program = compiled(one.body, element, device)
        for more, is_any in LAUNCHES if merge else LAUNCHES[1:2]:
            found = launched(program.kernel("k"), device, groups_of(one, more), one.items, operands,
                             (m if is_any else 0, n, K))
            np.testing.assert_array_equal(found, expected if is_any else BEFORE, merge)
            said = "\n".join(device.explanation(program.load(device)))
            assert "neighbouring work-groups are one" in said or (not is_any and form in ASKED), said
    if not one.passes:
        return
    changed = merged(compiled(one.body, element).module, one.items)
    grid, in_simulator = merged_of(changed)["k"], cm.build(changed.to_bytes()).kernel("k")
    for more, is_any in LAUNCHES:
        groups = (*groups_of(one, more), 1)
        x, y, _ = grid.group_counts(groups)
        found = launched(in_simulator, "sim:generic", (x, y), (SIZE, 1), operands, (m if is_any else 0, n, K),
                         grid.given(groups))
        np.testing.assert_array_equal(found, expected if is_any else BEFORE)


def merged(module: Module, items: tuple[int, int]) -> Module:
    """A module after the pass."""
    changed, _ = transform(module, chosen(["merge"]), Goal(cm.device("sim:generic").description, merge=(2, 2),
                                                           work_group=(*items, 1)))
    assert changed.validate() == []
    return Module.from_bytes(changed.to_bytes())


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("form", [form for form, one in FORMS.items() if one.passes])
def test_spirv_val_accepts_them(form: str, tmp_path: Path) -> None:
    tool = spirv_val()
    assert tool is not None
    changed = plain(merged(compiled(FORMS[form].body).module, FORMS[form].items))
    (tmp_path / "merged.spv").write_bytes(changed.to_bytes())
    found = subprocess.run([tool, tmp_path / "merged.spv"], capture_output=True, check=False)
    assert found.returncode == 0, found.stderr.decode()


# ------------------------------------------------------------------ in Python


@kernel(sub_group_size=16)
def returning(item: nd_item[2], A: ptr[bfloat16], B: ptr[bfloat16], C: ptr[float32], M: int, N: int, K: int):
    """An early return."""
    sg, r, c = item.get_sub_group(), item.get_group(0) * 16, item.get_group(1) * 16
    if r >= M or c >= N:
        return
    a = joint_matrix(sub_group, bfloat16, use.a, 16, 32, layout.row_major)
    b = joint_matrix(sub_group, bfloat16, use.b, 32, 16, layout.row_major)
    s = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
    joint_matrix_fill(sg, s, 0)
    for k in range(0, K, 32):
        joint_matrix_load(sg, a, A + r * K + k, K)
        joint_matrix_load(sg, b, B + k * N + c, N)
        joint_matrix_mad(sg, s, a, b, s)
    joint_matrix_store(sg, s, C + r * N + c, N, layout.row_major)


@kernel(sub_group_size=16)
def around(item: nd_item[2], A: ptr[bfloat16], B: ptr[bfloat16], C: ptr[float32], M: int, N: int, K: int):
    """A branch around all, and checked accesses."""
    sg, y, x = item.get_sub_group(), item.get_group(0), item.get_group(1)
    if y < (M + 15) // 16 and x < (N + 15) // 16:
        a = joint_matrix(sub_group, bfloat16, use.a, 16, 32, layout.row_major)
        b = joint_matrix(sub_group, bfloat16, use.b, 32, 16, layout.row_major)
        s = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
        joint_matrix_fill(sg, s, 0)
        for k in range(0, K, 32):
            joint_matrix_load_checked(sg, a, A, K, M, K, y * 16, k)
            joint_matrix_load_checked(sg, b, B, N, K, N, k, x * 16)
            joint_matrix_mad(sg, s, a, b, s)
        joint_matrix_store_checked(sg, s, C, N, layout.row_major, M, N, y * 16, x * 16)


@pytest.mark.parametrize("rounded", [1, 2, 4, 8])
@pytest.mark.parametrize(("form", "missing"), [(returning, 0), (around, 0), (around, 5)], ids=str)
def test_python(form: kernel, missing: int, rounded: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grids of whole numbers of tiles."""
    m, n = DOWN * 16 - missing, ACROSS * 16 - missing
    rng, groups = np.random.default_rng(0), [-(-count // rounded) * rounded for count in (DOWN, ACROSS)]
    a, b = (rng.integers(-4, 5, shape) for shape in ((m, K), (K, n)))
    for merge in ("3x2", "0") if rounded > 1 else ("3x2", ""):
        monkeypatch.setenv(VARIABLE, merge)
        device, out = cm.device("cpu"), np.full((m, n), BEFORE, np.float32)
        cm.Queue(device).parallel_for(nd_range((groups[0], groups[1] * SIZE), (1, SIZE)), form,
                                      a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16), out, m, n, K).wait()
        np.testing.assert_array_equal(out, a @ b, merge)


# ------------------------------------------------------------------ what is none


REFUSED = {
    "something is stored before": (f"{INTS} ZERO; STORE; if (row >= M) return; LOOP ADD; STORE;",
                                   "beyond a limit"),
    "something is stored beyond": (f"{INTS} ZERO; if (row < M) {{ LOOP ADD; }} STORE;", "beyond a limit"),
    "it is for the last ones": (f"{INTS} if (row < M - 32) return; WORK;", "beyond a limit"),
    "of two axes": (f"{INTS} if (row + col >= M) return; WORK;", "beyond a limit"),
    "of one and the other": (f"{INTS} if (row >= M && col >= N) return; WORK;", "beyond a limit"),
    "only at times": (f"{INTS} if (K > 32 && row >= M) {{ ZERO; STORE; return; }} WORK;", "beyond a limit"),
    "that memory tells": (f"{INTS} if (row >= (int)D[0]) return; WORK;", "a branch depends on"),
    "above the diagonal": (f"{INTS} if (col > row) return; WORK;", "a branch depends on"),
}
"""Branches that do not leave the first work-groups along an axis → the body, and what is said of a launch with more
work-groups."""


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_none(form: str) -> None:
    """It runs as it is, and the line is named."""
    body, said = REFUSED[form]
    limits = guarded(compiled(body).module).limits
    assert not limits
    device = cm.device("cpu")
    program = compiled(body, device=device)
    m, n = DOWN * 16, ACROSS * 16
    operands = [np.ones((m + 16, K), np.int8), np.ones((K, n), np.int8), np.full((m + 16, n), m, np.int32)]
    as_it_is = cm.build(PRELUDE.replace("BODY", body), ("-DIN=char", "-DOUT=int", "-DFLAGS=15",
                                                        "-coopmat-schedule=block:none"), device=device)
    found, wanted = (launched(one.kernel("k"), device, (ACROSS, DOWN + 1), (SIZE, 1), operands, (m, n, K))
                     for one in (program, as_it_is))
    np.testing.assert_array_equal(found, wanted)
    launched(program.kernel("k"), device, (ACROSS, DOWN + 1), (SIZE, 1), operands, (m, n, K))
    explained = "\n".join(device.explanation(program.load(device)))
    assert f"not merged: {said}" in explained.replace("work-groups of the launch are ", "") or form in _ALONG_ONE
    line = PRELUDE.replace("BODY", body)[:PRELUDE.index("BODY")].count("\n") + 1
    assert f"(<source>:{line})" in explained or form in _ALONG_ONE, explained


_ALONG_ONE = ("that memory tells",)
"""Of which work-groups along the other axis are merged."""


def guarded(module: Module) -> Guarded:
    return without_guards(with_values(module, element_loops=False), "k", (SIZE, 1, 1), SIZE)


@pytest.mark.parametrize(("limit", "counts"), [("M / 2", True), ("M / -2", False), ("M - M % 16", True)])
def test_divisors_are_positive(limit: str, counts: bool) -> None:
    assert bool(guarded(compiled(f"{INTS} if (row >= {limit}) return; WORK;").module).limits) == counts


def test_numbers_that_wrap_around() -> None:
    """A limit that is negative is a large one to numbers without a sign, and the kernel runs as it is."""
    device = cm.device("cpu")
    program = compiled(f"{SIZES} if (row >= (size_t)M || col >= (size_t)N) return; WORK;", device=device)
    rng, n = np.random.default_rng(0), ACROSS * 16
    a, b = (rng.integers(-4, 5, shape).astype(np.int8) for shape in ((DOWN * 16, K), (K, n)))
    operands = [a, b, np.zeros((DOWN * 16, n), np.int32)]
    for m, said in ((-1, "that says where a matrix lies wraps around, or is negative (<source>:"),
                    (DOWN * 16, "neighbouring work-groups are one")):
        found = launched(program.kernel("k"), device, (ACROSS, DOWN), (SIZE, 1), operands, (m, n, K))
        np.testing.assert_array_equal(found, a.astype(np.int32) @ b)
        assert said in "\n".join(device.explanation(program.load(device)))


@pytest.mark.parametrize("guard", ["uint left = M - row; if (left > (uint)M) return;",
                                   "if ((uint)(row - 16) >= (uint)M) return;"])
def test_differences_that_wrap_around(guard: str) -> None:
    """A limit that is in a difference without a sign keeps out what lies before it, too."""
    device = cm.device("cpu")
    rows, n = (DOWN + 2) * 16, ACROSS * 16
    rng, body = np.random.default_rng(0), f"{INTS} {guard} WORK;"
    a, b = (rng.integers(-4, 5, shape).astype(np.int8) for shape in ((rows, K), (K, n)))
    found = launched(compiled(body, device=device).kernel("k"), device, (ACROSS, DOWN + 2), (SIZE, 1),
                     [a, b, np.zeros((rows, n), np.int32)], (DOWN * 16, n, K))
    first = 0 if "left" in guard else 16
    last = first + DOWN * 16 + (16 if "left" in guard else 0)  # of what is as large as M, one tile more
    expected = np.full((rows, n), BEFORE)
    expected[first:last] = (a.astype(np.int32) @ b)[first:last]
    np.testing.assert_array_equal(found, expected)


# ------------------------------------------------------------------ how many there were


COUNTED = {
    "a stride": (f"{SIZES} ZERO; LOOP ADD; "
                 "coop_mat_store(C + row * get_num_groups(0) * 16 + col, s, ROW, get_num_groups(0) * 16);", (SIZE, 1)),
    "of work-items": (f"{SIZES} ZERO; LOOP ADD; int n = get_global_size(0);"
                      "coop_mat_store(C + n * (int)row + col, s, ROW, n);", (SIZE, 1)),
    "of work-groups of sub-groups": (
        """size_t row = get_group_id(1) * 16, col = (get_group_id(0) * 3 + get_sub_group_id()) * 16; ZERO; LOOP ADD;
        coop_mat_store(C + row * get_num_groups(0) * 48 + col, s, ROW, get_num_groups(0) * 48);""", (3 * SIZE, 1)),
    "in a function of elements": (
        f"""{SIZES} ZERO; LOOP ADD; EACH {{
            int2 at = coop_mat_get_coord(s, i);
            s[i] += D[(row + at.x) * get_num_groups(0) * 16 + col + at.y] + (int)get_num_groups(1) - {DOWN};
        }} STORE;""", (SIZE, 1)),
}
"""Kernels that ask how many work-groups there are, with the work-items of one."""


@pytest.mark.parametrize("form", COUNTED)
def test_numbers_of_groups(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body, items = COUNTED[form]
    m, n, rng = DOWN * 16, ACROSS * 16, np.random.default_rng(0)
    a, b, d = (rng.integers(-4, 5, shape) for shape in ((m, K), (K, n), (m, n)))
    operands, expected = [a.astype(np.int8), b.astype(np.int8), d.astype(np.int32)], a @ b + d * ("elements" in form)
    groups = (n // items[0], DOWN)
    for merge in ("", "2x2"):
        monkeypatch.setenv(VARIABLE, merge)
        device = cm.device("cpu")
        program = compiled(body, device=device)
        found = launched(program.kernel("k"), device, groups, items, operands, (m, n, K))
        np.testing.assert_array_equal(found, expected)
        assert "neighbouring work-groups are one" in "\n".join(device.explanation(program.load(device)))
    changed = merged(compiled(body).module, items)
    grid = merged_of(changed)["k"]
    x, y, _ = grid.group_counts((*groups, 1))
    found = launched(cm.build(changed.to_bytes()).kernel("k"), "sim:generic", (x, y), (SIZE, 1), operands, (m, n, K),
                     grid.given((*groups, 1)))
    np.testing.assert_array_equal(found, expected)
