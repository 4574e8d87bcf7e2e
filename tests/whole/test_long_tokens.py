"""Any token of a source blown up to a megabyte: success or an error, soon, and in a message of some lines."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat.diagnostics import CompileError
from coopmat.spirv import Module
from coopmat.sycl import kernel
from tests.kit.clock import is_within
from tests.kit.sycl.refused import loaded

MEGABYTE = 1 << 20
SECONDS = 2  # of processor time
LONGEST = 4096  # of one message, its source line included
MOST_TOGETHER = 32768


@dataclass(frozen=True)
class Language:
    """A source, what a token of it is, what tokens may become, and what compiles it."""

    source: str
    token: re.Pattern[str]
    long: dict[str, str]
    compile: Callable[[str], object]

    @property
    def places(self) -> list[tuple[int, int]]:
        """Where each token begins and ends."""
        return [match.span() for match in self.token.finditer(self.source)]


WORD = "a" * MEGABYTE
OF_C = {"identifier": WORD, "letters": "é" * MEGABYTE, "integer": "7" * MEGABYTE, "digits": "0x" + "f" * MEGABYTE,
        "number": "1." + "3" * MEGABYTE, "exponent": "1e" + "9" * MEGABYTE, "string": f'"{WORD}"',
        "escapes": '"' + "\\n" * (MEGABYTE // 2) + '"', "character": f"'{WORD}'", "open string": f'"{WORD}',
        "comment": f"/*{WORD}*/", "open comment": f"/*{WORD}", "blanks": " " * MEGABYTE}
OPENCL_C = """#include "other.h"
#define TWICE(x) (2 * (x) + 0x1f)
#if defined(TWICE) && VERSION > 1.5e0
#error "no" text
#line 12 "name.cl"
#endif
#pragma unroll 4
typedef struct { float4 position; char name[4]; } particle;
constant int table[3] = {1, 'a', sizeof("text")};
__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void k(global float *p, const particle q) {
    for (int i = 0; i < 4; ++i) { p[i] += q.position.x * TWICE(table[i]); if (undeclared) goto end; }
end: printf("%d\\n", missing(p));
    switch (1) { case 2: break; }
}
"""
PYTHON = """from coopmat.sycl import *

WIDTH = 16

@kernel(sub_group_size=16)
def k(item: nd_item[1], A: ptr[float32], n: int32):
    lane: int32 = item.get_global_id(0)
    text = "a text"
    total = 0.0
    for step in range(n):
        total += A[lane + step * WIDTH] * 2.5
    if total > 3 and lane != 0x1f:
        A[lane] = sqrt(missing(total))
    assert total >= 0, "a message"
    group_barrier(item.get_group(), fence_scope=memory_scope.device)
