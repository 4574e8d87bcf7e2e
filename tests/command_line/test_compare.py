"""coopmat compare: the table, the exit status, the JSON, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.kit.command_line import GEMM, coopmat, failure

TILE = ("-DTM=16", "-DTN=16", "-DTK=16", "-DIN=half", "-DOUT=float", "-DFLAGS=0", "-DSUB_GROUP_SIZE=32")
LAUNCH = ("--global", "32,1", "--local", "32,1", "--arg", "a.npy", "--arg", "b.npy", "--arg", "zeros:float32:16x16",
          "--arg", "16", "--arg", "16")
DIFFERENT = ("--devices", "sim:nvidia_gpu_sm_90,exact:nvidia_gpu_sm_90")
PLAIN = """
kernel void tell(global int *out)
{
#ifdef cl_intel_subgroups
    out[get_global_id(0)] = 1;
#else
    out[get_global_id(0)] = 2;
#endif
}
kernel void far(global int *out) { out[get_global_id(0) + 1] = 1; }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[3, :2], b[:2, 5] = [1, 1.5 * 2.0**-12], [1, 2.0**-12]  # Hopper truncates the sum
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    (tmp_path / "plain.cl").write_text(PLAIN)
    return tmp_path


def test_results_that_differ(folder: Path) -> None:
    result = coopmat("compare", GEMM, *TILE, *DIFFERENT, *LAUNCH, "--json", "out.json", cwd=folder)
    assert (result.returncode, result.stderr) == (1, "")
    assert "results differ on exact:nvidia_gpu_sm_90" in result.stdout
    assert "1 of 256" in result.stdout
    assert "3, 5" in result.stdout
    assert "coop_matmul_add (OpCooperativeMatrixMulAddKHR)" in result.stdout
    assert "converted once, to fp32 by truncation" in result.stdout
    saved = json.loads((folder / "out.json").read_text())
    assert saved["equal"] is False
    [row] = saved["differences"]
    assert (row["array"], row["most_ulps"], row["first"]["index"]) == ("C", 1, [3, 5])
    assert saved["explanation"]["product"]["element"] == [3, 5]
    assert [float.fromhex(one) for one in saved["explanation"]["product"]["sums"][-1]["values"]] == [1, 1 + 2.0**-23]


def test_so_many_ulps_are_no_failure(folder: Path) -> None:
    result = coopmat("compare", GEMM, *TILE, *DIFFERENT, *LAUNCH, "--ulps", "1", "--no-explain", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "1 ulp" in result.stdout
    assert "first value that differs" not in result.stdout


def test_equal_results_as_json(folder: Path) -> None:
    result = coopmat("compare", GEMM, *TILE, "--devices", "exact:nvidia_gpu_sm_90,sim:generic", *LAUNCH, "--json", "-",
                     "--reference", "sim:generic", cwd=folder)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["equal"], found["reference"], found["explanation"]) == (True, "sim:generic", None)


def test_the_file_is_built_for_each_device(folder: Path) -> None:
    result = coopmat("compare", "plain.cl", "--kernel", "tell", "--devices", "sim:intel_gpu_pvc,sim:nvidia_gpu_sm_90",
                     "--global", "32", "--arg", "zeros:int32:32", cwd=folder)
    assert result.returncode == 1
    assert "32 of 32 (100.0%)" in result.stdout
    assert "the kernel was compiled to other instructions for each device" in result.stdout


@pytest.mark.parametrize(("arguments", "text"), [
    (("--kernel", "tell", "--devices", "cpu,sim:nvidia_gpu_sm_91"), "did you mean 'sim:nvidia_gpu_sm_90'?"),
    (("--kernel", "tell", "--devices", "cpu"), "at least two devices; found 1"),
    (("--kernel", "tell", "--devices", "cpu,"), "names with commas between them"),
    (("--kernel", "tell", "--devices", "cpu,sim:generic", "--reference", "cuda:9"), "cuda"),
    (("--kernel", "tell", "--devices", "cpu,sim:generic", "--ulps", "-1"), "at least 0; found -1"),
    (("--kernel", "tel", "--devices", "cpu,sim:generic"), "did you mean 'tell'?"),
    (("--devices", "cpu,sim:generic"), "choose a kernel of plain.cl with --kernel: tell, far"),
    (("--kernel", "far", "--devices", "sim:generic,cpu"), "\non sim:generic"),
    (("--kernel", "tell", "--devices", "cpu,sim:generic", "--arg", "3"), "takes 1 argument"),
])
def test_mistakes_are_told(folder: Path, arguments: tuple[str, ...], text: str) -> None:
    message = failure("compare", "plain.cl", "--global", "32", "--arg", "zeros:int32:32", *arguments, cwd=folder)
    assert text in message
