"""The forms of a report: text, JSON, the command line, kernels in Python, devices and files that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import coopmat as cm
from coopmat.command_line.main import app
from coopmat.devices import ARCHITECTURES
from coopmat.devices.performance import PERFORMANCE, Performance, Room
from coopmat.report import Report
from coopmat.sycl import float32, kernel, nd_item, ptr
from tests.kit.paths import ROOT

ADD = "kernel void add(global float *A, float x) {\n    A[get_global_id(0)] += x;\n}\n"


@pytest.fixture(scope="module")
def report() -> Report:
    return cm.build(ADD, device="sim:nvidia_gpu_sm_80").kernel("add").report(64, 32, np.zeros(64, np.float32), x=2)


def test_text(report: Report) -> None:
    text = report.text()
    assert text.startswith("add on sim:nvidia_gpu_sm_80\n"
                           "global size 64, local size 32: 2 work-groups of 1 sub-group of 32\n")
    assert re.search(r"^ +100% +100% .* 2 \|     A\[get_global_id\(0\)\] \+= x;$", text, re.M)
    assert "a model, no measurement" in text
    assert "the launch has 2 work-groups for 108 SMs" in text
    assert max(map(len, text.splitlines())) < 120


def test_json(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path / "add.json")
    found = json.loads((tmp_path / "add.json").read_text())
    assert found == json.loads(report.json())
    assert found["intensity"] == {"operations": 64, "requested_bytes": 512, "compulsory_bytes": 512,
                                  "requested": 0.125, "compulsory": 0.125}
    assert found["times"]["bound"] == "global_memory"
    assert [row["number"] for row in found["lines"]] == [1, 2, 3]
    assert [advice["rule"] for advice in found["advice"]] == ["few-work-groups"]


def test_nothing_is_made_up_where_nothing_is_published() -> None:
    found = cm.build(ADD).kernel("add").report(64, 32, np.zeros(64, np.float32), 2)  # sim:generic
    assert found.is_nominal
    assert found.occupancy is None
    assert found.roofline is None
    text = found.text()
    assert "No published numbers are known of sim:generic" in text
    assert "Roofline: not known" in text
    assert re.search(r"occupancy +not known", text)


def test_a_kernel_in_python() -> None:
    @kernel(sub_group_size=16)
    def double(item: nd_item[1], A: ptr[float32]):
        A[item.get_global_id(0)] *= 2.0

    a = np.ones(32, np.float32)
    found = cm.build(double, device="sim:intel_gpu_pvc").kernel("double").report(32, 16, a)
    np.testing.assert_array_equal(a, 2)
    assert [row.text.strip() for row in found.lines if row.share > 0.5] == ["A[item.get_global_id(0)] *= 2.0"]


def test_a_kernel_that_does_nothing() -> None:
    found = cm.build("kernel void idle(void) {}", device="sim:intel_gpu_pvc").kernel("idle").report(64, 32)
    assert found.times.total == 0
    assert "Source: nothing is executed" in found.text()
    assert "Nothing is executed" in found.html()
    assert json.loads(found.json())["lines"] == []


def test_modules_without_lines() -> None:
    module = cm.build(ADD).spirv_asm
    stripped = "\n".join(line for line in module.splitlines() if "OpLine" not in line and "OpNoLine" not in line)
    program = cm.build(cm.spirv.Module.from_text(stripped).to_bytes())
    found = program.kernel("add").report(64, 32, np.zeros(64, np.float32), 2)
    assert [row.number for row in found.lines] == [0]
    assert "unknown place" in found.html()
    assert "100%" in found.text()


def test_errors() -> None:
    made = cm.build(ADD).kernel("add")
    array = np.zeros(64, np.float32)
    with pytest.raises(cm.LaunchError, match=r"launches are reported on simulated devices, such as "
                                             r"sim:\w+; cpu is none"):
        made.report(64, 32, array, 1, device="cpu")
    with pytest.raises(cm.OutOfBounds, match="element 64"):
        made.report(128, 32, array, 1)
    with pytest.raises(cm.LaunchError):
        made.report(64, 32, array)
    found = made.report(64, 32, array, 1)
    with pytest.raises(cm.Error, match=r"ends in \.html, \.htm, \.json, \.txt; found 'add.pdf'"):
        found.save("add.pdf")
    with pytest.raises(cm.Error, match="cannot write"):
        found.save("/no/such/folder/add.txt")


class TestCommand:
    LAUNCH = ("run", str(ROOT / "examples" / "gemm.cl"), "--global", "32,4", "--local", "16,1",
              "--arg", "zeros:int8:32x64", "--arg", "zeros:int8:64x32", "--arg", "zeros:int32:32x32", "--arg", "32",
              "--arg", "64")

    def run(self, *options: str) -> tuple[int, str]:
        found = CliRunner().invoke(app, [*self.LAUNCH, *options])
        return found.exit_code, found.output if found.exception is None else str(found.exception)

    def test_files(self, tmp_path: Path) -> None:
        for name, start in (("r.html", "<!DOCTYPE html>"), ("r.json", "{"), ("r.txt", "gemm on sim:intel_gpu_pvc")):
            code, output = self.run("--device", "sim:intel_gpu_pvc", "--report", str(tmp_path / name), "--out",
                                    f"2={tmp_path / 'c.npy'}")
            assert (code, output) == (0, f"gemm on sim:intel_gpu_pvc: {tmp_path / name}\n")
            assert (tmp_path / name).read_text().startswith(start)
        assert np.load(tmp_path / "c.npy").shape == (32, 32)

    def test_to_the_terminal(self) -> None:
        code, output = self.run("--report", "-", "--report-groups", "2")  # sim:generic
        assert code == 0
        assert output.startswith("gemm on sim:generic\n")
        assert "counted: the first 2 work-groups" in output

    def test_refused(self) -> None:
        assert "launches are reported on simulated devices" in self.run("--device", "cpu", "--report", "-")[1]
        assert "ends in .html" in self.run("--report", "report")[1]
        assert "it needs --report" in self.run("--report-groups", "2")[1]


def test_published_numbers_check_themselves() -> None:
    assert set(PERFORMANCE) <= set(ARCHITECTURES)
    for name, row in PERFORMANCE.items():
        types = {str(one.atype).replace("uint", "sint") for one in ARCHITECTURES[name].combinations}
        assert types - set(row.matrix) <= {"sint4", "fp64"}, name  # of these not every product's peak is published
    with pytest.raises(ValueError, match="positive"):
        Performance("x", 0, "SM", 1, {}, {"fp32": 1}, 1, 32, "nobody")
    with pytest.raises(ValueError, match="source"):
        Room(1, 1, 1, 1, "")
