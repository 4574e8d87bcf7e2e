"""The command line, run as a user runs it: exit codes, output, files, and no traceback whatever the input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.kit.command_line import GEMM, coopmat, failure


def test_devices_as_json() -> None:
    shown = json.loads(coopmat("devices", "sim:intel_gpu_pvc", "--json").stdout)
    assert list(shown) == ["name", "architecture", "sub_group_sizes", "matrix_combinations"]
    assert shown["sub_group_sizes"] == [16, 32]
    assert len(shown["matrix_combinations"]) == 9
    assert shown["matrix_combinations"][0] == {
        "max_msize": 8, "max_nsize": 0, "max_ksize": 0, "msize": 0, "nsize": 16, "ksize": 32, "atype": "uint8",
        "btype": "uint8", "ctype": "sint32", "dtype": "sint32", "native": True}
    everything = json.loads(coopmat("devices", "--json").stdout)
    assert [one["name"] for one in everything][-1] == "sim:generic"


def printing(folder: Path) -> list[str]:
    """The command that runs a kernel which prints "item 5" and "item 6"."""
    file = folder / "k.cl"
    file.write_text('kernel void k(int n) { printf("item %d\\n", (int)get_global_id(0) + n); }')
    return ["run", str(file), "--kernel", "k", "--global", "2", "--local", "2", "--arg", "5", "--device", "sim:generic"]


def test_run_prints_what_the_kernel_prints(tmp_path: Path) -> None:
    result = coopmat(*printing(tmp_path))
    assert result.stdout.startswith("item 5\nitem 6\nk on sim:generic: ")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_the_kernels_text_does_not_follow_the_progress_line_to_a_terminal(tmp_path: Path) -> None:
    import pty

    master, slave = pty.openpty()
    try:
        result = subprocess.run([sys.executable, "-m", "coopmat", *printing(tmp_path)], stdout=subprocess.PIPE,
                                stderr=slave, text=True, timeout=120, check=True, env={**os.environ, "TERM": "xterm"})
        shown = os.read(master, 4096).decode()
    finally:
        os.close(master)
        os.close(slave)
    assert result.stdout.startswith("item 5\nitem 6\n")
    assert "running k" in shown
    assert "item" not in shown


def test_devices_as_tables() -> None:
    assert "sim:amd_gpu_gfx90a" in coopmat("devices").stdout
    shown = coopmat("devices", "sim:intel_cpu_spr").stdout
    assert "<= 64" in shown
    assert "bf16" in shown


def test_check(tmp_path: Path) -> None:
    assert coopmat("check", GEMM).returncode == 0
    broken = tmp_path / "broken.cl"
    broken.write_text("kernel void f(global int *p)\n{\n    p[0] = q;\n}\n")
    message = failure("check", broken)
    assert f"{broken}:3:12: error: use of undeclared identifier 'q'" in message
    assert "    p[0] = q;" in message
    assert message.splitlines()[2].endswith("           ^")


@pytest.mark.parametrize("emit", ["llvm", "spirv", "spirv-asm"])
def test_compile(tmp_path: Path, emit: str) -> None:
    output = tmp_path / "out"
    assert coopmat("compile", GEMM, "-o", output, "--emit", emit).returncode == 0
    content = output.read_bytes()
    if emit == "spirv":
        assert content[:4] == b"\x03\x02\x23\x07"
    else:
        assert b"CooperativeMatrixMulAddKHR" in content
        shown = coopmat("compile", GEMM, "-o", "-", "--emit", emit, cwd=tmp_path)
        assert shown.stdout.encode() == content
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("emit", ["spirv", "spirv-asm"])
def test_spirv_is_not_optimised(tmp_path: Path, emit: str) -> None:
    assert coopmat("compile", GEMM, "-o", tmp_path / "gemm.spv").returncode == 0
    message = failure("compile", tmp_path / "gemm.spv", "-O2", "--emit", emit, "-o", tmp_path / "out")
    assert "gemm.spv cannot be optimised (-O2): LLVM optimises OpenCL C, LLVM IR and kernels in Python" in message
    assert coopmat("compile", tmp_path / "gemm.spv", "-O0", "--emit", emit, "-o", tmp_path / "out").returncode == 0


def test_the_only_kernel_needs_no_name(tmp_path: Path) -> None:
    one, two, none = tmp_path / "one.cl", tmp_path / "two.cl", tmp_path / "none.cl"
    one.write_text("kernel void only(int n) { printf(\"%d\\n\", n); }")
    two.write_text("kernel void first() {} kernel void second() {}")
    none.write_text("int f(int i) { return i; }")
    arguments = ("--global", "1", "--device", "sim:generic")
    result = coopmat("run", one, *arguments, "--arg", "5")
    assert result.stdout.splitlines()[0] == "5"
    assert result.stdout.splitlines()[1].startswith("only on sim:generic: ")
    assert f"choose a kernel of {two} with --kernel: first, second" in failure("run", two, *arguments)
    assert f"{none} has no kernels" in failure("run", none, *arguments)


@pytest.mark.parametrize("device", ["cpu", "sim:generic"])
def test_run_reports_accesses_outside_of_buffers(tmp_path: Path, device: str) -> None:
    source = tmp_path / "far.cl"
    source.write_text("kernel void far(global int *p) { p[get_global_id(0) * 100] = 1; }")
    arguments = (source, "--global", "99999", "--local", "1", "--device", device, "--arg", "zeros:int32:4")
    message = failure("run", *arguments)
    found = re.search(r"write of 4 bytes at byte (\d+); the buffer has 16 bytes", message)
    assert found, message
    place = int(found[1])
    assert place == 400 if device.startswith("sim:") else place in range(400, 99999 * 400, 400)  # of several threads
    assert "far.cl:1:" in message
    if device.startswith("sim:"):  # the CPU would end with a signal, or not
        assert coopmat("run", *arguments, "--no-bounds").returncode == 0


def test_a_failed_compile_writes_nothing(tmp_path: Path) -> None:
    source = tmp_path / "bad.cl"
    source.write_text("kernel void f( {")
    (tmp_path / "old").write_text("old")
    failure("compile", source, "-o", tmp_path / "old")
    failure("compile", source, "-o", tmp_path / "new")
    failure("compile", GEMM, "-o", tmp_path / "no" / "folder")
    assert (tmp_path / "old").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.cl", "old"]


@pytest.mark.parametrize("suffix", [".cl", ".spv", ".spvasm", ".ll"])
def test_run_from_every_form(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (16, 64), np.int8), rng.integers(-128, 128, (64, 32), np.int8)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    source = Path(GEMM)
    if suffix != ".cl":
        source = tmp_path / f"gemm{suffix}"
        emit = {".spv": "spirv", ".spvasm": "spirv-asm", ".ll": "llvm"}[suffix]
        assert coopmat("compile", GEMM, "-o", source, "--emit", emit).returncode == 0
    result = coopmat("run", source, "--kernel", "gemm", "--device", "sim:intel_gpu_pvc", "--global", "32,2",
                     "--local", "16,1", "--arg", "a.npy", "--arg", "b.npy", "--arg", "zeros:int32:16x32",
                     "--arg", "32", "--arg", "64", "--out", "2=c.npy", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), a.astype(np.int32) @ b.astype(np.int32))


RUN = ("run", GEMM, "--kernel", "gemm", "--global", "16,1", "--local", "16,1")
ARRAYS = ("--arg", "zeros:int8:8x32", "--arg", "zeros:int8:32x16", "--arg", "zeros:int32:8x16")


@pytest.mark.parametrize(("arguments", "message"), [
    (("run", GEMM, "--kernel", "nope", "--global", "16", "--local", "16"), "no kernel 'nope'"),
    (("run", GEMM, "--kernel", "gemm", "--global", "sixteen", "--local", "16"), "--global takes one to three"),
    (("run", GEMM, "--kernel", "gemm", "--global", "16", "--local", "0"), "at least 1"),
    (("run", "missing.cl", "--kernel", "gemm", "--global", "16", "--local", "16"), "cannot read 'missing.cl'"),
    ((*RUN, "--device", "gpu"), "no device 'gpu'"),
    ((*RUN, "--device", "sim:intel_gpu_pcv"), "did you mean 'sim:intel_gpu_pvc'"),
    ((*RUN, *ARRAYS), "takes 5 arguments, found 3"),
    ((*RUN, *ARRAYS, "--arg", "16", "--arg", "three"), "--arg three: expected a number"),
    ((*RUN, *ARRAYS, "--arg", "16", "--arg", "1.5"), "1.5 is not an integer"),
    ((*RUN, "--arg", "zeros:int8", "--arg", "1"), "expected zeros:DTYPE:SHAPE"),
    ((*RUN, "--arg", "zeros:int7:8"), "unknown element type 'int7'"),
    ((*RUN, "--arg", "zeros:int8:999999999999x9"), "more than"),
    ((*RUN, "--arg", "local:many"), "expected local:BYTES"),
    ((*RUN, "--arg", "missing.npy"), "cannot read 'missing.npy'"),
    ((*RUN, "--arg", __file__.replace(".py", ".npy")), "cannot read"),
    ((*RUN, *ARRAYS, "--arg", "16", "--arg", "32", "--out", "9=c.npy"), "argument 9 is not an array"),
    ((*RUN, *ARRAYS, "--arg", "16", "--arg", "32", "--out", "c.npy"), "expected INDEX=FILE.npy"),
    ((*RUN, "--device", "sim:generic", *ARRAYS, "--arg", "16", "--arg", "64"), "argument 0 'A', element 256"),
    (("run", GEMM), "Missing option '--global'. (see `coopmat run --help`)"),
    (("run", GEMM, "--glob", "1"), "(see `coopmat run --help`)"),
    (("run", GEMM, "--global"), "(see `coopmat run --help`)"),
    (("cache", "--size"), "(see `coopmat cache --help`)"),
    (("compile", GEMM, "-O", "high"), "(see `coopmat compile --help`)"),
    (("compile", GEMM, "-o", "x", "--emit", "elf"), "cannot emit 'elf'"),
    (("check", GEMM, "-Wno-such-thing", "-Q"), "unknown option '-Q'"),
    (("devices", "sim:none"), "no device 'sim:none'"),
    (("frobnicate",), "No such command 'frobnicate'. (see `coopmat --help`)"),
])
def test_each_mistake_has_a_message(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    assert message in failure(*arguments, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_not_an_array(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00garbage")
    assert "cannot read 'a.npy'" in failure(*RUN, "--arg", "a.npy", cwd=tmp_path)


def test_output_of_an_error_names_the_place(tmp_path: Path) -> None:
    """A buffer that is too small: the message names kernel, source line, buffer and element."""
    message = failure(*RUN, "--device", "sim:generic", "--arg", "zeros:int8:8x16", *ARRAYS[2:], "--arg", "16",
                      "--arg", "32", cwd=tmp_path)
    assert "kernel gemm" in message
    assert "gemm.cl:" in message
    assert "work-group" in message
    assert "buffer argument 0 'A'" in message


@pytest.mark.parametrize(("arguments", "message"), [
    (("compile", GEMM, "-o", ""), "Is a directory"),
    (("compile", GEMM, "-o", "x" * 300), "File name too long"),
    (("compile", GEMM, "-o", GEMM), "is the source file itself"),
    ((*RUN, "--arg", "local:999999999999999999999"), "expected local:BYTES"),
    ((*RUN, "--arg", "local:99999999999"), "1 to 4294967295 bytes"),
    ((*RUN, "--arg", "zeros:int8:" + "x".join("1" * 80)), "at most 8 dimensions"),
    ((*RUN, *ARRAYS, "--arg", "16", "--arg", "32", "--out", "2=c.npy", "--out", "2=d.npy"),
     "is saved to 'c.npy' already"),
    (("compile", GEMM, "-o", "x", "-O", "7"), "the level of optimisation is 0, 1, 2 or 3"),
    (("check", GEMM, "-D", "1x"), "coopmat: error: "),
])
def test_further_mistakes(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    shown = failure(*arguments, cwd=tmp_path)
    assert message in shown
    assert "error: error" not in shown
    assert not list(tmp_path.iterdir())


def test_a_module_that_is_broken_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "bad.spv").write_bytes(b"no module at all")
    (tmp_path / "bad.spvasm").write_text("OpNonsense\n")
    assert failure("check", tmp_path / "bad.spv").startswith(f"{tmp_path / 'bad.spv'}:")
    assert failure("check", tmp_path / "bad.spvasm").startswith(f"{tmp_path / 'bad.spvasm'}: error: line 1")


def test_output_through_a_link_and_into_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "real.spv").write_bytes(b"old")
    (tmp_path / "link.spv").symlink_to("real.spv")
    assert coopmat("compile", GEMM, "-o", tmp_path / "link.spv").returncode == 0
    assert (tmp_path / "link.spv").is_symlink()
    assert (tmp_path / "real.spv").read_bytes()[:4] == b"\x03\x02\x23\x07"
    result = coopmat("compile", GEMM, "-o", "/dev/stdout", "--emit", "spirv-asm")
    assert result.returncode == 0
    assert result.stdout.startswith("; SPIR-V")
