"""Random products of matrices, merged, decomposed and put together: the transformed modules compute what numpy does, in
the simulator with all checks and on the CPU, which merges work-groups by itself or is told not to."""

from __future__ import annotations

import random

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.merge import merged_of
from coopmat.spirv.transform.passes import chosen, transform
from coopmat.targets.cpu.merging import VARIABLE
from tests.kit.fuzz.products import C_BEFORE, SOURCE, TYPES, Drawn, drawn

SHORT, LONG, BATCH = (5, 7), range(1000, 6000), 50
SIZE = 16  # of sub-groups
MERGED = ((1, 2), (2, 1), (2, 2), (2, 3), (3, 2))
"""How many work-groups become one, down and across."""
VALUES = ("inline", "values", "fold", "unroll", "fold", "values", "fold")
FORMS = {"merged": ("merge",), "cut": (*VALUES, "cut", "fold"), "packed": (*VALUES, "pack"),
         "merged and cut": ("merge", "cut", "fold"), "cut and packed": (*VALUES, "cut", "fold", "pack")}
"""What becomes of a kernel → the passes that make it."""


def check(seed: int, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Compare all forms of a kernel with numpy. Those that differ from the kernel as it is written."""
    one, chance = drawn(seed, most_groups=4, most_rounds=3), random.Random(seed)
    module = cm.build(SOURCE, one.options).module
    merge = chance.choice(MERGED)
    halves = tuple(own // chance.choice((1, 2)) for own in one.tile)
    changed = set()
    given, expected = operands(one, seed)
    for name, passes in {"as written": (), **FORMS}.items():
        m, n, k = tile = one.tile if passes[:1] == ("merge",) else halves
        goal = Goal(cm.device("sim:generic").description, (m, n, k), merge=merge, work_group=(SIZE, 1, 1))
        form, _ = transform(module, chosen(passes), goal)
        assert form.validate() == [], (one, name)
        form = Module.from_bytes(form.to_bytes())
        if matrices_of(form) != matrices_of(module):
            changed.add(name)
        for device, merges in (("sim:generic", ""), ("cpu", "0"), ("cpu", one.merge)):
            monkeypatch.setenv(VARIABLE, merges)
            found = launched(form, one, device, given, expected)
            np.testing.assert_array_equal(found, expected, f"{name} by {tile}, {device} {merges}: {one}")
    return changed


def matrices_of(module: Module) -> tuple[set[tuple[int, ...]], int]:
    """Rows and columns of the matrices of a module, and how many products it has."""
    products = sum(1 for _ in module.of_opcode(Op.CooperativeMatrixMulAddKHR))
    return {tuple(module.definition(word).words[0] for word in row.words[2:4])
            for row in module.of_opcode(Op.TypeCooperativeMatrixKHR)}, products


def operands(one: Drawn, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """A, B, what sums begin with, and the result: whole numbers, of which every sum is exact."""
    dtype, _, sums, _ = TYPES[one.element]
    (m, n, k), rng = one.sizes, np.random.default_rng(seed)
    low = 0 if np.dtype(dtype).kind == "u" else -4
    a, b, bias = (rng.integers(low, 5, shape) for shape in ((m, k), (k, n), (m, n)))
    of_a, of_b = one.changed(a, b)
    product = of_a @ of_b + (bias if one.start else 0)
    expected = (product, product * 3, np.maximum(product, 0), product + bias, product * 2 + bias * 3,
                product + C_BEFORE)[one.end].astype(sums)
    return [*(matrix.astype(dtype) for matrix in one.in_memory(a, b)), bias.astype(sums)], expected


def launched(module: Module, one: Drawn, device: str, given: list[np.ndarray], like: np.ndarray) -> np.ndarray:
    """The result of a module's kernel on a device."""
    out = np.full_like(like, C_BEFORE)
    groups = (*one.groups, 1)
    grid = merged_of(module).get("gemm")
    x, y, z = grid.group_counts(groups) if grid is not None else groups
    more = grid.given(groups) if grid is not None else ()
    kernel = cm.build(module.to_bytes(), device=device).kernel("gemm")
    cm.Queue(device).enqueue(kernel, (x * SIZE, y, z), (SIZE, 1, 1), *given, out, *map(np.int32, one.sizes),
                             *more).wait()
    return out


def test_random_products(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [check(seed, monkeypatch) for seed in SHORT]
    assert all(any(name in one for one in found) for name in FORMS), found


def test_half_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose tiles are packed for a longer product, which is then none, of the same tiles."""
    one = drawn(41173, most_groups=4, most_rounds=3)
    goal = Goal(cm.device("sim:generic").description, (8, 16, 32), work_group=(SIZE, 1, 1))
    form, _ = transform(cm.build(SOURCE, one.options).module, chosen(FORMS["cut and packed"]), goal)
    assert form.validate() == []
    monkeypatch.setenv(VARIABLE, "0")
    given, expected = operands(one, 41173)
    np.testing.assert_array_equal(launched(form, one, "cpu", given, expected), expected)


@pytest.mark.slow
@pytest.mark.parametrize("first", LONG[::BATCH])
def test_many_random_products(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(first, first + BATCH):
        check(seed, monkeypatch)
