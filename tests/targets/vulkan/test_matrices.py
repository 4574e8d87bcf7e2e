"""Products that show whether a driver's matrices work: lavapipe computes some sizes wrongly, and ends its process at
others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kit.targets import on_vulkan

pytestmark = pytest.mark.oracle("lavapipe")
BEGINNING = """
import json, coopmat as cm
from coopmat.targets.vulkan.host.context import device_facts
from coopmat.targets.vulkan.host.facts import MatrixRow
from coopmat.targets.vulkan.matrices import Matrices
matrices = Matrices(0, device_facts(0), True)
def texts(*sizes, types=("sint8", "sint8", "sint32", "sint32")):
    return [one.text for one in matrices.verdicts([MatrixRow(types, size) for size in sizes], 8)]
"""


def found(source: str, cache: Path | str = "off", **variables: str) -> list[str]:
    child = on_vulkan.run("-c", BEGINNING + source, COOPMAT_CACHE_DIR=str(cache), **variables)
    assert child.returncode == 0, child.stderr
    answer: list[str] = json.loads(child.stdout)
    return answer


def test_what_is_right_what_is_wrong_and_what_ends_the_process() -> None:
    right, wrong, ended = found("print(json.dumps(texts((8, 8, 8), (4, 8, 8), (8, 8, 4))))")
    assert right == "ok"
    assert wrong == "its products are wrong"
    assert "was ended by SIG" in ended or ended == wrong


def test_verdicts_are_kept(tmp_path: Path) -> None:
    assert found("print(json.dumps(texts((4, 8, 8))))", tmp_path) == ["its products are wrong"]
    again = """
import coopmat.targets.vulkan.matrices as module
module.answers = None  # nobody is asked
print(json.dumps(texts((4, 8, 8))))"""
    assert found(again, tmp_path) == ["its products are wrong"]


def test_every_row_of_the_driver_is_tried_and_native() -> None:
    rows = found("""
print(json.dumps([str(row) for row in cm.device("vulkan:0").matrix_combinations if row.native]))""")
    assert {"sint8*sint8 + sint32 -> sint32, M=8 N=8 K=8", "fp16*fp16 + fp32 -> fp32, M=8 N=8 K=8"} <= set(rows)


def test_rows_that_are_wrong_are_not_used() -> None:
    """A driver's table is made to have a row that it computes wrongly."""
    usable = found("""
from dataclasses import replace
import coopmat.targets.vulkan.matrices as module
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
print(json.dumps([[str(row) for row in Matrices(0, facts, probes).usable(made, 8)] for probes in (True, False)]))""")
    assert usable == [["sint8*sint8 + sint32 -> sint32, M=8 N=8 K=8"],
                      ["sint8*sint8 + sint32 -> sint32, M=4 N=8 K=8", "sint8*sint8 + sint32 -> sint32, M=8 N=8 K=8"]]


def test_matrices_of_work_groups_are_those_for_their_work_items() -> None:
    """A driver's table is made to have some, in a kernel's sizes, for work-groups of 128."""
    usable = found("""
from dataclasses import replace
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
