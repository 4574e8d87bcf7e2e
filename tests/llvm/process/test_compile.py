"""Compilation for any target: its triple and data layout, as assembly, object file or IR."""

from __future__ import annotations

import re

import pytest

from coopmat import llvm
from coopmat.diagnostics import CompileError

FUNCTION = """\
target triple = "spirv64-unknown-unknown"
define void @scale(ptr addrspace(1) %values, float %factor) {
  %value = load float, ptr addrspace(1) %values
  %twice = fadd float %value, 0.0
  %scaled = fmul float %value, %factor
  store float %scaled, ptr addrspace(1) %values
  ret void
}
"""
NVPTX = ("nvptx64-nvidia-cuda", "sm_80", "+ptx70")
AMDGCN = ("amdgcn-amd-amdhsa", "gfx90a", "")


def test_ptx() -> None:
    ptx = llvm.compile(FUNCTION.replace("define void", "define ptx_kernel void"), *NVPTX, 3, "asm").decode()
    assert ".version 7.0" in ptx
    assert ".target sm_80" in ptx
    assert ".visible .entry scale(" in ptx
    assert re.search(r"ld\.global\.b32[\s\S]*mul\.(rn\.)?f32[\s\S]*st\.global\.b32", ptx)


def test_assembly_and_object_for_an_amd_gpu() -> None:
    kernel = FUNCTION.replace("define void", "define amdgpu_kernel void")
    text = llvm.compile(kernel, *AMDGCN, 3, "asm").decode()
    assert '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"' in text
    assert "v_mul_f32" in text
    code = llvm.compile(kernel, *AMDGCN, 3, "object")
    assert code[:5] == b"\x7fELF\x02"
    assert int.from_bytes(code[18:20], "little") == 224  # EM_AMDGPU
    assert b"scale.kd" in code  # the kernel's descriptor


@pytest.mark.parametrize("target", [NVPTX, AMDGCN])
def test_the_module_gets_the_targets_triple_and_layout(target: tuple[str, str, str]) -> None:
    ir = llvm.compile(FUNCTION, *target, 1, "ir").decode()
    assert f'target triple = "{target[0]}"' in ir
    assert 'target datalayout = "e-' in ir
    assert "fadd" not in ir  # it was optimised


def test_the_host_is_one_of_the_targets() -> None:
    ir = llvm.compile_for_host(FUNCTION, "", "", 1, "ir").decode()
    found = re.search(r'target triple = "(.*)"', ir)
    assert found is not None
    for emit in ("ir", "asm", "object"):
        assert llvm.compile(FUNCTION, found[1], "", "", 2, emit) == llvm.compile_for_host(FUNCTION, "", "", 2, emit)


def test_an_unknown_target() -> None:
    with pytest.raises(CompileError, match=r"target 'abacus-unknown-unknown': .*abacus"):
        llvm.compile(FUNCTION, "abacus-unknown-unknown", "", "", 2, "asm")
