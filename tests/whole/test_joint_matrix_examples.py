"""The joint_matrix examples: right on every device that has their types, and a refusal that helps on the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from coopmat import Error, devices
from coopmat.sycl import int8, int32, kernel, nd_item, ptr
from examples import (
    joint_matrix_blocked,
    joint_matrix_convolution,
    joint_matrix_epilogue,
    joint_matrix_flash_attention,
    joint_matrix_gemm,
    joint_matrix_quantized,
    joint_matrix_split_k,
    joint_matrix_tf32,
    joint_matrix_tuned,
    joint_matrix_w4a16,
    joint_matrix_work_group,
    joint_matrix_work_group_attention,
)
from tests.kit.checks.alarms import NO_ALARM
from tests.kit.paths import EXAMPLES
from tests.kit.processes import run_file

pytestmark = NO_ALARM
MODULES = {  # example: the type of A in the device tables
    joint_matrix_gemm: "sint8",
    joint_matrix_tf32: "tf32",
    joint_matrix_epilogue: "bf16",
    joint_matrix_blocked: "bf16",
    joint_matrix_quantized: "sint8",
    joint_matrix_split_k: "bf16",
    joint_matrix_convolution: "fp16",
    joint_matrix_w4a16: "fp16",
    joint_matrix_work_group: "bf16",
    joint_matrix_work_group_attention: "fp16",
}
ON_CPUS = ("joint_matrix_blocked", "joint_matrix_convolution", "joint_matrix_quantized", "joint_matrix_split_k",
           "joint_matrix_tuned", "joint_matrix_w4a16", "joint_matrix_work_group", "joint_matrix_work_group_attention")
"""What runs on the CPU if no device is named."""


def has(name: str, element: str) -> bool:
    """Whether a device multiplies matrices of a type; the one without a table takes all."""
    found = next(one for one in devices() if one.name == name).matrix_combinations
    return not found or any(row.atype == row.btype == element for row in found)


NAMES = [one.name for one in devices()]
RIGHT = [pytest.param(module, name, id=f"{module.__name__}-{name}") for module, element in MODULES.items()
         for name in NAMES if has(name, element)]
REFUSED = [pytest.param(module, name, element, id=f"{module.__name__}-{name}") for module, element in MODULES.items()
           for name in NAMES if not has(name, element)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("module", "name"), RIGHT)
def test_result(module, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.main([name]) == 0
    found = capsys.readouterr().out
    assert found.startswith(f"{name}: ")
    assert "right" in found


def with_square_b(element: str) -> list[str]:
    """The devices that multiply matrices of a type, with N = K."""
    return [one.name for one in devices() if not one.matrix_combinations or any(
        row.atype == element and row.supports_sizes(8 if row.max_msize == 8 else 16, 16, 16)
        for row in one.matrix_combinations)]


@pytest.mark.parametrize("options", [(), ("causal",)], ids=["all keys", "causal"])
@pytest.mark.parametrize(("T", "name"), [(T, name) for T, element in (("half", "fp16"), ("bfloat16", "bf16"))
                                         for name in with_square_b(element)])
def test_attention(T: str, name: str, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert joint_matrix_flash_attention.main([name, T, *options]) == 0
    assert "right" in capsys.readouterr().out


def test_attention_on_other_tiles() -> None:
    with pytest.raises(Error, match=r"does not support .*nearest supported"):
        joint_matrix_flash_attention.main(["sim:intel_gpu_dg2_g10"])


@pytest.mark.parametrize("name", ["cpu", "sim:generic", "sim:intel_cpu_spr"])
def test_tuned(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert joint_matrix_tuned.main([name]) == 0
    assert capsys.readouterr().out.endswith("in blocks of 256x64: right\n")


def test_tuned_on_other_tiles() -> None:
    with pytest.raises(Error, match=r"does not support .*nearest supported"):
        joint_matrix_tuned.main(["sim:intel_gpu_pvc"])


@pytest.mark.parametrize(("module", "name", "element"), REFUSED)
def test_a_device_without_the_types(module, name: str, element: str) -> None:
    works = "(nearest supported|at work-group scope; there it takes)"
    with pytest.raises(Error, match=rf"does not support .*{element}\*{element}.*{works}"):
        module.main([name])


@kernel
def nothing(item: nd_item[2], A: ptr[int8], B: ptr[int8], C: ptr[int32], N: int, K: int, alpha: int):
    pass


def test_a_wrong_result_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_matrix_gemm, "gemm_kernel", lambda *_: nothing)
    assert joint_matrix_gemm.main([]) == 1


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("joint_matrix_*.py")), ids=lambda file: file.stem)
def test_as_a_program(file: Path) -> None:
    """Without arguments on PVC or the CPU; a device that does not exist is one line on the standard error."""
    found = run_file(file)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("cpu: " if file.stem in ON_CPUS else "sim:intel_gpu_pvc: ")
    found = run_file(file, ["sim:none"])
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    assert "sim:none" in found.stderr
