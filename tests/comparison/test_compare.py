"""cm.compare: equal devices, products that round otherwise, stores, and wrong inputs."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.comparison import steps
from coopmat.comparison.product import Product
from coopmat.sycl import (
    float32,
    half,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    ptr,
    use,
    work_group,
)
from tests.kit.lenient import lenient
from tests.kit.paths import EXAMPLES
from tests.kit.rational_model import decode, round_exactly

BF16 = ml_dtypes.bfloat16
KERNELS = """
kernel void hash(global uint *out, global const uint *x)
{
    uint i = get_global_id(0), h = x[i];
    for (int n = 0; n < 4; n++)
        h = (h ^ (h >> 15)) * 2654435761u + popcount(h) * i;
    out[i] = h;
}
kernel void curve(global float *out, global const float *x, float slope) {
    int i = get_global_id(0);
    out[i] = native_exp(x[i]) * slope + x[i];
}
kernel void nothing(global const float *x, global float *out) { if (x[0] > 1e30f) out[0] = 1; }
kernel void shift(global int *to, global const int *from) { to[get_global_id(0)] = from[get_global_id(0)] + 1; }
kernel void sizes(global int *out)
{
    int i = get_global_id(0);
    out[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i == 37)
        out[i] = get_max_sub_group_size();
    printf("%d ", i == 37);
}
kernel void zeros(global float *out, global const float *x) { out[get_global_id(0)] = x[get_global_id(0)] / 0.0f; }
"""


@pytest.fixture(scope="module")
def program() -> cm.Program:
    return cm.build(KERNELS)


def gemm(tile: tuple[int, int, int], types: tuple[str, str], sub_group: int, devices: list[Any],
         a: np.ndarray, b: np.ndarray, c: np.ndarray, **options: Any) -> cm.Comparison:
    """examples/gemm.cl on several devices; ``c`` has the shape and type of the result."""
    m, n, k = tile
    built = cm.build(EXAMPLES / "gemm.cl", f"-DTM={m} -DTN={n} -DTK={k} -DIN={types[0]} -DOUT={types[1]} -DFLAGS=0 "
                                           f"-DSUB_GROUP_SIZE={sub_group}")
    whole = c.shape[1] // n * sub_group, c.shape[0] // m
    return cm.compare(built.kernel("gemm"), devices, whole, (sub_group, 1), a, b, c, c.shape[1], a.shape[1], **options)


# --------------------------------------------------------------------------------------
# Arrays
# --------------------------------------------------------------------------------------


def test_integers_are_equal_everywhere(program: cm.Program) -> None:
    x = np.arange(256, dtype=np.uint32)
    out = np.full(256, 9, np.uint32)
    found = cm.compare(program.kernel("hash"), ["cpu", "sim:generic", "sim:nvidia_gpu_sm_90", "sim:amd_gpu_gfx90a"],
                       256, 64, out, x)
    assert found.equal
    assert found.is_within(0)
    assert (out == 9).all(), "the arrays that are given stay as they are"
    assert [(one.array, one.device) for one in found.differences] == [
        ("out", "sim:generic"), ("out", "sim:nvidia_gpu_sm_90"), ("out", "sim:amd_gpu_gfx90a")]
    assert found.explanation is None
    assert "all results are equal" in str(found)


def test_an_ordinary_kernel_on_the_cpu(program: cm.Program) -> None:
    """Whether these differ is the CPU's business: the figures must be those of two launches."""
    x, out = np.linspace(-20, 20, 512, dtype=np.float32), np.zeros((16, 32), np.float32)
    [row] = cm.compare(program.kernel("curve"), ["sim:generic", "cpu"], 512, 64, out, x, slope=3).differences
    results = []
    for name in ("sim:generic", "cpu"):
        results.append(np.zeros(512, np.float32))
        cm.Queue(name).enqueue(program.kernel("curve"), 512, 64, results[-1], x, 3).wait()
    assert row.differing == (results[0] != results[1]).sum()
    assert row.shape == (16, 32)
    assert row.most_ulps < 4096  # where terms cancel each other


def test_arrays_that_no_device_wrote_are_left_out(program: cm.Program) -> None:
    found = cm.compare(program.kernel("nothing"), ["cpu", "sim:generic"], 16, 16, np.ones(4, np.float32),
                       np.ones(4, np.float32))
    assert found.differences == ()
    assert found.equal
    assert "no device wrote to an array" in str(found)


