"""The command line with the device ``cpu``: run, compile, devices, query, layout, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.test_cli import GEMM, coopmat, failure

SCALE = "kernel void scale(global float *p, float factor) { p[get_global_id(0)] *= factor; }"
RUN = ("--kernel", "scale", "--device", "cpu", "--global", "64", "--local", "16")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "scale.cl"
    path.write_text(SCALE)
    return path


def test_run(source: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(64, dtype=np.float32))
    result = coopmat("run", source, *RUN, "--arg", "in.npy", "--arg", "2.5", "--out", "0=out.npy", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("scale on cpu: ")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.arange(64) * np.float32(2.5))


@pytest.mark.parametrize("level", ["0", "2"])
def test_assembly(source: Path, tmp_path: Path, level: str) -> None:
    assert coopmat("compile", source, "-o", tmp_path / "out.s", "--emit", "asm", "--device", "cpu",
                   "-O", level).returncode == 0
    text = (tmp_path / "out.s").read_text()
    assert text.startswith("# kernel 'scale' for ")
    assert "\nrun:" in text


def test_assembly_is_for_the_cpu(source: Path, tmp_path: Path) -> None:
    message = failure("compile", source, "-o", tmp_path / "out.s", "--emit", "asm")
    assert message == ("coopmat: error: the device 'sim:generic' runs no machine code: assembly is made for the device "
                       "'cpu'\n")
    assert not (tmp_path / "out.s").exists()


def test_devices() -> None:
    rows = coopmat("devices").stdout.splitlines()
    first = next(line for line in rows if "sub-group sizes" not in line and line.strip().startswith(("cpu", "sim:")))
    assert first.split()[0] == "cpu"
    assert "every shape and type, " in first
    shown = coopmat("devices", "cpu").stdout
    assert "decomposed" in shown
    described = json.loads(coopmat("devices", "cpu", "--json").stdout)
    assert list(described) == ["name", "architecture", "sub_group_sizes", "matrix_combinations"]
    assert described["sub_group_sizes"] == [16, 4, 8, 32, 64]
    native = [row["native"] for row in described["matrix_combinations"]]
    assert native == sorted(native, reverse=True)
    assert shown.count("decomposed") == native.count(False)


def test_other_commands_know_it() -> None:
    assert coopmat("check", GEMM, "--device", "cpu", "-DTM=3", "-DTN=5", "-DTK=7").returncode == 0
    assert "some" in coopmat("query", "cpu").stdout
    picture = json.loads(coopmat("layout", "cpu", "--use", "a", "--type", "bf16", "-m", "4", "-n", "4", "-k", "8",
                                 "--format", "json").stdout)
    assert (picture["device"], picture["rows"], picture["columns"]) == ("cpu", 4, 8)


@pytest.mark.parametrize(("name", "hint"), [("cpuu", "did you mean 'cpu'?"), ("gpu", "simulated devices: cpu, sim:"),
                                            ("sim:cpu", "no device 'sim:cpu'")])
def test_names_that_are_wrong(source: Path, name: str, hint: str) -> None:
    arguments = [part if part != "cpu" else name for part in RUN]
    assert hint in failure("run", source, *arguments)


def test_what_the_environment_says_wrongly(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in (("COOPMAT_NUM_THREADS", "0"), ("COOPMAT_CPU_FEATURES", "fast"), ("COOPMAT_DUMP", "ptx")):
        monkeypatch.setenv(variable, value)
        assert f"{variable}: expected " in failure("run", source, *RUN, "--arg", "zeros:fp32:64", "--arg", "1")
        monkeypatch.delenv(variable)
