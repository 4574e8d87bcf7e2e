"""``coopmat doctor``: every line, and lines about what does not work."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coopmat.command_line import doctor
from coopmat.command_line.doctor import CHECKS, Finding, findings
from coopmat.targets.cpu import features as features_module
from coopmat.targets.cpu.features import CpuFeatures
from tests.kit.paths import ROOT
from tests.kit.targets.fake_cuda import installed


def run(*arguments: str, **environment: str) -> str:
    return subprocess.run([sys.executable, "-m", "coopmat", "doctor", *arguments], check=True, capture_output=True,
                          text=True, env={**os.environ, **environment}).stdout


def found() -> dict[str, Finding]:
    return {one.name: one for one in findings()}


def test_everything_is_there() -> None:
    lines = run().splitlines()
    for name in ("Python", "numpy", "LLVM", "helper process", "processor", "features", "threads", "kernels on the CPU",
                 "devices"):
        assert any(line.startswith(f"ok  {name} ") for line in lines), name
    for name in ("AMX", "cache", "pyopencl", "spirv-val"):
        assert any(line[4:].startswith(f"{name} ") for line in lines), name


def test_what_is_named_is_made_use_of() -> None:
    """Nothing is promised that is not built: a package is imported, a program run, by coopmat or its tests."""
    files = [file for folder in ("src/coopmat", "tests") for file in (ROOT / folder).rglob("*.py")
             if file.name not in ("doctor.py", "test_doctor.py")]
    text = "\n".join(file.read_text() for file in files)
    for package in doctor.PACKAGES:
        assert re.search(rf"^\s*(import|from) {package.replace('-', '_')}\b", text, re.MULTILINE), package
    for program in doctor.PROGRAMS:
        assert f'"{program}"' in text, program


def test_json_has_the_same() -> None:
    rows = json.loads(run("--json"))
    assert {row["state"] for row in rows} <= {"ok", "no", "absent"}
    assert [row["name"] for row in rows][:3] == ["Python", "coopmat", "numpy"]
    assert all(row["text"] for row in rows)


def test_gpus() -> None:
    with installed(gpus=2):
        rows = {one.name: one for one in CHECKS["NVIDIA's GPUs"]("NVIDIA's GPUs")}
    assert rows["NVIDIA's GPUs"] == Finding("NVIDIA's GPUs", "ok", "a driver for CUDA 13.0")
    assert rows["cuda:1"] == Finding("cuda:1", "ok", "Fake GPU, sm_90a, 4 multiprocessors, 1 GiB")
    assert {"libdevice", "cubins", "SASS"} < set(rows)


def test_what_the_environment_says_wrongly(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    rows = {row["name"]: row for row in json.loads(run(
        "--json", COOPMAT_NUM_THREADS="many", COOPMAT_CPU_FEATURES="fast", COOPMAT_DEVICE="gpu",
        COOPMAT_CACHE_DIR=str(tmp_path / "file" / "folder"), COOPMAT_LLVM_TIME_LIMIT="soon"))}
    for name, words in (("threads", "'many'"), ("processor", "'fast'"), ("devices", "no device 'gpu'"),
                        ("cache", "is not a folder"), ("helper process", "'soon'"), ("kernels on the CPU", "'fast'")):
        assert rows[name]["state"] == "no", name
        assert words in rows[name]["text"]


def test_what_the_environment_takes_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COOPMAT_CPU_FEATURES", "baseline")
    monkeypatch.setenv("COOPMAT_NUM_THREADS", "3")
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path / "new"))
    rows = found()
    assert "avx" not in rows["features"].text
    assert "COOPMAT_CPU_FEATURES=baseline" in rows["not used"].text
    assert rows["threads"].text.startswith("3 (from COOPMAT_NUM_THREADS; ")
    assert rows["cache"] == Finding("cache", "ok", f"{tmp_path / 'new'}: 0 entries, 0 KiB of at most 256 MiB")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("used", "unusable", "state", "text"), [
    ({"amx-tile", "amx-int8"}, (), "ok", "the system permits"),
    (set(), (("amx-tile", "no permission"),), None, ""),
    (set(), (), "absent", "COOPMAT_CPU_FEATURES takes it away")])
def test_tiles(monkeypatch: pytest.MonkeyPatch, used: set[str], unusable, state: str | None, text: str) -> None:
    made = CpuFeatures("some", frozenset({"amx-tile", "amx-int8"}), frozenset(used), unusable)
    monkeypatch.setattr(features_module, "cpu_features", lambda: made)
    rows = {one.name: one for one in doctor._processor("processor")}
    assert (rows["AMX"].state if state else None) == state
    assert text in (rows["AMX"].text if state else "")
    if unusable:
        assert rows["amx-tile"] == Finding("amx-tile", "no", "the processor has it, but no permission")


def test_a_check_that_fails_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str):
        raise KeyError

    monkeypatch.setitem(CHECKS, "numpy", broken)
    assert found()["numpy"] == Finding("numpy", "no", "KeyError")
