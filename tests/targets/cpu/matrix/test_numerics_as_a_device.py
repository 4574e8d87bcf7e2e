"""``numerics="ARCHITECTURE"`` on the CPU: the bits of that architecture's model, which were compared with hardware."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from inputs import KINDS, operands

import coopmat as cm
from coopmat.formats import format_of
from coopmat.numerics.hardware import ROWS
from coopmat.runtime.executable import executable
from coopmat.spirv.module import Module
from coopmat.targets.cpu.features import VARIABLE, cpu_features
from coopmat.targets.cpu.matrix.models import FAMILIES
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.paths import EXAMPLES
from tests.kit.targets.matrix_rows import Case, program_text
from tests.targets.simulator.test_sub_group_matrix import float_kernel, float_operands

Formats = tuple[str, str, str, str]
EXAMPLE = EXAMPLES / "gemm.cl"
LEVELS = ("avx512", "avx2", "baseline")
SHAPES = [(4, 17, 35), (3, 5, 7), (2, 33, 66), (5, 16, 32), (3, 1, 1)]  # M, N, K


def program_for(source: Module, architecture: str, level: str) -> CpuProgram:
    return CpuProgram(executable(source), cpu_features({VARIABLE: level}), CpuOptions(numerics=architecture))


def any_operands(seed: int, kind: str, formats: Formats, shape: tuple[int, int, int]) -> list[np.ndarray]:
    """A, B and C of one of the kinds of bit patterns that the models were compared with the hardware on."""
    m, n, k = shape
    bits = operands((m, n, k, seed), kind, formats[:3], ((m, k), (k, n), (m, n)))
    return [np.ascontiguousarray(one.view(format_of(name).dtype)) for one, name in zip(bits, formats, strict=False)]


def model(architecture: str, formats: Formats, arrays: list[np.ndarray]) -> np.ndarray:
    a, b, c, d = formats
    return cm.matrix_multiply_accumulate(*arrays, a_type=a, b_type=b, c_type=c, d_type=d, architecture=architecture)


def assert_same_bits(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    np.testing.assert_array_equal(*(one.view(f"u{one.itemsize}") for one in (found, expected)), err_msg=what)


# ------------------------------------------------------------------ every row


@dataclass(frozen=True)
class Product:
    """A multiply-accumulate as an architecture does it."""

    architecture: str
    formats: Formats
    shape: tuple[int, int, int]
    level: str

    def __str__(self) -> str:
        return f"{self.architecture}-{'-'.join(self.formats)}-{'x'.join(map(str, self.shape))}-{self.level}"

    def check(self) -> None:
        """Compare with the model, on operands of every kind."""
        m, n, k = self.shape
        program = program_for(program_text(Case(self.formats, m, n, k), [k, n, n, n]), self.architecture, self.level)
        for kind in KINDS:
            for seed in range(2):
                arrays = any_operands(seed, kind, self.formats, self.shape)
                out = np.zeros((m, n), format_of(self.formats[3]).dtype)
                program.launch("kernel", (16,), (16,), [*arrays, out])
                assert_same_bits(out, model(self.architecture, self.formats, arrays), f"{kind} {seed}")


def products() -> list[Any]:
    """Every row of every architecture with every shape and level. The short form has one shape and every second level
    of each row, in turns, and one level where the row is also another architecture's."""
    found, known = [], []
    for architecture, rows in ROWS.items():
        for row in rows:
            is_new = all(row is not other for other in known)
            known.append(row)
            formats = (row.inputs, row.inputs, row.only_c or row.d_format, row.d_format)
            for (number, level), shape in product(enumerate(LEVELS), SHAPES):
                turn = len(known) + number
                is_short = (turn % 2 == 0 if is_new else level == "avx2") and shape == SHAPES[turn % len(SHAPES)]
                one = Product(architecture, formats, shape, level)
                found.append(pytest.param(one, id=str(one), marks=[] if is_short else pytest.mark.slow))
    return found


@pytest.mark.parametrize("case", products())
def test_every_row(case: Product) -> None:
    case.check()


def test_every_model_has_its_code() -> None:
    assert {type(row.arithmetic) for rows in ROWS.values() for row in rows} == set(FAMILIES)


@pytest.mark.parametrize(("architecture", "formats"), [
    ("intel_cpu_gnr", ("fp16", "fp16", "fp64", "fp32")), ("intel_cpu_spr", ("bf16", "bf16", "bf16", "fp32")),
    ("intel_gpu_pvc", ("fp16", "fp16", "fp32", "fp16")), ("nvidia_gpu_sm_80", ("fp16", "fp16", "fp64", "fp16")),
    ("nvidia_gpu_sm_70", ("fp16", "fp16", "fp16", "fp32")), ("amd_gpu_gfx90a", ("bf16", "bf16", "fp64", "fp32")),
    ("amd_gpu_gfx90a", ("fp64", "fp64", "fp16", "fp64"))], ids=str)
