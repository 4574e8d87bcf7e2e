"""Libraries of bitcode that are linked to what is compiled."""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as binding
import pytest

from coopmat.diagnostics import Error
from coopmat.llvm.process import client

TRIPLE, CPU, FEATURES = "nvptx64-nvidia-cuda", "sm_80", "+ptx78"
LIBRARY = """
define float @twice(float %x) {
  %y = call float @one_more(float %x)
  %z = fadd float %y, %x
  ret float %z
}
define float @one_more(float %x) {
  %y = fadd float %x, 1.0
  ret float %y
}
define float @unused(float %x) {
  ret float 3.5
}
"""
CALLS = """
declare float @twice(float)
define ptx_kernel void @k(ptr %p, float %x) {
  %y = call float @twice(float %x)
  store float %y, ptr %p
  ret void
}
"""


def bitcode(folder: Path, text: str, name: str = "library.bc") -> str:
    file = folder / name
    file.write_bytes(binding.parse_assembly(text).as_bitcode())
    return str(file)


def compiled(libraries: list[str], emit: str = "asm", ir: str = CALLS) -> str:
    return client.compile(ir, TRIPLE, CPU, FEATURES, 3, emit, libraries=libraries, source_name="kernel 'k'").decode()


def test_what_is_called_becomes_the_modules_own(tmp_path: Path) -> None:
    """Inlined, with what it calls itself; nothing of the rest stays."""
    found = compiled([bitcode(tmp_path, LIBRARY)])
    assert ".extern" not in found
    assert "call" not in found
    assert "unused" not in found
    assert found.count("add.rn.f32") + found.count("add.f32") == 2


def test_without_the_library() -> None:
    assert ".extern .func  (.param .b32 func_retval0) twice" in compiled([])


def test_several(tmp_path: Path) -> None:
    """The second one has what the first one calls."""
    twice, one_more, _ = LIBRARY.split("define")[1:]
    first = bitcode(tmp_path, "declare float @one_more(float)\ndefine" + twice, "first.bc")
    second = bitcode(tmp_path, "define" + one_more, "second.bc")
    assert ".extern" not in compiled([first, second])


def test_its_triple_counts_for_nothing(tmp_path: Path) -> None:
    text = 'target triple = "nvptx64-nvidia-gpulibs"\n' + LIBRARY
    assert f'target triple = "{TRIPLE}"' in compiled([bitcode(tmp_path, text)], "ir")


@pytest.mark.parametrize("content", [None, b"", b"no bitcode at all", b"BC\xc0\xde and then nothing"])
def test_what_is_no_library(tmp_path: Path, content: bytes | None) -> None:
    """An error that names the file; the next request is answered."""
    file = tmp_path / "broken.bc"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Error, match=r"broken\.bc"):
        compiled([str(file)])
    assert ".extern" not in compiled([bitcode(tmp_path, LIBRARY)])


def test_a_function_of_another_type(tmp_path: Path) -> None:
    """The library's is not what the module calls: an error or a call that stays, and no end of the process."""
    file = bitcode(tmp_path, "define i32 @twice(i32 %x, i32 %y) {\n  ret i32 %x\n}")
    assert "k(" in compiled([file])
    assert "k(" in compiled([bitcode(tmp_path, LIBRARY)])
