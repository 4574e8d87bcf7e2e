"""Where in memory the numbers lie that the work-items of a sub-group load or store together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.analysis.types import TypeTable
from coopmat.spirv.edit.functions import uses_of
from coopmat.spirv.grammar import CHAINS, OPENCL_STD, POINTER_CASTS, BuiltIn, MemoryAccess, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.facts import PURE
from coopmat.spirv.transform.raising.pieces import block_of_row
from coopmat.spirv.transform.raising.terms import SCALAR, Term, Terms

LANE = Atom("local", 0)
NOTHING = Polynomial()
_MEMORIES = (StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.UniformConstant)
_OF_WORK_ITEMS = (BuiltIn.LocalInvocationId, BuiltIn.GlobalInvocationId, BuiltIn.LocalInvocationIndex,
                  BuiltIn.GlobalLinearId, BuiltIn.SubgroupLocalInvocationId)
_SAME = PURE | {Op.Phi, Op.Select, Op.ExtInst, Op.Load}
PRODUCT = Op.SubgroupMatrixMultiplyAccumulateINTEL
BLOCK_LOADS = (Op.Subgroup2DBlockLoadINTEL, Op.Subgroup2DBlockLoadTransformINTEL, Op.Subgroup2DBlockLoadTransposeINTEL)


class NotKnown(Exception):
    """Why it is not known where numbers lie; ``row``: the instruction that loads or stores them."""

    def __init__(self, reason: str, row: Instruction) -> None:
        super().__init__(reason)
        self.row = row


@dataclass(frozen=True)
class Surface:
    """What 2D block functions are told of a matrix in memory: ids of its first byte's pointer, width, height, pitch."""

    base: int
    width: int
    height: int
    pitch: int


@dataclass(frozen=True, eq=False)
class Spot:
    """Where the work-items' copies of a number lie. row: what loads or stores it. base: the pointer from which it is
    ``start`` bytes to the first work-item's, and ``step`` more for each further one. Of a 2D block ``surface``, with
    x and y of the block, and lines and bytes from there for each work-item."""

    row: Instruction
    base: int
    start: Polynomial
    step: Polynomial
    surface: Surface | None = None
    x: Polynomial = NOTHING
    y: Polynomial = NOTHING
    lines: Any = 0
    bytes: Any = 0


