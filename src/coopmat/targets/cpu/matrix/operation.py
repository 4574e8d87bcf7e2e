"""The operations on matrices in a kernel's IR: what the function of a name stands for.

An operation is a record of everything that its code depends on; two equal ones have one function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from coopmat.formats import Rounding
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout, Op
from coopmat.spirv.transform.enlarge.runs import ALL, Runs
from coopmat.targets.cpu.matrix.types import element_type, matrix_type

Formats = tuple[str, str, str, str]  # of A, B, C and D


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation: the matrix that it gives, if any, those that it takes, and how many work-items do it together.

    name: a part of the function's name.
    """

    name: ClassVar[str]
    result: MatrixType | None
    operands: tuple[MatrixType, ...]
    sub_group_size: int

    @property
    def returned(self) -> str:
        """LLVM's type of what the function gives."""
        return "void" if self.result is None else matrix_type(self.result)

    @property
    def kinds(self) -> tuple[MatrixType, ...]:
        """The types of all its matrices: those that it takes, and what it gives."""
        return self.operands if self.result is None else (*self.operands, self.result)


# --------------------------------------------------------------------------------------
# Values
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Fill(Operation):
    """Every element is a number."""

    name = "fill"
    result: MatrixType
    operands: tuple[()] = ()


@dataclass(frozen=True, kw_only=True)
class Inside(Operation):
    """Elements inside of a window are a number, the others zero."""

    name = "inside"
    result: MatrixType
    operands: tuple[()] = ()


@dataclass(frozen=True, kw_only=True)
class Elementwise(Operation):
    """An arithmetic instruction, by its name, on each element."""

    name = "elementwise"
    result: MatrixType
    function: str


@dataclass(frozen=True, kw_only=True)
class Scale(Operation):
    """Every element is multiplied by a number."""

    name = "scale"
    result: MatrixType
    operands: tuple[MatrixType]


@dataclass(frozen=True, kw_only=True)
class Convert(Operation):
    """Elements of another type, in the manner of a conversion instruction."""

    name = "convert"
    result: MatrixType
    operands: tuple[MatrixType]
    instruction: Op
    rounding: Rounding
    saturates: bool


@dataclass(frozen=True, kw_only=True)
class ChangeUse(Operation):
    """The same elements for another use, or as other integers of their width; transposed, if it says so."""

    name = "use"
    result: MatrixType
    operands: tuple[MatrixType]
    transposes: bool


@dataclass(frozen=True, kw_only=True)
class Apply(Operation):
    """A function of each element, and of those of further matrices, with its place (:mod:`.functions`). function: its
    name; lanes: how many neighbours in a row it takes at once; numbers: LLVM's types of what it is given besides;
    reads: whether it reads memory. The operands behind the matrices: the function, so that LLVM keeps it, whether what
    it reads is written by nobody, and the numbers."""

    name = "apply"
    result: MatrixType
    function: str
    lanes: int
    numbers: tuple[str, ...]
    reads: bool


OfElements = Fill | Elementwise | Scale | Convert | ChangeUse | Apply
"""What is done to each element by itself; changes of use only where they do not transpose."""


@dataclass(frozen=True, kw_only=True)
class Reduce(Operation):
    """Rows and columns combined along some axes, by an operation of :mod:`coopmat.spirv.analysis.combinations`."""

    name = "reduce"
    result: MatrixType
    operands: tuple[MatrixType]
    axes: int
    combination: str


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Load(Operation):
    """A matrix from memory. is_kept: it may be a tile that was converted before (:mod:`.reuse`)."""

    name = "load"
    result: MatrixType
    operands: tuple[()] = ()
    layout: CooperativeMatrixLayout
    alignment: int
    is_kept: bool


@dataclass(frozen=True, kw_only=True)
class LoadWindow(Operation):
    """As much of a matrix as lies in a window; zeros outside. is_kept: as of a load."""

    name = "load_window"
    result: MatrixType
    operands: tuple[()] = ()
    layout: CooperativeMatrixLayout
    alignment: int
    is_kept: bool


@dataclass(frozen=True, kw_only=True)
class Store(Operation):
    """A matrix goes to memory."""

    name = "store"
    result: None = None
    operands: tuple[MatrixType]
    layout: CooperativeMatrixLayout
    alignment: int


@dataclass(frozen=True, kw_only=True)
class StoreWindow(Operation):
    """As much of a matrix as lies in a window goes to memory. is_rest: not where all of it does; that is there by
    then (:class:`Target`)."""

    name = "store_window"
    result: None = None
    operands: tuple[MatrixType]
    layout: CooperativeMatrixLayout
    alignment: int
    is_rest: bool = False


@dataclass(frozen=True)
class Step:
    """An operation of an expression. given: the numbers of the matrices that it takes."""

    operation: OfElements
    given: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Expression(Operation):
    """Operations on each element of large matrices, done together (:mod:`.expressions`).

    sources: the loads that are a part of it. steps: the operations; their matrices are numbered: first those that are
    loaded, then the operands, then the results of steps. target: the store of the last one's result, if that is a part.
    """

    name = "expression"
    sources: tuple[Load | LoadWindow, ...]
    steps: tuple[Step, ...]
    target: Store | StoreWindow | None

    @property
    def last(self) -> MatrixType:
        """The type of the last step's result."""
        return self.steps[-1].operation.result

    @property
    def updates(self) -> bool:
        """Whether the result may lie where the last operand does."""
        return self.result is not None and self.operands[-1:] != () and (
            self.operands[-1].component.size == self.result.component.size)


