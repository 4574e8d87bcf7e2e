"""``match``: patterns become tests, one case after the other, and what is known decides what is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from coopmat.runtime.element_types import ElementType, element_type
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.aggregates import is_structure, opened
from coopmat.sycl.compiler.context import Block, Compiler
from coopmat.sycl.compiler.expressions import comparison
from coopmat.sycl.compiler.numbers import both, truth
from coopmat.sycl.compiler.statements import choose, store
from coopmat.sycl.compiler.values import Aggregate, Element, Runtime, Static, Value, owner_of
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.tree import nodes as n
from coopmat.tree import types as t


@dataclass
class Test:
    """Whether a pattern fits a value, and the names that it gives to parts of that."""

    fits: Value = field(default_factory=lambda: Static(True))
    names: list[tuple[str, Value, ast.pattern]] = field(default_factory=list)

    @property
    def never(self) -> bool:
        """Whether it is known not to fit."""
        return isinstance(self.fits, Static) and not self.fits.value


def match_statement(f: Compiler, node: ast.Match) -> None:
    """``match``; the subject is evaluated once."""
    _cases(f, node, _held(f, f.read(node.subject), node.subject), 0)


def _held(f: Compiler, value: Value, node: ast.AST) -> Value:
    """A subject whose computed parts are computed."""
    if isinstance(value, Aggregate):
        return value.with_items(_held(f, item, node) for item in value.items)
    return f.held(value, node) if isinstance(value, Runtime) else value


def _cases(f: Compiler, node: ast.Match, subject: Value, first: int) -> None:
    """The cases from one on: the first that fits is carried out."""
    for index, case in enumerate(node.cases[first:], first):
        test = _test(f, case.pattern, subject)
        condition = _condition(f, test, case)
        if isinstance(condition, Static) and not condition.value:
            f.left_out.add(id(case.body))
            continue
        bind = partial(_bind, f, [] if case.guard is not None else test.names)
        body = partial(f.block, case.body, case.pattern, before=bind)
        if isinstance(condition, Static):
            f.unconditional.add(id(case.body))
            f.left_out.update(id(other.body) for other in node.cases[index + 1:])
            f.emit(body())
        else:
            others = partial(f.block, [], node, f.blocks[-1].path, partial(_cases, f, node, subject, index + 1))
            choose(f, truth(f, condition, case.pattern), node, body, others)
        return


def _condition(f: Compiler, test: Test, case: ast.match_case) -> Value:
    """Whether a case is the one; a guard sees the names of its pattern."""
    if case.guard is None or test.never:
        return test.fits
    f.blocks.append(Block(f.blocks[-1].path))
    try:
        _bind(f, test.names)
        guard = f.read(case.guard)
    finally:
        block = f.blocks.pop()
    statements = (*block.declarations, *block.statements)
    if statements:
        found = truth(f, guard, case.guard)
        guard = Runtime(n.StatementExpression(t.BOOL, found.location, statements, found))
    elif isinstance(guard, Static):
        guard = Static(f.known_truth(guard, case.guard))
    return both(f, test.fits, guard, case.guard)


def _bind(f: Compiler, names: Sequence[tuple[str, Value, ast.pattern]]) -> None:
    for name, value, pattern in names:
        target = ast.copy_location(ast.Name(name, ast.Store()), pattern)
        store(f, target, f.held(value, pattern) if isinstance(value, Element) else value, target)


# ------------------------------------------------------------------ patterns


def _test(f: Compiler, pattern: ast.pattern, value: Value) -> Test:
    """Whether a pattern fits."""
    match pattern:
        case ast.MatchValue(value=expected):
            return Test(comparison(f, "==", f.loaded(value, pattern), f.read(expected), expected))
        case ast.MatchSingleton(value=expected):
            return Test(_is(f, f.loaded(value, pattern), expected, pattern))
        case ast.MatchAs(pattern=inner, name=name):
            test = Test() if inner is None else _test(f, inner, value)
            return test if name is None else Test(test.fits, [*test.names, (name, value, pattern)])
        case ast.MatchOr(patterns=patterns):
            return _one_of(f, [_test(f, inner, value) for inner in patterns], pattern)
        case ast.MatchSequence(patterns=patterns):
            return _sequence(f, patterns, value, pattern)
        case ast.MatchClass():
            return _class(f, pattern, value)
    raise f.fail(messages.UNSUPPORTED_STATEMENT, pattern, what="a pattern of a mapping", advice="match a tuple")


def _is(f: Compiler, value: Value, expected: bool | None, node: ast.pattern) -> Value:
    """Identity with True, False or None, which a number is not."""
    if isinstance(value, Runtime) and value.type == t.BOOL and expected is not None:
        return value if expected else Runtime(n.Unary(t.BOOL, f.location(node), n.UnaryOperator.NOT, value.expression))
    return Static(isinstance(value, Static) and value.value is expected)


def _all(f: Compiler, tests: Iterator[Test], node: ast.pattern) -> Test:
    """All patterns fit; those after one that cannot are not looked at."""
    found = Test()
    for test in tests:
        found = Test(both(f, found.fits, test.fits, node), [*found.names, *test.names])
        if found.never:
            break
    return found


def _one_of(f: Compiler, tests: list[Test], node: ast.pattern) -> Test:
    """The first pattern that fits; which one must be known where it names something."""
    location = f.location(node)
    possible = [test for test in tests if not test.never]
    if not possible or isinstance(possible[0].fits, Static):
        return possible[0] if possible else Test(Static(False))
    if any(test.names for test in possible):
        raise f.fail(messages.UNSUPPORTED_STATEMENT, node, what="a name in one of several patterns",
                     advice="write a case for each")
    result = truth(f, possible[0].fits, node)
    for test in possible[1:]:
        result = n.Logical(t.BOOL, location, False, result, truth(f, test.fits, node))
    return Test(Runtime(result))


def _sequence(f: Compiler, patterns: list[ast.pattern], value: Value, node: ast.pattern) -> Test:
    """The items of a list or tuple, whose length is known."""
    if not isinstance(value, ValueSequence):
        return Test(Static(False))
    star = next((index for index, inner in enumerate(patterns) if isinstance(inner, ast.MatchStar)), None)
    more = len(value.items) - len(patterns)
    if star is None:
        if more:
            return Test(Static(False))
        return _all(f, (_test(f, *pair) for pair in zip(patterns, value.items, strict=True)), node)
    if more < -1:
        return Test(Static(False))
    after = star + more + 1
    pairs = [*zip(patterns[:star], value.items[:star], strict=True),
             *zip(patterns[star + 1:], value.items[after:], strict=True)]
    found = _all(f, (_test(f, *pair) for pair in pairs), node)
    starred = patterns[star]
    assert isinstance(starred, ast.MatchStar)
    if starred.name is not None:
        rest = ValueSequence(tuple(f.held(item, node) for item in value.items[star:after]), is_list=True)
        found.names.append((starred.name, rest, starred))
    return found


def _class(f: Compiler, pattern: ast.MatchClass, value: Value) -> Test:
    """``float32(x)``: a number of that type; ``Point(x=0)``: an object of a class whose fields fit."""
    found = f.read(pattern.cls)
    owner: Any = found.value if isinstance(found, Static) else None
    type_ = element_type(owner)
    if type_ is not None and not pattern.kwd_patterns and len(pattern.patterns) <= 1:
        is_one = Test(Static(_is_of(f.loaded(value, pattern), owner, type_)))
        return is_one if is_one.never or not pattern.patterns else _test(f, pattern.patterns[0], value)
    if not is_structure(owner):
        raise f.fail(messages.UNSUPPORTED_STATEMENT, pattern, what="this pattern",
                     advice="match numbers and their types, tuples, lists, and objects of dataclasses")
    value = opened(f, value, pattern)
    of_value = owner_of(value)
    if of_value is None or not issubclass(of_value, owner):
        return Test(Static(False))
    assert isinstance(value, Aggregate)
    items = dict(zip(value.names, value.items, strict=True))
    inner = dict(zip(owner.__match_args__, pattern.patterns, strict=False)) | dict(
        zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True))
    missing = next((name for name in inner if name not in items), None)
    if missing is not None or len(pattern.patterns) > len(owner.__match_args__):
        raise f.fail(messages.NO_ATTRIBUTE, pattern, found=value, name=missing or f"number {len(pattern.patterns)}",
                     hint=f"; it has {', '.join(items)}")
    return _all(f, (_test(f, part, items[name]) for name, part in inner.items()), pattern)


def _is_of(value: Value, owner: object, type_: ElementType) -> bool:
    """Whether a number is of a type: Python's ``int`` and ``float`` are all integers and all floating-point numbers."""
    if isinstance(value, Static) and value.is_number:
        return isinstance(value.value, owner) if isinstance(owner, type) else False
    kind = value.type if isinstance(value, Runtime) else None
    if owner is int or owner is float:
        return kind is not None and (kind.is_integer if owner is int else kind.is_float)
    return kind == type_.scalar
