"""Products that show whether a driver's matrices work: of the driver that is tested, and of lavapipe, which
computes some sizes wrongly, and ends its process at others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.targets import on_vulkan

pytestmark = pytest.mark.oracle("lavapipe")
BEGINNING = """
import json, coopmat as cm
from dataclasses import replace
from coopmat.targets.vulkan.host.context import device_facts
from coopmat.targets.vulkan.host.facts import MatrixRow
from coopmat.targets.vulkan.matrices import Matrices
facts = device_facts(0)
size = facts.sub_group_sizes[0]
matrices = Matrices(0, facts, True)
def texts(*sizes, types=("sint8", "sint8", "sint32", "sint32")):
    return [one.text for one in matrices.verdicts([MatrixRow(types, one) for one in sizes], size)]
"""


def found(source: str, cache: Path | str = "off", driver: str = "") -> Any:
    child = on_vulkan.run("-c", BEGINNING + source, driver=driver, COOPMAT_CACHE_DIR=str(cache))
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def needs_matrices() -> None:
    """Of the driver that is tested."""
    if on_vulkan.tested().why_no_matrices:
        pytest.skip(on_vulkan.tested().why_no_matrices)


@pytest.mark.oracle("mesa-vulkan")
def test_what_is_right_what_is_wrong_and_what_ends_the_process() -> None:
    right, wrong, ended = found("print(json.dumps(texts((8, 8, 8), (4, 8, 8), (8, 8, 4))))", driver="lavapipe")
    assert right == "ok"
    assert wrong == "its products are wrong"
    assert "was ended by SIG" in ended or ended == wrong


@pytest.mark.oracle("mesa-vulkan")
def test_verdicts_of_wrong_rows_are_kept(tmp_path: Path) -> None:
    source = "print(json.dumps(texts((4, 8, 8))))"
    assert found(source, tmp_path, "lavapipe") == ["its products are wrong"]
    assert found(UNASKED + source, tmp_path, "lavapipe") == ["its products are wrong"]


UNASKED = """
import coopmat.targets.vulkan.matrices as module
module.answers = None  # nobody is asked
"""
FIRST_ROWS = """
from coopmat.support.cache import find_cache
rows = matrices.rows[:2]
module_of_kernel = matrices.job(rows[0], (0, 0, 0, 0), size).probe.module()
def usable():
    matrices = Matrices(0, replace(facts, matrices=tuple(rows), flexible=()), True)
    return [str(one) for one in matrices.usable(module_of_kernel, size)]
"""


def test_verdicts_are_kept_and_followed(tmp_path: Path) -> None:
    """Two rows are tried, then nobody is asked; when the first is kept as wrong, the second is all that is used."""
    needs_matrices()
    right = found(FIRST_ROWS + "print(json.dumps(usable()))", tmp_path)
    assert len(right) == len(on_vulkan.tested().rows[:2])
    assert found(FIRST_ROWS + UNASKED + """
kept = usable()
find_cache().put(matrices._key(rows[0], size), b"0 its products are wrong")
print(json.dumps([kept, usable()]))""", tmp_path) == [right, right[1:]]


def test_every_row_of_the_driver_is_tried_and_native() -> None:
    """All of them are right."""
    needs_matrices()
    table, verdicts, native = found("""
device = cm.device("vulkan:0")
print(json.dumps([[str(row.combination()) for row in matrices.rows],
                  [f"{one.row}: {one.text}" for one in device.matrices.verdicts(matrices.rows, size)],
                  [str(row) for row in device.matrix_combinations if row.native]]))""")
    assert verdicts == [f"{row}: ok" for row in on_vulkan.tested().rows]
    assert native == table


@pytest.mark.oracle("mesa-vulkan")
def test_rows_that_are_wrong_are_not_used() -> None:
    """Lavapipe's table is made to have a row that it computes wrongly, beside one of its own."""
    usable = found("""
types = ("sint8", "sint8", "sint32", "sint32")
rows = (MatrixRow(types, (4, 8, 8)), MatrixRow(types, (8, 8, 8)))
facts = replace(device_facts(0), matrices=rows, flexible=())
program = cm.build('''
kernel void k(global char *a, global char *b, global int *c) {
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_A))) char x =
        coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}''')
from coopmat.spirv import Module
made = Module.from_bytes(program.spirv)
print(json.dumps([[str(row) for row in Matrices(0, facts, probes).usable(made, size)]
                  for probes in (True, False)]))""", driver="lavapipe")
    assert usable == [["sint8*sint8 + sint32 -> sint32, M=8 N=8 K=8"],
                      ["sint8*sint8 + sint32 -> sint32, M=4 N=8 K=8", "sint8*sint8 + sint32 -> sint32, M=8 N=8 K=8"]]


