"""Large matrices cut into tiles: kernels that a device refuses run there, and compute what numpy does; what
cannot be cut stays, with the reason."""

from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat import sycl
from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv import Module
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.goal import Goal
from tests.kit.fuzz import modelled_matrices
from tests.kit.fuzz.executions import Result, attempt, same
from tests.kit.lenient import lenient

SIGNED = "|".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{name}_SIGNED" for name in ("A", "B", "C", "RESULT"))
GEMM = """
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define MATRIX(r, c, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, use)))
typedef IN matrix_a MATRIX(M, K, CLK_COOPERATIVE_MATRIX_A);
typedef IN matrix_b MATRIX(K, N, CLK_COOPERATIVE_MATRIX_B);
typedef OUT matrix_c MATRIX(M, N, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
matrix_c product(matrix_a a, matrix_b b, matrix_c c) { return coop_matmul_add(a, b, c, FLAGS); }
__attribute__((intel_reqd_sub_group_size(LANES)))
kernel void gemm(global const IN *A, global const IN *B, global OUT *C, int k, OUT alpha)
{
    matrix_c c[2];
    for (int t = 0; t < 2; ++t) c[t] = coop_mat_load(C, LAYOUT, WIDTH);
    for (int i = 0; i < k; i += K) {
        matrix_a a = coop_mat_load(A + i, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, k);
        matrix_b b = coop_mat_load(B + i * N, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, N);
        c[0] = product(a, b, c[0]);
    }
    c[0] = c[0] * alpha + c[1];
    matrix_c d = c[0];
    for (uint i = 0; i < coop_mat_length(d); i++) d[i] = d[i] + 1;
    coop_mat_store(C, d, LAYOUT, WIDTH);
}
"""
ELEMENTS = {  # in C, dtypes, operand flags
    "fp16": ("half", "float", np.float16, np.float32, "0"), "fp64": ("double", "double", np.float64, np.float64, "0"),
    "bf16": ("__bf16", "float", ml_dtypes.bfloat16, np.float32, "0"),
    "s8": ("char", "int", np.int8, np.int32, SIGNED),
}
DEVICES = {"sim:nvidia_gpu_sm_90": 32, "sim:amd_gpu_gfx90a": 64, "sim:intel_gpu_pvc": 16}
PRODUCTS = [(device, name, shape) for device in DEVICES for name, shape in (
    ("fp16", (32, 64, 16)), ("fp16", (64, 64, 32)), ("bf16", (16, 32, 32)), ("s8", (32, 32, 64)), ("fp64", (32, 16, 8)))
    if (device, name) != ("sim:intel_gpu_pvc", "fp64")]


def gemm_module(name: str, shape: tuple[int, int, int], lanes: int, column_major: bool = False) -> Module:
    inner, outer, _, _, flags = ELEMENTS[name]
    m, n, k = shape
    layout = "COLUMN" if column_major else "ROW"
    return cm.build(GEMM, [f"-DIN={inner}", f"-DOUT={outer}", f"-DFLAGS={flags}", f"-DM={m}", f"-DN={n}", f"-DK={k}",
                           f"-DLAYOUT=CLK_COOPERATIVE_MATRIX_LAYOUT_{layout}_MAJOR", f"-DLANES={lanes}",
                           f"-DWIDTH={m if column_major else n}"]).module


def cut(module: Module, goal: Goal, names: tuple[str, ...]) -> tuple[Module, list[str]]:
    """The module after some passes, a valid one, and their notes."""
    changed, notes = passes.transform(module, passes.chosen(names), goal)
    assert [found for found in changed.validate() if found.severity == "error"] == []
    return changed, [str(note) for note in notes]


@pytest.mark.parametrize(("device", "name", "shape"), PRODUCTS, ids=str)
def test_products(device: str, name: str, shape: tuple[int, int, int]) -> None:
    """Small integers, whose sums every arithmetic has; with calls, arrays of matrices and components."""
    lanes, (m, n, k), (_, _, inner, outer, _) = DEVICES[device], shape, ELEMENTS[name]
    rng = np.random.default_rng(40)
    a, b = rng.integers(-4, 5, (m, 2 * k)).astype(inner), rng.integers(-4, 5, (2 * k, n)).astype(inner)
    c = rng.integers(-9, 9, (m, n)).astype(outer)
    a64, b64, c64 = (one.astype(np.int64) for one in (a, b, c))
    expected = ((a64 @ b64 + c64) * 3 + c64 + 1).astype(outer)
    for names in (("cut",), tuple(one.name for one in passes.usual())):
        column_major = len(names) == 1
        module = gemm_module(name, shape, lanes, column_major)
        with pytest.raises(KernelNotSupported):
            cm.build(module, device=device)
        changed, notes = cut(module, Goal(cm.device(device).description), names)
        assert any("cut into" in note for note in notes)
        result = np.asfortranarray(c).T.copy() if column_major else c.copy()
        kernel = cm.build(changed, device=device).kernel("gemm")
        cm.Queue(device).enqueue(kernel, (lanes,), (lanes,), a.ravel(), b.ravel(), result.reshape(-1), 2 * k,
                                 outer(3)).wait()
        np.testing.assert_array_equal(result.T if column_major else result, expected)


