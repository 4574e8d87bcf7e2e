"""PTX and machine code without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

import coopmat as cm
from coopmat.targets.cuda import assembler
from coopmat.targets.cuda.assembler import Resources, resources
from tests.kit.command_line import coopmat, failure
from tests.kit.paths import EXAMPLES
from tests.kit.targets.fake_cuda import installed

SOURCE = "kernel void twice(global float *p) { p[get_global_id(0)] *= 2; }"
LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for first
    48 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 512 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'first_2' for 'sm_90a'
ptxas info    : Function properties for first_2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""


@pytest.fixture
def without_nvjitlink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler, "find_nvjitlink", lambda: None)


def test_ptx_is_made_for_simulated_chips() -> None:
    for chip in ("sm_70", "sm_90"):
        program = cm.build(SOURCE, device=f"sim:nvidia_gpu_{chip}")
        assert f".target {chip}" in program.ptx
        assert ".entry twice" in program.ptx
    with pytest.raises(cm.Error, match=r"the device 'cpu' is no NVIDIA GPU: PTX .* sim:nvidia_gpu_sm_90"):
        _ = cm.build(SOURCE, device="cpu").ptx
    with pytest.raises(cm.Error, match="was built for no device: PTX"):
        _ = cm.build(SOURCE).ptx


@pytest.mark.oracle("ptxas")
@pytest.mark.usefixtures("without_nvjitlink")
def test_cubins_by_ptxas() -> None:
    program = cm.build(SOURCE, device="sim:nvidia_gpu_sm_90")
    assert program.cubin[:4] == b"\x7fELF"
    assert 4 < program.kernel("twice").resources.registers < 32
    with pytest.raises(cm.Error, match=r"of one kernel, and the program has 2 \(a, b\): nvJitLink takes several"):
        _ = cm.build("kernel void a() {} kernel void b() {}", device="sim:nvidia_gpu_sm_90").cubin


@pytest.mark.oracle("ptxas")
@pytest.mark.oracle("nvdisasm")
@pytest.mark.usefixtures("without_nvjitlink")
def test_sass() -> None:
    program = cm.build(SOURCE, device="sim:nvidia_gpu_sm_90")
    assert "LDG" in program.sass
    assert ".text.twice" in program.sass


def test_without_a_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler, "find_disassembler", lambda: None)
    with pytest.raises(cm.Error, match=r"'pip install nvidia-cuda-nvdisasm' brings it"):
        assembler.disassembled(b"")


@pytest.mark.oracle("nvdisasm")
def test_what_is_no_machine_code() -> None:
    with pytest.raises(cm.Error, match="nvdisasm refuses the machine code"):
        assembler.disassembled(b"nothing")


@pytest.mark.usefixtures("without_nvjitlink")
def test_without_an_assembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler, "find_ptxas", lambda: None)
    assert assembler.found() is None
    with pytest.raises(cm.Error, match=r"made of PTX by nvJitLink \('pip install coopmat\[cuda\]' brings it\) or by"):
        _ = cm.build(SOURCE, device="sim:nvidia_gpu_sm_90").cubin
    with pytest.raises(cm.Error, match="the program has no kernels"):
        _ = cm.build("", device="sim:nvidia_gpu_sm_90").cubin


def test_what_the_assembler_says() -> None:
    assert resources(LOG, "first") == Resources(registers=40, stack=48, spills=20, shared=512)
    assert resources(LOG, "first_2") == Resources(registers=8, stack=0, spills=0, shared=0)
    assert resources(LOG, "second") == Resources(0, 0, 0, 0)


def test_a_gpu_says_what_a_kernel_takes() -> None:
    with installed():
        program = cm.build(SOURCE, device="cuda:0")
        assert program.kernel("twice").resources == Resources(24, 0, 0, 0, 1024)
        assert b".entry twice" in program.cubin  # this driver leaves PTX as it is


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "twice.cl").write_text(SOURCE)
    given = ("compile", tmp_path / "twice.cl", "-o", tmp_path / "twice.ptx", "--emit", "ptx")
    assert coopmat(*given, "--device", "sim:nvidia_gpu_sm_80").returncode == 0
    assert ".target sm_80" in (tmp_path / "twice.ptx").read_text()
    assert "the device 'sim:generic' is no NVIDIA GPU" in failure(*given)
    large = ("compile", EXAMPLES / "gemm_tuned_gpu.cl", "-o", tmp_path / "gemm", "--device", "sim:nvidia_gpu_sm_80")
    assert "does not support" in failure(*large)  # the simulator has the chip's own matrices
    assert coopmat(*large, "--emit", "ptx").returncode == 0
    assert "mma.sync.aligned.m16n8k16" in (tmp_path / "gemm").read_text()
