"""Overloadable functions: what is reported where, how they stand beside built-in ones, what they are called."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat import llvm
from coopmat.diagnostics import Message
from coopmat.lowering.llvm.builder import to_llvm_ir
from coopmat.opencl import compile_source
from coopmat.opencl.messages import overloads as messages
from coopmat.spirv.text.names import source_name
from tests.kit.opencl.reports import reports

DEFINES = "#define O __attribute__((overloadable))\n#line 1\n"

REPORTS = [
    # ---------------------------------------------------------------- calls
    ("int O f(int a) { return 1; } int O f(float4 a) { return 2; } int O f(float4 a, local int *b) { return 3; }\n"
     "int g(uint4 u) { return f(u); }", (
         "2:25: error: no matching function for call to 'f' with arguments of type ('uint4') [CM3120]",
         "1:7: note: candidate function not viable: no known conversion from 'uint4' to 'int' for 1st argument",
         "1:36: note: candidate function not viable: no known conversion from 'uint4' to 'float4' for 1st argument",
         "1:68: note: candidate function not viable: requires 2 arguments, but 1 was provided",
     )),
    ("int O f(int a) { return 1; } int O f(global int *a, int b) { return 2; }\n"
     "int g(int *p) { return f() + f(p, 1); }", (
         "2:24: error: no matching function for call to 'f' with arguments of type () [CM3120]",
         "2:30: error: no matching function for call to 'f' with arguments of type ('__generic int *', 'int') [CM3120]",
         "1:7: note: candidate function not viable: requires 1 argument, but 0 were provided",
         "1:36: note: candidate function not viable: requires 2 arguments, but 0 were provided",
         "1:7: note: candidate function not viable: requires 1 argument, but 2 were provided",
         "1:36: note: candidate function not viable: cannot pass pointer to address space '__generic' as a pointer to "
         "address space '__global' in 1st argument",
     )),
    ("int O f(int a, int b) { return 1; } int O f(long a, int b, int2 c) { return 2; }\n"
     "int g(int4 v) { return f(1, 2, v) + f(1, v); }", (
         "2:24: error: no matching function for call to 'f' with arguments of type ('int', 'int', 'int4') [CM3120]",
         "2:37: error: no matching function for call to 'f' with arguments of type ('int', 'int4') [CM3120]",
         "1:7: note: candidate function not viable: requires 2 arguments, but 3 were provided",
         "1:43: note: candidate function not viable: no known conversion from 'int4' to 'int2' for 3rd argument",
         "1:7: note: candidate function not viable: no known conversion from 'int4' to 'int' for 2nd argument",
         "1:43: note: candidate function not viable: requires 3 arguments, but 2 were provided",
     )),
    ("int O f(int a, global int *b) { return 1; } int f(float a, global int *b) { return 2; } int O f(int4 a);\n"
     "int g(global int *p) { return f(1.0, p); }", (
         "2:31: error: call to 'f' with arguments of type ('double', '__global int *') is ambiguous; cast the "
         "arguments to the types that are meant [CM3121]",
         "1:7: note: candidate function: f(int, __global int *)",
         "1:49: note: candidate function: f(float, __global int *)",
     )),
    ("int O f(global int *a) { return 1; } int O f(float a) { return 2; }\nint g(global float *p) { return f(p); }", (
        "2:35: warning: incompatible pointer types passing '__global float *' to parameter of type '__global int *' "
        "[CM3004]",
        "1:21: note: passing argument to parameter 'a' here",
    )),
    ("int O f(int a); int O f(float a) { return 2; } int g(void) { return f(1); }", (
        "1:69: error: function 'f(int)' is called but has no definition [CM3110]",
        "1:7: note: 'f(int)' declared here",
    )),
    ("int O f(int a); int O f(char a) { return f(1); } int O f(int a) { return f((char)a); }",
     "1:74: error: indirect recursion ('f(char)' -> 'f(int)' -> 'f(char)'); recursion is not supported in OpenCL C "
     "[CM3112]"),
    ("int O f(int a) { return 1; } int O f(float a) { return 2; } int g(void) { return (int)f; }",
     "1:87: error: function 'f' can only be called; OpenCL C has no function pointers [CM3104]"),
    ("int O f(int a) { return 1; } int O f(Unknown a) { return 2; } int g(int4 v) { return f(1) + f(v); }",
     "1:38: error: unknown type name 'Unknown' [CM3103]"),
    # ---------------------------------------------------------------- declarations
    ("int O f(int a); int f(int a) { return 1; }", (
        "1:21: error: redeclaration of 'f' must have the 'overloadable' attribute [CM3122]",
        "1:7: note: previous declaration is here",
    )),
    ("int f(int a); int O f(int a);", (
        "1:21: error: redeclaration of 'f' must not have the 'overloadable' attribute [CM3123]",
        "1:5: note: previous declaration is here",
    )),
    ("int f(int a); int O f(float a); int f(char a);", (
        "1:37: error: at most one overload for a given name may lack the 'overloadable' attribute [CM3124]",
        "1:5: note: previous declaration is here",
    )),
    ("int O f(int a); float O f(int a);", (
        "1:25: error: conflicting types for 'f': overloads must differ in their parameters, not only in the result "
        "('float' and 'int') [CM3125]",
        "1:7: note: previous declaration is here",
    )),
    ("void f(void) { int __attribute__((overloadable)) a; }",
     "1:35: error: 'overloadable' attribute only applies to functions [CM3126]"),
    ("int __attribute__((overloadable(1))) f(int a);",
     "1:20: error: 'overloadable' attribute takes no arguments [CM3127]"),
    ("kernel void k(int a) { } kernel void __attribute__((overloadable)) k(float a) { }", (
        "1:53: warning: kernel 'k' is overloadable: here the host finds it as 'k', with other compilers by a mangled "
        "name; leave the attribute out [CM3129]",
        "1:68: error: kernel 'k' cannot be overloaded with another kernel; the host finds kernels by their names "
        "[CM3128]",
        "1:13: note: previous declaration is here",
    )),
    # ---------------------------------------------------------------- beside built-in functions
    ("float O mad(float4 a) { return a.x; } float g(global float *p) { return mad(p); }", (
        "1:73: error: no matching function for call to 'mad' with arguments of type ('__global float *') [CM3120]",
        "1:9: note: candidate function not viable: no known conversion from '__global float *' to 'float4' for 1st "
        "argument",
        "None: note: candidate: gentype mad(gentype, gentype, gentype) with gentype scalars or vectors (of 2 or 3 or 4 "
        "or 8 or 16) of float, double, half",
    )),
    ("int O max(int a, float b) { return 1; } int g(void) { return max(1, 1u); }", (
        "1:62: error: call to 'max' with arguments of type ('int', 'uint') is ambiguous; cast the arguments to the "
        "types that are meant [CM3121]",
        "1:7: note: candidate function: max(int, float)",
        "None: note: candidate built-in function: int max(int, int)",
        "None: note: candidate built-in function: uint max(uint, uint)",
    )),
    ("int O max(int a) { return 1; } int g(void) { int O max(int a, int b, int c); return max(1, 2); }", (
        "1:93: error: too few arguments to function call, expected 3, have 2 [CM3108]",
        "1:52: note: 'max' declared here",
    )),
]


@pytest.mark.parametrize(("source", "expected"), REPORTS)
def test_reports(source: str, expected: str | tuple[str, ...]) -> None:
    assert reports(DEFINES + source) == ([expected] if isinstance(expected, str) else list(expected))


def test_every_message_is_tested() -> None:
    codes = {row.code for row in vars(messages).values() if isinstance(row, Message)}
    tested = " ".join(text for _, texts in REPORTS for text in ([texts] if isinstance(texts, str) else texts))
    assert {code for code in codes if code not in tested} == set()


def run(source: str, count: int) -> list[int]:
    """What the kernel ``k`` of a source writes to its buffer."""
    return launched(DEFINES + source, count)


def launched(program: str | bytes, count: int) -> list[int]:
    """The same for a whole program, in OpenCL C or SPIR-V."""
    device = cm.device("sim:generic")
    out = np.zeros(count, np.int32)
    cm.Queue(device).enqueue(cm.build(program, device=device).kernel("k"), (1,), (1,), out).wait()
    return out.tolist()


def test_functions_stand_beside_built_in_ones() -> None:
    assert run("""
        int O max(int a, int b, int c) { return max(max(a, b), c); }  // the built-in one is still there
        float O max(float a, float b) { return 42; }                  // takes the place of the built-in one
        int O convert_int(int2 a) { return a.x + a.y; }
        float as_float(int a) { return a; }                           // hides the built-in one
        kernel void k(global int *out) {
            out[0] = max(1, 7, 3);
            out[1] = max(1.0f, 2.0f);
            out[2] = max(5u, 6u);
            out[3] = max((float2)(1, 2), 1.5f).x * 2;
            out[4] = convert_int((int2)(3, 4));
            out[5] = convert_int(8.7f);
            out[6] = as_float(9);
        }""", 7) == [7, 42, 6, 3, 7, 8, 9]


def test_built_in_function_before_the_programs_own() -> None:
    source = """
        int before(void) { return max(1.0f, 2.0f); }
        float O max(float a, float b) { return 42; }
        kernel void k(global int *out) { out[0] = before(); out[1] = max(1.0f, 2.0f); }"""
    text = to_llvm_ir(compile_source(DEFINES + source)[0])
    assert re.findall(r"call spir_func float (@[^(]+)", text) == ["@_Z3maxff.1", "@_Z3maxff"]
    assert run(source, 2) == launched(llvm.to_spirv(text, source_name="max.ll"), 2) == [2, 42]


def test_a_device_without_the_built_in_function() -> None:
    source = DEFINES + """
        float8 O intel_sub_group_f16_f16_matrix_mad_k16(short8 a, int8 b, float8 c) { return c; }
        kernel void k(global float8 *p, short8 a, int8 b) { p[0] = intel_sub_group_f16_f16_matrix_mad_k16(a, b, p[0]); }
    """
    assert "call spir_func <8 x float> @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f" in to_llvm_ir(
        compile_source(source, device=cm.device("sim:nvidia_gpu_sm_80").description)[0])


# ------------------------------------------------------------------ names

FUNCTIONS = """
struct S { int a; }; typedef struct { int b; } T; enum E { A }; union U { int i; };
int O f(void) { return 0; }
int f(char a) { return 0; }
int O f(float4 a, float4 b, float4 *c, float4 *d) { return 0; }
int O f(global int *a, local int *b, constant int *c, int *d, private int *e) { return 0; }
int O f(const global int *a, volatile global int *b, const volatile global int *c) { return 0; }
int O f(global int *restrict a, const int b) { return 0; }
int O f(global int *a, global int *b, global float4 *c, global float4 *d, float4 e, global int *global *g,
        global int *private *h, global int *private *i) { return 0; }
