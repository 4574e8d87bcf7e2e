"""The matrix examples against numpy: every kernel, all tile heights, several sizes, random and extreme data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Op
from coopmat.targets.cpu.features import cpu_features
from examples.matrix_experiments import TYPES, Elements, multiply, packed, to_tf32
from tests.kit.cases import CASES, Case, copies
from tests.kit.checks.alarms import NO_ALARM
from tests.kit.oracles import intel_runtime
from tests.kit.paths import EXAMPLES
from tests.kit.processes import run_file

pytestmark = NO_ALARM
BYTES, BF16, TF32 = TYPES


@dataclass(frozen=True)
class Build:
    """A file built for a device, and which kernels it must have: the height and width of their tiles."""

    elements: Elements
    device: str
    options: tuple[str, ...] = ()

    @property
    def program(self) -> cm.Program:
        return built(self)

    def __str__(self) -> str:
        return " ".join((self.elements.name, self.device, *self.options))


@cache
def built(build: Build) -> cm.Program:
    return cm.build(EXAMPLES / f"matrix_{build.elements.name}.cl", build.options, build.device)


PVC, DG2, GENERIC = "sim:intel_gpu_pvc", "sim:intel_gpu_dg2_g10", "sim:generic"
WITH_HARDWARE = [Build(BYTES, PVC), Build(BF16, PVC), Build(TF32, PVC), Build(BYTES, DG2), Build(BF16, DG2),
                 Build(BYTES, GENERIC, ("-DTN=8",))]
EMULATED = [Build(BYTES, PVC, ("-DEMULATE",)), Build(BF16, DG2, ("-DEMULATE",)), Build(TF32, DG2),
            Build(BYTES, "sim:nvidia_gpu_sm_80"), Build(BF16, "sim:amd_gpu_gfx90a"), Build(TF32, "sim:intel_cpu_spr")]
BUILDS = WITH_HARDWARE + EMULATED


def exact_product(elements: Elements, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A * B in int64 or float64, and the sums of the absolute products."""
    wide_a, wide_b = elements.exact(a), elements.exact(b)
    return wide_a @ wide_b, np.abs(wide_a) @ np.abs(wide_b)


def some_kernels(build: Build) -> list[cm.Kernel]:
    """One kernel for each matrix instruction and way to convert its operands."""
    return [kernel for name, kernel in build.program.kernels.items() if name.startswith(("packed", "blocks_2d"))]


def check(build: Build, kernels: Iterable[cm.Kernel], a: np.ndarray, b: np.ndarray, exactly: bool = False) -> None:
    """The kernels' results: exact, or within K roundings of a float and the smallest denormal for each product."""
    expected, magnitude = exact_product(build.elements, a, b)
    k = a.shape[1]
    allowed = 0 if exactly or build.elements is BYTES else k * (2.0**-24 * magnitude + 2.0**-149)
    for kernel in kernels:
        found = multiply(cm.device(build.device), kernel, build.elements, a, b)
        assert (np.abs(found - expected) <= allowed).all(), kernel.name


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_kernels_of_each_build(build: Build) -> None:
    """Plain and packed loads everywhere, for all heights; blocks where Intel's extensions are."""
    columns = 8 if "-DTN=8" in build.options or (build.device == DG2 and build.elements is not TF32) else 16
    kinds = {"rowmajor", "packed"}
    if build.device in (PVC, DG2, GENERIC):
        kinds |= {"blocks_rowmajor", "blocks_packed"}
    if build.device == PVC:
        kinds |= {"blocks_2d"}
    names = {f"{kind}_m{rows}_n{columns}" for kind in kinds for rows in (1, 2, 4, 8)}
    names |= {f"{kind}_m8_n{columns}" for kind in ("tiled_2x2", "tiled_4x2", "shared")}
    assert set(build.program.kernels) == names


