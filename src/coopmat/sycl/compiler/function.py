"""The compilation of one function: its names, its blocks, its messages.

Expressions, statements and calls are compiled by the functions of their modules, which get a
:class:`~.context.Compiler`; this is it.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from coopmat.diagnostics import Diagnostic, Message, SourceLocation, note
from coopmat.sycl.captures import is_memory
from coopmat.sycl.compiler import arrays, messages
from coopmat.sycl.compiler.assignments import Assignments
from coopmat.sycl.compiler.context import Block, Compiler, Failed, GaveUp, Loop, Unit
from coopmat.sycl.compiler.numbers import convert, expression
from coopmat.sycl.compiler.results import Result
from coopmat.sycl.compiler.scopes import Path, assigned_names, block_path, defaults_of, scope_of
from coopmat.sycl.compiler.values import (
    Aggregate,
    AtomicRef,
    Element,
    Erroneous,
    LayoutValue,
    Local,
    LocalArray,
    Matrix,
    MatrixValue,
    NewMatrix,
    Runtime,
    Static,
    Value,
    leaves,
)
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.sycl.constraints import BrokenConstraint
from coopmat.sycl.pointers import NO_PROPERTIES
from coopmat.sycl.properties import properties
from coopmat.sycl.source import Definition, Source
from coopmat.tree import nodes as n
from coopmat.tree import types as t


class FunctionCompiler:
    """One function, or one specialisation of a helper: a :class:`Compiler`, which describes the attributes."""

    def __init__(self, unit: Unit, source: Source, node: Definition, module: Mapping[str, Any],
                 captured: Mapping[str, Value]) -> None:
        self.unit = unit
        self.source = source
        self.node = node
        self.module = module
        self.scope = scope_of(node)
        self.names: dict[str, Value] = dict(captured)
        self.blocks: list[Block] = []
        self.loops: list[Loop] = []
        self.result: Result | None = None
        self.returned: list[tuple[Value, ast.AST]] = []
        self.assignments = Assignments(frozenset(captured))
        self.unconditional: set[int] = set()
        self.left_out: set[int] = set()
        self.rebound: set[n.Variable] = set()
        self.apply_to: n.Variable | None = None

    # ------------------------------------------------------------------ messages

    def location(self, node: ast.AST) -> SourceLocation:
        """Where a node stands."""
        return self.source.location(node)

    def fail(self, message: Message, node: ast.AST, notes: Sequence[Diagnostic] = (), **values: Any) -> Failed:
        """Report an error, to be raised."""
        called = [note(f"in the call of '{name}'", place) for name, place in reversed(self.unit.calls)]
        self.unit.sink.report(message, self.location(node), [*notes, *called], **values)
        return Failed()

    def warn(self, message: Message, node: ast.AST, **values: Any) -> None:
        """Report a warning."""
        self.unit.sink.report(message, self.location(node), **values)

    @contextmanager
    def host_errors_at(self, node: ast.AST) -> Iterator[None]:
        """Inside, what an object of the host does not take is an error at ``node``."""
        try:
            yield
        except BrokenConstraint as error:
            raise self.fail(error.message, node, **error.values) from None
        except (Failed, GaveUp):
            raise
        except Exception as error:  # objects of the user may raise anything
            raise self.fail(messages.HOST_ERROR, node, text=f"{error}" or type(error).__name__) from None

    def known_truth(self, value: Static, node: ast.AST) -> bool:
        """Whether a condition that is known holds."""
        with self.host_errors_at(node):
            return bool(value.value)

    # ------------------------------------------------------------------ expressions

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        handler = self.unit.handlers.expressions.get(type(node))
        if handler is None:
            what, advice = _REFUSED_EXPRESSIONS.get(type(node).__name__, (f"this ({type(node).__name__})", _PLAIN))
            raise self.fail(messages.UNSUPPORTED_EXPRESSION, node, what=what, advice=advice)
        value = handler(self, node)
        if isinstance(value, Erroneous):
            raise Failed
        return value

    def read(self, node: ast.expr) -> Value:
        """The value of an expression; that of a variable as it is now."""
        return self.loaded(self.evaluate(node), node)

    def loaded(self, value: Value, node: ast.AST) -> Value:
        """What an element holds; other values as they are."""
        if isinstance(value, Element):
            return Runtime(n.Load(value.type, self.location(node), value.place), value.hints)
        return value

    def held(self, value: Value, node: ast.AST) -> Value:
        """What an element holds now, whatever is assigned to it afterwards; what is computed is computed once. Lists
        and structures are held by reference."""
        if isinstance(value, ValueSequence) and not value.is_list:
            return value.with_items(self.held(item, node) for item in value.items)
        value = self.loaded(value, node)
        if isinstance(value, Runtime) and not isinstance(value.expression, n.WorkItemQuery):
            return self.temporary(value.expression, node, value.hints)
        if isinstance(value, MatrixValue):
            return MatrixValue(value.type, self.declare_matrix(value, "", node).load(self.location(node)))
        return value

    def nested(self, compute: Callable[[], Value]) -> tuple[Value, tuple[n.Statement, ...]]:
        """The value of an expression that may not be evaluated at all, and the statements that it takes."""
        self.blocks.append(Block(self.blocks[-1].path))
        try:
            value = compute()
        finally:
            block = self.blocks.pop()
        return value, (*block.declarations, *block.statements)

    # ------------------------------------------------------------------ statements

    def emit(self, statement: n.Statement) -> None:
        """Append a statement to the block at hand."""
        self.blocks[-1].statements.append(statement)

    def perform(self, found: n.Expression) -> None:
        """Append an expression that is evaluated for its effects."""
        self.emit(n.Evaluate(found.location, found))

    def block(self, statements: Sequence[ast.stmt], node: ast.AST, path: Path | None = None,
              before: Callable[[], None] | None = None) -> n.Block:
        """Compile a statement list; each statement that fails is reported, and the others are compiled, too.

        before: compiles what comes before them in the block.
        """
        outer = self.blocks[-1].path if self.blocks else ()
        self.blocks.append(Block(path if path is not None else block_path(outer, statements)))  # type: ignore[arg-type]
        try:
            if before is not None:
                before()
            self.statements(statements)
        finally:
            block = self.blocks.pop()
        return block.finish(self.location(node))

    def statements(self, statements: Sequence[ast.stmt]) -> None:
        """Compile statements into the block at hand, up to one that control does not get beyond."""
        for statement in statements:
            if (self.loops and self.loops[-1].left_by is not None) or not self.assignments.is_reached:
                return
            try:
                self.statement(statement)
            except Failed:
                self._forget(statement)

    def statement(self, node: ast.stmt) -> None:
        """Compile one statement."""
        handler = self.unit.handlers.statements.get(type(node))
        if handler is None:
            what, advice = _REFUSED_STATEMENTS.get(type(node).__name__, (f"this ({type(node).__name__})", _PLAIN))
            raise self.fail(messages.UNSUPPORTED_STATEMENT, node, what=what, advice=advice)
        handler(self, node)

    def _forget(self, node: ast.stmt) -> None:
        """After an error: names that the statement would have assigned are not complained about again."""
        if isinstance(node, ast.FunctionDef) and node.name not in self.names:
            self.bind(node.name, Erroneous())
        for name in assigned_names(node):
            if name not in self.names:
                self.bind(name, Erroneous())

    # ------------------------------------------------------------------ names

    def lookup(self, name: str, node: ast.AST) -> Value:
        """What a name stands for."""
        if name in self.names:
            return self._assigned(name, self.names[name], node)
        if name in self.scope.names:
            message = messages.NONLOCAL if name in self.module else messages.UNASSIGNED
            raise self.fail(message, node, name=name)
        if name in self.module:
            return self.unit.parameters.captured(self, name, self.module[name], node)
        known = [*self.names, *self.scope.names, *(one for one in self.module if not hasattr(builtins, one))]
        close = difflib.get_close_matches(name, known, n=1)
        raise self.fail(messages.UNDEFINED_NAME, node, name=name, hint=f"; did you mean '{close[0]}'?" if close else "")

    def _assigned(self, name: str, value: Value, node: ast.AST) -> Value:
        """What a name stands for; said once where it may stand for nothing."""
        if not isinstance(value, Erroneous) and self.assignments.may_be_missing(name):
            self.assignments.assign(name)
            known = next((leaf for leaf in leaves(value) if not isinstance(leaf, Element | Matrix)), None)
            if known is not None:
                raise self.fail(messages.CONSTANT_UNASSIGNED, node, name=name, found=value)
            self.warn(messages.MAYBE_UNASSIGNED, node, name=name)
        return value

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value from here on."""
        self.names[name] = value
        self.assignments.assign(name)

    def is_assigned_once(self, name: str) -> bool:
        """Whether one plain assignment is all that a name gets in what is compiled."""
        return self.scope.is_assigned_once(name, self.left_out)

    def holds_wherever_used(self, name: str) -> bool:
        """Whether the block at hand is carried out wherever control reaches a place that reads ``name``."""
        facts = self.scope.names.get(name)
        path = self.blocks[-1].path
        home = path if facts is None else facts.common_block
        return all(part in self.unconditional for part in path[len(home):])

    @property
    def is_straight(self) -> bool:
        """Whether the block at hand is carried out once, whenever the function is."""
        path = self.blocks[-1].path[len(self.blocks[0].path):]
        return not self.loops and all(part in self.unconditional for part in path)

    def local(self, node: Definition) -> Local:
        """A function or lambda of this one; the defaults of its parameters are computed now."""
        found = {}
        for name, default in defaults_of(node).items():
            value = self.read(default)
            if isinstance(value, Runtime):
                value = self.temporary(value.expression, default, value.hints)
            found[f"{name}="] = value
        return Local(self.source, node, self.module, self, found)

    def capture(self, local: Local) -> Local:
        """A function of this one with the values of what it reads from around it, as they are now.

        Memory that it reads from outside of the kernel is captured by the kernel, which passes it on.
        """
        if local.scope is not self:
            return local
        found = dict(local.captured)
        for name in sorted(scope_of(local.node).free):
            if name in self.names or name in self.scope.names or (
                    self is self.unit.parameters.function and is_memory(self.module.get(name))):
                found[name] = self.loaded(self.lookup(name, local.node), local.node)
        return replace(local, scope=None, captured=found)

    def variable(self, name: str, type_: t.Type, node: ast.AST) -> n.Variable:
        """A new variable."""
        return n.Variable(name, type_, self.location(node))

    def temporary(self, value: n.Expression, node: ast.AST, hints: properties = NO_PROPERTIES) -> Runtime:
        """A value that is computed once and read several times."""
        if isinstance(value, n.Constant):
            return Runtime(value, hints)
        variable = self.variable("", value.type, node)
        self.emit(n.Declare(self.location(node), variable, value))
        place = n.VariablePlace(value.type, self.location(node), variable)
        return Runtime(n.Load(value.type, self.location(node), place), hints)

    def declare(self, name: str, type_: t.Type, node: ast.AST, value: n.Expression | None,
                hints: properties = NO_PROPERTIES) -> Element:
        """Bind ``name`` to a new variable, which lives in the innermost block that all its uses are in."""
        location = self.location(node)
        variable = self.variable(name, type_, node)
        place = n.VariablePlace(type_, location, variable)
        facts = self.scope.names.get(name)
        home = facts.block if facts is not None else self.blocks[-1].path
        block = next((block for block in self.blocks if block.path == home), self.blocks[-1])
        if block.path == self.blocks[-1].path or len(home) > len(self.blocks[-1].path):
            self.emit(n.Declare(location, variable, value))
        else:
            block.declarations.append(n.Declare(location, variable))
            if value is not None:
                self.perform(n.Assign(type_, location, place, value))
        if value is not None:
            self.assignments.assign(name)
        return Element(place, hints)

    def declare_matrix(self, value: NewMatrix | MatrixValue, name: str, node: ast.AST) -> Matrix:
        """A new matrix object."""
        self.unit.uses.matrices.setdefault(value.type, self.location(node))
        elements = value.expression if isinstance(value, MatrixValue) else None
        element = self.declare(name, value.type.tree, node, elements)
        self.assignments.assign(name)
        return Matrix(value.type, element.place)

    def materialize(self, value: Value, name: str, node: ast.AST, *, variables: bool) -> Value:
        """A value that a name can keep: new matrices become objects, what is computed becomes a variable.

        ``variables``: constants of a list become variables, too, because they are assigned to.
        """
        if isinstance(value, NewMatrix | MatrixValue):
            return self.declare_matrix(value, name, node)
        if isinstance(value, Aggregate):
            return self._materialize_parts(value, name, node, variables=variables)
        if isinstance(value, AtomicRef | LocalArray):
            pointer = self.declare(name, value.pointer.type, node, value.pointer)
            return replace(value, pointer=expression(self, pointer, node))
        if isinstance(value, LayoutValue):
            number = self.declare(name, value.expression.type, node, value.expression)
            return LayoutValue(expression(self, number, node))
        if isinstance(value, Runtime) or (variables and isinstance(value, Static) and value.is_number):
            found = expression(self, value, node)
            hints = value.hints if isinstance(value, Runtime) else NO_PROPERTIES
            return self.declare(name, found.type, node, found, hints)
        return value

    def _materialize_parts(self, value: Aggregate, name: str, node: ast.AST, *, variables: bool) -> Value:
        """A list, tuple or structure that a name can keep; a list that has a name is what it is."""
        origin = (self.source.file.name, getattr(node, "lineno", 0), getattr(node, "col_offset", 0), name)
        if isinstance(value, ValueSequence):
            if value.is_list and (value.origin is not None or value.array is not None):
                return value
            if origin in self.unit.arrays:
                return replace(arrays.made(self, value, name, node), origin=origin)
        if variables:
            self._refuse_copies(value, name, node)
        found = value.with_items(self.materialize(
            item if value.is_mutable else self.loaded(item, node), inner, node, variables=variables)
            for item, inner in zip(value.items, value.spelled(name), strict=True))
        return replace(found, origin=origin) if isinstance(found, ValueSequence) else found

    def _refuse_copies(self, value: Aggregate, name: str, node: ast.AST) -> None:
        """A list or object of constants, which become variables where it gets a name, must have no other name."""
        for index, item in enumerate(value.items):
            if not isinstance(item, Aggregate) or not item.is_mutable or not any(
                    isinstance(leaf, Static) and leaf.is_number for leaf in leaves(item)):
                continue
            others = (*self.names.values(), *value.items[:index], *value.items[index + 1:])
            if any(item is held for other in others for held in _parts_of(other)):
                raise self.fail(messages.SHARED, node, name=value.spelled(name)[index], found=item, reason=_CONSTANTS)

    def assign(self, target: Element, value: n.Expression, node: ast.AST) -> None:
        """Store a value in a variable or behind a pointer."""
        converted = convert(self, value, target.type, node)
        self.perform(n.Assign(target.type, self.location(node), target.place, converted))


