"""matrix_params and the run-time query, against the appendix of sycl_ext_oneapi_matrix typed in as text."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coopmat as cm
from coopmat.diagnostics import errc
from coopmat.formats import FORMATS, matrix_type
from coopmat.runtime.element_types import (
    BY_FORMAT,
    bfloat16,
    boolean,
    float32,
    float64,
    half,
    int8,
    int32,
    precision,
    uint8,
)
from coopmat.runtime.information import architecture, aspect, device_type, info
from coopmat.sycl.constraints import BrokenConstraint
from coopmat.sycl.enumerations import layout, use
from coopmat.sycl.joint_matrices import joint_matrix_type
from coopmat.sycl.queries import matrix_params
from coopmat.sycl.ranges import sub_group
from tests.devices.test_tables import APPENDIX

PVC = architecture.intel_gpu_pvc
SIMULATED = [one for one in cm.devices() if one.name.startswith("sim:")]
LINES = [pytest.param(name, line.split(), id=f"{name}: {line}")
         for name, text in APPENDIX.items() for line in text.split("\n") if line]


def sizes_of(text: str) -> list[int]:
    """The sizes that the appendix allows with one entry: ``<=8`` or ``16``."""
    return list(range(1, int(text[2:]) + 1)) if text.startswith("<=") else [int(text)]


def shapes_of(name: str, types: list[str]) -> set[tuple[int, int, int]]:
    """Every supported M, N, K for these types, by the text of the appendix."""
    return {(m, n, k) for line in APPENDIX[name].split("\n") if line and line.split()[:4] == types
            for m in sizes_of(line.split()[4]) for n in sizes_of(line.split()[5]) for k in sizes_of(line.split()[6])}


def elements(types: list[str]) -> list:
    return [BY_FORMAT[name] for name in types]


def is_valid(name: str, types: list[str], shape: tuple[int, int, int]) -> bool:
    try:
        found = matrix_params(architecture(name), *elements(types), *shape)
    except BrokenConstraint as error:
        if error.message.code != "CM6194":
            raise
        return False
    return shape == (found.M, found.N, found.K)


# ------------------------------------------------------------------ validation


@pytest.mark.parametrize(("name", "row"), LINES)
def test_each_row_validates_and_its_neighbours_do_as_the_table_says(name: str, row: list[str]) -> None:
    types = row[:4]
    supported = shapes_of(name, types)
    m, n, k = (sizes_of(size)[-1] for size in row[4:])
    assert is_valid(name, types, (m, n, k))
    near = {(m + i, n + j, k + o) for i in (-1, 0, 1) for j in (-1, 0, 1) for o in (-1, 0, 1)}
    near |= {(m * 2, n, k), (m, n * 2, k), (m, n, k * 2), (n, m, k), (1, n, k), (1, 1, 1)}
    near = {shape for shape in near if min(shape) > 0}
    assert {shape for shape in near if is_valid(name, types, shape)} == near & supported


TYPES = sorted({tuple(line.split()[:4]) for text in APPENDIX.values() for line in text.split("\n") if line})
any_types = st.sampled_from(TYPES) | st.tuples(*[st.sampled_from(sorted(BY_FORMAT))] * 4)
any_size = st.sampled_from([4, 8, 16, 32, 64]) | st.integers(1, 70)


@given(st.sampled_from(sorted(APPENDIX)), any_types, st.tuples(any_size, any_size, any_size))
def test_any_types_and_sizes(name: str, types: tuple[str, ...], shape: tuple[int, int, int]) -> None:
    assert is_valid(name, list(types), shape) == (shape in shapes_of(name, list(types)))


def test_the_example_of_section_validation() -> None:
    with pytest.raises(BrokenConstraint) as caught:
        matrix_params(PVC, int8, int8, int32, int32, 16, 16, 32)
    assert str(caught.value) == (
        "matrix_params: intel_gpu_pvc does not support the matrix multiply-accumulate sint8*sint8 + sint32 -> sint32, "
        "M=16 N=16 K=32; nearest supported: sint8*sint8 + sint32 -> sint32, M<=8 N=16 K=32; "
        "uint8*sint8 + sint32 -> sint32, M<=8 N=16 K=32; sint8*uint8 + sint32 -> sint32, M<=8 N=16 K=32 [CM6194]")
    assert caught.value.code() is errc.build


@pytest.mark.parametrize(("arguments", "message"), [
    ((PVC, float64, float64, float64),
     r"intel_gpu_pvc does not support the matrix multiply-accumulate fp64\*fp64 \+ fp64 -> fp64; nearest supported: "),
    ((PVC, int8, int8, float32), r"sint8\*sint8 \+ fp32 -> fp32; nearest supported: sint8\*sint8 \+ sint32 -> sint32"),
    ((PVC, int8, int8, int32, int32, 8), "takes all of the sizes M, N and K, .* found M=8 only"),
    ((PVC, int8, int8, int32, int32, 0, 16, 32), "found N=16, K=32 only"),
    ((PVC, int8, int8, int32, int32, -8, 16, 32), "M must be a positive integer; found -8"),
    ((PVC, int8, int8, int32, int32, 8, 16, 32.0), r"K must be a positive integer; found 32\.0"),
    ((PVC, int8, int8, int32, int32, 8, True, 32), "N must be a positive integer; found True"),
    ((PVC, boolean, int8, int32), "Ta must be an element type, one of int8, .* precision.tf32; found bool"),
    ((PVC, int8, str, int32), "Tb must be an element type, .* found str"),
    ((PVC, int8, int8, 4), "Tc must be an element type, .* found 4"),
    ((PVC, int8, int8, int32, np.complex64), "Td must be an element type, .* found complex64"),
    (("intel_gpu_pcv", int8, int8, int32), "unknown architecture 'intel_gpu_pcv'; did you mean 'intel_gpu_pvc'"),
    ((5, int8, int8, int32), "must be a member of architecture, such as architecture.intel_gpu_pvc; found 5"),
    (("generic", int8, int8, int32), "generic takes matrices of every size and has no default ones: give M, N and K"),
    (("generic", int8, bfloat16, int32, int32, 1, 1, 1), "types that are all integers or all floats"),
])
def test_what_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(BrokenConstraint, match=message):
        matrix_params(*arguments)


def test_the_device_without_a_table_validates_every_size() -> None:
    assert matrix_params("sim:generic", int8, uint8, int32, int32, 3, 5, 7).K == 7


# ------------------------------------------------------------------ default sizes


@pytest.mark.parametrize(("name", "row"), LINES)
def test_default_sizes_are_the_largest(name: str, row: list[str]) -> None:
    types = row[:4]
    found = matrix_params(architecture(name), *elements(types))
    shapes = shapes_of(name, types)
    assert (found.M, found.N, found.K) in shapes
    assert max(m * n * k for m, n, k in shapes) == found.M * found.N * found.K


@pytest.mark.parametrize("device", [one for one in SIMULATED if one.matrix_combinations], ids=str)
def test_default_sizes_are_the_largest_of_the_run_time_query(device: cm.Device) -> None:
    largest: dict[tuple, int] = {}
    for row in device.matrix_combinations:
        volume = (row.max_msize or row.msize) * (row.max_nsize or row.nsize) * (row.max_ksize or row.ksize)
        largest[row.types] = max(volume, largest.get(row.types, 0))
    for types, volume in largest.items():
        found = matrix_params(device.architecture, *elements(list(types)))
        assert volume == found.M * found.N * found.K


def test_of_several_largest_shapes_the_first_in_the_table() -> None:
    found = matrix_params(architecture.nvidia_gpu_sm_70, half, half, float32)
    assert (found.M, found.N, found.K) == (16, 16, 16)


def test_the_example_of_section_default_values() -> None:
    found = matrix_params(PVC, int8, int8, int32)
    assert (found.M, found.N, found.K) == (8, 16, 32)
    assert found.joint_matrix_a(sub_group, layout.row_major) == joint_matrix_type(
        sub_group, int8, use.a, 8, 32, layout.row_major)
    assert found.joint_matrix_b[sub_group, layout.col_major] == joint_matrix_type(
        sub_group, int8, use.b, 32, 16, layout.col_major)
    assert found.joint_matrix_c(sub_group) == joint_matrix_type(sub_group, int32, use.accumulator, 8, 16)
    assert found.joint_matrix_d[sub_group] == found.joint_matrix_c(sub_group)


def test_d_may_have_a_type_of_its_own() -> None:
    found = matrix_params(architecture.nvidia_gpu_sm_80, half, half, float32, half, 16, 16, 16)
    assert (found.joint_matrix_c(sub_group).element, found.joint_matrix_d(sub_group).element) == (float32, half)


def test_types_of_numpy_and_python() -> None:
    assert matrix_params(PVC, np.int8, np.dtype("uint8"), int) == matrix_params(PVC, int8, uint8, int32)
    assert matrix_params(PVC, ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32).Ta is bfloat16
    assert matrix_params(PVC, precision.tf32, precision.tf32, float).K == 8


def test_an_architecture_by_its_name() -> None:
    assert matrix_params("sim:intel_gpu_pvc", int8, int8, int32).architecture is PVC


def test_sizes_by_keyword_and_numpy_ints() -> None:
    assert matrix_params(PVC, int8, int8, int32, M=4, N=np.int64(16), K=32).M == 4


def test_square_brackets() -> None:
    assert matrix_params[PVC, int8, int8, int32, int32, 8, 16, 32] == matrix_params(PVC, int8, int8, int32)
    with pytest.raises(cm.Error, match="three or four types and no or three sizes"):
        matrix_params[PVC, int8]


@pytest.mark.parametrize(("make", "message"), [
    (lambda p: p.joint_matrix_a(sub_group), "CM6107"),
    (lambda p: p.joint_matrix_b[sub_group, layout.dynamic], "CM6108"),
    (lambda p: p.joint_matrix_c(sub_group, layout.row_major), "CM6109"),
    (lambda p: p.joint_matrix_d(4), "CM6101"),
    (lambda p: p.joint_matrix_a[sub_group, layout.row_major, 4], "takes a Group and, for A and B, a Layout"),
])
def test_matrices_that_the_extension_does_not_have(make, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        make(matrix_params(PVC, int8, int8, int32))


def test_it_is_a_value() -> None:
    found = matrix_params(PVC, int8, int8, int32)
    assert repr(found) == "matrix_params(architecture.intel_gpu_pvc, int8, int8, int32, int32, 8, 16, 32)"
    assert eval(repr(found)) == found
    assert hash(found) == hash(matrix_params(PVC, int8, int8, int32, int32, 8, 16, 32))
    assert repr(found.joint_matrix_a) == "joint_matrix[Group, int8, use.a, 8, 32, Layout]"
    assert repr(found.joint_matrix_d) == "joint_matrix[Group, int32, use.accumulator, 8, 16]"
    with pytest.raises(FrozenInstanceError):
        found.M = 3


# ------------------------------------------------------------------ the run-time query


@pytest.mark.parametrize("device", SIMULATED, ids=str)
def test_matrix_combinations(device: cm.Device) -> None:
    asked = device.get_info(info.device.matrix_combinations)
    assert asked == device.get_info[info.device.matrix_combinations]() == device.matrix_combinations
    assert all(isinstance(row, cm.Combination) for row in asked)
    for row in asked:
        sizes = [getattr(row, f"max_{size}size") or getattr(row, f"{size}size") for size in "mnk"]
        assert sizes[0] == matrix_params(device.architecture, *elements(list(row.types)), *sizes).M


def test_the_example_of_section_runtime_query() -> None:
    combinations = cm.device("sim:intel_gpu_pvc").get_info(info.device.matrix_combinations)
    Ta, Tb, Tc, Td = bfloat16, bfloat16, float32, float32
    found = [row for row in combinations if Ta == row.atype and Tb == row.btype and Tc == row.ctype and Td == row.dtype]
    assert [(row.msize, row.nsize, row.ksize) for row in found] == [(0, 16, 16), (16, 16, 16), (32, 64, 16)]
    for row in combinations:
        assert all(isinstance(type_, matrix_type) for type_ in row.types)
        assert (f"{row.atype}", row.atype) == (row.atype.value, matrix_type[row.atype.name])
    assert str(combinations[0]) == "uint8*uint8 + sint32 -> sint32, M<=8 N=16 K=32"


def test_types_compare_as_matrix_types() -> None:
    assert set(matrix_type) == {name for name in FORMATS if not name.endswith("int4")}
    for name in matrix_type:
        assert name == BY_FORMAT[name] == name == str(name)
        assert [other for other in matrix_type if BY_FORMAT[name] == other] == [name]
        assert hash(BY_FORMAT[name]) == hash(name)
    assert float32 != precision.tf32
    assert int8 != 5


@pytest.mark.parametrize(("descriptor", "expected"), [
    (info.device.name, "sim:intel_gpu_dg2_g10"), (info.device.architecture, architecture.intel_gpu_dg2_g10),
    (info.device.sub_group_sizes, [8, 16, 32]), (info.device.max_work_group_size, 1024),
    (info.device.device_type, device_type.gpu), (info.device.vendor, "coopmat"),
    (info.device.version, cm.__version__), (info.device.driver_version, cm.__version__)])
def test_what_a_device_tells(descriptor, expected) -> None:
    assert cm.device("sim:intel_gpu_dg2_g10").get_info(descriptor) == expected


def test_the_sizes_that_it_tells_are_the_limits() -> None:
    queue = cm.Queue("sim:generic")
    kernel = cm.build("kernel void k(local char* p) { if (get_local_id(0) == 0) p[0] = 1; }").kernel("k")
    items, nbytes = (queue.device.get_info(descriptor)
                     for descriptor in (info.device.max_work_group_size, info.device.local_mem_size))
    queue.enqueue(kernel, items, items, cm.local(nbytes)).wait()
    with pytest.raises(cm.LaunchError, match="work-group"):
        queue.enqueue(kernel, items * 2, items * 2, cm.local(1))
    with pytest.raises(cm.LaunchError, match="local memory"):
        queue.enqueue(kernel, items, items, cm.local(nbytes + 1))


def test_aspects_are_what_the_device_can() -> None:
    source = "kernel void k(global double* p) { p[0] = 0.1; }"
    for device in cm.devices():
        try:
            cm.build(source, device=device)
        except cm.CompileError:
            assert not device.has(aspect.fp64)
        else:
            assert device.has(aspect.fp64)
        assert device.has(aspect.cpu) == device.is_cpu() == device.name.startswith(("cpu", "sim:intel_cpu"))
        assert device.has(aspect.gpu) == device.is_gpu() == ("_gpu_" in device.name)
        assert device.has(aspect.ext_intel_matrix) == ("intel" in device.name or device.name in ("cpu", "sim:generic"))
        assert device.has(aspect.emulated) == device.name.startswith("sim:")
        assert device.get_info(info.device.aspects) == [one for one in aspect if device.has(one)]


def test_architecture_is() -> None:
    device = cm.device("sim:intel_gpu_pvc")
    assert [one for one in architecture if device.ext_oneapi_architecture_is(one)] == [PVC]
    assert cm.device("sim:generic").get_info(info.device.architecture) == "generic"


@pytest.mark.parametrize(("ask", "message"), [
    (lambda d: d.get_info("name"), r"expected one of info\.device\.name, .*\.matrix_combinations; found 'name'"),
    (lambda d: d.get_info(info.event.command_execution_status), "found info.event.command_execution_status"),
    (lambda d: d.get_info(), "found None"),
    (lambda d: d.has("fp64"), "expected one of aspect.cpu, .*found 'fp64'"),
    (lambda d: d.ext_oneapi_architecture_is("pvc"), "unknown architecture 'pvc'"),
])
def test_questions_that_nobody_answers(ask, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        ask(cm.device("sim:intel_gpu_pvc"))


def test_a_descriptor_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"info\.device has no max_clock; it has name, vendor"):
        info.device.max_clock  # noqa: B018
    assert "matrix_combinations" in dir(info.device)
