"""What the functions that compile expressions, statements and calls work with.

:class:`Compiler` is the function being compiled, as they see it; :class:`~.function.FunctionCompiler` implements it.
They call one another through it and through :class:`Handlers`, so that no module of them needs all others.
:class:`Unit` is what the functions of one kernel share.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Protocol

from coopmat.diagnostics import Diagnostic, DiagnosticSink, Message, SourceLocation
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.assignments import Assignments
from coopmat.sycl.compiler.results import Result
from coopmat.sycl.compiler.scopes import FunctionScope, Path
from coopmat.sycl.compiler.support import MatrixUses
from coopmat.sycl.compiler.values import Element, Local, Matrix, MatrixValue, NewMatrix, Runtime, Static, Value
from coopmat.sycl.pointers import NO_PROPERTIES
from coopmat.sycl.properties import properties
from coopmat.sycl.source import Definition, Source
from coopmat.tree import nodes as n
from coopmat.tree import types as t

MAX_COPIES = 16_384


class Failed(Exception):
    """What could not be compiled has been reported."""


class GaveUp(Exception):
    """A limit of the whole kernel is exceeded, which has been reported: the rest of it is not compiled."""


@dataclass(slots=True)
class Block:
    """A statement list being compiled; declarations of names that are first assigned further in come first."""

    path: Path
    declarations: list[n.Statement] = field(default_factory=list)
    statements: list[n.Statement] = field(default_factory=list)

    def finish(self, location: SourceLocation | None) -> n.Block:
        """The block's node."""
        return n.Block(location, (*self.declarations, *self.statements))


@dataclass(slots=True)
class Loop:
    """A loop around what is compiled. ``left_by``: the jump that the copy at hand of an unrolled one ends with, if it
    certainly does."""

    left_by: str | None = field(default=None, kw_only=True)


# ------------------------------------------------------------------ the function being compiled


class Compiler(Protocol):
    """One function, or one specialisation of a helper.

    names: the values of the names that are known so far, captured ones included.
    unconditional: the statement lists (their ids) that are carried out whenever control reaches the statement that they
    are part of: what a known condition chose, the bodies of unrolled loops. left_out: those that are not compiled.
    result: what ``return`` returns; None while it is being found.
    returned: what each return statement returns, with its place.
    rebound: the parameters that point to matrices of the caller's objects which get new ones.
    apply_to: of a function that joint_matrix_apply calls, what is returned where nothing else is.
    """

    unit: Unit
    source: Source
    node: Definition
    module: Mapping[str, Any]
    scope: FunctionScope
    names: dict[str, Value]
    blocks: list[Block]
    loops: list[Loop]
    result: Result | None
    returned: list[tuple[Value, ast.AST]]
    assignments: Assignments
    unconditional: set[int]
    left_out: set[int]
    rebound: set[n.Variable]
    apply_to: n.Variable | None

    def location(self, node: ast.AST) -> SourceLocation:
        """Where a node stands."""

    def fail(self, message: Message, node: ast.AST, notes: Sequence[Diagnostic] = (), **values: Any) -> Failed:
        """Report an error, to be raised."""

    def warn(self, message: Message, node: ast.AST, **values: Any) -> None:
        """Report a warning."""

    def host_errors_at(self, node: ast.AST) -> AbstractContextManager[None]:
        """Inside, what an object of the host does not take is an error at ``node``."""

    def known_truth(self, value: Static, node: ast.AST) -> bool:
        """Whether a condition that is known holds."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""

    def read(self, node: ast.expr) -> Value:
        """The value of an expression; that of a variable as it is now."""

    def loaded(self, value: Value, node: ast.AST) -> Value:
        """What an element holds; other values as they are."""

    def held(self, value: Value, node: ast.AST) -> Value:
        """What an element holds now, whatever is assigned to it afterwards; what is computed is computed once."""

    def nested(self, compute: Callable[[], Value]) -> tuple[Value, tuple[n.Statement, ...]]:
        """The value of an expression that may not be evaluated at all, and the statements that it takes."""

    def emit(self, statement: n.Statement) -> None:
        """Append a statement to the block at hand."""

    def perform(self, found: n.Expression) -> None:
        """Append an expression that is evaluated for its effects."""

    def block(self, statements: Sequence[ast.stmt], node: ast.AST, path: Path | None = None,
              before: Callable[[], None] | None = None) -> n.Block:
        """Compile a statement list. ``before`` compiles what comes before them in the block."""

    def lookup(self, name: str, node: ast.AST) -> Value:
        """What a name stands for."""

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value from here on."""

    def is_assigned_once(self, name: str) -> bool:
        """Whether one plain assignment is all that a name gets in what is compiled."""

    def holds_wherever_used(self, name: str) -> bool:
        """Whether the block at hand is carried out wherever control reaches a place that reads ``name``."""

    @property
    def is_straight(self) -> bool:
        """Whether the block at hand is carried out once, whenever the function is."""

    def local(self, node: Definition) -> Local:
        """A function or lambda of this one; the defaults of its parameters are computed now."""

    def capture(self, local: Local) -> Local:
        """A function of this one with the values of what it reads from around it, as they are now."""

    def variable(self, name: str, type_: t.Type, node: ast.AST) -> n.Variable:
        """A new variable."""

    def temporary(self, value: n.Expression, node: ast.AST, hints: properties = NO_PROPERTIES) -> Runtime:
        """A value that is computed once and read several times."""

    def declare(self, name: str, type_: t.Type, node: ast.AST, value: n.Expression | None,
                hints: properties = NO_PROPERTIES) -> Element:
        """Bind ``name`` to a new variable, which lives in the innermost block that all its uses are in."""

    def declare_matrix(self, value: NewMatrix | MatrixValue, name: str, node: ast.AST) -> Matrix:
        """A new matrix object."""

    def materialize(self, value: Value, name: str, node: ast.AST, *, variables: bool) -> Value:
        """A value that a name can keep. ``variables``: constants of a list become variables, too."""

    def assign(self, target: Element, value: n.Expression, node: ast.AST) -> None:
        """Store a value in a variable or behind a pointer."""


