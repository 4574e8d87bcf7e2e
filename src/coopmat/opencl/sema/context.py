"""The state of one analysis and the services that all its parts share: reports, scopes, constants."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from coopmat.diagnostics import Diagnostic, DiagnosticSink, FixIt, Marks, Message, SourceLocation, note
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.symbols import (
    AppliedFunction,
    BlockScope,
    Declared,
    Enumerator,
    FunctionState,
    KnownString,
    QualifiedType,
    Symbol,
    Typedef,
)
from coopmat.opencl.base.values import ERROR, Error, Operand, value_of
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import ranges_at
from coopmat.opencl.parse.keywords import STATEMENT_WORDS
from coopmat.opencl.preprocess.spelling import closest
from coopmat.support.build_options import LATEST, Language
from coopmat.tree import constants
from coopmat.tree.nodes import Constant, Expression, Function, Program, Variable
from coopmat.tree.types import INT, Enumeration, Record, Type

FUNCTION_SCOPE_DEPTH = 3  # predefined names, the file, the function


class Context(Analysis):
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
        self.scopes: list[BlockScope] = [BlockScope()]  # predefined names; then the file's scope, the function's, …
        self.function: FunctionState | None = None
        self.builtin_names: frozenset[str] = frozenset()
        self.functions: dict[str, list[Function]] = {}  # all of each name, whatever scope declares them
        self.calls: dict[Function, dict[Function, SourceLocation | None]] = {}
        self.nesting: dict[Record, int] = {}  # levels of arrays, pointers and records, of complete ones
        self.element_functions: dict[tuple[object, ...], Function] = {}  # made for matrix instructions
        self.applied: list[AppliedFunction] = []
        self.known: dict[Variable, Expression] = {}
        self.modifications = 0  # assignments and increments so far
        self.references: Counter[Variable] = Counter()  # how often each is named
        self.stores: Counter[Variable] = Counter()  # how often by a statement that only writes it
        self.static_functions: list[Function] = []  # that should be called
        self.static_variables: list[Variable] = []  # outside of functions, that should be used
        self.silenced: set[Variable] = set()  # parameters that may go unused
        self.literals: dict[Variable, syntax.StringLiteral] = {}  # constant arrays that a string literal fills
        self.strings: dict[Variable, list[KnownString]] = {}  # what const pointers in functions may point to
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
    def scope(self) -> BlockScope:
        """The innermost scope."""
        return self.scopes[-1]

    @property
    def predefined(self) -> BlockScope:
        """The scope of what is declared before the program begins."""
        return self.scopes[0]

    @property
    def file_scope(self) -> BlockScope:
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
    def new_scope(self) -> Iterator[BlockScope]:
        """A block's scope, for the time of a ``with``."""
        self.scopes.append(BlockScope())
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

    def previous_tag(self, tag: str | None) -> tuple[Diagnostic, ...]:
        """The note that points at the first declaration of a tag."""
        found = self.lookup_tag(tag) if tag is not None else None
        return self.previous(found[1]) if found is not None else ()

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

    def temporary(self, type_: Type, location: SourceLocation | None) -> Variable:
        """A new nameless local variable of the current function. Outside of one it belongs nowhere: what needs it is
        no constant, and is refused as an initial value."""
        temporaries = self.function.temporaries if self.function is not None else []
        variable = Variable(f".temporary{len(temporaries)}", type_, location)
        temporaries.append(variable)
        return variable

    @contextmanager
    def discarding(self) -> Iterator[None]:
        """For the time of a ``with`` an expression that is not evaluated: the strings in it are not kept."""
        count = len(self.program.globals)
        try:
            yield
        finally:
            del self.program.globals[count:]

    # ------------------------------------------------------------------ constants

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

    # ------------------------------------------------------------------ parts of the source

    @abstractmethod
    def analyze_whole(self, node: syntax.Expression, target: Type | None = None) -> Operand:
        """:meth:`analyze` for an expression that is no part of another one: the order of its effects is checked."""

    @abstractmethod
    def specified_type(self, specifiers: syntax.Specifiers) -> QualifiedType:
        """The type that specifiers give, with type attributes."""

    @abstractmethod
    def declared(self, base: QualifiedType, declarator: syntax.Declarator) -> Declared:
        """What a declarator makes of the type that the specifiers give."""

    def value(self, node: syntax.Expression, target: Type | None = None) -> Expression:
        """The value of an expression; arrays decay to pointers (C99 6.3.2.1)."""
        return value_of(self.analyze(node, target))

    def whole_value(self, node: syntax.Expression, target: Type | None = None) -> Expression:
        """The value of an expression that is no part of another one."""
        return value_of(self.analyze_whole(node, target))

    def operand_type(self, operand: syntax.TypeName | syntax.Expression) -> Type:
        """The type of a sizeof operand, which is not evaluated."""
        if isinstance(operand, syntax.TypeName):
            return self.resolve_type_name(operand)
        with self.discarding():
            return self.analyze(operand).type

    def unevaluated(self, node: syntax.Expression) -> Type:
        """The type of the value of an expression that is not evaluated."""
        with self.discarding():
            return self.value(node).type