int O f(struct S s, T t, enum E e, union U u, global struct S *p, global void *v, const void *w) { return 0; }
int O f(bool b, char c, uchar uc, short s, ushort us, uint ui, long l, ulong ul, half *h, double d) { return 0; }
int O f(int a[4], const int b[3][2], const float4 *c, global float (*d)[2], float (*e)[2][3]) { return 0; }
int O f(enum E e, enum E *p, T *t, T *u) { return 0; }
int O f(private int *a, private int *b, const private int *c, const private int *d) { return 0; }
int O f(private float4 *a, float4 b, private float4 *c, private float4 (*d)[2], private float4 (*e)[2]) { return 0; }
int O f(private int *private *a, private int *private *b, private void *c, private void *d) { return 0; }
"""
CLANGS_TYPES = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
typedef float float4 __attribute__((ext_vector_type(4)));
"""


@pytest.mark.oracle("clang")
def test_names_in_llvm_ir_are_clangs(tmp_path: Path) -> None:
    path = tmp_path / "names.cl"
    path.write_text(DEFINES + CLANGS_TYPES + FUNCTIONS)
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", "-cc1", "-x", "cl", "-cl-std=CL3.0",
         "-triple", "spirv64-unknown-unknown", "-emit-llvm", "-o", "-", str(path)],
        capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^define .*@(\w+)\(", done.stdout, re.MULTILINE)
    assert len(names) == 14
    assert re.findall(r"^define .*@(\w+)\(", to_llvm_ir(compile_source(DEFINES + FUNCTIONS)[0]), re.MULTILINE) == names


KERNEL = """
int O f(int a) { return 1; } int f(float a) { return 2; } int O f(float4 a) { return 3; }
void O k(float a) { }
kernel void O k(global int *out) { out[0] = f(1); out[1] = f(1.0f); out[2] = f((float4)1); k(1.0f); }
kernel void outer(global int *out) { k(out); }
"""


def test_kernels_keep_their_names() -> None:
    program, _ = compile_source(DEFINES + KERNEL)
    names = re.findall(r"^define (?:internal )?(spir_\w+) .*@([\w.]+)\(", to_llvm_ir(program), re.MULTILINE)
    assert set(names) == {("spir_func", "_Z1fi"), ("spir_func", "f"), ("spir_func", "_Z1fDv4_f"),
                          ("spir_func", "_Z1kf"), ("spir_func", "k.body"), ("spir_kernel", "k"),
                          ("spir_kernel", "outer")}
    assert run(KERNEL, 3) == [1, 2, 3]


def test_names_in_spirv() -> None:
    program = cm.build(DEFINES + KERNEL, device=cm.device("sim:generic"))
    assert set(program.kernels) == {"k", "outer"}
    names = set(re.findall(r'OpName %\S+ "(\S+)"', program.spirv_asm))
    assert {"_Z1fi", "f", "_Z1fDv4_f", "_Z1kf", "k.body", "k", "outer"} <= names


@pytest.mark.parametrize(("name", "expected"), [
    ("_Z1fi", "f"), ("_Z11with_numberDv4_f", "with_number"), ("f", "f"), ("_Z", "_Z"), ("_Z5", "_Z5"), ("", ""),
])
def test_source_names(name: str, expected: str) -> None:
    assert source_name(name) == expected


def test_matrices_are_part_of_the_name() -> None:
    source = DEFINES + """
        typedef float A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16,
                                                CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
        typedef half B __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16,
                                               CLK_COOPERATIVE_MATRIX_A)));
        uint O f(A a, A b) { return 1; }
        uint O f(B a) { return 2; }
        kernel void k(global float *p) {
            A a = coop_mat_init(0);
            B b = coop_mat_init(0);
            p[0] = f(a, a) + f(b);
        }"""
    text = to_llvm_ir(compile_source(source)[0])
    assert re.findall(r"^define internal .*@(\w+)\(", text, re.MULTILINE) == [
        "_Z1fu24coop_mat_f32_sc3_8x16_u2S_", "_Z1fu24coop_mat_f16_sc3_8x16_u0"]
