"""Nodes of the typed kernel tree: expressions, places, statements, functions, programs.

An expression has a value and a ``type``. A *place* is a part of memory (C's lvalue): it has a type,
and :class:`Load`, :class:`Assign`, :class:`Update` and :class:`AddressOf` are what one does with it.
Nodes are immutable and know the source location that messages and OpLine refer to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from coopmat.diagnostics import SourceLocation
from coopmat.tree.types import BOOL, AddressSpace, FunctionType, Matrix, Pointer, Type

# --------------------------------------------------------------------------------------
# Variables and functions
# --------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Variable:
    """An object with a name: parameter, local variable, or program-scope variable.

    ``initializer`` is set for program-scope variables only; a local variable's initialiser is in
    its :class:`Declare`. A LOCAL variable has one instance per work-group wherever it is declared.
    """

    name: str
    type: Type
    location: SourceLocation | None
    address_space: AddressSpace = AddressSpace.PRIVATE
    const: bool = False
    volatile: bool = False
    restrict: bool = False
    alignment: int | None = None
    initializer: Expression | None = None


@dataclass(eq=False, slots=True)
class Function:
    """A function definition, or a declaration if ``body`` is None.

    An ``overloadable`` function may share its name with others, whose parameters differ.
    """

    name: str
    result: Type
    parameters: list[Variable]
    location: SourceLocation | None
    is_kernel: bool = False
    body: Block | None = None
    required_work_group_size: tuple[int, int, int] | None = None
    work_group_size_hint: tuple[int, int, int] | None = None
    required_sub_group_size: int | None = None
    inline: bool = False
    overloadable: bool = False

    @property
    def type(self) -> FunctionType:
        """The function's type."""
        return FunctionType(self.result, tuple(p.type for p in self.parameters))

    @property
    def signature(self) -> str:
        """The name with the parameters' types."""
        return f"{self.name}({', '.join(map(str, self.type.parameters))})"

    @property
    def label(self) -> str:
        """What messages call it: the signature where others may have the same name, else the name."""
        return self.signature if self.overloadable else self.name


class Language(Enum):
    """What a program is written in; the values are SPIR-V's names of it.

    SYCL is declared as DPC++ declares it: Intel's CPU runtime takes a module of the source language SYCL for its own
    compiler's and crashes.
    """

    OPENCL_C = "OpenCL_C"
    SYCL = "OpenCL_CPP"


@dataclass(slots=True)
class Program:
    """One translation unit: every function that has a body, callees before or after their callers."""

    functions: list[Function] = field(default_factory=list)
    globals: list[Variable] = field(default_factory=list)
    contract_floating_point: bool = True  # FP_CONTRACT: a*b+c may be fused
    language: Language = Language.OPENCL_C

    @property
    def kernels(self) -> list[Function]:
        """The entry points."""
        return [f for f in self.functions if f.is_kernel]


# --------------------------------------------------------------------------------------
# Expressions
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expression:
    """Base of everything that has a value."""

    type: Type
    location: SourceLocation | None


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A scalar constant: an int (in the range of its type), a float, or a bool."""

    value: int | float | bool


@dataclass(frozen=True, slots=True)
class Zero(Expression):
    """The zero value of any type: zero, null pointer, all-zero aggregate or matrix."""


@dataclass(frozen=True, slots=True)
class Undefined(Expression):
    """A value that may be anything, such as that of an uninitialised matrix."""


@dataclass(frozen=True, slots=True)
class Aggregate(Expression):
    """An array or structure from its elements, in order, all of them given."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class UnionOf(Expression):
    """A union whose member ``index`` holds ``value``; its other bytes are zero."""

    index: int
    value: Expression


@dataclass(frozen=True, slots=True)
class Load(Expression):
    """The value held in a place."""

    place: Place


@dataclass(frozen=True, slots=True)
class AddressOf(Expression):
    """A pointer to a place. An array that decays is the address of its element 0."""

    place: Place


class UnaryOperator(Enum):
    """Operators with one operand; the result has the operand's type."""

    NEGATE = "-"
    COMPLEMENT = "~"
    NOT = "!"  # of a bool, or a vector of bool


