"""Operations that are undefined for their operands, one in each kernel."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from tests.kit.checks.planted import Planted

BAD = cm.UndefinedBehavior


def numbers():
    """The integers from -32 on, and zeros."""
    return [np.arange(-32, 32, dtype=np.int32), np.zeros(64, np.int32)]


def ones():
    """Ones, and zeros."""
    return [np.ones(64, np.float32), np.zeros(64, np.int32)]


def powers():
    """Powers of two, and zeros."""
    return [2.0 ** np.arange(64, dtype=np.float32), np.zeros(64, np.int32)]


def exchange(line: str) -> str:
    """A kernel in OpenCL C in which work-items of sub-groups of 16 exchange a number."""
    return f"""
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global const int *a, global int *out) {{
    int i = get_global_id(0), x = a[i], lane = get_sub_group_local_id();
    {line}
}}"""


def python_exchange(line: str) -> str:
    """The same in Python."""
    return f"""
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    i = item.get_global_id(0)
    sg = item.get_sub_group()
    lane = sg.get_local_id()
    {line}
"""


def c(line: str) -> str:
    """A kernel of one line."""
    return f"""
kernel void k(global const int *a, global int *out) {{
    int i = get_global_id(0), x = a[i];
    out[i] = {line};  // HERE
}}"""


def real(line: str) -> str:
    """The same of floats."""
    return c(line).replace("global const int *a", "global const float *a").replace(
        "int i = get_global_id(0), x = a[i];", "int i = get_global_id(0); float x = a[i];")


def python(line: str) -> str:
    """The same in Python."""
    return f"""
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    i = item.get_global_id(0)
    x = a[i]
    out[i] = {line}  # HERE
"""


UNDEFINED = [
    Planted("division by zero", c("100 / {}"), "x", "(x | 1)", BAD, ("divided by zero", "100 / 0", "lane 0"), numbers),
    Planted("remainder of zero", c("100 % {}"), "x", "(x | 1)", BAD, ("divided by zero",), numbers),
    Planted("unsigned division by zero", c("100u / (uint){}"), "x", "(x | 1)", BAD, ("divided by zero",), numbers),
    Planted("the smallest integer by -1", c("(INT_MIN + {}) / (x | -1)"), "0", "1", BAD,
            ("-2147483648 / -1 overflows", "2147483648 is not from"), numbers),
    Planted("the smallest long by -1", c("(int)((LONG_MIN + {}) % (long)(x | -1))"), "0", "1", BAD,
            ("% -1 overflows",), numbers),
    Planted("a component of a vector", c("((int4)(100) / (int4)(1, 2, {}, 3)).z"), "x", "(x | 1)", BAD,
            ("component 2", "100 / 0"), numbers),
    Planted("a float that no int holds", real("(int){}"), "x", "clamp(x, -1e6f, 1e6f)", BAD,
            ("signed integer of 32 bits", "convert_int_sat"), powers),
    Planted("a NaN as an integer", real("(int){}"), "x", "(isnan(x) ? 0 : x)", BAD, ("a NaN",),
            lambda: [np.append(np.ones(63), np.nan).astype(np.float32), np.zeros(64, np.int32)]),
    Planted("a negative number as unsigned", real("(int)(uint){}"), "(-1.5f - x)", "x", BAD,
            ("unsigned integer of 32 bits", "convert_uint_sat"), ones),
    Planted("a short's range", real("(short){}"), "(x * 40000)", "(x * 30000)", BAD, ("16 bits", "convert_short_sat"),
            ones),
    Planted("clamp with its limits exchanged", c("clamp(x, {})"), "5, 3", "3, 5", BAD, ("clamp between 5 and 3",),
            numbers),
    Planted("smoothstep without a step", real("(int)smoothstep({}, x)"), "1.0f, 1.0f", "0.0f, 1.0f", BAD,
            ("smoothstep from 1.0 to 1.0",), ones),
    Planted("a false assumption", """