def test_arrays_that_share_memory_share_it_on_every_device(program: cm.Program) -> None:
    data = np.zeros(65, np.int32)
    found = cm.compare(program.kernel("shift"), ["sim:generic", "sim:generic"], 64, 16, data[:64], data[:64])
    assert found.equal
    assert found.devices == ("sim:generic", "sim:generic (2)")


def test_zeros_and_nans(program: cm.Program) -> None:
    x = np.array([0, 1, -1, math.nan] * 4, np.float32)
    found = cm.compare(program.kernel("zeros"), ["sim:generic", "cpu", "sim:intel_gpu_pvc"], 16, 16, np.ones_like(x), x)
    assert found.equal


def test_bf16_in_16_bits_is_compared_as_bf16() -> None:
    """Their kernel knows the type, whatever the array is called."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(BF16).view(np.uint16) for shape in ((8, 64), (64, 16)))
    found = gemm((8, 16, 16), ("__bf16", "__bf16"), 16, ["sim:generic", "cpu"], a, b, np.zeros((8, 16), np.uint16))
    assert {row.dtype for row in found.differences} == {"bfloat16"}


# --------------------------------------------------------------------------------------
# Products
# --------------------------------------------------------------------------------------

ROUNDING = [
    ("sim:nvidia_gpu_sm_70", "sim:nvidia_gpu_sm_90", (16, 16, 16), "fp16", 32),
    ("sim:nvidia_gpu_sm_90", "exact:nvidia_gpu_sm_90", (16, 16, 16), "bf16", 32),
    ("sim:amd_gpu_gfx90a", "sim:generic", (16, 16, 16), "fp16", 64),
    ("exact:intel_gpu_pvc", "sim:intel_gpu_pvc", (8, 16, 16), "bf16", 16),
    ("sim:intel_cpu_spr", "sim:generic", (16, 16, 32), "bf16", 16),
]
INPUTS = {"fp16": (np.dtype(np.float16), "half"), "bf16": (np.dtype(BF16), "__bf16")}


def found_by_search(dtype: np.dtype[Any], architectures: list[str], k: int) -> tuple[np.ndarray, np.ndarray]:
    """A row of A and a column of B at which two architectures differ."""
    name = "fp16" if dtype == np.float16 else "bf16"
    rng = np.random.default_rng(11)
    for _ in range(1000):
        a, b = rng.standard_normal((1, k)).astype(dtype), rng.standard_normal((k, 1)).astype(dtype)
        results = [cm.matrix_multiply_accumulate(a, b, np.zeros((1, 1), np.float32), a_type=name, b_type=name,
                                                 c_type="fp32", architecture=one)[0, 0] for one in architectures]
        if results[0] != results[1]:
            return a[0], b[:, 0]
    raise AssertionError(architectures)


@pytest.mark.parametrize(("one", "other", "tile", "name", "sub_group"), ROUNDING)
def test_a_product_is_explained(one: str, other: str, tile: tuple[int, int, int], name: str, sub_group: int) -> None:
    """In the second execution, second work-group, one element of the matrix: everything else is zero."""
    m, n, k = tile
    dtype, spelled = INPUTS[name]
    architectures = ["generic" if device.startswith("exact:") else device.removeprefix("sim:")
                     for device in (one, other)]
    row, column = found_by_search(dtype, architectures, k)
    a, b = np.zeros((2 * m, 3 * k), dtype), np.zeros((3 * k, n), dtype)
    a[m + 3, k:2 * k], b[k:2 * k, 5] = row, column
    found = gemm(tile, (spelled, "float"), sub_group, [one, other], a, b, np.zeros((2 * m, n), np.float32))
    assert not found.equal
    explanation = found.explanation
    assert explanation is not None
    assert explanation.location is not None
    line = (EXAMPLES / "gemm.cl").read_text().splitlines()[int(explanation.location.split(":")[-2]) - 1]
    assert "coop_matmul_add" in line
    assert explanation.source_line == line
    assert "coop_matmul_add" in explanation.instruction
    assert (explanation.execution, explanation.work_group, explanation.sub_group) == (2, (0, 1, 0), 0)
    assert explanation.element == (3, 5)
    assert explanation.is_origin
    assert explanation.product is not None
    check_product(explanation.product, architectures, name)
    assert explanation.values == tuple(str(value) for value in explanation.product.sums[-1].values)
    json.dumps(found.as_dict())


def check_product(product: Product, architectures: list[str], name: str) -> None:
    """Partial sums against the public function and rational numbers, written down a second time."""
    for part in product.sums:
        stop = part.stop
        for architecture, value in zip(architectures, part.values, strict=True):
            expected = cm.matrix_multiply_accumulate(
                product.a[None, :stop], product.b[:stop, None], np.zeros((1, 1), np.float32), a_type=name, b_type=name,
                c_type="fp32", architecture=architecture)[0, 0]
            assert value == expected
            if architecture == "generic":
                exact = sum((Fraction(float(x)) * Fraction(float(y))
                             for x, y in zip(product.a[:stop], product.b[:stop], strict=True)), Fraction())
                assert Fraction(float(value)) == decode(round_exactly(exact, "fp32"), "fp32")
    before = product.sums[:product.sums.index(product.step)]
    assert all(part.values[0] == part.values[1] for part in before)
    assert product.step.values[0] != product.step.values[1]


def test_the_step_is_the_one_with_the_small_product() -> None:
    """Volta keeps 23 bits below the largest term of a block of 4, Hopper 25: a product 2**-24 of the largest counts on
    Hopper only."""
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[2, 8:11], b[8:11, 7] = [1, 2.0**-12, -1], [1, 2.0**-12, 1]  # third block of Volta: k = 8 to 11
    found = gemm((16, 16, 16), ("half", "float"), 32, ["sim:nvidia_gpu_sm_70", "sim:nvidia_gpu_sm_90"], a, b,
                 np.zeros((16, 16), np.float32))
    assert [row.differing for row in found.differences] == [1]
    assert found.explanation is not None
    product = found.explanation.product
    assert product is not None
    assert found.explanation.values == ("0.0", str(np.float32(2.0**-24)))
    assert [len(product.roundings(side)) for side in (0, 1)] == [1, 0]
    assert product.roundings(0)[0].startswith("k = 8 to 11: ")
    assert product.error(1) == "exact"
    text = str(found)
    assert "cut off towards zero after 23 fraction bits" in text
    assert "cut off towards zero after 25 fraction bits" in text


def test_matrices_of_work_groups() -> None:
    @kernel(sub_group_size=32, work_group_size=(64,))
    def shared(item: nd_item[1], A: ptr[half], B: ptr[half], C: ptr[float32]):
        group = item.get_group()
        a = joint_matrix(work_group, half, use.a, 32, 16, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 16, 32, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 32, 32)
        joint_matrix_fill(group, c, 0)
        joint_matrix_load(group, a, A, 16)
        joint_matrix_load(group, b, B, 32)
        joint_matrix_mad(group, c, a, b, c)
        joint_matrix_store(group, c, C, 32, layout.row_major)

    a, b, c = np.zeros((32, 16), np.float16), np.zeros((16, 32), np.float16), np.zeros((32, 32), np.float32)
    a[20, 4:7], b[4:7, 9] = [1, 2.0**-13, -1], [1, 2.0**-13, 1]
    found = cm.compare(shared, ["sim:nvidia_gpu_sm_90", "exact:nvidia_gpu_sm_90"], 64, 64, a, b, c)
    assert found.explanation is not None
    assert found.explanation.element == (20, 9)
    assert "joint_matrix_mad" in found.explanation.instruction
    assert found.explanation.product is not None
    assert found.explanation.product.exact_sum == Fraction(2) ** -26


def test_intels_matrix_functions() -> None:
    source = """
        __attribute__((intel_reqd_sub_group_size(16)))
        kernel void mad(global short8 *a, global int8 *b, global float8 *c)
        {
            int i = get_local_id(0);
            c[i] = intel_sub_group_bf16_bf16_matrix_mad_k16(a[i], b[i], c[i]);
        }"""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(size).astype(BF16) for size in (8 * 16, 16 * 16))
    c = rng.standard_normal(8 * 16).astype(np.float32)
    found = cm.compare(cm.build(source).kernel("mad"), ["sim:intel_gpu_pvc", "exact:intel_gpu_pvc"], 16, 16,
                       a.view(np.int16), b.view(np.int32), c)
    explanation = found.explanation
    assert explanation is not None
    product = explanation.product
    assert product is not None
    assert (product.row, product.column) == (explanation.element[0], explanation.lane)
    assert product.c == c[8 * product.column + product.row]
    # one short of a lane is a column of A; pairs of rows of B lie in an int of the lane of their column
    np.testing.assert_array_equal(product.a, a.reshape(16, 8)[:, product.row])
    np.testing.assert_array_equal(product.b, b.reshape(16, 16)[product.column])


# --------------------------------------------------------------------------------------
# Where instructions do not correspond
# --------------------------------------------------------------------------------------


def test_stores_are_compared_where_sub_groups_differ(program: cm.Program, capsys: pytest.CaptureFixture[str]) -> None:
    found = cm.compare(program.kernel("sizes"), ["sim:generic", "sim:nvidia_gpu_sm_90"], 128, 64,
                       np.zeros(128, np.int32))
    assert capsys.readouterr().out.count("1 ") == 2, "printed once on each device"
    explanation = found.explanation
    assert explanation is not None
    assert "16 and 32 work-items" in explanation.reason
    assert explanation.source_line.strip() == "out[i] = get_max_sub_group_size();"
    assert (explanation.work_group, explanation.sub_group, explanation.lane) == ((0, 0, 0), 2, 5)
    assert (explanation.element, explanation.values) == ((37,), ("16", "32"))


def test_a_stored_matrix_where_sub_groups_differ() -> None:
    source = (EXAMPLES / "gemm.cl").read_text()
    built = cm.build(source, "-DTM=16 -DTN=16 -DTK=16 -DIN=half -DOUT=float -DFLAGS=0")
    a, b = np.zeros((32, 16), np.float16), np.zeros((16, 16), np.float16)
    a[18, :2], b[:2, 4] = [1, 1.5 * 2.0**-12], [1, 2.0**-12]  # one of them rounds to nearest, the other truncates
    devices = [lenient("sim:amd_gpu_gfx90a"), lenient("sim:nvidia_gpu_sm_70")]  # of which one has two sub-groups
    found = cm.compare(built.kernel("gemm"), devices, (64, 2), (64, 1), a, b, np.zeros((32, 16), np.float32), 16, 16)
    explanation = found.explanation
    assert explanation is not None
    assert explanation.values == ("1.0000001", "1.0")
    assert "coop_mat_store" in explanation.instruction
    assert (explanation.work_group, explanation.element) == ((0, 1, 0), (18, 4))


COMPONENTS = """
#define MATRIX(use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, \\
                                            CLK_COOPERATIVE_MATRIX_##use)))
