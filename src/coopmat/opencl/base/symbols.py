"""What names stand for, and what is known of the function that is being analysed."""

from __future__ import annotations

from dataclasses import dataclass, field

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.parse import syntax
from coopmat.tree.nodes import Case, Constant, Expression, Function, Label, Variable
from coopmat.tree.types import AddressSpace, Enumeration, Record, Type


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


Symbol = Variable | FunctionSet | Typedef | Enumerator


@dataclass(slots=True)
class BlockScope:
    """The names and tags of one block."""

    symbols: dict[str, Symbol] = field(default_factory=dict)
    tags: dict[str, tuple[Record | Enumeration, SourceLocation]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declarator declares: its name and type. For a function, ``type`` is the result's and
    ``function`` holds the parameters."""

    name: str | None
    location: SourceLocation
    type: QualifiedType
    function: syntax.FunctionDeclarator | None = None


@dataclass(frozen=True, slots=True)
class OpenSwitch:
    """A switch whose body is being analysed: its value, the labels so far, the statement expressions around it."""

    value: Expression
    cases: list[Case]
    inside: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AppliedFunction:
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


@dataclass(frozen=True, slots=True)
class KnownString:
    """A string in constant memory, from character ``start`` of ``variable`` on, which holds ``text``.

    ``is_named``: the call does not spell it, but names what holds it.
    """

    variable: Variable
    start: int
    text: bytes
    is_named: bool = False
