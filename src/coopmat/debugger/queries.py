"""What users ask for: an expression, how its numbers are shown, and for whom it is evaluated."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.debugger.activations import Activation
from coopmat.debugger.engine import Engine
from coopmat.debugger.evaluation import evaluate
from coopmat.debugger.expressions import Node, parse
from coopmat.debugger.items import check_item, place_in, show_item
from coopmat.debugger.scope import Known, Scope
from coopmat.debugger.showing import FORMATS, Format, Place
from coopmat.diagnostics import Error


@dataclass(frozen=True)
class Query:
    """``[/x|/u|/d] EXPR [@all|@X,Y,Z]``; ``text`` is the expression, ``who`` what follows ``@``."""

    text: str
    node: Node
    how: Format
    who: str

    @staticmethod
    def parse(text: str) -> Query:
        """Error for what is none."""
        how, rest = format_of(text)
        expression, _, who = rest.partition("@")
        return Query(expression.strip(), parse(expression), how, who.strip())


@dataclass(frozen=True)
class Answer:
    """A value and the work-item, or those, that it is of: ``place`` is None for all of them."""

    known: Known
    scope: Scope
    place: Place | None


def answer(engine: Engine, query: Query, activation: Activation | None = None, place: Place | None = None) -> Answer:
    """The value of a query: for the work-item at a place in the batch, by default the chosen one, unless the query
    names another. Error if there is none."""
    if query.who == "all":
        scope = scope_of_all(engine, activation)
        return Answer(scope.load(evaluate(query.node, scope)), scope, None)
    if query.who:
        item = check_item(engine.geometry, query.who)
        place = place_in(engine.batch, item) if engine.batch is not None else None
        if place is None or not engine.stack(place):
            raise Error(f"work-item {show_item(item)} has no variables now")
        activation = activation if activation is not None and activation.has(place) else None
    known, scope = engine.evaluate(query.node, activation, place)
    found = place if place is not None else engine.place
    assert found is not None
    return Answer(known, scope, found)


def scope_of_all(engine: Engine, activation: Activation | None = None) -> Scope:
    """An activation, by default the innermost one of the chosen work-item, for all that are in it."""
    activation = activation if activation is not None else next(iter(engine.stack()), None)
    if not engine.has_state or activation is None or activation.frame is None:
        raise Error("the kernel does not stand anywhere where this work-item has variables")
    lanes = activation.frame.mask.expanded.copy()
    for mask in activation.frame.waiting.values():
        lanes |= mask.expanded
    return engine.scope(activation, lanes)


def format_of(text: str) -> tuple[Format, str]:
    """``/x EXPR`` as the form of its numbers, and the rest."""
    if not text.startswith("/"):
        return Format(), text
    letter, _, rest = text[1:].partition(" ")
    if letter not in FORMATS:
        raise Error(f"numbers are shown with {', '.join(f'/{one}' for one in FORMATS)}; found '/{letter}'")
    return Format(letter), rest
