"""The debugger's commands: transcripts in both languages."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.debugger.shell import COMMANDS, SHORT
from coopmat.sycl import kernel as sycl_kernel
from tests.kit.debugger import engine_of, transcript

SUMS = """\
int twice(int v) {
    int r = v * 2;
    return r;
}
kernel void sums(global const int *a, global int *out, int n) {
    int i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < n; k++) {
        int t = a[i] + k;
        sum += twice(t);
    }
    if (i % 2 == 0)
        sum += 100;
    else
        sum -= 100;
    out[i] = sum;
}
"""

GEMM = """
@kernel(sub_group_size=16)
def gemm(item: nd_item[1], A: ptr[half], B: ptr[half], C: ptr[float32], K: int32):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, half, use.a, 8, 16, layout.row_major)
    b = joint_matrix(sub_group, half, use.b, 16, 16, layout.row_major)
    c = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_fill(sg, c, 0)
    for k in range(0, K, 16):
        joint_matrix_load(sg, a, A + k, K)
        joint_matrix_load(sg, b, B + k * 16, 16)
        joint_matrix_mad(sg, c, a, b, c)
    joint_matrix_store(sg, c, C, 16, layout.row_major)
"""


def sums(commands: str) -> tuple[str, int]:
    engine = engine_of(SUMS, "sums", 8, 4, np.arange(8, dtype=np.int32) * 10, np.zeros(8, np.int32), 3)
    (file,) = engine.table.files
    lines, status = transcript(engine, commands)
    return "\n".join(lines).replace(f"{file}:", "sums.cl:"), status


def test_a_session() -> None:
    text, status = sums("""\
break 9 if i == 2 && k == 1
run
print t
print a[i] + k
step
print t
break twice @3
continue
where
print v
finish
info lanes
delete
watch out[3]
continue
reverse-step
print sum
continue
print/x out[3]
continue
""")
    assert not status
    assert re.sub(r"after \d+ inst", "after N inst", text) == """\
(coopmat) break 9 if i == 2 && k == 1
1: breakpoint at sums.cl:9, if (i == 2) && (k == 1)
(coopmat) run
breakpoint 1, sums at sums.cl:9, work-item (2, 0, 0)
    9          int t = a[i] + k;
(coopmat) print t
t = 20
(coopmat) print a[i] + k
a[i] + k = 21
(coopmat) step
   10          sum += twice(t);
(coopmat) print t
t = 21
(coopmat) break twice @3
2: breakpoint at twice (sums.cl:2), for work-item (3, 0, 0)
(coopmat) continue
breakpoint 2, twice at sums.cl:2, work-item (3, 0, 0)
    2      int r = v * 2;
(coopmat) where
#0  twice at sums.cl:2
#1  sums at sums.cl:10
(coopmat) print v
v = 31
(coopmat) finish
returned, sums at sums.cl:10, work-item (3, 0, 0) and 7 others
   10          sum += twice(t);
(coopmat) info lanes
work-group (0, 0, 0)
  sub-group 0
    lanes 0 to 3, (0, 0, 0) to (3, 0, 0): is at sums.cl:10; (3, 0, 0) is chosen
(coopmat) delete
(coopmat) watch out[3]
3: watchpoint on out[3], of work-item (3, 0, 0)
(coopmat) continue
watchpoint 3, sums at its end, work-item (3, 0, 0) and 7 others
out[3]: 0 -> 86, written at sums.cl:16 by work-item (3, 0, 0)
(coopmat) reverse-step
   16      out[i] = sum;
