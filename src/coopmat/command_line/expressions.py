"""Sizes that depend on a configuration, as text: ``1024/TN*16,1024/TM``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coopmat.diagnostics import LaunchError, shortened, value_text

Values = Mapping[Any, Any]
"""The values of a configuration, by name."""


def _quotient(left: int, right: int) -> int:
    if right == 0 or left % right:
        raise LaunchError(f"{left}/{right} is no whole number: // rounds down")
    return left // right


def _floored(left: int, right: int) -> int:
    if right == 0:
        raise LaunchError(f"{left}//0: a division by zero")
    return left // right


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise LaunchError(f"{left}%0: a division by zero")
    return left % right


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: _quotient, ast.FloorDiv: _floored,
    ast.Mod: _remainder,
}
LONGEST = 300  # characters


def expressions(option: str, text: str, names: Sequence[Any]) -> Callable[[Values], tuple[int, ...]]:
    """What computes whole numbers, with commas between them, from a configuration: with ``+ - * / // %``, parentheses
    and names of ranges. ``/`` has no remainder. LaunchError for a text that is nothing such."""
    known = ", ".join(map(str, names))
    expected = (f"{option} takes whole numbers, or expressions with {known or 'the names of ranges'} and + - * / // %; "
                f"found '{shortened(text)}'")
    try:
        tree = ast.parse(f"({text},)", mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        tree = None
    if not isinstance(tree, ast.Tuple) or not all(_is_arithmetic(node) for one in tree.elts for node in ast.walk(one)):
        raise LaunchError(expected)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in names:
            raise LaunchError(f"{option} {text}: there is no range '{node.id}'; there are {known or 'none'} "
                              f"(a macro of -D is none: --range {node.id}=VALUE)")
    parts = tree.elts
    return lambda values: tuple(_value(part, values) for part in parts)


def _is_arithmetic(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.BinOp(op=op):
            return type(op) in _OPERATORS
    return isinstance(node, ast.Name | ast.UnaryOp | ast.operator | ast.USub | ast.Load)


def _value(node: ast.expr, values: Values) -> int:
    match node:
        case ast.Name(id=name):
            found = values[name]
            if type(found) is not int:
                raise LaunchError(f"{name} is {value_text(found)}, which is no whole number")
            return found
        case ast.UnaryOp(operand=operand):
            return -_value(operand, values)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.Constant(value=int(value)):
            return value
    raise AssertionError(node)
