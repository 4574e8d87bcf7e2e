"""Which loops over a range have to be unrolled: those whose variable must be known when the kernel is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.scopes import names_in
from coopmat.sycl.compiler.values import Element, Runtime, Sequence, Static, is_number, leaves
from coopmat.tree import types as t

MANY_STEPS = 64
"""So many steps, those of the loops inside included, are not unrolled for lists of numbers: these lie in memory."""


def is_unrolled(f: Compiler, node: ast.For, values: range) -> bool:
    """Whether a loop over these values is unrolled: if it has to be, unless that is for the sake of lists that can lie
    in memory, and makes many copies."""
    steps = max(0, -((values.start - values.stop) // values.step))  # len() has a limit
    return _Search(f, False).needs_unrolling(node) and (
        steps ** _depth(node) <= MANY_STEPS or _Search(f, True).needs_unrolling(node))


@lru_cache(maxsize=256)
def _depth(node: ast.For) -> int:
    """How many loops are inside one another."""
    inner = (part for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.For))
    return 1 + max(map(_depth, inner), default=0)


@dataclass(frozen=True)
class _Body:
    """What a loop's body says of the names in it. ``assigned``: what each assignment stores and reads; ``indexed``:
    what is indexed, with the names in the index; ``sizes``: the names in matrices' types; ``inner``: loops and
    comprehensions in it, with the names in what they run over."""

    assigned: list[tuple[frozenset[str], frozenset[str]]] = field(default_factory=list)
    indexed: list[tuple[ast.expr, frozenset[str]]] = field(default_factory=list)
    sizes: set[str] = field(default_factory=set)
    inner: list[tuple[ast.For | ast.comprehension, frozenset[str]]] = field(default_factory=list)


@lru_cache(maxsize=256)
def _body(node: ast.For) -> _Body:
    found = _Body()
    for part in (part for statement in node.body for part in ast.walk(statement)):
        if isinstance(part, ast.Assign):
            found.assigned.append((frozenset(_stored(part.targets)), frozenset(names_in(part.value))))
        elif isinstance(part, ast.Subscript):
            base: ast.expr = part
            while isinstance(base, ast.Subscript):
                base = base.value
            found.indexed.append((base, frozenset(names_in(part.slice))))
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "joint_matrix":
            found.sizes.update(name for argument in part.args for name in names_in(argument))
        elif isinstance(part, ast.For | ast.comprehension) and isinstance(part.iter, ast.Call):
            found.inner.append((part, frozenset(name for argument in part.iter.args for name in names_in(argument))))
    return found


@dataclass
class _Search:
    """Looks for what needs a loop's variable when the kernel is compiled. ``in_memory``: lists of numbers do not."""

    f: Compiler
    in_memory: bool
    known: dict[ast.For, bool] = field(default_factory=dict)

    def needs_unrolling(self, node: ast.For) -> bool:
        """Whether the loop's variable, or a constant made from it, indexes a list or is a template argument."""
        if node not in self.known:
            self.known[node] = self._is_needed(node)
        return self.known[node]

    def _is_needed(self, node: ast.For) -> bool:
        body = _body(node)
        needed = set(body.sizes)
        for base, names in body.indexed:
            if not names <= needed and _has_known_index(self.f, base) and not (
                    self.in_memory and _can_lie_in_memory(self.f, base)):
                needed |= names
        for inner, names in body.inner:  # the bounds of one that is unrolled have to be known
            if not names <= needed and (isinstance(inner, ast.comprehension) or self.needs_unrolling(inner)):
                needed |= names
        targets = set(names_in(node.target))
        while True:
            more = {name for stored, read in body.assigned if stored & needed for name in read} - needed
            if not more:
                return bool(targets & needed)
            needed |= more


def _stored(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id


def _has_known_index(f: Compiler, base: ast.expr) -> bool:
    if isinstance(base, ast.List | ast.Tuple | ast.ListComp):
        return True
    if isinstance(base, ast.Call):  # item.get_global_id()[d]
        return isinstance(base.func, ast.Attribute) and not base.args
    if not isinstance(base, ast.Name):
        return isinstance(base, ast.Attribute)
    value = f.names.get(base.id)
    if value is None and base.id in f.scope.names:
        return _is_made_as_list(f, base.id)
    if isinstance(value, Sequence) and value.array is not None:
        return False
    return isinstance(value, Sequence | Static) or (value is None and base.id in f.module)


def _can_lie_in_memory(f: Compiler, base: ast.expr) -> bool:
    """Whether a name's list is one of numbers of one type."""
    value = f.names.get(base.id) if isinstance(base, ast.Name) else None
    if not isinstance(value, Sequence) or not value.is_list or value.origin is None:
        return False
    parts = list(leaves(value))
    types = {part.type for part in parts if isinstance(part, Element | Runtime)}
    return len(types) == 1 and all(isinstance(part, Element | Runtime) or is_number(part) for part in parts) \
        and not any(isinstance(type_, t.Pointer) for type_ in types)


def _is_made_as_list(f: Compiler, name: str) -> bool:
    """Whether a name that is not known yet will be a list: one is assigned to it further down."""
    return any(isinstance(part, ast.Assign) and name in _stored(part.targets)
               and isinstance(part.value, ast.List | ast.ListComp | ast.Tuple | ast.BinOp)
               and any(isinstance(inner, ast.List | ast.ListComp | ast.Tuple) for inner in ast.walk(part.value))
               for part in ast.walk(f.node))