(coopmat) print sum
sum = 86
(coopmat) continue
watchpoint 3, sums at its end, work-item (3, 0, 0) and 7 others
out[3]: 0 -> 86, written at sums.cl:16 by work-item (3, 0, 0)
(coopmat) print/x out[3]
out[3] = 0x00000056
(coopmat) continue
the kernel has ended after N instructions"""


def test_lanes_that_wait_are_shown_with_their_line() -> None:
    text, status = sums("break 13\nbreak 15\nrun\ninfo lanes\n")
    assert not status
    assert [line.strip() for line in text.splitlines()[-6:]] == [
        "work-group (0, 0, 0)", "sub-group 0", "lane 0, (0, 0, 0): waits at sums.cl:13",
        "lane 1, (1, 0, 0): is at sums.cl:15; (1, 0, 0) is chosen", "lane 2, (2, 0, 0): waits at sums.cl:13",
        "lane 3, (3, 0, 0): is at sums.cl:15"]


def test_values_of_all_work_items_are_joined_where_they_are_the_same() -> None:
    text, _ = sums("break 16\nrun\nprint i / 4 @all\nprint n @all\nprint sum @1\n")
    assert text.splitlines()[-7:] == [
        "(coopmat) print i / 4 @all", "(0, 0, 0) to (3, 0, 0): 0", "(4, 0, 0) to (7, 0, 0): 1",
        "(coopmat) print n @all",
        "(0, 0, 0) to (7, 0, 0): 3", "(coopmat) print sum @1", "sum = -34"]


@pytest.mark.parametrize(("commands", "message"), [
    ("nonsense", "error: no command 'nonsense'; help shows them"),
    ("re", "error: 're' may be reverse-step or reverse-next or reverse-continue"),
    ("print i", "error: the kernel does not stand anywhere where this work-item has variables"),
    ("where", "error: the kernel does not run yet: run, or step to its first line"),
    ("reverse-step", "error: the kernel has not run: there is nothing to go back to"),
    ("run\nstep", "error: the kernel has ended: run starts it again, reverse-step and reverse-continue go back"),
    ("break 99", "error: no code at line 99 of"), ("break other", "error: no function 'other'; the functions are "),
    ("break", "error: expected break LINE|FILE:LINE|FUNCTION [@X,Y,Z] [if EXPR]"),
    ("break nowhere.cl:3", "error: no code comes from 'nowhere.cl'; the files are"),
    ("break 9 if i +", "error: expected a value"), ("break 9 @99", "error: there is no work-item (99, 0, 0)"),
    ("condition 7 i", "error: there is no breakpoint or watchpoint 7"),
    ("hits 7 2", "error: there is no breakpoint or watchpoint 7"), ("hits", "error: expected hits NUMBER"),
    ("break 9\nhits 1 % 0", "error: which hits stop is a number, or ==, >=, >, <=, <, % and a number"),
    ("log 9", "error: expected log LINE|FILE:LINE|FUNCTION [@X,Y,Z] [if EXPR]: MESSAGE"),
    ("log 9: {i", "error: expressions of a message stand in { and }"), ("log 9: {i +}", "error: expected a value"),
    ("delete 3", "error: there is no breakpoint or watchpoint 3"),
    ("delete x", "error: expected the number of a breakpoint"), ("step x", "error: expected a number of steps"),
    ("info", "error: expected info breakpoints|lanes"), ("watch out[1]", "error: a watchpoint needs a kernel that"),
    ("step\nmatrix sum", "error: sum is no matrix: it is a value of type int32"),
    ("step\nmemory i 2", "error: i is not in memory"), ("step\nmemory a 9", "element 8"),
    ("step\nmemory a 99999", "error: memory shows 1 to 4096 elements"), ("print/q i", "error: numbers are shown with"),
    ("lane x", "error: a work-item is named by its global id"), ("list 99", " has 17 lines"),
])
def test_wrong_commands_say_what_is_wrong_and_the_status_is_1(commands: str, message: str) -> None:
    text, status = sums(commands)
    assert status == 1
    last = text.splitlines()[-1]
    assert last.startswith("error: ")
    assert message in last


def test_every_command_has_help() -> None:
    text, status = sums("help\n" + "".join(f"help {name}\n" for name in SHORT))
    assert not status
    for name, command in COMMANDS.items():
        assert f"{name} {command.usage}".strip() in text
        assert command.help in text


def test_messages_and_hits(capsys: pytest.CaptureFixture[str]) -> None:
    text, status = sums("""\
log 9 @2: t of {i} is {a[i] + k}, {{{nothing}}}
break 10 if i == 1
hits 2 % 2
run
print k
info breakpoints
continue
""")
    assert not status
    nothing = "<no variable 'nothing' in sums; it has a, out, n, i, sum, k, t>"
    assert text.splitlines() == f"""\
