"""Operations on each element of large matrices, done together: the bits of small matrices, of which each operation is
done by itself, whatever lies in windows, and where loads and stores reach the same memory."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.merging import VARIABLE

PRELUDE = """
#define M_(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
typedef OUT tc M_(8, 16, ACCUMULATOR);
kernel void k(global const IN *A, global const IN *B, global RESULT *C, global const OUT *D, int M, int N, int K, OUT x)
{
    const int row = get_group_id(1) * 8, column = get_group_id(0) * 16;
    BEGIN
    tc s = coop_mat_init(0);
    for (int k = 0; k < K; k += 16)
        s = coop_matmul_add((IN M_(8, 16, A))coop_mat_load(A + row * K + k, ROW, K),
                            (IN M_(16, 16, B))coop_mat_load(B + k * N + column, ROW, N), s, FLAGS);
    END
}
"""
TYPES = {"char": ("int", np.int8, np.int32, 15, "short", np.int16),
         "half": ("float", np.float16, np.float32, 0, "half", np.float16),
         "double": ("double", np.float64, np.float64, 0, "float", np.float32)}
"""Type of A and B → that of sums, both in numpy, the operands that have a sign, another type of C, and in numpy."""
C, D = (f"coop_mat_load({name} + row * N + column, ROW, N)" for name in "CD")
STORE = "coop_mat_store(C + row * N + column, s, ROW, N);"
TOGETHER = "operations on each element of"
ENDS = {
    "alpha and beta": (f"tc c = {C}; s = s * x + c * (OUT)3; {STORE}", "together, and stored without a copy"),
    "added to another array": (f"tc d = {D}; s = (s + d) * x; {STORE}", TOGETHER),
    "squares": (f"tc t = s + {D}; s = t * t - s; {STORE}".replace("s + coop", "s + (tc)coop"), TOGETHER),
    "stored twice": (f"s = s * x * x; {STORE} tc d = {D}; s = s + d; {STORE}", TOGETHER),
    "divided": (f"tc t = coop_mat_init((OUT)7); s = s * x / t; {STORE}", "together, and stored without a copy"),
    "what is stored is loaded": (f"s = s * x; {STORE} tc c = {C}; s = s - c * x; {STORE}", "neighbouring"),
    "by columns": (f"tc d = coop_mat_load(D + column * M + row, COLUMN, M); s = s * x + d; {STORE}", TOGETHER),
    "converted": (f"RESULT M_(8, 16, ACCUMULATOR) r = coop_mat_convert(s * x); {STORE.replace('s,', 'r,')}",
                  "2 operations on each element of 64x128: together, and stored without a copy"),
    "loaded ahead": (f"tc c = {C}; LOOP s = s * x + c * (OUT)3; {STORE}", "together, and stored without a copy"),
    "loaded before it is stored": (f"tc c = {C}; coop_mat_store(C + row * N + column, c * x, ROW, N); LOOP s = s + c; "
                                   f"{STORE}", "1 operation on each element of"),
    "stored before it is loaded": (f"tc d = {D}; coop_mat_store(C + row * N + column, d * x, ROW, N); tc c = {C}; LOOP "
                                   f"s = s + c; {STORE}", "1 operation on each element of"),
    "changed ahead": (f"tc c = {C}; c = c * (OUT)3; LOOP if (K > 32) {{ s = s * x + c; }} {STORE}", TOGETHER),
    "sometimes": (f"tc c = {C}; if (K > 32) {{ s = s * x + c; }} else {{ s = c * x; }} {STORE}", ""),
}


CASES = [*((end, list(TYPES)[place % 3]) for place, end in enumerate(ENDS)), ("alpha and beta", "half"),
         ("converted", "char")]


@pytest.mark.parametrize(("end", "types"), CASES)
def test_bits(end: str, types: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged, in blocks that are whole and that are not, and as they are written."""
    sums, dtype, out, flags, other, result = TYPES[types]
    if end != "converted":
        other, result = sums, out
    text, expected = ENDS[end]
    rng = np.random.default_rng(len(end))
    m, n, k = 8 * 13, 16 * 9, 48
    a, b, c, d = ((10 * rng.standard_normal(shape)).astype(kind)
                  for shape, kind in (((m, k), dtype), ((k, n), dtype), ((m, n), result), ((m, n), out)))
    found = []
    for merge in ("0", "8x8"):
        monkeypatch.setenv(VARIABLE, merge)
        device, stored = cm.device("cpu"), c.copy()
        options = (f"-DIN={types}", f"-DOUT={sums}", f"-DRESULT={other}", f"-DFLAGS={flags}", f"-DTURN=_{merge}")
        begin, _, behind = text.rpartition("LOOP")
        program = cm.build(PRELUDE.replace("BEGIN", begin).replace("END", behind), options, device)
        cm.Queue(device).enqueue(program.kernel("k"), (n, m // 8), (16, 1), a, b, stored, d, m, n, k, out(5)).wait()
        found.append(stored)
        said = "\n".join(device.explanation(program.load(device)))
        assert merge == "0" or expected in said, said
    np.testing.assert_array_equal(*found)