@pytest.mark.parametrize("build", WITH_HARDWARE + EMULATED, ids=str)
def test_matrix_instruction(build: Build) -> None:
    """The emulation has none, the other builds one for each product."""
    instructions = {item.name for item in build.program.module.instructions}
    assert ("OpSubgroupMatrixMultiplyAccumulateINTEL" in instructions) == (build in WITH_HARDWARE)
    assert ("OpGroupNonUniformShuffle" in instructions) == (build in EMULATED)


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_random(build: Build) -> None:
    """Sizes that are multiples of what all kernels need: tiles of 32×32, rows of 64 bytes."""
    sizes = {(32, 64, 16 * build.elements.per_word): list(build.program.kernels.values())}
    if build in WITH_HARDWARE:
        sizes[64, 128, 96] = some_kernels(build)
    for (m, n, k), kernels in sizes.items():
        rng = np.random.default_rng(k)
        check(build, kernels, build.elements.random(rng, (m, k)), build.elements.random(rng, (k, n)))


def stored(elements: Elements, values: np.ndarray) -> np.ndarray:
    """Numbers as a kernel takes them."""
    if elements is BF16:
        return values.astype(ml_dtypes.bfloat16).view(np.uint16)
    return values.astype(np.int8 if elements is BYTES else np.float32)


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_extreme(build: Build) -> None:
    """The ends of int8; floating-point numbers of all magnitudes, down to denormal ones."""
    rng = np.random.default_rng(1)
    shapes = (32, 64), (64, 64)
    if build.elements is BYTES:
        a, b = (rng.choice([-128, 127], shape) for shape in shapes)
    else:
        a, b = (rng.standard_normal(shape) * 2.0 ** rng.integers(-140, 60, shape) for shape in shapes)
    check(build, some_kernels(build), stored(build.elements, a), stored(build.elements, b))


@pytest.mark.parametrize("build", [build for build in BUILDS if build.elements is not BYTES], ids=str)
def test_small_integers_are_exact(build: Build) -> None:
    rng = np.random.default_rng(2)
    a, b = (stored(build.elements, rng.integers(-15, 16, shape)) for shape in ((32, 64), (64, 64)))
    check(build, some_kernels(build), a, b, exactly=True)


@pytest.mark.parametrize("build", [build for build in BUILDS if build.elements is not BYTES], ids=str)
def test_infinity_and_nan(build: Build) -> None:
    """They come out where IEEE 754's sum of products has them, whatever its order."""
    rng = np.random.default_rng(3)
    a, b = (rng.choice([-1.0, 0.0, 1.0], shape) for shape in ((32, 64), (64, 64)))
    a[3, 5], a[7, 40], b[9, 11], b[63, 60] = np.inf, np.nan, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        expected = a @ b
    for kernel in some_kernels(build):
        found = multiply(cm.device(build.device), kernel, build.elements, stored(build.elements, a),
                         stored(build.elements, b))
        np.testing.assert_array_equal(found, expected, err_msg=kernel.name)


def test_rounding_to_tf32() -> None:
    """Halfway cases go to even; numpy's reference against the definition."""
    values = np.array([1 + 2**-11, 1 + 3 * 2**-11, -1 - 2**-11 - 2**-23, 1 + 2**-12, 2.0**-149], np.float32)
    np.testing.assert_array_equal(to_tf32(values)[:4], [1, 1 + 2**-9, -1 - 2**-10, 1])


@pytest.mark.parametrize("m", [1, 3, 13])
@pytest.mark.parametrize("elements", TYPES, ids=lambda elements: elements.name)
def test_two_dimensional_blocks_take_any_height(elements: Elements, m: int) -> None:
    """What lies below the surface of A is zero, and rows below that of C stay as they are."""
    rng = np.random.default_rng(m)
    a, b = elements.random(rng, (m, 96)), elements.random(rng, (96, 80))
    build = Build(elements, PVC)
    expected, magnitude = exact_product(elements, a, b)
    for rows in (1, 2, 4, 8):
        found = multiply(cm.device(PVC), build.program.kernel(f"blocks_2d_m{rows}_n16"), elements, a, b)
        assert (np.abs(found - expected) <= 96 * 2.0**-24 * magnitude).all()
        assert elements is not BYTES or (found == expected).all()


def alone(module: Module, name: str) -> Module:
    """A module with one of its kernels: Intel's compiler takes a while for each."""
    others = {one.function_id for one in module.entry_points if one.name != name}
    editor = Editor(module)
    editor.head = [row for row in editor.head if not (row.opcode == Op.EntryPoint and row.words[1] in others)
                   and not (row.opcode == Op.ExecutionMode and row.words[0] in others)]
    editor.remove(others)
    return editor.finish()