class BinaryOperator(Enum):
    """Operators with two operands of one type (a shift's right operand may have another signedness)."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"  # arithmetic if the left operand is signed
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="

    @property
    def is_comparison(self) -> bool:
        """Whether the result is bool, or a vector of bool."""
        return self.value in ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """A unary operation on a scalar, a vector, or (NEGATE) a matrix, component by component."""

    operator: UnaryOperator
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """A binary operation on scalars, vectors, pointers (comparisons), or matrices (+ - * /).

    A comparison gives BOOL or a vector of BOOL: a front end converts that to what its language
    wants. Floating-point ``!=`` is true for NaN, all other comparisons with NaN are false. Shift
    amounts are taken modulo the left operand's width. Arithmetic on bfloat16 does not occur.
    """

    operator: BinaryOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logical(Expression):
    """``&&`` (``is_and``) or ``||`` of two bools; the right one is evaluated only if it is needed."""

    is_and: bool
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """``condition ? if_true : if_false`` with a bool condition; one side is evaluated (type may be VOID)."""

    condition: Expression
    if_true: Expression
    if_false: Expression


@dataclass(frozen=True, slots=True)
class Select(Expression):
    """Component-wise choice by a vector of bool (or one bool); both sides are evaluated."""

    condition: Expression
    if_true: Expression
    if_false: Expression


@dataclass(frozen=True, slots=True)
class Comma(Expression):
    """``first, second``: the value is second's."""

    first: Expression
    second: Expression


@dataclass(frozen=True, slots=True)
class StatementExpression(Expression):
    """Statements that are carried out, and then the value, which is None if the type is VOID."""

    statements: tuple[Statement, ...]
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Convert(Expression):
    """A change of value representation between scalars, vectors of one length, or matrices of one shape.

    From BOOL: 1 or 0 for a scalar, -1 or 0 in each component of a vector. To BOOL: whether not zero.
    Float to integer truncates unless ``rounding`` ("rte", "rtz", "rtp", "rtn") says otherwise;
    ``saturate`` clamps. Integer to integer wraps. Integer or float to float rounds to nearest even
    unless ``rounding`` says otherwise. Enumerations convert as int. Matrices may differ in their use, too.
    """

    operand: Expression
    rounding: str | None = None
    saturate: bool = False


@dataclass(frozen=True, slots=True)
class Bitcast(Expression):
    """The same bits as another type of the same size (vector of 3 counts as 4), or a pointer as another
    pointer, or a pointer as an integer and back."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class CastAddressSpace(Expression):
    """A pointer moved to or from the generic address space."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class VectorOf(Expression):
    """A vector from parts, scalars and shorter vectors of its element type, in order."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Splat(Expression):
    """A vector, all of whose components are one scalar."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Swizzle(Expression):
    """Components of a vector value: a scalar if there is one index, else a vector."""

    operand: Expression
    components: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExtractComponent(Expression):
    """The component of a vector or matrix value at a run-time index."""

    operand: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class ExtractField(Expression):
    """A member of a record value (of a function result, say)."""

    operand: Expression
    index: int


@dataclass(frozen=True, slots=True)
class PointerOffset(Expression):
    """A pointer moved by a signed number of elements (``offset`` is a LONG or ULONG)."""

    pointer: Expression
    offset: Expression


@dataclass(frozen=True, slots=True)
class WithCacheControls(Expression):
    """The same pointer, with hints for what is loaded and stored through it (SPV_INTEL_cache_controls).

    ``loads`` and ``stores`` are pairs of a cache level (0 is L1) and a control: for loads 0 uncached,
    1 cached, 2 streaming, 3 invalidate after read, 4 constant cached; for stores 0 uncached,
    1 write-through, 2 write-back, 3 streaming. A level occurs once in each. The hints are of this pointer
    alone, not of one that is made from it: a load or store takes it as it is. Those of local memory are dropped.
    """

    pointer: Expression
    loads: tuple[tuple[int, int], ...] = ()
    stores: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PointerDifference(Expression):
    """``left - right`` in elements; the type is LONG."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Assign(Expression):
    """Store a value of the place's type; the value of the expression is the stored value."""

    place: Place
    value: Expression