"""
OF_PYTHON = {name: OF_C[name] for name in ("identifier", "letters", "integer", "digits", "number", "string", "escapes")}
OF_PYTHON |= {"bytes": f'b"{WORD}"', "format": f'f"{WORD}"', "comment": f"1  # {WORD}\n", "product": "7*" * 99 + "7"}
SPIRV = """; Version: 1.4
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" ; a comment
%file = OpString "file.cl"
OpName %main "main"
OpDecorate %p FuncParamAttr NoWrite
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%seven = OpConstant %uint 7
%half = OpConstant %float 0.5
%ptr = OpTypePointer CrossWorkgroup %uint
%type = OpTypeFunction %void %ptr
%main = OpFunction %void None %type
%p = OpFunctionParameter %ptr
%entry = OpLabel
OpLine %file 3 4
%v = OpLoad %uint %p Aligned 4
OpReturn
OpFunctionEnd
"""
OF_SPIRV = {"id": f"%{WORD}", "opcode": f"Op{WORD}", "word": WORD, "letters": OF_C["letters"], "number": "7" * MEGABYTE,
            "fraction": OF_C["number"], "string": f'"{WORD}"', "open string": f'"{WORD}', "raw": "!" + "7" * MEGABYTE,
            "mask": "|".join(["Aligned"] * (MEGABYTE // 8)), "comment": f"; {WORD}\n"}
LLVM_IR = """target triple = "spirv64-unknown-unknown"
@g = addrspace(1) global [2 x i32] [i32 7, i32 8]
@s = addrspace(2) constant [3 x i8] c"ab\\00"
define spir_kernel void @k(ptr addrspace(1) %p, float %f) !kernel_arg_name !0 {
entry:
  %v = load i32, ptr addrspace(1) %p, align 4
  %w = add nsw i32 %v, 1 ; a comment
  %h = fmul float %f, 2.500000e-01
  call spir_func void @missing(i32 %w)
  store float %h, ptr addrspace(1) %p
  ret void
}
declare spir_func void @missing(i32)
!0 = !{!"p", !"f"}
"""
OF_LLVM = {"value": f"%{WORD}", "global": f"@{WORD}", "word": WORD, "number": "7" * MEGABYTE,
           "fraction": "1." + "3" * MEGABYTE, "string": f'"{WORD}"', "bytes": f'c"{WORD}"', "comment": f"; {WORD}\n",
           "metadata": f"!{WORD}", "quoted": f'%"{WORD}"'}


def of_python(text: str) -> object:
    """The kernel of a text; what is no Python is none."""
    try:
        names = loaded(text)[1]
    except Exception:  # of Python's own, before there is a kernel
        return None
    found = names.get("k")
    return found if found is None or isinstance(found, (str, bytes)) else cm.build(found)


def of_spirv(text: str) -> object:
    """The program of an assembled module, after it was validated."""
    module = Module.from_text(text)
    for violation in module.validate():
        assert len(str(violation)) <= LONGEST
    return cm.build(module)


def of_llvm(text: str) -> object:
    """The program of LLVM IR in a file."""
    path = Path("long.ll")
    path.write_text(text)
    return cm.build(path)


LANGUAGES = {
    "OpenCL C": Language(OPENCL_C, re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|\w+(?:\.\w+)?|\S'), OF_C, cm.build),
    "Python": Language(PYTHON, re.compile(r'"[^"\n]*"|\w+(?:\.\d+)?|[^\s\w]+'), OF_PYTHON, of_python),
    "SPIR-V": Language(SPIRV, re.compile(r'"[^"\n]*"|[^\s"]+'), OF_SPIRV, of_spirv),
    "LLVM IR": Language(LLVM_IR, re.compile(r'c?"[^"\n]*"|[%@!]?[\w.]+(?:e-\d+)?|\S'), OF_LLVM, of_llvm),
}


def check(language: Language, text: str, shown: str) -> None:
    """Compile a text; ``shown`` says what it is."""
    began, error = (time.process_time(), time.perf_counter()), None
    try:
        language.compile(text)
    except cm.Error as caught:
        error = caught
    ended = time.process_time(), time.perf_counter()
    assert is_within(SECONDS, ended[0] - began[0]), shown
    assert is_within(10 * SECONDS, ended[1] - began[1]), shown  # where a helper process works
    if error is not None:
        parts = error.diagnostics if isinstance(error, CompileError) else [error]
        assert max(len(str(part)) for part in parts) <= LONGEST, shown
        assert len(str(error)) <= MOST_TOGETHER, shown


@pytest.mark.parametrize("name", LANGUAGES)
@settings(max_examples=30, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_a_token_of_a_megabyte(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    language = LANGUAGES[name]
    kind = data.draw(st.sampled_from(sorted(language.long)))
    start, stop = data.draw(st.sampled_from(language.places))
    everywhere = data.draw(st.booleans()) and len(language.long[kind]) <= MEGABYTE + 16
    word, long = language.source[start:stop], language.long[kind]
    if everywhere and language.source.count(word) <= 4:
        text = language.source.replace(word, long)
    else:
        text = language.source[:start] + long + language.source[stop:]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.getbasetemp())
        check(language, text, f"{word!r} at {start} becomes {kind}")


@pytest.mark.parametrize("length", [2000, 4000])
@pytest.mark.parametrize("source", [
    "kernel void k(global int *{right}) {{ {wrong}[0] = 1; }}",
    "struct s {{ int {right}; }}; kernel void k(global struct s *p) {{ p->{wrong} = 1; }}",
    "void {right}() {{}} kernel void k() {{ {wrong}(); }}",
    "enum e {{ {right} }}; kernel void k(global int *p) {{ p[0] = {wrong}; }}",
    "typedef int {right}; kernel void k(global int *p) {{ {wrong} i = 1; p[0] = i; }}",
    "#define {right} 1\n#if {wrong}\n#endif\nkernel void k(global int *p) {{ p[0] = {wrong}; }}",
], ids=["variable", "member", "function", "enumerator", "type", "macro"])
def test_a_long_name_is_misspelt(source: str, length: int) -> None:
    right = "q" * length
    check(LANGUAGES["OpenCL C"], source.format(right=right, wrong=f"{right[:-1]}z"), "a misspelt name")


TEXTS = {"print": f'print("{WORD}")', "f-string": f'print(f"{WORD}{{A[0]}}")', "printf": f'printf("{WORD}")',
         "a printed value": f'printf("%s", "{WORD}")', "assert": f'assert A[0] > 1, "{WORD}"'}


@pytest.mark.parametrize("statement", TEXTS.values(), ids=TEXTS)
def test_a_kernel_in_python_with_a_long_text(statement: str) -> None:
    source = f"from coopmat.sycl import *\n\n@kernel\ndef k(item: nd_item[1], A: ptr[float32]):\n    {statement}\n"
    check(LANGUAGES["Python"], source, statement[:20])
    with pytest.raises(CompileError, match=r":5:\d+: error: a text of \d+ bytes is too long .*CM6084"):
        of_python(source)


def test_long_names_of_kernels(tmp_path: Path) -> None:
    names = loaded(f"from coopmat.sycl import *\n\n@kernel\ndef {WORD}(item: nd_item[1], A: ptr[float32]):\n"
                   "    A[0] = 1\n")[1]
    with pytest.raises(CompileError, match=":4:1: error: the name of a kernel has 1048576 characters; at most 4096"):
        cm.build(names[WORD])
    path = tmp_path / "long.ll"
    for name in (WORD, f'"{WORD}"'):
        path.write_text(f"define spir_kernel void @{name}() {{\n  ret void\n}}\n")
        with pytest.raises(CompileError, match=r":1:26: error: the name of a function has \d+ characters; at most"):
            cm.build(path)


OPTIONS = ("-D{}=1", "-D{}", "-W{}", "-I{}", "-include {}", "-cl-std={}", "-cl-ext=+{}", "-cl-ext={}",
           "-ferror-limit={}", "-O{}", "-x {}", "-Wp,{}", "-M{}", "-{}", "{}", "-cl-intel-{}", "'{}", "-D '{}'")


@pytest.mark.filterwarnings("ignore::coopmat.CompileWarning")
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_a_megabyte(option: str) -> None:
    """As a text, as a word, and of a kernel in Python; also one that is only as long as a file's name may be."""
    for long in (WORD, WORD[:4000]):
        text = option.format(long)
        for options in (text, [text]):
            for build in (functools.partial(cm.build, options=options), lambda _, given=options: kernel(options=given)):
                check(Language("", re.compile(""), {}, build), "kernel void k() {}", option)


