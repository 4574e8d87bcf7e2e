"""``coopmat as``, ``dis`` and ``val``, run as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.spirv import Module
from tests.kit.command_line import coopmat, failure
from tests.kit.paths import ROOT
from tests.kit.spirv.case import kernel

ADDITION = kernel("OpNop", parameters="%uint", version="1.5").replace("OpNop", "%sum = OpIAdd %uint %p0 %p0")
WRONG = ADDITION.replace("OpIAdd %uint", "OpFAdd %uint")
PRODUCT = kernel("%a = OpUndef %matrix_a_8x16_half\n%b = OpUndef %matrix_b_16x16_half\n"
                 "%c = OpUndef %matrix_acc_8x16_float\n"
                 "%d = OpCooperativeMatrixMulAddKHR %matrix_acc_8x16_float %a %b %c")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.spvasm").write_text(ADDITION)
    (tmp_path / "wrong.spvasm").write_text(WRONG)
    return tmp_path


def fed(data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A command that reads standard input."""
    return subprocess.run([sys.executable, "-m", "coopmat", *arguments], input=data, capture_output=True, check=False)


# ------------------------------------------------------------------------------ as and dis


def test_text_to_binary_and_back(folder: Path) -> None:
    assert coopmat("as", folder / "k.spvasm").returncode == 0
    module = Module.from_bytes((folder / "k.spv").read_bytes())
    assert module.version_text == "1.5"
    shown = coopmat("dis", folder / "k.spv")
    assert shown.stdout == module.to_text()
    assert coopmat("dis", folder / "k.spv", "--names", "-o", folder / "named.spvasm").returncode == 0
    assert "OpIAdd %uint" in (folder / "named.spvasm").read_text()
    coopmat("as", folder / "named.spvasm", "-o", folder / "again.spv")
    assert Module.from_bytes((folder / "again.spv").read_bytes()).validate() == []


def test_version_of_text_that_names_none(folder: Path) -> None:
    (folder / "plain.spvasm").write_text(ADDITION.split("\n", 1)[1])
    coopmat("as", folder / "plain.spvasm", "--version", "1.2", "-o", folder / "plain.spv")
    assert Module.from_bytes((folder / "plain.spv").read_bytes()).version_text == "1.2"
    coopmat("as", folder / "plain.spvasm")
    assert Module.from_bytes((folder / "plain.spv").read_bytes()).version_text == "1.4"
    assert "a version of SPIR-V from 1.0 to 1.6, not '2.0'" in failure("as", folder / "k.spvasm", "--version", "2.0")


def test_standard_streams() -> None:
    binary = fed(ADDITION.encode(), "as", "-", "-o", "-").stdout
    assert Module.from_bytes(binary).to_bytes() == Module.from_text(ADDITION).to_bytes()
    assert fed(binary, "dis", "-").stdout.decode() == Module.from_bytes(binary).to_text()
    assert fed(binary, "val", "-").returncode == 0
    assert fed(WRONG.encode(), "val", "-").returncode == 1
    assert b"name the output of standard input with -o" in fed(ADDITION.encode(), "as", "-").stderr


def test_source_files_are_disassembled_too(folder: Path) -> None:
    (folder / "k.cl").write_text("kernel void k(global int *p) { *p = 1; }")
    assert "OpStore" in coopmat("dis", folder / "k.cl").stdout
    assert coopmat("val", folder / "k.cl").returncode == 0


def test_big_endian_modules(folder: Path) -> None:
    data = Module.from_text(ADDITION).to_bytes()
    swapped = b"".join(data[i:i + 4][::-1] for i in range(0, len(data), 4))
    (folder / "big.spv").write_bytes(swapped)
    assert coopmat("dis", folder / "big.spv").stdout == Module.from_bytes(data).to_text()


