"""What conversions, built-in functions and matrices know of the semantic analysis that they are part of.

:mod:`coopmat.opencl.sema` implements it: :class:`coopmat.opencl.sema.context.Context` keeps the state and makes the
reports, :class:`coopmat.opencl.sema.analyzer.Analyzer` leads from each construct to what analyses it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from coopmat.diagnostics import Diagnostic, FixIt, Message, SourceLocation
from coopmat.opencl.base.symbols import AppliedFunction, FunctionState, KnownString
from coopmat.opencl.base.values import Error, Operand
from coopmat.opencl.parse import syntax
from coopmat.support.build_options import Language
from coopmat.tree import constants
from coopmat.tree.nodes import Expression, Function, Program, Variable
from coopmat.tree.types import Enumeration, Type


class Analysis(Protocol):
    """The analysis of one program."""

    language: Language
    """The version of OpenCL C."""

    disabled_extensions: set[str]
    """What ``#pragma OPENCL EXTENSION … : disable`` has turned off here."""

    program: Program
    """What the analysis makes."""

    function: FunctionState | None
    """The function whose body is being analysed."""

    calls: dict[Function, dict[Function, SourceLocation | None]]
    """Which functions each one calls, and where first."""

    known: dict[Variable, Expression]
    """The constant variables with their values."""

    literals: dict[Variable, syntax.StringLiteral]
    """The constant arrays that a string literal fills."""

    strings: dict[Variable, list[KnownString]]
    """What const pointers in functions may point to."""

    element_functions: dict[tuple[object, ...], Function]
    """The functions made for matrix instructions, by what they stand for."""

    applied: list[AppliedFunction]
    """The functions of the program that are applied to the elements of matrices."""

    # -- Reports -------------------------------------------------------------------------

    @abstractmethod
    def report(self, message: Message, location: SourceLocation | None, notes: Iterable[Diagnostic] = (), *,
               whole: bool = False, fix: FixIt | None = None, **values: Any) -> None:
        """Report a row of a message table. The operands of the operator at ``location`` are underlined or, if it is
        where an operand begins that is meant as a ``whole``, that operand."""

    @abstractmethod
    def error(self, message: Message, location: SourceLocation | None, notes: Iterable[Diagnostic] = (), *,
              whole: bool = False, fix: FixIt | None = None, **values: Any) -> Error:
        """Report a row of a message table and return the expression that stands for the wrong one."""

    @abstractmethod
    def error_expression(self, location: SourceLocation | None) -> Error:
        """An expression that has been reported; its type is ERROR and it converts silently."""

    @abstractmethod
    def suggestion(self, name: str, candidates: Iterable[str] | None = None) -> str:
        """``"; did you mean 'y'?"`` for a misspelt name, or the empty string."""

    # -- The device and what is declared -------------------------------------------------

    @abstractmethod
    def has(self, *features: str) -> bool:
        """Whether the device defines one of these feature macros."""

    @property
    @abstractmethod
    def at_file_scope(self) -> bool:
        """Whether no function's body is being analysed."""

    @abstractmethod
    def declare_typedef(self, name: str, type_: Type, location: SourceLocation | None = None) -> None:
        """Give ``type_`` a name in the innermost scope."""

    @abstractmethod
    def declare_enumerators(self, enumeration: Enumeration | None, values: dict[str, int]) -> None:
        """Declare integer constants in the innermost scope. Like all enumerators of C they are ints."""

    @abstractmethod
    def temporary(self, type_: Type, location: SourceLocation | None) -> Variable:
        """A new nameless local variable of the current function."""

    # -- Constants -----------------------------------------------------------------------

    @abstractmethod
    def constant_integer(self, expression: Expression) -> int | None:
        """The value of an integer constant expression (C99 6.6), or None.

        As in clang, const variables with a constant initialiser may be part of it.
        """

    @abstractmethod
    def constant_number(self, expression: Expression) -> constants.Value | None:
        """The value of a constant expression of any type, or None."""

    # -- Parts of the source -------------------------------------------------------------

    @abstractmethod
    def analyze(self, node: syntax.Expression, target: Type | None = None) -> Operand:
        """The value or place that an expression stands for; an error expression after a report.

        ``target`` is the type of what the value is assigned to, where that is known.
        """

    @abstractmethod
    def value(self, node: syntax.Expression, target: Type | None = None) -> Expression:
        """The value of an expression; arrays decay to pointers (C99 6.3.2.1)."""

    @abstractmethod
    def discarding(self) -> AbstractContextManager[None]:
        """For the time of a ``with`` an expression that is not evaluated: the strings in it are not kept."""

    @abstractmethod
    def unevaluated(self, node: syntax.Expression) -> Type:
        """The type of the value of an expression that is not evaluated."""

    @abstractmethod
    def resolve_type_name(self, name: syntax.TypeName) -> Type:
        """The type in a cast, sizeof or compound literal; ERROR after a report."""

    @abstractmethod
    def assign(self, target: Operand, value: Expression, location: SourceLocation | None) -> Expression:
        """``target = value``."""
