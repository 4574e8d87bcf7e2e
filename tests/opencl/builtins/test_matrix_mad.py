"""Intel's 92 sub-group matrix functions and the conversions beside them: instruction, operands, sub-group sizes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from coopmat.devices import ARCHITECTURES, describe
from coopmat.diagnostics import CompileError
from coopmat.opencl import compile_source
from coopmat.opencl.builtins.patterns import Overload
from coopmat.spirv.grammar import MatrixMultiplyAccumulateOperands as Operands
from coopmat.tree.types import Type
from tests.kit.opencl.matrix_mad import PROTOTYPES, vector
from tests.kit.opencl.overload_kernels import kernel, lower, lower_through_llvm, overloads_of, validate

EXTENSION = "SPV_INTEL_subgroup_matrix_multiply_accumulate"
CAPABILITY = "SubgroupMatrixMultiplyAccumulateINTEL"

# "Modifications to the OpenCL SPIR-V Environment Specification": the operands that belong to a type of elements.
PACKED = {"i8": "Int8", "u8": "Int8", "i4": "Int4", "u4": "Int4", "f16": "Float16", "bf16": "BFloat16"}
OVERLOADS = overloads_of(r"intel_sub_group_\w+_matrix_mad_k\d+")


def signature(overload: Overload) -> tuple[str, ...]:
    return (overload.name, *map(str, overload.parameters))


def unsigned_lost(type_: Type) -> str:
    return str(type_).removeprefix("u")


def expected_operands(name: str, acc: str) -> Operands:
    """The operand bits by the names of the element types."""
    a, b = name.removeprefix("intel_sub_group_").split("_")[:2]
    operands = Operands(0)
    for letter, element in (("A", a), ("B", b)):
        kind = "TF32INTEL" if element == "tf32" else f"Packed{PACKED[element]}INTEL"
        operands |= Operands[f"Matrix{letter}{kind}"]
        if element.startswith("i"):
            operands |= Operands[f"Matrix{letter}SignedComponentsINTEL"]
    if acc.startswith("short"):
        operands |= Operands.MatrixCBFloat16INTEL | Operands.MatrixResultBFloat16INTEL
    return operands


def test_there_are_92_overloads() -> None:
    assert Counter(size for _, size in PROTOTYPES.values()) == {8: 40, 16: 52}
    assert sorted(map(signature, OVERLOADS)) == sorted(PROTOTYPES)
    assert all(str(overload.result) == str(overload.parameters[2]) for overload in OVERLOADS)


@pytest.mark.parametrize("overload", OVERLOADS, ids=str)
def test_instruction(overload: Overload) -> None:
    k, size = PROTOTYPES[signature(overload)]
    lowered = lower(kernel(overload, "k", size))
    ((item,),) = lowered.bodies()
    a, b, acc = map(unsigned_lost, overload.parameters)
    assert lowered.described(item) == (f"Op{CAPABILITY}", k, a, b, acc, int(expected_operands(overload.name, acc)), acc)
    capabilities, extensions = lowered.requirements()
    optional = {"Int16": "short" in (a + acc), "Float16": "half" in acc, "Vector16": True}
    assert capabilities == {"Addresses", "Kernel", "SubgroupDispatch", CAPABILITY,
                            *(name for name, needed in optional.items() if needed)}
    assert extensions == {EXTENSION}


def test_through_llvm() -> None:
    """Both ways to SPIR-V give the same instructions and declarations, also for the conversions."""
    conversions = overloads_of(r"intel_convert_\w+")
    source = "".join(kernel(overload, f"k{index}", PROTOTYPES.get(signature(overload), (0, None))[1])
                     for index, overload in enumerate([*OVERLOADS, *conversions]))
    ours, llvms = lower(source), lower_through_llvm(source)
    assert ours.requirements() == llvms.requirements()
    for left, right in zip(ours.bodies(), llvms.bodies(), strict=True):
        assert [ours.described(item) for item in left] == [llvms.described(item) for item in right]


@pytest.mark.oracle("spirv-val")
def test_spirv_val(tmp_path: Path) -> None:
    conversions = "".join(kernel(overload, f"k{index}") for index, overload in
                          enumerate(overloads_of(r"intel_convert_\w+")))
    sources = [conversions] + ["".join(
        kernel(overload, f"k{index}", size) for index, overload in enumerate(OVERLOADS)
        if PROTOTYPES[signature(overload)][1] == size) for size in (8, 16)]
    validate([lowered(source) for source in sources for lowered in (lower, lower_through_llvm)], tmp_path)


# ------------------------------------------------------------------ conversions


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize(("name", "instruction", "source", "target", "capability", "extension"), [
    ("intel_convert_tfloat32{n}_as_float{n}", "RoundFToTF32INTEL", "float", "float", "TensorFloat32RoundingINTEL",
     "SPV_INTEL_tensor_float32_conversion"),
    ("intel_convert_bfloat16{n}_as_ushort{n}", "ConvertFToBF16INTEL", "float", "short", "BFloat16ConversionINTEL",
     "SPV_INTEL_bfloat16_conversion"),
    ("intel_convert_as_bfloat16{n}_float{n}", "ConvertBF16ToFINTEL", "short", "float", "BFloat16ConversionINTEL",
     "SPV_INTEL_bfloat16_conversion")])
def test_conversion(name: str, instruction: str, source: str, target: str, capability: str, extension: str,
                    count: int) -> None:
    (overload,) = overloads_of(name.format(n=count if count > 1 else ""))
    lowered = lower(kernel(overload, "k"))
    ((item,),) = lowered.bodies()
    assert lowered.described(item) == (f"Op{instruction}", vector(source, count), vector(target, count))
    capabilities, extensions = lowered.requirements()
    assert capability in capabilities
    assert extensions == {extension}


# ------------------------------------------------------------------ sub-group sizes and devices


def diagnostics(source: str, device: str = "generic") -> list[str]:
    """The first lines of all diagnostics, without the file's name."""
    try:
        found = compile_source(source, device=describe(device))[1]
    except CompileError as error:
        found = error.diagnostics
    return [diagnostic.header.partition(":")[2] for diagnostic in found]


