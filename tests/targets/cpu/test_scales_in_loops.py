"""Quantised products whose scales count for groups of K, in the loop, are merged, and give numpy's numbers: weights of
8 and 4 bits that are scaled before they are multiplied, and sums of integers that are scaled group by group."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.merge import merged_of
from coopmat.spirv.transform.passes import chosen, transform
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.cpu.merging import VARIABLE
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.targets.processors import processor

SOURCE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define M(T, rows, columns, use) \\
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define EACH(m) for (int i = 0; i < coop_mat_length(m); i++)
constant float TABLE[] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const IN *A, global const WORD *B, global const float *rows, global const float *scale,
              global float *C, int n, int depth)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    M(float, 16, 16, ACCUMULATOR) c = coop_mat_init(0);
    LOOP
    coop_mat_store(C + row * n + column, c, ROW, n);
}
"""
SCALED = """
for (int k = 0; k < depth; k += 16) {
    M(half, 16, 16, A) a = coop_mat_load(A + row * depth + k, ROW, depth);
    M(half, 16, 16, B) b;
    BEFORE
    EACH(b) { int2 at = coop_mat_get_coord(b, i); b[i] = WEIGHT; }
    c = coop_matmul_add(a, b, c, 0);
}"""
LOADED = "M(WORD, 16, 16, B) w = coop_mat_load(B + (size_t)k * n + column, ROW, n);"
WORDS = "(int)(B[(size_t)((k + at.x) / 8) * n + column + at.y] >> 4 * ((k + at.x) % 8) & 15)"
SUMS = """
M(int, 16, 16, ACCUMULATOR) sum = coop_mat_init(0);
for (HERE) {
    M(char, 16, 32, A) a = coop_mat_load(A + row * depth + (FROM), ROW, depth);
    M(char, 32, 16, B) b = coop_mat_load(B + (size_t)(FROM) * n + column, ROW, n);
    sum = coop_matmul_add(a, b, sum, 15);
}
EACH(c) {
    int2 at = coop_mat_get_coord(c, i);
    c[i] += sum[i] * (rows[row + at.x] * scale[(GROUP) * n + column + at.y]); }
"""


def scaled(before: str, weight: str) -> str:
    return SCALED.replace("BEFORE", before).replace("WEIGHT", weight)


def sums(loop: str, here: str, at: str, group: str) -> str:
    return f"for ({loop}) {{ {SUMS.replace('HERE', here).replace('FROM', at).replace('GROUP', group)} }}"


FORMS = {
    "bytes": ("half", "char", scaled(LOADED, "(half)(w[i] * scale[(size_t)(k / 64) * n + column + at.y])")),
    "bytes, by each row": ("half", "char", scaled(LOADED, "(half)(w[i] * scale[(k + at.x) / 64 * n + column + at.y])")),
    "bytes, by a pointer": ("half", "char", scaled(
        f"{LOADED} global const float *s = scale + (size_t)(k / 64) * n + column;", "(half)(w[i] * s[at.y])")),
    "bytes, less a number": ("half", "uchar", scaled(LOADED, "(half)((w[i] - 8) * scale[k / 64 * n + column + at.y])")),
    "halves of bytes": ("half", "uchar", scaled(
        LOADED, "(half)(((w[i] & 15) - 8) * (half)scale[k / 64 * n + column + at.y])")),
    "numbers of a table": ("half", "uchar", scaled(
        LOADED, "(half)(TABLE[w[i]] * scale[k / 64 * n + column + at.y])")),
    "16 bits, in halves": ("half", "short", scaled(
        LOADED, "(half)(w[i] / 256) * (half)scale[k / 64 * n + column + at.y]")),
    "choices": ("half", "short", scaled(
        LOADED, "0; if (w[i] < 0) b[i] = -(half)(scale[k / 64 * n + column + at.y] * (-w[i] >> 8)); "
                "else b[i] = (half)(scale[k / 64 * n + column + at.y] * (w[i] >> 8))")),
    "16 bits": ("half", "short", scaled(LOADED, "(half)((w[i] / 256) * scale[k / 64 * n + column + at.y])")),
    "words": ("half", "uint", scaled("", f"(half)(({WORDS} - 8) * scale[(k + at.x) / 64 * n + column + at.y])")),
    "32 bits": ("half", "int", scaled(LOADED, "(half)((float)(w[i] / 65536) * scale[k / 64 * n + column + at.y])")),
    "sums by groups": ("char", "char", sums("int g = 0; g < depth / 64; g++",
                                            "int k = g * 64; k < (g + 1) * 64; k += 32", "k", "g")),
    "sums within groups": ("char", "char", sums("int g = 0; g < depth; g += 64", "int k = 0; k < 64; k += 32", "g + k",
                                                "g / 64")),
}
"""Types of A and of B's words, and what the kernel does."""
DTYPES = {"uchar": np.uint8, "short": np.int16, "int": np.int32}
ROWS, COLUMNS, DEPTH, GROUP = 80, 112, 192, 64


