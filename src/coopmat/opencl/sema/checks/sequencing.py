"""Expressions that write a variable and use it again with no order between the two (C99 6.5p2): -Wunsequenced."""

from __future__ import annotations

from dataclasses import dataclass, field

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema.context import Context

Places = dict[str, SourceLocation]


@dataclass(slots=True)
class _Effects:
    """The variables that an expression writes and those that it reads, and where."""

    writes: Places = field(default_factory=dict)
    reads: Places = field(default_factory=dict)

    def add(self, other: _Effects) -> None:
        """Everything that another expression does as well."""
        self.writes = {**other.writes, **self.writes}
        self.reads = {**other.reads, **self.reads}


def check(context: Context, node: syntax.Expression) -> None:
    """A whole expression."""
    _Checker(context).effects(node)


def is_modification(node: syntax.Expression) -> bool:
    """Whether an expression writes by itself: an assignment, an increment."""
    return isinstance(node, syntax.Assignment | syntax.Postfix) or (
        isinstance(node, syntax.Unary) and node.operator in ("++", "--"))


class _Checker:
    """Reports each variable once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._reported: set[str] = set()

    def effects(self, node: syntax.Expression) -> _Effects:
        """What an expression does; conflicts inside it are reported."""
        match node:
            case syntax.Name(name=name):
                return _Effects(reads={name: node.location})
            case syntax.Assignment():
                return self._assignment(node)
            case syntax.Unary(operator="++" | "--", operand=syntax.Name(name=name)) \
                    | syntax.Postfix(operand=syntax.Name(name=name)):
                return _Effects(writes={name: node.location})
            case syntax.Binary(operator="&&" | "||" | ",", left=left, right=right):
                return self._in_order([left, right])
            case syntax.Binary():
                return self._chain(node)
            case syntax.Conditional(condition=condition, if_true=if_true, if_false=if_false):
                return self._in_order([part for part in (condition, if_true, if_false) if part is not None])
            case syntax.FunctionCall(arguments=arguments) | syntax.ParenthesizedList(items=arguments):
                return self._unordered(arguments)
            case syntax.Index(base=base, index=index):
                return self._unordered([base, index])
            case syntax.Unary(operand=inner) | syntax.Postfix(operand=inner) | syntax.Member(base=inner) \
                    | syntax.Cast(operand=inner):
                return self.effects(inner)
        return _Effects()

    def _chain(self, node: syntax.Binary) -> _Effects:
        """A chain ``a + b + c …`` leans to the left and is walked in a loop, so that it may be long."""
        operands: list[syntax.Expression] = []
        first: syntax.Expression = node
        while isinstance(first, syntax.Binary) and first.operator not in ("&&", "||", ","):
            operands.append(first.right)
            first = first.left
        return self._unordered([first, *reversed(operands)])

    def _in_order(self, parts: list[syntax.Expression]) -> _Effects:
        result = _Effects()
        for part in parts:
            result.add(self.effects(part))
        return result

    def _unordered(self, parts: list[syntax.Expression]) -> _Effects:
        result = _Effects()
        for part in parts:
            found = self.effects(part)
            self._compare(result, found)
            result.add(found)
        return result

    def _assignment(self, node: syntax.Assignment) -> _Effects:
        """The value is computed before it is stored, but what computing it writes may be written later."""
        value = self.effects(node.value)
        if not isinstance(node.target, syntax.Name):
            target = self.effects(node.target)
            self._compare(target, value)
            target.add(value)
            return target
        name = node.target.name
        if name in value.writes:
            self._report(name, value.writes[name], is_write=node.operator == "=")
        value.writes[name] = node.location
        return value

    def _compare(self, first: _Effects, second: _Effects) -> None:
        for name, place in first.writes.items():
            if name in second.writes:
                self._report(name, place, is_write=True)
            elif name in second.reads:
                self._report(name, place, is_write=False)
        for name, place in second.writes.items():
            if name in first.reads and name not in first.writes:
                self._report(name, place, is_write=False)

    def _report(self, name: str, place: SourceLocation, is_write: bool) -> None:
        if name not in self._reported:
            self._reported.add(name)
            message = warnings.SEVERAL_MODIFICATIONS if is_write else warnings.MODIFICATION_AND_ACCESS
            self._context.report(message, place, name=name)
