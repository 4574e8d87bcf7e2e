"""Matrices of a kernel that lie side by side become one larger matrix.

Where a kernel stores a grid of matrices that are neighbours in memory, and computes all of them alike, from matrices
that are neighbours, too, it is a kernel for the larger matrix (superword-level parallelism, of matrices): 2 x 2
accumulators, two columns of A's tiles and two of B's become one product. A chain of products along K becomes one, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from coopmat.spirv.analysis.matrix_uses import transposes
from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import FunctionEditor, replace_uses
from coopmat.spirv.grammar import CooperativeMatrixOperands, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.cut.cutting import ELEMENTWISE
from coopmat.spirv.transform.enlarge.accesses import LOADS, Access, NotRegular, access_of
from coopmat.spirv.transform.enlarge.chains import Chains
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Condition, Placing
from coopmat.spirv.transform.enlarge.elements import Caller, Moved
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.matrices import CONSTANTS, scope_of, taken_apart, uses_position
from coopmat.spirv.transform.enlarge.order import STORES, Order
from coopmat.spirv.transform.facts import Facts
from coopmat.spirv.transform.fold import remove_unused
from coopmat.spirv.transform.goal import Goal, Say, counted

Grid = tuple[tuple[int, ...], ...]
"""The ids of matrices that lie side by side: rows of them."""


def pack(module: Module, goal: Goal, say: Say) -> Module:
    """The module with matrices that lie side by side as larger ones."""
    editor = FunctionEditor(module)
    types = TypeTable(module, 1)
    count = sum(_Packing(editor, types, Indices(editor, body, None)).done() for body in editor.bodies
                if any(row.opcode in STORES for row in body.rows()))
    if count:
        say(f"{counted(count, 'matrix', 'matrices')} in memory became parts of larger ones")
    return editor.done() if count else module


class Packed(NamedTuple):
    """A kernel with larger matrices, and what must hold in its launches. apart: pairs of parameters (their positions)
    whose arguments may not share memory."""

    module: Module
    conditions: tuple[Condition, ...] = ()
    apart: tuple[tuple[int, int], ...] = ()


def packed(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int,
           placing: Placing | None = None, *, chains: bool = True) -> Packed:
    """The same of one kernel. NoMerge for matrices of several scopes. ``chains``: whether chains of products along K
    become one, too."""
    editor, body = taken_apart(module, kernel)
    indices = Indices(editor, body, local_size, sub_group_size, scope_of(module), placing)
    packing = _Packing(editor, TypeTable(module, 1), indices, chains, asks=True)
    if not packing.done():
        return Packed(module)
    return Packed(editor.done(), tuple(indices.conditions), tuple(packing.order.apart))


_OPERANDS = {Op.CooperativeMatrixLoadKHR: 3, Op.CooperativeMatrixStoreKHR: 4,
             Op.CooperativeMatrixLoadCheckedINTEL: 7, Op.CooperativeMatrixStoreCheckedINTEL: 8}
"""How many words stand before the memory operands."""


def _without_operands(access: Access) -> tuple[int, ...]:
    """The words of a load or store but for its memory operands."""
    return access.row.words[:_OPERANDS[Op(access.row.opcode)]]


class _Apart(Exception):
    """Why matrices do not become one."""


@dataclass
class _Packing:
    """One function. packs: the matrix that a grid became. new: what is put behind an instruction, by its place (its
    block's number, and its own there), and phis: at the start of a block. asks: whether launches can be asked if two
    arguments share memory."""

    editor: FunctionEditor
    types: TypeTable
    indices: Indices
    chains: bool = True
    asks: bool = False
    packs: dict[Grid, int] = field(default_factory=dict)
    new: dict[tuple[int, int], list[Instruction]] = field(default_factory=dict)
    phis: dict[int, list[Instruction]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.body = self.indices.body
        self.order = Order(self.indices, asks=self.asks)
        self.chains_along_k = Chains(self.editor, self.body)
        self.accesses: dict[int, Access] = {}
        self.same: dict[int, int] = {}  # loads of what another one has loaded
        self.lengthened: dict[int, int] = {}  # products that are longer now

    def done(self) -> int:
        """Pack what can be packed; the number of matrices in memory that are parts of larger ones now."""
        stores = []
        for row in self.body.rows():
            if row.opcode in (*LOADS, *STORES):
                try:
                    found = access_of(self.indices, row)
                except NotRegular:
                    continue
                if row.opcode in STORES:
                    stores.append(found)
                else:
                    self._note(found)
        count = 0
        for grid in list(self._grids(stores)):
            with suppress(_Apart), self._attempt():
                self._store(grid)
                count += len(grid) * len(grid[0])
        count += sum(map(self._lengthen, [row for row in self.body.rows() if self.chains and self._is_free_chain(row)]))
        if count:
            self._write()
        return count

    @contextmanager
    def _attempt(self) -> Iterator[None]:
        """Nothing is written of what turns out not to become one."""
        packs = dict(self.packs)
        new = {place: list(rows) for place, rows in self.new.items()}
        phis = {block: list(rows) for block, rows in self.phis.items()}
        try:
            yield
        except _Apart:
            self.packs, self.new, self.phis = packs, new, phis
            raise

    def _note(self, load: Access) -> None:
        """Remember a load; one of the same matrix as another one in its block is that one."""
        for identifier, other in self.accesses.items():
            is_same = self._key(load) == self._key(other) and (load.line, load.along) == (other.line, other.along)
            if is_same and self.order.block(load.row) == self.order.block(other.row) and not self.order.is_passed(
                    other.row, load.row):
                self.same[load.matrix] = identifier
                return
        self.accesses[load.matrix] = load

    def _key(self, access: Access) -> tuple[object, ...]:
        sizes = tuple(map(self.indices.of, access.sizes or ()))
        return (self.editor.definition(access.matrix).type_id, access.base, access.layout,
                self.indices.of(access.stride), sizes)

    # --- grids ------------------------------------------------------------------------------

    def _grids(self, stores: Sequence[Access]) -> Iterator[list[list[Access]]]:
        """Stores of matrices that lie side by side, as rows."""
        groups: dict[tuple[object, ...], list[Access]] = {}
        for access in stores:
            groups.setdefault((self.order.block(access.row), self._key(access)), []).append(access)
        for group in groups.values():
            found = self._arranged(group)
            if found is not None and len(group) > 1:
                yield found

    def _arranged(self, group: Sequence[Access]) -> list[list[Access]] | None:
        """Accesses as the grid that they form in memory; None if they form none."""
        kind = self._kind(group[0].matrix)
        cells: dict[tuple[int, int], Access] = {}
        for access in group:
            steps = [(access.start(place) - group[0].start(place)).known for place in range(2)]
            rows, columns = steps
            if rows is None or columns is None or rows % kind.rows or columns % kind.columns:
                return None
            cells[rows // kind.rows, columns // kind.columns] = access
        first = min(row for row, _ in cells), min(column for _, column in cells)
        down, across = (1 + max(cell[place] for cell in cells) - first[place] for place in range(2))
        if len(cells) != len(group) or down * across != len(cells):
            return None
        return [[cells[first[0] + row, first[1] + column] for column in range(across)] for row in range(down)]

    def _kind(self, identifier: int) -> MatrixType:
        kind = self.types[self.editor.definition(identifier).type_id or 0]
        if not isinstance(kind, MatrixType):
            raise _Apart("they are no matrices")
        return kind

    # --- packing ----------------------------------------------------------------------------

    def _store(self, stores: list[list[Access]]) -> None:
        """One store of all."""
        rows = [access.row for line in stores for access in line]
        last = self._last(rows)
        if any(self.order.crosses(row, last, rows) for row in rows):
            raise _Apart("something is loaded or stored between two stores")
        first = stores[0][0]
        whole = self._packed(tuple(tuple(access.matrix for access in line) for line in stores))
        words = [whole if word == first.matrix else word for word in _without_operands(first)]
        self.new.setdefault(self.order.places[id(last)], []).append(make(Op(first.row.opcode), *words))
        for row in rows:
            self.new.setdefault(self.order.places[id(row)], [])

    def _last(self, rows: Sequence[Instruction]) -> Instruction:
        """The last of instructions that stand in one block."""
        if len({self.order.block(row) for row in rows}) != 1:
            raise _Apart("they are in different blocks")
        return max(rows, key=lambda row: self.order.places[id(row)][1])

    def _packed(self, grid: Grid) -> int:
        """The matrix that a grid becomes."""
        grid = tuple(tuple(self.same.get(one, one) for one in line) for line in grid)
        if len(grid) * len(grid[0]) == 1:
            return grid[0][0]
        if grid not in self.packs:
            self.packs[grid] = self._made(grid)
        return self.packs[grid]

    def _made(self, grid: Grid) -> int:
        rows = [self.editor.definition(one) for line in grid for one in line]
        first = rows[0]
        if any(row.opcode != first.opcode or row.type_id != first.type_id for row in rows):
            raise _Apart("they are computed in different ways")
        if first.opcode in CONSTANTS:
            if any(row is not first for row in rows):
                raise _Apart("they are different constants")
            return self.editor.unique(Op(first.opcode), *first.words, type_id=self._type(grid))
        if first.opcode == Op.Phi:
            return self._phi(grid, rows)
        if first.opcode == Op.CooperativeMatrixMulAddKHR:
            return self._product(grid, rows)
        if first.opcode in LOADS:
            return self._load(grid)
        if first.opcode == Op.CooperativeMatrixPerElementOpEXT:
            return self._elements(grid, rows)
        if first.opcode in ELEMENTWISE and not transposes(self.editor.module, first):
            return self._each(grid, rows)
        raise _Apart(f"they are computed by {first.name}")

    def _type(self, grid: Grid) -> int:
        """The type of the larger matrix."""
        declared = self.editor.type_of(grid[0][0])
        kind = self._kind(grid[0][0])
        component, scope, *_, use = declared.words
        extents = (len(grid) * kind.rows, len(grid[0]) * kind.columns)
        return self.editor.unique(Op.TypeCooperativeMatrixKHR, component, scope, *map(self.editor.constant, extents),
                                  use)

    def _put(self, rows: Sequence[Instruction], op: Op, type_id: int, *words: int) -> int:
        """An instruction behind the last one of some."""
        made = self.editor.row(op, type_id, *words)
        block, place = self.order.places[id(self._last(rows))]
        self.new.setdefault((block, place), []).append(made)
        return made.result_id or 0

    def _phi(self, grid: Grid, rows: Sequence[Instruction]) -> int:
        block = self.order.block(self._last(rows))
        type_id, result = self._type(grid), self.editor.new_id()
        self.packs[grid] = result
        incoming = [dict(zip(row.words[1::2], row.words[::2], strict=True)) for row in rows]
        words: list[int] = []
        for parent in incoming[0]:
            values = iter([values[parent] for values in incoming])
            words += [self._packed(tuple(tuple(next(values) for _ in line) for line in grid)), parent]
        self.phis.setdefault(block, []).append(self.editor.row(Op.Phi, type_id, *words, result=result))
        return result

    def _product(self, grid: Grid, rows: Sequence[Instruction]) -> int:
        """Products of a column of A's tiles and a row of B's; chains of them along K."""
        flags = {row.words[3:] for row in rows}
        if len(flags) != 1:
            raise _Apart("they are products with different flags")
        a, b, c, *flag = rows[0].words
        chains = [[self.chains_along_k.of(one) for one in line] for line in grid]
        depths = {len(chain) for line in chains for chain in line}
        is_chain = self.chains and len(depths) == 1 and not (
            flag and flag[0] & CooperativeMatrixOperands.SaturatingAccumulationKHR)
        for depth in dict.fromkeys((min(depths) if is_chain else 1, 1)):
            last = [[chain[:depth][::-1] for chain in line] for line in chains]  # in ascending K
            try:
                with self._attempt():
                    a = self._packed(self._common(last, 0))
                    b = self._packed(tuple(zip(*self._common(list(zip(*last, strict=True)), 1), strict=True)))
                    c = self._packed(tuple(tuple(chain[0].words[2] for chain in line) for line in last))
            except _Apart:
                if depth == 1:
                    raise
                continue
            return self._put(rows, Op.CooperativeMatrixMulAddKHR, self._type(grid), a, b, c, *flag)
        raise AssertionError

    def _is_free_chain(self, row: Instruction) -> bool:
        """Whether a product is the last one of a chain, of which no part is one of a larger product yet."""
        return self.chains_along_k.ends(row) and not any(row.result_id in line for grid in self.packs for line in grid)

    def _lengthen(self, row: Instruction) -> int:
        """A chain of products as one with more of K; how many matrices in memory are parts of larger ones then."""
        with suppress(_Apart), self._attempt():
            longer = self._product(((row.result_id or 0,),), [row])
            if self.editor.definition(longer).words[0] == row.words[0]:
                raise _Apart("it has no more of K")
            self.lengthened[row.result_id or 0] = longer
            return 2 * len(self.chains_along_k.of(row.result_id or 0))
        return 0

    def _common(self, lines: Sequence[Sequence[Sequence[Instruction]]], operand: int) -> Grid:
        """The operands of chains of products that all chains of a line have in common."""
        same = [{tuple(self.same.get(row.words[operand], row.words[operand]) for row in chain) for chain in line}
                for line in lines]
        if any(len(cells) != 1 for cells in same):
            raise _Apart("they are products of different tiles")
        return tuple(next(iter(cells)) for cells in same)

    def _load(self, grid: Grid) -> int:
        """One load of all."""
        if any(one not in self.accesses for line in grid for one in line):
            raise _Apart("it is not known where they lie")
        accesses = [self.accesses[one] for line in grid for one in line]
        if any(self._key(one) != self._key(accesses[0]) for one in accesses):
            raise _Apart("they are loaded from different matrices")
        if not self._are_side_by_side(grid):
            raise _Apart("they do not lie side by side")
        rows = [one.row for one in accesses]
        last = self._last(rows)
        if any(self.order.is_passed(row, last) for row in rows):
            raise _Apart("something is stored between two loads")
        first = accesses[0]
        return self._put(rows, Op(first.row.opcode), self._type(grid), *_without_operands(first))

    def _are_side_by_side(self, grid: Grid) -> bool:
        """Whether loads are a matrix in memory; where all rows are the same line, each line of them may be the first.
        """
        lines = [[self.accesses[one] for one in line] for line in grid]
        first = lines[0][0]
        if first.by_rows and self.indices.of(first.stride).known == 0 and all(
                (one.line, one.along) == (two.line, two.along) for line in lines
                for one, two in zip(line, lines[0], strict=True)):
            lines = lines[:1]
        found = self._arranged([access for line in lines for access in line])
        return found is not None and [[one.matrix for one in line] for line in found] == [
            [one.matrix for one in line] for line in lines]

    def _each(self, grid: Grid, rows: Sequence[Instruction]) -> int:
        """The same operation on each; what is no matrix is the same for all."""
        words, matrices = self._operands(grid, rows)
        if any(word != rows[0].words[place] for row in rows for place, word in enumerate(row.words)
               if place not in matrices):
            raise _Apart("they are computed with different numbers")
        return self._put(rows, Op(rows[0].opcode), self._type(grid), *words)

    def _operands(self, grid: Grid, rows: Sequence[Instruction]) -> tuple[list[int], list[int]]:
        """The operands of the first operation, with larger matrices, and which of them are matrices."""
        words = list(rows[0].words)
        matrices = [place for place in rows[0].id_places() if self._is_matrix(rows[0].words[place])]
        for place in matrices:
            values = iter([row.words[place] for row in rows])
            words[place] = self._packed(tuple(tuple(next(values) for _ in line) for line in grid))
        return words, matrices

    def _elements(self, grid: Grid, rows: Sequence[Instruction]) -> int:
        """A function of each element, which may ask where it is, and gets numbers that rise from matrix to matrix."""
        last = self._last(rows)
        if any(self.order.reads(row) and self.order.is_passed(row, last) for row in rows):
            raise _Apart("something is stored between two that read memory")
        first, function = rows[0], rows[0].words[1]
        if any(row.words[1] != function or len(row.words) != len(first.words) for row in rows):
            raise _Apart("they are computed by different functions")
        further = [place for place in range(2, len(first.words)) if not self._is_matrix(first.words[place])]
        found = {number: self._rising(grid, [row.words[place] for row in rows]) for number, place in enumerate(further)
                 if any(row.words[place] != first.words[place] for row in rows)}
        if not found and not uses_position(self.editor, function):
            return self._each(grid, rows)
        words, matrices = self._operands(grid, rows)
        if any(place > further[0] for place in matrices if further):
            raise _Apart("they are computed by a function that takes matrices behind numbers")
        kind = self._kind(grid[0][0])
        extents = (kind.rows if len(grid) > 1 else 0, kind.columns if len(grid[0]) > 1 else 0)
        made = Caller(self.editor, function, extents, len(matrices), found, guarded=False).made()
        self.editor.bodies.insert(0, made)
        operands = [words[0], made.id, *words[2:1 + len(matrices)]]
        for number, place in enumerate(further):
            steps = found[number].steps.values() if number in found else ()
            operands += [words[place], *(self.editor.constant(step.known or 0, ADDRESS_BITS) for step in steps)]
        return self._put(rows, Op.CooperativeMatrixPerElementOpEXT, self._type(grid), *operands)

    def _rising(self, grid: Grid, operands: Sequence[int]) -> Moved:
        """Numbers, or pointers, that rise by the same from each matrix to the next one, down and across."""
        kind = self.editor.type_of(operands[0])
        if kind.opcode not in (Op.TypeInt, Op.TypePointer):
            raise _Apart("they are computed with different numbers")
        known = [self.indices.pointer(one) if kind.opcode == Op.TypePointer else (0, self.indices.of(one))
                 for one in operands]
        start, across = known[0][1], len(grid[0])
        steps = {place: known[at][1] - start for place, at in ((0, across), (1, 1)) if (len(grid), across)[place] > 1}
        for number, (base, value) in enumerate(known):
            expected = start + steps.get(0, Polynomial()).scaled(number // across) + steps.get(1, Polynomial()).scaled(
                number % across)
            if base != known[0][0] or value != expected or any(step.known is None for step in steps.values()):
                raise _Apart("they are computed with different numbers")
        return Moved(operands[0], start, steps)

    def _is_matrix(self, identifier: int) -> bool:
        type_id = self.editor.definition(identifier).type_id
        return type_id is not None and self.editor.definition(type_id).opcode == Op.TypeCooperativeMatrixKHR

    # --- writing ----------------------------------------------------------------------------

    def _write(self) -> None:
        for number, block in enumerate(self.body.blocks):
            rows = list(self.phis.get(number, ()))
            for place, row in enumerate(block.instructions):
                added = self.new.get((number, place))
                if added is None or row.opcode not in STORES:
                    rows.append(row)
                rows += added or ()
            block.instructions = rows
        replace_uses(self.body, self.lengthened)
        remove_unused(Facts(self.editor), self.body)
