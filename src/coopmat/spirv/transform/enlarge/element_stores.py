"""Elements that a loop over components stores by their coordinates become a matrix, which is stored behind the loop.

``for (int i = 0; i < coop_mat_length(m); i++) { int2 at = coop_mat_get_coord(m, i); c[at.x * n + at.y] = f(m[i]); }``
stores what one store of a matrix does, whatever the order of components, if nothing in the loop reads what is stored.
Then the loop writes the components of a matrix of its own, and is a function of elements like others
(transform/element_functions.py). Where only elements below a limit are stored, that is a checked store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import current_line, first_place, with_words
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import MemoryAccess, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.element_functions import load_built_ins_first
from coopmat.spirv.transform.enlarge.accesses import parted
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Condition
from coopmat.spirv.transform.enlarge.element_limits import ElementLimits, Unknown
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.matrices import NoMerge, no_merge, taken_apart
from coopmat.spirv.transform.enlarge.order import Order
from coopmat.spirv.transform.enlarge.rewriting import MOST
from coopmat.spirv.transform.enlarge.writing import Writing
from coopmat.spirv.transform.facts import PURE

_MOST = (1 << ADDRESS_BITS - 1) - 1
_OVERLAP = "lines of what is stored element by element overlap"
_NOT_ALL = "not all of a matrix are"
_LIMIT = f"a limit of what is stored element by element, or where that begins, is negative, or beyond {MOST}"
_PLACES = [Polynomial.atom("place", number) for number in range(2)]
"""Row and column of an element."""
_FIRST = {atom: Polynomial() for one in _PLACES for atom in one.atoms}
_ONE = Polynomial.constant(1)


class Stored(NamedTuple):
    """A kernel that stores matrices instead of elements, and what must hold in its launches. apart: pairs of parameters
    (their positions) whose arguments may not share memory."""

    module: Module
    conditions: tuple[Condition, ...] = ()
    apart: tuple[tuple[int, int], ...] = ()


def stored_elements(module: Module, kernel: str) -> Stored:
    """The kernel with such matrices. ``module`` has values instead of variables, but for matrices of which components
    are taken, and no calls. NoMerge if elements are stored by their coordinates otherwise."""
    if not any(True for _ in module.of_opcode(Op.CooperativeMatrixGetElementCoordINTEL)):
        return Stored(module)
    editor, body = taken_apart(module, kernel)
    load_built_ins_first(editor, body)
    indices = Indices(editor, body, None)
    order = Order(indices, asks=True)
    loops = [_Loop(indices, order, header) for header in indices.counters]
    found = [one for loop in loops if loop.coordinates for one in loop.matrices()]
    if not found:
        return Stored(module)
    for one in found:
        one.loop.replace(one)
    return Stored(editor.done(), tuple(condition for one in found for condition in one.conditions), tuple(order.apart))


@dataclass(frozen=True)
class _Matrix:
    """What the elements that an instruction stores are together. stride: how far its lines lie apart. window: where it
    lies, if it is checked."""

    loop: _Loop
    row: Instruction
    coordinate: Instruction
    layout: Layout
    stride: Polynomial
    conditions: tuple[Condition, ...]
    window: _Window | None


@dataclass(frozen=True)
class _Window:
    """Where a matrix begins, in lines from ``base`` and elements of them, and how many of both there are. not_negative:
    what must not be for that, of arguments."""

    base: int
    starts: tuple[Polynomial, Polynomial]
    limits: tuple[Polynomial, Polynomial]
    not_negative: tuple[Polynomial, ...]


class _Loop:
    """A loop that counts. stores: what it stores to the kernel's arguments; coordinates: the positions of components
    that it asks for; places: the integers that are rows and columns."""

    def __init__(self, indices: Indices, order: Order, header: int) -> None:
        self.indices, self.editor, self.body, self.order = indices, indices.editor, indices.body, order
        self.header = self.body.block(header)
        self.blocks = indices.loops.blocks(header)
        self.rounds = [block for block in self.blocks if block is not self.header]
        self.inside = {row.result_id: row for block in self.blocks for row in block.instructions
                       if row.result_id is not None}
        self.stores = [row for row in self._rows(Op.Store) if self._is_global(row.words[0])]
        self.coordinates = {row.result_id or 0: row for row in self._rows(Op.CooperativeMatrixGetElementCoordINTEL)}
        self.places = {Atom("value", row.result_id or 0): _PLACES[row.words[1]] for row in self._rows(
            Op.CompositeExtract) if row.words[0] in self.coordinates}

    def _rows(self, op: Op) -> Iterator[Instruction]:
        """The instructions of a kind in a round."""
        return (row for block in self.rounds for row in block.instructions if row.opcode == op)

    def _is_global(self, pointer: int) -> bool:
        return self.editor.type_of(pointer).words[0] == StorageClass.CrossWorkgroup

    def refused(self, row: Instruction, reason: str) -> NoMerge:
        """Why elements do not become a matrix, with the line."""
        return no_merge(self.editor, row, f"elements are stored one by one, and {reason}")

    # --- what is stored ---------------------------------------------------------------------

    def matrices(self) -> list[_Matrix]:
        """Those that it stores. NoMerge if anything is stored otherwise."""
        found = [self._matrix(row) for row in self.stores]
        for row in self.stores:
            self._check_memory(row)
        return found

    def _matrix(self, row: Instruction) -> _Matrix:
        """The matrix of which an instruction stores an element in each round."""
        if not self.indices.loops.leaves_at_header(self.header.label):
            raise self.refused(row, _NOT_ALL)
        base, offset = self.indices.pointer(row.words[0])
        offset = offset.replaced(self.places)
        steps = [offset.coefficient(*one.atoms) for one in _PLACES]
        along = next((number for number in (1, 0) if (step := steps[number]) is not None and step.known == 1), None)
        stride = None if along is None else steps[1 - along]
        fixed = [atom for atom in offset.atoms if atom.kind != "place"]
        if along is None or stride is None or any(atom.kind != "argument" for atom in stride.atoms) or any(
                map(self._is_own, fixed)):
            raise self.refused(row, "their places are not those of a matrix whose lines are an argument, or so many "
                                     "elements, apart")
        coordinate = self._coordinate(row)
        extent = self.editor.integer(self.editor.type_of(coordinate.words[0]).words[2 + along])
        distance = stride - Polynomial.constant(extent or 0)
        if distance.known is not None and distance.known < 0:
            raise self.refused(row, _OVERLAP)
        conditions = [] if distance.known is not None else [Condition(
            distance, 0, _MOST, _OVERLAP, where=self.indices.line(row))]
        window = self._window(row, base, parted(offset.replaced(_FIRST), stride), along)
        if window is not None:
            where = self.indices.line(row)
            conditions += [Condition(one, 0, MOST, _LIMIT, where=where) for one in window.not_negative]
        layout = Layout.RowMajorKHR if along == 1 else Layout.ColumnMajorKHR
        return _Matrix(self, row, coordinate, layout, stride, tuple(conditions), window)

    def _window(self, row: Instruction, base: int, starts: tuple[Polynomial, Polynomial], along: int) -> _Window | None:
        """Where the elements that are stored lie, if not all are. starts: line and element of the first one; along: the
        place (0: row, 1: column) along a line. NoMerge if it is not those that lie below limits."""
        asked = ElementLimits(self.indices, self.header, self.places)
        limits: dict[int, Polynomial] = {}
        try:
            distances = asked.distances(row)
        except Unknown:
            raise self.refused(row, _NOT_ALL) from None
        for distance, _ in distances:
            place = next((place for place, one in enumerate(_PLACES) if distance.coefficient(*one.atoms) == _ONE), None)
            if place is None or place in limits:
                raise self.refused(row, _NOT_ALL)
            limits[place] = starts[int(place == along)] - distance + _PLACES[place]
        if not limits:
            return None
        numbers = (*starts, *(one for distance in distances for one in distance.not_negative))
        moving = [one for one in numbers if not _is_of_arguments(one)]
        is_known = base not in self.inside and all(map(_is_of_arguments, limits.values()))
        if not is_known or any(map(asked.is_negative, moving)):
            raise self.refused(row, f"{_NOT_ALL}, other than below an argument")
        given = (Polynomial.of([((atom,), 1)]) for one in moving for atom in one.atoms if atom.kind == "argument")
        fixed = (one for one in (*numbers, *limits.values()) if _is_of_arguments(one))
        most = Polynomial.constant(MOST)
        return _Window(base, starts, (limits.get(1 - along, most), limits.get(along, most)),
                       tuple(dict.fromkeys((*fixed, *given))))

    def _is_own(self, atom: Atom) -> bool:
        """Whether a number differs between rounds, or nothing is known of it."""
        return atom.number == self.header.label if atom.kind == "round" else (
            atom.kind == "value" and atom.number in self.inside)

    def _coordinate(self, row: Instruction) -> Instruction:
        """The position that an element is stored by. NoMerge if those of several matrices of different extents are."""
        found = list(self.coordinates.values())
        shapes = {self.editor.type_of(one.words[0]).words[1:] for one in found}
        if len(shapes) != 1:
            raise self.refused(row, "by coordinates of different matrices")
        return found[0]

    # --- what is read -----------------------------------------------------------------------

    def _check_memory(self, row: Instruction) -> None:
        """Refuse, with NoMerge, a store that the order of rounds matters for."""
        base, _ = self.indices.pointer(row.words[0])
        if row.words[2:] and row.words[2] & MemoryAccess.Volatile:
            raise self.refused(row, "are volatile")
        for other in (*self._rows(Op.Load), *self.stores):
            is_other = other is not row and self._is_global(other.words[0])
            if is_other and not self.order.are_apart(base, self.indices.pointer(other.words[0])[0]):
                raise self.refused(other, "this may be memory that is stored to")

    # --- writing ----------------------------------------------------------------------------

    def replace(self, one: _Matrix) -> None:
        """Write a matrix's component in the place of an element, and store the matrix behind the loop."""
        block = next(block for block in self.rounds if one.row in block.instructions)
        place = block.instructions.index(one.row)
        line, index = current_line(block.instructions[:place]), one.coordinate.words[1]
        element = self.editor.definition(one.row.words[1]).type_id or 0
        shape = self.editor.type_of(one.coordinate.words[0]).words[1:]
        kind = self.editor.unique(Op.TypeCooperativeMatrixKHR, element, *shape)
        variable = self.editor.row(Op.Variable, self.editor.type_pointer(StorageClass.Function, kind),
                                   StorageClass.Function)
        self.body.blocks[0].instructions.insert(0, variable)
        chain = self.editor.row(Op.AccessChain, self.editor.type_pointer(StorageClass.Function, element),
                                variable.result_id or 0, index)
        place = block.instructions.index(one.row)
        block.instructions[place:place + 1] = [chain, with_words(one.row, (chain.result_id or 0, one.row.words[1]))]
        end = self.body.block(self.header.instructions[-2].words[0])
        self._insert(end, line, self._stored(one, variable.result_id or 0, kind))

    def _insert(self, block: Block, line: Instruction | None, rows: Sequence[Instruction]) -> None:
        """Put instructions where a block begins, under a line."""
        place = first_place(block)
        block.instructions[place:place] = [line, *rows, make(Op.NoLine)] if line is not None else rows

    def _stored(self, one: _Matrix, variable: int, kind: int) -> list[Instruction]:
        """The store of a matrix."""
        writer = _Numbers(self.indices)
        first = writer.first = _First(self, writer)
        layout, stride = self.editor.constant(one.layout), writer.number(one.stride)
        matrix = writer.let(Op.Load, kind, variable)
        if one.window is None:
            pointer = first.of(one.row.words[0])
            return [*writer.rows, make(Op.CooperativeMatrixStoreKHR, pointer, matrix, layout, stride)]
        line, along = map(writer.short, one.window.starts)
        height, width = map(writer.short, one.window.limits)
        return [*writer.rows, make(Op.CooperativeMatrixStoreCheckedINTEL, one.window.base, line, along, matrix, layout,
                                   height, width, stride)]


