"""The interface between the walk over the kernel tree and what it produces.

:mod:`coopmat.lowering.walk` decides *what* is computed and calls a :class:`Builder`, which decides how
that is written down: :mod:`coopmat.lowering.spirv.builder` as a SPIR-V module,
:mod:`coopmat.lowering.llvm.builder` as LLVM IR in the form that the cooperative-matrix RFC gives.

Every value carries its tree type, with these conventions, which the walk keeps and a builder relies on:

* No value is of an enumeration type: those are of its underlying integer type.
* BOOL, and a vector of BOOL, are the types of *values* (a 1-bit integer). What lies in memory, inside
  an array or record, or behind a pointer has :func:`coopmat.lowering.memory.memory_type` instead, 8 bits
  wide; the walk converts. A builder applies ``memory_type`` to a pointee before it lowers it.
* Variables are aligned as :func:`coopmat.tree.types.layout_of` and ``Variable.alignment`` say, which may be
  more than the target's structure asks for (:func:`coopmat.lowering.memory.natural_alignment`).
* Records are lowered as :func:`coopmat.lowering.memory.physical_record` says. A union's fields are
  reached through :meth:`Builder.bitcast` of its address.
* ``const`` and ``volatile`` of a pointer type do not make a different target type.
* Signedness is read from the operands' tree types; the target's integers have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from coopmat.diagnostics import SourceLocation
from coopmat.tree.nodes import BinaryOperator, Function, Program, UnaryOperator, Variable
from coopmat.tree.types import Matrix, Record, Type, Vector


@dataclass(frozen=True, slots=True)
class Value:
    """The result of an operation: its tree type, and the builder's own name for it (an id, a register)."""

    type: Type
    handle: Any


@dataclass(eq=False, frozen=True, slots=True)
class BasicBlock:
    """A basic block; ``handle`` is the builder's own name for it."""

    handle: Any


@dataclass(frozen=True, slots=True)
class Window:
    """The values of a :class:`coopmat.tree.nodes.Window`: INTs for the offsets, UINTs for the sizes."""

    row: Value
    column: Value
    height: Value
    width: Value


@dataclass(frozen=True, slots=True)
class LoopMerge:
    """What a loop's header knows about the loop: where it ends, where ``continue`` goes, and the hint
    ``unroll`` (None without one, 0 in full, 1 not at all, else the factor)."""

    merge: BasicBlock
    continue_target: BasicBlock
    unroll: int | None = None


