"""Functions of each element of large matrices, by vectors: loops over components, and what a kernel applies. The bits
of the kernel as it is written, in blocks that are whole and that are not, and where arrays share memory."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.merging import VARIABLE

PRELUDE = """
#define M_(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define EACH for (int i = 0; i < coop_mat_length(s); i++)
#define AT int2 at = coop_mat_get_coord(s, i); int r = row + at.x, c = column + at.y;
typedef OUT ts M_(8, 16, ACCUMULATOR);
typedef RESULT tr M_(8, 16, ACCUMULATOR);
float clipped(float v, float most) { return v > most ? most : v; }
kernel void k(global const IN *A, global const IN *B, global RESULT *C, global const RESULT *D,
              global const float *bias, int N, int K, float x)
{
    const int row = get_group_id(1) * 8, column = get_group_id(0) * 16;
    ts s = coop_mat_init(0);
    for (int k = 0; k < K; k += 16)
        s = coop_matmul_add((IN M_(8, 16, A))coop_mat_load(A + row * K + k, ROW, K),
                            (IN M_(16, 16, B))coop_mat_load(B + k * N + column, ROW, N), s, FLAGS);
    tr t = coop_mat_init(0);
    END
    coop_mat_store(C + row * N + column, STORED, ROW, N);
}
"""
FLOATS = ("half", np.float16, "float", np.float32, "float", np.float32, 0)
HALVES = ("half", np.float16, "float", np.float32, "half", np.float16, 0)
DEQUANTISED = ("char", np.int8, "int", np.int32, "float", np.float32, 15)
QUANTISED = ("char", np.int8, "int", np.int32, "char", np.int8, 15)
DOUBLES = ("double", np.float64, "double", np.float64, "double", np.float64, 0)
DIRECT, ALONE = "together, and stored without a copy", "on each element of 128x128: together"
ENDS = {
    "scaled": (FLOATS, "s", "EACH s[i] = s[i] * x;", DIRECT),
    "bounded by a branch": (FLOATS, "s", "EACH { float v = s[i] * x; if (v < 0) v = -v * 0.1f; s[i] = v; }", DIRECT),
    "of another sign": (DOUBLES, "s", "EACH { double v = s[i]; s[i] = v > 0 ? v : -v * x; }", DIRECT),
    "a row and a column": (FLOATS, "s", "EACH { AT s[i] = fmax(s[i] * bias[r] + bias[c], 0.f); }", DIRECT),
    "the place": (FLOATS, "s", "EACH { AT s[i] = r > c ? -INFINITY : s[i] + (c - r); }", DIRECT),
    "every second column": (FLOATS, "s", "EACH { AT s[i] += bias[c >> 1] + bias[(c * 3) & 63]; }", DIRECT),
    "GELU": (FLOATS, "s", "EACH s[i] = 0.5f * s[i] * (1 + erf(s[i] * 0.7071f)) + tanh(s[i]);", DIRECT),
    "powers": (FLOATS, "s", "EACH { AT s[i] = pow(fabs(s[i]), bias[c]) + sin(s[i] * 1e6f); }", DIRECT),
    "a loop inside": (FLOATS, "s", "EACH { AT for (int o = 0; o < at.y; o++) s[i] = s[i] * 0.5f + bias[o]; }", DIRECT),
    "what is there": (FLOATS, "s", "EACH { AT s[i] += D[r * N + c]; }", DIRECT),
    "what is there, backwards": (FLOATS, "s", "EACH { AT s[i] += D[r * N + column + 15 - at.y]; }", DIRECT),
    "what is stored to": (FLOATS, "s", "EACH { AT s[i] += C[(row + 7 - at.x) * N + c]; }", DIRECT),
    "two loops": (FLOATS, "s", "EACH s[i] *= x; EACH { AT s[i] += bias[c]; }", DIRECT),
    "another matrix": (FLOATS, "s",
                       "ts d = coop_mat_load(D + row * N + column, ROW, N); EACH s[i] += d[i] * x;", ALONE),
    "halves": (HALVES, "t", "EACH t[i] = (half)s[i];", DIRECT),
    "halves with a bias": (HALVES, "t", "EACH { AT t[i] = (half)fmax(s[i] * x + bias[c], 0.f); }", DIRECT),
    "halves rounded down": (HALVES, "t", "EACH t[i] = convert_half_rtn(s[i] * x);", DIRECT),
    "halves added to": (HALVES, "t", """t = coop_mat_load(D + row * N + column, ROW, N);
                        EACH s[i] = s[i] + (float)t[i] * x; EACH t[i] = (half)s[i];""", ALONE),
    "floats of integers": (DEQUANTISED, "t", "EACH { AT t[i] = (float)s[i] * bias[c] * x; }", DIRECT),
    "a sum of integers": (DEQUANTISED, "t", "EACH { AT t[i] = (float)(s[i] + r - c); }", DIRECT),
    "integers again": (QUANTISED, "t", "EACH { AT t[i] = convert_char_sat_rte((float)s[i] * x + bias[c]); }", DIRECT),
    "applied": (FLOATS, "s", "s = coop_mat_apply(s, clipped, x);", DIRECT),
    "used twice": (FLOATS, "s", "ts u = s; EACH s[i] = exp2(s[i] * 0.01f); s = s * u + s;", ALONE),
}


@pytest.mark.parametrize("end", ENDS)
def test_bits(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As tiles, as blocks, and with what is read in the same memory as C."""
    (types, dtype, sums, _, result, stored, flags), name, text, expected = ENDS[end]
    rng = np.random.default_rng(len(end))
    m, n, k = 8 * 21, 16 * 9, 48
    a, b, c, d = ((10 * rng.standard_normal(shape)).astype(kind) for shape, kind in (
        ((m, k), dtype), ((k, n), dtype), ((m, n), stored), ((m, n), stored)))
    bias = rng.standard_normal(max(m, n)).astype(np.float32)
    options = (f"-DIN={types}", f"-DOUT={sums}", f"-DRESULT={result}", f"-DFLAGS={flags}", f"-DSTORED={name}")
    found = []
    for merge in ("0", "16x8"):
        monkeypatch.setenv(VARIABLE, merge)
        device, out, own = cm.device("cpu"), c.copy(), c.copy()
        program = cm.build(PRELUDE.replace("END", text), (*options, f"-DTURN=_{merge}"), device)
        for there, other in ((out, d), (own, own)):
            cm.Queue(device).enqueue(program.kernel("k"), (n, m // 8), (16, 1), a, b, there, other, bias, n, k, 0.01
                                     ).wait()
            found.append(there)
        said = "\n".join(device.explanation(program.load(device)))
        assert merge == "0" or expected in said, said
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])
