"""The device tables against the appendix of sycl_ext_oneapi_matrix, typed in again row by row."""

from dataclasses import FrozenInstanceError, astuple, fields, replace

import pytest

from coopmat.devices import ARCHITECTURES, Combination, DeviceDescription, describe
from coopmat.devices.model import HOST_LIMITS, Limits, up_to
from coopmat.diagnostics import Error, KernelNotSupported

# The appendix as text: types of A, B, C, D, then M, N, K as the document writes them.
AMX_INT8 = """
uint8 uint8 sint32 sint32 <=16 <=16 <=64
uint8 sint8 sint32 sint32 <=16 <=16 <=64
sint8 uint8 sint32 sint32 <=16 <=16 <=64
sint8 sint8 sint32 sint32 <=16 <=16 <=64
"""
AMX_BF16 = "bf16 bf16 fp32 fp32 <=16 <=16 <=32\n"
AMX_FP16 = "fp16 fp16 fp32 fp32 <=16 <=16 <=32\n"
PVC = """
uint8 uint8 sint32 sint32 <=8 16 32
uint8 sint8 sint32 sint32 <=8 16 32
sint8 uint8 sint32 sint32 <=8 16 32
sint8 sint8 sint32 sint32 <=8 16 32
fp16 fp16 fp32 fp32 <=8 16 16
bf16 bf16 fp32 fp32 16 16 16
bf16 bf16 fp32 fp32 32 64 16
bf16 bf16 fp32 fp32 <=8 16 16
tf32 tf32 fp32 fp32 <=8 16 8
"""
DG2 = """
uint8 uint8 sint32 sint32 <=8 8 32
uint8 sint8 sint32 sint32 <=8 8 32
sint8 uint8 sint32 sint32 <=8 8 32
sint8 sint8 sint32 sint32 <=8 8 32
fp16 fp16 fp32 fp32 <=8 8 16
bf16 bf16 fp32 fp32 <=8 8 16
"""
SM_70 = """
fp16 fp16 fp32 fp32 16 16 16
fp16 fp16 fp32 fp32 8 32 16
fp16 fp16 fp32 fp32 32 8 16
fp16 fp16 fp16 fp16 16 16 16
fp16 fp16 fp16 fp16 8 32 16
fp16 fp16 fp16 fp16 32 8 16
fp16 fp16 fp32 fp16 16 16 16
fp16 fp16 fp32 fp16 8 32 16
fp16 fp16 fp32 fp16 32 8 16
fp16 fp16 fp16 fp32 16 16 16
fp16 fp16 fp16 fp32 8 32 16
fp16 fp16 fp16 fp32 32 8 16
"""
SM_72 = SM_70 + """
sint8 sint8 sint32 sint32 16 16 16
sint8 sint8 sint32 sint32 8 32 16
sint8 sint8 sint32 sint32 32 8 16
uint8 uint8 sint32 sint32 16 16 16
uint8 uint8 sint32 sint32 8 32 16
uint8 uint8 sint32 sint32 32 8 16
"""
SM_80 = SM_72 + """
tf32 tf32 fp32 fp32 16 16 8
bf16 bf16 fp32 fp32 16 16 16
bf16 bf16 fp32 fp32 8 32 16
bf16 bf16 fp32 fp32 32 8 16
fp64 fp64 fp64 fp64 8 8 4
"""
GFX90A = """
fp16 fp16 fp32 fp32 32 32 8
fp16 fp16 fp32 fp32 16 16 16
sint8 sint8 sint32 sint32 32 32 8
sint8 sint8 sint32 sint32 16 16 16
bf16 bf16 fp32 fp32 32 32 8
bf16 bf16 fp32 fp32 16 16 16
fp64 fp64 fp64 fp64 16 16 4
"""
APPENDIX = {
    "intel_cpu_spr": AMX_INT8 + AMX_BF16,
    "intel_cpu_gnr": AMX_INT8 + AMX_BF16 + AMX_FP16,
    "intel_gpu_pvc": PVC,
    "intel_gpu_dg2_g10": DG2, "intel_gpu_dg2_g11": DG2, "intel_gpu_dg2_g12": DG2,
    "nvidia_gpu_sm_70": SM_70, "nvidia_gpu_sm_72": SM_72, "nvidia_gpu_sm_75": SM_72,
    "nvidia_gpu_sm_80": SM_80, "nvidia_gpu_sm_86": SM_80, "nvidia_gpu_sm_89": SM_80,
    "nvidia_gpu_sm_90": SM_80,
    "amd_gpu_gfx90a": GFX90A,
}
KIB = {"intel_gpu_pvc": 128, "intel_gpu_dg2_g10": 64, "intel_gpu_dg2_g11": 64, "intel_gpu_dg2_g12": 64,
       "nvidia_gpu_sm_70": 96, "nvidia_gpu_sm_72": 48, "nvidia_gpu_sm_75": 64, "nvidia_gpu_sm_80": 163,
       "nvidia_gpu_sm_86": 99, "nvidia_gpu_sm_89": 99, "nvidia_gpu_sm_90": 227, "amd_gpu_gfx90a": 64}
