"""Whether control can reach the end of a statement, for the warning about a missing return."""

from __future__ import annotations

from coopmat.tree.nodes import (
    Block,
    Break,
    Case,
    Constant,
    Continue,
    Expression,
    Goto,
    If,
    Label,
    Loop,
    Return,
    Statement,
    Switch,
    Unreachable,
)


def completes(statement: Statement) -> bool:
    """Whether control may go on behind ``statement``; True where that is not known."""
    match statement:
        case Return() | Goto() | Break() | Continue() | Unreachable():
            return False
        case Block(statements=statements):
            reachable = True
            for inner in statements:
                reachable = completes(inner) if reachable or _can_be_entered(inner) else False
            return reachable
        case If():
            return _chain_completes(statement)
        case Loop(condition=condition, body=body, tests_last=tests_last):
            tested = not tests_last or completes(body) or _holds(body, Continue)
            return (tested and not _always(condition)) or _holds(body, Break)
        case Switch(body=body, cases=cases):
            has_default = any(case.value is None for case in cases)
            return not has_default or completes(body) or _holds(body, Break)
    return True


def _chain_completes(statement: If) -> bool:
    """An if with its ``else if`` chain, walked in a loop as it may be long."""
    inner: Statement | None = statement
    while isinstance(inner, If):
        if completes(inner.then):
            return True
        inner = inner.otherwise
    return inner is None or completes(inner)


def _always(condition: Expression | None) -> bool:
    return condition is None or (isinstance(condition, Constant) and bool(condition.value))


def _can_be_entered(statement: Statement) -> bool:
    """Whether a jump may lead to, or into, a statement: there is a label."""
    match statement:
        case Label() | Case():
            return True
        case Block(statements=statements):
            return any(map(_can_be_entered, statements))
        case If(then=then, otherwise=otherwise):
            return _can_be_entered(then) or (otherwise is not None and _can_be_entered(otherwise))
        case Loop(body=body) | Switch(body=body):
            return _can_be_entered(body)
    return False


def _holds(statement: Statement, jump: type[Break] | type[Continue]) -> bool:
    """Whether ``statement`` holds a break or continue that belongs to the loop or switch around it."""
    match statement:
        case Break() | Continue():
            return isinstance(statement, jump)
        case Block(statements=statements):
            return any(_holds(inner, jump) for inner in statements)
        case If(then=then, otherwise=otherwise):
            return _holds(then, jump) or (otherwise is not None and _holds(otherwise, jump))
        case Switch(body=body) if jump is Continue:
            return _holds(body, jump)
    return False
