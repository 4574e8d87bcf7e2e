"""Control flow: divergence, reconvergence, calls, and the group operations that must not diverge."""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import (
    DivergentGroupOperation,
    Error,
    SimulationError,
    UndefinedBehavior,
    ValidationError,
)
from coopmat.spirv.analysis.control_flow import RETURNED, post_dominators
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.targets.short_kernels import module, run

LINE = '%file = OpString "kernel.cl"'
IDS = np.arange(64)


def execute(body: str, count: int = 64, local: int = 16, **more: object) -> np.ndarray:
    """Run a kernel that stores one i64 per work-item: ``out``."""
    out = np.full(count, -1, np.int64)
    run(module("g_i64 out", body, **more), [out], count, local)
    return out


STORE = """
    %where = OpPtrAccessChain %g_i64 %out %gx
    OpStore %where %value"""


# --------------------------------------------------------------------------------------
# Post-dominators
# --------------------------------------------------------------------------------------


def reachable(graph: list[list[int]], start: int, without: int | None) -> set[int]:
    seen, waiting = set(), [start] if start != without else []
    while waiting:
        block = waiting.pop()
        if block not in seen:
            seen.add(block)
            waiting += [target for target in graph[block] if target != without]
    return seen


def test_post_dominators_of_random_graphs() -> None:
    """Against the definition: every path from the block to the end passes through its post-dominator."""
    rng = random.Random(5)
    for _ in range(400):
        size = rng.randint(1, 9)
        graph = [[rng.randrange(size) for _ in range(rng.randint(0, 3))] for _ in range(size)]
        ends = {block for block in range(size) if not graph[block]}
        found = post_dominators(graph)
        for block in range(size):
            if not all(reachable(graph, other, None) & ends for other in reachable(graph, block, None)):
                continue  # an endless region: where it would leave is not fixed
            dominators = [other for other in range(size) if other != block
                          and not reachable(graph, block, other) & ends - {other}
                          and block not in ends]
            # the immediate one is post-dominated by all the others
            nearest = [d for d in dominators
                       if all(o == d or not reachable(graph, d, o) & ends - {o} for o in dominators)]
            assert found[block] == (nearest[0] if nearest else RETURNED)


# --------------------------------------------------------------------------------------
# Divergence
# --------------------------------------------------------------------------------------


def test_nested_ifs() -> None:
    found = execute("""
        %v = OpVariable %p_i64 Function
        %low = OpBitwiseAnd %i64 %gx %i64_c1
        %second = OpBitwiseAnd %i64 %gx %i64_c2
        %odd = OpIEqual %bool %low %i64_c1
        %high = OpIEqual %bool %second %i64_c2
        OpStore %v %i64_c0
        OpSelectionMerge %end None
        OpBranchConditional %odd %then %else
        %then = OpLabel
        OpSelectionMerge %inner_end None
        OpBranchConditional %high %inner %inner_end
        %inner = OpLabel
        OpStore %v %i64_c30
        OpBranch %inner_end
        %inner_end = OpLabel
        %a = OpLoad %i64 %v
        %b = OpIAdd %i64 %a %i64_c1
        OpStore %v %b
        OpBranch %end
        %else = OpLabel
        OpStore %v %gx
        OpBranch %end
        %end = OpLabel
        %value = OpLoad %i64 %v""" + STORE)
    expected = [31 if i & 3 == 3 else 1 if i & 1 else i for i in range(64)]
    assert found.tolist() == expected


# Collatz steps: the trip count differs for each lane. With phi instructions, or with variables.
PHI_LOOP = """
    %start = OpIAdd %i64 %gx %i64_c1
    OpBranch %head
    %head = OpLabel
    %n = OpPhi %i64 %start %entry %next %body
    %count = OpPhi %i64 %i64_c0 %entry %more %body
    %done = OpIEqual %bool %n %i64_c1
    OpLoopMerge %end %body None
    OpBranchConditional %done %end %body
    %body = OpLabel
    %bit = OpBitwiseAnd %i64 %n %i64_c1
    %odd = OpIEqual %bool %bit %i64_c1
    %triple = OpIMul %i64 %n %i64_c3
    %up = OpIAdd %i64 %triple %i64_c1
    %half = OpShiftRightLogical %i64 %n %i64_c1
    %next = OpSelect %i64 %odd %up %half
    %more = OpIAdd %i64 %count %i64_c1
    OpBranch %head
    %end = OpLabel
    %value = OpCopyObject %i64 %count"""