@dataclass(eq=False, frozen=True, slots=True)
class CurrentValue(Expression):
    """Stands, inside an :class:`Update`'s value, for what the place held before; compares by identity."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Update(Expression):
    """Read a place once, compute ``value`` from ``current``, and store it (``+=``, ``++``).

    The expression's value is the stored value, or the former one if ``returns_old``.
    """

    place: Place
    current: CurrentValue
    value: Expression
    returns_old: bool = False


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A call of a function of the program; the arguments have the parameters' types."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class WorkItemQuery(Expression):
    """A value that a SPIR-V BuiltIn variable holds, such as ``GlobalInvocationId``.

    ``dimension`` (a UINT) selects a component of the three-component ones; outside of 0..2 the value
    is ``out_of_range``, as OpenCL says for that function. Without it the built-in is a scalar.
    """

    builtin: str
    dimension: Expression | None = None
    out_of_range: int = 0


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """An operation of the execution environment.

    ``name`` is ``std.<instruction>`` for an instruction of the OpenCL.std set (``std.fmax``,
    ``std.s_max``, ``std.vloadn``, …) or ``core.<instruction>`` for a core SPIR-V instruction whose
    operands are values (``core.IsNan``, ``core.Any``, ``core.ControlBarrier``, ``core.AtomicIAdd``,
    …), without the Op prefix. Results that SPIR-V calls bool have type BOOL (or a vector of it).
    ``literals`` follow the arguments (the n of vloadn, a rounding mode). Signedness is read from the
    types.
    """

    name: str
    arguments: tuple[Expression, ...]
    literals: tuple[int, ...] = ()


# --------------------------------------------------------------------------------------
# Cooperative matrices
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Window:
    """Where in a matrix in memory a cooperative matrix lies (SPV_INTEL_joint_matrix, checked instructions).

    ``row`` and ``column`` (of any integer type, negative ones included) are those of the cooperative
    matrix's first element in a region of ``height`` x ``width`` elements. Elements outside of it are 0 when
    they are loaded or filled, and are not stored. All four are converted to 32 bits, the sizes without a sign.

    A load's or store's region is one of memory, whose rows lie a stride apart: for a column-major matrix its
    rows are the matrix's columns, for a packed one they are the packed rows. So DPC++'s
    joint_matrix_load_checked(…, height, width, row, column) counts, and so does Intel's compiler, for which
    SPIR-V's X is the row and Y the column.
    """

    row: Expression
    column: Expression
    height: Expression
    width: Expression


@dataclass(frozen=True, slots=True)
class MatrixLoad(Expression):
    """Load a matrix from memory (RFC 4.4 coop_mat_load). ``layout`` is 0 row- or 1 column-major;
    ``stride`` is an integer expression, in elements of the pointer's type.

    With a ``window`` the pointer is that of the whole matrix in memory, whose element (0, 0) it points to;
    without one it points to the cooperative matrix's own first element.
    """

    pointer: Expression
    layout: int
    stride: Expression
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class MatrixStore(Expression):
    """Store a matrix to memory (RFC 4.4 coop_mat_store); the type is VOID. ``window`` as in :class:`MatrixLoad`."""

    pointer: Expression
    matrix: Expression
    layout: int
    stride: Expression
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class MatrixPrefetch(Expression):
    """A hint that a part of memory will soon be loaded as a matrix; the type is VOID, and it never faults.

    ``pointer`` points to the first of ``rows`` x ``columns`` elements, which come into cache ``level``
    (0 is L1); ``layout`` and ``stride`` as in :class:`MatrixLoad`.
    """

    pointer: Expression
    rows: int
    columns: int
    level: int
    layout: int
    stride: Expression


@dataclass(frozen=True, slots=True)
class MatrixMultiplyAdd(Expression):
    """``a * b + c``; ``operands`` are the bits of SPIR-V's Cooperative Matrix Operands."""

    a: Expression
    b: Expression
    c: Expression
    operands: int


@dataclass(frozen=True, slots=True)
class MatrixFill(Expression):
    """A matrix, all of whose elements are one scalar of its element type; with a ``window``, those inside of
    it, and the others are 0."""

    value: Expression
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class MatrixTimesScalar(Expression):
    """A matrix, each element multiplied by one scalar of its element type."""

    matrix: Expression
    scalar: Expression


@dataclass(frozen=True, slots=True)
class MatrixTranspose(Expression):
    """A matrix with rows and columns exchanged. Element type and use may be others than the operand's."""

    matrix: Expression


