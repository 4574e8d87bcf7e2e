"""The commands on ``vulkan:0``: devices, doctor and its report, probe, compare, bench."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.kit.targets import on_vulkan

pytestmark = pytest.mark.oracle("lavapipe")
KERNEL = "kernel void k(global int *p) { p[get_global_id(0)] += 3; }"


def command(*arguments: str, cache: Path, **variables: str) -> str:
    child = on_vulkan.run("-m", "coopmat", *arguments, COOPMAT_CACHE_DIR=str(cache), **variables)
    assert child.returncode == 0, child.stderr
    return child.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all, so that matrices are tried out once."""
    return tmp_path_factory.mktemp("cache")


def test_devices_and_doctor(cache: Path) -> None:
    tested = on_vulkan.tested()
    assert "vulkan:0" in command("devices", cache=cache)
    listed = json.loads(command("doctor", "--json", cache=cache))
    rows = {row["name"]: row for row in listed}
    count = f"{tested.devices} device{'s' * (tested.devices > 1)}"
    assert rows["Vulkan"] == {"name": "Vulkan", "state": "ok", "text": count}
    assert tested.name in rows["vulkan:0"]["text"]
    assert f"sub-groups of {', '.join(map(str, tested.sub_group_sizes))};" in rows["vulkan:0 limits"]["text"]
    lacking = rows["vulkan:0 features"]["text"].partition("; not ")[2].split(", ")
    assert ("cooperativeMatrixTensorAddressing" in lacking) != ("cooperativeMatrixTensorAddressing" in tested.features)
    said = [row["text"] for row in listed if row["name"] == "vulkan:0 matrices"]
    for row in tested.rows:
        assert any(row in text for text in said), row


def test_doctor_says_what_turns_vulkan_off(cache: Path) -> None:
    rows = {row["name"]: row for row in json.loads(command("doctor", "--json", cache=cache, COOPMAT_VULKAN="off"))}
    assert rows["Vulkan"]["state"] == "absent"
    assert "COOPMAT_VULKAN=off" in rows["Vulkan"]["text"]


def test_the_report_of_a_machine(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    assert str(path) in command("doctor", "--report", str(path), cache=cache)
    report = json.loads(path.read_text())
    assert (report["format"], report["version"]) == ("coopmat machine report", 1)
    assert {"system", "processor", "cores"} <= report["machine"].keys()
    assert {"Python", "Vulkan"} <= {row["name"] for row in report["findings"]}
    devices = {one["name"]: one for one in report["devices"]}
    assert {"cpu", "vulkan:0"} <= devices.keys()
    found, tested = devices["vulkan:0"], on_vulkan.tested()
    assert found["driver"]["driver"] == tested.driver
    assert found["sub_group_sizes"] == tested.sub_group_sizes
    assert [one["row"] for one in found["verdicts"]] == tested.rows
    if not tested.why_no_matrices:
        assert {one["verdict"] for one in found["verdicts"]} == {"ok"}
        assert found["numerics"]
    for one in found["numerics"]:
        assert "error" not in one["properties"], one
    for device in devices.values():
        assert len(device["benchmarks"]) >= 1
        for one in device["benchmarks"]:
            assert one["rate"] > 0, one


def test_a_report_that_cannot_be_written(cache: Path, tmp_path: Path) -> None:
    child = on_vulkan.run("-m", "coopmat", "doctor", "--report", str(tmp_path / "no" / "report.json"),
                          COOPMAT_CACHE_DIR=str(cache), COOPMAT_VULKAN="off")
    assert child.returncode != 0
    assert "cannot write" in child.stderr
    assert "Traceback" not in child.stderr


def test_probe(cache: Path) -> None:
    found = json.loads(command("probe", "vulkan:0", "--a", "sint8", "--json", cache=cache))
    report, = found["reports"]
    if not on_vulkan.tested().why_no_matrices:
        types = " ".join(report[f"{letter}type"] for letter in "abcd")
        assert f"{types} {report['M']}x{report['N']}x{report['K']}" in on_vulkan.tested().rows
    assert {each["property"] for each in report["properties"]}


def test_run_and_compare(cache: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "k.cl", tmp_path / "p.npy"
    source.write_text(KERNEL)
    launch = (str(source), "--kernel", "k", "--global", "64", "--local", "8", "--arg", "zeros:int32:64")
    command("run", *launch, "--device", "vulkan:0", "--out", f"0={out}", cache=cache)
    assert (np.load(out) == 3).all()
    assert "all results are equal" in command("compare", *launch, "--devices", "sim:generic,vulkan:0", cache=cache)


def test_bench(cache: Path) -> None:
    found = json.loads(command("bench", "--device", "vulkan:0", "--size", "64", "--type", "s8", "--repeat", "1",
                               "--json", cache=cache))
    assert [one["error"] for one in found if one["name"] in ("spec", "blocked")] == [0.0, 0.0]
