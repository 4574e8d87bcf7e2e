"""Kernels that store their sums element by element, at places computed from coordinates: work-groups are merged where
that is what a store of a matrix does, and the results are numpy's."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.merge import merged_of
from coopmat.spirv.transform.passes import chosen, transform
from coopmat.targets.cpu.merging import VARIABLE
from tests.spirv.transform.test_merge import plain

SOURCE = """
#define M(T, rows, columns, use) \\
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define AT int2 at = coop_mat_get_coord(c, i)
#define EACH for (int i = 0; i < coop_mat_length(c); i++)
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const char *A, global const char *B, global const float *scale, global OUT *C, global float *D,
              int m, int n, int depth)
{
    PLACE
    M(int, 16, 16, ACCUMULATOR) c = coop_mat_init(0);
    for (int at = 0; at < depth; at += 32) {
        M(char, 16, 32, A) a = coop_mat_load(A + row * depth + at, ROW, depth);
        M(char, 32, 16, B) b = coop_mat_load(B + at * n + column, ROW, n);
        c = coop_matmul_add(a, b, c, 15);
    }
    BODY
}
"""
PLACE = "const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;"
INTS = "const int row = get_group_id(1) * 16, column = get_group_id(0) * 16;"
LINE = next(number for number, text in enumerate(SOURCE.splitlines(), 1) if "BODY" in text)
ROWS, COLUMNS, DEPTH = 80, 112, 96
Numbers = np.ndarray
Wanted = Callable[[Numbers, Numbers, Numbers], tuple[Numbers, Numbers]]
"""C and D, given the sums, the scales of columns, and what was in C."""


def scaled(sums: Numbers, scale: Numbers) -> Numbers:
    return sums.astype(np.float32) * scale


def quantized(sums: Numbers, scale: Numbers, before: Numbers) -> tuple[Numbers, Numbers]:
    return np.clip(np.rint(scaled(sums, scale)), -128, 127).astype(np.int8), np.zeros_like(sums, np.float32)


def below(rows: int, columns: int) -> Wanted:
    """The sums in some rows and columns only."""
    inside = (np.arange(ROWS) < rows)[:, None] & (np.arange(COLUMNS) < columns)
    return lambda sums, scale, before: (np.where(inside, sums, before), np.zeros(sums.shape, np.float32))


SUM = "C[(row + at.x) * n + column + at.y] = c[i]"
CHAR = "C[(row + at.x) * n + column + at.y] = convert_char_sat(convert_int_rte(c[i] * scale[column + at.y]));"
FORMS: dict[str, tuple[str, str, str, Wanted]] = {
    "bytes": ("char", PLACE, f"EACH {{ AT; {CHAR} }}", quantized),
    "in ints": ("char", INTS, f"EACH {{ AT; {CHAR} }}", quantized),
    "a constant": ("char", PLACE, f"for (int i = 0; i < 16; i++) {{ AT; {CHAR} }}", quantized),
    "by columns": ("float", PLACE, "EACH { AT; C[(column + at.y) * m + row + at.x] = c[i] * scale[column + at.y]; }",
                   lambda sums, scale, before: (scaled(sums, scale).T.reshape(sums.shape), np.zeros_like(before))),
    "two arrays": ("int", PLACE, """EACH { AT; size_t p = (row + at.x) * n + column + at.y;
                   C[p] = c[i] + 1; D[p] = (float)(c[i] - n); }""",
                   lambda sums, scale, before: (sums + 1, (sums - COLUMNS).astype(np.float32))),
    "a branch inside": ("int", PLACE, """EACH { AT; int s = c[i]; if (s < 0) s = -2 * s;
                        C[(row + at.x) * n + column + at.y] = s; }""",
                        lambda sums, scale, before: (np.where(sums < 0, -2 * sums, sums),
                                                     np.zeros(sums.shape, np.float32))),
    "below limits": ("int", INTS, f"EACH {{ AT; if (row + at.x < m - 5 && column + at.y < n - 18) {SUM}; }}",
                     below(ROWS - 5, COLUMNS - 18)),
    "some rows": ("int", PLACE, f"EACH {{ AT; if (row + at.x >= m - 37) continue; {SUM}; }}",
                  below(ROWS - 37, COLUMNS)),
    "one in another": ("int", PLACE, f"EACH {{ AT; if (column + at.y < n - 50) if (row + at.x <= m - 40) {SUM}; }}",
                       below(ROWS - 39, COLUMNS - 50)),
    "neither beyond": ("int", INTS, f"EACH {{ AT; if (!(m <= row + at.x || at.y + column > n - 5)) {SUM}; }}",
                       below(ROWS, COLUMNS - 4)),
    "three conditions": ("int", PLACE, f"""EACH {{ AT; size_t x = row + at.x, y = column + at.y;
                         if (x < m - 33 && y < n - 22 && true) {{ if (x < m - 33) {SUM}; }} }}""",
                         below(ROWS - 33, COLUMNS - 22)),
    "a number beyond": ("int", INTS, f"""EACH {{ AT; int s = 0; if (row + at.x < m - 3) s = (int)scale[row + at.x];
                        if (row + at.x < m - 3) {SUM} + s; }}""", below(ROWS - 3, COLUMNS)),
    "limits of columns": ("int", INTS, """EACH { AT; if (column + at.y < n - 9 && row + at.x < m - 20)
                          C[(column + at.y) * m + row + at.x] = c[i]; }""", lambda sums, scale, before: (
        np.where((np.arange(COLUMNS) < COLUMNS - 9)[:, None] & (np.arange(ROWS) < ROWS - 20), sums.T,
                 before.reshape(COLUMNS, ROWS)).reshape(before.shape), np.zeros(sums.shape, np.float32))),
}
REFUSED = {
    "not all": ("EACH { AT; if (at.x < 9) C[(row + at.x) * n + column + at.y] = c[i]; }", "not all of a matrix are"),
    "from a limit on": (f"EACH {{ AT; if (at.x + row >= m - 9) {SUM}; }}", "not all of a matrix are"),
    "below the diagonal": (f"EACH {{ AT; if (at.x + row < at.y + column) {SUM}; }}", "not all of a matrix are"),
    "below a number": (f"EACH {{ AT; if (at.x + row < (size_t)scale[0]) {SUM}; }}", "not all of a matrix are"),
    "one or the other": (f"EACH {{ AT; if (at.x + row < m - 2 || at.y + column < n - 2) {SUM}; }}",
                         "not all of a matrix are"),
    "two limits": (f"EACH {{ AT; if (at.x + row < m - 2 && at.x + row < n) {SUM}; }}", "not all of a matrix are"),
    "and more": (f"EACH {{ AT; if (at.x + row < m - 2 && c[i] > 0) {SUM}; }}", "not all of a matrix are"),
    "half": (f"EACH {{ AT; if (at.y + column < n / 2) {SUM}; }}", "not all of a matrix are"),
    "one row up": ("EACH { AT; if (at.x + row - 1 < m && at.x + row >= 1) C[(row + at.x - 1) * n + at.y] = c[i]; }",
                   "not all of a matrix are"),
    "far apart": ("EACH { AT; C[(row + at.x) * n + (column + at.y) * 2 % n] = c[i]; }",
                  "their places are not those of"),
    "close": ("EACH { AT; C[at.x * 4 + at.y] = c[i]; }", "lines of what is stored element by element overlap"),
    "the component": ("EACH { AT; C[(row + at.x) * n + column + at.y + i] = c[i]; }", "their places are not those of"),
    "what was there": ("EACH { AT; size_t p = (row + at.x) * n + column + at.y; C[p] = 3 * C[p] + c[i]; }",
                       "this may be memory that is stored to"),
    "read by others": ("EACH { AT; C[(row + at.x) * n + column + at.y] = c[i] + C[0]; }",
                       "this may be memory that is stored to"),
    "read afterwards": ("""EACH { AT; size_t p = (row + at.x) * n + column + at.y; C[p] = c[i]; D[p] = C[p]; }""",
                        "this may be memory that is stored to"),
}


def built(out: str, place: str, body: str) -> cm.Program:
    return cm.build(SOURCE.replace("PLACE", place).replace("BODY", " ".join(body.split())), f"-DOUT={out}")


def given(out: str) -> list[Numbers]:
    """A, B, the scales, C and D."""
    rng = np.random.default_rng(5)
    kind = {"char": np.int8, "int": np.int32, "float": np.float32}[out]
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((ROWS, DEPTH), (DEPTH, COLUMNS)))
    c = rng.integers(-9, 9, (ROWS, COLUMNS)).astype(kind)
    return [a, b, rng.random(COLUMNS, np.float32) / 512, c, np.zeros((ROWS, COLUMNS), np.float32)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("merge", ["", "0", "2x4", "3x2"])
@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str, merge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are merged, and give what numpy does, with rests of blocks, too."""
    monkeypatch.setenv(VARIABLE, merge)
    out, place, body, wanted = FORMS[form]
    numbers, device = given(out), cm.device("cpu")
    a, b, scale, c, d = numbers
    expected = wanted(a.astype(np.int32) @ b, scale, c)
    program = built(out, place, body)
    cm.Queue(device).enqueue(program.kernel("k"), (COLUMNS, ROWS // 16), (16, 1), *numbers, ROWS, COLUMNS, DEPTH).wait()
    np.testing.assert_array_equal(c, expected[0])
    np.testing.assert_array_equal(d, expected[1])
    said = "\n".join(device.explanation(program.load(device)))
    assert ("neighbouring work-groups are one" in said) == (merge != "0"), said


def merged(form: str) -> Module:
    out, place, body, _ = FORMS[form]
    goal = Goal(cm.device("sim:generic").description, merge=(2, 3), work_group=(16, 1, 1))
    module, notes = transform(built(out, place, body).module, chosen(["merge"]), goal)
    assert "k" in merged_of(module), notes
    assert module.validate() == []
    return module


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("form", FORMS)
def test_spirv_val_accepts_what_is_merged(form: str) -> None:
    """All but checked accesses, which SPIRV-Tools does not know."""
    found = subprocess.run(["spirv-val", "-"], input=plain(merged(form)).to_bytes(), capture_output=True, check=False)
    assert found.returncode == 0, found.stderr.decode()


@pytest.mark.parametrize("form", FORMS)
def test_merged_modules(form: str) -> None:
    """In the simulator with all checks."""
    out, _, _, wanted = FORMS[form]
    module = merged(form)
    numbers, groups, grid = given(out), (COLUMNS // 16, ROWS // 16, 1), merged_of(module)["k"]
    a, b, scale, c, d = numbers
    expected, counts = wanted(a.astype(np.int32) @ b, scale, c), grid.group_counts(groups)
    cm.Queue("sim:generic").enqueue(cm.build(module.to_bytes()).kernel("k"), (counts[0] * 16, *counts[1:]), (16, 1, 1),
                                    *numbers, ROWS, COLUMNS, DEPTH, *grid.given(groups)).wait()
    np.testing.assert_array_equal(c, expected[0])
    np.testing.assert_array_equal(d, expected[1])


@pytest.mark.parametrize("form", REFUSED)
def test_refused(form: str) -> None:
    """Each with its reason, and the line of the store, or of what is read."""
    body, reason = REFUSED[form]
    module, notes = transform(built("int", PLACE, body).module, chosen(["merge"]), Goal(
        cm.device("sim:generic").description, work_group=(16, 1, 1)))
    assert not merged_of(module)
    assert re.search(rf"elements are stored one by one, and {re.escape(reason)}.*:{LINE}\)", "\n".join(map(str, notes)))


LONG, SHORT = np.uint64, np.uint32
Inside = Callable[[Numbers, Numbers], Numbers]
LIMITS: dict[str, tuple[str, int, bool, Inside]] = {
    "row + at.x < (size_t)m": (PLACE, 50, True, lambda row, column: row.astype(LONG) < 50),
    "row + at.x < (size_t)(m + 0)": (PLACE, -1, False, lambda row, column: row >= 0),
    "(uint)(row + at.x) < (uint)m": (INTS, 50, True, lambda row, column: row < 50),
    "at.x < m - row": (INTS, 20, True, lambda row, column: row < 20),
    "at.x < (size_t)m - row": (PLACE, 20, False, lambda row, column: (row % 16).astype(LONG) < (
        LONG(20) - (row // 16 * 16).astype(LONG))),
    "row + at.x - 5 < (size_t)m": (PLACE, 50, False, lambda row, column: row.astype(LONG) - LONG(5) < LONG(50)),
    "column + at.y - (size_t)5 < (size_t)m": (PLACE, 50, False, lambda row, column: column.astype(LONG) - LONG(5) < 50),
    "row + at.x <= (size_t)m - 1": (PLACE, 0, False, lambda row, column: row >= 0),
    "(size_t)m - 1 >= row + at.x": (PLACE, 0, False, lambda row, column: row >= 0),
    "(uint)(row + at.x - 3) < (uint)m": (INTS, 50, False, lambda row, column: row.astype(SHORT) - SHORT(3) < 50),
    "(uint)(row + at.x + m) < 20u": (INTS, -20, False, lambda row, column: row.astype(SHORT) - SHORT(20) < 20),
    "(uint)(row + at.x) <= (uint)m - 1": (INTS, 0, False, lambda row, column: row >= 0),
    "row + at.x - 3 < m": (INTS, 50, True, lambda row, column: row < 53),
}
"""Conditions, m, whether the kernel is merged, and which elements are stored."""


@pytest.mark.parametrize("condition", LIMITS)
def test_numbers_that_wrap_around(condition: str) -> None:
    """Numbers without a sign below zero are large ones."""
    (place, m, is_merged, inside), numbers, device = LIMITS[condition], given("int"), cm.device("cpu")
    source = built("int", place, f"EACH {{ AT; if ({condition}) {SUM}; }}")
    program = cm.build(source.module.to_bytes(), device=device)
    row, column = np.mgrid[:ROWS, :COLUMNS]
    wanted = np.where(inside(row, column), numbers[0].astype(np.int32) @ numbers[1], numbers[3])
    cm.Queue(device).enqueue(program.kernel("k"), (COLUMNS, ROWS // 16), (16, 1), *numbers, m, COLUMNS, DEPTH).wait()
    np.testing.assert_array_equal(numbers[3], wanted)
    assert ("neighbouring work-groups are one" in program.explanation) == is_merged, program.explanation


def test_a_negative_limit() -> None:
    """Nothing is stored, by the kernel as it is."""
    numbers, device = given("int"), cm.device("cpu")
    program = cm.build(built("int", INTS, FORMS["below limits"][2]).module.to_bytes(), device=device)
    before = numbers[3].copy()
    cm.Queue(device).enqueue(program.kernel("k"), (COLUMNS, ROWS // 16), (16, 1), *numbers, 4, COLUMNS, DEPTH).wait()
    np.testing.assert_array_equal(numbers[3], before)
    assert re.search(r"not merged: .*negative.* \(<source>:\d+\)", program.explanation)


def test_launches_that_stay_as_they_are() -> None:
    """What a work-item reads may be what it has stored before, or lines may overlap: that shows when it is launched."""
    device, body = cm.device("cpu"), "EACH { AT; C[at.x * m + column + at.y] = scale[at.y] + c[i]; }"
    a, b, *_ = given("float")
    program = built("float", PLACE, body)
    for shared, lines, reason in ((False, COLUMNS, "neighbouring work-groups are one"), (True, COLUMNS, "share memory"),
                                  (False, 12, "lines of what is stored element by element overlap")):
        c = np.ones((16, COLUMNS), np.float32)
        scale = c if shared else np.ones(16, np.float32)
        cm.Queue(device).enqueue(program.kernel("k"), (COLUMNS, 1), (16, 1), a, b, scale, c, np.zeros(1, np.float32),
                                 lines, COLUMNS, DEPTH).wait()
        said = "\n".join(device.explanation(program.load(device)))
        assert reason in said
        if not shared and lines == COLUMNS:
            np.testing.assert_array_equal(c, a[:16].astype(np.int32) @ b + np.float32(1))
