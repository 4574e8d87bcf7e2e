"""Which names a function assigns, how often, and in which blocks they occur: found before it is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

Path = tuple[int, ...]
"""A block's place: the ids of the statement lists that it is inside of, outermost first."""


_READING = frozenset(("len", "range", "zip", "enumerate", "reversed", "min", "max", "sum", "list", "tuple", "all",
                      "any", "print", "printf"))
"""Functions of Python that do not assign elements of what they get."""
_WALKS = frozenset(("zip", "enumerate", "reversed"))
"""Those that give the elements themselves."""


@dataclass(frozen=True, slots=True)
class Store:
    """An assignment, loop target or definition; ``is_plain``: an assignment of the name alone, or a definition."""

    path: Path
    is_plain: bool


@dataclass
class NameFacts:
    """What is known of a local name. ``item_stores`` counts assignments of its elements (a call that gets the name as
    an argument may assign elements, too), ``looped`` loop targets. ``leaks``: it is read where no loop around has it as
    its target, or assigned where one has. ``paths`` are the blocks in which the name occurs."""

    stores: list[Store] = field(default_factory=list)
    looped: int = 0
    leaks: bool = False
    item_stores: int = 0
    is_captured: bool = False
    paths: list[Path] = field(default_factory=list)

    @property
    def block(self) -> Path:
        """The block that a variable lives in: the innermost one with all occurrences; the function's own for a name
        that a local function reads, because it may be called from anywhere."""
        return self.paths[0][:1] if self.is_captured else self.common_block

    @cached_property
    def common_block(self) -> Path:
        """The innermost block that all occurrences are in; a local function is one where it is defined."""
        common = self.paths[0]
        for path in self.paths[1:]:
            length = next((i for i, (a, b) in enumerate(zip(common, path, strict=False)) if a != b),
                          min(len(common), len(path)))
            common = common[:length]
        return common


@dataclass(frozen=True, slots=True)
class FunctionScope:
    """The local names of a function, and the names that it takes from outside; ``changed`` are those of them whose
    elements it may assign."""

    names: dict[str, NameFacts]
    free: frozenset[str]
    changed: frozenset[str]

    def is_assigned_once(self, name: str, left_out: AbstractSet[int] = frozenset()) -> bool:
        """Whether one plain assignment is all that a name gets, apart from those in blocks that are left out (ids of
        their statement lists)."""
        facts = self.names.get(name)
        stores = [] if facts is None else [store for store in facts.stores if left_out.isdisjoint(store.path)]
        return len(stores) == 1 and stores[0].is_plain

    def count_stores(self, name: str, left_out: AbstractSet[int] = frozenset()) -> int:
        """How often a name is assigned, its parameter included, apart from blocks that are left out."""
        facts = self.names.get(name)
        return 0 if facts is None else sum(left_out.isdisjoint(store.path) for store in facts.stores)

    def is_loop_variable(self, name: str) -> bool:
        """Whether a name belongs to loops alone: no value of it leaves a loop, or enters one."""
        facts = self.names[name]
        return len(facts.stores) == facts.looped and not facts.leaks

    def is_changed_in_loop(self, name: str, body: Path) -> bool:
        """Whether a loop's body assigns the loop's variable, too."""
        facts = self.names.get(name)
        return facts is not None and sum(store.path[:len(body)] == body for store in facts.stores) > 1


def scope_of(function: ast.FunctionDef | ast.Lambda) -> FunctionScope:
    """The facts of a function's names."""
    finder = _Finder()
    for argument in arguments_of(function):
        finder.store(argument.arg, ())
    body: list[ast.stmt] = function.body if isinstance(function, ast.FunctionDef) else [ast.Return(function.body)]
    finder.block(body, ())
    for name in finder.captured & finder.names.keys():
        finder.names[name].is_captured = True
    finder.spread_item_stores()
    known = {name: facts for name, facts in finder.names.items() if facts.stores}
    free = frozenset((finder.names.keys() | finder.captured) - known.keys())
    return FunctionScope(known, free, frozenset(name for name in free if finder.facts(name).item_stores))


