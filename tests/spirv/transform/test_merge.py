"""``coopmat opt --passes merge``: merged modules are valid, keep their lines, say how they are launched, and compute
the bits of the module before, with all checks of the simulator."""

from __future__ import annotations

import re
import subprocess

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.merge import merged_of
from coopmat.spirv.transform.passes import chosen, transform
from tests.kit.paths import EXAMPLES

TYPES = {"char": (np.int8, "int", np.int32, 15), "half": (np.float16, "float", np.float32, 0),
         "__bf16": (ml_dtypes.bfloat16, "float", np.float32, 0), "float": (np.float32, "float", np.float32, 0)}
"""Type of A and B → its numpy type, C's, its numpy type, which operands have a sign."""
SIZE = 16  # of sub-groups
GIVEN = Goal(work_group=(SIZE, 1, 1))
TILE = (8, 16, 16)


def gemm(element: str) -> Module:
    m, n, k = TILE
    _, sums, _, flags = TYPES[element]
    return cm.build(EXAMPLES / "gemm.cl", (
        f"-DSUB_GROUP_SIZE={SIZE}",
        f"-DIN={element}", f"-DOUT={sums}", f"-DFLAGS={flags}", f"-DTM={m}", f"-DTN={n}", f"-DTK={k}")).module


def merged(module: Module, merge: tuple[int, int] | None) -> tuple[Module, str]:
    """The module after the pass, and what the pass says."""
    goal = Goal(work_group=(SIZE, 1, 1), merge=merge)
    changed, notes = transform(module, chosen(["merge"]), goal)
    assert changed.validate() == []
    return Module.from_bytes(changed.to_bytes()), "\n".join(map(str, notes))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("merge", [None, (1, 3), (4, 1), (3, 2)], ids=str)
@pytest.mark.parametrize("element", TYPES)
def test_the_same_bits_as_before(element: str, merge: tuple[int, int] | None) -> None:
    """Grids that are whole blocks and such that are not, on the simulator with all checks and on the CPU."""
    module = gemm(element)
    changed, said = merged(module, merge)
    down, across = merge or (2, 2)
    grid = merged_of(changed)["gemm"]
    assert grid.factors == (across, down, 1)
    assert f"kernel 'gemm': {across} x {down} x 1 neighbouring work-groups (along x, y, z) are one" in said
    assert "its parameters 5, 6 and 7 take how many there were along x, y and z" in said
    dtype, _, sums, _ = TYPES[element]
    (tm, tn, tk), rng = TILE, np.random.default_rng(len(element))
    before, after = (cm.build(one.to_bytes()).kernel("gemm") for one in (module, changed))
    for groups in ((4, 4, 1), (3, 5, 1), (1, 1, 1)):
        m, n, k = groups[1] * tm, groups[0] * tn, 2 * tk
        a, b = ((rng.standard_normal(shape) * 20).astype(dtype) for shape in ((m, k), (k, n)))
        for device in ("sim:generic", "cpu"):
            out = np.zeros((2, m, n), sums)
            sizes = groups[0] * SIZE, groups[1]
            queue = cm.Queue(device)
            queue.enqueue(before, sizes, (SIZE, 1), a, b, out[0], n, k).wait()
            counts = grid.group_counts(groups)
            queue.enqueue(after, (counts[0] * SIZE, *counts[1:]), (SIZE, 1, 1), a, b, out[1], n, k,
                          *grid.given(groups)).wait()
            np.testing.assert_array_equal(out[0], out[1], device)
            assert out[0].any()


def test_lines_stay() -> None:
    """Loads, products and stores are under the lines where they were."""
    module = gemm("half")
    names = "Load", "MulAdd", "Store"
    before, after = (lines(one) for one in (module, merged(module, None)[0]))
    assert {name for name, _ in before} == set(names)
    assert before == after


def lines(module: Module) -> set[tuple[str, int]]:
    """What is done with matrices, and in which line of the source."""
    found, line = set(), 0
    for row in module.instructions:
        if row.opcode == Op.Line:
            line = row.words[1]
        kind = re.match(r"OpCooperativeMatrix(Load|Store|MulAdd)", row.name)
        if kind is not None:
            found.add((kind[1], line))
    return found


SOURCE = """
kernel void sums(global float *p) { p[get_global_id(0)] += 1; }
kernel void other(global float *p) { p[get_global_id(0)] += 2; }
"""


def test_what_is_not_merged_stays_as_it_is() -> None:
    module = cm.build(SOURCE).module
    for goal, reason in ((GIVEN, "it requires no sub-group size, and no device is given (--device)"),
                         (Goal(cm.device("sim:intel_gpu_pvc").description), "it requires no work-group size, and none "
                          "is given (--work-group)"),
                         (Goal(cm.device("sim:intel_gpu_pvc").description, work_group=(SIZE, 1, 1)),
                          "it multiplies no matrices")):
        changed, notes = transform(module, chosen(["merge"]), goal)
        assert changed.to_bytes() == module.to_bytes()
        assert [str(note) for note in notes] == [f"merge: kernel '{name}' is not merged: {reason}"
                                                 for name in ("sums", "other")]


def test_a_merged_kernel_is_not_merged_again() -> None:
    once, _ = merged(gemm("char"), None)
    twice, said = merged(once, None)
    assert twice.to_bytes() == once.to_bytes()
    assert said == "merge: kernel 'gemm' is merged already"


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("element", TYPES)
def test_spirv_val_accepts_what_is_merged(element: str) -> None:
    """SPIRV-Tools does not know the checked accesses: all else is judged, with plain accesses in their place."""
    changed, _ = merged(gemm(element), (2, 3))
    found = subprocess.run(["spirv-val", "-"], input=plain(changed).to_bytes(), capture_output=True, check=False)
    assert found.returncode == 0, found.stderr.decode()


def plain(module: Module) -> Module:
    """A module with accesses that are not checked; they lie elsewhere."""
    text = module.to_text()
    text = re.sub(r".*(CooperativeMatrixCheckedInstructionsINTEL|SPV_INTEL_joint_matrix).*\n", "", text)
    text = re.sub(r"LoadCheckedINTEL (%\d+) (%\d+) %\d+ %\d+ (%\d+) %\d+ %\d+ (%\d+)", r"LoadKHR \1 \2 \3 \4", text)
    text = re.sub(r"StoreCheckedINTEL (%\d+) %\d+ %\d+ (%\d+) (%\d+) %\d+ %\d+ (%\d+)", r"StoreKHR \1 \2 \3 \4", text)
    assert "Checked" not in text
    return Module.from_text(text)
