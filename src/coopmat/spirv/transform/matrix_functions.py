"""Matrix instructions that run functions, as loops over components: SPIR-V to SPIR-V.

For targets that have the components of matrices, but not these instructions (SPV_EXT_cooperative_matrix_maintenance1).
An operation on each element becomes a loop over the components of a work-item. A reduction becomes one over all
elements, which every work-item gets from the others and combines: a target knows the usual ones itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coopmat.diagnostics import ValidationError
from coopmat.numerics.folding import halves
from coopmat.spirv.analysis.combinations import combination_of
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import OPENCL_STD, GroupOperation, MemorySemantics, Op, Scope, StorageClass
from coopmat.spirv.grammar import CooperativeMatrixReduce as Reduce
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make

_MERGES = frozenset({Op.SelectionMerge, Op.LoopMerge})
_COMPUTING = frozenset({
    Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FRem, Op.FNegate, Op.IAdd, Op.ISub, Op.IMul, Op.SNegate, Op.Not,
    Op.BitwiseAnd, Op.BitwiseOr, Op.BitwiseXor, Op.ShiftLeftLogical, Op.ShiftRightLogical, Op.ShiftRightArithmetic,
    Op.UConvert, Op.SConvert, Op.FConvert, Op.ConvertFToS, Op.ConvertFToU, Op.ConvertSToF, Op.ConvertUToF, Op.Bitcast,
    Op.Select, Op.CopyObject, Op.IEqual, Op.INotEqual, Op.SLessThan, Op.SLessThanEqual, Op.SGreaterThan,
    Op.SGreaterThanEqual, Op.ULessThan, Op.ULessThanEqual, Op.UGreaterThan, Op.UGreaterThanEqual, Op.LogicalAnd,
    Op.LogicalOr, Op.LogicalNot, Op.LogicalEqual, Op.LogicalNotEqual, Op.FOrdEqual, Op.FOrdNotEqual, Op.FOrdLessThan,
    Op.FOrdLessThanEqual, Op.FOrdGreaterThan, Op.FOrdGreaterThanEqual, Op.FUnordEqual, Op.FUnordNotEqual,
    Op.FUnordLessThan, Op.FUnordLessThanEqual, Op.FUnordGreaterThan, Op.FUnordGreaterThanEqual, Op.IsNan, Op.IsInf})
_ACTING = frozenset(number for name, number in OPENCL_STD.items() if re.search(
    "^printf$|^prefetch$|^vload|^vstore|^fract$|^frexp$|^lgamma_r$|^modf$|^remquo$|^sincos$", name))
"""Functions that do more than compute a result."""


def with_loops(module: Module, keeps: Callable[[Instruction], bool] = lambda row: False) -> Module:
    """The module with loops instead of operations on each element, and of reductions by other than usual functions.

    keeps: whether an operation on each element stays as it is.
    """
    chosen = {row.result_id for row in module.of_opcode(Op.CooperativeMatrixPerElementOpEXT) if not keeps(row)}
    chosen |= {row.result_id for row in module.of_opcode(Op.CooperativeMatrixReduceEXT)
               if combination_of(module, row.words[2]) is None}
    return _Rewriting(module, chosen).done() if chosen else module


def is_straight(module: Module) -> Callable[[Instruction], bool]:
    """Whether an operation on each element of a module is one by a function that only computes."""
    return lambda row: bool(straight_body(module, row.words[1]))


def straight_body(module: Module, function: int) -> list[Instruction]:
    """The instructions of a function of one block that does nothing but compute what it returns, the last of them its
    return; none if it does more."""
    blocks = module.function(function).blocks
    rows = [row for block in blocks for row in block.instructions if row.opcode not in LINES]
    computes = len(blocks) == 1 and rows[-1].opcode == Op.ReturnValue and all(
        row.opcode in _COMPUTING or (row.opcode == Op.ExtInst and row.words[1] not in _ACTING) for row in rows[:-1])
    return rows if computes else []


@dataclass
class _Function:
    """A function being rewritten: ``variables`` are added to its first block; ``moved`` is, for the label of a block
    that was cut, that of its last part."""

    rows: list[Instruction] = field(default_factory=list)
    variables: list[Instruction] = field(default_factory=list)
    start: int = 0
    label: int = 0
    moved: dict[int, int] = field(default_factory=dict)


class _Rewriting:
    """Rewrites the functions of a module that have such instructions."""

    def __init__(self, module: Module, chosen: set[int | None]) -> None:
        self.module = module
        self.chosen = chosen
        self.editor = Editor(module)
        self.function = _Function()
        self.uint = self.editor.unique(Op.TypeInt, 32, 0)
        self.bool = self.editor.unique(Op.TypeBool)

    def done(self) -> Module:
        functions: list[Instruction] = []
        part: list[Instruction] = []
        for item in self.editor.functions:
            part.append(item)
            if item.opcode == Op.FunctionEnd:
                functions += self._rewritten(part) if any(one.result_id in self.chosen for one in part) else part
                part = []
        return self.module.with_instructions([*self.editor.head, *functions, *part])

    def _rewritten(self, items: list[Instruction]) -> list[Instruction]:
        self.function = function = _Function()
        label = place = 0
        for index, item in enumerate(items):
            if item.opcode == Op.Label:
                label = function.label = item.result_id or 0
                place = len(function.rows) + 1
                function.start = function.start or place
            if item.result_id in self.chosen:
                self._keep_header(items, index, place)
                self._replace(item)
                function.moved[label] = function.label
            else:
                function.rows.append(item)
        function.rows[function.start:function.start] = function.variables
        return [_with_parents(item, function.moved) if (item.result_id or 0) < self.module.bound else item
                for item in function.rows]

    def _keep_header(self, items: list[Instruction], index: int, place: int) -> None:
        """Let the head of a loop stay its head: what is behind its phis becomes a block of its own."""
        end = next(at for at in range(index, len(items)) if items[at].opcode in _MERGES or items[at + 1].opcode in (
            Op.Label, Op.FunctionEnd))
        if items[end].opcode != Op.LoopMerge:
            return
        merge, rows = items.pop(end), self.function.rows
        first = max((at + 1 for at in range(place, len(rows)) if rows[at].opcode == Op.Phi), default=place)
        body = self.editor.new_id()
        rows[first:first] = [merge, make(Op.Branch, body), make(Op.Label, result_id=body)]
        self.function.label = body

    # --- writing ----------------------------------------------------------------------

    def let(self, op: Op, type_id: int, *words: int, result: int | None = None) -> int:
        """An instruction with a result, and its id."""
        identifier = self.editor.new_id() if result is None else result
        self.function.rows.append(self.editor.add(make(op, *words, type_id=type_id, result_id=identifier)))
        return identifier

    def do(self, op: Op, *words: int) -> None:
        """An instruction without a result."""
        self.function.rows.append(make(op, *words))

    def begin(self, label: int) -> None:
        """A block, which goes on with the line of the source that the one before has come to."""
        rows = self.function.rows
        last = next((row for row in reversed(rows) if row.opcode in (*LINES, Op.Label)), None)
        rows.append(make(Op.Label, result_id=label))
        rows += [last] if last is not None and last.opcode in LINES else []
        self.function.label = label

    def variable(self, type_id: int) -> int:
        """A variable of the function; its address."""
        pointer, identifier = self.editor.type_pointer(StorageClass.Function, type_id), self.editor.new_id()
        self.function.variables.append(self.editor.add(make(Op.Variable, StorageClass.Function, type_id=pointer,
                                                            result_id=identifier)))
        return identifier

    def number(self, value: int) -> int:
        """A constant."""
        return self.editor.constant(value)

    def compute(self, op: Op, *operands: int) -> int:
        """An operation on unsigned integers."""
        return self.let(op, self.uint, *operands)

    def loop(self, count: int, body: Callable[[int], None]) -> None:
        """A loop of at least one turn; ``count`` is an id, and ``body`` gets that of the turn's number."""
        before, (head, inside, latch, end) = self.function.label, (self.editor.new_id() for _ in range(4))
        number, following = self.editor.new_id(), self.editor.new_id()
        self.do(Op.Branch, head)
        self.begin(head)
        self.let(Op.Phi, self.uint, self.number(0), before, following, latch, result=number)
        self.do(Op.LoopMerge, end, latch, 0)
        self.do(Op.Branch, inside)
        self.begin(inside)
        body(number)
        self.do(Op.Branch, latch)
        self.begin(latch)
        self.let(Op.IAdd, self.uint, number, self.number(1), result=following)
        more = self.let(Op.ULessThan, self.bool, following, count)
        self.do(Op.BranchConditional, more, head, end)
        self.begin(end)

    # --- matrices ---------------------------------------------------------------------

    def matrix_type(self, type_id: int | None, row: Instruction) -> Instruction:
        """The definition of a matrix type."""
        found = self.editor.definition(type_id or 0)
        if found.opcode != Op.TypeCooperativeMatrixKHR:
            raise ValidationError("matrix-type-operands", f"{row.name} needs cooperative matrices", row.offset)
        return found

    def sizes(self, matrix: Instruction) -> tuple[int, int]:
        """Rows and columns of a matrix type."""
        rows, columns = (int(self.module.constant_value(word) or 1) for word in matrix.words[2:4])
        return rows, columns

    def length(self, matrix: Instruction) -> int:
        """The number of components of a matrix type."""
        return self.let(Op.CooperativeMatrixLengthKHR, self.uint, matrix.result_id or 0)

    def held(self, value: int, matrix: Instruction) -> int:
        """A variable with a matrix."""
        variable = self.variable(matrix.result_id or 0)
        self.do(Op.Store, variable, value)
        return variable

    def component(self, variable: int, matrix: Instruction, index: int) -> int:
        """The address of a component."""
        return self.element(variable, matrix.words[0], index)

    def element(self, variable: int, type_id: int, index: int) -> int:
        """The address of a part of a variable."""
        return self.let(Op.AccessChain, self.editor.type_pointer(StorageClass.Function, type_id), variable, index)

    def place(self, value: int, matrix: Instruction, index: int, integer: int) -> list[int]:
        """Row and column of a component; of one that is padding they are not in the matrix."""
        pair = self.let(Op.CooperativeMatrixGetElementCoordINTEL, self.editor.unique(Op.TypeVector, integer, 2), value,
                        index)
        return [self.let(Op.CompositeExtract, integer, pair, part) for part in range(2)]

    def at_most(self, number: int, most: int, integer: int) -> int:
        """A number, or the most that it may be."""
        limit = self.editor.unique(Op.Constant, most, type_id=integer)
        return self.let(Op.Select, integer, self.let(Op.ULessThan, self.bool, number, limit), number, limit)

    def number_of(self, place: Sequence[int], steps: Sequence[int], most: int) -> int:
        """Where an element stands in an array that has so many steps from row to row and from column to column."""
        parts = [self.compute(Op.IMul, one, self.number(step)) for one, step in zip(place, steps, strict=True)]
        return self.at_most(self.compute(Op.IAdd, *parts), most, self.uint)

    # --- instructions -----------------------------------------------------------------

    def _replace(self, row: Instruction) -> None:
        if row.opcode == Op.CooperativeMatrixPerElementOpEXT:
            self._each_element(row)
        else:
            self._reduction(row)

    def _each_element(self, row: Instruction) -> None:
        value, function, *others = row.words
        matrix = self.matrix_type(row.type_id, row)
        target = self.held(value, matrix)
        kinds = [self.editor.definition(self.editor.definition(other).type_id or 0) for other in others]
        given = [(self.held(other, kind), kind) if kind.opcode == Op.TypeCooperativeMatrixKHR else (other, None)
                 for other, kind in zip(others, kinds, strict=True)]
        integer = self._parameter_type(function, row)

        def turn(index: int) -> None:
            place = [self.at_most(number, size - 1, integer) for number, size in zip(
                self.place(value, matrix, index, integer), self.sizes(matrix), strict=True)]
            address = self.component(target, matrix, index)
            elements = [self.let(Op.Load, kind.words[0], self.component(other, kind, index)) if kind else other
                        for other, kind in [(target, matrix), *given]]
            found = self.let(Op.FunctionCall, matrix.words[0], function, *place, *elements)
            self.do(Op.Store, address, found)

        self.loop(self.length(matrix), turn)
        self.let(Op.Load, matrix.result_id or 0, target, result=row.result_id)

    def _parameter_type(self, function: int, row: Instruction) -> int:
        """The type of a function's first parameter."""
        parameters = self.module.function(function).parameters
        if not parameters:
            raise ValidationError("matrix2-per-element", f"{row.name} runs a function without parameters", row.offset)
        return parameters[0].type_id or 0

    def _reduction(self, row: Instruction) -> None:
        """All elements in an array, where they are folded by halves. Padding stands behind them."""
        value, axes, function = row.words
        given = self.matrix_type(self.editor.definition(value).type_id, row)
        kind = self.matrix_type(row.type_id, row)
        rows, columns = self.sizes(given)
        count = rows * columns
        array = self.variable(self.editor.unique(Op.TypeArray, given.words[0], self.number(count + 1)))
        self._gather(value, given, array)
        fold = _Folding(self, array, given.words[0], function)
        if axes == Reduce._2x2:
            fold.along((rows // 2, 2 * columns), (columns, 1), 2, columns)
            fold.along((rows // 2, 2 * columns), (columns // 2, 2), 2, 1)
        if axes & Reduce.Column:
            fold.along((columns, 1), (1, 0), rows, columns)
        if axes & Reduce.Row:
            fold.along((1 if axes & Reduce.Column else rows, columns), (1, 0), columns, 1)
        steps = {Reduce.Row: (columns, 0), Reduce.Column: (0, 1), Reduce._2x2: (2 * columns, 2)}.get(
            Reduce(axes), (0, 0))
        target = self.variable(kind.result_id or 0)
        undefined = self.editor.unique(Op.Undef, type_id=kind.result_id)

        def spread(index: int) -> None:
            number = self.number_of(self.place(undefined, kind, index, self.uint), steps, count)
            found = self.let(Op.Load, given.words[0], self.element(array, given.words[0], number))
            self.do(Op.Store, self.component(target, kind, index), found)

        self.loop(self.length(kind), spread)
        self.let(Op.Load, kind.result_id or 0, target, result=row.result_id)

    def _gather(self, value: int, matrix: Instruction, array: int) -> None:
        """All elements of a matrix into an array of each work-item: one work-item after the other tells its own."""
        if self.module.constant_value(matrix.words[1]) == Scope.Workgroup:
            self._gather_of_work_group(value, matrix, array)
            return
        scope, element = self.number(Scope.Subgroup), matrix.words[0]
        rows, columns = self.sizes(matrix)
        source = self.held(value, matrix)
        members = self.compute(Op.GroupNonUniformIAdd, scope, GroupOperation.Reduce, self.number(1))

        def turn(index: int) -> None:
            own = self.let(Op.Load, element, self.component(source, matrix, index))
            number = self.number_of(self.place(value, matrix, index, self.uint), (columns, 1), rows * columns)

            def tell(lane: int) -> None:
                found = self.let(Op.GroupNonUniformShuffle, element, scope, own, lane)
                place = self.compute(Op.GroupNonUniformShuffle, scope, number, lane)
                self.do(Op.Store, self.element(array, element, place), found)

            self.loop(members, tell)

        self.loop(self.length(matrix), turn)

    def _gather_of_work_group(self, value: int, matrix: Instruction, array: int) -> None:
        """The same by way of local memory: each work-item leaves its own elements there, and takes all."""
        element, (rows, columns) = matrix.words[0], self.sizes(matrix)
        count = rows * columns
        kind = self.editor.unique(Op.TypeArray, element, self.number(count + 1))
        pointer = self.editor.type_pointer(StorageClass.Workgroup, kind)
        shared = self.editor.unique(Op.Variable, StorageClass.Workgroup, type_id=pointer)
        part = self.editor.type_pointer(StorageClass.Workgroup, element)
        source = self.held(value, matrix)

        def leave(index: int) -> None:
            own = self.let(Op.Load, element, self.component(source, matrix, index))
            number = self.number_of(self.place(value, matrix, index, self.uint), (columns, 1), count)
            self.do(Op.Store, self.let(Op.AccessChain, part, shared, number), own)

        def take(number: int) -> None:
            found = self.let(Op.Load, element, self.let(Op.AccessChain, part, shared, number))
            self.do(Op.Store, self.element(array, element, number), found)

        self.loop(self.length(matrix), leave)
        self._barrier()
        self.loop(self.number(count), take)
        self._barrier()

    def _barrier(self) -> None:
        """Wait for all work-items of the work-group, and for what they have written to local memory."""
        scope = self.number(Scope.Workgroup)
        semantics = MemorySemantics.SequentiallyConsistent | MemorySemantics.WorkgroupMemory
        self.do(Op.ControlBarrier, scope, scope, self.number(int(semantics)))


@dataclass
class _Folding:
    """Folds elements of an array."""

    to: _Rewriting
    array: int
    type_id: int
    function: int

    def along(self, outer: Sequence[int], inner: Sequence[int], count: int, step: int) -> None:
        """Combine ``count`` elements, ``step`` apart, to the first of them, for each of two numbers and their steps."""
        to = self.to
        while count > 1:
            pairs, distance = halves(count)

            def pair(first: int, distance: int = distance) -> None:
                second = to.compute(Op.IAdd, first, to.number(distance * step))
                places = [to.element(self.array, self.type_id, one) for one in (first, second)]
                found = to.let(Op.FunctionCall, self.type_id, self.function,
                               *(to.let(Op.Load, self.type_id, place) for place in places))
                to.do(Op.Store, places[0], found)

            self._each(to.number(0), [outer, inner, (pairs, step)], pair)
            count = distance

    def _each(self, first: int, numbers: Sequence[Sequence[int]], body: Callable[[int], None]) -> None:
        """A loop for each number of turns that is more than one; their steps add up."""
        if not numbers:
            body(first)
            return
        (count, step), *rest = numbers
        to = self.to
        if count == 1:
            self._each(first, rest, body)
            return
        to.loop(to.number(count), lambda turn: self._each(
            to.compute(Op.IAdd, first, to.compute(Op.IMul, turn, to.number(step))), rest, body))


def _with_parents(item: Instruction, moved: dict[int, int]) -> Instruction:
    """A phi with the blocks that control comes from now."""
    if item.opcode != Op.Phi or not moved:
        return item
    words = tuple(moved.get(word, word) if place % 2 else word for place, word in enumerate(item.words))
    return Instruction(item.opcode, item.type_id, item.result_id, words, item.offset)
