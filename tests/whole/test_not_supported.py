"""What a device does not have: the place in the source, the kernel, and what comes nearest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.command_line.main import main
from coopmat.devices import describe
from coopmat.diagnostics import KernelNotSupported

MATRIX = "__attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {}, {}, CLK_COOPERATIVE_MATRIX_{})))"
SOURCE = f"""kernel void fine(global float *p) {{ p[0] = 1; }}
void product(global half *p, global float *c) {{
    half {MATRIX.format(8, 24, "A")} a = coop_mat_init(0);
    half {MATRIX.format(24, 16, "B")} b = coop_mat_init(0);
    float {MATRIX.format(8, 16, "ACCUMULATOR")} d = coop_mat_init(0);
\td = coop_mat_mulAdd(a, b, d);
    coop_mat_store(c, d, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}}
kernel void gemm(global half *p, global float *c) {{ product(p, c); }}
"""
HEADER = "{name}:6:6: error: intel_gpu_pvc does not support the matrix multiply-accumulate fp16*fp16 + fp32 -> fp32, " \
         "M=8 N=16 K=24; nearest supported: fp16*fp16 + fp32 -> fp32, M<=8 N=16 K=16; "
SNIPPET = ["    6 |         d = coop_mat_mulAdd(a, b, d);", "      |             ^~~~~~~~~~~~~~~"]


def shown(error: KernelNotSupported, name: str) -> None:
    """The error is shown at its place, with the source line."""
    first, *rest = str(error).split("\n")
    assert first.startswith(HEADER.format(name=name))
    assert first.endswith(" (kernel gemm)")
    assert rest == SNIPPET
    assert error.kernel == "gemm"
    assert str(error.location) == f"{name}:6:6"


def test_a_build_for_a_device() -> None:
    with pytest.raises(KernelNotSupported) as caught:
        cm.build(SOURCE, device="sim:intel_gpu_pvc")
    shown(caught.value, "<source>")


def test_a_launch_of_a_program_for_any_device() -> None:
    kernel = cm.build(SOURCE).kernel("gemm")
    with pytest.raises(KernelNotSupported) as caught:
        cm.Queue("sim:intel_gpu_pvc").enqueue(kernel, (16,), (16,), np.zeros(9, np.float16), np.zeros(256, np.float32))
    shown(caught.value, "<source>")


def test_a_program_from_the_cache(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KernelNotSupported) as caught:
            cm.build(SOURCE, device="sim:intel_gpu_pvc", cache_dir=tmp_path)
        shown(caught.value, "<source>")


def test_the_command_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                           capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "product.cl"
    path.write_text(SOURCE)
    monkeypatch.setattr("sys.argv", ["coopmat", "check", str(path), "--device", "sim:intel_gpu_pvc"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith(HEADER.format(name=path))
    assert rest == SNIPPET


def test_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "product.h").write_text(SOURCE)
    (tmp_path / "main.cl").write_text('#include "product.h"\n')
    with pytest.raises(KernelNotSupported) as caught:
        cm.build(tmp_path / "main.cl", device="sim:intel_gpu_pvc")
    shown(caught.value, str(tmp_path / "product.h"))


def test_a_linked_program(tmp_path: Path) -> None:
    path = tmp_path / "product.cl"
    path.write_text(SOURCE)
    with pytest.raises(KernelNotSupported) as caught:
        cm.build(path, link=["kernel void other(void) { }"], device="sim:intel_gpu_pvc")
    shown(caught.value, str(path))
    with pytest.raises(KernelNotSupported) as caught:  # of two texts nobody knows which one is meant
        cm.build(SOURCE, link=["kernel void other(void) { }"], device="sim:intel_gpu_pvc")
    assert str(caught.value).startswith(HEADER.format(name="<source>"))
    assert "\n" not in str(caught.value)


def test_lines_that_are_counted_otherwise_are_not_shown() -> None:
    with pytest.raises(KernelNotSupported) as caught:
        cm.build(f"#line 1\n{SOURCE}", device="sim:intel_gpu_pvc")
    assert str(caught.value).startswith(HEADER.format(name="<source>"))
    assert "\n" not in str(caught.value)


def test_a_module_without_lines() -> None:
    module = cm.build(SOURCE).spirv_asm
    text = "\n".join(line for line in module.splitlines() if not line.strip().startswith(("OpLine", "OpNoLine")))
    with pytest.raises(KernelNotSupported) as caught:
        cm.build(cm.spirv.Module.from_text(text), device="sim:intel_gpu_pvc")
    assert str(caught.value).startswith("intel_gpu_pvc does not support the matrix multiply-accumulate ")
    assert str(caught.value).endswith(" (kernel gemm)")
    assert caught.value.location is None


def test_double_precision() -> None:
    program = cm.build("kernel void k(global double *p) {\n    p[0] = 2 * p[1];\n}")
    with pytest.raises(KernelNotSupported) as caught:
        program.load(cm.device("sim:intel_gpu_dg2_g10"))
    assert str(caught.value).startswith("<source>:2:17: error: intel_gpu_dg2_g10 has no double precision (fp64), which")
    assert "\n    2 |     p[0] = 2 * p[1];\n" in str(caught.value)


def test_arithmetic_that_a_device_does_not_have() -> None:
    source = SOURCE.replace("half __attr", "float __attr")
    with pytest.raises(KernelNotSupported) as caught:
        cm.build(source, device=cm.device("cpu", options=cm.CpuOptions(numerics="nvidia_gpu_sm_70")))
    assert str(caught.value).startswith("<source>:6:6: error: ")
    assert SNIPPET[0] in str(caught.value)


# ------------------------------------------------------------------ what comes nearest


def listed(message: str) -> list[str]:
    return message.partition("nearest supported: ")[2].partition(" (kernel")[0].split("; ")


def lone(element: str, rows: int, columns: int, use: str) -> str:
    """A kernel with a matrix that no product has."""
    return f"kernel void k(global {element} *p) {{ {element} {MATRIX.format(rows, columns, use)} m = " \
           "coop_mat_load(p, " \
           "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16); " \
           "coop_mat_store(p, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16); }"


@pytest.mark.parametrize(("device", "source", "called", "first"), [
    # 16-bit integers may hold bfloat16, floats tf32: the device has these, not what the kernel's type says
    ("intel_gpu_pvc", lone("short", 8, 24, "A"), "sint16 or bf16", "bf16*bf16"),
    ("intel_gpu_pvc", lone("float", 8, 24, "A"), "fp32 or tf32", "tf32*tf32"),
    ("intel_gpu_pvc", lone("float", 9, 24, "ACCUMULATOR"), "fp32", "fp16*fp16 + fp32"),
    ("nvidia_gpu_sm_80", lone("char", 8, 8, "B"), "sint8", "sint8*sint8 + sint32"),
    ("nvidia_gpu_sm_80", lone("uchar", 8, 8, "B"), "sint8", "sint8*sint8 + sint32"),
])
def test_the_same_element_type_and_use_come_first(device: str, source: str, called: str, first: str) -> None:
    with pytest.raises(KernelNotSupported, match=f" {called} matrix with use ") as caught:
        cm.build(source, device=f"sim:{device}")
    found = listed(str(caught.value).split("\n")[0])
    assert found[0].startswith(first)


def test_the_types_of_the_operands_count_more_than_those_of_accumulators() -> None:
    rows = describe("nvidia_gpu_sm_80").nearest("fp16", "fp16", "fp64", "fp64", 8, 8, 4)
    assert {row.types[:2] for row in rows} == {("fp16", "fp16")}
