"""coopmat tune: the table, the report as a file, the command that runs the fastest, and what goes wrong."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from coopmat import LaunchError
from coopmat.command_line.expressions import expressions
from tests.kit.command_line import coopmat, failure
from tests.kit.paths import EXAMPLES

SOURCE = """
kernel void count(global int *p, local int *scratch, int n)
{
    int i = get_global_id(0), sum = p[i];
    for (int j = 0; j < LOOPS * n; j++)
        sum ^= sum * 3 + j;
    for (int j = 0; j < WIDTH; j++)
        p[WIDTH * i + j] = sum == 0x7654321 ? 2 : VALUE;
    scratch[get_local_id(0)] = 0;
}
"""
QUICK = ("--no-flush", "--warmup", "0", "--rep", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "count.cl").write_text(SOURCE)
    np.save(tmp_path / "ones.npy", np.ones(1024, np.int32))
    return tmp_path


def test_the_fastest_is_found_and_the_command_that_is_printed_runs_it(folder: Path) -> None:
    result = coopmat(*shlex.split(
        "tune count.cl --device cpu --global 1024/WIDTH --local-range 16 --local-range 48 --range LOOPS=200000,2 "
        "--range WIDTH=4 -D VALUE=1 --arg zeros:int32:1024 --arg local:WIDTH*64 --arg WIDTH//2-1 --check 0=ones.npy "
        "--json report.json --csv report.csv"), *QUICK, cwd=folder)
    assert result.returncode == 0, result.stderr
    report = json.loads((folder / "report.json").read_text())
    assert [(one["values"]["LOOPS"], one["local_size"], one["status"]) for one in report["configurations"]] == [
        (200000, [16], "timed"), (200000, None, "pruned"), (2, [16], "timed"), (2, None, "pruned")]
    assert report["best"] == 2
    assert report["device"] == "cpu"
    assert len((folder / "report.csv").read_text().splitlines()) == 5
    assert "count on cpu" in result.stdout
    assert "local 48 and 1 more: pruned: global size 256" in result.stdout
    command = shlex.split(result.stdout.splitlines()[-1])
    assert command == shlex.split(
        "coopmat run count.cl --kernel count --device cpu --global 256 --local 16 -D VALUE=1 -DLOOPS=2 -DWIDTH=4 --arg "
        "zeros:int32:1024 --arg local:256 --arg 1 --no-bounds")
    assert coopmat(*command[1:], "--out", "0=out.npy", cwd=folder).returncode == 0
    assert (np.load(folder / "out.npy") == 1).all()


def test_specialisation_constants_on_a_simulated_device(tmp_path: Path) -> None:
    words = ("--device sim:intel_gpu_pvc --global 16 --spec M=8,16 --spec 2=32 --json - --arg zeros:sint8:8x32 --arg "
             "zeros:sint8:32x16 --arg zeros:sint32:8x16")
    result = coopmat("tune", EXAMPLES / "spec_gemm.spvasm", *words.split(), *QUICK, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert [one["status"] for one in report["configurations"]] == ["timed", "pruned"]
    assert "simulated" in report["note"]


def test_mistakes(folder: Path) -> None:
    for words, message in (
        ("--global 16 --range LOOPS", "--range LOOPS: expected a name and its values"),
        ("--global 16 --range LOOPS=1 --range LOOPS=2", "LOOPS has values already"),
        ("--global 16 --spec LOOPS=1", "OpenCL C, which has no specialisation constants"),
        ("--global 16 --local 4 --local-range 8", "give one of them"),
        ("--global M*2 --range LOOPS=2", "there is no range 'M'; there are LOOPS"),
        ("--global 16 --check 0=x", "--check 0=x: expected INDEX=FILE.npy"),
        ("--global 16 --range LOOPS=x,y -DWIDTH=1 -DVALUE=1", "none of 2 configurations can be used"),
    ):
        assert message in failure("tune", "count.cl", *words.split(), *QUICK, cwd=folder)


def test_expressions() -> None:
    assert expressions("--global", "1024/TN*16, (M+TM-1)//TM, -TM%5", ["TN", "TM", "M"])(
        {"TN": 32, "TM": 8, "M": 100}) == (512, 13, 2)
    for text, message in (("1/TM", "1/8 is no whole"), ("1//(TM-8)", "division by zero"), ("TN", "'x', which is no")):
        with pytest.raises(LaunchError, match=message):
            expressions("--global", text, ["TM", "TN"])({"TM": 8, "TN": "x"})
    for text in ("TM.real", "f(1)", "1.5", "True", "(1,2),3", "1)+(2", "", "1 if 1 else 2", "TM**9", "(" * 400, "1;2"):
        with pytest.raises(LaunchError, match=r"--global takes whole numbers, or expressions with TM"):
            expressions("--global", text, ["TM"])
