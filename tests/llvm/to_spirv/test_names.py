"""Names of built-in functions: read, written, and compared with clang's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.llvm.to_spirv.names import BuiltinName, OtherCode, PointerCode, ScalarCode, parse, parse_parameters
from coopmat.lowering.llvm.names import mangled, matrix_instruction_name, opencl_call, parameter_codes
from coopmat.tree import types as t

INT, ULONG, FLOAT = ScalarCode("sint", 32), ScalarCode("uint", 64), ScalarCode("float", 32)


@pytest.mark.parametrize(("function", "name", "parameters"), [
    # the RFC
    ("_Z32__spirv_CooperativeMatrixLoadKHR", "CooperativeMatrixLoadKHR", ()),
    ("_Z32__spirv_CooperativeMatrixLoadKHR_7", "CooperativeMatrixLoadKHR", ()),
    ("_Z34__spirv_CooperativeMatrixBinaryAdd", "CooperativeMatrixBinaryAdd", ()),
    ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Kfim", "CooperativeMatrixLoadKHR", (PointerCode(FLOAT), INT, ULONG)),
    ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1f.f32_sc3_8x4_u0", "CooperativeMatrixLoadKHR", (PointerCode(FLOAT),)),
    # clang's patch
    ("__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_16x16_u0", "CooperativeMatrixLoadKHR", ()),
    ("__spirv_CooperativeMatrixFAdd", "CooperativeMatrixFAdd", ()),
    ("__spirv_CompositeConstruct_f32_sc3_16x16_u2", "CompositeConstruct", ()),
    ("__spirv_FAdd.1", "FAdd", ()),
    # the SPIR-V translator
    ("_Z26__spirv_CompositeConstructFloat", "CompositeConstruct", ()),
    ("_Z32__spirv_CooperativeMatrixLoadKHRIfLj3ELj16ELj16ELj2EEvPU3AS1fim", "CooperativeMatrixLoadKHR",
     (PointerCode(FLOAT), INT, ULONG)),
    ("_Z12__spirv_FAddPU3AS145__spirv_CooperativeMatrixKHR__float_3_12_12_2S1_", "FAdd",
     (PointerCode(None), PointerCode(None))),
    ("_Z19__spirv_AccessChainPvl", "AccessChain", (PointerCode(None), ScalarCode("sint", 64))),
])
def test_instructions(function: str, name: str, parameters: tuple[object, ...]) -> None:
    assert parse(function) == BuiltinName(name, "spirv", parameters)


MATRIX = "PU3AS144__spirv_CooperativeMatrixKHR__uint_3_12_12_2"


@pytest.mark.parametrize(("identifier", "result", "saturates", "rounding"), [
    ("__spirv_FConvert_Rhalf_rtz", "half", False, "rtz"),
    ("__spirv_ConvertFToS_Rint4_sat_rte", "int4", True, "rte"),
    ("__spirv_ConvertFToU_Rushort_sat", "ushort", True, None),
    ("__spirv_FConvert_rtp", None, False, "rtp"),
    (f"__spirv_ConvertFToU_R{MATRIX}", MATRIX, False, None),
    (f"__spirv_ConvertFToU_R{MATRIX}_sat_rtn", MATRIX, True, "rtn"),
])
def test_modifiers(identifier: str, result: str | None, saturates: bool, rounding: str | None) -> None:
    found = parse(f"_Z{len(identifier)}{identifier}Dv4_f")
    assert (found.result, found.saturates, found.rounding) == (result, saturates, rounding)
    assert found.parameters == (ScalarCode("float", 32, 4),)


@pytest.mark.parametrize(("function", "expected"), [
    ("_Z3maxii", BuiltinName("max", "opencl", (INT, INT))),
    ("_Z17__spirv_ocl_s_maxii", BuiltinName("s_max", "std", (INT, INT))),
    ("printf", BuiltinName("printf", "opencl")),
    ("_Z", BuiltinName("_Z", "opencl")),
    ("_Z99short", BuiltinName("short", "opencl")),
    ("", BuiltinName("", "opencl")),
])
def test_other_functions(function: str, expected: BuiltinName) -> None:
    assert parse(function) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("Dv4_fS_S_", (ScalarCode("float", 32, 4),) * 3),
    ("Dv4_fPU3AS1KS_PS_", (ScalarCode("float", 32, 4), PointerCode(ScalarCode("float", 32, 4)),
                           PointerCode(ScalarCode("float", 32, 4)))),
    ("PU3AS1fS0_", (PointerCode(FLOAT), PointerCode(FLOAT))),
    ("DF16bDhd", (ScalarCode("bfloat", 16), ScalarCode("float", 16), ScalarCode("float", 64))),
    ("i3fooj", (INT, OtherCode("foo"), ScalarCode("uint", 32))),
    ("iS5_i", (INT,)),
    ("i?i", (INT,)),
    ("ILi", ()),
    ("P", ()),
])
def test_parameter_lists(text: str, expected: tuple[object, ...]) -> None:
    assert parse_parameters(text) == expected


@given(st.text("PSKVUAD0123456789_vfijILEhDF16b", max_size=24))
@settings(max_examples=300, derandomize=True)
def test_nonsense_is_read_as_far_as_it_goes(text: str) -> None:
    assert isinstance(parse_parameters(text), tuple)
    assert parse(f"_Z9__spirv_X{text}").family in ("spirv", "opencl")


# --------------------------------------------------------------------------------------
# Written names
# --------------------------------------------------------------------------------------

SCALARS = [scalar for scalar in t.SCALARS.values() if scalar != t.BOOL]
scalars = st.sampled_from(SCALARS)
values = st.one_of(scalars, st.builds(t.Vector, st.sampled_from([s for s in SCALARS if s != t.BFLOAT16]),
                                      st.sampled_from(t.VECTOR_COUNTS)))
spaces = st.sampled_from([t.AddressSpace.PRIVATE, t.AddressSpace.GLOBAL, t.AddressSpace.CONSTANT, t.AddressSpace.LOCAL])
pointers = st.builds(t.Pointer, values, spaces, st.booleans(), st.booleans())
parameters = st.lists(st.one_of(values, pointers), min_size=1, max_size=6)


def code_of(type_: t.Type) -> object:
    match type_:
        case t.Scalar(kind=kind, bits=bits):
            return ScalarCode(kind, bits)
        case t.Vector(scalar=scalar, count=count):
            return ScalarCode(scalar.kind, scalar.bits, count)
        case t.Pointer(pointee=pointee):
            return PointerCode(code_of(pointee))
    raise AssertionError(type_)


@given(parameters)
@settings(max_examples=300, derandomize=True)
def test_what_is_written_is_read(types: list[t.Type]) -> None:
    assert parse_parameters(parameter_codes(types)) == tuple(map(code_of, types))


OVERLOADS: list[list[t.Type]] = [
    [t.FLOAT], [t.CHAR, t.UCHAR, t.SHORT, t.USHORT, t.INT, t.UINT, t.LONG, t.ULONG, t.HALF, t.DOUBLE],
    [t.Vector(t.FLOAT, 4)] * 3, [t.Vector(t.UCHAR, 16), t.Vector(t.FLOAT, 2), t.Vector(t.UCHAR, 16)],
    [t.Pointer(t.FLOAT, t.AddressSpace.GLOBAL)] * 2,
    [t.Pointer(t.FLOAT, t.AddressSpace.GLOBAL, const=True), t.Pointer(t.FLOAT, t.AddressSpace.GLOBAL, const=True)],
    [t.Pointer(t.Vector(t.INT, 3), t.AddressSpace.LOCAL, volatile=True), t.Vector(t.INT, 3),
     t.Pointer(t.Vector(t.INT, 3), t.AddressSpace.LOCAL)],
    [t.Pointer(t.Pointer(t.INT, t.AddressSpace.GLOBAL), t.AddressSpace.PRIVATE),
     t.Pointer(t.INT, t.AddressSpace.PRIVATE), t.Pointer(t.INT, t.AddressSpace.GLOBAL)],
    [t.Pointer(t.HALF, t.AddressSpace.CONSTANT, const=True), t.Pointer(t.VOID, t.AddressSpace.GLOBAL)],
]


def spelled(type_: t.Type) -> str:
    if not isinstance(type_, t.Pointer):
        return str(type_)
    qualifiers = "const " * type_.const + "volatile " * type_.volatile
    return f"{spelled(type_.pointee)} {qualifiers}{type_.address_space} *"


@pytest.mark.oracle("clang")
def test_clang_mangles_alike(tmp_path: Path) -> None:
    source = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + "".join(
        f"typedef {scalar} {scalar}{n} __attribute__((ext_vector_type({n})));\n"
        for scalar in ("float", "int") for n in (2, 3, 4))
    source += "typedef unsigned char uchar;\ntypedef unsigned short ushort;\ntypedef unsigned int uint;\n" \
              "typedef unsigned long ulong;\ntypedef uchar uchar16 __attribute__((ext_vector_type(16)));\n"
    for index, types in enumerate(OVERLOADS):
        names = ", ".join(f"{spelled(type_)} a{position}" for position, type_ in enumerate(types))
        source += f"__attribute__((overloadable)) void f{index}({names}) {{}}\n"
    path = tmp_path / "names.cl"
    path.write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", "-cc1", "-x", "cl", "-cl-std=CL3.0",
         "-triple", "spirv64-unknown-unknown", "-emit-llvm", "-o", "-", str(path)],
        capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^define .*@(_Z\w+)\(", done.stdout, re.MULTILINE)
    assert found == [mangled(f"f{index}", types) for index, types in enumerate(OVERLOADS)]


def test_names_of_matrix_functions() -> None:
    a = t.Matrix(t.CHAR, t.ExecutionScope.SUBGROUP, 8, 32, t.Use.A)
    c = t.Matrix(t.INT, t.ExecutionScope.SUBGROUP, 8, 16, t.Use.ACCUMULATOR)
    b = t.Matrix(t.BFLOAT16, t.ExecutionScope.SUBGROUP, 2, 2, t.Use.B)
    assert matrix_instruction_name("CooperativeMatrixMulAddKHR", [a, c, a, c]) == \
        "_Z34__spirv_CooperativeMatrixMulAddKHR_s8_sc3_8x32_u0_s32_sc3_8x16_u2"
    assert matrix_instruction_name("CooperativeMatrixLoadKHR", [b], t.Pointer(t.BFLOAT16, t.AddressSpace.LOCAL)) == \
        "_Z32__spirv_CooperativeMatrixLoadKHRPU3AS3DF16b.bf16_sc3_2x2_u1"


@pytest.mark.parametrize(("instruction", "types", "literals", "expected"), [
    ("s_max", [t.INT, t.INT], (), "_Z3maxii"),
    ("u_max", [t.Vector(t.UINT, 2)] * 2, (), "_Z3maxDv2_jS_"),
    ("u_max", [t.INT, t.INT], (), "_Z3maxjj"),
    ("s_upsample", [t.SHORT, t.USHORT], (), "_Z8upsamplest"),
    ("fclamp", [t.HALF] * 3, (), "_Z5clampDhDhDh"),
    ("vloadn", [t.ULONG, t.Pointer(t.FLOAT, t.AddressSpace.GLOBAL)], (4,), "_Z6vload4mPU3AS1Kf"),
    ("vstoren", [t.Vector(t.INT, 8), t.ULONG, t.Pointer(t.INT, t.AddressSpace.LOCAL)], (), "_Z7vstore8Dv8_imPU3AS3i"),
    ("vstore_halfn_r", [t.Vector(t.FLOAT, 2), t.ULONG, t.Pointer(t.HALF, t.AddressSpace.GLOBAL)], (2,),
     "_Z16vstore_half2_rtpDv2_fmPU3AS1Dh"),
    ("native_exp2", [t.FLOAT], (), "_Z11native_exp2f"),
    ("sincos", [t.FLOAT, t.Pointer(t.FLOAT, t.AddressSpace.PRIVATE)], (), "_Z6sincosfPf"),
])
def test_names_of_opencl_functions(instruction: str, types: list[t.Type], literals: tuple[int, ...],
                                   expected: str) -> None:
    assert opencl_call(instruction, types, literals) == expected