def test_c_in_another_format(architecture: str, formats: Formats) -> None:
    """It is converted first."""
    Product(architecture, formats, (3, 9, 11), "avx2").check()


# ------------------------------------------------------------------ what random numbers do not hit


def check_zeros(architecture: str, formats: Formats, a: np.ndarray, b: np.ndarray) -> None:
    """Products, added to zero, of which some are zero and some are not."""
    (m, k), n = a.shape, b.shape[1]
    arrays = [one.astype(format_of(name).dtype) for one, name in zip((a, b, np.zeros((m, n))), formats, strict=False)]
    expected, out = model(architecture, formats, arrays), np.zeros((m, n), format_of(formats[3]).dtype)
    program = program_for(program_text(Case(formats, m, n, k), [k, n, n, n]), architecture, "avx2")
    program.launch("kernel", (16,), (16,), [*arrays, out])
    assert_same_bits(out, expected, architecture)
    assert 0 < np.count_nonzero(expected) < expected.size


@pytest.mark.parametrize(("architecture", "inputs", "d", "kept"), [
    ("nvidia_gpu_sm_90", "bf16", "fp32", -158), ("nvidia_gpu_sm_80", "bf16", "fp32", -156),
    ("nvidia_gpu_sm_90", "tf32", "fp32", -158), ("nvidia_gpu_sm_90", "fp16", "fp16", -46),
    ("nvidia_gpu_sm_80", "fp16", "fp16", -44), ("nvidia_gpu_sm_70", "fp16", "fp16", -42)])
