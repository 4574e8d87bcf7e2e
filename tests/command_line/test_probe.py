"""``coopmat probe``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coopmat.probing import names
from tests.kit.command_line import coopmat, failure
from tests.kit.paths import ROOT

HOPPER = "sim:nvidia_gpu_sm_90"


def as_json(*arguments: str) -> dict:
    result = coopmat("probe", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_one_combination_as_json() -> None:
    shown = as_json(HOPPER, "--a", "tf32")
    assert (shown["device"], shown["agrees"]) == (HOPPER, True)
    (report,) = shown["reports"]
    assert {name: value for name, value in report.items() if name != "properties"} == {
        "atype": "tf32", "btype": "tf32", "ctype": "fp32", "dtype": "fp32", "M": 16, "N": 16, "K": 8}
    order = "C + {p0…p7}"
    assert {"property": names.ORDER, "found": order, "claimed": order, "agrees": True} in report["properties"]
    assert {"property": names.KEPT, "found": "25", "claimed": "25", "agrees": True} in report["properties"]


def test_the_page_explains_every_property() -> None:
    page = (ROOT / "docs" / "probing.md").read_text()
    rows = [line.split("|")[1].strip() for line in page.split("\n") if line.startswith("| ")]
    assert {name for row in rows for name in row.split(", ")} - {"property"} == set(names.IN_ORDER)


def test_every_combination_of_a_device() -> None:
    result = coopmat("probe", "sim:intel_gpu_pvc")
    assert (result.returncode, result.stderr) == (0, "")
    titles = [line.strip() for line in result.stdout.split("\n") if line.startswith("sim:")]
    assert titles == [f"sim:intel_gpu_pvc: {types}, M=8 N=16 K={k}" for types, k in (
        ("uint8*uint8 + sint32 -> sint32", 32), ("uint8*sint8 + sint32 -> sint32", 32),
        ("sint8*uint8 + sint32 -> sint32", 32), ("sint8*sint8 + sint32 -> sint32", 32),
        ("fp16*fp16 + fp32 -> fp32", 16), ("bf16*bf16 + fp32 -> fp32", 16), ("tf32*tf32 + fp32 -> fp32", 8))]
    assert result.stdout.rstrip().split("\n")[-1].endswith(" properties are as the model claims")
    assert "DIFFERS" not in result.stdout


@pytest.mark.parametrize(("arguments", "sizes"), [
    (("sim:amd_gpu_gfx90a", "--a", "bf16"), (16, 16, 16)),
    (("sim:amd_gpu_gfx90a", "--a", "bf16", "-m", "32"), (32, 32, 8)),
    (("sim:intel_cpu_spr", "--a", "bf16", "-m", "3", "-n", "5", "-k", "6"), (3, 5, 6)),
    (("sim:generic", "--a", "bf16", "--c", "fp32", "-k", "5"), (16, 16, 5)),
    (("sim:generic", "--a", "sint16", "--b", "uint16", "--c", "sint64"), (16, 16, 16)),
])
def test_shapes(arguments: tuple[str, ...], sizes: tuple[int, int, int]) -> None:
    (report,) = as_json(*arguments)["reports"]
    assert (report["M"], report["N"], report["K"]) == sizes


@pytest.mark.parametrize(("arguments", "message"), [
    (("sim:intel_gpu_pvc", "--a", "fp64"),
     "sim:intel_gpu_pvc has no matrices with A=fp64; `coopmat devices sim:intel_gpu_pvc` lists those that it has"),
    ((HOPPER, "--a", "fp16", "-k", "8"),
     f"{HOPPER} has no matrices with A=fp16, K=8; `coopmat devices {HOPPER}` lists those that it has"),
    (("sim:generic", "--a", "fp32"),
     "give the types of A and C, too: --a and --c (B has that of A, D that of C by default)"),
    (("sim:generic", "--a", "fp17", "--c", "fp32"),
     "--a: unknown element type 'fp17'; did you mean 'fp16'? (known: bf16, fp16, tf32, fp32, fp64, sint4, sint8, "
     "sint16, sint32, sint64, uint4, uint8, uint16, uint32, uint64)"),
    (("sim:generic", "-m", "0"), "-m takes a size of 1 or more; found 0"),
    (("sim:generic", "-k", "65"), "dot products of 1 to 64 products can be probed, found K=65"),
    (("sim:generic", "--a", "fp16", "--c", "sint32"),
     "A, B, C and D are either all integers or all floating-point numbers; found fp16*fp16 + sint32 -> sint32"),
    (("sim:generic", "--a", "fp16", "--b", "bf16", "--c", "fp32"),
     "fp16*bf16 + fp32 -> fp32 cannot be probed: A and B must be of one type, with products as fine as D"),
    (("sim:generic", "--a", "sint4", "--c", "sint32"),
     "kernels have no matrices of sint4 (they have sint8, sint16, sint32, sint64, uint8, uint16, uint32, uint64, fp16, "
     "bf16, fp32, fp64, tf32); for a chip that has them there are --export and --results"),
    (("sim:intel_gpu_pvc", "--a", "sint8", "--export", "x.npz"),
     "--export takes one combination of types: choose one with --a, --b, --c and --d; sim:intel_gpu_pvc has "
     "sint8*uint8 + sint32 -> sint32; sint8*sint8 + sint32 -> sint32"),
    (("sim:generic", "--export", "x.npz", "--json"), "--export only writes a file: leave out --json"),
    (("sim:generic", "--export", "x.npz", "--results", "y.npz"), "--export only writes a file: leave out --results"),
    (("sim:generic", "--results", "missing.npz"), "cannot read 'missing.npz': No such file or directory"),
    (("sim:generic", "--a", "fp64", "--export", "no/folder/x.npz"),
     "cannot write 'no/folder/x.npz': No such file or directory"),
])
def test_refusals(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    assert failure("probe", *arguments, cwd=tmp_path) == f"coopmat: error: {message}\n"
    assert list(tmp_path.iterdir()) == []
