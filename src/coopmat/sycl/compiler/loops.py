"""Loops: ``while``, ``for`` over a range, and loops that are unrolled.

A ``for`` over ``range`` becomes C's for statement. It is unrolled if its bounds are known and its variable is
needed when the kernel is compiled, because it indexes a list; so is a loop over a list, ``zip`` or ``enumerate``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import UnionType

from coopmat.sycl.compiler import messages, vectors
from coopmat.sycl.compiler.context import Block, Compiler, Loop
from coopmat.sycl.compiler.numbers import expression, truth, type_of
from coopmat.sycl.compiler.operators import binary
from coopmat.sycl.compiler.scopes import NameFacts, Path, block_path, names_in
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.unrolling import is_unrolled
from coopmat.sycl.compiler.values import (
    Element,
    Erroneous,
    MatrixValue,
    NewMatrix,
    Range,
    Runtime,
    Sequence,
    Static,
    Value,
    is_number,
    shown_type,
)
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import common_type, promoted_type

MAX_COPIES = 4096


# ------------------------------------------------------------------ jumps


@dataclass(slots=True)
class DeviceLoop(Loop):
    """A loop that the kernel runs. ``broken`` is a variable that says whether ``break`` has left it, where that is
    needed."""

    broken: Element | None = None


@dataclass(slots=True)
class UnrolledLoop(Loop):
    """A loop that is compiled copy by copy. It stands at ``start`` of the block ``home``, where names stood for what
    ``before`` says. ``has_jump``: control may leave the copy at hand before its end. ``broken`` says whether control
    has left the whole loop. ``kept`` are variables for the targets."""

    home: Block
    start: int
    before: dict[str, Value]
    may_break: bool
    has_jump: bool = False
    broken: Element | None = None
    kept: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True)
class Branch(Loop):
    """Statements under a condition that the kernel tests; jumps leave ``loop``."""

    loop: Loop


def branch(f: Compiler) -> Loop:
    """What stands on the stack of loops for a branch whose condition is not known."""
    around = f.loops[-1] if f.loops else DeviceLoop()
    return Branch(around.loop if isinstance(around, Branch) else around)


def break_statement(f: Compiler, node: ast.Break) -> None:
    """``break``."""
    _jump(f, "break", node)


def continue_statement(f: Compiler, node: ast.Continue) -> None:
    """``continue``; a copy of an unrolled loop stands in a switch, which it leaves."""
    _jump(f, "continue", node)


def _jump(f: Compiler, word: str, node: ast.stmt) -> None:
    top, location = f.loops[-1], f.location(node)
    loop = top.loop if isinstance(top, Branch) else top
    if isinstance(loop, UnrolledLoop):
        if loop is top:
            loop.left_by = word
            return
        loop.has_jump = True
        if word == "break" and loop.broken is None:
            loop.broken = _flag(f, node, loop.home, loop.start)
    if word == "break" and isinstance(loop, UnrolledLoop | DeviceLoop) and loop.broken is not None:
        f.assign(loop.broken, n.Constant(t.BOOL, location, True), node)
    f.emit(n.Continue(location) if word == "continue" and isinstance(loop, DeviceLoop) else n.Break(location))
    f.assignments.leave(word)


def _flag(f: Compiler, node: ast.AST, block: Block, start: int) -> Element:
    """A bool variable that is false from a place in a block on."""
    location = f.location(node)
    variable = f.variable("", t.BOOL, node)
    block.statements.insert(start, n.Declare(location, variable, n.Constant(t.BOOL, location, False)))
    return Element(n.VariablePlace(t.BOOL, location, variable))


def _unless(f: Compiler, flag: Element, statement: n.Statement, node: ast.AST) -> n.If:
    location = f.location(node)
    test = n.Unary(t.BOOL, location, n.UnaryOperator.NOT, n.Load(t.BOOL, location, flag.place))
    return n.If(location, test, statement)


def _has_jump(statements: list[ast.stmt], kinds: type[ast.Break] | UnionType = ast.Break | ast.Continue) -> bool:
    """Whether a jump leaves the loop whose body this is."""
    for statement in statements:
        inside: list[ast.stmt] = []
        if isinstance(statement, ast.For | ast.While):
            inside = statement.orelse
        elif isinstance(statement, ast.If):
            inside = [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.Match):
            inside = [part for case in statement.cases for part in case.body]
        if isinstance(statement, kinds) or _has_jump(inside, kinds):
            return True
    return False


# ------------------------------------------------------------------ loops that the kernel runs


def while_statement(f: Compiler, node: ast.While) -> None:
    """``while``; statements that the condition takes are carried out in every step."""
    value, statements = f.nested(lambda: f.read(node.test))
    known = isinstance(value, Static)
    if isinstance(value, Static) and not f.known_truth(value, node.test):
        f.blocks[-1].statements += statements
        f.left_out.add(id(node.body))
        _else(f, node, None)
        return
    location = f.location(node)
    condition = None if known and not statements else truth(f, value, node.test)
    if condition is not None and statements:
        condition = n.StatementExpression(t.BOOL, location, statements, condition)
    with _device_loop(f, node, runs=known, ends=not known):
        f.emit(n.Loop(location, condition, f.block(node.body, node)))


@contextmanager
def _device_loop(f: Compiler, node: ast.For | ast.While, *, runs: bool, ends: bool = True) -> Iterator[None]:
    """Around a loop that the kernel runs: ``runs`` at least once, ``ends`` by its condition. Its else follows it."""
    loop = DeviceLoop()
    if node.orelse and ends and _has_jump(node.body, ast.Break):
        loop.broken = _flag(f, node, f.blocks[-1], len(f.blocks[-1].statements))
    f.loops.append(loop)
    try:
        with f.assignments.loop(runs=runs, ends=ends) as broken:
            yield
    finally:
        f.loops.pop()
    if ends:
        _else(f, node, loop.broken)
    else:
        f.left_out.add(id(node.orelse))
    f.assignments.join(broken)


def _else(f: Compiler, node: ast.For | ast.While, broken: Element | None) -> None:
    """The else of a loop, which is carried out where no ``break`` has left that."""
    if not node.orelse:
        return
    if broken is None:
        f.unconditional.add(id(node.orelse))
        f.emit(f.block(node.orelse, node))
        return
    f.loops.append(branch(f))
    try:
        f.emit(_unless(f, broken, f.block(node.orelse, node), node))
    finally:
        f.loops.pop()


# ------------------------------------------------------------------ for


def for_statement(f: Compiler, node: ast.For) -> None:
    """``for``: over a range, or unrolled."""
    iterated = f.read(node.iter)
    if isinstance(iterated, Range):
        _counted(f, node, iterated)
    elif isinstance(iterated, Static) and isinstance(iterated.value, range) and not is_unrolled(
            f, node, iterated.value):
        values = iterated.value
        _counted(f, node, Range(*map(Static, (values.start, values.stop, values.step))))
    else:
        _unrolled(f, node, known_items(f, iterated, node.iter))


def known_items(f: Compiler, iterated: Value, node: ast.expr) -> list[Value]:
    """The values that a loop over something known runs through."""
    if isinstance(iterated, Sequence):
        return list(iterated.items)
    if isinstance(iterated, Runtime) and vectors.vector_type(iterated) is not None:
        return vectors.items(f, iterated, node)
    if isinstance(iterated, Static) and isinstance(iterated.value, (range, tuple, list)):
        if len(iterated.value) > MAX_COPIES:
            raise f.fail(messages.LOOP_TOO_LONG, node, count=len(iterated.value), limit=MAX_COPIES)
        return [static_value(f, item, node) for item in iterated.value]
    if isinstance(iterated, Range):
        raise f.fail(messages.NOT_CONSTANT, node, what="the range", found="bounds that the kernel computes")
    raise f.fail(messages.NOT_ITERABLE, node, found=iterated)


# ------------------------------------------------------------------ unrolled loops


def _unrolled(f: Compiler, node: ast.For, items: list[Value]) -> None:
    """The body once for each item; names that only the body has are new in each copy."""
    path = block_path(f.blocks[-1].path, node.body)
    inner = {name for name, facts in f.scope.names.items() if facts.block[:len(path)] == path}
    loop = UnrolledLoop(f.blocks[-1], len(f.blocks[-1].statements), dict(f.names), _has_jump(node.body, ast.Break))
    left_out = f.left_out
    if not _has_jump(node.body):
        f.unconditional.add(id(node.body))
    with f.assignments.copies() as broken:
        for item in items:
            f.unit.count_copies(f, 1, node)
            for name in inner:
                f.names.pop(name, None)
            f.left_out = set(left_out)
            f.emit(_copy(f, node, loop, item, path))
            f.assignments.end_copy()
            if loop.left_by == "break":
                break
    f.left_out = left_out
    if not loop.kept:
        _keep_targets(f, node, loop)
    f.names.update(loop.kept)
    for name in names_in(node.target):
        if f.scope.is_loop_variable(name):
            f.names.pop(name, None)
    if loop.broken is not None:
        f.assignments.forget(name for name, value in f.names.items()
                             if value is not loop.before.get(name) and not isinstance(value, Element))
    if loop.left_by != "break":
        _else(f, node, loop.broken)
    else:
        f.left_out.add(id(node.orelse))
    f.assignments.join(broken)


def _copy(f: Compiler, node: ast.For, loop: UnrolledLoop, item: Value, path: Path) -> n.Statement:
    """One copy of an unrolled loop's body: in a switch, if control may leave it before its end, and under a condition,
    if control may have left the loop before it."""
    location, was_broken = f.location(node), loop.broken
    loop.left_by, loop.has_jump = None, False

    def bind() -> None:
        bind_target(f, node.target, item)
        if loop.may_break:
            _keep_targets(f, node, loop)

    f.loops.append(loop)
    try:
        body: n.Statement = f.block(node.body, node, path, before=bind)
    finally:
        f.loops.pop()
    if loop.has_jump:
        case = n.Case(location, None)
        body = n.Switch(location, n.Constant(t.INT, location, 0), n.Block(location, (case, body)), (case,))
    return body if was_broken is None else _unless(f, was_broken, body, node)


def _keep_targets(f: Compiler, node: ast.For, loop: UnrolledLoop) -> None:
    """The numbers in an unrolled loop's variables, as far as something else uses these, are kept where the kernel can
    find them: the loop may stand under a condition or in another loop, and ``break`` may leave it."""
    for name in dict.fromkeys(names_in(node.target)):
        value, known = f.names.get(name), loop.kept.get(name, loop.before.get(name))
        if f.scope.is_loop_variable(name) or value is known or not is_number(value):
            continue
        assert value is not None
        found = expression(f, value, node.target)
        if not isinstance(known, Element):
            known = f.declare(name, found.type, node.target, found)
        elif found.type.is_float and not known.type.is_float:
            raise f.fail(messages.TYPE_CHANGES, node.target, name=name, type=shown_type(known.type), found=value,
                         hint="")
        else:
            f.assign(known, found, node.target)
        loop.kept[name] = known


def bind_target(f: Compiler, target: ast.expr, item: Value) -> None:
    """Bind the target of an unrolled loop or of a comprehension; matrices are bound by reference."""
    if isinstance(target, ast.Tuple | ast.List):
        parts = item.items if isinstance(item, Sequence) else ()
        if len(parts) != len(target.elts):
            raise f.fail(messages.UNPACK, target, expected=len(target.elts), found=len(parts) or item)
        for inner, part in zip(target.elts, parts, strict=True):
            bind_target(f, inner, part)
    elif isinstance(target, ast.Name):
        value = f.held(item, target)
        if is_number(value) and f.scope.is_changed_in_loop(target.id, f.blocks[-1].path):
            value = f.materialize(value, target.id, target, variables=True)
        elif isinstance(value, MatrixValue | NewMatrix):
            value = f.declare_matrix(value, target.id, target)
        f.bind(target.id, value)
    else:
        raise f.fail(messages.UNSUPPORTED_EXPRESSION, target, what="this loop target", advice="use a name")


# ------------------------------------------------------------------ counted loops


def _counted(f: Compiler, node: ast.For, bounds: Range) -> None:
    """``for (T i = start; i < stop; i += step)``."""
    if not isinstance(node.target, ast.Name):
        raise f.fail(messages.UNSUPPORTED_EXPRESSION, node.target, what="this loop target", advice="use a name")
    type_ = _counter_type(f, node, bounds)
    start = expression(f, bounds.start, node.iter, type_)
    stop, step = (_kept(f, part, node, type_) for part in (bounds.stop, bounds.step))
    location = f.location(node)
    counter, declared = _counter(f, node, type_, start)
    place = n.VariablePlace(type_, location, counter)
    condition = _condition(f, node, n.Load(type_, location, place), stop, step)
    current = n.CurrentValue(type_, location)
    advance = n.Update(type_, location, place, current,
                       n.Binary(type_, location, n.BinaryOperator.ADD, current, step))
    with _device_loop(f, node, runs=_certainly_runs(bounds)):
        body = _counted_body(f, node, counter, type_)
        f.emit(n.Block(location, (declared, n.Loop(location, condition, body, advance))))


def _certainly_runs(bounds: Range) -> bool:
    """Whether a range is known not to be empty."""
    values = [part.value for part in (bounds.start, bounds.stop, bounds.step) if isinstance(part, Static)]
    return len(values) == 3 and bool(range(*map(int, values)))


def _counter_type(f: Compiler, node: ast.For, bounds: Range) -> t.Scalar:
    """The common type of the bounds and the step, which the loop variable has."""
    parts = (bounds.start, bounds.stop, bounds.step)
    types = [type_of(f, part, node.iter) for part in parts]
    for part, type_ in zip(parts, types, strict=True):
        if not type_.is_integer:
            raise f.fail(messages.NOT_AN_INTEGER, node.iter, found=part)
    result = promoted_type(types[0])
    for type_ in types[1:]:
        result = common_type(result, type_)
    assert isinstance(result, t.Scalar)
    for part in parts:
        if isinstance(part, Static) and part.value < 0 and not result.is_signed:
            raise f.fail(messages.UNSIGNED_RANGE, node.iter, type=shown_type(result), value=part.value)
    if isinstance(bounds.step, Static) and bounds.step.value == 0:
        raise f.fail(messages.STEP_ZERO, node.iter)
    return result


def _kept(f: Compiler, part: Value, node: ast.For, type_: t.Scalar) -> n.Expression:
    """A bound as Python has it: computed once, before the loop. What cannot change is not stored."""
    found = expression(f, part, node.iter, type_)
    if _is_stable(f, part, node):
        return found
    return f.temporary(found, node.iter).expression


def _is_stable(f: Compiler, part: Value, node: ast.For) -> bool:
    """Whether evaluating a bound again gives the same: a constant, or a variable that the loop does not assign."""
    if isinstance(part, Static):
        return True
    if not isinstance(part, Runtime) or not isinstance(part.expression, n.Load):
        return False
    place = part.expression.place
    if not isinstance(place, n.VariablePlace):
        return False
    stored = {name.id for statement in (node.target, *node.body) for name in ast.walk(statement)
              if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    return place.variable.name not in stored and place.variable.name != ""


def _counter(f: Compiler, node: ast.For, type_: t.Scalar, start: n.Expression) -> tuple[n.Variable, n.Declare]:
    assert isinstance(node.target, ast.Name)
    name = node.target.id if _is_own(f, node) else ""
    variable = f.variable(name, type_, node.target)
    return variable, n.Declare(f.location(node), variable, start)


def _is_own(f: Compiler, node: ast.For) -> bool:
    """Whether the loop variable occurs in this loop alone, which does not assign it; or in such loops."""
    assert isinstance(node.target, ast.Name)
    if f.scope.is_loop_variable(node.target.id):
        return True
    path = block_path(f.blocks[-1].path, node.body)
    facts: NameFacts = f.scope.names[node.target.id]
    return len(facts.stores) == 1 and facts.block[:len(path)] == path


def _counted_body(f: Compiler, node: ast.For, counter: n.Variable, type_: t.Scalar) -> n.Block:
    """The body. A variable that is used elsewhere, too, gets the counter's value in each step, as in Python."""
    assert isinstance(node.target, ast.Name)
    name, location = node.target.id, f.location(node.target)
    place = n.VariablePlace(type_, location, counter)
    if _is_own(f, node):
        f.bind(name, Element(place))
        body = f.block(node.body, node)
        del f.names[name]
        return body
    known = f.names.get(name)
    if known is None or isinstance(known, Erroneous):
        known = f.names[name] = f.declare(name, type_, node.target, None)
    if not isinstance(known, Element):
        raise f.fail(messages.REBOUND, node.target, name=name, before=known, after="a loop variable")
    value = expression(f, Runtime(n.Load(type_, location, place)), node.target, known.type)
    first = n.Evaluate(location, n.Assign(known.type, location, known.place, value))
    f.assignments.assign(name)
    body = f.block(node.body, node)
    return n.Block(location, (first, *body.statements))


def _condition(f: Compiler, node: ast.For, counter: n.Expression, stop: n.Expression,
               step: n.Expression) -> n.Expression:
    """Whether there is another step; the sign of a step that is not known, if it has one, is looked at."""
    location = f.location(node)
    left, right = Runtime(counter), Runtime(stop)
    if isinstance(step, n.Constant):
        return expression(f, binary(f, "<" if step.value > 0 else ">", left, right, node), node)
    assert isinstance(step.type, t.Scalar)
    zero = n.Constant(step.type, location, 0)
    tests = []
    for symbol, opposite in (("<", ">"), (">", "<"))[:1 + step.type.is_signed]:
        direction = expression(f, binary(f, opposite, Runtime(step), Runtime(zero), node), node)
        tests.append(n.Logical(t.BOOL, location, True, direction,
                               expression(f, binary(f, symbol, left, right, node), node)))
    return tests[0] if len(tests) == 1 else n.Logical(t.BOOL, location, False, *tests)
