"""Calls of variadic functions: arguments that LLVM's back end stumbles over become instructions."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat import llvm
from coopmat.llvm.process import client
from coopmat.llvm.to_spirv.variadic import is_variadic, with_plain_arguments

HEAD = """\
target triple = "spirv64-unknown-unknown"
@format = addrspace(2) constant [7 x i8] c"%s, %d\\00"
@"odd, (name" = addrspace(2) constant [6 x i8] c"hello\\00"
@table = addrspace(2) constant [2 x i32] [i32 3, i32 4]
declare spir_func i32 @printf(ptr addrspace(2), ...)
"""
PRINTF = "call spir_func i32 (ptr addrspace(2), ...) @printf"


def kernel(*calls: str) -> str:
    body = "".join(f"  {call}\n" for call in calls)
    return f"{HEAD}define spir_kernel void @k(i32 %n) {{\n{body}  ret void\n}}\n"


@pytest.mark.parametrize(("argument", "expected"), [
    ('ptr addrspace(2) @"odd, (name"', "hello, 5"),
    ('ptr addrspace(2) noundef readonly align 1 @"odd, (name"', "hello, 5"),
    ('ptr addrspace(2) getelementptr inbounds (i8, ptr addrspace(2) @"odd, (name", i64 1)', "ello, 5"),
    ('ptr addrspace(2) getelementptr ([6 x i8], ptr addrspace(2) @"odd, (name", i64 0, i64 4)', "o, 5"),
])
@pytest.mark.parametrize("call", [PRINTF, "%r = tail " + PRINTF])
def test_constants_with_an_address(argument: str, expected: str, call: str, capsys: pytest.CaptureFixture[str]) -> None:
    program = cm.build(llvm.to_spirv(kernel(f"{call}(ptr addrspace(2) @format, {argument}, i32 %n)")))
    cm.Queue("sim:generic").enqueue(program.kernel("k"), 1, 1, 5).wait()
    assert capsys.readouterr().out == expected


def test_only_such_arguments_change() -> None:
    call = (f"{PRINTF}(ptr addrspace(2) noundef @format, i64 7, <2 x i32> <i32 1, i32 2>, [1 x {{ i32, i8 }}] "
            "zeroinitializer, i32 %n) #0")
    ir = f"{kernel(call)}attributes #0 = {{ nounwind }}\n"
    printed = client.printed(ir)
    assert with_plain_arguments(printed) == printed
    changed = with_plain_arguments(client.printed(kernel(
        f"{PRINTF}(ptr addrspace(2) @format, ptr addrspace(2) @format, ptr addrspace(2) @table)")))
    assert "%coopmat.argument.0 = getelementptr i8, ptr addrspace(2) @format, i64 0\n" in changed
    assert ("@printf(ptr addrspace(2) @format, ptr addrspace(2) %coopmat.argument.0, ptr addrspace(2) "
            "%coopmat.argument.1)") in changed


def test_a_null_pointer(capsys: pytest.CaptureFixture[str]) -> None:
    program = cm.build('kernel void k(int n) { printf("%p %d", (global int *)0, n); }')
    for level in range(4):
        cm.Queue("sim:generic").enqueue(program.optimized(level).kernel("k"), 1, 1, 5).wait()
        assert capsys.readouterr().out.endswith(" 5")


def test_a_program_without_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    source = """void f(void) { printf("%s ", __func__); } void g(void) { printf("%s", __func__); }
    kernel void k(void) { f(); g(); }"""
    for level in range(4):
        cm.Queue("sim:generic").enqueue(cm.build(source).optimized(level).kernel("k"), 1, 1).wait()
        assert capsys.readouterr().out == "f g"


def test_which_functions_are_variadic() -> None:
    assert [is_variadic(type_) for _, type_ in client.declarations(
        "declare void @f()\ndeclare void @g(...)\ndeclare i32 @h(i32, ...)\ndeclare i32 @i(i32)")] == [
        False, True, True, False]


def test_printf_in_several_functions() -> None:
    """The back end looks a format's type up in the function that comes last."""
    source = """
    kernel void first(global const float *x, global const int *n) { printf("%d %f", n[1] > 0, (double)x[1] / 2); }
    kernel void second(global const int *n) { if (n[0]) printf(n[1] ? "a" : "b", n[2]); }
    kernel void third(global int *n) { }"""
    program = cm.build(source, options=("-w",))
    module = cm.build(llvm.to_spirv(program.llvm_ir)).module
    assert "SPV_EXT_relaxed_printf_string_address_space" not in module.extensions
    cm.Queue("sim:generic").enqueue(program.optimized(2).kernel("second"), 1, 1, np.ones(3, np.int32)).wait()
