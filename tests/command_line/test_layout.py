"""``coopmat layout``: worked examples of every family, files, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from coopmat.command_line.main import app
from coopmat.diagnostics import Error
from coopmat.layout import of
from tests.kit.command_line import coopmat, failure

PVC, DG2, SPR = "intel_gpu_pvc", "intel_gpu_dg2_g10", "intel_cpu_spr"
SM_70, SM_80, SM_90, CDNA2 = "nvidia_gpu_sm_70", "nvidia_gpu_sm_80", "nvidia_gpu_sm_90", "amd_gpu_gfx90a"


def words(device: str, use: str, fmt: str, shape: tuple[int, int, int]) -> list[str]:
    m, n, k = map(str, shape)
    return ["layout", device, "--use", use, "--type", fmt, "-m", m, "-n", n, "-k", k]


# Worked examples of the documents, and by their formulas, in the words of a reader:
# device, use, type, (M, N, K), (row, column), then each place: lane, component, register, lowest and highest bit.
EXAMPLES = [
    # cl_intel_subgroup_matrix_multiply_accumulate
    (DG2, "a", "sint8", (8, 8, 32), (1, 13), (3, 5, 1, 8, 15)),
    (PVC, "a", "sint8", (8, 16, 32), (1, 13), (6, 3, 1, 8, 15)),
    (DG2, "a", "sint4", (8, 8, 64), (2, 45), (5, 21, 2, 20, 23)),
    (PVC, "a", "sint4", (8, 16, 64), (2, 45), (11, 9, 2, 4, 7)),
    (DG2, "a", "bf16", (8, 8, 16), (5, 9), (4, 11, 5, 16, 31)),
    (PVC, "a", "bf16", (8, 16, 16), (5, 9), (9, 5, 5, 0, 15)),
    (PVC, "a", "tf32", (8, 16, 8), (5, 3), (11, 2, 2, 0, 31)),
    (PVC, "b", "uint8", (8, 16, 32), (13, 6), (6, 13, 3, 8, 15)),
    (DG2, "b", "sint8", (8, 8, 32), (13, 6), (6, 13, 3, 8, 15)),
    (PVC, "b", "uint4", (8, 16, 64), (45, 6), (6, 45, 5, 20, 23)),
    (PVC, "b", "bf16", (8, 16, 16), (9, 6), (6, 9, 4, 16, 31)),
    (PVC, "b", "tf32", (8, 16, 8), (5, 6), (6, 5, 5, 0, 31)),
    (PVC, "accumulator", "fp32", (8, 16, 16), (3, 6), (6, 3, 3, 0, 31)),
    # AMX: the register is the tile's row, the bits are those in that row
    (SPR, "a", "bf16", (16, 16, 32), (3, 7), (7, 6, 3, 112, 127)),
    (SPR, "b", "bf16", (16, 16, 32), (7, 3), (3, 7, 3, 112, 127)),
    (SPR, "b", "sint8", (16, 16, 64), (13, 6), (6, 13, 3, 200, 207)),
    (SPR, "b", "uint8", (16, 16, 64), (6, 3), (3, 6, 1, 112, 119)),
    (SPR, "accumulator", "sint32", (16, 16, 64), (9, 4), (4, 9, 9, 128, 159)),
    # mma.sync
    (SM_80, "a", "fp16", (16, 8, 16), (10, 11), (9, 7, 3, 16, 31)),
    (SM_80, "b", "fp16", (16, 8, 16), (11, 5), (21, 3, 1, 16, 31)),
    (SM_80, "accumulator", "fp32", (16, 8, 16), (10, 5), (10, 3, 3, 0, 31)),
    (SM_80, "a", "sint8", (16, 8, 32), (10, 21), (9, 13, 3, 8, 15)),
    (SM_80, "b", "sint8", (16, 8, 32), (21, 5), (21, 5, 1, 8, 15)),
    (SM_80, "a", "tf32", (16, 8, 8), (10, 6), (10, 3, 3, 0, 31)),
    (SM_80, "a", "fp64", (8, 8, 4), (5, 2), (22, 0, 0, 0, 63)),
    (SM_80, "accumulator", "fp64", (8, 8, 4), (5, 3), (21, 1, 1, 0, 63)),
    (SM_70, "a", "fp16", (8, 8, 4), (5, 3), (17, 3, 1, 16, 31)),
    (SM_70, "accumulator", "fp32", (8, 8, 4), (5, 3), (19, 1, 1, 0, 31)),
    # wgmma: lanes of four warps
    (SM_90, "accumulator", "fp32", (64, 64, 16), (45, 27), (85, 15, 15, 0, 31)),
    # wmma: elements held twice
    (SM_80, "a", "fp16", (16, 16, 16), (10, 11), (9, 7, 3, 16, 31), (9, 15, 7, 16, 31)),
    (SM_80, "b", "fp16", (16, 16, 16), (11, 13), (21, 7, 3, 16, 31), (21, 15, 7, 16, 31)),
    (SM_80, "accumulator", "fp32", (16, 16, 16), (10, 13), (10, 7, 7, 0, 31)),
    (SM_80, "a", "tf32", (16, 16, 8), (10, 6), (10, 3, 3, 0, 31)),
    (SM_70, "a", "fp16", (16, 16, 16), (13, 7), (21, 7, 3, 16, 31), (29, 7, 3, 16, 31)),
    (SM_70, "b", "fp16", (16, 16, 16), (7, 13), (25, 7, 3, 16, 31), (29, 7, 3, 16, 31)),
    (SM_70, "accumulator", "fp32", (16, 16, 16), (13, 7), (23, 5, 5, 0, 31)),
    # MFMA, as the AMD Matrix Instruction Calculator prints them
    (CDNA2, "a", "fp16", (32, 32, 8), (13, 7), (45, 3, 1, 16, 31)),
    (CDNA2, "accumulator", "fp32", (32, 32, 8), (13, 7), (39, 5, 5, 0, 31)),
    (CDNA2, "b", "sint8", (16, 16, 16), (13, 7), (55, 1, 0, 8, 15)),
    (CDNA2, "accumulator", "fp64", (16, 16, 4), (5, 3), (19, 1, 1, 0, 63)),
    # dealt out
    ("generic", "b", "fp32", (16, 5, 7), (6, 4), (2, 2, 2, 0, 31)),
]


@pytest.mark.parametrize(("device", "use", "fmt", "shape", "element", "places"),
                         [(*row[:5], row[5:]) for row in EXAMPLES], ids=str)
def test_worked_examples(device: str, use: str, fmt: str, shape: tuple[int, int, int], element: tuple[int, int],
                         places: tuple[tuple[int, ...], ...]) -> None:
    result = CliRunner().invoke(app, [*words(f"sim:{device}", use, fmt, shape), "--format", "json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["device"] == f"sim:{device}"
    held = [(entry["lane"], entry["component"], entry["register"], *entry["bits"]) for entry in found["elements"]
            if (entry["row"], entry["column"]) == element]
    assert held == list(places)


@pytest.mark.parametrize(("device", "use", "fmt", "shape", "expected"), [
    (PVC, "a", "bf16", (8, 16, 16), (16, 8, False)), (PVC, "accumulator", "fp32", (32, 64, 16), (16, 128, True)),
    (DG2, "b", "sint8", (8, 8, 32), (8, 32, False)), (SPR, "a", "bf16", (16, 16, 32), (16, 32, True)),
    (SM_80, "a", "fp16", (16, 16, 16), (32, 16, True)), (SM_80, "a", "fp16", (16, 8, 16), (32, 8, False)),
    (SM_90, "accumulator", "fp16", (64, 256, 16), (128, 128, False)), (CDNA2, "a", "fp16", (32, 32, 8), (64, 4, False)),
    ("generic", "a", "fp16", (3, 5, 7), (16, 2, True))])
def test_what_the_json_says_of_all(device: str, use: str, fmt: str, shape: tuple[int, int, int],
                                   expected: tuple[int, int, bool]) -> None:
    """Sub-group size, components of each lane, and whether the layout depends on the implementation."""
    result = CliRunner().invoke(app, [*words(device, use, fmt, shape), "--format", "json"])
    found = json.loads(result.stdout)
    assert (found["sub_group_size"], found["components"], found["implementation_dependent"]) == expected


def test_every_format_as_a_user_runs_it(tmp_path: Path) -> None:
    command = words("sim:amd_gpu_gfx90a", "b", "fp64", (16, 16, 4))
    matrix = of("amd_gpu_gfx90a", use="b", type="fp64", m=16, n=16, k=4)
    made = {"text": str(matrix), "svg": matrix.to_svg(), "html": matrix.to_html(), "json": matrix.to_json()}
    assert coopmat(*command).stdout == made["text"]
    for form in ("svg", "html", "json"):
        assert coopmat(*command, "-o", f"matrix.{form}", cwd=tmp_path).stdout == ""
        assert (tmp_path / f"matrix.{form}").read_text(encoding="utf-8") == made[form]
    assert coopmat(*command, "--format", "json").stdout == made["json"]
    assert coopmat(*command, "-o", "matrix.svg", "--format", "text", cwd=tmp_path).returncode == 0
    assert (tmp_path / "matrix.svg").read_text(encoding="utf-8") == made["text"]
    assert ElementTree.fromstring(made["svg"]).tag == "{http://www.w3.org/2000/svg}svg"


def test_another_sub_group_size() -> None:
    command = [*words("intel_gpu_pvc", "a", "bf16", (8, 16, 16)), "--sub-group-size", "32", "--format", "json"]
    found = json.loads(CliRunner().invoke(app, command).stdout)
    assert (found["sub_group_size"], found["components"], found["implementation_dependent"]) == (32, 4, True)


BF16 = ("a", "bf16", (8, 16, 16))
REFUSED = [
    (words("intel_gpu_pcv", *BF16), "unknown architecture 'intel_gpu_pcv'; did you mean 'intel_gpu_pvc'? (known: "),
    (words(PVC, "acc", "fp32", (8, 16, 16)),
     "unknown matrix use 'acc'; did you mean 'accumulator'? (known: a, b, accumulator)"),
    (words(PVC, "A", "bf16", (8, 16, 16)), "unknown matrix use 'A'; did you mean 'a'? (known: a, b, accumulator)"),
    (words(PVC, "x", "bf16", (8, 16, 16)), "unknown matrix use 'x' (known: a, b, accumulator)"),
    (words(PVC, "a", "bf61", (8, 16, 16)), "unknown element type 'bf61'; did you mean 'bf16'? (known: "),
    ([*words(PVC, *BF16), "--format", "sgv"],
     "unknown format 'sgv'; did you mean 'svg'? (--format takes text, svg, html, json)"),
    ([*words(PVC, *BF16), "--format", "pdf"], "unknown format 'pdf' (--format takes text, svg, html, json)"),
    (words(PVC, "a", "bf16", (0, 16, 16)), "m is an integer, 1 or more; found 0"),
    (words(PVC, "a", "bf16", (8, -16, 16)), "n is an integer, 1 or more; found -16"),
    ([*words(PVC, *BF16), "--sub-group-size", "0"], "the sub-group size is an integer, 1 or more; found 0"),
    ([*words(PVC, *BF16), "--sub-group-size", "8"], "intel_gpu_pvc has no sub-groups of 8 work-items (known: 16, 32)"),
    ([*words(PVC, "a", "sint4", (8, 16, 64)), "--sub-group-size", "32"],
     "this matrix of intel_gpu_pvc is spread over 16 work-items; the sub-group size cannot be 32"),
    (words(PVC, "a", "bf16", (9, 16, 16)),
     "intel_gpu_pvc has no bf16 matrix of use 'a' for M=9 N=16 K=16; for this type it has M<=8 N=16 K=16; "
     "M=16 N=16 K=16; M=32 N=64 K=16"),
    (words(CDNA2, "a", "tf32", (16, 16, 4)),
     "amd_gpu_gfx90a has no tf32 matrix of use 'a' for M=16 N=16 K=4; types of this use are "),
    (words("sim:generic", "a", "fp16", (1024, 1, 1024)),
     "a matrix of 1024x1024 = 1048576 elements is too large for a picture: text, SVG and HTML show up to 16384; "
     "JSON (--format json, to_json()) holds any number"),
    (words("sim:generic", "a", "fp16", (1 << 40, 1, 1)), "matrices of generic have 1 to 1048576 elements; found "),
]


@pytest.mark.parametrize(("command", "text"), REFUSED, ids=[text[:60] for _, text in REFUSED])
def test_refusals(command: list[str], text: str) -> None:
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, Error)
    message = str(result.exception)
    assert message.startswith(text) if text.endswith((": ", "are ", "found ")) else message == text
    assert result.stdout == ""


def test_a_refusal_as_a_user_sees_it(tmp_path: Path) -> None:
    assert failure(*words(PVC, "a", "bf16", (0, 16, 16)), "-o", "a.svg", cwd=tmp_path) == (
        "coopmat: error: m is an integer, 1 or more; found 0\n")
    assert list(tmp_path.iterdir()) == []
    assert failure(*words(PVC, *BF16)[:-2]) == "coopmat: error: Missing option '-k'. (see `coopmat layout --help`)\n"
    assert "cannot write 'nowhere/a.svg'" in failure(*words(PVC, *BF16), "-o", "nowhere/a.svg", cwd=tmp_path)


@pytest.mark.parametrize("size", [8.0, "8", None, -1])
def test_sizes_that_are_none(size: object) -> None:
    with pytest.raises(Error, match=r"^m is an integer, 1 or more; found "):
        of(PVC, use="a", type="bf16", m=size, n=16, k=16)
