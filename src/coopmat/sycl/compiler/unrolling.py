"""Which loops over a range have to be unrolled: those whose variable must be known when the kernel is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from coopmat.sycl.compiler.function import FunctionCompiler
from coopmat.sycl.compiler.scopes import names_in
from coopmat.sycl.compiler.values import Sequence, Static


def needs_unrolling(f: FunctionCompiler, node: ast.For, known: dict[ast.For, bool] | None = None) -> bool:
    """Whether the loop's variable, or a constant made from it, indexes a list or is a template argument.

    known: the answers for the loops inside of it, as they are found.
    """
    known = {} if known is None else known
    if node not in known:
        known[node] = _is_needed(f, node, known)
    return known[node]


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


def _is_needed(f: FunctionCompiler, node: ast.For, known: dict[ast.For, bool]) -> bool:
    body = _body(node)
    needed = set(body.sizes)
    for base, names in body.indexed:
        if not names <= needed and _has_known_index(f, base):
            needed |= names
    for inner, names in body.inner:  # the bounds of one that is unrolled have to be known
        if not names <= needed and (isinstance(inner, ast.comprehension) or needs_unrolling(f, inner, known)):
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


def _has_known_index(f: FunctionCompiler, base: ast.expr) -> bool:
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


def _is_made_as_list(f: FunctionCompiler, name: str) -> bool:
    """Whether a name that is not known yet will be a list: one is assigned to it further down."""
    return any(isinstance(part, ast.Assign) and name in _stored(part.targets)
               and isinstance(part.value, ast.List | ast.ListComp | ast.Tuple | ast.BinOp)
               and any(isinstance(inner, ast.List | ast.ListComp | ast.Tuple) for inner in ast.walk(part.value))
               for part in ast.walk(f.node))
