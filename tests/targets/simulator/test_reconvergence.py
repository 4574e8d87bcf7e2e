"""Where work-items that parted are together again. A digit of a result is how many were together in a block.

The expectations are written by hand, from the rules in ``coopmat.spirv.analysis.lock_step``; the CPU target runs
the same tests.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.kit.targets.short_kernels import module, run

VALUES = """
    %n = OpVariable %p_i64 Function %i64_c0
    %i = OpVariable %p_i64 Function %i64_c0
    %odd = OpBitwiseAnd %i64 %gx %i64_c1
    %is_odd = OpIEqual %bool %odd %i64_c1
    %pair = OpShiftRightLogical %i64 %gx %i64_c1
    %where = OpPtrAccessChain %g_i64 %out %gx"""
END = """
    %value = OpLoad %i64 %n
    OpStore %where %value
    OpReturn"""


def more(name: str, by: str) -> str:
    """Add to i; its new value is ``%name``."""
    return f"""
    %{name}_before = OpLoad %i64 %i
    %{name} = OpIAdd %i64 %{name}_before {by}
    OpStore %i %{name}"""


def count(name: str) -> str:
    """Append to n how many are here."""
    return f"""
    %{name}_n = OpLoad %i64 %n
    %{name}_ten = OpIMul %i64 %{name}_n %i64_c10
    %{name}_here = OpGroupNonUniformIAdd %i64 %i32_c3 Reduce %i64_c1
    %{name}_all = OpIAdd %i64 %{name}_ten %{name}_here
    OpStore %n %{name}_all"""


def execute(body: str, functions: str = "", items: int = 8) -> list[int]:
    """``out`` of sub-groups of eight."""
    out = np.full(items, -1, np.int64)
    run(module("g_i64 out", VALUES + body, modes=["SubgroupSize 8"], functions=functions), [out], items, items)
    return out.tolist()


def test_short_circuit() -> None:
    """if (gx < 2 || gx is odd) count; else count"""
    assert execute(f"""
        %few = OpSLessThan %bool %gx %i64_c2
        OpBranchConditional %few %both %other
        %other = OpLabel
        OpBranchConditional %is_odd %both %none
        %both = OpLabel {count("one")}
        OpBranch %end
        %none = OpLabel {count("two")}
        OpBranch %end
        %end = OpLabel {END}""") == [5, 5, 3, 5, 3, 5, 3, 5]


def test_shared_tail() -> None:
    """switch (gx % 4) { case 0: count; case 1: count; break; case 2: count; default: count; }"""
    assert execute(f"""
        %kind = OpBitwiseAnd %i64 %gx %i64_c3
        OpSwitch %kind %rest 0 %zeroth 1 %first 2 %second
        %zeroth = OpLabel {count("one")}
        OpBranch %first
        %first = OpLabel {count("two")}
        OpBranch %end
        %second = OpLabel {count("three")}
        OpBranch %rest
        %rest = OpLabel {count("four")}
        OpBranch %end
        %end = OpLabel {count("five")} {END}""") == [248, 48, 248, 48] * 2


def test_continue_leads_to_the_head() -> None:
    """while (i < 3) { i++; if (i + gx is odd) continue; count; }"""
    assert execute(f"""
        OpBranch %head
        %head = OpLabel
        %old = OpLoad %i64 %i
        %on = OpSLessThan %bool %old %i64_c3
        OpBranchConditional %on %body %end
        %body = OpLabel {more("i1", "%i64_c1")}
        %sum = OpIAdd %i64 %i1 %gx
        %bit = OpBitwiseAnd %i64 %sum %i64_c1
        %skip = OpIEqual %bool %bit %i64_c1
        OpBranchConditional %skip %head %work
        %work = OpLabel {count("one")}
        OpBranch %head
        %end = OpLabel {END}""") == [4, 44] * 4


def test_continue_in_a_loop_that_only_break_leaves() -> None:
    """for (;;) { i++; if (i <= gx / 2) continue; count; if (i >= 4) break; }"""
    assert execute(f"""
        OpBranch %head
        %head = OpLabel {more("i1", "%i64_c1")}
        %skip = OpSLessThanEqual %bool %i1 %pair
        OpBranchConditional %skip %next %work
        %work = OpLabel {count("one")}
        %done = OpSGreaterThanEqual %bool %i1 %i64_c4
        OpBranchConditional %done %end %next
        %next = OpLabel
        OpBranch %head
        %end = OpLabel {END}""") == [2468, 2468, 468, 468, 68, 68, 8, 8]


FIND = """
    OpBranch %head
    %head = OpLabel
    %at = OpLoad %i64 %i
    %on = OpSLessThan %bool %at %i64_c3
    {}
    OpBranchConditional %on %body %end
    %body = OpLabel
    %found = OpIEqual %bool %at %pair
    OpBranchConditional %found %leave %next
    %leave = OpLabel {}
    %next = OpLabel {}
    OpBranch %head
    %end = OpLabel"""
MERGE = "OpLoopMerge %end %next None"


@pytest.mark.parametrize(("merge", "expected"), [(MERGE, [28] * 6 + [8] * 2), ("", [68] * 6 + [8] * 2)])
def test_what_is_done_before_break(merge: str, expected: list[int]) -> None:
    """for (; i < 3; i++) if (i == gx / 2) { count; break; }: in its round only if the module says what the loop is."""
    body = FIND.format(merge, count("one") + "\nOpBranch %end", more("i1", "%i64_c1"))
    assert execute(body + count("two") + END) == expected


def test_what_is_done_before_return() -> None:
    """for (; i < 3; i++) if (i == gx / 2) { count; return; }"""
    leave = count("one") + "\n%early = OpLoad %i64 %n\nOpStore %where %early\nOpReturn"
    body = FIND.format(MERGE, leave, more("i1", "%i64_c1"))
    assert execute(body + count("two") + END, items=16) == [2] * 8 + [8] * 8


def test_a_return_that_nobody_takes() -> None:
    """All meet behind a loop that they leave in different rounds, though they might have returned."""
    assert execute(f"""
        OpBranch %head
        %head = OpLabel
        %at = OpLoad %i64 %i
        %on = OpSLessThan %bool %at %gx
        OpBranchConditional %on %body %end
        %body = OpLabel {more("i1", "%i64_c1")}
        %never = OpIEqual %bool %i1 %i64_c100
        OpBranchConditional %never %leave %head
        %leave = OpLabel
        OpReturn
        %end = OpLabel
        %value = OpGroupIAdd %i64 %i32_c3 Reduce %i64_c1
        OpStore %where %value
        OpReturn""") == [8] * 8


def test_two_loops_that_end_in_one_block() -> None:
    """Who begins the outer loop's next round waits for those in the inner loop."""
    assert execute(f"""
        OpBranch %outer
        %outer = OpLabel
        OpBranch %inner
        %inner = OpLabel {more("i1", "%i64_c1")} {count("one")}
        %choice = OpISub %i64 %i1 %odd
        OpSwitch %choice %end 0 %inner 1 %outer
        %end = OpLabel {END}""") == [88, 848] * 4