def _is_of_arguments(value: Polynomial) -> bool:
    return all(atom.kind == "argument" for atom in value.atoms)


class _Numbers(Writing):
    """Those of arguments, and of what a loop computes or not."""

    first: _First

    def atom(self, atom: Atom) -> int:
        """An argument, or another value, of 64 bits."""
        own = self.indices.body.parameters[atom.number].result_id or 0 if atom.kind == "argument" else (
            self.first.of(atom.number))
        return self.wide(own)


@dataclass
class _First:
    """Computes behind a loop what a round would for the element in row 0 and column 0."""

    loop: _Loop
    writer: Writing

    def __post_init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, identifier: int) -> int:
        """A value."""
        row = self.loop.inside.get(identifier)
        if row is None:
            return identifier
        if identifier not in self._known:
            self._known[identifier] = self._computed(row)
        return self._known[identifier]

    def _computed(self, row: Instruction) -> int:
        type_id = row.type_id or 0
        if Atom("value", row.result_id or 0) in self.loop.places:
            return self.loop.editor.unique(Op.ConstantNull, type_id=type_id)
        if row.opcode not in PURE:
            raise self.loop.refused(row, "their places depend on more than their row and column")
        ids = set(row.id_places())
        return self.writer.let(Op(row.opcode), type_id, *(self.of(word) if place in ids else word
                                                          for place, word in enumerate(row.words)))