kernel void k(global const int *a, global int *out) {
    int i = get_global_id(0), x = a[i];
    __builtin_assume(x {});  // HERE
    out[i] = x;
}""", "> 0", ">= -32", BAD, ("assumption",), numbers),
    Planted("Python: a shift by the width", python("1 << {}"), "(x & 63)", "(x & 31)", BAD,
            ("which is not from 0 to 31", "amount & 31"), numbers),
    Planted("Python: a negative shift", python("100 >> {}"), "x", "abs(x) % 32", BAD, ("shifted by -32",), numbers),
    Planted("Python: division by zero", python("100 // {}"), "x", "(x | 1)", BAD, ("divided by zero",), numbers),
    Planted("Python: a float that no int holds", python("int32({})"), "float32(x) * 1e9", "float32(x)", BAD,
            ("signed integer of 32 bits",), numbers),
    Planted("a component of a vector of chars", c("(convert_char4((int4)({} | -128)) / (char4)(-1)).w"), "-128", "1",
            BAD, ("component 0", "-128 / -1 overflows", "from -128 to 127"), numbers),
    Planted("a matrix of floats that no int holds", """
#define TILE(type) type __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, \\
                                                CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global const float *a, global int *out) {
    TILE(float) x = coop_mat_load(a, ROW, 16);
    TILE(int) y = coop_mat_convert(x{});  // HERE
    coop_mat_store(out, y, ROW, 16);
}""", "", " * 1e-3f", BAD, (r"element \(2, 3\) of the matrix: the number 3000000000.0 is converted to a signed",),
            lambda: [np.where(np.arange(128) == 35, 3e9, 1).astype(np.float32), np.zeros(128, np.int32)], (16,), (16,)),
    Planted("Python: a shift in a vector", python("(int4(1) << int4(1, 2, {}, 4)).z"), "x", "(x & 31)", BAD,
            ("component 2", "shifted by -32"), numbers),
    Planted("Python: an unsigned shift by a constant", python("int32(uint32(x) >> {})"), "32", "31", BAD,
            ("shifted by 32",), numbers),
    Planted("Python: clamp with its limits exchanged", python("clamp(x, {})"), "9, 0", "0, 9", BAD,
            ("clamp between 9 and 0",), numbers),
    Planted("the last lane of a shuffle down",
            exchange("int y = sub_group_shuffle_down(x, 1u);\n    {} out[i] = y;  // HERE"), "", "if (lane < 15)", BAD,
            ("gives from lane 16, which none of 16 lanes is", "stored to element 15 of argument 1 'out'"), numbers),
    Planted("the first lanes of a scan", exchange("""for (uint d = 1; d < 16; d *= 2) {
        int y = sub_group_shuffle_up(x, d);
        {} x += y;
    }
    out[i] = x;  // HERE"""), "", "if (lane >= d)", BAD, ("gives from lane -1",), numbers),
    Planted("the sum of a tree in a wrong lane", exchange("""for (uint d = 8; d > 0; d /= 2)
        x += sub_group_shuffle_down(x, d);
    if (lane == {}) out[i] = x;  // HERE"""), "1", "0", BAD, ("lane 1, buffer",), numbers),
    Planted("a shuffle from a work-item of another branch",
            exchange("if (lane < 8) out[i] = sub_group_shuffle_xor(x, {});  // HERE"), "8u", "4u", BAD,
            ("gives from lane 8, which takes no part",), numbers),
    Planted("a branch by a shuffle",
            exchange("if ({} intel_sub_group_shuffle_up(0, x, 1u) < 0) out[i] = 1;  // HERE"), "x < 0 &&", "", BAD,
            ("the condition of a branch", "takes no part"),
            lambda: [np.tile(np.repeat([0, -1], 8), 4).astype(np.int32), np.zeros(64, np.int32)]),
    Planted("Python: the last lane of a shift",
            python_exchange("y = shift_group_left(sg, a[i])\n    if lane < {}:\n        out[i] = y  # HERE"),
            "16", "15", BAD, ("gives from lane 16",), numbers),
    Planted("Python: a choice after the shuffle",
            python_exchange("y = shift_group_right(sg, a[i], 2)\n    out[i] = y if {} else 0  # HERE"), "lane >= 1",
            "lane >= 2", BAD, ("gives from lane -2",), numbers),
]