# --------------------------------------------------------------------------------------
# Multiply-accumulate
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Multiply(Operation):
    """D = A*B + C in the arithmetic of the processor. step, runs: see :class:`Product`."""

    name = "multiply"
    result: MatrixType
    operands: tuple[MatrixType, MatrixType, MatrixType]
    formats: Formats
    saturates: bool
    step: int = 0
    runs: Runs = ALL


@dataclass(frozen=True, kw_only=True)
class MultiplyInMemory(Operation):
    """D = A*B + C of plain matrices, with the elements of A where the kernel would have loaded them from. Address and
    stride are its operands before B and C."""

    name = "multiply_in_memory"
    result: MatrixType
    operands: tuple[MatrixType, MatrixType]
    a: MatrixType
    layout: CooperativeMatrixLayout
    formats: Formats


@dataclass(frozen=True)
class Source:
    """A load that is a part of a product. is_window: of what lies in a window. is_kept: nothing writes there as long as
    the launch lasts. conversions: what elements go through before they are multiplied."""

    layout: CooperativeMatrixLayout
    is_window: bool
    is_kept: bool
    conversions: tuple[Convert, ...] = ()


@dataclass(frozen=True)
class Target:
    """A store that is a part of a product. is_window: only where all of D lies in a window."""

    is_window: bool


@dataclass(frozen=True, kw_only=True)
class Product(Operation):
    """D = A*B + C of matrices that no single instruction multiplies (:mod:`.product`).

    a, b, c: their types; operands: of those that are matrices, and no loads. sources: the loads of A and B. target: the
    store of D, which an operand says to be due or not. asks_for_zeros: an operand says whether C is zeros. step: the
    elements along K that one instruction takes at most, of tiles; of vectors: those of the kernel's own products, if
    what stands behind them must not even make 0 of -0; 0: it does not matter. runs: what is taken along K.
    """

    name = "product"
    result: MatrixType
    a: MatrixType
    b: MatrixType
    c: MatrixType
    formats: Formats
    saturates: bool
    sources: tuple[Source | None, Source | None] = (None, None)
    target: Target | None = None
    asks_for_zeros: bool = False
    step: int = 0
    runs: Runs = ALL

    @property
    def updates(self) -> bool:
        """Whether D may lie where C does."""
        return self.result.component.size == self.c.component.size


@dataclass(frozen=True, kw_only=True)
class MultiplyAs(Operation):
    """D = A*B + C by a rule: "exact", or the name of an architecture."""

    name = "multiply_as"
    result: MatrixType
    operands: tuple[MatrixType, MatrixType, MatrixType]
    formats: Formats
    numerics: str


# --------------------------------------------------------------------------------------
# Components of the work-items
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Extract(Operation):
    """A component of every work-item. is_uniform: all work-items mean the same one."""

    name = "extract"
    result: None = None
    operands: tuple[MatrixType]
    is_uniform: bool

    @property
    def returned(self) -> str:
        """A number of every work-item."""
        return _components(self.operands[0], self.sub_group_size)


@dataclass(frozen=True, kw_only=True)
class Insert(Operation):
    """The matrix with a component of every work-item replaced."""

    name = "insert"
    result: MatrixType
    operands: tuple[MatrixType]
    is_uniform: bool


@dataclass(frozen=True, kw_only=True)
class Publish(Operation):
    """Leave the address of memory in other memory, for the other sub-groups of the work-group."""

    name = "publish"
    result: None = None
    operands: tuple[()] = ()


@dataclass(frozen=True, kw_only=True)
class ToMemory(Operation):
    """A matrix goes to memory in which work-items reach their components (:mod:`.component_loops`)."""

    name = "to_memory"
    result: None = None
    operands: tuple[MatrixType]


@dataclass(frozen=True, kw_only=True)
class FromMemory(Operation):
    """A matrix out of such memory."""

    name = "from_memory"
    result: MatrixType
    operands: tuple[()] = ()


@dataclass(frozen=True, kw_only=True)
class ExtractInMemory(Operation):
    """A component of every work-item, of a matrix of a type in such memory."""

    name = "extract_in_memory"
    result: None = None
    operands: tuple[()] = ()
    kind: MatrixType
    is_uniform: bool

    @property
    def returned(self) -> str:
        """A number of every work-item."""
        return _components(self.kind, self.sub_group_size)


@dataclass(frozen=True, kw_only=True)
class InsertInMemory(Operation):
    """A component of every work-item is replaced, of a matrix of a type in such memory."""

    name = "insert_in_memory"
    result: None = None
    operands: tuple[()] = ()
    kind: MatrixType
    is_uniform: bool


def _components(kind: MatrixType, sub_group_size: int) -> str:
    return f"<{sub_group_size} x {element_type(kind)}>"