"""Local memory of a work-group, of the devices that are no CPUs."""


def rows_of(text: str) -> list[tuple]:
    """(max sizes, exact sizes, types, native) of each line, as `astuple` gives them."""
    rows = []
    for line in text.split("\n"):
        if line:
            *types, m, n, k = line.split()
            limits = [int(size[2:]) if size.startswith("<=") else 0 for size in (m, n, k)]
            exact = [0 if size.startswith("<=") else int(size) for size in (m, n, k)]
            rows.append((*limits, *exact, *types, True))
    return rows


@pytest.mark.parametrize("name", APPENDIX)
def test_rows_are_those_of_the_appendix(name):
    found = [astuple(row) for row in describe(name).combinations]
    assert sorted(found) == sorted(rows_of(APPENDIX[name]))


def test_the_contract_names_every_architecture_in_order():
    assert list(ARCHITECTURES) == [*APPENDIX, "generic"]


def test_a_combination_has_the_members_of_the_specification_and_native():
    assert [field.name for field in fields(Combination)] == [
        "max_msize", "max_nsize", "max_ksize", "msize", "nsize", "ksize",
        "atype", "btype", "ctype", "dtype", "native"]


@pytest.mark.parametrize(("name", "sizes"), [
    ("generic", (16, 4, 8, 32, 64)), ("intel_cpu_spr", (16, 4, 8, 32, 64)),
    ("intel_cpu_gnr", (16, 4, 8, 32, 64)), ("intel_gpu_pvc", (16, 32)), ("intel_gpu_dg2_g11", (8, 16, 32)),
    ("nvidia_gpu_sm_89", (32,)), ("amd_gpu_gfx90a", (64,))])
def test_sub_group_sizes(name, sizes):
    assert describe(name).sub_group_sizes == sizes


# DESIGN, "Feature macros", name by name.
EVERYWHERE = """
    __opencl_c_ext_cooperative_matrix cl_khr_cooperative_matrix cl_khr_fp16
    __opencl_c_generic_address_space __opencl_c_program_scope_global_variables
    __opencl_c_atomic_order_acq_rel __opencl_c_atomic_order_seq_cst __opencl_c_atomic_scope_device
    __opencl_c_atomic_scope_all_devices cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_ext_float_atomics
    __opencl_c_ext_fp32_global_atomic_add __opencl_c_ext_fp32_global_atomic_min_max
    __opencl_c_ext_fp32_local_atomic_add __opencl_c_ext_fp32_local_atomic_min_max
    __opencl_c_subgroups __opencl_c_work_group_collective_functions cl_khr_subgroups cl_khr_subgroup_extended_types
    cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic
    cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce cl_khr_subgroup_rotate
    cl_khr_integer_dot_product __opencl_c_integer_dot_product_input_4x8bit
    __opencl_c_integer_dot_product_input_4x8bit_packed"""
FP64 = """
    cl_khr_fp64 __opencl_c_fp64 __opencl_c_ext_fp64_global_atomic_add __opencl_c_ext_fp64_global_atomic_min_max
    __opencl_c_ext_fp64_local_atomic_add __opencl_c_ext_fp64_local_atomic_min_max"""
INTEL_GPU = """
    cl_intel_subgroups cl_intel_subgroups_short cl_intel_subgroups_char cl_intel_subgroups_long
    cl_intel_subgroup_local_block_io cl_intel_required_subgroup_size cl_intel_subgroup_matrix_multiply_accumulate
    cl_intel_bfloat16_conversions cl_intel_split_work_group_barrier"""
PVC = "cl_intel_subgroup_2d_block_io cl_intel_subgroup_matrix_multiply_accumulate_tf32"


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_feature_macros(name):
    macros = set(EVERYWHERE.split())
    if "dg2" not in name:
        macros |= set(FP64.split())
    if name.startswith(("intel_gpu", "generic")):
        macros |= set(INTEL_GPU.split())
    if name in ("intel_gpu_pvc", "generic"):
        macros |= set(PVC.split())
    assert set(describe(name).extensions) == macros
    assert len(describe(name).extensions) == len(macros)
    assert describe(name).has_fp64 == ("dg2" not in name)


@pytest.mark.parametrize(("name", "sizes"), [
    ("generic", (8, 16)), ("intel_gpu_pvc", (16,)), ("intel_gpu_dg2_g12", (8,)), ("intel_cpu_spr", ()),
    ("nvidia_gpu_sm_90", ()), ("amd_gpu_gfx90a", ())])
