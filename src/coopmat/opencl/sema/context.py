"""The state of one analysis and the services that all its parts share: reports, scopes, conversions.

``matrix.py`` and ``opencl/builtins`` are written against this class. The analysis calls into
``matrix.py`` through these functions, all given the :class:`Context` first::

    declare_predefined(context) -> None
        enumerators and type names: calls context.declare_typedef and context.declare_enumerators
    TYPE_NAMES: frozenset[str]            type names that declare_predefined declares (for the parser)
    FUNCTION_NAMES: frozenset[str]        names of the built-in functions
    matrix_type(context, element: Type, arguments: list[Expression], location) -> Type
        applies the coop_mat attribute; returns ERROR (values.py) after a report
    call(context, name, arguments: list[Expression], location, close, target: Type | None) -> Expression
        target is the type that the result is assigned to or initialises; None where there is none
    unary(context, operator: str, operand: Expression, location) -> Expression      "+", "-", "~", "!"
    binary(context, operator: str, left: Expression, right: Expression, location) -> Expression
        at least one operand has a Matrix type; for ``a += b`` the operator is "+" and the result is assigned
    component(context, base: Place | Expression, index: Expression, location) -> Place | Expression
        ``base[index]`` of a matrix
    check_object(context, type_: Type, space: AddressSpace, location, what: str) -> bool
        False after a report: the declared type may not live there; ``what`` is "variable", "parameter",
        "kernel parameter", "member" or "result"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coopmat.diagnostics import Diagnostic, DiagnosticSink, FixIt, Marks, Message, SourceLocation, note
from coopmat.opencl import syntax
from coopmat.opencl.extents import ranges_at
from coopmat.opencl.keywords import STATEMENT_WORDS
from coopmat.opencl.overloading import Fit
from coopmat.opencl.sema import conversions, ranking
from coopmat.opencl.sema.conversions import Purpose
from coopmat.opencl.sema.values import ERROR, Error, Operand, is_error, value_of
from coopmat.opencl.spelling import closest
from coopmat.support.build_options import LATEST, Language
from coopmat.tree import constants
from coopmat.tree.conversions import promote
from coopmat.tree.nodes import Case, Constant, Expression, Function, Label, Program, Variable
from coopmat.tree.types import INT, AddressSpace, Enumeration, Record, Type

if TYPE_CHECKING:
    from coopmat.opencl.sema.formats import String


@dataclass(frozen=True, slots=True)
class QualifiedType:
    """A declared type with its qualifiers; ``address_space`` is None where none was written.

    ``type_alignment`` is what a type's name says with ``aligned`` (in place of the type's own alignment),
    ``alignment`` what the declaration itself says. ``of_device`` is the name, such as ``size_t``, of a
    type whose size the device decides.
    """

    type: Type
    const: bool = False
    volatile: bool = False
    restrict: bool = False
    address_space: AddressSpace | None = None
    alignment: int | None = None
    type_alignment: int | None = None
    of_device: str | None = None


@dataclass(frozen=True, slots=True)
class Typedef:
    """A name for a type."""

    name: str
    type: QualifiedType
    location: SourceLocation | None


@dataclass(frozen=True, slots=True)
class Enumerator:
    """A constant of an enumeration."""

    name: str
    value: Constant
    location: SourceLocation | None
    enumeration: Enumeration | None = None


@dataclass(frozen=True, slots=True)
class FunctionSet:
    """The functions that a name means, several where they are overloadable; in order of declaration."""

    name: str
    members: list[Function]

    @property
    def location(self) -> SourceLocation | None:
        """Where the first one is declared."""
        return self.members[0].location


FUNCTION_SCOPE_DEPTH = 3  # predefined names, the file, the function

Symbol = Variable | FunctionSet | Typedef | Enumerator


@dataclass(slots=True)
class Scope:
    """The names and tags of one block."""

    symbols: dict[str, Symbol] = field(default_factory=dict)
    tags: dict[str, tuple[Record | Enumeration, SourceLocation]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenSwitch:
    """A switch whose body is being analysed: its value, the labels so far, the statement expressions around it."""

    value: Expression
    cases: list[Case]
    inside: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """A function of the program that is applied to the elements of a matrix somewhere."""

    function: Function
    location: SourceLocation | None


@dataclass(slots=True)
class FunctionState:
    """What is known of the function whose body is being analysed.

    ``inside`` are the statement expressions (by number) around the statement at hand; a jump may lead out of
    them, but not in. ``places`` and ``gotos`` note them for each label and goto.
    """

    function: Function
    labels: dict[str, Label] = field(default_factory=dict)
    places: dict[str, tuple[int, ...]] = field(default_factory=dict)
    gotos: list[tuple[str, SourceLocation, tuple[int, ...]]] = field(default_factory=list)
    calls: dict[Function, SourceLocation | None] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)  # that should be used
    typedefs: dict[str, SourceLocation] = field(default_factory=dict)  # that have not been used
    temporaries: list[Variable] = field(default_factory=list)
    switches: list[OpenSwitch] = field(default_factory=list)
    breakables: int = 0
    loops: int = 0
    inside: tuple[int, ...] = ()
    statement_expressions: int = 0


class Context:
    """One analysis: where it reports to, what is declared, and the conversions that all parts use.

    ``features`` holds the names of the feature macros that the device defines (``cl_khr_fp64``, …),
    ``disabled_extensions`` those that ``#pragma OPENCL EXTENSION … : disable`` has turned off here;
    ``language`` is the version of OpenCL C.
    """

    def __init__(self, sink: DiagnosticSink, features: Iterable[str] = (), language: Language = LATEST,
                 single_precision_constants: bool = False, macro_names: Iterable[str] = ()) -> None:
        self.sink = sink
        self.macro_names = macro_names
        self.features = frozenset(features)
        self.language = language
        self.single_precision_constants = single_precision_constants
        self.program = Program()
        self.scopes: list[Scope] = [Scope()]  # predefined names; then the file's scope, the function's, …
        self.function: FunctionState | None = None
        self.builtin_names: frozenset[str] = frozenset()
        self.functions: dict[str, list[Function]] = {}  # all of each name, whatever scope declares them
        self.calls: dict[Function, dict[Function, SourceLocation | None]] = {}
        self.nesting: dict[Record, int] = {}  # levels of arrays, pointers and records, of complete ones
        self.element_functions: dict[tuple[object, ...], Function] = {}  # made for matrix instructions
        self.applied: list[Applied] = []
        self.known: dict[Variable, Expression] = {}
        self.modifications = 0  # assignments and increments so far
        self.references: Counter[Variable] = Counter()  # how often each is named
        self.stores: Counter[Variable] = Counter()  # how often by a statement that only writes it
        self.static_functions: list[Function] = []  # that should be called
        self.static_variables: list[Variable] = []  # outside of functions, that should be used
        self.silenced: set[Variable] = set()  # parameters that may go unused
        self.literals: dict[Variable, syntax.StringLiteral] = {}  # constant arrays that a string literal fills
        self.strings: dict[Variable, list[String]] = {}  # what const pointers in functions may point to
        self.undefined: dict[Variable, SourceLocation | None] = {}  # declared only, with their first use
        self.tentative: set[Variable] = set()  # zero unless a later declaration has a value
        self.disabled_extensions: set[str] = set()
        self.depth = 0
        self.syntax: syntax.Node | None = None  # the statement or declaration that is being analysed

    @contextmanager
    def analyzing(self, node: syntax.Node) -> Iterator[None]:
        """Reports are about ``node``, for the time of a ``with``."""
        outer, self.syntax = self.syntax, node
        try:
            yield
        finally:
            self.syntax = outer

    # ------------------------------------------------------------------ reports

    def report(self, message: Message, location: SourceLocation | None, notes: Iterable[Diagnostic] = (), *,
               whole: bool = False, fix: FixIt | None = None, **values: Any) -> None:
        """Report a row of a message table. The operands of the operator at ``location`` are underlined or, if it is
        where an operand begins that is meant as a ``whole``, that operand."""
        if self.sink.is_on(message, location):
            marks = Marks(ranges_at(self.syntax, location, whole), fix)
            self.sink.report(message, location, notes, marks, **values)

    def error(self, message: Message, location: SourceLocation | None, notes: Iterable[Diagnostic] = (), *,
              whole: bool = False, fix: FixIt | None = None, **values: Any) -> Error:
        """Report a row of a message table and return the expression that stands for the wrong one."""
        self.report(message, location, notes, whole=whole, fix=fix, **values)
        return self.error_expression(location)

    def error_expression(self, location: SourceLocation | None) -> Error:
        """An expression that has been reported; its type is ERROR and it converts silently."""
        return Error(ERROR, location)

    def has(self, *features: str) -> bool:
        """Whether the device defines one of these feature macros."""
        return any(feature in self.features for feature in features)

    # ------------------------------------------------------------------ scopes and names

    @property
    def scope(self) -> Scope:
        """The innermost scope."""
        return self.scopes[-1]

    @property
    def predefined(self) -> Scope:
        """The scope of what is declared before the program begins."""
        return self.scopes[0]

    @property
    def file_scope(self) -> Scope:
        """The scope of what is declared outside of functions."""
        return self.scopes[1]

    @property
    def in_outermost_block(self) -> bool:
        """Whether the innermost scope is that of a function's parameters and body."""
        return len(self.scopes) == FUNCTION_SCOPE_DEPTH

    @property
    def at_file_scope(self) -> bool:
        """Whether no function's body is being analysed."""
        return self.function is None

    @contextmanager
    def new_scope(self) -> Iterator[Scope]:
        """A block's scope, for the time of a ``with``."""
        self.scopes.append(Scope())
        try:
            yield self.scopes[-1]
        finally:
            self.scopes.pop()

    def lookup(self, name: str) -> Symbol | None:
        """What ``name`` means here, or None."""
        for scope in reversed(self.scopes):
            if name in scope.symbols:
                return scope.symbols[name]
        return None

    def lookup_tag(self, tag: str) -> tuple[Record | Enumeration, SourceLocation] | None:
        """The structure, union or enumeration called ``tag``, and where it was declared first."""
        for scope in reversed(self.scopes):
            if tag in scope.tags:
                return scope.tags[tag]
        return None

    def declare_typedef(self, name: str, type_: Type, location: SourceLocation | None = None) -> None:
        """Give ``type_`` a name in the innermost scope."""
        self.scope.symbols[name] = Typedef(name, QualifiedType(type_), location)

    def declare_enumerators(self, enumeration: Enumeration | None, values: dict[str, int]) -> None:
        """Declare integer constants in the innermost scope. Like all enumerators of C they are ints."""
        for name, value in values.items():
            self.scope.symbols[name] = Enumerator(name, Constant(INT, None, value), None, enumeration)

    def enumerators(self, enumeration: Enumeration) -> Iterator[tuple[str, Constant]]:
        """The constants of an enumeration, where it is visible."""
        for scope in self.scopes:
            for name, symbol in scope.symbols.items():
                if isinstance(symbol, Enumerator) and symbol.enumeration is enumeration:
                    yield name, symbol.value

    def suggestion(self, name: str, candidates: Iterable[str] | None = None) -> str:
        """``"; did you mean 'y'?"`` for a misspelt name, or the empty string."""
        found = closest(name, self._visible_names() if candidates is None else candidates)
        return f"; did you mean '{found}'?" if found else ""

    def misspelt(self, message: Message, name: str, location: SourceLocation,
                 candidates: Iterable[str] | None = None) -> Error:
        """Report a name that is not declared, with the one that was meant: where that is declared, and how the
        source would be right."""
        found = closest(name, self._visible_names() if candidates is None else candidates)
        if found is None:
            return self.error(message, location, name=name, suggestion="")
        symbol = self.lookup(found)
        notes = [note(f"'{found}' declared here", symbol.location)] if symbol is not None and symbol.location else []
        return self.error(message, location, notes, fix=FixIt(location, found), name=name,
                          suggestion=f"; did you mean '{found}'?")

    def names_to_suggest(self) -> list[str]:
        """What a misspelt name in an expression may have been: anything visible, a macro, or, where it is a
        statement of its own, a keyword."""
        names = [*self._visible_names(), *self.macro_names]
        if isinstance(self.syntax, syntax.ExpressionStatement) and isinstance(self.syntax.expression, syntax.Name):
            names += sorted(STATEMENT_WORDS)
        return names

    def function_names(self) -> list[str]:
        """The functions that can be called: the program's, then the built-in ones."""
        return [*self.functions, *sorted(self.builtin_names)]

    def _visible_names(self) -> Iterator[str]:
        for scope in reversed(self.scopes):
            yield from scope.symbols

    def previous(self, location: SourceLocation | None) -> tuple[Diagnostic, ...]:
        """The note that points at an earlier declaration; nothing for predefined names."""
        return (note("previous declaration is here", location),) if location is not None else ()

    # ------------------------------------------------------------------ values

    def value(self, operand: Operand) -> Expression:
        """Lvalue conversion: the value of a place, a pointer to an array's first element."""
        return value_of(operand)

    def temporary(self, type_: Type, location: SourceLocation | None) -> Variable:
        """A new nameless local variable of the current function."""
        assert self.function is not None
        variable = Variable(f".temporary{len(self.function.temporaries)}", type_, location)
        self.function.temporaries.append(variable)
        return variable

    @contextmanager
    def discarding(self) -> Iterator[None]:
        """For the time of a ``with`` an expression that is not evaluated: the strings in it are not kept."""
        count = len(self.program.globals)
        try:
            yield
        finally:
            del self.program.globals[count:]

    # ------------------------------------------------------------------ conversions and constants

    def convert(self, expression: Expression, type_: Type, location: SourceLocation | None = None,
                purpose: Purpose = Purpose.ASSIGN) -> Expression:
        """Convert implicitly, as if by assignment (C99 6.5.16.1); report where that is not allowed."""
        return conversions.convert(self, expression, type_, location or expression.location, purpose)

    def pass_argument(self, expression: Expression, type_: Type) -> Expression:
        """Convert implicitly what is passed to a parameter of ``type_``; report where that is not allowed."""
        return conversions.convert(self, expression, type_, expression.location, Purpose.PASS)

    def cast(self, expression: Expression, type_: Type, location: SourceLocation | None = None) -> Expression:
        """Convert explicitly, as by a cast; report where that is not allowed."""
        return conversions.cast(self, expression, type_, location or expression.location)

    def condition(self, expression: Expression) -> Expression:
        """The BOOL that says whether a scalar is not zero (a comparison is not converted back and forth)."""
        return conversions.condition(self, expression)

    def promote(self, expression: Expression) -> Expression:
        """The integer promotions (C99 6.3.1.1): char, short, bool and enumerations become int."""
        return promote(expression)

    def fit(self, argument: Expression, parameter: Type) -> Fit | None:
        """How an argument becomes a parameter of this type; None where that is not possible."""
        return ranking.fit(argument, parameter, self.known)

    def in_named_space(self, pointer: Expression) -> Expression | None:
        """A generic pointer as what it was before casts made it one; None if that is not known."""
        return conversions.in_named_space(pointer)

    def constant_integer(self, expression: Expression) -> int | None:
        """The value of an integer constant expression (C99 6.6), or None.

        As in clang, const variables with a constant initialiser may be part of it.
        """
        return constants.integer_value(expression, self.known)

    def constant_number(self, expression: Expression) -> constants.Value | None:
        """The value of a constant expression of any type, or None."""
        return constants.evaluate(expression, self.known)

    def fold(self, expression: Expression) -> Expression | None:
        """A constant initialiser in its plainest form, or None."""
        return constants.fold(expression, self.known)

    def is_null_pointer(self, expression: Expression) -> bool:
        """Whether ``expression`` is a null pointer constant (C99 6.3.2.3)."""
        return conversions.is_null_pointer_constant(expression)

    is_error = staticmethod(is_error)
