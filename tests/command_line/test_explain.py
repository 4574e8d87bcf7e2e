"""``--explain`` of ``coopmat run`` and ``compile``: what a device chose, or would, and why."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.command_line.main import main
from examples.joint_matrix_work_group import gemm
from tests.kit.command_line import GEMM, coopmat, failure
from tests.kit.paths import EXAMPLES
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
    found = coopmat("run", GEMM, *TYPES, *SIZES, "--device", "sim:nvidia_gpu_sm_90", "--explain")
    assert found.returncode == 0, found.stderr
    assert "sim:nvidia_gpu_sm_90 runs kernels as they are written" in found.stdout


LAUNCH = ("run", GEMM, *TYPES, *SIZES, "--device", "cpu", "--explain")
ONE = ("--global", "256,16", "--local", "16,1", "--no-bounds")  # sub-group in a work-group


@pytest.mark.parametrize(("options", "said"), [
    ((), "not merged: accesses are checked one by one"),
    (("--no-bounds",), "not merged: where a matrix lies depends on the position in the work-group"),
    (ONE, "neighbouring work-groups are one (down and across), with matrices as large as all of theirs"),
    ((*ONE, "-coopmat-schedule=block:64x256"), "B: packed once, and kept for blocks that share it"),
    ((*ONE, "-coopmat-schedule=block:none"), "not merged: -coopmat-schedule=block:none"),
    ((*ONE, "-coopmat-schedule=block:64x32"), "merged: 4 x 2 neighbouring work-groups are one"),
])
def test_the_cpu(options: tuple[str, ...], said: str) -> None:
    """What became of products, and where they stand in the source."""
    found = coopmat(*LAUNCH, *options)
    assert said in found.stdout, found.stderr
    assert "multiplied at " in found.stdout
    assert "gemm.cl:47" in found.stdout


def test_the_cpu_says_where_a_reason_lies(tmp_path: Path) -> None:
    source, store = (EXAMPLES / "gemm.cl").read_text(), "coop_mat_store(C"
    (tmp_path / "gemm.cl").write_text(source.replace(store, f"if (get_global_id(0) == 0) C[0] = 1;\n    {store}"))
    found = coopmat("run", "gemm.cl", *TYPES, *SIZES, "--device", "cpu", "--explain", *ONE, cwd=tmp_path)
    assert "not merged: it has other effects than on matrices (OpStore) (gemm.cl:49)" in found.stdout


LOOPS = """kernel void copies(global const float *in, global float *out, global const int *index, int n, int m)
{
    int lid = get_local_id(0), lsz = get_local_size(0);
    for (int i = lid; i < n; i += lsz)
        out[i] = in[i];
    float sum = 0;
    for (int i = 0; i < m; i++)
        sum += in[i * 32 + lid];
    for (int i = 0; i < lid; i++)
        sum += in[i];
    out[2 * lid] = sum + in[index[lid]];
    if (lid & 1)
        out[lid * 64] = in[lid];
}
"""


def test_loops_and_accesses_on_the_cpu(tmp_path: Path) -> None:
    """How each is carried out, and why not faster, with the line."""
    (tmp_path / "k.cl").write_text(LOOPS)
    arguments = [word for kind in ("fp32:8192", "fp32:8192", "int32:32") for word in ("--arg", f"zeros:{kind}")]
    found = coopmat("run", "k.cl", "--kernel", "copies", "--device", "cpu", "--explain", "--no-bounds", "--global",
                    "32", "--local", "32", *arguments, "--arg", "100", "--arg", "4", cwd=tmp_path)
    lines = dict(line.strip().rsplit(": ", 1) for line in found.stdout.splitlines() if "k.cl:" in line)
    assert lines["loops without masks while all work-items are in them, then the rest with masks"] == "k.cl:4"
    assert lines["loops that all work-items of a sub-group run alike, without masks"] == "k.cl:7"
    assert lines["loops with masks, as no comparison in their head is of a number that counts from a work-item's own"
                 ] == "k.cl:9"
    assert lines["reads of whole vectors"] == "k.cl:5, k.cl:8, k.cl:11"
    assert lines["writes of whole vectors"] == "k.cl:5"
    unknown = "as the addresses of neighbouring work-items are no known distance apart"
    (where,) = (place for kind, place in lines.items() if kind.startswith(("gathers", "reads by")) and unknown in kind)
    assert where == "k.cl:10, k.cl:11"
    assert any(place == "k.cl:13" and "they are 256 bytes apart, and not all work-items are there" in kind
               for kind, place in lines.items())


def test_without_a_gpu(tmp_path: Path) -> None:
    """Of the real chip, whatever is written."""
    large = ("compile", EXAMPLES / "gemm_tuned_gpu.cl", "-o", tmp_path / "gemm.ptx", "--emit", "ptx", "--explain")
    done = coopmat(*large, "--device", "sim:nvidia_gpu_sm_90")
    why = r"it uses local memory, 'a_blocks' \(.*gemm_tuned_gpu.cl:\d+\)"
    assert re.search(f"nothing faster: {why}", done.stdout)
    assert coopmat(*large[:4], "--explain").stdout == "sim:generic runs kernels as they are written\n"
    said = failure(*large, "--device", "sim:nvidia_gpu_sm_90", "-coopmat-schedule=pipeline:loads")
    assert re.search(f"sm_90a does not run kernel 'gemm' as -coopmat-schedule= says: {why}", said)


def test_a_program_says_what_a_gpu_would_choose() -> None:
    program = cm.build(gemm, "-coopmat-schedule=pipeline:loads", device="sim:nvidia_gpu_sm_90")
    assert "wgmma, of tiles that are fetched ahead by tensor maps: A, B" in program.explanation
    assert program.kernel("gemm").resources.shared > 100_000