def test_sub_group_sizes_of_intels_matrix_functions(name, sizes):
    assert describe(name).xmx_sub_group_sizes == sizes


def test_describe_takes_the_name_of_the_simulated_device():
    assert describe("sim:intel_gpu_pvc") is describe("intel_gpu_pvc") is ARCHITECTURES["intel_gpu_pvc"]


def test_describe_suggests_a_name():
    with pytest.raises(Error, match=r"unknown architecture 'intel_gpu_pcv'; did you mean 'intel_gpu_pvc'\? "
                                    r"\(known: intel_cpu_spr, .*, generic, cpu\)"):
        describe("sim:intel_gpu_pcv")


# --------------------------------------------------------------------------------------
# What is supported
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", APPENDIX)
def test_every_row_supports_its_own_sizes_and_none_beyond(name):
    device = describe(name)
    largest = {row.types: [0, 0, 0] for row in device.combinations}
    for row in device.combinations:
        sizes = [limit or exact for limit, exact in ((row.max_msize, row.msize), (row.max_nsize, row.nsize),
                                                     (row.max_ksize, row.ksize))]
        assert device.supports(*row.types, *sizes)
        largest[row.types] = [max(pair) for pair in zip(largest[row.types], sizes, strict=True)]
    for types, (m, n, k) in largest.items():
        assert not device.supports(*types, m + 1, n, k)
        assert not device.supports(*types, m, n + 1, k)
        assert not device.supports(*types, m, n, k + 1)


@pytest.mark.parametrize(("sizes", "expected"), [
    ((8, 16, 32), True), ((1, 16, 32), True), ((0, 16, 32), False), ((9, 16, 32), False),
    ((8, 8, 32), False), ((8, 16, 16), False), ((-1, 16, 32), False)])
def test_pvc_takes_m_up_to_8_and_exact_n_and_k(sizes, expected):
    assert describe("intel_gpu_pvc").supports("sint8", "sint8", "sint32", "sint32", *sizes) is expected


def test_sizes_of_different_rows_do_not_mix():
    pvc = describe("intel_gpu_pvc")
    assert pvc.supports("bf16", "bf16", "fp32", "fp32", 32, 64, 16)
    assert not pvc.supports("bf16", "bf16", "fp32", "fp32", 32, 16, 16)


def test_generic_takes_everything_that_has_a_meaning():
    generic = describe("generic")
    assert generic.supports("sint4", "uint8", "sint64", "sint16", 1, 999, 3)
    assert generic.supports("fp16", "bf16", "fp32", "fp64", 7, 5, 1)
    assert not generic.supports("fp16", "fp16", "sint32", "sint32", 8, 8, 8)
    assert not generic.supports("fp16", "fp16", "fp32", "fp32", 8, 0, 8)
    assert generic.supports_matrix("uint16", "b", 3, 1000)
    assert not generic.supports_matrix("uint16", "b", 0, 4)


@pytest.mark.parametrize(("fmt", "use", "rows", "columns", "expected"), [
    ("sint8", "a", 8, 32, True), ("sint8", "a", 3, 32, True), ("sint8", "a", 32, 8, False),
    ("sint8", "b", 32, 16, True), ("sint8", "b", 16, 32, False), ("sint8", "accumulator", 8, 16, False),
    ("sint32", "accumulator", 8, 16, True), ("sint32", "accumulator", 16, 16, False),
    ("fp32", "accumulator", 16, 16, True), ("fp32", "accumulator", 32, 64, True),
    ("fp32", "a", 8, 16, False), ("tf32", "b", 8, 16, True), ("fp64", "a", 8, 4, False)])
def test_single_matrices_on_pvc(fmt, use, rows, columns, expected):
    assert describe("intel_gpu_pvc").supports_matrix(fmt, use, rows, columns) is expected


def test_c_and_d_may_have_different_types_on_nvidia():
    sm_70 = describe("nvidia_gpu_sm_70")
    assert sm_70.supports("fp16", "fp16", "fp16", "fp32", 8, 32, 16)
    assert sm_70.supports_matrix("fp16", "accumulator", 8, 32)


def test_unknown_names_are_errors():
    pvc = describe("intel_gpu_pvc")
    with pytest.raises(Error, match="unknown element type 'int8'"):
        pvc.supports_matrix("int8", "a", 8, 32)
    with pytest.raises(Error, match=r"unknown matrix use 'c' \(known: a, b, accumulator\)"):
        pvc.supports_matrix("sint8", "c", 8, 32)