def collatz(n: int) -> int:
    count = 0
    while n != 1:
        n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
    return count


def test_loop_with_a_trip_count_per_lane() -> None:
    assert execute(PHI_LOOP + STORE).tolist() == [collatz(i + 1) for i in range(64)]


def test_values_of_lanes_that_left_a_loop_are_kept() -> None:
    """%n and %next of a lane that has left keep their last value while others go on."""
    body = PHI_LOOP.replace("%done = OpIEqual %bool %n %i64_c1", "%done = OpSGreaterThanEqual %bool %count %gx")
    found = execute(body.replace("%value = OpCopyObject %i64 %count", "%value = OpIAdd %i64 %n %count") + STORE)
    expected = []
    for i in range(64):
        n = i + 1
        for _ in range(i):
            n = 3 * n + 1 if n % 2 else n // 2
        expected.append(n + i)
    assert found.tolist() == expected


def test_phis_are_carried_out_at_once() -> None:
    """Two phis that exchange their values, for a number of rounds that differs between lanes."""
    found = execute("""
        OpBranch %head
        %head = OpLabel
        %a = OpPhi %i64 %i64_c1 %entry %b %body
        %b = OpPhi %i64 %i64_c2 %entry %a %body
        %i = OpPhi %i64 %i64_c0 %entry %i1 %body
        %done = OpSGreaterThanEqual %bool %i %gx
        OpBranchConditional %done %end %body
        %body = OpLabel
        %i1 = OpIAdd %i64 %i %i64_c1
        OpBranch %head
        %end = OpLabel
        %value = OpCopyObject %i64 %a""" + STORE)
    assert found.tolist() == [1 + i % 2 for i in range(64)]


def test_break_and_continue() -> None:
    """Sum of the odd numbers below the lane's id, at most up to 20; even ones are skipped."""
    found = execute("""
        %i = OpVariable %p_i64 Function %i64_c0
        %sum = OpVariable %p_i64 Function %i64_c0
        OpBranch %head
        %head = OpLabel
        OpLoopMerge %end %next None
        OpBranch %test
        %test = OpLabel
        %n = OpLoad %i64 %i
        %more = OpSLessThan %bool %n %gx
        OpBranchConditional %more %body %end
        %body = OpLabel
        %big = OpSGreaterThan %bool %n %i64_c20
        OpSelectionMerge %go None
        OpBranchConditional %big %break %go
        %break = OpLabel
        OpBranch %end
        %go = OpLabel
        %bit = OpBitwiseAnd %i64 %n %i64_c1
        %even = OpIEqual %bool %bit %i64_c0
        OpSelectionMerge %add None
        OpBranchConditional %even %continue %add
        %continue = OpLabel
        OpBranch %next
        %add = OpLabel
        %s = OpLoad %i64 %sum
        %s1 = OpIAdd %i64 %s %n
        OpStore %sum %s1
        OpBranch %next
        %next = OpLabel
        %m = OpLoad %i64 %i
        %m1 = OpIAdd %i64 %m %i64_c1
        OpStore %i %m1
        OpBranch %head
        %end = OpLabel
        %value = OpLoad %i64 %sum""" + STORE)
    assert found.tolist() == [sum(n for n in range(min(i, 21)) if n % 2) for i in range(64)]


def test_switch_with_fall_through_and_default() -> None:
    found = execute("""
        %v = OpVariable %p_i64 Function %i64_c0
        %k = OpBitwiseAnd %i64 %gx %i64_c7
        %s = OpISub %i64 %k %i64_c2
        OpSelectionMerge %end None
        OpSwitch %s %other -2 %first 0 %second 1 %second 3 %third
        %first = OpLabel
        OpStore %v %i64_c100
        OpBranch %second
        %second = OpLabel
        %a = OpLoad %i64 %v
        %b = OpIAdd %i64 %a %i64_c5
        OpStore %v %b
        OpBranch %end
        %third = OpLabel
        OpStore %v %gx
        OpBranch %end
        %other = OpLabel
        OpStore %v %i64_cm7
        OpBranch %end
        %end = OpLabel
        %value = OpLoad %i64 %v""" + STORE)
    table = {0: 105, 2: 5, 3: 5}
    assert found.tolist() == [i if i % 8 == 5 else table.get(i % 8, -7) for i in range(64)]


