"""What loads and stores of work-items become: loads and stores of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.enlarge.conditions import Condition
from coopmat.spirv.transform.facts import PURE, Facts
from coopmat.spirv.transform.raising.numbers import Numbers
from coopmat.spirv.transform.raising.spots import BLOCK_LOADS, PRODUCT, NotKnown, Spot, Spots
from coopmat.spirv.transform.raising.terms import BYTE, Term
from coopmat.spirv.transform.raising.tiles import Tile, split

HINTS = frozenset({Op.Subgroup2DBlockPrefetchINTEL, Op.SubgroupBlockPrefetchINTEL})
_READS = frozenset({Op.Load, Op.SubgroupBlockReadINTEL, Op.CooperativeMatrixLoadKHR, *BLOCK_LOADS})
_QUIET = PURE | _READS | HINTS | LINES | {PRODUCT, Op.Phi, Op.Select, Op.Variable, Op.LoopMerge, Op.SelectionMerge}
"""What writes nothing to memory that others see, and orders nothing."""

_MOST = (1 << 63) - 1
OVERLAP = "lines of a matrix in memory overlap"


class Accesses:
    """Those of one function, which may be changed meanwhile: places are those from before."""

    def __init__(self, spots: Spots, facts: Facts, numbers: Numbers) -> None:
        self.spots, self.facts, self.numbers, self.editor = spots, facts, numbers, spots.editor
        self.blocks = [list(block.instructions) for block in spots.indices.body.blocks]
        self.places = {id(row): (number, place) for number, block in enumerate(self.blocks)
                       for place, row in enumerate(block)}

    def block(self, row: Instruction) -> int:
        """The number of the block in which an instruction stands."""
        return self.places[id(row)][0]

    def load(self, tile: Tile, bits: int, component: int, type_id: int) -> list[Instruction]:
        """What loads a matrix with elements of so many bits; the last instruction gives it."""
        pointer, window, layout, size = self._words(tile, bits, component)
        opcode = Op.CooperativeMatrixLoadCheckedINTEL if window else Op.CooperativeMatrixLoadKHR
        self.numbers.let(opcode, type_id, pointer, *window, layout, *size)
        return self.numbers.taken()

    def store(self, tile: Tile, bits: int, component: int, matrix: int) -> list[Instruction]:
        """What stores a matrix."""
        pointer, window, layout, size = self._words(tile, bits, component)
        opcode = Op.CooperativeMatrixStoreCheckedINTEL if window else Op.CooperativeMatrixStoreKHR
        return [*self.numbers.taken(), make(opcode, pointer, *window, matrix, layout, *size)]

    def _words(self, tile: Tile, bits: int, component: int) -> tuple[int, list[int], int, list[int]]:
        """The pointer to a matrix, line and place along it where it lies in a window, its layout, and the window's
        height and width, and the stride."""
        numbers, editor, row, spot = self.numbers, self.editor, tile.rows[0], tile.spot
        storage = editor.type_of(spot.base).words[0]
        pointer = numbers.cast(spot.base, editor.type_pointer(storage, component))
        layout = editor.constant(tile.layout)
        if spot.surface is None:
            start = _whole(tile.start, bits, row)
            if start.terms:
                pointer = numbers.let(Op.PtrAccessChain, editor.definition(pointer).type_id or 0, pointer,
                                      numbers.number(start))
            return pointer, [], layout, [numbers.number(_whole(tile.stride, bits, row))]
        indices, surface = self.spots.indices, spot.surface
        along = _whole(spot.x.scaled(BYTE) + Polynomial.constant(tile.along), bits, row)
        width, pitch = (_whole(indices.of(one).scaled(BYTE), bits, row) for one in (surface.width, surface.pitch))
        line = spot.y + Polynomial.constant(tile.line)
        return (pointer, [numbers.short(line), numbers.short(along)], layout,
                [numbers.short(indices.of(surface.height)), numbers.short(width), numbers.number(pitch)])

    def together(self, tile: Tile, *, stores: bool) -> Instruction:
        """Behind which of its instructions a matrix may be loaded, or stored, at once. NotKnown if something reaches
        the same memory between them."""
        rows = tile.rows
        last, own = self.last(rows), {id(row) for row in rows}
        first = min(rows, key=lambda row: self.places[id(row)][1])
        between = self.blocks[self.block(last)][self.places[id(first)][1]:self.places[id(last)][1]]
        others = [row for row in between
                  if id(row) not in own and (self._writes(row) or (stores and self._reads(row)))]
        for other in others:
            place = self.places[id(other)][1]
            for spot in tile.spots:
                is_before = self.places[id(spot.row)][1] < place
                if is_before == stores and not all(self._are_apart(spot, one, tile.unit) for one in self._spots(other)):
                    raise NotKnown(f"between accesses to one matrix stands another one ({other.name})", rows[0])
        if stores or not others:
            return last
        for atom in tile.start.atoms | tile.stride.atoms:
            row = self.editor.definition(atom.number) if atom.kind == "value" else first
            if self.places.get(id(row), (-1, 0)) > self.places[id(first)]:
                raise NotKnown("where a matrix lies is computed behind an access to it", row)
        return first

    def _spots(self, row: Instruction) -> list[Spot | None]:
        """Where the numbers lie that an instruction loads or stores; None for what is not known."""
        found: list[Spot | None] = [spot for _, spot in self.spots.stored(row)]
        if row.result_id is not None:
            found += [self.spots.loaded(term) for term in self.spots.terms.of(row.result_id)]
        return found or [None]

    def _are_apart(self, one: Spot, other: Spot | None, unit: Polynomial) -> bool:
        """Whether work-items reach different memory at two places: in lines that do not overlap, which must hold in a
        launch then."""
        if other is None or one.surface or other.surface or one.base != other.base:
            return False
        try:
            lines, further = split(other.start - one.start, unit, other.row)
        except NotKnown:
            return False
        before, behind = (self._width(spot) for spot in (one, other))
        if before is None or behind is None:
            return False
        if lines == 0:
            return further >= before or -further >= behind
        distance = other.start - one.start
        gap = distance - Polynomial.constant(before) if lines > 0 else -distance - Polynomial.constant(behind)
        self.spots.indices.conditions[Condition(gap, 0, _MOST, OVERLAP, where=self.spots.indices.line(one.row))] = None
        return True

    def _width(self, spot: Spot) -> int | None:
        """How many bytes the work-items reach together; None if that is not known, or they do so backwards."""
        step, row = spot.step.known, spot.row
        if step is None or step < 0 or row.opcode == Op.ExtInst:
            return None
        return step * (self.spots.lanes - 1) + self.spots.terms.kind(row.result_id or row.words[1]).scalar.size

    def _writes(self, row: Instruction) -> bool:
        if row.opcode == Op.Store:
            return self.editor.type_of(row.words[0]).words[0] != StorageClass.Function
        if row.opcode == Op.ExtInst:
            return not (self.facts.is_pure_function(row) or self.spots.loaded(Term(row.result_id or 0, 0)) is not None)
        return row.opcode not in _QUIET

    def _reads(self, row: Instruction) -> bool:
        if row.opcode == Op.Load:
            return self.editor.type_of(row.words[0]).words[0] not in (StorageClass.Function, StorageClass.Input)
        return row.opcode in _READS or (row.opcode == Op.ExtInst and not self.facts.is_pure_function(row))

    def last(self, rows: Sequence[Instruction]) -> Instruction:
        """The last of instructions of one block."""
        if len({self.places[id(row)][0] for row in rows}) != 1:
            raise NotKnown("parts of a matrix are in different blocks", rows[0])
        return max(rows, key=lambda row: self.places[id(row)][1])


def _whole(value: Polynomial, bits: int, row: Instruction) -> Polynomial:
    """Bits as elements."""
    found, rest = value.divided(Polynomial.constant(bits))
    if rest.terms:
        raise NotKnown("a matrix does not begin, or its lines are not apart by, whole elements", row)
    return found
