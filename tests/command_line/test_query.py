"""``coopmat query``, run as a user runs it."""

from __future__ import annotations

import json

import pytest

from coopmat.devices import ARCHITECTURES
from tests.devices.test_tables import APPENDIX
from tests.kit.command_line import coopmat, failure

BF16 = ("--a", "bf16", "--b", "bf16", "--c", "fp32")
INT8 = ("--a", "sint8", "--b", "sint8", "--c", "sint32")


def as_json(*arguments: str) -> dict:
    result = coopmat("query", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", ["intel_gpu_pvc", "sim:intel_gpu_pvc"])
def test_an_architectures_combinations(name: str) -> None:
    shown = as_json(name)
    assert shown["architecture"] == "intel_gpu_pvc"
    assert shown["matrix_combinations"] == json.loads(
        coopmat("devices", "sim:intel_gpu_pvc", "--json").stdout)["matrix_combinations"]


def test_combinations_as_a_table() -> None:
    lines = coopmat("query", "amd_gpu_gfx90a").stdout.split("\n")
    rows = [line.split() for line in lines if line.rstrip().endswith("yes")]
    expected = [line.split() for line in APPENDIX["amd_gpu_gfx90a"].split("\n") if line]
    assert sorted(row[:-1] for row in rows) == sorted(expected)
    assert lines[0].strip() == "amd_gpu_gfx90a"


def test_combinations_with_some_types() -> None:
    found = as_json("nvidia_gpu_sm_80", "--a", "fp16", "--d", "fp16")["matrix_combinations"]
    assert [(row["atype"], row["ctype"], row["dtype"]) for row in found] == (
        [("fp16", "fp16", "fp16")] * 3 + [("fp16", "fp32", "fp16")] * 3)


def test_the_device_without_a_table() -> None:
    assert as_json("sim:generic")["matrix_combinations"] == []
    assert coopmat("query", "generic").stdout.split("\n")[4].split() == ["any"] * 7 + ["exact"]
    assert as_json("generic", *INT8, "-m", "3", "-n", "5", "-k", "7")["K"] == 7


def test_default_sizes_and_types() -> None:
    assert coopmat("query", "intel_gpu_pvc", *BF16).stdout == (
        "M = 32, N = 64, K = 16\n"
        "joint_matrix_a: joint_matrix[sub_group, bfloat16, use.a, 32, 16, layout.row_major]\n"
        "joint_matrix_b: joint_matrix[sub_group, bfloat16, use.b, 16, 64, layout.row_major]\n"
        "joint_matrix_c: joint_matrix[sub_group, float32, use.accumulator, 32, 64]\n"
        "joint_matrix_d: joint_matrix[sub_group, float32, use.accumulator, 32, 64]\n")
    assert as_json("sim:intel_gpu_pvc", *INT8) == {
        "architecture": "intel_gpu_pvc", "atype": "sint8", "btype": "sint8", "ctype": "sint32", "dtype": "sint32",
        "M": 8, "N": 16, "K": 32,
        "joint_matrix_a": "joint_matrix[sub_group, int8, use.a, 8, 32, layout.row_major]",
        "joint_matrix_b": "joint_matrix[sub_group, int8, use.b, 32, 16, layout.row_major]",
        "joint_matrix_c": "joint_matrix[sub_group, int32, use.accumulator, 8, 16]",
        "joint_matrix_d": "joint_matrix[sub_group, int32, use.accumulator, 8, 16]"}


def test_d_of_another_type() -> None:
    types = ("--a", "fp16", "--b", "fp16", "--c", "fp32", "--d", "fp16")
    assert "joint_matrix_d: joint_matrix[sub_group, half," in coopmat("query", "nvidia_gpu_sm_70", *types).stdout


def test_sizes_that_are_supported() -> None:
    shown = coopmat("query", "intel_gpu_pvc", *INT8, "-m", "4", "-n", "16", "-k", "32").stdout
    assert shown.startswith("M = 4, N = 16, K = 32\njoint_matrix_a: joint_matrix[sub_group, int8, use.a, 4, 32,")


@pytest.mark.parametrize(("arguments", "message"), [
    ([*INT8, "-m", "16", "-n", "16", "-k", "32"],
     "M=16 N=16 K=32; nearest supported: sint8*sint8 + sint32 -> sint32, M<=8 N=16 K=32; "),
    (["--a", "fp64", "--b", "fp64", "--c", "fp64"], "fp64*fp64 + fp64 -> fp64; nearest supported: "),
    ([*INT8, "-m", "8"], "takes all of the sizes M, N and K, to validate them, or none, for the default ones; "
                         "found M=8 only"),
    ([*INT8, "-m", "0", "-n", "16", "-k", "32"], "-m takes a size of 1 or more; found 0"),
    (["--a", "sint8", "-m", "8", "-n", "16", "-k", "32"], "sizes are validated for types: give --a, --b and --c, too"),
    (["--a", "fp64"], "intel_gpu_pvc has no combination with A=fp64; `coopmat query intel_gpu_pvc` lists those"),
    (["--c", "int32"], "--c: unknown element type 'int32'; did you mean 'sint32'?"),
    (["--c", "float"], "--c: unknown element type 'float'; did you mean 'fp32'?"),
    (["--b", "pf16"], "--b: unknown element type 'pf16'; did you mean 'fp16'? (known: sint8, "),
    ([*INT8, "-m", "x", "-n", "16", "-k", "32"], "-m"),
])
def test_errors_are_one_line(arguments: list[str], message: str) -> None:
    found = failure("query", "intel_gpu_pvc", *arguments)
    assert message in found
    assert found.count("\n") == 1
    assert found.startswith("coopmat: error: ")


def test_an_architecture_that_there_is_not() -> None:
    found = failure("query", "intel_gpu_pcv")
    assert "unknown architecture 'intel_gpu_pcv'; did you mean 'intel_gpu_pvc'" in found
    assert all(name in found for name in ARCHITECTURES)


def test_sizes_without_a_default() -> None:
    assert "generic takes matrices of every size and has no default ones" in failure("query", "generic", *INT8)