def test_matrices_of_work_groups_are_those_for_their_work_items() -> None:
    """A driver's table is made to have some, in a kernel's sizes, for work-groups of 128."""
    usable = found("""
from coopmat.spirv import Module
from tests.kit.targets.work_group_gemm import Gemm
def row(steps, items, *types):
    return MatrixRow((*types, types[-1]), steps, "work-group", False, items)
facts = device_facts(0)
rows = (row((32, 16, 16), 128, "fp16", "fp16", "fp32"), row((32, 32, 16), 256, "fp16", "fp16", "fp32"),
        row((16, 16, 16), 128, "fp16", "fp16", "fp16"), row((16, 16, 32), 128, "sint8", "sint8", "sint32"))
facts = replace(facts, flexible=rows, limits={**facts.limits, "cooperativeMatrixFlexibleDimensionsMaxDimension": 256})
def texts(gemm, items):
    module = Module.from_bytes(cm.build(gemm.kernel).spirv)
    return [str(one) for one in Matrices(0, facts, False).usable_by_work_groups(module, items, 8)]
plain = Gemm(("fp16", "fp16", "fp32"), (64, 48, 32))
stored = replace(plain, result="fp16")
print(json.dumps([texts(plain, 128), texts(plain, 256), texts(stored, 128),
                  texts(Gemm(("fp16", "fp16", "fp32"), (512, 16, 16)), 128)]))""")
    product = "fp16*fp16 + fp32 -> fp32, M=64 N=48 K=32"
    assert usable == [[product], [], [product, "fp16*fp16 + fp16 -> fp16, M=64 N=48 K=16"], []]


CHIPS = {"H100": "nvidia_gpu_sm_90", "H200": "nvidia_gpu_sm_90", "A100": "nvidia_gpu_sm_80", "L4": "nvidia_gpu_sm_89"}
"""A word of a device's name → the architecture that its matrix units have."""
BITS = """
import numpy as np
from pathlib import Path
example, rng, differences = Path(cm.__file__).parent / "examples" / "gemm.cl", np.random.default_rng(0), {}
for sums, name, dtype in (("float", "fp32", np.float32), ("half", "fp16", np.float16)):
    types = ("fp16", "fp16", name, name)
    m, n, k = next(one.largest for one in cm.device("vulkan:0").own_matrices if one.types == types)
    options = f"-DIN=half -DOUT={sums} -DFLAGS=CLK_COOPERATIVE_MATRIX_OPERAND_NONE -DTM={m} -DTN={n} -DTK={k}"
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((4 * m, 8 * k), (8 * k, 4 * n)))
    results = []
    for device in ("vulkan:0", "sim:ARCHITECTURE"):
        queue, c = cm.Queue(device), np.zeros((4 * m, 4 * n), dtype)
        items = queue.device.sub_group_sizes[0]
        kernel = cm.build(example, options, queue.device).kernel("gemm")
        queue.enqueue(kernel, (4 * items, 4), (items, 1), a, b, c, 4 * n, 8 * k).wait()
        results.append(c)
    differences[sums] = int((results[0] != results[1]).sum())
print(json.dumps(differences))
"""


def test_bits_of_the_chip() -> None:
    """Products of random numbers, many of them inexact, are those of the simulated device."""
    name = on_vulkan.tested().name
    chip = next((chip for word, chip in CHIPS.items() if word in name.split()), None)
    if chip is None:
        pytest.skip(f"no simulated device has the matrix units of {name}")
    assert found(BITS.replace("ARCHITECTURE", chip)) == {"float": 0, "half": 0}