def test_nearest_prefers_the_types_then_the_shape():
    nearest = describe("intel_gpu_pvc").nearest("bf16", "bf16", "fp32", "fp32", 12, 16, 16)
    assert [str(row) for row in nearest] == [
        "bf16*bf16 + fp32 -> fp32, M=16 N=16 K=16",
        "bf16*bf16 + fp32 -> fp32, M<=8 N=16 K=16",
        "bf16*bf16 + fp32 -> fp32, M=32 N=64 K=16"]
    assert describe("generic").nearest("bf16", "bf16", "fp32", "fp32", 12, 16, 16) == []


def test_require_names_the_combination_the_device_and_what_is_nearest():
    pvc = describe("intel_gpu_pvc")
    pvc.require("sint8", "sint8", "sint32", "sint32", 8, 16, 32)
    with pytest.raises(KernelNotSupported) as caught:
        pvc.require("sint8", "sint8", "sint32", "sint32", 16, 16, 32)
    assert str(caught.value).startswith(
        "intel_gpu_pvc does not support the matrix multiply-accumulate sint8*sint8 + sint32 -> sint32, "
        "M=16 N=16 K=32; nearest supported: sint8*sint8 + sint32 -> sint32, M<=8 N=16 K=32; ")


def test_require_matrix_names_the_matrix_and_what_is_nearest():
    dg2 = describe("intel_gpu_dg2_g10")
    dg2.require_matrix("fp16", "b", 16, 8)
    with pytest.raises(KernelNotSupported, match=r"intel_gpu_dg2_g10 does not support a 16x16 fp16 matrix with "
                                                 r"use 'b'; nearest supported: fp16\*fp16 .* N=8 K=16; "):
        dg2.require_matrix("fp16", "b", 16, 16)


def test_generic_says_what_it_takes():
    with pytest.raises(KernelNotSupported, match="it takes every size from 1 on, with types that are all"):
        describe("generic").require("fp16", "fp16", "sint32", "fp32", 1, 1, 1)


# --------------------------------------------------------------------------------------
# Records refuse to be built wrong
# --------------------------------------------------------------------------------------

LIMITS = Limits(65536, 1024, "an example")
GOOD = Combination.row("sint8", "sint8", "sint32", "sint32", up_to(8), 16, 32)


def test_records_are_frozen():
    with pytest.raises(FrozenInstanceError):
        GOOD.msize = 3


@pytest.mark.parametrize(("change", "message"), [
    ({"msize": 8}, "M: exactly one of the maximum"),
    ({"nsize": 0}, "N: exactly one of the maximum"),
    ({"ksize": -32}, "K: exactly one of the maximum"),
    ({"max_ksize": 32}, "K: exactly one of the maximum"),
    ({"atype": "fp16"}, "either all integers or all floats"),
    ({"btype": "sint16"}, "A and B differ in width"),
    ({"atype": "uint16", "btype": "uint16", "dtype": "sint8"}, "narrower than the operands"),
    ({"dtype": "sint4"}, "not a valid matrix_type")])
def test_wrong_combinations(change, message):
    with pytest.raises(ValueError, match=message):
        replace(GOOD, **change)


def test_a_combination_of_an_unknown_type():
    with pytest.raises(Error, match="unknown element type 'int8'"):
        replace(GOOD, atype="int8")


@pytest.mark.parametrize(("family", "row", "message"), [
    ("nvidia", replace(GOOD, btype="uint8"), "atype and btype must be equal"),
    ("amd", replace(GOOD, btype="uint8"), "atype and btype must be equal"),
    ("amd", replace(GOOD, ctype="uint32"), "ctype and dtype must be equal"),
    ("intel_xmx", replace(GOOD, ctype="uint32"), "ctype and dtype must be equal"),
    ("intel_amx", replace(GOOD, ctype="uint32"), "ctype and dtype must be equal")])
def test_types_that_the_family_does_not_mix(family, row, message):
    with pytest.raises(ValueError, match=message):
        DeviceDescription("x", family, (16,), (row,), limits=LIMITS)


@pytest.mark.parametrize(("change", "message"), [
    ({"vendor_family": "acme"}, "unknown family 'acme'"),
    ({"sub_group_sizes": ()}, "expected distinct sub-group sizes"),
    ({"sub_group_sizes": (8, 8)}, "expected distinct sub-group sizes"),
    ({"sub_group_sizes": (12,)}, "powers of two"),
    ({"limits": HOST_LIMITS}, "a GPU has limits of its own"),
    ({"combinations": ()}, "either a table of combinations or none"),
    ({"any_combination": True}, "either a table of combinations or none"),
    ({"combinations": (GOOD, GOOD)}, "listed twice"),
    ({"combinations": (Combination.row("fp64", "fp64", "fp64", "fp64", 8, 8, 4),), "has_fp64": False},
     "the device has no fp64")])
def test_wrong_descriptions(change, message):
    description = DeviceDescription("x", "intel_xmx", (16,), (GOOD,), limits=LIMITS)
    with pytest.raises(ValueError, match=message):
        replace(description, **change)