# ------------------------------------------------------------------ calls


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call with its arguments evaluated."""

    f: Compiler
    name: str
    node: ast.Call
    arguments: list[Value]
    named: dict[str, Value] = field(default_factory=dict)
    template: tuple[Any, ...] = ()
    receiver: Value | None = None

    def place(self, index: int) -> ast.AST:
        """Where an argument stands."""
        if index < len(self.node.args) and len(self.node.args) == len(self.arguments):
            return self.node.args[index]
        return self.node

    def bind(self, signature: inspect.Signature) -> dict[str, Value]:
        """The arguments by parameter; those left out are missing, one with a star is a list."""
        try:
            bound = signature.bind(*self.arguments, **self.named)
        except TypeError as error:
            raise self.f.fail(messages.BAD_ARGUMENTS, self.node, name=self.name, signature=_shown(signature),
                              reason=error) from None
        return dict(bound.arguments)

    def place_of(self, parameter: str) -> ast.AST:
        """Where the argument for a parameter stands."""
        for keyword in self.node.keywords:
            if keyword.arg == parameter:
                return keyword.value
        return self.node

    def wrong(self, parameter: str, expected: str, found: Value, node: ast.AST | None = None) -> Exception:
        """An argument is not what the function takes."""
        return self.f.fail(messages.ARGUMENT_TYPE, node or self.node, name=self.name, parameter=parameter,
                           expected=expected, found=found)


def _shown(signature: inspect.Signature) -> str:
    """A signature without types: ``(g, res, src, stride[, Layout])``."""
    parameters = list(signature.parameters.values())
    names = [f"*{parameter.name}" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name
             for parameter in parameters if parameter.default is parameter.empty]
    optional = [parameter.name for parameter in parameters if parameter.default is not parameter.empty]
    return f"({', '.join(names)}{''.join(f'[, {name}' for name in optional)}{']' * len(optional)})"


class HelperCalls(Protocol):
    """The helpers of a kernel, as those see them who call them."""

    def of_function(self, f: Compiler, function: FunctionType, node: ast.AST) -> Local:
        """A Python function as one that a kernel can call; the same for each of its calls."""

    def of_callable(self, f: Compiler, callee: Any, node: ast.AST) -> Local | None:
        """A function, a bound method, or an object whose class has ``__call__``, as one that a kernel can call; None
        for what has no source in Python, for classes, and for objects of this package."""

    def call(self, given: CallSite, local: Local) -> Value:
        """A call of a helper or of a local function."""

    def call_function(self, f: Compiler, function: FunctionType, arguments: list[Value], node: ast.AST) -> Value:
        """A call that is written as something else: of a property, of an operator."""

    def call_for_element(self, f: Compiler, local: Local, given: CallSite, values: Sequence[tuple[str, Value]],
                         stored: t.Scalar) -> n.Call:
        """A call, for one element of a matrix, of the function that joint_matrix_apply got."""

    def overloaded(self, f: Compiler, symbol: str, left: Value, right: Value, node: ast.AST) -> Value | None:
        """An operator that the class of an operand defines; None if neither does."""

    def overloaded_unary(self, f: Compiler, symbol: str, value: Value, node: ast.AST) -> Value | None:
        """The same of an operator with one operand."""


class CapturingParameters(Protocol):
    """The kernel's parameters, to which arrays are added that it captures."""

    @property
    def function(self) -> Compiler:
        """The kernel itself."""

    def captured(self, f: Compiler, name: str, value: Any, node: ast.AST) -> Value:
        """What a name from outside of the kernel is in there; arrays become parameters of the kernel."""


