"""``coopmat run --explain``: what a device chose, and why."""

from __future__ import annotations

import sys

import pytest

from coopmat.command_line.main import main
from tests.kit.command_line import GEMM, coopmat
from tests.kit.targets.fake_cuda import installed

TYPES = ("-DIN=half", "-DOUT=float", "-DTM=16", "-DTN=16", "-DTK=16", "-DFLAGS=0")
SIZES = ("--kernel", "gemm", "--global", "512,16", "--local", "32,1", "--arg", "zeros:fp16:256x64", "--arg",
         "zeros:fp16:64x256", "--arg", "zeros:fp32:256x256", "--arg", "256", "--arg", "64")


def explained(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What the command says of a launch on a GPU that does nothing."""
    monkeypatch.setattr(sys, "argv", ["coopmat", "run", GEMM, *TYPES, *SIZES, "--device", "cuda:0", "--explain",
                                      *options])
    with installed() as gpu:
        gpu.kernels["gemm"] = lambda _: None
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    return capsys.readouterr().out


def test_a_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(monkeypatch, capsys)
    for text in ("gemm: work-groups of ", "neighbouring work-groups are one", "fetched ahead by tensor maps: A, B",
                 "results leave by tensor maps: C"):
        assert text in found


def test_a_gpu_and_a_schedule(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(monkeypatch, capsys, "-coopmat-schedule=block:none")
    assert "no pipeline" in found
    assert "nothing faster: " in found


def test_devices_that_choose_nothing() -> None:
    found = coopmat("run", GEMM, *TYPES, *SIZES, "--device", "cpu", "--explain")
    assert found.returncode == 0
    assert found.stdout.startswith("gemm on cpu: ")