def test_switch_on_a_value_that_all_lanes_share() -> None:
    for n, expected in ((3, 10), (4, 20), (5, 30)):
        out = np.zeros(16, np.int64)
        run(module("g_i64 out, i32 n", """
            OpSwitch %n %other 3 %three 4 %four
            %three = OpLabel
            OpBranch %end
            %four = OpLabel
            OpBranch %end
            %other = OpLabel
            OpBranch %end
            %end = OpLabel
            %value = OpPhi %i64 %i64_c10 %three %i64_c20 %four %i64_c30 %other""" + STORE), [out, n])
        assert (out == expected).all()


def test_early_return_in_some_lanes() -> None:
    found = execute("""
        %early = OpSLessThan %bool %gx %i64_c21
        OpSelectionMerge %rest None
        OpBranchConditional %early %leave %rest
        %leave = OpLabel
        OpReturn
        %rest = OpLabel
        %value = OpIMul %i64 %gx %i64_c2""" + STORE)
    assert found.tolist() == [-1 if i < 21 else 2 * i for i in range(64)]


def test_return_from_within_a_loop() -> None:
    found = execute("""
        %where = OpPtrAccessChain %g_i64 %out %gx
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %i64 %i64_c0 %entry %i1 %next
        OpLoopMerge %never %next None
        OpBranch %body
        %body = OpLabel
        %square = OpIMul %i64 %i %i
        %found = OpSGreaterThan %bool %square %gx
        OpSelectionMerge %next None
        OpBranchConditional %found %leave %next
        %leave = OpLabel
        OpStore %where %i
        OpReturn
        %next = OpLabel
        %i1 = OpIAdd %i64 %i %i64_c1
        OpBranch %head
        %never = OpLabel
        OpUnreachable""")
    assert found.tolist() == [int(i ** 0.5) + 1 for i in range(64)]


def test_irreducible_control_flow() -> None:
    """A cycle that is entered at two places."""
    found = execute("""
        %bit = OpBitwiseAnd %i64 %gx %i64_c1
        %odd = OpIEqual %bool %bit %i64_c1
        OpBranchConditional %odd %left %right
        %left = OpLabel
        %x = OpPhi %i64 %gx %entry %y1 %right
        %x1 = OpIAdd %i64 %x %i64_c3
        %far = OpSGreaterThan %bool %x1 %i64_c70
        OpBranchConditional %far %end %right
        %right = OpLabel
        %y = OpPhi %i64 %gx %entry %x1 %left
        %y1 = OpIMul %i64 %y %i64_c2
        %far2 = OpSGreaterThan %bool %y1 %i64_c90
        OpBranchConditional %far2 %end %left
        %end = OpLabel
        %value = OpPhi %i64 %x1 %left %y1 %right""" + STORE)

    def follow(i: int) -> int:
        value, left = i, i % 2 == 1
        while True:
            value = value + 3 if left else value * 2
            if value > (70 if left else 90):
                return value
            left = not left

    assert found.tolist() == [follow(i) for i in range(64)]


def test_random_structured_programs() -> None:
    """Random trees of ifs and counted loops over the lane's id, against their direct execution."""
    rng = random.Random(3)
    for _ in range(25):
        program = random_statements(rng, 3)
        writer = Writer()
        writer.write(program)
        body = "\n".join(["%v = OpVariable %p_i64 Function", *writer.variables, "OpStore %v %gx", *writer.lines,
                          "%value = OpLoad %i64 %v"]) + STORE
        assert execute(body).tolist() == [interpret(program, i, i) for i in range(64)]


def random_statements(rng: random.Random, depth: int) -> list[tuple]:
    kinds = ["add", "add", "multiply"] + (["if", "loop"] if depth else [])
    statements = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(kinds)
        if kind in ("if", "loop"):
            inner = random_statements(rng, depth - 1)
            other = random_statements(rng, depth - 1) if kind == "if" else []
            statements.append((kind, rng.choice([1, 2, 3, 5]), inner, other))
        else:
            statements.append((kind, rng.randint(1, 5)))
    return statements


def interpret(statements: list[tuple], value: int, lane: int) -> int:
    """An if tests a bit of the value, a loop runs (lane & n) times."""
    for kind, number, *parts in statements:
        if kind == "add":
            value += number
        elif kind == "multiply":
            value = value * number % 1021
        elif kind == "if":
            value = interpret(parts[0] if value & number else parts[1], value, lane)
        else:
            for _ in range(lane & number):
                value = interpret(parts[0], value, lane)
    return value