# ------------------------------------------------------------------ what the functions of a kernel share

ExpressionHandler = Callable[[Compiler, Any], Value]
StatementHandler = Callable[[Compiler, Any], None]
CallHandler = Callable[[CallSite], Value]
OperatorHandler = Callable[[Compiler, str, list[Value], ast.expr | ast.stmt], Value]


@dataclass(frozen=True)
class Handlers:
    """What everything in a kernel's source becomes; :mod:`.handlers` puts the tables together.

    device_functions: by the function's name. python_functions: of Python, ``math`` and ``numpy``. methods: by the class
    of the receiver; ``CallSite.name`` is the method. sub_group_methods: by name, those that other modules have.
    operators: by the class of an operand that is no number.
    """

    expressions: Mapping[type[ast.expr], ExpressionHandler]
    statements: Mapping[type[ast.stmt], StatementHandler]
    device_functions: Mapping[str, CallHandler]
    python_functions: Mapping[Any, CallHandler]
    methods: Mapping[type[Value], CallHandler]
    sub_group_methods: Mapping[str, CallHandler]
    operators: Mapping[type[Value], OperatorHandler]


class Unit:
    """What the functions of one kernel share.

    scope: what annotations name besides what their functions do. arrays: the lists (their origins) that lie in memory,
    because the kernel computes indices of them; indexed: those that should. globals: variables of the program; tables
    and strings: those with constants. imports: functions that the target has. has_double: whether the device has
    float64. has_assertions: whether assert is compiled. functions: those compiled so far.
    calls: of the helpers being compiled, outermost first. being_passed: ids of the local functions whose captured
    values are being passed.
    """

    helpers: HelperCalls
    parameters: CapturingParameters

    def __init__(self, handlers: Handlers, sink: DiagnosticSink, scope: Mapping[str, Any],
                 arrays: AbstractSet[Any] = frozenset(), *, has_double: bool = True,
                 has_assertions: bool = True) -> None:
        self.handlers = handlers
        self.sink = sink
        self.has_double = has_double
        self.has_assertions = has_assertions
        self.scope = scope
        self.arrays = arrays
        self.indexed: set[Any] = set()
        self.globals: list[n.Variable] = []
        self.tables: dict[Any, n.Variable] = {}
        self.strings: dict[tuple[str, t.AddressSpace], n.Variable] = {}
        self.imports: dict[str, n.Function] = {}
        self.functions: list[n.Function] = []
        self.uses = MatrixUses()
        self.calls: list[tuple[str, SourceLocation]] = []
        self.being_passed: list[int] = []
        self.element_functions: dict[Any, n.Function] = {}  # made for matrix instructions
        self._names: dict[str, int] = {}
        self._copies = 0  # of the bodies of unrolled loops and comprehensions

    def count_copies(self, f: Compiler, count: int, node: ast.AST) -> None:
        """Note that something is about to be compiled ``count`` times; what is in it counts for itself."""
        self._copies += count
        if self._copies > MAX_COPIES:
            f.fail(messages.TOO_MANY_COPIES, node, limit=MAX_COPIES)
            raise GaveUp

    def unique(self, name: str) -> str:
        """A name that no other function of the program has."""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return f"{name}.{count}" if count else name