_CONSTANTS = "whose parts are constants; numbers with a type, such as float32(0), make variables of them"


def _parts_of(value: Value) -> Iterator[Value]:
    """A value, and all that it is made of."""
    yield value
    for item in value.items if isinstance(value, Aggregate) else ():
        yield from _parts_of(item)


def body_of(f: Compiler) -> n.Block:
    """The statements of a function, or the expression of a lambda."""
    if isinstance(f.node, ast.FunctionDef):
        return f.block(f.node.body, f.node)
    statement = ast.copy_location(ast.Return(f.node.body), f.node.body)
    return f.block([statement], f.node, (0,))


_PLAIN = "write it with the statements and expressions that docs/joint-matrix.md lists"
_REFUSED_EXPRESSIONS: dict[str, tuple[str, str]] = {
    "Dict": ("a dictionary", "use separate variables"),
    "Set": ("a set", "use a list or a tuple"),
    "DictComp": ("a dictionary", "use separate variables"),
    "SetComp": ("a set", "use a list"),
    "Await": ("await", "a kernel runs by itself"),
    "Yield": ("yield", "store the values in a list or through a pointer"),
    "YieldFrom": ("yield", "store the values in a list or through a pointer"),
    "Starred": ("'*' before an argument", "write the arguments one by one"),
    "Slice": ("a slice of what is no list", "write a loop over the elements"),
    "NamedExpr": ("':='", "assign in a statement of its own"),
}
_REFUSED_STATEMENTS: dict[str, tuple[str, str]] = {
    "Try": ("try", "device code has no exceptions; test the condition with if"),
    "TryStar": ("try", "device code has no exceptions; test the condition with if"),
    "Raise": ("raise", "device code has no exceptions; write assert, or store an error code through a pointer"),
    "With": ("with", "device code has no context managers"),
    "AsyncWith": ("async", "a kernel runs by itself"),
    "AsyncFor": ("async", "a kernel runs by itself"),
    "AsyncFunctionDef": ("async", "a kernel runs by itself"),
    "ClassDef": ("a class", "define it outside of the kernel"),
    "Import": ("import", "import at the top of the file"),
    "ImportFrom": ("import", "import at the top of the file"),
    "Global": ("global", "pass values as parameters, and results through pointers"),
    "Nonlocal": ("nonlocal", "a local function gets values only; return the new value"),
    "Delete": ("del", "a variable lives as long as its function"),
}