@pytest.mark.parametrize("change", [-1, 0])
def test_the_least_exponent_that_terms_are_aligned_at(architecture: str, inputs: str, d: str, kept: int,
                                                      change: int) -> None:
    """A product lacks one unit of the last place that is kept to a number of D (fp16: to more than half of one);
    the others are about that large."""
    rng = np.random.default_rng(-kept)
    small = kept - 2 - change
    a = rng.integers(0, 4, (16, 4)) * 2.0 ** (small // 2)
    b = rng.integers(0, 3, (4, 16)) * 2.0 ** (small - small // 2)
    a[:, 0], b[0] = (2.0**-12, 2.0**-13) if d == "fp16" else {
        -158: (7 * 2.0**-78, 73 * 2.0**-80), -156: (127 * 2.0**-78, 2.0**-78)}[kept]
    check_zeros(architecture, (inputs, inputs, d, d), a, b)


@pytest.mark.parametrize("architecture", ["intel_cpu_spr", "amd_gpu_gfx90a"])
def test_what_is_flushed(architecture: str) -> None:
    """Sums a little below the least normal number; AMX sees how they would be rounded to 24 bits."""
    rng = np.random.default_rng(8)
    first, unit = {"intel_cpu_spr": (2.0**-126, 2.0**-154), "amd_gpu_gfx90a": (2.0**-124, 2.0**-128)}[architecture]
    a, b = np.zeros((16, 6)), np.zeros((6, 16))
    a[:, 0], b[0] = 2.0**-63, first * 2.0**63
    a[:, 2], b[2] = -rng.integers(0, 4, 16) * 2.0**-60, rng.integers(4, 8, 16) * unit * 2.0**60
    check_zeros(architecture, ("bf16", "bf16", "fp32", "fp32"), a, b)


# ------------------------------------------------------------------ Intel's built-in

BUILT_INS = [("intel_gpu_pvc", 16, "f16", "f32"), ("intel_gpu_pvc", 16, "f16", "f16"),
             ("intel_gpu_pvc", 16, "bf16", "bf16"), ("intel_gpu_dg2_g10", 8, "bf16", "f32"),
             ("nvidia_gpu_sm_90", 16, "tf32", "f32"), ("nvidia_gpu_sm_80", 8, "f16", "f32"),
             ("intel_cpu_spr", 16, "bf16", "f32"), ("amd_gpu_gfx90a", 16, "f16", "f32")]


@pytest.mark.parametrize(("architecture", "size", "name", "accumulator"), BUILT_INS)
def test_the_sub_group_matrix_instruction(architecture: str, size: int, name: str, accumulator: str) -> None:
    inputs, outputs = (kind.replace("f16", "fp16").replace("bfp", "bf").replace("f32", "fp32").replace("tfp", "tf")
                       for kind in (name, accumulator))
    formats = (inputs, inputs, outputs, outputs)
    shape = (4, size, 8 if name == "tf32" else 16)
    program = program_for(float_kernel(size, name, accumulator, 4), architecture, "avx2")
    for kind in KINDS:
        a, b, c = any_operands(0, kind, formats, shape)
        vectors = np.ascontiguousarray(c.T)
        out = np.zeros_like(vectors)
        program.launch("kernel", (size,), (size,), [out, *float_operands(size, name, 4, a, b), vectors])
        assert_same_bits(out.T, model(architecture, formats, [a, b, c]), kind)


# ------------------------------------------------------------------ whole kernels

SIZES = (32, 64, 96)  # M, N, K
TYPES = {"bf16": ("__bf16", ml_dtypes.bfloat16, "float", np.float32),
         "fp16": ("half", np.float16, "float", np.float32), "fp64": ("double", np.float64, "double", np.float64)}


def gemm(device: cm.Device, name: str, tile: tuple[int, int, int], *arrays: np.ndarray) -> np.ndarray:
    """``a @ b`` by examples/gemm.cl."""
    c_type, _, c_sums, sums = TYPES[name]
    sizes = [f"-D{letter}={size}" for letter, size in zip(("TM", "TN", "TK"), tile, strict=True)]
    kernel = cm.build(EXAMPLE, (*sizes, f"-DIN={c_type}", f"-DOUT={c_sums}", "-DFLAGS=0"), device).kernel("gemm")
    lanes, (m, n, k) = device.sub_group_sizes[0], SIZES
    out = np.zeros((m, n), sums)
    cm.Queue(device).enqueue(kernel, (n // tile[1] * lanes, m // tile[0]), (lanes, 1), *arrays, out, n, k).wait()
    return out


@pytest.mark.parametrize(("architecture", "name", "tile"), [
    ("intel_cpu_spr", "bf16", (16, 16, 32)), ("intel_gpu_pvc", "bf16", (8, 16, 16)),
    ("nvidia_gpu_sm_90", "fp16", (16, 16, 16)), ("amd_gpu_gfx90a", "fp16", (16, 16, 16)),
    ("amd_gpu_gfx90a", "fp64", (16, 16, 4))])
def test_a_kernel_as_on_the_simulated_device(architecture: str, name: str, tile: tuple[int, int, int]) -> None:
    m, n, k = SIZES
    rng = np.random.default_rng(3)
    a, b = ((rng.standard_normal(shape) * 2.0 ** rng.integers(-5, 6, shape)).astype(TYPES[name][1])
            for shape in ((m, k), (k, n)))
    found = gemm(cm.device("cpu", options=cm.CpuOptions(numerics=architecture)), name, tile, a, b)
    assert_same_bits(found, gemm(cm.device(f"sim:{architecture}"), name, tile, a, b), "simulated")
    exact = gemm(cm.device("cpu", options=cm.CpuOptions(numerics="exact")), name, tile, a, b)
    assert (found != exact).any()


# ------------------------------------------------------------------ what has no model


@pytest.mark.parametrize("architecture", ROWS)
def test_formats_without_a_model(architecture: str) -> None:
    """The words of the model, and the error of the simulated device, when the program is built."""
    source, ones = program_text(Case(("fp32",) * 4, 8, 16, 16), [16] * 4).to_bytes(), np.ones((1, 1), np.float32)
    with pytest.raises(cm.Error) as expected:
        model(architecture, ("fp32",) * 4, [ones] * 3)
    with pytest.raises(cm.KernelNotSupported):
        cm.build(source, device=f"sim:{architecture}")
    device = cm.device("cpu", options=cm.CpuOptions(numerics=architecture))
    with pytest.raises(cm.KernelNotSupported) as found:
        cm.build(source, device=device)
    assert str(found.value) == f"{expected.value} (kernel kernel)"
    kernel = cm.build(source, device="cpu").kernel("kernel")
    with pytest.raises(cm.KernelNotSupported, match="there is no model of fp32"):
        cm.Queue(device).enqueue(kernel, 16, 16, *[np.ones((16, 16), np.float32)] * 4)


def test_a_built_in_without_a_model() -> None:
    with pytest.raises(cm.KernelNotSupported, match=r"no model of bf16\*bf16 \+ bf16 -> bf16 on nvidia_gpu_sm_90"):
        program_for(float_kernel(16, "bf16", "bf16", 4), "nvidia_gpu_sm_90", "avx2")


def test_integers_are_as_ever() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-128, 128, (8, 8), np.int8) for _ in range(2))
    c = rng.integers(-100, 100, (8, 8), np.int32)
    out = np.zeros_like(c)
    program = program_for(program_text(Case(("sint8", "sint8", "sint32", "sint32"), 8, 8, 8), [8] * 4),
                          "amd_gpu_gfx90a", "avx2")
    program.launch("kernel", (16,), (16,), [a, b, c, out])
    np.testing.assert_array_equal(out, a.astype(np.int32) @ b + c)