@pytest.mark.oracle("intel-opencl")
@pytest.mark.skipif("avx512f" not in cpu_features(), reason="without AVX-512 Intel's runtime (2026.2) finds other "
                    "numbers than numpy, the simulator and the CPU target")
@pytest.mark.parametrize("elements", TYPES, ids=lambda elements: elements.name)
def test_emulation_on_intels_runtime(elements: Elements) -> None:
    """Bit for bit the same as on the simulator: the multiply-adds' order is fixed."""
    build = Build(elements, "sim:nvidia_gpu_sm_80")  # a device without Intel's extensions, which the CPU lacks, too
    rng = np.random.default_rng(4)
    a, b = elements.random(rng, (32, 32)), elements.random(rng, (32, 32))
    kernel = build.program.kernel("shared_m8_n16")
    ours = multiply(cm.device(build.device), kernel, elements, a, b)
    assert kernel.signature.work_group_size is not None
    theirs = intel_runtime.run(alone(build.program.module, kernel.name).to_bytes(), kernel.name, (32, 4),
                               kernel.signature.work_group_size[:2], [
                                   a, packed(b, elements.per_word), np.zeros_like(ours), np.int32(32), np.int32(32)])[2]
    np.testing.assert_array_equal(theirs.view(np.uint32), ours.view(np.uint32))


# ------------------------------------------------------------------ gemm*.cl


@pytest.mark.parametrize("device", ["cpu", GENERIC])
@pytest.mark.parametrize("case", [case for case in CASES if case.source.stem.startswith("gemm")],
                         ids=lambda case: "-".join((case.source.stem, *case.options)))
def test_matrix_products(case: Case, device: str) -> None:
    """Products of whole numbers, in blocks that do not divide the matrices: exact."""
    chosen = cm.device(device)
    program = cm.build(case.source, case.options, chosen)
    for seed in range(3):
        arguments = case.arguments(np.random.default_rng(seed))
        expected = case.expected(copies(arguments))
        case.run(program, chosen, arguments)
        for place, values in expected.items():
            np.testing.assert_array_equal(arguments[place], values, f"seed {seed}, argument {place}")


# ------------------------------------------------------------------ dot_products.cl

DOT_KERNELS = {"signed_signed": (np.int8, np.int8, np.int32), "unsigned_signed": (np.uint8, np.int8, np.int32),
               "signed_unsigned": (np.int8, np.uint8, np.int32), "unsigned_unsigned": (np.uint8, np.uint8, np.uint32)}


@pytest.mark.parametrize("start", ["random", "lowest", "highest"])
@pytest.mark.parametrize("name", DOT_KERNELS)
def test_dot_products(name: str, start: str) -> None:
    """Each sum of four products is added with saturation, in the order of k."""
    a_type, b_type, c_type = DOT_KERNELS[name]
    rng = np.random.default_rng(5)
    m, n, k = 6, 20, 36
    a, b = (rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
            for dtype, shape in ((a_type, (m, k)), (b_type, (k, n))))
    limits = np.iinfo(c_type)
    ends = {"lowest": limits.min, "highest": limits.max}
    c = np.full((m, n), ends[start], c_type) if start in ends else rng.integers(0, 1000, (m, n), c_type)
    expected = c.astype(np.int64)
    for part in range(0, k, 4):
        product = a[:, part:part + 4].astype(np.int64) @ b[part:part + 4].astype(np.int64)
        expected = np.clip(expected + product, limits.min, limits.max)
    kernel = cm.build(EXAMPLES / "dot_products.cl").kernel(name)
    words = np.ascontiguousarray(b.reshape(k // 4, 4, n).transpose(0, 2, 1)).view(np.uint32).reshape(k // 4, n)
    cm.Queue(GENERIC).enqueue(kernel, (n, m), (n, 1), a.view(np.uint32), words, c, n, k).wait()
    np.testing.assert_array_equal(c, expected)


# ------------------------------------------------------------------ the driver


def test_driver() -> None:
    run = run_file(EXAMPLES / "matrix_experiments.py", ["--device", DG2, "--type", "int8"])
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count(" s  right") == 2
    assert "WRONG" not in run.stdout