def test_a_loop_with_two_entries() -> None:
    """Its head is the entry that a depth-first search finds first; who enters elsewhere waits there."""
    assert execute(f"""
        OpBranchConditional %is_odd %first %second
        %first = OpLabel {more("i1", "%i64_c1")} {count("one")}
        OpBranch %second
        %second = OpLabel {more("i2", "%i64_c1")} {count("two")}
        %on = OpSLessThan %bool %i2 %i64_c4
        OpBranchConditional %on %first %end
        %end = OpLabel {END}""") == [88844, 4888] * 4


FUNCTION = """
    %kind = OpTypeFunction %i64 %i64
    %together = OpFunction %i64 None %kind
    %x = OpFunctionParameter %i64
    %inner_entry = OpLabel
    %bit = OpBitwiseAnd %i64 %x %i64_c1
    %is_one = OpIEqual %bool %bit %i64_c1
    OpBranchConditional %is_one %inner_then %inner_else
    %inner_then = OpLabel
    %inner_here = OpGroupNonUniformIAdd %i64 %i32_c3 Reduce %i64_c1
    OpReturnValue %inner_here
    %inner_else = OpLabel
    %inner_rest = OpGroupNonUniformIAdd %i64 %i32_c3 Reduce %i64_c2
    OpReturnValue %inner_rest
    OpFunctionEnd"""


def test_a_call_in_a_loop() -> None:
    """for (; i < 2; i++) if (i != gx / 2) n = 10 n + f(gx), and f returns at different places."""
    assert execute(f"""
        OpBranch %head
        %head = OpLabel
        %at = OpLoad %i64 %i
        %skip = OpIEqual %bool %at %pair
        OpBranchConditional %skip %next %work
        %work = OpLabel
        %before = OpLoad %i64 %n
        %ten = OpIMul %i64 %before %i64_c10
        %here = OpFunctionCall %i64 %together %gx
        %after = OpIAdd %i64 %ten %here
        OpStore %n %after
        OpBranch %next
        %next = OpLabel {more("i1", "%i64_c1")}
        %on = OpSLessThan %bool %i1 %i64_c2
        OpBranchConditional %on %head %end
        %end = OpLabel {END}""", functions=FUNCTION) == [6, 3, 6, 3, 66, 33, 66, 33]