def arguments_of(function: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    """The parameters in order."""
    found = function.args
    return [*found.posonlyargs, *found.args, *found.kwonlyargs]


def defaults_of(function: ast.FunctionDef | ast.Lambda) -> dict[str, ast.expr]:
    """The parameters with defaults."""
    found = function.args
    positional = [*found.posonlyargs, *found.args]
    pairs = [*zip(positional[len(positional) - len(found.defaults):], found.defaults, strict=True),
             *zip(found.kwonlyargs, found.kw_defaults, strict=True)]
    return {argument.arg: default for argument, default in pairs if default is not None}


def block_path(path: Path, statements: list[ast.stmt]) -> Path:
    """The path of a block inside another."""
    return (*path, id(statements))


class _Finder(ast.NodeVisitor):
    """Collects the facts, statement list by statement list."""

    def __init__(self) -> None:
        self.names: dict[str, NameFacts] = {}
        self.captured: set[str] = set()
        self.aliases: list[tuple[str, str]] = []
        self.path: Path = ()
        self.targets: frozenset[str] = frozenset()  # of the loops around

    def facts(self, name: str) -> NameFacts:
        return self.names.setdefault(name, NameFacts())

    def store(self, name: str, path: Path, plain: bool = False) -> None:
        facts = self.facts(name)
        facts.stores.append(Store(path, plain))
        facts.leaks |= name in self.targets
        facts.paths.append(path)

    def read(self, name: str) -> None:
        facts = self.facts(name)
        facts.leaks |= name not in self.targets
        facts.paths.append(self.path)

    def block(self, statements: list[ast.stmt], path: Path) -> None:
        outside, self.path = self.path, block_path(path, statements)
        for statement in statements:
            self.visit(statement)
        self.path = outside

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.read(node.id)
        else:
            self.store(node.id, self.path)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._alias(target, node.value)
            self._target(target, plain=True)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        self._target(node.target, plain=False)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._target(node.target, plain=False)

    def _target(self, target: ast.expr, plain: bool) -> None:
        if isinstance(target, ast.Name):
            self.store(target.id, self.path, plain)
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self._target(item, plain)
        else:
            self._item_store(target)
            self.visit(target)

    def _item_store(self, target: ast.expr) -> None:
        """``a.b[0] = 1`` assigns an element of ``a``."""
        base = _base(target)
        if isinstance(base, ast.Name):
            self.facts(base.id).item_stores += 1

    def _alias(self, target: ast.expr, value: ast.expr) -> None:
        """What is assigned, or what a loop runs over, may be part of what a name stands for."""
        is_walk = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _WALKS
        for part in value.args if is_walk and isinstance(value, ast.Call) else [value]:
            base = _base(part)
            if isinstance(base, ast.Name) and not isinstance(target, ast.Subscript | ast.Attribute):
                self.aliases += [(name, base.id) for name in names_in(target)]

    def spread_item_stores(self) -> None:
        """What is assigned under one name is so under all that the elements may have."""
        changed = True
        while changed:
            changed = False
            for name, source in self.aliases:
                if self.facts(name).item_stores and not self.facts(source).item_stores:
                    self.facts(source).item_stores = 1
                    changed = True

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            self._item_store(node.func)
        if not (isinstance(node.func, ast.Name) and node.func.id in _READING):
            for argument in node.args:
                self._item_store(argument)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._blocks(node.body, node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._blocks(node.body, node.orelse)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            outside, self.path = self.path, block_path(self.path, case.body)
            self.visit(case.pattern)
            for name in assigned_names(case.pattern):
                self.store(name, self.path, plain=True)
            if case.guard is not None:
                self.visit(case.guard)
            self.path = outside
            self._blocks(case.body)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._alias(node.target, node.iter)
        outside, self.path = self.path, block_path(self.path, node.body)
        self._target(node.target, plain=False)
        self.path = outside
        around, own = self.targets, frozenset(names_in(node.target))
        for name in own:
            self.facts(name).looped += 1
        self.targets |= own
        self._blocks(node.body)
        self.targets = around
        self._blocks(node.orelse)

    def _blocks(self, *blocks: list[ast.stmt]) -> None:
        for statements in blocks:
            if statements:
                self.block(statements, self.path)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.store(node.name, self.path, plain=True)
        self._inner(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._inner(node)

    def _inner(self, node: ast.FunctionDef | ast.Lambda) -> None:
        for default in defaults_of(node).values():
            self.visit(default)
        inner = scope_of(node)
        self.captured |= inner.free
        for name in inner.free:
            self.read(name)
        for name in inner.changed:
            self.facts(name).item_stores += 1

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node, node.elt)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node, node.elt)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, element: ast.expr) -> None:
        """The targets are names of the comprehension, not of the function."""
        own = {name.id for generator in node.generators for name in ast.walk(generator.target)
               if isinstance(name, ast.Name)}
        inner = _Finder()
        inner.path, inner.targets = self.path, self.targets
        for generator in node.generators:
            self.visit(generator.iter)
            for condition in generator.ifs:
                inner.visit(condition)
        inner.visit(element)
        for name, facts in inner.names.items():
            if name not in own:
                self.facts(name).paths.extend(facts.paths)
                self.facts(name).leaks |= facts.leaks
                self.facts(name).item_stores += facts.item_stores
        self.captured |= inner.captured - own


def _base(node: ast.expr) -> ast.expr:
    """What an element or field is one of."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node


def assigned_names(node: ast.AST) -> Iterator[str]:
    """The names that a statement or pattern assigns, in all that is inside of it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.MatchAs | ast.MatchStar) and part.name is not None:
            yield part.name


def names_in(node: ast.AST) -> Iterator[str]:
    """The names that an expression reads."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
