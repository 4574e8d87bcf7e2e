"""Which loops over a range have to be unrolled: those whose variable must be known when the kernel is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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


def _is_needed(f: FunctionCompiler, node: ast.For, known: dict[ast.For, bool]) -> bool:
    targets = set(names_in(node.target))
    assigned = [(set(_stored(part.targets)), set(names_in(part.value)))
                for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Assign)]
    needed = set(_names_of_known_indices(f, node, known))
    while True:
        more = {name for stored, read in assigned if stored & needed for name in read} - needed
        if not more:
            return bool(targets & needed)
        needed |= more


def _stored(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id


def _names_of_known_indices(f: FunctionCompiler, node: ast.For, known: dict[ast.For, bool]) -> Iterator[str]:
    """The names in indices that have to be known: of lists, and in square brackets after a function or type."""
    for statement in node.body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Subscript):
                base: ast.expr = part
                while isinstance(base, ast.Subscript):
                    base = base.value
                if _has_known_index(f, base):
                    yield from names_in(part.slice)
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "joint_matrix":
                for argument in part.args:
                    yield from names_in(argument)
            elif isinstance(part, ast.For | ast.comprehension) and isinstance(part.iter, ast.Call):
                yield from _inner_range(f, part, known)


def _inner_range(f: FunctionCompiler, part: ast.For | ast.comprehension, known: dict[ast.For, bool]) -> Iterator[str]:
    """The bounds of an inner loop that is unrolled have to be known."""
    if isinstance(part, ast.comprehension) or needs_unrolling(f, part, known):
        for argument in getattr(part.iter, "args", ()):
            yield from names_in(argument)


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
    return isinstance(value, Sequence | Static) or (value is None and base.id in f.module)


def _is_made_as_list(f: FunctionCompiler, name: str) -> bool:
    """Whether a name that is not known yet will be a list: one is assigned to it further down."""
    return any(isinstance(part, ast.Assign) and name in _stored(part.targets)
               and isinstance(part.value, ast.List | ast.ListComp | ast.Tuple | ast.BinOp)
               and any(isinstance(inner, ast.List | ast.ListComp | ast.Tuple) for inner in ast.walk(part.value))
               for part in ast.walk(f.node))