def test_names_of_any_length_in_messages() -> None:
    """Of kernels, parameters and devices: neither whole nor often."""
    name, other = "k" * 4000, "z" * 4000
    program = cm.build(f"kernel void {name}(global float *{other}, int n) {{ {other}[n] = n; }}")
    queue, memory = cm.Queue("sim:generic"), np.zeros(1, np.float32)
    attempts: list[Callable[[], object]] = [
        lambda: queue.enqueue(program.kernel(name), 1, 1),
        lambda: queue.enqueue(program.kernel(name), 1, 1, **{other[1:]: 1}),
        lambda: queue.enqueue(program.kernel(name), 1, 1, 3.0, 1),
        lambda: queue.enqueue(program.kernel(name), 1, 1, memory, 1).wait(),
        lambda: program.kernel(other), lambda: cm.device(other), lambda: cm.device(f"sim:{other}"),
    ]
    for attempt in attempts:
        with pytest.raises(cm.Error) as caught:
            attempt()
        assert len(str(caught.value)) < 1500


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_every_token(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    language = LANGUAGES[name]
    for kind, long in language.long.items():
        for start, stop in language.places:
            shown = f"{language.source[start:stop]!r} at {start} becomes {kind}"
            check(language, language.source[:start] + long + language.source[stop:], shown)
