"""Loops: ``while``, ``for`` over a range, and loops that are unrolled.

A ``for`` over ``range`` becomes C's for statement. It is unrolled if its bounds are known and its variable is
needed when the kernel is compiled, because it indexes a list; so is a loop over a list, ``zip`` or ``enumerate``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.function import FunctionCompiler, Loop
from coopmat.sycl.compiler.operators import binary, expression, truth, type_of
from coopmat.sycl.compiler.scopes import NameFacts, block_path, names_in
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.unrolling import needs_unrolling
from coopmat.sycl.compiler.values import Element, Erroneous, Range, Runtime, Sequence, Static, Value, shown_type
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import common_type, promoted_type

MAX_COPIES = 4096


# ------------------------------------------------------------------ jumps


def branch(f: FunctionCompiler) -> Loop:
    """Stands on the stack of loops for a branch whose condition is not known: no jump can leave an unrolled loop
    from there."""
    return Loop(is_unrolled=f.loops[-1].is_unrolled if f.loops else False, left_by=None)


def break_statement(f: FunctionCompiler, node: ast.Break) -> None:
    """``break``."""
    _jump(f, "break", n.Break(f.location(node)), node)


def continue_statement(f: FunctionCompiler, node: ast.Continue) -> None:
    """``continue``."""
    _jump(f, "continue", n.Continue(f.location(node)), node)


def _jump(f: FunctionCompiler, word: str, statement: n.Statement, node: ast.stmt) -> None:
    loop = f.loops[-1]
    if not loop.is_unrolled:
        f.emit(statement)
        f.assignments.leave(word)
        return
    if not isinstance(loop, UnrolledLoop):
        raise f.fail(messages.UNROLLED_JUMP, node, word=word)
    loop.left_by = word


@dataclass(slots=True)
class UnrolledLoop(Loop):
    """A loop that is compiled copy by copy; ``left_by`` says how the copy at hand was left."""


# ------------------------------------------------------------------ while


def while_statement(f: FunctionCompiler, node: ast.While) -> None:
    """``while``; statements that the condition takes are carried out in every step."""
    _refuse_else(f, node)
    value, statements = f.nested(node.test)
    if isinstance(value, Static) and not f.known_truth(value, node.test):
        return
    location = f.location(node)
    condition = None if isinstance(value, Static) else truth(f, value, node.test)
    if condition is not None and statements:
        condition = n.StatementExpression(t.BOOL, location, statements, condition)
    with f.assignments.loop(runs=condition is None, ends=condition is not None):
        body = _body(f, node)
    f.emit(n.Loop(location, condition, body))


def _refuse_else(f: FunctionCompiler, node: ast.For | ast.While) -> None:
    if node.orelse:
        raise f.fail(messages.UNSUPPORTED_STATEMENT, node.orelse[0], what="else after a loop",
                     advice="set a variable before break and test it after the loop")


def _body(f: FunctionCompiler, node: ast.For | ast.While) -> n.Block:
    f.loops.append(Loop(is_unrolled=False))
    try:
        return f.block(node.body, node)
    finally:
        f.loops.pop()


# ------------------------------------------------------------------ for


def for_statement(f: FunctionCompiler, node: ast.For) -> None:
    """``for``: over a range, or unrolled."""
    _refuse_else(f, node)
    iterated = f.read(node.iter)
    if isinstance(iterated, Range):
        _counted(f, node, iterated)
    elif isinstance(iterated, Static) and isinstance(iterated.value, range) and not needs_unrolling(f, node):
        values = iterated.value
        _counted(f, node, Range(*map(Static, (values.start, values.stop, values.step))))
    else:
        _unrolled(f, node, known_items(f, iterated, node.iter))


def known_items(f: FunctionCompiler, iterated: Value, node: ast.expr) -> list[Value]:
    """The values that a loop over something known runs through."""
    if isinstance(iterated, Sequence):
        return list(iterated.items)
    if isinstance(iterated, Static) and isinstance(iterated.value, (range, tuple, list)):
        if len(iterated.value) > MAX_COPIES:
            raise f.fail(messages.LOOP_TOO_LONG, node, count=len(iterated.value), limit=MAX_COPIES)
        return [static_value(f, item, node) for item in iterated.value]
    if isinstance(iterated, Range):
        raise f.fail(messages.NOT_CONSTANT, node, what="the range", found="bounds that the kernel computes")
    raise f.fail(messages.NOT_ITERABLE, node, found=iterated)


# ------------------------------------------------------------------ unrolled loops


def _unrolled(f: FunctionCompiler, node: ast.For, items: list[Value]) -> None:
    """The body once for each item; names that only the body has are new in each copy."""
    path = block_path(f.blocks[-1].path, node.body)
    inner = {name for name, facts in f.scope.names.items() if facts.block[:len(path)] == path}
    loop, before = UnrolledLoop(is_unrolled=True), dict(f.names)
    for item in items:
        f.unit.count_copies(f, 1, node)
        for name in inner:
            f.names.pop(name, None)
        loop.left_by = None
        f.loops.append(loop)
        try:
            bind_target(f, node.target, item)
            f.emit(f.block(node.body, node, path))
        finally:
            f.loops.pop()
        if loop.left_by == "break":
            break
    for name in set(names_in(node.target)):
        _leave(f, name, before.get(name), node)


def _leave(f: FunctionCompiler, name: str, before: Value | None, node: ast.For) -> None:
    """After an unrolled loop, a number in its variable is one that the kernel computes, because the loop may stand
    under a condition or in another loop; where nothing else uses the variable, it is gone."""
    last = f.names.get(name)
    if f.scope.is_loop_variable(name):
        f.names.pop(name, None)
    elif last is not before and (isinstance(last, Runtime) or (isinstance(last, Static) and last.is_number)):
        value = expression(f, last, node)
        if isinstance(before, Element):
            f.names[name] = before
            f.assign(before, value, node)
        else:
            f.names[name] = f.declare(name, value.type, node, value)


def bind_target(f: FunctionCompiler, target: ast.expr, item: Value) -> None:
    """Bind the target of an unrolled loop or of a comprehension; matrices are bound by reference."""
    if isinstance(target, ast.Tuple | ast.List):
        parts = item.items if isinstance(item, Sequence) else ()
        if len(parts) != len(target.elts):
            raise f.fail(messages.UNPACK, target, expected=len(target.elts), found=len(parts) or item)
        for inner, part in zip(target.elts, parts, strict=True):
            bind_target(f, inner, part)
    elif isinstance(target, ast.Name):
        f.names[target.id] = f.loaded(item, target) if isinstance(item, Element) else item
    else:
        raise f.fail(messages.UNSUPPORTED_EXPRESSION, target, what="this loop target", advice="use a name")


# ------------------------------------------------------------------ counted loops


def _counted(f: FunctionCompiler, node: ast.For, bounds: Range) -> None:
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
    f.loops.append(Loop(is_unrolled=False))
    try:
        with f.assignments.loop(runs=_certainly_runs(bounds)):
            body = _counted_body(f, node, counter, type_)
    finally:
        f.loops.pop()
    current = n.CurrentValue(type_, location)
    advance = n.Update(type_, location, place, current,
                       n.Binary(type_, location, n.BinaryOperator.ADD, current, step))
    f.emit(n.Block(location, (declared, n.Loop(location, condition, body, advance))))


def _certainly_runs(bounds: Range) -> bool:
    """Whether a range is known not to be empty."""
    values = [part.value for part in (bounds.start, bounds.stop, bounds.step) if isinstance(part, Static)]
    return len(values) == 3 and bool(range(*map(int, values)))


def _counter_type(f: FunctionCompiler, node: ast.For, bounds: Range) -> t.Scalar:
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


def _kept(f: FunctionCompiler, part: Value, node: ast.For, type_: t.Scalar) -> n.Expression:
    """A bound as Python has it: computed once, before the loop. What cannot change is not stored."""
    found = expression(f, part, node.iter, type_)
    if _is_stable(f, part, node):
        return found
    return f.temporary(found, node.iter).expression


def _is_stable(f: FunctionCompiler, part: Value, node: ast.For) -> bool:
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


def _counter(f: FunctionCompiler, node: ast.For, type_: t.Scalar, start: n.Expression) -> tuple[n.Variable, n.Declare]:
    assert isinstance(node.target, ast.Name)
    name = node.target.id if _is_own(f, node) else ""
    variable = f.variable(name, type_, node.target)
    return variable, n.Declare(f.location(node), variable, start)


def _is_own(f: FunctionCompiler, node: ast.For) -> bool:
    """Whether the loop variable occurs in this loop alone, which does not assign it; or in such loops."""
    assert isinstance(node.target, ast.Name)
    if f.scope.is_loop_variable(node.target.id):
        return True
    path = block_path(f.blocks[-1].path, node.body)
    facts: NameFacts = f.scope.names[node.target.id]
    return facts.stores == 1 and facts.block[:len(path)] == path


def _counted_body(f: FunctionCompiler, node: ast.For, counter: n.Variable, type_: t.Scalar) -> n.Block:
    """The body. A variable that is used elsewhere, too, gets the counter's value in each step, as in Python."""
    assert isinstance(node.target, ast.Name)
    name, location = node.target.id, f.location(node.target)
    place = n.VariablePlace(type_, location, counter)
    if _is_own(f, node):
        f.names[name] = Element(place)
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


def _condition(f: FunctionCompiler, node: ast.For, counter: n.Expression, stop: n.Expression,
               step: n.Expression) -> n.Expression:
    """Whether there is another step; the sign of a step that is not known is looked at."""
    location = f.location(node)
    left, right = Runtime(counter), Runtime(stop)
    if isinstance(step, n.Constant):
        return expression(f, binary(f, "<" if step.value > 0 else ">", left, right, node), node)
    zero = n.Constant(step.type, location, 0)
    tests = []
    for symbol, opposite in (("<", ">"), (">", "<")):
        direction = expression(f, binary(f, opposite, Runtime(step), Runtime(zero), node), node)
        tests.append(n.Logical(t.BOOL, location, True, direction,
                               expression(f, binary(f, symbol, left, right, node), node)))
    return n.Logical(t.BOOL, location, False, *tests)