def given(of_a: str, word: str) -> tuple[list[np.ndarray], np.ndarray]:
    """A, B, the scales of rows and of columns, and C, and what C must be: sums that floats hold exactly."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 8, shape) for shape in ((ROWS, DEPTH), (DEPTH, COLUMNS)))
    scale, rows = (np.exp2(rng.integers(-3, 1, shape)).astype(np.float32)
                   for shape in ((DEPTH // GROUP, COLUMNS), (ROWS,)))
    wanted = a @ (b * np.repeat(scale, GROUP, axis=0)) * (rows[:, None] if of_a == "char" else 1)
    stored = {"uchar": b + 8, "short": b * 256, "int": b * 65536}.get(word, b).astype(DTYPES.get(word, np.int8))
    if word == "uint":
        eights = (b + 8).astype(np.uint32).reshape(DEPTH // 8, 8, COLUMNS)
        stored = np.bitwise_or.reduce(eights << np.arange(0, 32, 4, dtype=np.uint32)[:, None], axis=1)
    kind = np.int8 if of_a == "char" else np.float16
    return [a.astype(kind), stored, rows, scale, np.zeros((ROWS, COLUMNS), np.float32)], wanted.astype(np.float32)


def built(form: str) -> cm.Program:
    of_a, word, loop = FORMS[form]
    return cm.build(SOURCE.replace("LOOP", " ".join(loop.split())), f"-DIN={of_a} -DWORD={word}")


@pytest.mark.parametrize("merge", ["", "0", "2x4"])
@pytest.mark.parametrize("form", FORMS)
def test_on_the_cpu(form: str, merge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged as is best, not at all, or as somebody says; a launch is left as it is only where that is faster."""
    monkeypatch.setenv(VARIABLE, merge)
    (numbers, wanted), program, device = given(*FORMS[form][:2]), built(form), cm.device("cpu")
    cm.Queue(device).enqueue(program.kernel("k"), (COLUMNS, ROWS // 16), (16, 1), *numbers, COLUMNS, DEPTH).wait()
    np.testing.assert_array_equal(numbers[-1], wanted)
    said = "\n".join(device.explanation(program.load(device)))
    assert not merge or ("neighbouring work-groups are one" in said) == (merge != "0"), said


@pytest.mark.parametrize(("form", "depth"), [("bytes", 256), ("bytes, by a pointer", GROUP), ("words", 256)])
def test_rounds_that_become_one(form: str, depth: int) -> None:
    """As many as a block takes, or as have the same scales where the loop says where these are."""
    program = CpuProgram(built(form).module, processor("avx2"), cm.CpuOptions(threads=1))
    signature = program.signatures["k"]
    geometry = Geometry.checked(signature, (1024, 64, 1), (16, 1, 1), None, 16)
    module = program.merged_form("k", program.variant(signature, geometry.local_size), geometry).merged.module
    product, = module.of_opcode(Op.CooperativeMatrixMulAddKHR)
    a = module.definition(module.definition(product.words[0]).type_id or 0)
    assert module.constant_value(a.words[3]) == depth


@pytest.mark.parametrize("form", FORMS)
def test_merged_modules(form: str) -> None:
    """In the simulator with all checks."""
    goal = Goal(cm.device("sim:generic").description, merge=(2, 3), work_group=(16, 1, 1))
    module, notes = transform(built(form).module, chosen(["merge"]), goal)
    assert "k" in merged_of(module), notes
    assert module.validate() == []
    (numbers, wanted), grid, groups = given(*FORMS[form][:2]), merged_of(module)["k"], (COLUMNS // 16, ROWS // 16, 1)
    counts = grid.group_counts(groups)
    cm.Queue("sim:generic").enqueue(cm.build(module.to_bytes()).kernel("k"), (counts[0] * 16, *counts[1:]), (16, 1, 1),
                                    *numbers, COLUMNS, DEPTH, *grid.given(groups)).wait()
    np.testing.assert_array_equal(numbers[-1], wanted)


@pytest.mark.parametrize(("weight", "reason"), [
    ("(half)(w[i] * (int)get_sub_group_local_id())", "asks which work-item runs it"),
    ("(half)(w[i] + i)", "uses their numbers, or whole matrices, otherwise"),
    ("(half)w[i]; if (b[i] > 1000) break", "is left early"),
    ("(half)w[coop_mat_length(w) - 1 - i]", "not only those of its own number")])
def test_why_a_loop_stays_one(weight: str, reason: str) -> None:
    """With the line of what it takes."""
    loop = " ".join(scaled(LOADED, weight).split())
    program, device = cm.build(SOURCE.replace("LOOP", loop), "-DIN=half -DWORD=char"), cm.device("cpu")
    numbers, _ = given("half", "char")
    cm.Queue(device).enqueue(program.kernel("k"), (COLUMNS, ROWS // 16), (16, 1), *numbers, COLUMNS, DEPTH).wait()
    said = next(line for line in device.explanation(program.load(device)) if "not merged" in line)
    assert "components of a matrix are taken one by one, in a loop " in said, said
    assert reason in said, said
    assert said.endswith("(<source>:14)"), said
