"""Whether control can reach the end of a statement."""

from __future__ import annotations

from coopmat.tree import nodes as n
from coopmat.tree.walk import children


def can_end(statement: n.Statement) -> bool:
    """Whether what follows the statement can be reached, as far as its form tells."""
    match statement:
        case n.Return() | n.Break() | n.Continue() | n.Unreachable():
            return False
        case n.Block(statements=statements):
            return all(map(can_end, statements))
        case n.If(then=then, otherwise=otherwise):
            return otherwise is None or can_end(then) or can_end(otherwise)
        case n.Loop(condition=condition, body=body):
            return condition is not None or _breaks(body)
    return True


def _breaks(statement: n.Statement) -> bool:
    """Whether a break leaves the loop whose body this is."""
    if isinstance(statement, n.Break):
        return True
    return not isinstance(statement, n.Loop | n.Switch) and any(
        _breaks(child) for child in children(statement) if isinstance(child, n.Statement))
