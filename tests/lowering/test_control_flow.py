"""Statements in the simulator, against the same statements run by a small interpreter."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.lowering import to_spirv
from coopmat.spirv.grammar import Op
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import (
    assign,
    at,
    binary,
    block,
    convert,
    declare,
    function,
    gid,
    if_,
    kernel,
    load,
    num,
    pointer,
    run,
    statement,
    update,
    validate,
    variable,
    while_,
)

ITEMS = 16


@dataclass
class Kernel:
    """A kernel with ``x`` (the work-item's number), ``trace`` (its result) and ``i``, ``j`` to count with."""

    def __post_init__(self) -> None:
        self.x, self.trace, self.i, self.j = (variable(name, t.INT) for name in ("x", "trace", "i", "j"))

    def visit(self, number: int) -> n.Statement:
        """Note that control came by here."""
        return statement(assign(self.trace, binary("+", binary("*", load(self.trace), num(31)), num(number))))

    def program(self, *body: n.Statement | n.Expression) -> n.Program:
        out = variable("out", pointer(t.INT))
        return n.Program([kernel(
            "k", [out], declare(self.x, convert(gid(), t.INT)), declare(self.trace, num(0)),
            declare(self.i, num(0)), declare(self.j, num(0)), block(*body), assign(at(out), load(self.trace)))])

    def results(self, *body: n.Statement | n.Expression) -> list[int]:
        result = np.full(ITEMS, -1, np.int32)
        run(self.program(*body), "k", ITEMS, result)
        return result.tolist()


def traces(*visits: list[int]) -> list[int]:
    """What ``trace`` holds after these visits, one list for each work-item."""
    results = []
    for numbers in visits:
        total = 0
        for number in numbers:
            total = (total * 31 + number + (1 << 31)) % (1 << 32) - (1 << 31)
        results.append(total)
    return results


def below(v: n.Variable, limit: int) -> n.Expression:
    return binary("<", load(v), num(limit))


def test_if_and_else() -> None:
    k = Kernel()
    found = k.results(if_(below(k.x, 5), k.visit(1), k.visit(2)), if_(below(k.x, 3), k.visit(3)))
    assert found == traces(*([1 if x < 5 else 2] + [3] * (x < 3) for x in range(ITEMS)))


def test_for_with_break_and_continue() -> None:
    k = Kernel()
    body = block(if_(binary("==", load(k.i), load(k.x)), n.Continue(None)),
                 if_(binary(">", load(k.i), num(9)), n.Break(None)), k.visit(1))
    found = k.results(while_(below(k.i, 20), body, step=update(k.i, "+", num(1))))
    assert found == traces(*([1] * (10 - (x < 10)) for x in range(ITEMS)))


def test_do_while_runs_once_and_continue_goes_to_its_test() -> None:
    k = Kernel()
    body = block(update(k.i, "+", num(1)), k.visit(1), if_(below(k.i, 3), n.Continue(None)), k.visit(2))
    found = k.results(while_(binary("<", load(k.i), load(k.x)), body, tests_last=True))
    assert found == traces(*([v for i in range(1, max(1, x) + 1) for v in ([1] if i < 3 else [1, 2])]
                             for x in range(ITEMS)))


def test_a_loop_without_condition_runs_until_break() -> None:
    k = Kernel()
    body = block(k.visit(1), if_(binary(">=", update(k.i, "+", num(1)), load(k.x)), n.Break(None)))
    assert k.results(while_(None, body)) == traces(*([1] * max(1, x) for x in range(ITEMS)))


def test_switch_falls_through_and_default_may_stand_anywhere() -> None:
    k = Kernel()
    cases = [n.Case(None, value) for value in (0, 3, None, 5)]
    body = block(cases[0], k.visit(1), cases[1], k.visit(2), n.Break(None), cases[2], k.visit(3),
                 cases[3], k.visit(4))
    found = k.results(n.Switch(None, load(k.x), body, tuple(cases)))
    paths = {0: [1, 2], 3: [2], 5: [4]}
    assert found == traces(*(paths.get(x, [3, 4]) for x in range(ITEMS)))


@pytest.mark.parametrize("type_", [t.CHAR, t.USHORT, t.LONG, t.ULONG], ids=str)
def test_switch_on_every_width(type_: t.Scalar) -> None:
    k = Kernel()
    low = -3 if type_.is_signed else (1 << type_.bits) - 3
    cases = [n.Case(None, low), n.Case(None, 4)]
    selector = convert(binary("-", load(k.x), num(3)), type_)
    body = block(cases[0], k.visit(1), n.Break(None), cases[1], k.visit(2))
    found = k.results(n.Switch(None, selector, body, tuple(cases)))
    assert found == traces(*({0: [1], 7: [2]}.get(x, []) for x in range(ITEMS)))


def test_duffs_device() -> None:
    """Case labels inside a loop inside the switch."""
    k = Kernel()
    cases = [n.Case(None, value) for value in range(3)]
    loop = while_(binary(">", update(k.i, "-", num(1)), num(0)),
                  block(cases[0], k.visit(1), cases[2], k.visit(2), cases[1], k.visit(3)), tests_last=True)
    found = k.results(assign(k.i, num(2)), n.Switch(None, binary("%", load(k.x), num(3)), loop, tuple(cases)))
    first = {0: [1, 2, 3], 2: [2, 3], 1: [3]}
    assert found == traces(*(first[x % 3] + [1, 2, 3] for x in range(ITEMS)))


def test_goto_forwards_backwards_and_into_a_block(tmp_path: Path) -> None:
    k = Kernel()
    body = (if_(below(k.x, 4), n.Goto(None, "inside")), n.Label(None, "again"), k.visit(1),
            if_(below(k.x, 8), block(k.visit(2), n.Label(None, "inside"), k.visit(3))),
            if_(binary("<", update(k.i, "+", num(1)), num(2)), n.Goto(None, "again")), n.Goto(None, "end"),
            k.visit(99), n.Label(None, "end"))
    validate(to_spirv(k.program(*body)), tmp_path)
    paths = {True: [3, 1, 2, 3], False: [1, 2, 3, 1, 2, 3]}
    assert k.results(*body) == traces(*(paths[x < 4] if x < 8 else [1, 1] for x in range(ITEMS)))


def test_a_backward_goto_into_code_that_was_skipped(tmp_path: Path) -> None:
    """The first label is reached only from behind it: its block moves in the module."""
    k = Kernel()
    body = (n.Goto(None, "second"), n.Label(None, "first"), k.visit(1), n.Goto(None, "end"),
            n.Label(None, "second"), k.visit(2), n.Goto(None, "first"), n.Label(None, "end"))
    validate(to_spirv(k.program(*body)), tmp_path)
    assert k.results(*body) == traces(*([2, 1] for _ in range(ITEMS)))


def test_code_after_a_jump_is_left_out() -> None:
    k = Kernel()
    module = to_spirv(k.program(n.Return(None), k.visit(77)))
    assert 77 not in [module.constant_value(item.result_id) for item in module.instructions
                      if item.opcode == Op.Constant and item.result_id is not None]


def test_logical_operators_evaluate_the_right_side_only_if_needed() -> None:
    k = Kernel()

    def touch(number: int, answer: n.Expression) -> n.Expression:
        visit = k.visit(number)
        assert isinstance(visit, n.Evaluate)
        return n.Comma(t.BOOL, None, visit.expression, answer)

    both = n.Logical(t.BOOL, None, True, touch(1, below(k.x, 8)), touch(2, below(k.x, 4)))
    either = n.Logical(t.BOOL, None, False, touch(3, below(k.x, 2)), touch(4, below(k.x, 6)))
    found = k.results(if_(both, k.visit(5)), if_(either, k.visit(6)))
    assert found == traces(*([1] + [2] * (x < 8) + [5] * (x < 4) + [3] + [4] * (x >= 2) + [6] * (x < 6)
                             for x in range(ITEMS)))


def test_conditional_evaluates_one_side() -> None:
    k = Kernel()
    chosen = n.Conditional(t.INT, None, below(k.x, 5), update(k.i, "+", num(10)), update(k.j, "+", num(20)))
    found = k.results(assign(k.trace, chosen), update(k.trace, "+", binary("*", load(k.i), num(100))),
                      update(k.trace, "+", binary("*", load(k.j), num(1000))))
    assert found == [1010 if x < 5 else 20020 for x in range(ITEMS)]


def test_division_is_not_moved_out_of_its_guard() -> None:
    k = Kernel()
    guarded = n.Logical(t.BOOL, None, True, binary("!=", load(k.x), num(0)),
                        binary("==", binary("%", num(12), load(k.x)), num(0)))
    quotient = n.Conditional(t.INT, None, binary("!=", load(k.x), num(0)),
                             binary("/", num(100), load(k.x)), num(-1))
    assert k.results(if_(guarded, k.visit(7))) == [7 if x and 12 % x == 0 else 0 for x in range(ITEMS)]
    assert k.results(assign(k.trace, quotient)) == [100 // x if x else -1 for x in range(ITEMS)]


def test_early_returns_and_missing_ones() -> None:
    x = variable("x", t.INT)
    helper = function("pick", t.INT, [x], if_(below(x, 4), n.Return(None, num(1))),
                      while_(None, block(if_(below(x, 8), n.Return(None, num(2))), update(x, "-", num(1)))))
    k = Kernel()
    program = k.program(assign(k.trace, n.Call(t.INT, None, helper, (load(k.x),))))
    program.functions.insert(0, helper)
    result = np.zeros(ITEMS, np.int32)
    run(program, "k", ITEMS, result)
    assert result.tolist() == [1 if item < 4 else 2 for item in range(ITEMS)]


@pytest.mark.parametrize(("unroll", "control"), [(None, (0,)), (0, (1,)), (1, (2,)), (4, (0x100, 4))])
def test_unroll_hints(unroll: int | None, control: tuple[int, ...]) -> None:
    k = Kernel()
    module = to_spirv(k.program(while_(below(k.i, 8), block(update(k.i, "+", num(1))), unroll=unroll)))
    merge, = (item for item in module.instructions if item.opcode == Op.LoopMerge)
    assert merge.words[2:] == control


def test_structured_code_names_its_merge_blocks_and_unstructured_code_does_not() -> None:
    def merges(*body: n.Statement) -> list[str]:
        module = to_spirv(Kernel().program(*body))
        return [item.name for item in module.instructions if item.opcode in (Op.SelectionMerge, Op.LoopMerge)]

    k = Kernel()
    choice = if_(num(True, t.BOOL), k.visit(1))
    assert merges(choice, while_(None, block(n.Break(None)))) == ["OpSelectionMerge", "OpLoopMerge"]
    assert merges(choice, n.Label(None, "here")) == []
    case = n.Case(None, 1)
    assert merges(n.Switch(None, num(1), while_(None, block(case, n.Break(None))), (case,))) == ["OpSelectionMerge"]


# -- Random programs -----------------------------------------------------------------------


class Leave(Exception):
    """A jump of the interpreter."""


class BreakJump(Leave):
    pass


class ContinueJump(Leave):
    pass


class ReturnJump(Leave):
    pass


@dataclass
class Step:
    """A statement of a random program: its kind, a number, and the statements inside."""

    kind: str
    number: int
    parts: list[list[Step]]


JUMPS = ("break", "continue", "return")


def steps(depth: int, in_loop: bool) -> st.SearchStrategy[list[Step]]:
    plain = st.builds(Step, st.just("visit"), st.integers(1, 9), st.just([]))
    kinds = [plain]
    if in_loop:
        kinds.append(st.builds(Step, st.sampled_from(JUMPS), st.integers(1, 9), st.just([])))
    if depth:
        inner, loop = steps(depth - 1, in_loop), steps(depth - 1, True)
        number = st.integers(1, 4)
        kinds += [st.builds(Step, st.just("if"), number, st.lists(inner, min_size=1, max_size=2)),
                  st.builds(Step, st.sampled_from(["for", "do"]), number, st.tuples(loop).map(list)),
                  st.builds(Step, st.just("switch"), number, st.lists(inner, min_size=1, max_size=3))]
    return st.lists(st.one_of(kinds), min_size=1, max_size=3)


class Interpreter:
    """Runs a random program for one work-item; ``lower`` builds the same as a tree."""

    def __init__(self, x: int) -> None:
        self.x, self.trace = x, 0

    def condition(self, number: int) -> bool:
        return (self.trace ^ (self.x * number)) & 3 < 2

    def run(self, program: list[Step]) -> None:
        for step in program:
            getattr(self, f"do_{step.kind}", self.jump)(step)

    def jump(self, step: Step) -> None:
        if self.condition(step.number):
            raise {"break": BreakJump, "continue": ContinueJump, "return": ReturnJump}[step.kind]

    def do_visit(self, step: Step) -> None:
        self.trace = (self.trace * 31 + step.number) & 0xFFFF

    def do_if(self, step: Step) -> None:
        if self.condition(step.number):
            self.run(step.parts[0])
        elif len(step.parts) > 1:
            self.run(step.parts[1])

    def do_for(self, step: Step) -> None:
        for _ in range(step.number):
            try:
                self.run(step.parts[0])
            except ContinueJump:
                continue
            except BreakJump:
                return

    do_do = do_for

    def do_switch(self, step: Step) -> None:
        start = (self.trace + self.x) % (len(step.parts) + 1)
        try:
            for part in step.parts[start:]:
                self.run(part)
        except BreakJump:
            return


def lower(program: list[Step], k: Kernel) -> n.Block:
    return block(*(lower_step(step, k) for step in program))


def condition(k: Kernel, number: int) -> n.Expression:
    mixed = binary("^", load(k.trace), binary("*", load(k.x), num(number)))
    return binary("<", binary("&", mixed, num(3)), num(2))


def lower_step(step: Step, k: Kernel) -> n.Statement:
    match step.kind:
        case "visit":
            value = binary("+", binary("*", load(k.trace), num(31)), num(step.number))
            return statement(assign(k.trace, binary("&", value, num(0xFFFF))))
        case "if":
            inner = [lower(part, k) for part in step.parts]
            return if_(condition(k, step.number), *inner)
        case "for" | "do":
            counter = variable("count", t.INT)
            last = step.kind == "do"
            more = binary("<", load(counter), num(step.number - last))
            if last:
                more = binary("<", update(counter, "+", num(1), returns_old=True), num(step.number - 1))
            return block(declare(counter, num(0)), while_(
                more, lower(step.parts[0], k), step=None if last else update(counter, "+", num(1)), tests_last=last))
        case "switch":
            cases = [n.Case(None, value) for value in range(len(step.parts))]
            selector = binary("%", binary("+", load(k.trace), load(k.x)), num(len(cases) + 1))
            parts = [lower(part, k) for part in step.parts]
            body = block(*(item for pair in zip(cases, parts, strict=True) for item in pair))
            return n.Switch(None, selector, body, tuple(cases))
    jumps: dict[str, n.Statement] = {"break": n.Break(None), "continue": n.Continue(None),
                                     "return": n.Goto(None, "out")}
    return if_(condition(k, step.number), jumps[step.kind])


@settings(derandomize=True, max_examples=60, deadline=None)
@given(steps(3, False))
def test_random_programs(program: list[Step]) -> None:
    k = Kernel()
    found = k.results(lower(program, k), *([n.Label(None, "out")] if "return" in str(program) else []))
    expected = []
    for x in range(ITEMS):
        interpreter = Interpreter(x)
        with suppress(ReturnJump):
            interpreter.run(program)
        expected.append(interpreter.trace)
    assert found == expected