@sycl.kernel(sub_group_size=32)
def tf32_product(item: sycl.nd_item[1], A: sycl.ptr[sycl.float32], B: sycl.ptr[sycl.float32],
                 C: sycl.ptr[sycl.float32]) -> None:
    sg = item.get_sub_group()
    a = sycl.joint_matrix(sycl.sub_group, sycl.precision.tf32, sycl.use.a, 16, 24, sycl.layout.row_major)
    b = sycl.joint_matrix(sycl.sub_group, sycl.precision.tf32, sycl.use.b, 24, 32, sycl.layout.row_major)
    c = sycl.joint_matrix(sycl.sub_group, sycl.float32, sycl.use.accumulator, 16, 32)
    sycl.joint_matrix_load(sg, a, A, 24)
    sycl.joint_matrix_load(sg, b, B, 32)
    sycl.joint_matrix_load(sg, c, C, 32, sycl.layout.row_major)
    sycl.joint_matrix_mad(sg, c, a, b, c)
    sycl.joint_matrix_store(sg, c, C, 32, sycl.layout.row_major)


def test_tf32_and_the_order_of_sums() -> None:
    """A tile of the result is C, then the products of ascending k, each rounded as the device does."""
    device = "nvidia_gpu_sm_90"
    rng = np.random.default_rng(41)
    a, b, c = (cm.formats.round_to(rng.standard_normal(size).astype(np.float32), "tf32")
               for size in ((16, 24), (24, 32), (16, 32)))
    module, _ = cut(cm.build(tf32_product).module, Goal(cm.device(f"sim:{device}").description),
                    tuple(one.name for one in passes.usual()))
    found, expected = c.copy(), c
    kernel = next(iter(cm.build(module, device=f"sim:{device}").kernels.values()))
    cm.Queue(f"sim:{device}").enqueue(kernel, (32,), (32,), a.ravel(), b.ravel(), found.reshape(-1)).wait()
    for start in range(0, 24, 8):
        expected = cm.matrix_multiply_accumulate(
            a[:, start:start + 8], b[start:start + 8], expected, a_type="tf32", b_type="tf32", c_type="fp32",
            architecture=device)
    np.testing.assert_array_equal(found, expected)


# --- random programs -----------------------------------------------------------------------


def check_model(seed: int, tile: tuple[int, int, int]) -> bool:
    """A generated kernel in tiles computes what its model does; one that asks who holds what is left out."""
    kernel = modelled_matrices.generate(seed)
    if "uint own" in kernel.source:
        return False
    changed, notes = cut(cm.build(kernel.source).module, Goal(None, tile), tuple(one.name for one in passes.usual()))

    def launch() -> list[np.ndarray]:
        arguments, size = kernel.arguments(), kernel.sub_group_size
        cm.Queue(lenient("sim:generic")).enqueue(cm.build(changed).kernel("k"), size, size, *arguments).wait()
        return arguments[:1]

    found: Result = attempt(launch)
    assert same(found, [kernel.expected]), f"seed {seed}: {found if isinstance(found, str) else 'differs'}"
    return any("cut into" in note for note in notes)


TILES = ((2, 4, 4), (4, 4, 8), (1, 4, 4), (4, 2, 1))


def test_random_matrices() -> None:
    assert sum(check_model(seed, TILES[seed % len(TILES)]) for seed in range(20)) > 2


@pytest.mark.slow
def test_random_matrices_long() -> None:
    assert sum(check_model(seed, TILES[seed % len(TILES)]) for seed in range(5000, 5400)) > 20


# --- what stays ----------------------------------------------------------------------------


def noted(module: Module, goal: Goal) -> str:
    changed, notes = cut(module, goal, ("cut",))
    assert changed is module
    return "\n".join(notes)


def test_what_stays_and_why() -> None:
    module = partial(gemm_module, "s8", lanes=16)
    intel, nvidia = (cm.device(name).description for name in ("sim:intel_gpu_pvc", "sim:nvidia_gpu_sm_90"))
    assert "nothing is cut without a device or a tile" in noted(module((32, 32, 32)), Goal())
    assert "sim:generic has every shape" in noted(module((32, 32, 32)), Goal(cm.device("sim:generic").description))
    assert "M=16 N=16 K=16 is no multiple of a combination that intel_gpu_pvc has: sint8*sint8 + sint32 -> sint32, " \
           "M<=8 N=16 K=32" in noted(module((16, 16, 16)), Goal(intel))
    assert "is no multiple of the tile 16, 16, 16" in noted(module((24, 16, 16)), Goal(None, (16, 16, 16)))
    fp16 = gemm_module("fp64", (16, 16, 16), 16)
    assert "has no combination of these types" in noted(fp16, Goal(intel))
    assert noted(module((16, 16, 16)), Goal(nvidia)) == ""


def test_saturating_sums_are_not_cut_along_k() -> None:
    source = GEMM.replace("FLAGS)", "FLAGS | CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION)")
    options = ["-DIN=char", "-DOUT=int", f"-DFLAGS={SIGNED}", "-DLANES=32", "-DWIDTH=16",
               "-DLAYOUT=CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"]
    goal = Goal(None, (16, 16, 16))
    longer = cm.build(source, [*options, "-DM=16", "-DN=16", "-DK=32"]).module
    wider = cm.build(source, [*options, "-DM=32", "-DN=16", "-DK=16"]).module
    assert "accumulates with saturation" in noted(longer, goal)
    assert any("cut into 16x16" in note for note in cut(wider, goal, ("cut",))[1])
