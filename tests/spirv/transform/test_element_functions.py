"""Loops over components become functions of elements where they say the same, and compute what they did."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.passes import chosen, transform

PRELUDE = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef int tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8,
                                         CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
__attribute__((intel_reqd_sub_group_size(8)))
kernel void k(global int *out, global const int *in, int n)
{
    tile a = coop_mat_load(in, ROW, 8), b = coop_mat_load(in + 64, ROW, 8), c = b, d[2];
    d[0] = a; d[1] = b;
    BODY
    coop_mat_store(out, a, ROW, 8); coop_mat_store(out + 64, c, ROW, 8); coop_mat_store(out + 128, d[1], ROW, 8);
}
"""
LOOP = "for (int i = 0; i < coop_mat_length(a); i++)"
FLOATS = """float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8,
                                           CLK_COOPERATIVE_MATRIX_ACCUMULATOR))) f = coop_mat_init(0);"""
BYTES = FLOATS.replace("float", "char").replace(" f = ", " h = ")
LONGS = FLOATS.replace("float", "long").replace(" f = ", " l = ")
FUNCTIONS = {
    "one matrix": f"{LOOP} a[i] = a[i] * n + 1;",
    "two loops": f"{LOOP} a[i] += n; {LOOP} c[i] -= n;",
    "several matrices": f"{LOOP} {{ int t = a[i]; a[i] = b[i] + c[i]; c[i] = t; }}",
    "written only": f"{LOOP} c[i] = a[i] > 0 ? a[i] : -b[i];",
    "some written": f"{LOOP} if (a[i] < n) {{ if (b[i] > n) continue; a[i] = n; }}",
    "memory that is read": f"{LOOP} a[i] += in[(a[i] & 63) + n];",
    "coordinates": f"{LOOP} {{ int2 at = coop_mat_get_coord(a, i); a[i] += at.x * n + in[at.y]; }}",
    "the work-group's number": f"{LOOP} a[i] += in[(int)get_group_id(0) * 3 + (int)get_num_groups(0)];",
    "an array": f"for (int m = 0; m < 2; m++) {LOOP} d[m][i] = d[m][i] * n + m;",
    "a loop inside": f"{LOOP} for (int o = 0; o < n; o++) a[i] = a[i] * 3 + o;",
    "another type": f"{FLOATS} {LOOP} f[i] = (float)a[i] * 0.5f + (float)b[i]; {LOOP} c[i] = (int)(f[i] * 3.f);",
    "types between": f"{LOOP} c[i] = convert_int_rtz((float)a[i] * 0.3f);",
    "one type is converted": f"{FLOATS} {LOOP} f[i] = n - 2; {LOOP} {{ a[i] += n; c[i] = convert_int_rte(f[i]); }}",
    "integers that floats hold": f"{BYTES} {FLOATS} {LOOP} h[i] = a[i] * n; "
                                 f"{LOOP} f[i] = (float)(h[i] + 200) * 0.5f; {LOOP} c[i] = (int)(f[i] * 2.f);",
    "two conversions": f"{FLOATS} {LOOP} f[i] = (float)a[i]; {LOOP} c[i] = a[i] + (int)f[i] + (char)f[i];",
    "integers that doubles hold": f"{FLOATS} {LOOP} f[i] = (float)(a[i] + n) * 0.5f; {LOOP} c[i] = (int)(f[i] * 4.f);",
    "integers that change, too": f"{BYTES} {FLOATS} {LOOP} h[i] = a[i]; {LOOP} {{ f[i] = (float)(h[i] + n) * 0.5f; "
                                f"h[i] = f[i] > 1 ? n : h[i] - 1; }} {LOOP} c[i] = (int)(f[i] * 4.f) * 256 + h[i];",
    "rounding": f"{LOOP} c[i] = convert_int_rte((float)a[i] * 0.75f) + n;",
    "saturation": f"{LOOP} c[i] = convert_char_sat(a[i] * 40);",
    "a constant": "for (int i = 0; i < 8; i++) a[i] += n;",
    "while": "uint i = 0; while (i < coop_mat_length(a)) { a[i] ^= n; i++; }",
}
LOOPS = {
    "integers that no floats hold": f"{LONGS} {FLOATS} {LOOP} f[i] = (float)(l[i] + n) * 0.5f; "
                                    f"{LOOP} c[i] += coop_mat_length(f) + (int)f[i] * i;",
    "a sum": f"int t = 0; {LOOP} t += a[i]; out[192 + get_sub_group_local_id()] = t;",
    "one of two": f"{LOOP} {{ int m = in[200] & 1; d[m][i] += n; }}",
    "the index": f"{LOOP} a[i] += i;",
    "the work-item's number": f"{LOOP} a[i] += get_sub_group_local_id();",
    "another component": f"{LOOP} a[i] = b[coop_mat_length(a) - 1 - i];",
    "memory that is written": f"{LOOP} {{ out[192 + get_sub_group_local_id()] = 7; a[i]++; }}",
    "every second": "for (int i = 0; i < coop_mat_length(a); i += 2) a[i] = n;",
    "from the second on": "for (int i = 1; i < coop_mat_length(a); i++) a[i] = n;",
    "half of them": "for (int i = 0; i < 4; i++) a[i] = n;",
    "a break": f"{LOOP} {{ if (a[i] == n) break; a[i] = n; }}",
    "a private array": f"int t[4] = {{5, 6, 7, n}}; {LOOP} a[i] = t[a[i] & 3 & n];",
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *LOOPS])
def test_loops(name: str) -> None:
    """In the simulator with all checks; which loops change is known."""
    module = cm.build(PRELUDE.replace("BODY", (FUNCTIONS | LOOPS)[name])).module
    values = transform(module, chosen(["inline", "values", "fold"]))[0]
    changed, notes = transform(values, chosen(["element-functions", "values", "fold", "unroll", "fold", "values"]),
                               Goal(cm.device("sim:generic").description, sub_group_size=8))
    assert changed.validate() == []
    functions = sum(1 for _ in changed.of_opcode(Op.CooperativeMatrixPerElementOpEXT))
    assert bool(functions) == (name in FUNCTIONS), [str(note) for note in notes]
    assert not (name in FUNCTIONS and any(True for _ in changed.of_opcode(Op.CooperativeMatrixLengthKHR)))
    numbers, found = np.random.default_rng(0).integers(-9, 9, 256).astype(np.int32), []
    for one in (module, changed):
        out = np.zeros(256, np.int32)
        cm.Queue("sim:generic").enqueue(cm.build(one).kernel("k"), 8, 8, out, numbers, 3).wait()
        found.append(out)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(("size", "changes"), [(8, True), (16, False), (None, False)])