class Writer:
    """Writes the random programs as SPIR-V."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.variables: list[str] = []
        self.numbers = itertools.count()

    def write(self, statements: list[tuple]) -> None:
        for kind, number, *parts in statements:
            n = next(self.numbers)
            self.lines.append(f"%t{n} = OpLoad %i64 %v")
            if kind == "add":
                self.lines += [f"%u{n} = OpIAdd %i64 %t{n} %i64_c{number}", f"OpStore %v %u{n}"]
            elif kind == "multiply":
                self.lines += [f"%u{n} = OpIMul %i64 %t{n} %i64_c{number}",
                               f"%w{n} = OpSRem %i64 %u{n} %i64_c1021", f"OpStore %v %w{n}"]
            elif kind == "if":
                self.lines += [f"%a{n} = OpBitwiseAnd %i64 %t{n} %i64_c{number}",
                               f"%c{n} = OpINotEqual %bool %a{n} %i64_c0",
                               f"OpBranchConditional %c{n} %then{n} %else{n}", f"%then{n} = OpLabel"]
                self.write(parts[0])
                self.lines += [f"OpBranch %end{n}", f"%else{n} = OpLabel"]
                self.write(parts[1])
                self.lines += [f"OpBranch %end{n}", f"%end{n} = OpLabel"]
            else:
                self.variables.append(f"%count{n} = OpVariable %p_i64 Function")
                self.lines += [f"OpStore %count{n} %i64_c0", f"%m{n} = OpBitwiseAnd %i64 %gx %i64_c{number}",
                               f"OpBranch %head{n}", f"%head{n} = OpLabel", f"%j{n} = OpLoad %i64 %count{n}",
                               f"%c{n} = OpSLessThan %bool %j{n} %m{n}",
                               f"OpBranchConditional %c{n} %body{n} %end{n}", f"%body{n} = OpLabel"]
                self.write(parts[0])
                self.lines += [f"%k{n} = OpIAdd %i64 %j{n} %i64_c1", f"OpStore %count{n} %k{n}",
                               f"OpBranch %head{n}", f"%end{n} = OpLabel"]


# --------------------------------------------------------------------------------------
# Calls
# --------------------------------------------------------------------------------------

MAGNITUDE = """
    %magnitude_type = OpTypeFunction %i64 %i64
    %magnitude = OpFunction %i64 None %magnitude_type
    %m = OpFunctionParameter %i64
    %m_entry = OpLabel
    %negative = OpSLessThan %bool %m %i64_c0
    OpSelectionMerge %m_rest None
    OpBranchConditional %negative %m_then %m_rest
    %m_then = OpLabel
    %minus = OpSNegate %i64 %m
    OpReturnValue %minus
    %m_rest = OpLabel
    {}
    OpFunctionEnd"""


def test_a_function_returns_at_different_places() -> None:
    body = "%d = OpISub %i64 %gx %i64_c30\n%value = OpFunctionCall %i64 %magnitude %d" + STORE
    found = execute(body, functions=MAGNITUDE.format("OpReturnValue %m"))
    assert found.tolist() == [abs(i - 30) for i in range(64)]


def test_a_call_under_divergence_touches_only_the_callers_lanes() -> None:
    body = """
        %d = OpISub %i64 %gx %i64_c30
        %some = OpSGreaterThan %bool %gx %i64_c8
        OpSelectionMerge %end None
        OpBranchConditional %some %then %end
        %then = OpLabel
        %m1 = OpFunctionCall %i64 %magnitude %d
        OpBranch %end
        %end = OpLabel
        %value = OpPhi %i64 %gx %entry %m1 %then""" + STORE
    found = execute(body, functions=MAGNITUDE.format("OpReturnValue %m"))
    assert found.tolist() == [abs(i - 30) if i > 8 else i for i in range(64)]


def test_unreachable_code_that_is_reached() -> None:
    body = "OpLine %file 3 9\n%value = OpFunctionCall %i64 %magnitude %gx" + STORE
    with pytest.raises(UndefinedBehavior, match="must not be reached") as error:
        execute(body, functions=MAGNITUDE.format("OpLine %file 8 1\nOpUnreachable"), strings=LINE)
    assert (error.value.where.location, error.value.where.lane) == ("kernel.cl:8:1", 0)


def test_recursion_is_refused() -> None:
    recursive = MAGNITUDE.format("%again = OpFunctionCall %i64 %magnitude %m\nOpReturnValue %again")
    with pytest.raises(Error, match="recursion is not possible"):
        execute("%value = OpFunctionCall %i64 %magnitude %gx" + STORE, functions=recursive)


def test_a_function_without_a_body_is_named() -> None:
    declaration = """
        %outside_type = OpTypeFunction %i64 %i64
        %outside = OpFunction %i64 None %outside_type
        %op = OpFunctionParameter %i64
        OpFunctionEnd"""
    with pytest.raises(Error, match=r"'%.*' is imported, and no module"):
        execute("%value = OpFunctionCall %i64 %outside %gx" + STORE, functions=declaration)


# --------------------------------------------------------------------------------------
# Endless loops
# --------------------------------------------------------------------------------------


def test_an_endless_loop_ends_at_the_step_limit() -> None:
    source = module("g_i64 out", """
        OpLine %file 4 1
        OpBranch %head
        %head = OpLabel
        OpLine %file 5 3
        %i = OpPhi %i64 %i64_c0 %entry %i1 %head
        %i1 = OpIAdd %i64 %i %i64_c1
        %on = OpSGreaterThan %bool %i1 %i64_cm1
        OpBranchConditional %on %head %end
        %end = OpLabel""", strings=LINE)
    with pytest.raises(SimulationError, match="1000 basic blocks without an end") as error:
        run(source, [np.zeros(1, np.int64)], options=SimulatorOptions(step_limit=1000))
    assert error.value.where.location == "kernel.cl:5:3"


ENDLESS = """int collatz(int n) {
    int steps = 0;
    for (; n > 1; ++steps)  // always ends
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}
kernel void k(global int *out) {
    int sum = 0, i = get_global_id(0);
    OUTER
        for (int j = 0; j < 9; ++j)
            sum += collatz(j + i);
        INNER
    }
    out[i] = sum;
}
"""


@pytest.mark.parametrize(("outer", "inner", "line"), [
    ("while (sum >= 0) {", "", 9), ("do {", "} while (sum >= 0); {", 9), ("{", "for (;;) sum ^= 1;", 12),
    ("for (int j = 0; j < 5; ++j) {", "while (i < 64) sum ^= 1;", 12),
    ("while (sum >= 0) {", "if (sum < 0) continue;", 9)])
def test_the_loop_that_does_not_end_is_named(outer: str, inner: str, line: int) -> None:
    """Not one in it that ends, in the kernel or in a function."""
    program = cm.build(ENDLESS.replace("OUTER", outer).replace("INNER", inner))
    device = cm.device("sim:generic", options=SimulatorOptions(step_limit=3000))
    with pytest.raises(SimulationError, match="an endless loop") as error:
        cm.Queue(device).enqueue(program.kernel("k"), 16, 16, np.zeros(16, np.int32)).wait()
    assert f":{line}:" in str(error.value.where.location)


@pytest.mark.parametrize(("body", "location"), [
    ("""OpLine %file 4 1
        OpBranch %head
        %head = OpLabel
        OpBranch %body
        %body = OpLabel
        OpLine %file 5 3
        %n = OpIAdd %i64 %gx %gx
        OpNoLine
        OpBranch %next
        %next = OpLabel
        OpBranch %head""", "kernel.cl:5:3"),
    ("""OpLine %file 4 1
        OpBranch %head
        %head = OpLabel
        OpBranch %next
        %next = OpLabel
        OpBranch %head""", "kernel.cl:4:1"),
    ("""OpBranch %head
        %head = OpLabel
        OpBranch %head""", "kernel.cl:9:1")])
@pytest.mark.parametrize("step_limit", [100, 101, 102])
def test_an_endless_loop_of_blocks_without_a_line(body: str, location: str, step_limit: int) -> None:
    """It is reported at a line of the loop, else at the last one before it, else at the function's."""
    source = module("", body, strings=LINE, functions="OpLine %file 9 1")
    with pytest.raises(SimulationError, match="endless loop") as error:
        run(source, [], options=SimulatorOptions(step_limit=step_limit))
    assert error.value.where.location == location


