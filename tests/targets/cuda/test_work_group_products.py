"""Products of work-groups on an NVIDIA GPU: on Hopper by wgmma, fetched ahead by tensor maps; otherwise by mma.sync.

They are bit for bit what the model of the architecture computes: the steps of K follow each other in ascending order,
as the simulator takes them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from inputs import KINDS, operands
from models import product

import coopmat as cm
from coopmat.formats import FORMATS
from tests.kit.targets import gpu
from tests.kit.targets.work_group_gemm import ELEMENTS, WGMMA, Gemm

pytestmark = pytest.mark.oracle("cuda")

BF16, TF32, S8 = WGMMA[0], WGMMA[2], WGMMA[3]
SIZES = ((256, 256, 128), (200, 264, 88), (130, 70, 100), (72, 136, 1), (1, 1, 8))
"""Whole tiles; ragged, but as tensor maps want it; as they do not; one step of K that is a column; one row."""


@dataclass(frozen=True)
class Product:
    """Matrices, and how far apart their lines are in memory."""

    gemm: Gemm
    sizes: tuple[int, int, int]
    gap: int = 0

    def compare(self, kind: str, seed: int) -> None:
        """The product of numbers of a kind, beside the model."""
        m, n, k = self.sizes
        formats = (*self.gemm.formats, self.gemm.formats[2])
        bits = operands((seed, m, n, k), kind, formats[:3], ((m, k), (k, n), (m, n)))
        a, b, c = (gpu.numbers_of(one, fmt) for one, fmt in zip(bits, formats, strict=False))
        whole = -(-k // self.gemm.tile[2]) * self.gemm.tile[2]  # what is missing of the last tile is zero
        wide = [np.pad(bits[0], ((0, 0), (0, whole - k))), np.pad(bits[1], ((0, whole - k), (0, 0))), bits[2]]
        if not self.gemm.accumulates:
            wide[2] = np.zeros_like(bits[2])
        expected = product(gpu.architecture(), formats, *wide).view(FORMATS[formats[3]].dtype)  # type: ignore[arg-type]
        found = self.gemm.run(gpu.GPU, a, b, c, gap=self.gap)
        gpu.assert_same_bits(found, expected, f"{self.gemm} of {m}x{n}x{k}, gap {self.gap}, {kind} numbers")

    def compare_exactly(self, seed: int = 0) -> None:
        """The product of small integers, beside numpy; C in memory may have another type."""
        m, n, k = self.sizes
        rng = np.random.default_rng(seed)
        lowest = 0 if "uint8" in self.gemm.formats else -3
        formats = (*self.gemm.formats[:2], self.gemm.d)
        a, b, c = (rng.integers(lowest, 4, shape).astype(ELEMENTS[fmt].dtype)
                   for shape, fmt in zip(((m, k), (k, n), (m, n)), formats, strict=True))
        expected = a.astype(np.float64) @ b.astype(np.float64)
        if self.gemm.accumulates:
            expected += c.astype(np.float64)
        found = self.gemm.run(gpu.GPU, a, b, c, gap=self.gap)
        np.testing.assert_array_equal(found.astype(np.float64), expected.astype(ELEMENTS[self.gemm.d].dtype).astype(
            np.float64), err_msg=f"{self.gemm} of {m}x{n}x{k}, gap {self.gap}")


def has_pipeline(gemm: Gemm) -> bool:
    """Whether the GPU multiplies by wgmma for a kernel whose arguments tensor maps take."""
    return gpu.architecture() == "nvidia_gpu_sm_90" and gemm.formats in WGMMA


@pytest.mark.parametrize("formats", WGMMA, ids="-".join)
@pytest.mark.parametrize("rows_of", ["AC", "ABC", "BC", "C"])
def test_types_and_layouts(formats: tuple[str, str, str], rows_of: str, long_form: bool) -> None:
    """Every layout of A and B; where wgmma does not take it, mma.sync gives the same bits."""
    gemm = Gemm(formats, (64, 128, 64), 128, rows_of)
    for number, sizes in enumerate(SIZES):
        for kind in KINDS if long_form or sizes == SIZES[1] else ("ordinary", "cancelling"):
            Product(gemm, sizes).compare(kind, number)
        Product(gemm, sizes).compare_exactly(number)


def test_which_way_is_taken() -> None:
    """The pipeline for what tensor maps take, another one for what they refuse: strides and addresses that are no
    multiples of 16 bytes, and matrices without elements."""
    gemm = Gemm(BF16, (64, 128, 64), 128)
    if not has_pipeline(gemm):
        pytest.skip("the GPU has no wgmma")
    for sizes, gap, is_pipeline in (((128, 256, 64), 0, True), ((128, 256, 64), 8, True), ((100, 200, 72), 0, True),
                                    ((128, 256, 64), 1, False), ((100, 204, 60), 0, False), ((64, 128, 0), 0, False)):
        assert gemm.takes_pipeline(gpu.GPU, sizes, gap) == is_pipeline, (sizes, gap)


@pytest.mark.parametrize("gap", [1, 3, 8])
@pytest.mark.parametrize("formats", [BF16, TF32, S8], ids="-".join)
def test_lines_that_are_farther_apart(formats: tuple[str, str, str], gap: int) -> None:
    """What lies between them stays as it is."""
    for rows_of in ("AC", "A"):
        gemm = Gemm(formats, (64, 64, 32), 128, rows_of)
        Product(gemm, (130, 72, 96), gap).compare_exactly(gap)
        Product(gemm, (130, 72, 96), gap).compare("ordinary", gap)


def test_arrays_that_overlap_at_an_odd_address() -> None:
    """B begins one element behind A: a tensor map takes only one of the two."""
    n = 64
    whole = np.random.default_rng(2).integers(-3, 4, n * n + 1).astype(ELEMENTS["bf16"].dtype)
    a, b = whole[:-1].reshape(n, n), whole[1:].reshape(n, n)
    found = Gemm(BF16, (64, 64, 32), 128).run(gpu.GPU, a, b, np.zeros((n, n), np.float32), copies=False)
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 1), (1, 3), (3, 3), (2, 5), (7, 2)])
def test_numbers_of_work_groups(m: int, n: int) -> None:
    """Even and odd, along both axes: neighbours share tiles, and one may be left."""
    for gemm in (Gemm(BF16, (64, 64, 64), 128), Gemm(BF16, (128, 64, 64), 256, "AC")):
        Product(gemm, (gemm.tile[0] * m - 8, gemm.tile[1] * n - 8, 136)).compare_exactly(m * n)


def test_more_work_groups_than_multiprocessors() -> None:
    """Each multiprocessor does several; the pipeline goes on from one to the next."""
    for gemm in (Gemm(BF16, (64, 32, 32), 128, "AC"), Gemm(S8, (128, 64, 64), 256, "AC"),
                 Gemm(BF16, (64, 64, 32), 128, "BC", accumulates=True)):
        Product(gemm, (2040, 1056, 160)).compare_exactly()


@pytest.mark.parametrize(("tile", "items"), [
    ((64, 16, 16), 128), ((64, 256, 64), 128), ((128, 256, 64), 256), ((192, 64, 32), 128), ((256, 128, 32), 256),
    ((256, 64, 64), 512), ((128, 64, 128), 128), ((48, 80, 48), 96), ((16, 16, 16), 32), ((32, 48, 16), 40)], ids=str)
def test_tiles(tile: tuple[int, int, int], items: int) -> None:
    """Of all sizes: what wgmma has, and what it has not. Work-groups that are not 2^n warps multiply floats thread by
    thread, which rounds after each product."""
    for formats in (BF16, S8):
        gemm = Gemm(formats, tile, items, "AC")
        Product(gemm, (300, 264, 144)).compare_exactly()
        if formats == S8 or items in (32, 128, 256, 512):
            Product(gemm, (300, 264, 144)).compare("ordinary", 1)


@pytest.mark.parametrize("formats", [TF32, S8], ids="-".join)
@pytest.mark.parametrize("rows_of", ["ABC", "C", "BC"])
@pytest.mark.parametrize("sizes", [(64, 64, 64), (100, 204, 68), (260, 4, 132), (4, 260, 300), (1028, 516, 36)],
                         ids=str)
def test_operands_that_are_transposed_first(formats: tuple[str, str, str], rows_of: str, sizes: tuple[int, int, int]
                                            ) -> None:
    """Sizes that are multiples of a word; each launch again, with other numbers."""
    gemm = Gemm(formats, (64, 64, 32), 128, rows_of)
    for seed in range(2):
        Product(gemm, sizes).compare_exactly(seed)
        Product(gemm, sizes, 4).compare_exactly(seed)


@pytest.mark.parametrize("gemm", [
    Gemm(BF16, (128, 64, 64), 128, accumulates=True), Gemm(S8, (128, 64, 64), 128, "AC", accumulates=True),
    Gemm(BF16, (128, 64, 64), 128, "AB", accumulates=True), Gemm(BF16, (128, 64, 64), 128, result="bf16"),
    Gemm(BF16, (128, 128, 64), 128, "AC", result="fp16"), Gemm(BF16, (64, 48, 32), 128, "A", result="fp16"),
    Gemm(("fp16", "fp16", "fp16"), (64, 64, 32), 128), Gemm(("fp64", "fp64", "fp64"), (64, 32, 16), 128),
    Gemm(("fp32", "fp32", "fp32"), (64, 32, 16), 128)], ids=str)
def test_accumulators(gemm: Gemm) -> None:
    """C that is added to, by rows and by columns, results of 16 bits, and types that wgmma does not multiply."""
    for sizes in SIZES:
        Product(gemm, sizes).compare_exactly()
    if gemm.accumulates:
        Product(gemm, SIZES[1]).compare("ordinary", 5)
        Product(gemm, SIZES[1]).compare("special", 5)


@pytest.mark.parametrize("accumulates", [False, True])
def test_no_step_of_k(accumulates: bool) -> None:
    """C is zero, or stays as it is."""
    gemm = Gemm(BF16, (64, 64, 32), 128, accumulates=accumulates)
    c = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    empty = np.zeros((64, 0), ELEMENTS["bf16"].dtype)
    found = gemm.run(gpu.GPU, empty, empty.T, c)
    np.testing.assert_array_equal(found, c if accumulates else np.zeros_like(c))


@cache
def simulated() -> cm.Device:
    return cm.device(f"sim:{gpu.architecture()}")


@pytest.mark.parametrize("formats", [BF16, TF32, S8], ids="-".join)
def test_as_the_simulated_device(formats: tuple[str, str, str]) -> None:
    """The simulator runs the same kernel."""
    gemm, (m, n, k) = Gemm(formats, (64, 32, 32), 128, "AC"), (70, 48, 80)
    for kind in ("ordinary", "special"):
        bits = operands((7, KINDS.index(kind)), kind, formats, ((m, k), (k, n), (m, n)))
        arrays = [gpu.numbers_of(one, fmt) for one, fmt in zip(bits, formats, strict=True)]
        gpu.assert_same_bits(gemm.run(gpu.GPU, *arrays), gemm.run(simulated(), *arrays), f"{gemm}, {kind} numbers")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_random_products(seed: int) -> None:
    """Any of the above."""
    rng = np.random.default_rng(seed)
    formats = WGMMA[rng.integers(len(WGMMA))]
    items = int(rng.choice([32, 64, 128, 128, 256, 256, 512]))
    tile = tuple(int(16 * number) for number in rng.integers(1, 9, 3))
    if seed % 2:
        tile = (64 * max(1, items // 128) * int(rng.integers(1, 3)), tile[1], 64)
    gemm = Gemm(formats, tile, items, "".join(letter for letter in "ABC" if rng.integers(2)), bool(rng.integers(2)))
    for _ in range(3):
        one = Product(gemm, tuple(map(int, rng.integers(1, 300, 3))), int(rng.choice([0, 0, 8, 16, 5])))
        one.compare_exactly(seed)
        one.compare(str(rng.choice(KINDS)), seed)
        m, n, k = one.sizes
        replace(one, sizes=(8 * m, 8 * n, 16 * k)).compare_exactly(seed)