def test_constants(size: int | None, changes: bool) -> None:
    """A loop to a constant takes all components in sub-groups of one size only, which must be known."""
    module = transform(cm.build(PRELUDE.replace("BODY", FUNCTIONS["a constant"])).module,
                       chosen(["inline", "values", "fold"]))[0]
    goal = Goal(cm.device("sim:generic").description, sub_group_size=size)
    changed = transform(module, chosen(["element-functions"]), goal)[0]
    assert any(True for _ in changed.of_opcode(Op.CooperativeMatrixPerElementOpEXT)) == changes


def test_types_that_lie_apart() -> None:
    """On a device on which component i of floats and of halves is not the same element, they are not mixed."""
    source = """
    #define M_ __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, \\
                                       CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))
    kernel void k(global float *out)
    {
        float M_ a = coop_mat_load(out, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
        half M_ b = coop_mat_init(0);
        for (int i = 0; i < coop_mat_length(a); i++) b[i] = (half)a[i];
        coop_mat_store((global half *)out, b, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    }"""
    module = transform(cm.build(source).module, chosen(["inline", "values", "fold"]))[0]
    for device, changes in (("sim:generic", True), ("sim:intel_gpu_pvc", True), ("sim:nvidia_gpu_sm_70", False)):
        changed = transform(module, chosen(["element-functions"]), Goal(cm.device(device).description))[0]
        assert any(True for _ in changed.of_opcode(Op.CooperativeMatrixPerElementOpEXT)) == changes, device
        folded = transform(changed, chosen(["values", "fold"]))[0]  # nothing is left but the conversion
        assert not any(True for _ in folded.of_opcode(Op.CooperativeMatrixPerElementOpEXT))