def test_malformed_control_flow_is_reported() -> None:
    with pytest.raises(ValidationError, match="no block of this function"):
        execute("OpBranch %out")
    with pytest.raises(ValidationError, match="no value for its predecessor"):
        execute("OpBranch %end\n%end = OpLabel\n%value = OpPhi %i64 %gx %end" + STORE)


# --------------------------------------------------------------------------------------
# Group operations
# --------------------------------------------------------------------------------------

BARRIER = """
    %inside = OpSLessThan %bool {} {}
    OpSelectionMerge %end None
    OpBranchConditional %inside %then %end
    %then = OpLabel
    OpLine %file 20 2
    {}
    OpBranch %end
    %end = OpLabel"""
WORK_GROUP = "OpControlBarrier %i32_c2 %i32_c2 %i32_c272"
SUB_GROUP = "OpControlBarrier %i32_c3 %i32_c3 %i32_c272"
FILL = "%m = OpCompositeConstruct %m_f32_4x4_2 %f32_c1"


def diverge(value: str, limit: str, operation: str, **more: object) -> None:
    source = module("", BARRIER.format(value, limit, operation), strings=LINE)
    run(source, [], 96, 48, **more)


def test_a_barrier_that_a_part_of_a_work_group_reaches() -> None:
    with pytest.raises(DivergentGroupOperation) as error:
        diverge("%gx", "%i64_c70", WORK_GROUP)
    where = error.value.where
    assert (where.location, where.work_group, where.sub_group, where.lane) == ("kernel.cl:20:2", (1, 0, 0), 1, 6)
    assert str(error.value).startswith("the barrier (OpControlBarrier) must be reached by the whole work-group")
    assert re.search(r"22 of its 48 work-items.*lane 6 of sub-group 1", str(error.value))
    diverge("%gx", "%i64_c48", WORK_GROUP)  # one work-group does, the other does not