class Builder(Protocol):
    """Receives a program, operation by operation.

    Order of calls: :meth:`begin_program`; :meth:`module_variable` and the constants these need; for
    each function :meth:`declare_function`; then, function by function, :meth:`begin_function`, its
    contents and :meth:`end_function`. Constants and :meth:`module_variable` are legal at any time,
    everything else below "Blocks" only while a block is open.
    """

    # -- Program and functions -----------------------------------------------------------

    def begin_program(self, program: Program) -> None:
        """Start; ``program`` tells about FP_CONTRACT and the kernels."""

    def module_variable(self, variable: Variable, initializer: Value | None) -> Value:
        """An object of the whole program (CONSTANT, GLOBAL) or work-group (LOCAL). Returns its address.
        The initialiser, a constant, is of the variable's memory type."""

    def declare_function(self, function: Function) -> None:
        """Announce a function, so that calls may come before its definition."""

    def import_function(self, function: Function) -> None:
        """Announce a function that whoever runs the program defines."""

    def begin_function(self, function: Function) -> list[Value]:
        """Start the definition and open its entry block. Returns the parameters' values (a record as a
        loaded value, also where the target passes it by address)."""

    def end_function(self) -> None:
        """End the definition; every block has been terminated."""

    def local_variable(self, variable: Variable) -> Value:
        """A PRIVATE object that lives as long as the function's activation; returns its address. Legal
        at any point of the function: the builder places it into the entry block."""

    def locate(self, location: SourceLocation | None) -> None:
        """The source location that the following operations come from (None: none)."""

    # -- Blocks --------------------------------------------------------------------------

    def new_block(self, purpose: str) -> BasicBlock:
        """A block to branch to; ``purpose`` ("then", "loop.header") may become part of its name."""

    def open_block(self, block: BasicBlock) -> None:
        """Append ``block`` to the function; operations go there until its terminator."""

    @property
    def current_block(self) -> BasicBlock:
        """The open block."""

    def branch(self, target: BasicBlock, loop: LoopMerge | None = None) -> None:
        """Terminate with a jump; with ``loop`` the current block is the header of that loop."""

    def branch_if(self, condition: Value, if_true: BasicBlock, if_false: BasicBlock,
                  merge: BasicBlock | LoopMerge | None = None) -> None:
        """Terminate with a choice by a BOOL. ``merge`` is where both sides meet, or the loop that the
        current block is the header of; None if control flow here is not structured."""

    def switch(self, value: Value, cases: Sequence[tuple[int, BasicBlock]], default: BasicBlock,
               merge: BasicBlock | None) -> None:
        """Terminate with a choice by an integer."""

    def return_value(self, value: Value | None) -> None:
        """Terminate with a return from the function."""

    def unreachable(self) -> None:
        """Terminate a block that is never reached."""

    def phi(self, type_: Type, incoming: Sequence[tuple[Value, BasicBlock]]) -> Value:
        """The value that belongs to the block that control came from; first thing in its block."""

    # -- Constants -----------------------------------------------------------------------

    def constant(self, type_: Type, value: int | float | bool) -> Value:
        """A scalar constant (BOOL included)."""

    def zero(self, type_: Type) -> Value:
        """The zero value of any type: number, null pointer, aggregate, matrix."""

    def undefined(self, type_: Type) -> Value:
        """A value of any type that may be anything."""

    def constant_composite(self, type_: Type, elements: Sequence[Value]) -> Value:
        """An array, record or vector from constants, one for each element or field. For a union they are
        those of its :func:`~coopmat.lowering.memory.physical_record`."""

    def constant_offset(self, pointer: Value, steps: int) -> Value:
        """A constant ``pointer`` moved by a number of pointees."""

    def constant_cast(self, pointer: Value, type_: Type) -> Value:
        """A constant ``pointer`` as one to another type, in the generic address space, or as a 64-bit integer."""

    # -- Memory --------------------------------------------------------------------------

    def load(self, pointer: Value, alignment: int, volatile: bool = False) -> Value:
        """What ``pointer`` points to; the value is of the pointee's memory type."""

    def store(self, pointer: Value, value: Value, alignment: int, volatile: bool = False) -> None:
        """Write ``value``, of the pointee's memory type."""

    def access(self, pointer: Value, indices: Sequence[Value | int]) -> Value:
        """The address of a part of the pointee: an element of an array (int or Value of any integer
        type, signed), a field of a record (int, never of a union), a component of a vector or of this
        work-item's share of a matrix; several indices go deeper and deeper."""

    def offset_pointer(self, pointer: Value, offset: Value) -> Value:
        """``pointer`` moved by ``offset`` (LONG or ULONG) pointees."""

    def cast_address_space(self, pointer: Value, type_: Type) -> Value:
        """``pointer`` moved to or from the generic address space (same pointee)."""

    def with_cache_controls(self, pointer: Value, loads: Sequence[tuple[int, int]],
                            stores: Sequence[tuple[int, int]]) -> Value:
        """The same pointer as a new value, which carries hints: (cache level, control) for loads and stores."""

    # -- Scalars and vectors -------------------------------------------------------------

    def unary(self, operator: UnaryOperator, operand: Value) -> Value:
        """NEGATE (also of a matrix), COMPLEMENT of integers, NOT of bools; by component."""

    def binary(self, operator: BinaryOperator, left: Value, right: Value) -> Value:
        """An operation by component on two scalars or vectors of one type, or (``+ - * /``) matrices.

        Shift amounts are of the left operand's width; one out of range is undefined. On bools: AND, OR, XOR, EQUAL,
        NOT_EQUAL. Comparisons give BOOL, or a vector of it. Pointers do not occur.
        """

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        """Choice by one BOOL (values of any type) or by component (by a vector of BOOL)."""

    def convert(self, value: Value, type_: Type, rounding: str | None = None,
                saturate: bool = False, transposed: bool = False) -> Value:
        """Another representation of a number: integers of other width (extended by the source's sign),
        integer to float and back, floats of other width; scalars, vectors, matrices. Never BOOL;
        bfloat16 only from and to FLOAT. ``rounding`` is "rte", "rtz", "rtp", "rtn" or None: the
        operation's default. ``saturate`` comes with float to integer only, and turns NaN into 0. Of two matrices
        of different use one is an ACCUMULATOR; it is the operand if rows and columns are exchanged (``transposed``).
        """

    def bitcast(self, value: Value, type_: Type) -> Value:
        """The same bits as another type: scalars and vectors of one size, a pointer as another of its
        address space, a pointer as ULONG and back, integer matrices up to sign. Types that differ in
        the tree only (int and uint) cost nothing."""

    # -- Composites ----------------------------------------------------------------------

    def composite(self, type_: Type, parts: Sequence[Value]) -> Value:
        """An array or record from its elements, or a vector from scalars and shorter vectors, in order."""

    def extract(self, value: Value, index: int) -> Value:
        """A component of a vector, this work-item's component of a matrix, an element of an array or a
        field of a record (not of a union); what comes out of an aggregate is of the memory type."""

    def extract_dynamic(self, vector: Value, index: Value) -> Value:
        """The component of a vector at a run-time index."""

    def shuffle(self, vector: Value, components: Sequence[int | None], type_: Vector) -> Value:
        """A vector of components of another one; None leaves a component undefined."""

    # -- Calls ---------------------------------------------------------------------------

    def call(self, function: Function, arguments: Sequence[Value]) -> Value:
        """A call of a declared function; the value is meaningless for a VOID one."""

    def work_item_query(self, builtin: str, type_: Type, dimension: Value | int | None,
                        out_of_range: int) -> Value:
        """A SPIR-V BuiltIn's value; see :class:`coopmat.tree.nodes.WorkItemQuery`. ``dimension`` is an
        int where it is known (0, 1 or 2), else a UINT."""

    def std(self, name: str, type_: Type, arguments: Sequence[Value], literals: Sequence[int]) -> Value:
        """An instruction of the OpenCL.std set, named as there; the literals follow the arguments."""

    def core(self, name: str, type_: Type, arguments: Sequence[Value], literals: Sequence[int]) -> Value:
        """A core SPIR-V instruction, named without Op; ids and literals fill its operands in order."""

    # -- Cooperative matrices ------------------------------------------------------------

    def matrix_load(self, type_: Matrix, pointer: Value, layout: int, stride: Value,
                    window: Window | None = None) -> Value:
        """Load; the stride (an integer) counts pointees. With a window, what lies outside of it is 0."""

    def matrix_store(self, pointer: Value, matrix: Value, layout: int, stride: Value,
                     window: Window | None = None) -> None:
        """Store; the stride (an integer) counts pointees. With a window, only what lies inside of it."""

    def matrix_prefetch(self, pointer: Value, rows: int, columns: int, level: int, layout: int, stride: Value) -> None:
        """Fetch rows x columns elements into the cache ``level`` (0 is L1)."""

    def matrix_multiply_add(self, type_: Matrix, a: Value, b: Value, c: Value, operands: int) -> Value:
        """``a * b + c``; ``operands`` are SPIR-V's Cooperative Matrix Operands."""

    def matrix_fill(self, type_: Matrix, value: Value, window: Window | None = None) -> Value:
        """All elements ``value``, of the element type; with a window those inside of it, the others 0."""

    def matrix_change_use(self, matrix: Value, type_: Matrix, transposed: bool = False) -> Value:
        """The same elements as a matrix of another use; which ones, and ``transposed``, as in :meth:`convert`."""

    def matrix_times_scalar(self, matrix: Value, scalar: Value) -> Value:
        """Each element times ``scalar``, of the element type."""

    def matrix_reduce(self, type_: Matrix, matrix: Value, axes: int, combine: Function) -> Value:
        """Elements that a declared function combines: see :class:`coopmat.tree.nodes.MatrixReduce`."""

    def matrix_apply(self, matrix: Value, function: Function, arguments: Sequence[Value]) -> Value:
        """Elements that a declared function gives: see :class:`coopmat.tree.nodes.MatrixApply`."""

    def matrix_length(self, type_: Matrix) -> Value:
        """Components that one work-item holds (UINT)."""

    def matrix_coordinates(self, matrix: Value, index: Value) -> Value:
        """Row and column (int2) of this work-item's component ``index`` (an INT or UINT)."""


def is_union(type_: Type) -> bool:
    """Whether ``type_`` is a union."""
    return isinstance(type_, Record) and type_.is_union