NAME = "intel_sub_group_i8_i8_matrix_mad_k32"
BODY = f"{{ *c = {NAME}(*a, *b, *c); }}"


def source_for(a: str, size: int | None) -> str:
    required = f"__attribute__((intel_reqd_sub_group_size({size})))\n" if size is not None else "\n"
    return f"{required}kernel void k(global {a} *a, global int8 *b, global int8 *c)\n{BODY}"


@pytest.mark.parametrize(("a", "needed"), [("int8", 8), ("short8", 16)])
@pytest.mark.parametrize("size", [8, 16, 32])
def test_another_required_size_is_an_error(a: str, needed: int, size: int) -> None:
    expected = [] if size == needed else [
        f"3:8: error: '{NAME}' with these types works on sub-groups of {needed}, but kernel 'k' requires {size} "
        f"[CM3715]"]
    assert diagnostics(source_for(a, size)) == expected


@pytest.mark.parametrize(("a", "needed"), [("int8", 8), ("short8", 16)])
def test_no_required_size_is_a_warning(a: str, needed: int) -> None:
    assert diagnostics(source_for(a, None)) == [
        f"3:8: warning: '{NAME}' with these types works on sub-groups of {needed}, but kernel 'k' requires no size; "
        f"add __attribute__((intel_reqd_sub_group_size({needed}))) [CM3716, -Wsub-group-size]"]


@pytest.mark.parametrize("device", ARCHITECTURES)
@pytest.mark.parametrize(("a", "size"), [("int8", 8), ("short8", 16)])
def test_devices(device: str, a: str, size: int) -> None:
    have = {"generic": (8, 16), "intel_gpu_pvc": (16,)} | {f"intel_gpu_dg2_g1{i}": (8,) for i in range(3)}
    found = diagnostics(source_for(a, size), device)
    if device not in have:
        assert found == [f"3:8: error: built-in function '{NAME}' needs cl_intel_subgroup_matrix_multiply_accumulate, "
                         f"which the device does not have [CM3713]"]
    elif size not in have[device]:
        assert found == [f"3:8: error: '{NAME}' with these types works on sub-groups of {size}; {device} has it for "
                         f"sub-groups of {have[device][0]} only [CM3714]"]
    else:
        assert found == []


def test_dg2_has_no_tf32() -> None:
    source = "kernel void k(global float8 *x) { x->s0 = intel_convert_tfloat32_as_float(x->s1); }"
    (found,) = diagnostics(source, "intel_gpu_dg2_g10")
    assert "needs cl_intel_subgroup_matrix_multiply_accumulate_tf32, which the device" in found
    assert diagnostics(source, "intel_gpu_pvc") == []


def test_a_call_in_a_function_counts_for_each_kernel_that_reaches_it() -> None:
    source = f"""int8 inner(short8 a, int8 b, int8 c) {{ return {NAME}(a, b, c); }}
        int8 outer(short8 a, int8 b, int8 c) {{ return inner(a, b, c) + inner(a, b, c); }}
        __attribute__((intel_reqd_sub_group_size(16)))
        kernel void right(global int8 *c) {{ *c = outer(0, *c, *c); }}
        __attribute__((intel_reqd_sub_group_size(32)))
        kernel void wrong(global int8 *c) {{ *c = outer(0, *c, *c); }}
        kernel void other(global int8 *c) {{ *c = 0; }}
        kernel void open(global int8 *c) {{ *c = inner(0, *c, *c); }}"""
    found = diagnostics(source)
    assert [text.split(":")[0] for text in found] == ["1", "1"]
    assert "kernel 'wrong' requires 32 [CM3715]" in found[0]
    assert "kernel 'open' requires no size" in found[1]


def test_types_that_no_overload_takes() -> None:
    (found,) = diagnostics(f"kernel void k(short4 a, int8 b, global int8 *c) {{ *c = {NAME}(a, b, *c); }}")
    assert f"no matching function for call to '{NAME}' with arguments of type ('short4', 'int8', 'int8')" in found


def test_has_builtin_depends_on_the_device() -> None:
    source = f"""#if __has_builtin({NAME}) && defined(cl_intel_subgroup_matrix_multiply_accumulate)
        #error matrix
        #elif __has_builtin(sub_group_broadcast)
        #error none
        #endif"""
    assert "#error matrix" in diagnostics(source, "intel_gpu_dg2_g11")[0]
    assert "#error none" in diagnostics(source, "nvidia_gpu_sm_80")[0]
