"""The syntax tree of OpenCL C: what the parser makes of the tokens, before names and types are resolved.

The shape follows the C99 grammar (6.5 expressions, 6.7 declarations, 6.8 statements). A declarator is
kept as written, from the outside in: :class:`PointerDeclarator`, :class:`ArrayDeclarator` and
:class:`FunctionDeclarator` wrap the name that they declare.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.preprocess.tokens import Token


@dataclass(slots=True)
class Node:
    """Base of all syntax nodes."""

    location: SourceLocation


# ------------------------------------------------------------------ attributes and types


@dataclass(slots=True)
class Attribute(Node):
    """One attribute of an ``__attribute__((…))`` list: its name, its arguments, and those that are types."""

    name: str
    arguments: list[Expression] = field(default_factory=list)
    types: list[TypeName] = field(default_factory=list)


@dataclass(slots=True)
class Specifiers(Node):
    """The specifiers and qualifiers in front of declarators, each with the place where it stands.

    ``type_words`` are the built-in type words in order (``unsigned``, ``int``); otherwise ``named``
    is a typedef's name, ``record`` or ``enumeration`` a definition or reference, or ``type_of`` the
    operand of ``__typeof__`` (or, if ``is_auto``, the type is the initialiser's). ``qualifiers``
    are const, volatile, restrict and the address spaces (``__global``, …); ``storage`` is typedef,
    extern, static, inline, register.
    """

    type_words: list[str] = field(default_factory=list)
    named: str | None = None
    record: RecordSpecifier | None = None
    enumeration: EnumSpecifier | None = None
    type_of: TypeName | Expression | None = None
    is_auto: bool = False
    qualifiers: dict[str, SourceLocation] = field(default_factory=dict)
    storage: dict[str, SourceLocation] = field(default_factory=dict)
    is_kernel: bool = False
    attributes: list[Attribute] = field(default_factory=list)
    type_location: SourceLocation | None = None  # of the first word that names the type


@dataclass(slots=True)
class RecordSpecifier(Node):
    """``struct`` or ``union``; ``members`` is None for a mere reference. ``pack`` is the alignment that
    ``#pragma pack`` allows its members at most."""

    is_union: bool
    tag: str | None
    members: list[Declaration | StaticAssert] | None
    attributes: list[Attribute] = field(default_factory=list)
    pack: int | None = None


@dataclass(slots=True)
class Enumerator(Node):
    """One name in an enumeration."""

    name: str
    value: Expression | None


@dataclass(slots=True)
class EnumSpecifier(Node):
    """``enum``; ``enumerators`` is None for a mere reference."""

    tag: str | None
    enumerators: list[Enumerator] | None
    attributes: list[Attribute] = field(default_factory=list)


@dataclass(slots=True)
class Declarator(Node):
    """Base of declarators."""


@dataclass(slots=True)
class NameDeclarator(Declarator):
    """The declared name; None in an abstract declarator."""

    name: str | None


@dataclass(slots=True)
class PointerDeclarator(Declarator):
    """``* qualifiers inner``: inner is a pointer to what the specifiers say so far."""

    inner: Declarator
    qualifiers: dict[str, SourceLocation] = field(default_factory=dict)


@dataclass(slots=True)
class ArrayDeclarator(Declarator):
    """``inner[size]``; ``size`` is None for ``[]``."""

    inner: Declarator
    size: Expression | None
    qualifiers: dict[str, SourceLocation] = field(default_factory=dict)


@dataclass(slots=True)
class FunctionDeclarator(Declarator):
    """``inner(parameters)``; ``has_prototype`` is False for ``()``."""

    inner: Declarator
    parameters: list[Parameter]
    has_prototype: bool = True
    variadic: bool = False


@dataclass(slots=True)
class TypeName(Node):
    """A type in a cast, sizeof, or compound literal."""

    specifiers: Specifiers
    declarator: Declarator


@dataclass(slots=True)
class Parameter(Node):
    """A function parameter."""

    specifiers: Specifiers
    declarator: Declarator
    attributes: list[Attribute] = field(default_factory=list)


# ------------------------------------------------------------------ declarations


@dataclass(slots=True)
class InitDeclarator(Node):
    """One declared name with its attributes, bit-field width (members only) and initialiser."""

    declarator: Declarator
    attributes: list[Attribute] = field(default_factory=list)
    initializer: Expression | None = None
    width: Expression | None = None


@dataclass(slots=True)
class Statement(Node):
    """Base of statements; a declaration counts as one."""


@dataclass(slots=True)
class Declaration(Statement):
    """Specifiers and the names that they declare."""

    specifiers: Specifiers
    declarators: list[InitDeclarator]


@dataclass(slots=True)
class FunctionDefinition(Node):
    """A function with its body."""

    specifiers: Specifiers
    declarator: Declarator
    attributes: list[Attribute]
    body: Compound


@dataclass(slots=True)
class Pragma(Statement):
    """A ``#pragma`` that reached the parser: its words, such as OPENCL EXTENSION name : enable."""

    words: list[str]


@dataclass(slots=True)
class StaticAssert(Statement):
    """``_Static_assert(condition, "message")``."""

    condition: Expression
    message: bytes | None


@dataclass(slots=True)
class TranslationUnit(Node):
    """A whole source file after preprocessing."""

    items: list[Declaration | FunctionDefinition | Pragma | StaticAssert]


# ------------------------------------------------------------------ statements


@dataclass(slots=True)
class Compound(Statement):
    """``{ … }``."""

    items: list[Statement]
    end: SourceLocation | None = None


@dataclass(slots=True)
class Attributed(Statement):
    """Attributes in front of a statement that is no loop."""

    attributes: list[Attribute]
    statement: Statement


@dataclass(slots=True)
class ExpressionStatement(Statement):
    """An expression and a semicolon; None is the empty statement."""

    expression: Expression | None


@dataclass(slots=True)
class If(Statement):
    """``if``; ``close`` is the parenthesis behind the condition."""

    condition: Expression
    then: Statement
    otherwise: Statement | None
    close: SourceLocation | None = None
    else_location: SourceLocation | None = None


@dataclass(slots=True)
class While(Statement):
    """``while``, or ``do … while`` if ``tests_last``."""

    condition: Expression
    body: Statement
    tests_last: bool
    attributes: list[Attribute] = field(default_factory=list)
    unroll: int | None = None
    close: SourceLocation | None = None


@dataclass(slots=True)
class For(Statement):
    """``for``; ``unroll`` as in the kernel tree's Loop."""

    initial: Statement | None
    condition: Expression | None
    step: Expression | None
    body: Statement
    attributes: list[Attribute] = field(default_factory=list)
    unroll: int | None = None
    close: SourceLocation | None = None


@dataclass(slots=True)
class Switch(Statement):
    """``switch``."""

    value: Expression
    body: Statement
    close: SourceLocation | None = None


@dataclass(slots=True)
class Case(Statement):
    """``case value: statement``, or ``default`` if ``value`` is None; ``last`` ends a GNU range."""

    value: Expression | None
    statement: Statement
    last: Expression | None = None


@dataclass(slots=True)
class Labelled(Statement):
    """``name: statement``."""

    name: str
    statement: Statement


@dataclass(slots=True)
class Goto(Statement):
    """``goto name``; ``target`` is where the name stands."""

    name: str
    target: SourceLocation


@dataclass(slots=True)
class Break(Statement):
    """``break``."""


@dataclass(slots=True)
class Continue(Statement):
    """``continue``."""


@dataclass(slots=True)
class Return(Statement):
    """``return``."""

    value: Expression | None


# ------------------------------------------------------------------ expressions


@dataclass(slots=True)
class Expression(Node):
    """Base of expressions; ``location`` is the operator for binary ones, else the first token.

    ``parentheses`` are the outermost ones around it, ``end`` is the bracket that ends it, where one does.
    """

    parentheses: tuple[SourceLocation, SourceLocation] | None = field(default=None, kw_only=True, repr=False)
    end: SourceLocation | None = field(default=None, kw_only=True, repr=False)


@dataclass(slots=True)
class Name(Expression):
    """An identifier."""

    name: str


@dataclass(slots=True)
class IntegerLiteral(Expression):
    """An integer or character literal; ``type_name`` is int, uint, long or ulong."""

    value: int
    type_name: str


@dataclass(slots=True)
class FloatLiteral(Expression):
    """A floating literal; ``type_name`` is half, float or double. ``as_float`` is its value rounded to
    float, which a double constant gets on devices without double."""

    value: float
    type_name: str
    as_float: float


@dataclass(slots=True)
class StringLiteral(Expression):
    """Adjacent string literals, joined; without the terminating zero. ``tokens`` are the literals as written."""

    value: bytes
    tokens: list[Token] = field(default_factory=list)


@dataclass(slots=True)
class Unary(Expression):
    """A prefix operator: ``+ - ~ ! * & ++ --``."""

    operator: str
    operand: Expression


@dataclass(slots=True)
class Postfix(Expression):
    """``++`` or ``--`` behind its operand."""

    operator: str
    operand: Expression


@dataclass(slots=True)
class Binary(Expression):
    """A binary operator other than assignment; the comma and ``&& ||`` included."""

    operator: str
    left: Expression
    right: Expression


@dataclass(slots=True)
class Assignment(Expression):
    """``=``, or a compound assignment such as ``+=``."""

    operator: str
    target: Expression
    value: Expression


@dataclass(slots=True)
class Conditional(Expression):
    """``condition ? if_true : if_false``; location is the question mark. ``if_true`` is None in GNU's
    ``a ?: b``, which is ``a ? a : b`` with ``a`` evaluated once."""

    condition: Expression
    if_true: Expression | None
    if_false: Expression


@dataclass(slots=True)
class FunctionCall(Expression):
    """``function(arguments)``; ``location`` is the callee, ``close`` the closing parenthesis."""

    function: Expression
    arguments: list[Expression]
    close: SourceLocation


@dataclass(slots=True)
class Index(Expression):
    """``base[index]``."""

    base: Expression
    index: Expression


@dataclass(slots=True)
class Member(Expression):
    """``base.name``, or ``base->name`` if ``arrow``; location is the name."""

    base: Expression
    name: str
    arrow: bool


@dataclass(slots=True)
class Cast(Expression):
    """``(type)operand``, where the operand may be a :class:`ParenthesizedList` for a vector literal."""

    type_name: TypeName
    operand: Expression


@dataclass(slots=True)
class ParenthesizedList(Expression):
    """``(a, b, …)`` behind a cast to a vector type (OpenCL C 6.1.6 vector literal): two or more items.
    Behind a cast to another type it is a comma expression."""

    items: list[Expression]


@dataclass(slots=True)
class CompoundLiteral(Expression):
    """``(type){ … }``."""

    type_name: TypeName
    initializer: InitializerList


@dataclass(slots=True)
class SizeOf(Expression):
    """``sizeof`` or (``is_alignment``) ``_Alignof`` of a type or an expression."""

    operand: TypeName | Expression
    is_alignment: bool = False


@dataclass(slots=True)
class StatementExpression(Expression):
    """GNU's ``({ …; value; })``: statements, the last of which may be an expression that gives the value."""

    body: Compound


@dataclass(slots=True)
class GenericAssociation(Node):
    """``type: value`` in a ``_Generic``; ``type_name`` is None for ``default``."""

    type_name: TypeName | None
    value: Expression


@dataclass(slots=True)
class GenericSelection(Expression):
    """``_Generic(operand, type: value, …)`` (C11 6.5.1.1)."""

    operand: Expression
    associations: list[GenericAssociation]


@dataclass(slots=True)
class BuiltinOperation(Expression):
    """A built-in function of the compiler that takes types, such as ``__builtin_astype(value, type)``."""

    name: str
    operands: list[TypeName | Expression | MemberPath]


@dataclass(slots=True)
class MemberPath(Node):
    """``name[index].name`` behind the type in ``__builtin_offsetof``."""

    designators: list[Designator]


@dataclass(slots=True)
class VecStep(Expression):
    """``vec_step`` of a type or an expression (OpenCL C 6.15.13)."""

    operand: TypeName | Expression


@dataclass(slots=True)
class Designator(Node):
    """``[index]``, GNU's ``[index ... last]``, or ``.name`` in an initialiser list."""

    index: Expression | None = None
    name: str | None = None
    last: Expression | None = None


@dataclass(slots=True)
class InitializerItem(Node):
    """One item of an initialiser list, with its designators."""

    designators: list[Designator]
    value: Expression


@dataclass(slots=True)
class InitializerList(Expression):
    """``{ … }`` behind ``=`` or in a compound literal."""

    items: list[InitializerItem]
