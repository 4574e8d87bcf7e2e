"""The command line with the device ``cpu``: run, compile, devices, query, layout, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coopmat import Error
from tests.kit.command_line import GEMM, coopmat, failure

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
    assert coopmat("run", source, *RUN, "--no-bounds", "--arg", "in.npy", "--arg", "2.5", cwd=tmp_path).returncode == 0


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
    for variable, value in (("COOPMAT_NUM_THREADS", "0"), ("COOPMAT_CPU_FEATURES", "fast"), ("COOPMAT_DUMP", "bc")):
        monkeypatch.setenv(variable, value)
        assert f"{variable}: expected " in failure("run", source, *RUN, "--arg", "zeros:fp32:64", "--arg", "1")
        monkeypatch.delenv(variable)


# ------------------------------------------------------------------------------- bench


def test_bench() -> None:
    result = coopmat("bench", "--size", "128", "--type", "s8", "--type", "fp32", "--threads", "2", "--repeat", "2",
                     "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert {(one["size"], one["threads"]) for one in found} == {(128, 2)}
    ours = [one for one in found if one["error"] is not None]
    assert [(one["elements"], one["name"]) for one in ours] == [
        (elements, name) for elements in ("s8", "fp32") for name in ("spec", "blocked", "tuned")]
    assert all(one["error"] == 0 for one in ours if one["elements"] == "s8")
    assert all(one["ratios"]["numpy"] > 0 for one in ours if one["elements"] == "fp32")
    assert all(one["gflops"] == pytest.approx(2e-9 * 128**3 / one["seconds"]) for one in found)


def test_bench_as_a_table() -> None:
    result = coopmat("bench", "--size", "64", "--type", "bf16", "--repeat", "1", "--device", "sim:generic")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("C = A*B on sim:generic")
    assert [line.split()[3] for line in result.stdout.splitlines() if line.startswith("  bf16")][:3] == [
        "spec", "blocked", "tuned"]


@pytest.mark.parametrize(("arguments", "message"), [
    (("--size", "100"), "--size takes multiples of 64 up to 16384; found 100"),
    (("--size", "0"), "--size takes multiples of 64 up to 16384; found 0"),
    (("--type", "fp64"), "--type takes bf16, s8, fp32, fp16; found 'fp64'"),
    (("--threads", "0"), "--threads takes numbers from 1 to 4096; found 0"),
    (("--repeat", "0"), "--repeat takes numbers from 1 to 1000; found 0"),
    (("--device", "sim:intel_gpu_pvc"), "the device 'sim:intel_gpu_pvc' has matrices of certain shapes only; the "
                                        "kernels take devices with every shape: cpu, sim:generic"),
])
def test_bench_refuses(arguments: tuple[str, ...], message: str) -> None:
    assert failure("bench", *arguments) == f"coopmat: error: {message}\n"


def test_bench_sees_wrong_results(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from coopmat.command_line import gemm_bench as bench
    from coopmat.command_line.bench import bench as command

    wrong = bench.Measurement("s8", 64, 1, "tuned", 0.5, 1e-9)
    monkeypatch.setattr(bench, "measure_apart", lambda *_: [wrong])
    with pytest.raises(SystemExit, match="1"):
        command(sizes=[64], types=["s8"], threads=[1])
    assert capsys.readouterr().err == "WRONG: tuned s8 64: relative error 1e-09\n"


def test_bench_shows_what_its_process_says(monkeypatch: pytest.MonkeyPatch) -> None:
    from coopmat.command_line import gemm_bench as bench

    monkeypatch.setenv("COOPMAT_CPU_FEATURES", "nonsense")
    with pytest.raises(Error, match=r"s8, 64: .*COOPMAT_CPU_FEATURES"):
        bench.measure_apart("cpu", bench.S8, 64, 1, 1)