def test_text_that_is_none(folder: Path) -> None:
    (folder / "bad.spvasm").write_text("OpCapability Kernel\nOpCapability Adresses\n")
    message = failure("as", folder / "bad.spvasm")
    assert message.startswith(f"{folder / 'bad.spvasm'}: error: line 2, column 14: ")
    assert "Addresses" in message
    assert not (folder / "bad.spv").exists()


def test_output_is_not_the_source(folder: Path) -> None:
    before = (folder / "k.spvasm").read_text()
    assert "is the source file itself" in failure("as", folder / "k.spvasm", "-o", folder / "k.spvasm")
    assert (folder / "k.spvasm").read_text() == before
    binary = written(folder, "x.spv", Module.from_text(ADDITION).to_bytes())
    assert "is a SPIR-V binary already" in failure("as", binary)


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


# ------------------------------------------------------------------------------------- val


def test_a_valid_module_is_silent(folder: Path) -> None:
    result = coopmat("val", folder / "k.spvasm")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_broken_rule(folder: Path) -> None:
    file = folder / "wrong.spvasm"
    (violation,) = Module.from_text(WRONG).validate()
    assert failure("val", file) == (
        f"{file}:{violation.offset:#x}: error: the result of OpFAdd must be a floating-point number or a vector of "
        "them, not %3[%uint] (OpTypeInt 32 0) [float-arithmetic]\n    %sum = OpFAdd %uint %p0 %p0\n")


def test_all_files_and_all_rules(folder: Path) -> None:
    two = written(folder, "two.spvasm", WRONG.replace("OpReturn", "%s = OpFMul %uint %p0 %p0\nOpReturn").encode())
    message = failure("val", two, folder / "k.spvasm", folder / "wrong.spvasm", folder / "missing.spv")
    assert message.count("[float-arithmetic]") == 3
    assert f"{folder / 'missing.spv'}: error: cannot read" in message


def test_warnings_do_not_fail(folder: Path) -> None:
    text = ADDITION.replace("OpCapability Kernel", "OpCapability Kernel\nOpCapability Int8")
    file = written(folder, "w.spvasm", text.encode())
    result = coopmat("val", file)
    assert result.returncode == 0
    assert ": warning: " in result.stderr
    assert "[capability-superfluous]" in result.stderr


def test_a_device(folder: Path) -> None:
    file = written(folder, "m.spvasm", PRODUCT.encode())
    assert coopmat("val", file, "--device", "sim:intel_gpu_pvc").returncode == 0
    assert "[device-matrix]" in failure("val", file, "--device", "sim:nvidia_gpu_sm_70")
    assert "did you mean 'sim:intel_gpu_pvc'" in failure("val", file, "--device", "sim:intel_gpu_pcv")


def test_what_is_no_module(folder: Path) -> None:
    data = Module.from_text(ADDITION).to_bytes()
    assert failure("val", written(folder, "short.spv", data[:-2])).startswith(f"{folder / 'short.spv'}:")
    assert "[word-size]" in failure("val", folder / "short.spv")
    assert "[header-magic]" in failure("val", written(folder, "no.spv", b"no module, but some text of words"[:32]))
    assert "[header-size]" in failure("val", written(folder, "empty.spv", b""))


def test_text_is_text_whatever_the_name(folder: Path) -> None:
    assert coopmat("val", written(folder, "text.spv", b"\xef\xbb\xbf" + ADDITION.encode())).returncode == 0


def test_every_example_is_valid() -> None:
    files = sorted((ROOT / "examples").glob("*.cl"))
    options = dict.fromkeys(("gemm", "gemm_blocked"), "-DTM=8 -DTN=16 -DTK=32")
    devices = {"gemm_tuned": "sim:intel_cpu_spr",  # for CPUs' tiles, or for none
               **dict.fromkeys(("gemm_tuned_fp32", "gemm_tuned_gpu"), "sim:generic")}
    for file in files:
        device = devices.get(file.stem, "sim:intel_gpu_pvc")
        module = cm.build(file, options.get(file.stem, ""), device).module
        assert [v for v in module.validate(device) if v.severity == "error"] == [], file
