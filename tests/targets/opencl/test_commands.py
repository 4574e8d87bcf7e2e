"""The commands on ``opencl:0``: devices, run, compare, probe, bench, doctor and its report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.kit.oracles import opencl

KERNEL = "kernel void k(global int *p) { p[get_global_id(0)] += 3; }"
DRIVERS = [pytest.param(driver, marks=pytest.mark.oracle(f"{driver}-opencl")) for driver in opencl.DRIVERS]
WITH_SUB_GROUPS = pytest.mark.oracle("intel-opencl")


def command(driver: str, *arguments: str, code: int = 0) -> str:
    """What a command says."""
    child = opencl.run(driver, "-m", "coopmat", *arguments, COOPMAT_VULKAN="off", COLUMNS="200")
    assert child.returncode == code, child.stderr.decode()
    return (child.stderr if code else child.stdout).decode()


@pytest.mark.parametrize("driver", DRIVERS)
def test_run_and_compare(driver: str, tmp_path: Path) -> None:
    source, out = tmp_path / "k.cl", tmp_path / "p.npy"
    source.write_text(KERNEL)
    launch = (str(source), "--kernel", "k", "--global", "64", "--local", "8", "--arg", "zeros:int32:64")
    command(driver, "run", *launch, "--device", "opencl:0", "--out", f"0={out}")
    assert (np.load(out) == 3).all()
    assert "all results are equal" in command(driver, "compare", *launch, "--devices", "sim:generic,opencl:0")


@WITH_SUB_GROUPS
def test_probe_and_bench() -> None:
    found = json.loads(command("intel", "probe", "opencl:0", "--a", "sint8", "--json"))
    assert {each["agrees"] for report in found["reports"] for each in report["properties"]} == {True}
    measured = json.loads(command("intel", "bench", "--device", "opencl:0", "--size", "64", "--type", "s8", "--repeat",
                                  "1", "--json"))
    assert [one["error"] for one in measured if one["name"] in ("spec", "blocked")] == [0.0, 0.0]


@pytest.mark.oracle("pocl-opencl")
def test_a_driver_without_sub_groups_has_no_matrices() -> None:
    assert "decomposed" not in command("pocl", "devices", "opencl:0")
    assert "opencl:0 has no matrices, as its driver has no sub-groups" in command("pocl", "probe", "opencl:0", code=1)
    found = command("pocl", "bench", "--device", "opencl:0", code=1)
    assert "has matrices not at all, as its driver has no sub-groups" in found


@pytest.mark.slow
@pytest.mark.parametrize("driver", DRIVERS)
def test_the_report_of_a_machine_and_demo(driver: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    command(driver, "doctor", "--report", str(path))
    report = json.loads(path.read_text())
    device = next(one for one in report["devices"] if one["name"] == "opencl:0")
    assert not [one for one in device.get("numerics", ()) if "error" in one["properties"]]
    assert ("opencl:0" in command(driver, "demo")) == (driver != "pocl")