class Spots:
    """Those of one function of a kernel."""

    def __init__(self, indices: Indices, types: TypeTable, lanes: int) -> None:
        self.indices, self.editor, self.types, self.lanes = indices, indices.editor, types, lanes
        self.terms = Terms(self.editor, types)
        self.differing = self._differing()
        self.rows = {row.result_id: row for row in indices.body.rows() if row.result_id is not None}
        self.blocks = {self.variable(row.words[9]): row for row in indices.body.rows() if row.opcode in BLOCK_LOADS}
        self._known: dict[Term, Spot | None] = {}

    # --- what is the same for all work-items ------------------------------------------------

    def _differing(self) -> set[int]:
        """The values that may differ between the work-items of a sub-group."""
        body, uses = self.indices.body, uses_of(self.indices.body)
        found: set[int] = set()
        waiting = [row for row in body.rows() if row.result_id is not None and self._differs(row)]
        while waiting:
            row = waiting.pop()
            if row.result_id in found or row.result_id is None or self._is_alike(row):
                continue
            found.add(row.result_id)
            waiting += [one for one in uses.get(row.result_id, ()) if one.opcode in _SAME]
        return found

    def _differs(self, row: Instruction) -> bool:
        if row.opcode == Op.Load:
            kind = self.editor.type_of(row.words[0])
            builtin = self.indices.builtin(row)
            return builtin in _OF_WORK_ITEMS if kind.words[0] == StorageClass.Input else (
                kind.words[0] not in _MEMORIES)
        return row.opcode not in _SAME | {Op.Variable} and self.editor.definition(row.type_id or 0).opcode != (
            Op.TypePointer)

    def _is_alike(self, row: Instruction) -> bool:
        """Whether an integer is made of nothing that differs."""
        kind = self.editor.definition(row.type_id or 0)
        if kind.opcode != Op.TypeInt:
            return False
        atoms = self.indices.of(row.result_id or 0).atoms
        return all(atom.kind not in ("local", "value") for atom in atoms)

    def is_same(self, identifier: int) -> bool:
        """Whether a value is the same for all work-items of a sub-group."""
        return identifier not in self.differing

    def are_same(self, value: Polynomial) -> bool:
        """Whether a number is."""
        return all(self.is_same(atom.number) if atom.kind == "value" else atom.kind != "local" for atom in value.atoms)

    def divergent_branch(self) -> Instruction | None:
        """A branch at which work-items of a sub-group may part."""
        return next((block.terminator for block in self.indices.body.blocks
                     if block.terminator.opcode in (Op.BranchConditional, Op.Switch)
                     and not self.is_same(block.terminator.words[0])), None)

    # --- places -----------------------------------------------------------------------------

    def loaded(self, term: Term) -> Spot | None:
        """Where a number was loaded from; None if it was not. NotKnown if that is not known."""
        if term not in self._known:
            self._known[term] = self._loaded(term)
        return self._known[term]

    def _loaded(self, term: Term) -> Spot | None:
        row = self.rows.get(term.identifier)
        size, place = self.terms.kind(term.identifier).scalar.size, max(term.component, 0)
        if row is None:
            return None
        if row.opcode == Op.SubgroupBlockReadINTEL:
            return self.block(row, row.words[0], size, place)
        if row.opcode == Op.Load:
            if self.editor.type_of(row.words[0]).words[0] == StorageClass.Function:
                return self._of_2d_block(row, size)
            if row.words[1:] and row.words[1] & MemoryAccess.Volatile:
                raise NotKnown("a volatile load", row)
            return self.at(row, row.words[0], place * size)
        name = self._extended(row)
        if name == "vloadn":
            return self._at_vector(row, row.words[3], row.words[2], row.words[4], place * size)
        return None

    def _extended(self, row: Instruction) -> str:
        if row.opcode != Op.ExtInst or self.editor.module.instruction_sets.get(row.words[0]) != "OpenCL.std":
            return ""
        return next((name for name in ("vloadn", "vstoren") if OPENCL_STD[name] == row.words[1]), "")

    def only_reads(self, row: Instruction) -> bool:
        """Whether an instruction of a kernel's products does nothing but to load, or to multiply."""
        return row.opcode in (PRODUCT, Op.SubgroupBlockReadINTEL) or self._extended(row) == "vloadn"

    def stored(self, row: Instruction) -> Iterator[tuple[Term, Spot]]:
        """The numbers that an instruction stores in memory that others see, and where."""
        if row.opcode == Op.Store and self._is_shared(self.address(row.words[0])[0]):
            if row.words[2:] and row.words[2] & MemoryAccess.Volatile:
                raise NotKnown("a volatile store", row)
            size = self.terms.kind(row.words[1]).scalar.size
            for place, term in enumerate(self.terms.of(row.words[1])):
                yield term, self.at(row, row.words[0], place * size)
        elif row.opcode == Op.SubgroupBlockWriteINTEL:
            size = self.terms.kind(row.words[1]).scalar.size
            for place, term in enumerate(self.terms.of(row.words[1])):
                yield term, self.block(row, row.words[0], size, place)
        elif self._extended(row) == "vstoren":
            value, offset, pointer = row.words[2:5]
            kind = self.terms.kind(value)
            for place, term in enumerate(self.terms.of(value)):
                yield term, self._at_vector(row, pointer, offset, kind.count, place * kind.scalar.size)
        elif row.opcode == Op.Subgroup2DBlockStoreINTEL:
            yield from self._stored_2d(row)

    def _at_vector(self, row: Instruction, pointer: int, offset: int, count: int, further: int) -> Spot:
        """That of vloadn and vstoren, which count whole vectors."""
        size = self.types[self.editor.type_of(pointer).words[1]].size
        return self.at(row, pointer, further, self.indices.of(offset).scaled(size * count))

    def at(self, row: Instruction, pointer: int, further: int, more: Polynomial | None = None) -> Spot:
        """What each work-item reaches by its own pointer."""
        base, offset = self.address(pointer)
        if not self._is_shared(base):
            raise NotKnown("it is not seen that work-items share the memory", row)
        offset += Polynomial.constant(further) + (more or NOTHING)
        step = offset.coefficient(LANE)
        if step is None:
            raise NotKnown("its work-items' addresses are not equally far apart", row)
        return self._checked(Spot(row, base, offset.replaced({LANE: NOTHING}), step))

    def block(self, row: Instruction, pointer: int, size: int, place: int) -> Spot:
        """A component of a block, which begins where the pointer leads."""
        base, offset = self.address(pointer)
        start = offset + Polynomial.constant(place * size * self.lanes)
        return self._checked(Spot(row, base, start, Polynomial.constant(size)))

    def _is_shared(self, base: int) -> bool:
        """Whether what is reached from a pointer is memory that work-items share."""
        return self.editor.type_of(base).words[0] in _MEMORIES

    def _checked(self, spot: Spot) -> Spot:
        if not self.is_same(spot.base) or not self.are_same(spot.start) or not self.are_same(spot.step):
            raise NotKnown("its address is made of numbers of which it is not known how they differ between work-items",
                           spot.row)
        return spot

    def address(self, pointer: int) -> tuple[int, Polynomial]:
        """From where a pointer is reached, and by how many bytes."""
        base, offset = self.indices.pointer(pointer)
        total = offset.scaled(self.types[self.editor.type_of(pointer).words[1]].size)
        row = self.editor.definition(base)
        if row.opcode in POINTER_CASTS and self.editor.type_of(row.words[0]).opcode == Op.TypePointer:
            base, further = self.address(row.words[0])
            return base, further + total
        return base, total

    # --- 2D blocks --------------------------------------------------------------------------

    def variable(self, pointer: int) -> int:
        """The variable that a pointer was cast, or stepped on, from."""
        row = self.editor.definition(pointer)
        while row.opcode in (Op.Bitcast, *CHAINS):
            row = self.editor.definition(row.words[0])
        return row.result_id or 0

    def _of_2d_block(self, load: Instruction, size: int) -> Spot | None:
        """What a work-item has of a 2D block, which was read into a variable of its own."""
        chain = self.editor.definition(load.words[0])
        row = self.blocks.get(self.variable(load.words[0]))
        number = self.editor.integer(chain.words[1]) if chain.opcode == Op.AccessChain else None
        return None if row is None or number is None else self._at_2d(row, number * size, row.words[4:9])

    def _at_2d(self, row: Instruction, byte: int, words: tuple[int, ...]) -> Spot:
        """A byte of what each work-item has of a 2D block."""
        block, held = block_of_row(self.editor, row, self.lanes)
        number, rest = divmod(byte, block.element_size)
        base, width, height, pitch, place = words
        if not held.valid[:, number].all():
            raise NotKnown("some work-items have no element of the block", row)
        x, y = (self._coordinate(place, axis) for axis in range(2))
        if not all(map(self.is_same, (*words[:4],))) or not self.are_same(x) or not self.are_same(y):
            raise NotKnown("the work-items have different blocks", row)
        return Spot(row, base, NOTHING, NOTHING, Surface(base, width, height, pitch),
                    x.scaled(block.element_size), y, held.row[:, number],
                    held.column[:, number] * block.element_size + rest)

    def _coordinate(self, place: int, axis: int) -> Polynomial:
        term = self.terms.normal(Term(place, axis))
        if term.component == SCALAR:
            return self.indices.of(term.identifier)
        raise NotKnown("a block's coordinates are not known", self.editor.definition(place))

    def _stored_2d(self, row: Instruction) -> Iterator[tuple[Term, Spot]]:
        """What a 2D block function writes: what was stored into its variable before."""
        variable = self.variable(row.words[4])
        block, held = block_of_row(self.editor, row, self.lanes)
        found: dict[int, Term] = {}
        for one in self.indices.body.rows():
            if one.opcode == Op.Store and self.variable(one.words[0]) == variable:
                number = self.editor.integer(self.editor.definition(one.words[0]).words[1])
                found[number or 0] = self.terms.normal(Term(one.words[1], SCALAR))
        for number in range(held.row.shape[1]):
            if number not in found or self.terms.kind(found[number].identifier).scalar.size != block.element_size:
                raise NotKnown("what the work-items store is put together from parts", row)
            yield found[number], self._at_2d(row, number * block.element_size, row.words[5:10])