typedef half matrix_a MATRIX(A);
typedef half matrix_b MATRIX(B);
typedef float matrix_c MATRIX(ACCUMULATOR);
__attribute__((intel_reqd_sub_group_size(32)))
kernel void scaled(global const half *A, global const half *B, global float *C, int first)
{
    matrix_a a = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    matrix_b b = coop_mat_load(B, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    matrix_c c = coop_mat_init(first);
    if (first)
        for (int i = 0; i < coop_mat_length(c); i++)
            c[i] = c[i] + coop_mat_get_coord(c, i).y;
    c = coop_matmul_add(a, b, c, 0);
    coop_mat_store(C, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}
"""


@pytest.mark.parametrize(("first", "told"), [(0, "coop_matmul_add"), (1, "coop_mat_store")])
def test_components_of_other_layouts(first: int, told: str) -> None:
    """As long as no lane has looked into a matrix, products are held against each other; then only stores are."""
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((16, 16)).astype(np.float16) for _ in range(2))
    found = cm.compare(cm.build(COMPONENTS).kernel("scaled"), ["sim:nvidia_gpu_sm_90", "sim:generic"], 32, 32, a, b,
                       np.zeros((16, 16), np.float32), first)
    assert found.explanation is not None
    assert told in found.explanation.instruction
    assert (found.explanation.reason is None) == (first == 0)


# --------------------------------------------------------------------------------------
# Choices and mistakes
# --------------------------------------------------------------------------------------


def small(devices: list[Any], **options: Any) -> cm.Comparison:
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[0, :3], b[:3, 0] = [1, 2.0**-13, -1], [1, 2.0**-13, 1]
    return gemm((16, 16, 16), ("half", "float"), 32, devices, a, b, np.zeros((16, 16), np.float32), **options)


def test_the_reference_may_be_chosen() -> None:
    found = small(["sim:nvidia_gpu_sm_90", "exact:nvidia_gpu_sm_90"], reference="exact:nvidia_gpu_sm_90")
    assert found.reference == "exact:nvidia_gpu_sm_90"
    assert [(row.device, row.first.values) for row in found.differences] == [("sim:nvidia_gpu_sm_90", (2.0**-26, 0.0))]
    assert found.explanation is not None
    assert found.explanation.devices == ("exact:nvidia_gpu_sm_90", "sim:nvidia_gpu_sm_90")


def test_devices_with_options() -> None:
    exact = cm.device("sim:nvidia_gpu_sm_90", options=cm.SimulatorOptions(numerics="exact"))
    found = small([exact, cm.device("sim:nvidia_gpu_sm_90")], explain=False)
    assert found.devices == ("exact:nvidia_gpu_sm_90", "sim:nvidia_gpu_sm_90")
    assert not found.equal
    assert found.explanation is None


def test_what_only_real_devices_do_is_not_explained() -> None:
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[0, :2], b[:2, 0] = [1, 1.5 * 2.0**-12], [1, 2.0**-12]  # truncated on Hopper, to nearest on any CPU
    found = gemm((16, 16, 16), ("half", "float"), 32, ["sim:nvidia_gpu_sm_90", "cpu"], a, b,
                 np.zeros((16, 16), np.float32))
    assert [row.first.values for row in found.differences] == [(1, 1 + 2.0**-23)]
    assert found.explanation is None
    assert "two simulated devices" in found.note


def test_the_bound_of_what_is_under_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = ["sim:nvidia_gpu_sm_90", "exact:nvidia_gpu_sm_90"]
    expected = small(devices).report()
    for name in ("MOST_EVENTS", "MOST_BYTES"):
        monkeypatch.setattr(steps, name, 1)
        assert small(devices).report() == expected
    assert "coopmat-compare" not in [one.name for one in threading.enumerate()]


WRONG: list[tuple[Callable[[cm.Kernel], Any], type[Exception], str]] = [
    (lambda k: cm.compare(k, ["cpu", "sim:nvidia_gpu_sm_91"], 4, 4, INT, INT), cm.Error, "did you mean"),
    (lambda k: cm.compare(k, ["cpu", "exact:cpu"], 4, 4, INT, INT), cm.Error, "no device 'sim:cpu'"),
    (lambda k: cm.compare(k, ["cpu"], 4, 4, INT, INT), cm.Error, "at least two devices; found 1"),
    (lambda k: cm.compare(k, "cpu,sim:generic", 4, 4, INT, INT), cm.Error, "takes a list of devices"),
    (lambda k: cm.compare(k, ["cpu", "sim:generic"], 4, 4, INT), cm.LaunchError, "takes 2 arguments, found 1"),
    (lambda k: cm.compare(k, ["cpu", "sim:generic"], 5, 4, INT, INT), cm.LaunchError, "global size 5"),
    (lambda k: cm.compare(k, ["cpu", "sim:generic"], 4, 4, INT, INT[:2]), cm.OutOfBounds, "outside|has 8 bytes"),
    (lambda k: cm.compare(k, ["cpu", "sim:generic"], 4, 4, INT, np.zeros(4)), cm.LaunchError, "found float64"),
    (lambda k: cm.compare(k, ["cpu", "sim:generic"], 4, 4, INT, INT, reference="sim:intel_gpu_pvc"), cm.Error,
     "one of the devices that are compared: cpu, sim:generic"),
    (lambda k: cm.compare("shift", ["cpu", "sim:generic"], 4, 4, INT, INT), cm.LaunchError, "takes a kernel of a"),
]
INT = np.zeros(4, np.int32)


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_mistakes_are_told(program: cm.Program, call: Callable[[cm.Kernel], Any], kind: type[Exception],
                           text: str) -> None:
    with pytest.raises(kind, match=text):
        call(program.kernel("shift"))


def test_an_error_tells_on_which_device() -> None:
    with pytest.raises(cm.KernelNotSupported) as caught:
        small(["sim:nvidia_gpu_sm_90", "sim:intel_gpu_pvc"])
    assert caught.value.__notes__ == ["on sim:intel_gpu_pvc"]
