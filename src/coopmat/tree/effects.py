"""What functions do beside computing their result, where nothing but that may happen.

A function that a matrix instruction runs for elements (:class:`coopmat.tree.nodes.MatrixApply`) is run in any order,
perhaps more than once for an element, and not by all work-items together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coopmat.diagnostics import SourceLocation
from coopmat.tree import nodes as n
from coopmat.tree.types import AddressSpace, Matrix, Pointer
from coopmat.tree.walk import Node, descendants

_TOGETHER = ("core.Group", "core.Subgroup", "core.ControlBarrier", "core.MemoryBarrier", "core.CooperativeMatrix")
_MATRICES = (n.MatrixLoad, n.MatrixStore, n.MatrixPrefetch, n.MatrixMultiplyAdd, n.MatrixFill, n.MatrixTimesScalar,
             n.MatrixTranspose, n.MatrixReduce, n.MatrixApply, n.MatrixCoordinates)
_OWN = (AddressSpace.PRIVATE, AddressSpace.CONSTANT)


class Effect(NamedTuple):
    """Something that a function does: words for a message, "works …" or "changes …", and the place."""

    what: str
    location: SourceLocation | None


def effect_of(function: n.Function) -> Effect | None:
    """The first effect of a function, or of what it calls; None if it only computes its result. Private variables are
    the function's own."""
    for node in _reached(function):
        what = _effect(node)
        if what is not None:
            return Effect(what, node.location)
    return None


def _reached(function: n.Function) -> Iterator[Node]:
    """The nodes of a function and of all that it calls."""
    known, waiting = {function}, [function]
    while waiting:
        body = waiting.pop().body
        for node in descendants(body) if body is not None else ():
            yield node
            if isinstance(node, n.Call) and node.function not in known:
                known.add(node.function)
                waiting.append(node.function)


def _effect(node: Node) -> str | None:
    if isinstance(node, _MATRICES) or (isinstance(node, n.Binary | n.Unary) and isinstance(node.type, Matrix)):
        return "works with a cooperative matrix"
    if isinstance(node, n.Operation):
        return _effect_of_operation(node)
    if isinstance(node, n.Assign | n.Update) and not _is_private(node.place):
        return "changes memory that other work-items may see"
    return None


def _effect_of_operation(node: n.Operation) -> str | None:
    if node.name.startswith(_TOGETHER):
        return "works together with other work-items"
    if node.name == "std.printf":
        return "prints"
    pointers = [argument.type for argument in node.arguments if isinstance(argument.type, Pointer)]
    if not node.name.startswith("std.vload") and any(one.address_space not in _OWN for one in pointers):
        return "changes memory that other work-items may see"
    return None


def _is_private(place: n.Place) -> bool:
    """Whether a place is in a private variable."""
    while isinstance(place, n.ElementPlace | n.FieldPlace | n.SwizzlePlace):
        place = place.base
    if isinstance(place, n.VariablePlace):
        return place.variable.address_space is AddressSpace.PRIVATE
    return isinstance(place, n.Dereference) and place.address_space is AddressSpace.PRIVATE