@dataclass(frozen=True, slots=True)
class MatrixReduce(Expression):
    """A matrix, each of whose elements is what ``combine`` makes of all elements of its row, of its column, or of the
    whole matrix (``axes``: 1, 2 or 3, SPIR-V's Cooperative Matrix Reduce). Operand and result are accumulators of one
    element type; a reduction of rows keeps their number, one of columns theirs.

    ``combine`` makes one element of two. In which order it is called is not said.
    """

    matrix: Expression
    axes: int
    combine: Function


@dataclass(frozen=True, slots=True)
class MatrixApply(Expression):
    """A matrix with each element replaced by what ``function`` gives for it. The function's arguments are the element's
    row and column (UINTs), the element, and ``arguments``: in the place of a matrix, which must be of the operand's
    type, stands its element of that row and column.

    The function has no effects, and does nothing together with other work-items: in which order it is called, and how
    often for an element, is not said. (:mod:`coopmat.tree.effects` knows whether that holds.)
    """

    matrix: Expression
    function: Function
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixLength(Expression):
    """The number of components that each work-item holds of a matrix type; the type is UINT."""

    matrix: Matrix


@dataclass(frozen=True, slots=True)
class MatrixCoordinates(Expression):
    """Row and column (an int2) of this work-item's component ``index`` of a matrix."""

    matrix: Expression
    index: Expression


# --------------------------------------------------------------------------------------
# Places
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Base of everything that can be read and written: a part of memory with a type."""

    type: Type
    location: SourceLocation | None


@dataclass(frozen=True, slots=True)
class VariablePlace(Place):
    """A variable."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class Dereference(Place):
    """What a pointer points to."""

    pointer: Expression

    @property
    def address_space(self) -> AddressSpace:
        """The pointer's address space."""
        assert isinstance(self.pointer.type, Pointer)
        return self.pointer.type.address_space


@dataclass(frozen=True, slots=True)
class ElementPlace(Place):
    """An element of an array place, a component of a vector place, or this work-item's component of a
    matrix place; ``index`` is of any integer type."""

    base: Place
    index: Expression


@dataclass(frozen=True, slots=True)
class FieldPlace(Place):
    """A member of a record place."""

    base: Place
    index: int


@dataclass(frozen=True, slots=True)
class SwizzlePlace(Place):
    """Several distinct components of a vector place, read or written together."""

    base: Place
    components: tuple[int, ...]


# --------------------------------------------------------------------------------------
# Statements
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """Base of all statements."""

    location: SourceLocation | None


@dataclass(frozen=True, slots=True)
class Declare(Statement):
    """The point where a local variable comes to life; without initialiser its value is undefined."""

    variable: Variable
    initializer: Expression | None = None


@dataclass(frozen=True, slots=True)
class Evaluate(Statement):
    """An expression evaluated for its effects."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Block(Statement):
    """Statements in order."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Statement):
    """A choice by a bool."""

    condition: Expression
    then: Statement
    otherwise: Statement | None = None


@dataclass(frozen=True, slots=True)
class Loop(Statement):
    """Every loop of C: ``for (; condition; step) body``; with ``tests_last`` the condition is tested
    after the body (do-while). Without a condition it runs until a break. ``continue`` goes to the step.
    ``unroll`` is None without a hint, 0 for "in full", 1 for "do not", else the factor."""

    condition: Expression | None
    body: Statement
    step: Expression | None = None
    tests_last: bool = False
    unroll: int | None = None


@dataclass(eq=False, frozen=True, slots=True)
class Case(Statement):
    """A label inside a switch's body: reached for the value ``value``, or ``default`` if that is None.

    Compares by identity.
    """

    value: int | None

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Switch(Statement):
    """C's switch: jump to the matching Case inside ``body`` (anywhere in it), or past the body."""

    value: Expression
    body: Statement
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Break(Statement):
    """Leave the innermost loop or switch."""


@dataclass(frozen=True, slots=True)
class Continue(Statement):
    """Go to the step of the innermost loop."""


@dataclass(frozen=True, slots=True)
class Return(Statement):
    """Leave the function."""

    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Unreachable(Statement):
    """The program promises that control does not get here."""


@dataclass(frozen=True, slots=True)
class Label(Statement):
    """A target of goto; the name is unique in its function."""

    name: str


@dataclass(frozen=True, slots=True)
class Goto(Statement):
    """Jump to a label of the same function."""

    label: str


def true(location: SourceLocation | None) -> Constant:
    """The bool constant true."""
    return Constant(BOOL, location, True)
