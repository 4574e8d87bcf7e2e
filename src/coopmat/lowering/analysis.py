"""Questions about the tree that the walk asks before it lowers something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.walk import Node, descendants


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """What is known of a function before it is lowered.

    ``in_memory``: the parameters that need an address (all uses other than reading them whole).
    ``shared``: variables declared inside that live longer than an activation, with their initialisers.
    ``has_labels``: control flow may be anything, so no merge block can be named. ``has_entries``: there are
    labels, of goto or of a switch, by which control may come into the middle of a statement.
    """

    in_memory: frozenset[n.Variable]
    shared: tuple[n.Declare, ...]
    has_labels: bool
    has_entries: bool
    calls: tuple[n.Function, ...]


def function_facts(function: n.Function) -> FunctionFacts:
    """Collect what :class:`FunctionFacts` holds of a function with a body."""
    assert function.body is not None
    nodes = list(descendants(function.body))
    named = Counter(node.variable for node in nodes if isinstance(node, n.VariablePlace))
    named.subtract(node.place.variable for node in nodes
                   if isinstance(node, n.Load) and isinstance(node.place, n.VariablePlace))  # read whole
    return FunctionFacts(
        in_memory=frozenset(variable for variable, others in named.items() if others),
        shared=tuple(node for node in nodes if isinstance(node, n.Declare)
                     and node.variable.address_space is not t.AddressSpace.PRIVATE),
        has_labels=any(isinstance(node, n.Label) for node in nodes),
        has_entries=any(isinstance(node, (n.Label, n.Case)) for node in nodes),
        calls=tuple(node.function for node in nodes if isinstance(node, n.Call)))


def has_entry(statement: n.Statement) -> bool:
    """Whether control can come into the middle of ``statement``: by goto, or from a switch around it."""
    inside = list(descendants(statement))
    own = {id(case) for node in inside if isinstance(node, n.Switch) for case in node.cases}
    return any(isinstance(node, n.Label) or (isinstance(node, n.Case) and id(node) not in own)
               for node in inside)


_SPECULATIVE_LIMIT = 12  # nodes; beyond that a branch is cheaper than computing in vain
_ALWAYS_SAFE = (n.Constant, n.Zero, n.Unary, n.Logical, n.Conditional, n.Select, n.Bitcast, n.VectorOf,
                n.Splat, n.Swizzle, n.WorkItemQuery, n.CurrentValue)


@dataclass(frozen=True, slots=True)
class Speculation:
    """What may be evaluated though its value is not needed.

    ``initialized``: the variables that certainly hold a value. ``is_shift_modular``: a shift by any amount is defined.
    """

    initialized: set[n.Variable]
    is_shift_modular: bool


def is_speculative(node: n.Expression, rules: Speculation) -> bool:
    """Whether the expression is short and may be evaluated though its value is not needed.

    That leaves out effects, memory that might not be there, values that might not be defined and operations that are
    undefined for some operands.
    """
    parts = list(islice(descendants(node), _SPECULATIVE_LIMIT + 1))
    return len(parts) <= _SPECULATIVE_LIMIT and all(_is_safe(part, rules) for part in parts)


def branches(node: Node, rules: Speculation) -> bool:
    """Whether ``node`` itself is evaluated by branching around what is not needed."""
    match node:
        case n.Logical(right=right):
            return not is_speculative(right, rules)
        case n.Conditional(type=type_, if_true=if_true, if_false=if_false):
            is_plain = isinstance(type_, (t.Scalar, t.Vector, t.Enumeration))
            return not (is_plain and all(is_speculative(side, rules) for side in (if_true, if_false)))
    return isinstance(node, n.StatementExpression)


def needs_blocks(node: n.Expression, rules: Speculation) -> bool:
    """Whether evaluating the expression takes more than one basic block."""
    return any(branches(part, rules) for part in descendants(node))


def _is_safe(node: Node, rules: Speculation) -> bool:
    match node:
        case n.VariablePlace(variable=variable):
            return variable in rules.initialized and not variable.volatile
        case n.Load(place=place):
            return isinstance(place, n.VariablePlace)
        case n.Binary(operator=n.BinaryOperator.SHIFT_LEFT | n.BinaryOperator.SHIFT_RIGHT, left=left, right=right):
            return rules.is_shift_modular or _is_in_range(right, left.type)
        case n.Binary(operator=operator, left=left):
            is_division = operator in (n.BinaryOperator.DIVIDE, n.BinaryOperator.REMAINDER)
            return not (is_division and left.type.element.is_integer)
        case n.Convert(operand=operand, type=type_, saturate=saturate):
            return saturate or not (operand.type.element.is_float and type_.element.is_integer)
    return isinstance(node, _ALWAYS_SAFE)


def _is_in_range(amount: n.Expression, shifted: t.Type) -> bool:
    """Whether a shift's amount is a constant below the width."""
    assert isinstance(shifted.element, t.Scalar)
    return isinstance(amount, n.Constant) and 0 <= amount.value < shifted.element.bits
