"""Variables of a module on the CPU: their initial values, byte by byte, and what stays between launches."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import Error
from coopmat.targets.base.global_memory import GlobalMemory
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.targets.short_kernels import cpu_program, module

SOURCE = """
struct inner { char c; double d; short s[3]; };
struct outer { float3 v; struct inner parts[2]; uchar last; };
constant struct outer table = { (float3)(1, 2, 3), { { -1, 0.5, { 1, 2, 3 } }, { 4, -8, { 5 } } }, 255 };
constant half halves[] = { 1.5h, -2 };
constant ulong big = 0xfedcba9876543210;
constant char text[] = "hello";
constant int many[1000] = { 7 };
global int counter = 10;
global long kept[4];

kernel void read(global uchar *out, int which) {
    if (get_global_id(0)) return;
    constant uchar *p = which == 0 ? (constant uchar *)&table : which == 1 ? (constant uchar *)halves :
        which == 2 ? (constant uchar *)&big : which == 3 ? (constant uchar *)text : (constant uchar *)many;
    int size = which == 0 ? sizeof table : which == 1 ? sizeof halves : which == 2 ? sizeof big : which == 3 ?
        sizeof text : sizeof many;
    for (int i = 0; i < size; ++i) out[i] = p[i];
}

kernel void count(global int *out) {
    out[get_global_id(0)] = atomic_inc(&counter);
    if (get_global_id(0) == 0) kept[1]++;
}

kernel void show(global long *out) { out[0] = counter; out[1] = kept[1]; out[2] = kept[0]; }
"""
INNER = np.dtype({"names": ["c", "d", "s"], "formats": ["i1", "f8", ("i2", 3)], "offsets": [0, 8, 16], "itemsize": 24})
OUTER = np.dtype({"names": ["v", "parts", "last"], "formats": [("f4", 3), (INNER, 2), "u1"], "offsets": [0, 16, 64],
                  "itemsize": 80})


@pytest.fixture(scope="module")
def source() -> CpuProgram:
    return CpuProgram(cm.build(SOURCE)._executable)


def _table() -> np.ndarray:
    found = np.zeros(1, OUTER)
    found[0] = ((1, 2, 3), [(-1, 0.5, (1, 2, 3)), (4, -8, (5, 0, 0))], 255)
    return found


@pytest.mark.parametrize(("which", "expected"), [
    (0, _table()), (1, np.array([1.5, -2], np.float16)), (2, np.array([0xfedcba9876543210], np.uint64)),
    (3, np.frombuffer(b"hello\0", np.uint8)), (4, np.array([7] + [0] * 999, np.int32)),
])
def test_constants(source: CpuProgram, which: int, expected: np.ndarray) -> None:
    out = np.full(expected.nbytes + 8, 0xEE, np.uint8)
    source.launch("read", (16,), (16,), (out, which))
    assert out[-8:].tolist() == [0xEE] * 8
    np.testing.assert_array_equal(out[:-8], expected.view(np.uint8))


def test_what_is_written_stays_for_all_kernels() -> None:
    program = CpuProgram(cm.build(SOURCE)._executable)
    out = np.zeros(32, np.int32)
    program.launch("count", (32,), (32,), (out,))
    assert sorted(out) == list(range(10, 42))
    program.launch("count", (32,), (16,), (out,))
    assert sorted(out) == list(range(42, 74))
    shown = np.zeros(3, np.int64)
    program.launch("show", (1,), (1,), (shown,))
    assert shown.tolist() == [74, 2, 0]
    other = CpuProgram(program.module)
    other.launch("show", (1,), (1,), (shown,))
    assert shown.tolist() == [10, 0, 0]


def test_addresses_in_constants() -> None:
    """Of a variable, of a part of one, and of two that point to each other."""
    declarations = """
        %numbers = OpConstantComposite %a2_i32 %i32_c11 %i32_c22
        %pair = OpTypeStruct %i8 %a2_i32
        %inner = OpConstantComposite %pair %i8_c1 %numbers
        %first = OpVariable %g_pair CrossWorkgroup %inner
        %element = OpSpecConstantOp %g_i32 InBoundsAccessChain %first %i32_c1 %i32_c1
        %again = OpSpecConstantOp %g_i32 InBoundsPtrAccessChain %element %i32_cm1
        %raw = OpSpecConstantOp %i64 ConvertPtrToU %again
        %both = OpTypeStruct %g_i32 %i64
        %addresses = OpConstantComposite %both %element %raw
        %second = OpVariable %c_both UniformConstant %addresses"""
    program = cpu_program(module("g_i32 out", """
        %p = OpAccessChain %c_g_i32 %second %i32_c0
        %a = OpLoad %g_i32 %p
        %q = OpAccessChain %c_i64 %second %i32_c1
        %n = OpLoad %i64 %q
        %b = OpConvertUToPtr %g_i32 %n
        %x = OpLoad %i32 %a
        %y = OpLoad %i32 %b
        %z = OpIMul %i32 %y %i32_c1000
        %sum = OpIAdd %i32 %x %z
        OpStore %out %sum""", declarations=declarations))
    out = np.zeros(1, np.int32)
    program.launch("kernel", (1,), (1,), (out,))
    assert out[0] == 11022


def test_bits_of_every_scalar() -> None:
    """bf16, truth values, null and replicated constants; addresses are aligned."""
    source = module("", "", declarations="""
        %b = OpConstantComposite %v2_bf16 %bf16_c1p5 %bf16_cm3
        %bv = OpVariable %c_v2_bf16 UniformConstant %b
        %true = OpConstantTrue %bool
        %false = OpConstantFalse %bool
        %t = OpConstantComposite %a3_bool %true %false %true
        %tv = OpVariable %c_a3_bool UniformConstant %t
        %null = OpConstantNull %a2_i64
        %halves = OpConstantComposite %a2_f64 %f64_c0p5 %f64_cm2
        %mixed = OpTypeStruct %a2_i64 %a2_f64
        %m = OpConstantComposite %mixed %null %halves
        %mv = OpVariable %c_mixed UniformConstant %m""")
    memory = GlobalMemory(source)
    found = {}
    for row in source.instructions:
        if row.name == "OpVariable" and row.words[0] == 0:
            content = memory.content(row.result_id)
            assert memory.address(row.result_id) % 64 == 0
            found[len(content)] = content
    assert found[4].view(ml_dtypes.bfloat16).tolist() == [1.5, -3]
    assert found[3].tolist() == [1, 0, 1]
    assert found[32][:16].view(np.int64).tolist() == [0, 0]
    assert found[32][16:].view(np.float64).tolist() == [0.5, -2]


def test_what_cannot_be_computed_here() -> None:
    program = cpu_program(module("g_v2_i32 out", "%v = OpLoad %v2_i32 %x\nOpStore %out %v", declarations="""
        %a = OpConstantComposite %v2_i32 %i32_c1 %i32_c2
        %turned = OpSpecConstantOp %v2_i32 VectorShuffle %a %a 1 0
        %x = OpVariable %c_v2_i32 UniformConstant %turned"""))
    with pytest.raises(Error, match="OpVectorShuffle is not possible in the initial value of a variable"):
        program.launch("kernel", (1,), (1,), (np.zeros(2, np.int32),))
