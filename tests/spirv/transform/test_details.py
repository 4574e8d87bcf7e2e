"""What single passes do with what is easily got wrong."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat import sycl
from coopmat.spirv import Module
from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform import passes
from tests.kit.lenient import lenient

SIZE = 16


def after(source: str, *names: str, options: tuple[str, ...] = ()) -> tuple[Module, list[str]]:
    module, notes = passes.transform(cm.build(source, options).module, passes.chosen(names))
    assert [found for found in module.validate() if found.severity == "error"] == []
    return module, [str(note) for note in notes]


def run(module: Module, *arguments: object, **options: bool) -> None:
    queue = cm.Queue(lenient("sim:generic", **options))
    queue.enqueue(cm.build(module).kernel("k"), (SIZE,), (SIZE,), *arguments).wait()


RETURNS = """
int first(global const int *in, int x) { for (int i = 0; i < 8; ++i) if (in[i] == x) return i; return -1; }
int endless(int x) { while (true) { if (x > 20) return x; while (true) { x += 3; if (x & 1) return x; } } }
int chosen(int x) { switch (x & 3) { case 0: return 5; case 1: x += 2; break; case 2: return 7; } return x; }
__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void k(global int *out, global const int *in)
{
    local int shared[16];
    int own = get_local_id(0), sum = 0;
    for (int turn = 0; turn < 3; ++turn) {
        sum += first(in, own + turn) * 100 + endless(own * 2 + turn) * 10 + chosen(own + turn);
        shared[own] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += shared[15 - own];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[own] = sum;
}
"""


def returned(own: int, given: list[int], turn: int) -> int:
    first = next((i for i, value in enumerate(given[:8]) if value == own + turn), -1)
    x = own * 2 + turn
    if x <= 20:
        x += 3
        while not x & 1:
            x += 3
    y = own + turn
    chosen = {0: 5, 1: y + 2, 2: 7}.get(y & 3, y)
    return first * 100 + x * 10 + chosen


def test_functions_that_return_from_loops_meet_again() -> None:
    """Behind the calls stand barriers, which the simulator checks."""
    given = np.random.default_rng(50).permutation(SIZE).astype(np.int32)
    sums = np.zeros(SIZE, np.int32)
    for turn in range(3):
        sums += np.array([returned(own, given.tolist(), turn) for own in range(SIZE)], np.int32)
        sums += sums[::-1].copy()
    for names in (("inline",), ("inline", "values", "fold")):
        module, _ = after(RETURNS, *names)
        assert "OpFunctionCall" not in module.to_text()
        out = np.zeros(SIZE, np.int32)
        run(module, out, given)
        np.testing.assert_array_equal(out, sums)


@sycl.kernel
def checked(item: sycl.nd_item[1], p: sycl.ptr[sycl.int32]) -> None:
    assert p[0] > 0, "positive"
    p[0] = 2


def test_calls_that_stay() -> None:
    source = cm.build("int f(int x) { return x + 1; } kernel void k(global int *p) { p[0] = f(p[0]); }").spirv_asm
    given = Module.from_text(source.replace("OpFunction %uint None", "OpFunction %uint DontInline"))
    module, notes = passes.transform(given, passes.chosen(["inline"]))
    assert module is given
    assert [str(note) for note in notes] == ["inline: 1 call left: 'f' is not to be inlined (DontInline)"]
    module, notes = passes.transform(cm.build(checked).module, passes.usual())
    assert "is imported" in str(notes[0])
    with pytest.raises(cm.Error, match="positive"):
        cm.Queue("sim:generic").enqueue(cm.build(module).kernel("checked"), 1, 1, np.zeros(1, np.int32)).wait()


def test_values_of_members_and_copies() -> None:
    source = """typedef struct { int a; float2 b; int c[2]; } pair;
    kernel void k(global int *p, global pair *q)
    {
        pair x = q[0], y;
        y = x;
        y.c[1] = x.a; y.b.x = 3; x = y;
        int z[2][2] = {{1, 2}, {3, p[0]}};
        q[1] = x;
        p[1] = z[1][1] + z[0][1] + x.c[1];
    }"""
    module, notes = after(source, "values", "fold")
    assert "Function %" not in "".join(line for line in module.to_text().splitlines() if "OpVariable" in line)
    assert any("3 variables became values" in note for note in notes)
    p, q = np.array([7, 0], np.int32), np.arange(12, dtype=np.int32)
    run(module, p, q.view(np.uint8))
    assert p[1] == 7 + 2 + 0
    np.testing.assert_array_equal(q[[6, 8, 10, 11]], [0, np.float32(3).view(np.int32), 4, 0])


@pytest.mark.parametrize(("body", "reason"), [
    ("int a[4] = {1, 2, 3, 4}; p[0] = a[p[1] & 3];", "an index is not constant"),
    ("volatile int a = p[0]; p[1] = a;", "it is volatile"),
    ("int a = 1; int *q = p[0] ? &a : 0; if (q) p[1] = *q;", "its address"),
])
def test_what_stays_in_memory(body: str, reason: str) -> None:
    _, notes = after(f"kernel void k(global int *p) {{ {body} }}", "values")
    assert any(reason in note for note in notes), notes


def test_constants_are_as_the_simulator_computes_them() -> None:
    """Of each type, at its edges; what is a NaN, divided by zero or out of range is not folded."""
    cases = ["(char)(100 + 100)", "(int)(3.99f) / -2", "(float)16777217", "1.0f / 3.0f", "(uchar)-1 >> 3", "5 % -3",
             "(long)INT_MIN * 2", "0.1 + 0.2 == 0.3", "(half)2049.0f", "3.0f / 0.0f", "isnan(0.0f / 0.0f)",
             "(int)1e30f", "as_int(-0.0f)", "max(1, 2)"]
    lines = "".join(f"{{ double a = {case}; out[{n}] = a; }}" for n, case in enumerate(cases))
    source = f"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" \
             f"kernel void k(global double *out) {{ {lines} }}"
    found, expected = np.zeros(SIZE), np.zeros(SIZE)
    run(after(source, "values", "fold")[0], found, undefined=False)
    run(cm.build(source).module, expected, undefined=False)
    np.testing.assert_array_equal(found, expected)


SPECIALISED = """OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
OpDecorate %size SpecId 4
%uint = OpTypeInt 32 0
%bool = OpTypeBool
%void = OpTypeVoid
%two = OpConstant %uint 2
%three = OpConstant %uint 3
%size = OpSpecConstant %uint 3
%pointer = OpTypePointer CrossWorkgroup %uint
%function = OpTypeFunction %void %pointer
%k = OpFunction %void None %function
%p = OpFunctionParameter %pointer
%entry = OpLabel
%sum = OpIAdd %uint %size %three
%known = OpIMul %uint %two %three
%total = OpIAdd %uint %sum %known
%less = OpULessThan %bool %two %three
OpSelectionMerge %end None
OpBranchConditional %less %then %end
%then = OpLabel
OpStore %p %total
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"""


def test_specialisation_constants_stay() -> None:
    module, notes = passes.transform(Module.from_text(SPECIALISED), passes.chosen(["fold"]))
    text = module.to_text()
    assert "OpSpecConstant" in text
    assert text.count("OpIAdd") == 2
    assert "OpIMul" not in text
    assert "OpBranch" not in text
    assert "fold: branches resolved: 1" in map(str, notes)
    found = np.zeros(1, np.uint32)
    program = cm.build(module, spec_constants={4: 10})
    cm.Queue("sim:generic").enqueue(program.kernel("k"), (1,), (1,), found).wait()
    assert found[0] == 19


def test_lines_stay_with_their_instructions() -> None:
    source = "int f(int x)\n{\n    return x /\n (x - 3);\n}\nkernel void k(global int *p) { int a = f(*p); p[1] = a; }"
    module, _ = after(source, "inline", "values", "fold")
    with pytest.raises(cm.Error, match=r"<source>:3:14"):
        run(module, np.array([3, 0], np.int32))


@sycl.kernel(sub_group_size=16)
def in_a_window(item: sycl.nd_item[1], p: sycl.ptr[sycl.float32], n: sycl.int32):
    sg = item.get_sub_group()
    m = sycl.joint_matrix(sycl.sub_group, sycl.float32, sycl.use.accumulator, 8, 16)
    sycl.joint_matrix_load_checked(sg, m, p, n, sycl.layout.row_major, n, n, 0, 0)
    sycl.joint_matrix_apply(sg, m, lambda x: x + 1)
    sycl.joint_matrix_store_checked(sg, m, p, n, sycl.layout.row_major, n, n, 0, 0)


@pytest.mark.parametrize("name", ["matrices", "element-loops"])
def test_blocks_that_stand_for_an_instruction_have_its_line(name: str) -> None:
    module, _ = passes.transform(cm.build(in_a_window).module, passes.chosen([name]))
    places = [place_of(module, row) for row in module.of_opcode(Op.Load, Op.Store)]
    assert len(places) > 3
    assert None not in places[1:]  # but for the one in which a kernel asks who it is


NOT_CALLED = """
typedef float tile
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
void nobody_calls(global float *p)
{
    tile m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    m = coop_mat_reduce(m, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_MAX);
    coop_mat_store(p, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
kernel void k(global float *p) { p[get_global_id(0)] = 1; }
"""


def test_functions_that_nobody_calls_keep_theirs() -> None:
    """What is left calls nothing that is gone."""
    module, _ = after(NOT_CALLED, "inline")
    there = {function.id for function in module.functions}
    called = {callee for row in module.instructions for callee in callees_of(row)}
    assert called <= there