(coopmat) log 9 @2: t of {{i}} is {{a[i] + k}}, {{{{{{nothing}}}}}}
1: message at sums.cl:9, for work-item (2, 0, 0): t of {{i}} is {{a[i] + k}}, {{{{{{nothing}}}}}}
(coopmat) break 10 if i == 1
2: breakpoint at sums.cl:10, if i == 1
(coopmat) hits 2 % 2
2: breakpoint at sums.cl:10, if i == 1, at hits % 2
(coopmat) run
breakpoint 2, sums at sums.cl:10, work-item (1, 0, 0)
   10          sum += twice(t);
(coopmat) print k
k = 1
(coopmat) info breakpoints
1: message at sums.cl:9, for work-item (2, 0, 0): t of {{i}} is {{a[i] + k}}, {{{{{{nothing}}}}}}, 2 hits
2: breakpoint at sums.cl:10, if i == 1, at hits % 2, 2 hits
(coopmat) continue
the kernel has ended after {text.split()[-2]} instructions""".splitlines()
    assert capsys.readouterr().out.splitlines() == [f"t of 2 is {20 + k}, {{{nothing}}}" for k in range(3)]


def test_memory_and_source_are_listed() -> None:
    text, status = sums("step\nmemory a 8\nmemory/x &a[3] 2\nlist 1\ninfo args\ninfo locals\n")
    assert not status
    for line in ("element 0 of argument 0 'a': 0, 10, 20, 30, 40, 50, 60, 70",
                 "element 3 of argument 0 'a': 0x0000001e, 0x00000028", ">   6      int i = get_global_id(0);", "n = 3",
                 "sum = 0"):
        assert line in text.splitlines()


def test_a_matrix_is_shown_as_numpy_has_it() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((8, 32), (32, 16)))
    c = np.zeros((8, 16), np.float32)
    gemm = sycl_kernel.from_source(GEMM)
    engine = engine_of(gemm, "gemm", 16, 16, a, b, c, 32, device="sim:intel_gpu_pvc")
    lines, status = transcript(engine, "break 12\nrun\nmatrix a\nstep\nmatrix c\nmatrix c owners\nprint c[3, 5]\n"
                                       "print c[3] @5\nwatch C[53]\ncontinue\ncontinue\nmatrix b\ndelete 1\ncontinue\n")
    assert not status, lines
    starts = [index for index, line in enumerate(lines) if line.startswith(("8x16", "16x16"))]

    def table(start: int, rows: int) -> list[list[str]]:
        return [line.split()[1:] for line in lines[start + 2:start + 2 + rows]]

    assert np.array_equal(np.array(table(starts[0], 8), np.float16), a[:, :16])
    first = a[:, :16].astype(np.float64) @ b[:16].astype(np.float64)
    assert np.array_equal(np.array(table(starts[1], 8), np.float64), first)
    owners = table(starts[2], 8)
    assert owners[3][5] == "5.3"
    assert [line for line in lines if line.startswith("c[3, 5]")] == [f"c[3, 5] = {np.float32(first[3, 5])}"]
    assert f"c[3] = {np.float32(first[3, 5])}" in lines
    assert np.array_equal(np.array(table(starts[3], 16), np.float16), b[16:])
    whole = a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(c, whole)
    written = next(line for line in lines if line.startswith("C[53]: "))
    assert f"-> {np.float32(whole[3, 5])}, written at " in written
    assert written.endswith("by work-item (5, 0, 0)")


def test_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = cm.build(SUMS).kernel("sums")
    out = np.zeros(8, np.int32)
    assert kernel.debug(8, 4, np.zeros(8, np.int32), out, 3, script="tbreak 16\nrun\nprint sum\ncontinue") == 0
    assert "sum = 106" in capsys.readouterr().out.splitlines()
    assert out.tolist() == [106, -94] * 4
    assert kernel.debug(8, 4, np.zeros(8, np.int32), out, n=3, script=["x y"]) == 1
    with pytest.raises(cm.LaunchError, match="debugged on simulated devices"):
        kernel.debug(8, 4, out, out, 3, script="", device="cpu")
    with pytest.raises(cm.LaunchError, match="argument 1"):
        kernel.debug(8, 4, out, 3, 3, script="")
