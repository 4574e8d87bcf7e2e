"""printf on the CPU: what kernels write down, and what the host makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import Error, OutOfBounds, UndefinedBehavior
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.targets.short_kernels import cpu_program, module

Capture = pytest.CaptureFixture[str]
LIMIT = 1 << 20


def launch(body: str, items: int, local: int, *arguments: object, parameters: str = "", limit: int = LIMIT,
           threads: int = 1) -> None:
    """Run the kernel with this body; warnings are turned off."""
    module = cm.build(f"kernel void k({parameters}) {{ {body} }}", options=("-w",))._executable
    program = CpuProgram(module, options=CpuOptions(printf_limit=limit, threads=threads))
    program.launch("k", (items,), (local,), arguments)


ID = "int i = get_global_id(0);"


def test_work_items_of_a_sub_group_print_in_order(capsys: Capture) -> None:
    launch(f'{ID} printf("%d ", i);', 120, 40)
    assert capsys.readouterr().out == "".join(f"{i} " for i in range(120))


def test_one_work_item_prints_its_records_in_order(capsys: Capture) -> None:
    launch(f'{ID} for (int n = 0; n <= i % 3; ++n) printf("%d:%d\\n", i, n);', 64, 32)
    lines = capsys.readouterr().out.splitlines()
    for item in range(64):
        assert [line for line in lines if line.startswith(f"{item}:")] == [f"{item}:{n}" for n in range(item % 3 + 1)]
    assert len(lines) == sum(item % 3 + 1 for item in range(64))


def test_many_threads_lose_nothing(capsys: Capture) -> None:
    launch(f'{ID} printf("%d %s\\n", i, i & 1 ? "odd" : "even");', 20_000, 50, threads=8)
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == sorted(f"{i} {'odd' if i & 1 else 'even'}" for i in range(20_000))


def test_every_kind_of_argument(capsys: Capture) -> None:
    launch('half h = 0.5h; __bf16 b = 1.5f; long big = (1L << 32) + 7; '
           'printf("%g %g %u %lu %d %ld %x ", h, b, -1, -1, big, -2, (char)-1);'
           'printf("%v4hlf|%v2d|%c|%%|%p", (float4)(1, 2, i, 4), (short2)(1, -1), 65, (global int *)0);', 1, 1, 3,
           parameters="int i")
    assert capsys.readouterr().out == ("0.5 1.5 4294967295 4294967295 7 -2 ffffffff "
                                       "1.000000,2.000000,3.000000,4.000000|1,-1|A|%|(nil)")


@pytest.mark.parametrize(("declaration", "value", "expected"), [
    ("char text[] = \"ab\"; text[0] += i;", "text", "ab bb cb db "),
    ("local char text[4]; text[i] = i < 3 ? 'x' : 0;", "text", "xxx " * 4),
    ("", "p + i", "hello ello llo lo "),
    ("", '&"work"[i]', "work ork rk k "),
])
def test_strings_are_those_of_the_call(declaration: str, value: str, expected: str, capsys: Capture) -> None:
    """They may be gone, or others, when the kernel has ended."""
    after = "text[0] = '?'; text[1] = 0;" if declaration else ""
    launch(f'{ID} {declaration} printf("%s ", {value}); {after}', 4, 4, np.frombuffer(b"hello\0", np.int8),
           parameters="global const char *p")
    assert capsys.readouterr().out == expected


def test_formats_that_are_chosen_as_the_kernel_runs(capsys: Capture) -> None:
    launch(f'{ID} printf(i & 1 ? "odd %s\\n" : p, i & 1 ? "one" : "two"); p += 0;', 4, 4,
           np.frombuffer(b"even %.2s%%\n\0", np.int8), parameters="constant char *p")
    assert capsys.readouterr().out == "even tw%\nodd one\n" * 2


def test_what_does_not_fit_is_dropped_whole(capsys: Capture) -> None:
    out = np.zeros(8, np.int32)
    launch(f'{ID} out[i] = printf("item %d\\n", i);', 8, 8, out, parameters="global int *out", limit=30)
    captured = capsys.readouterr()
    assert captured.out == "".join(f"item {i}\n" for i in range(4))
    assert out.tolist() == [0] * 4 + [-1] * 4
    assert captured.err == ("coopmat: kernel 'k' prints more than 30 bytes: 4 calls of printf dropped "
                            "(the CPU's option printf_limit allows more)\n")


def test_more_calls_than_the_buffer_holds(capsys: Capture) -> None:
    """Empty strings: their records are much longer than their text."""
    out = np.zeros(20_000, np.int32)
    call = 'printf("' + "%s" * 12 + '"' + ', ""' * 12 + ")"
    launch(f"{ID} out[i] = {call};", 20_000, 200, out, parameters="global int *out", limit=10_000)
    captured = capsys.readouterr()
    assert captured.out == ""
    written = int((out == 0).sum())
    assert 1000 < written < 10_000
    assert set(out[:written]) == {0}
    assert set(out[written:]) == {-1}
    assert f"{20_000 - written} calls of printf dropped" in captured.err


def test_only_the_beginning_of_a_long_string_is_taken(capsys: Capture) -> None:
    launch('printf("a "); printf("%s", p); printf("b");', 1, 1, np.ones(1 << 16, np.int8),
           parameters="global const char *p", limit=100)
    captured = capsys.readouterr()
    assert captured.out == "a "
    assert "2 calls of printf dropped" in captured.err


@pytest.mark.parametrize(("call", "message"), [
    ('"%d"', "the format of printf has '%d': there is no argument for it, the call has 0"),
    ('"%d %d", n, 1.5f', "has '%d': it prints an integer, but argument 2 is of type float64"),
    ('"%n", n', "has '%n': invalid conversion specifier"),
])
def test_undefined_formats(call: str, message: str, capsys: Capture) -> None:
    with pytest.raises(UndefinedBehavior, match=message):
        launch(f'printf("before "); printf({call}); printf("after");', 1, 1, 3, parameters="int n")
    assert capsys.readouterr().out == "before "


@pytest.mark.parametrize("call", ['"%s", (global char *)0', "(constant char *)0"])
def test_null_pointers(call: str) -> None:
    with pytest.raises(OutOfBounds, match="printf reads a string at a null pointer"):
        launch(f"printf({call});", 1, 1)


def test_a_structure_cannot_be_printed() -> None:
    source = module("g_i32 a", "%n = OpExtInst %i32 %std printf %null %pair",
                    declarations="%null = OpConstantNull %c_i8\n%pair = OpConstantNull %a2_i32")
    with pytest.raises(Error, match="printf cannot print a value of type"):
        cpu_program(source).launch("kernel", (1,), (1,), [np.zeros(1, np.int32)])
