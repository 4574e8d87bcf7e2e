"""From where to where a piece of syntax stands in the source, and what of it a message underlines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.parse import syntax


def start_of(node: syntax.Expression) -> SourceLocation:
    """Where an expression begins; its own location may be that of an operator in its middle."""
    while True:
        if node.parentheses is not None:
            return node.parentheses[0]
        match node:
            case syntax.Binary(left=inner) | syntax.Assignment(target=inner) | syntax.Conditional(condition=inner) \
                    | syntax.Index(base=inner) | syntax.Member(base=inner) | syntax.Postfix(operand=inner):
                node = inner
            case _:
                return node.location


def end_of(node: syntax.Expression) -> SourceLocation:
    """The last token of an expression, as far as that is known."""
    while True:
        if node.parentheses is not None:
            return node.parentheses[1]
        match node:
            case syntax.Binary(right=inner) | syntax.Assignment(value=inner) | syntax.Conditional(if_false=inner) \
                    | syntax.Unary(operand=inner) | syntax.Cast(operand=inner):
                node = inner
            case syntax.FunctionCall(close=close):
                return close
            case _:
                return node.end or node.location


def extent(node: syntax.Expression) -> SourceLocation:
    """An expression as one place: to its end, or to the end of the line that it begins in."""
    first, last = start_of(node), end_of(node)
    if (first.file, first.line, first.physical_line) != (last.file, last.line, last.physical_line):
        return replace(first, length=max(1, len(first.source_line) - first.column + 1))
    return replace(first, length=max(first.length, last.column + last.length - first.column))


def ranges_at(root: syntax.Node | None, location: SourceLocation | None, whole: bool) -> tuple[SourceLocation, ...]:
    """What to underline besides a place that a message points at: the operands of the operator there, or, if
    the message is about all of an operand (``whole``), the operand that begins there."""
    if root is None or location is None:
        return ()
    path = next(_paths(root, location, ()), None)
    if path is None:
        return ()
    top = path[-1]
    if not (whole and isinstance(top, syntax.Expression) and start_of(top) is location):
        return _operands(top, location)
    for outer in reversed(path[:-1]):
        if not isinstance(outer, syntax.Expression) or start_of(outer) is not location:
            break
        top = outer
    return (extent(top),)


def _operands(node: syntax.Node, location: SourceLocation) -> tuple[SourceLocation, ...]:
    match node:
        case syntax.Binary(left=left, right=right) | syntax.Assignment(target=left, value=right) \
                | syntax.Index(base=left, index=right):
            return extent(left), extent(right)
        case syntax.Conditional(if_true=syntax.Expression() as left, if_false=right):
            return extent(left), extent(right)
        case syntax.Member(base=inner) | syntax.Unary(operand=inner) | syntax.Postfix(operand=inner) \
                | syntax.Cast(operand=inner):
            return (extent(inner),)
        case syntax.FunctionCall(function=function, close=close) if close is location:
            return (extent(function),)
    return ()


Path = tuple[syntax.Node, ...]


def _paths(node: syntax.Node, location: SourceLocation, outer: Path) -> Iterator[Path]:
    """The nodes from the root to one that stands, begins or ends at ``location``; the outermost come first."""
    path = (*outer, node)
    is_there = node.location is location or (isinstance(node, syntax.FunctionCall) and node.close is location)
    if is_there or (isinstance(node, syntax.Expression) and node.parentheses is not None
                    and node.parentheses[0] is location):
        yield path
    for field in fields(node):
        value = getattr(node, field.name)
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, syntax.Node):
                yield from _paths(inner, location, path)