def test_a_sub_group_barrier_needs_its_sub_group_only() -> None:
    diverge("%gx", "%i64_c64", SUB_GROUP)
    with pytest.raises(DivergentGroupOperation, match=r"whole sub-group; 6 of its 16 .* lane 6"):
        diverge("%gx", "%i64_c70", SUB_GROUP)


def test_a_matrix_operation_that_a_part_of_a_sub_group_reaches() -> None:
    diverge("%gx", "%i64_c32", FILL)
    with pytest.raises(DivergentGroupOperation, match=r"fill of a matrix \(OpCompositeConstruct\) must") as error:
        diverge("%lx", "%i64_c3", FILL)
    assert (error.value.where.sub_group, error.value.where.lane) == (0, 3)


def test_without_convergence_checks_the_lanes_that_are_there_go_on() -> None:
    for operation in (WORK_GROUP, SUB_GROUP, FILL):
        diverge("%gx", "%i64_c70", operation, options=SimulatorOptions(convergence=False))


def test_lanes_that_have_returned_are_missed_at_a_barrier() -> None:
    with pytest.raises(DivergentGroupOperation, match="first one missing is lane 0"):
        run(module("", """
            %early = OpSLessThan %bool %lx %i64_c2
            OpBranchConditional %early %leave %rest
            %leave = OpLabel
            OpReturn
            %rest = OpLabel
            OpControlBarrier %i32_c2 %i32_c2 %i32_c272"""), [])


def test_a_loop_with_a_barrier_and_a_trip_count_per_lane() -> None:
    loop = PHI_LOOP.replace("%bit = OpBitwiseAnd", WORK_GROUP + "\n%bit = OpBitwiseAnd")
    with pytest.raises(DivergentGroupOperation):
        execute(loop + STORE)


def test_a_partial_sub_group_passes_barriers_but_has_no_matrices() -> None:
    run(module("", WORK_GROUP + "\n" + SUB_GROUP), [], 20, 20)
    with pytest.raises(DivergentGroupOperation, match=r"needs full sub-groups of 16 work-items, .* only 4") as error:
        run(module("", FILL), [], 20, 20)
    assert (error.value.where.sub_group, error.value.where.lane) == (1, 4)


def test_lanes_that_meet_again_are_whole_again() -> None:
    """After the end of the divergent region a matrix operation is possible."""
    diverge("%lx", "%i64_c3", "OpNop\nOpBranch %end2\n%end2 = OpLabel")
    run(module("", BARRIER.format("%lx", "%i64_c3", "OpNop") + "\n" + FILL, strings=LINE), [])


def test_two_cases_of_a_switch_with_one_target_do_not_diverge() -> None:
    run(module("", f"""
        %bit = OpBitwiseAnd %i32 %lane %i32_c1
        OpSwitch %bit %other 0 %same 1 %same
        %same = OpLabel
        {FILL}
        OpBranch %end
        %other = OpLabel
        OpBranch %end
        %end = OpLabel"""), [])


def test_an_unsupported_barrier_scope() -> None:
    with pytest.raises(Error, match="execution scope Device"):
        run(module("", "OpControlBarrier %i32_c1 %i32_c2 %i32_c272"), [])
