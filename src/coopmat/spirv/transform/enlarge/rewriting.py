"""Writes a kernel of merged work-groups: its matrices' types, checked accesses, and what counts its loops."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import first_place, replace_uses, with_words
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.enlarge.accesses import Access
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Computed, Condition, Counter, Limit
from coopmat.spirv.transform.enlarge.elements import Caller, Moved, may_fail, moved
from coopmat.spirv.transform.enlarge.growth import Growth, grown, repeats
from coopmat.spirv.transform.enlarge.limits import Limits
from coopmat.spirv.transform.enlarge.matrices import AXES, PREFETCH, Matrices, NoMerge, no_merge, uses_position
from coopmat.spirv.transform.enlarge.writing import Writing

MOST = (1 << 31) - 1  # of what checked accesses take as offsets and sizes
_OF_GRID = frozenset({"group", "outer", "groups", "outers"})
_FAR = f"a row or column of a matrix in memory is negative, or beyond {MOST}"
_BETWEEN = "of lines that are all the same not all are inside"


class Rewriting(Writing):
    """One kernel. factors: how many work-groups are one along each axis; rounds: how many of a loop are one, by its
    header; position: the variable with the work-group's position; fixed: integers that are computed from it anew;
    limits, computed: of the groups that take part, and what in them is computed."""

    def __init__(self, matrices: Matrices, growth: Growth, factors: Sequence[int], rounds: Mapping[int, int],
                 scope: Scope, position: int, fixed: Collection[int], limits: Sequence[Limit] = (),
                 computed: Mapping[int, Computed] = MappingProxyType({})) -> None:
        super().__init__(matrices.indices)
        self.fixed = fixed
        self.matrices, self.growth = matrices, growth
        self.factors, self.rounds, self.position = factors, rounds, position
        self.scope = self.editor.constant(scope)
        self.bool = self.editor.unique(Op.TypeBool)
        self.counts = [self.editor.new_id() for _ in range(AXES)]
        self.limits = Limits(self.indices, limits, computed, self.counts)
        self.conditions: dict[Condition, None] = dict(self.indices.conditions)
        self.own: set[int] = set()  # the loads of built-ins and the phis that are new
        self._types: dict[tuple[int, int, int], int] = {}
        self._round_phis: dict[int, int] = {}
        self._groups: list[int] = []
        self._at: Instruction | None = None  # what is rewritten, for messages

    def done(self) -> None:
        """Change the kernel."""
        body = self.indices.body
        accesses = {id(one.row): one for one in self.matrices.accesses}
        for header in self.indices.counters:
            self._round_phis[header] = self.editor.new_id()
        entry = body.blocks[0]
        same: dict[int, int] = {}
        for block in body.blocks:
            self.rows = []
            for row in block.instructions:
                self._at = row
                if id(row) in accesses:
                    self._checked(accesses[id(row)])
                elif row.result_id in self.fixed:
                    same[row.result_id or 0] = self._anew(row)
                elif row.opcode != PREFETCH:
                    self.rows.append(self._changed(row))
            block.instructions = self.rows
        for header, counter in self.indices.counters.items():
            self._count(body.block(header), counter)
        replace_uses(body, same)
        body.blocks[:0] = self._before(entry.label)
        entry = body.blocks[0]
        place = first_place(entry)
        entry.instructions[place:place] = self._positions()

    def _before(self, begin: int) -> list[Block]:
        """What stands before the first block, if not all groups take part."""
        axes = self.limits.present
        if not axes:
            return []
        self.rows = []
        first = {axis: self.number(self._merged(Polynomial.atom("group", axis))) for axis in axes}
        blocks = self.limits.blocks(first, begin)
        blocks[0].instructions[:0] = self.rows
        return blocks

    def _anew(self, row: Instruction) -> int:
        """An integer, computed from the position of the merged work-group."""
        number = self.number(self._merged(self.indices.of(row.result_id or 0)))
        is_long = self.indices.bits(row.result_id or 0) == ADDRESS_BITS
        return number if is_long else self.let(Op.UConvert, row.type_id or 0, number)

    # --- matrices ---------------------------------------------------------------------------

    def _changed(self, row: Instruction) -> Instruction:
        """An instruction with larger matrices."""
        if row.opcode == Op.CooperativeMatrixPerElementOpEXT:
            row = self._of_elements(row)
        words = list(row.words)
        result = row.result_id or 0
        is_matrix = row.result_id is not None and self.matrices.kind(result) is not None
        for place in row.id_places():
            kind = self.matrices.kind(words[place])
            if kind is not None and self.matrices.is_constant(words[place]):
                words[place] = self._constant(words[place], result if is_matrix else words[place])
        if not is_matrix:
            return with_words(row, words) if tuple(words) != row.words else row
        return self.editor.add(Instruction(row.opcode, self._type(result), result, tuple(words), row.offset,
                                           row.context))

    def _of_elements(self, row: Instruction) -> Instruction:
        """An operation on each element, whose function may ask where they are."""
        matrix, function, *others = row.words
        result = row.result_id or 0
        ways = {place: atom for place in range(2) if (atom := self._put_together(result, place)) is not None}
        rounds = {Atom("round", header) for header in self.rounds}
        moving = rounds | {Atom("group", axis) for axis, factor in enumerate(self.factors) if factor > 1}
        further = [word for word in others if self.matrices.kind(word) is None]
        found: dict[int, Moved] = {}
        for number, word in enumerate(further):
            base, value = self.matrices.operands.get(word, (0, Polynomial()))
            if any(atom.kind in _OF_GRID or atom in rounds for atom in self.indices.atoms(value)):
                one = moved(word, value, ways, moving, base)
                if one is None or len(set(ways.values())) != len(ways):
                    raise no_merge(self.editor, row, "what a function of elements gets does not rise with its matrix "
                                                     "from work-group to work-group")
                found[number] = one
        extents = [(kind.rows, kind.columns) if (kind := self.matrices.kind(result)) else (0, 0)][0]
        guarded = bool(ways) and (self.matrices.facts.reads_memory(function) or may_fail(self.editor, function)
                                  or not rounds.isdisjoint(ways.values()))  # beyond K, elements are zero
        is_moved = any(self._differs(one) for one in found.values()) or (ways and uses_position(self.editor, function))
        matrices = [word for word in others if self.matrices.kind(word) is not None]
        if [*matrices, *further] != others:
            raise no_merge(self.editor, row, "a function of elements takes matrices behind numbers")
        operands = [self._operand(one, found.get(number), with_steps=is_moved or guarded)
                    for number, one in enumerate(further)]
        words = [matrix, function, *matrices, *(word for one in operands for word in one)]
        if is_moved or guarded:
            down, across = (extent if place in ways else 0 for place, extent in enumerate(extents))
            caller = Caller(self.editor, function, (down, across), 1 + len(matrices), found, guarded)
            made = caller.made()
            self.editor.bodies.insert(0, made)
            words[1] = made.id
            words += self._guards(ways) if guarded else []
        return Instruction(row.opcode, row.type_id, row.result_id, tuple(words), row.offset, row.context)

    def _differs(self, one: Moved) -> bool:
        return any(step.known != 0 for step in one.steps.values())

    def _operand(self, operand: int, one: Moved | None, *, with_steps: bool) -> list[int]:
        """What a function gets for a further operand."""
        if one is None:
            return [operand]
        type_id = self.editor.definition(operand).type_id or 0
        start = self.number(self._merged(one.start))
        kind = self.editor.definition(type_id)
        if kind.opcode == Op.TypePointer:
            start = self.let(Op.PtrAccessChain, type_id, one.base, start)
        elif kind.words[0] != ADDRESS_BITS:
            start = self.let(Op.UConvert, type_id, start)
        return [start, *(self.number(self._merged(step)) for step in one.steps.values())] if with_steps else [start]

    def _guards(self, ways: Mapping[int, Atom]) -> list[int]:
        """Whether all work-groups of a block, or rounds that are one, are there, and how many are, down and across."""
        left = {atom: self.number(Polynomial.atom("present" if atom.kind == "group" else "rounds", atom.number)
                                  - self._merged(Polynomial.atom(atom.kind, atom.number))) for atom in ways.values()}
        tests = [self.let(Op.UGreaterThanEqual, self.bool, count, self.editor.constant(
            self.factors[atom.number] if atom.kind == "group" else self.rounds[atom.number], ADDRESS_BITS))
                 for atom, count in left.items()]
        return [tests[0] if len(tests) == 1 else self.let(Op.LogicalAnd, self.bool, *tests), *left.values()]

    def _constant(self, identifier: int, like: int) -> int:
        """A constant matrix with the extents of another one."""
        row = self.editor.definition(identifier)
        return self.editor.unique(Op(row.opcode), *row.words, type_id=self._type(identifier, like))

    def _type(self, identifier: int, like: int | None = None) -> int:
        """The new type of a matrix, with the extents of another one if it is a constant."""
        component, *_, use = self.matrices.declared[identifier].words
        extents = grown(self.matrices, self.growth, self.factors, self.rounds, identifier if like is None else like)
        return self.editor.unique(Op.TypeCooperativeMatrixKHR, component, self.scope,
                                  *map(self.editor.constant, extents), use)

    def _checked(self, access: Access) -> None:
        """The checked form of an access."""
        line, along = (self.short(self._merged(one)) for one in (access.line, access.along))
        height, width = (self._size(access, place) for place in range(2))
        if access.is_load:
            words = (access.base, line, along, access.layout, height, width, access.stride)
            self.rows.append(self.editor.row(Op.CooperativeMatrixLoadCheckedINTEL, self._type(access.matrix), *words,
                                              result=access.matrix))
        else:
            self.rows.append(make(Op.CooperativeMatrixStoreCheckedINTEL, access.base, line, along, access.matrix,
                                   access.layout, height, width, access.stride))

    def _size(self, access: Access, place: int) -> int:
        """The height (0) or width (1) that an access is checked against. One that it was checked against before is a
        limit, too: the work-groups and rounds that are put together may not reach it."""
        dimension = place if access.by_rows else 1 - place
        own = access.sizes[place] if access.sizes is not None else None
        if own is not None and self._put_together(access.matrix, dimension) is None:
            return own
        start, end = (access.line, access.along)[place], self._end(access, place)
        where = self.indices.line(access.row)
        self.conditions[Condition(end, 0, MOST, _FAR, where=where)] = None
        if own is None:
            self.conditions[Condition(start, 0, MOST, _FAR, where=where)] = None
            return self.short(end)
        if repeats(self.matrices, access, dimension):  # there may be any number where all were inside
            left = self.indices.of(own) - start - Polynomial.constant(self._extent(access, dimension))
            self.conditions[Condition(left, 0, MOST, _BETWEEN, where=where)] = None
            return self.short(end)
        limit, reached = self.wide(own), self.number(end)
        is_less = self.let(Op.SLessThan, self.bool, limit, reached)
        return self.let(Op.UConvert, self.int, self.let(Op.Select, self.long, is_less, limit, reached))

    def _extent(self, access: Access, dimension: int) -> int:
        """The rows or columns that a matrix had, as memory has them."""
        kind = self.matrices.kind(access.matrix)
        assert kind is not None
        return access.in_memory((kind.rows, kind.columns)[dimension], dimension)

    def _merged(self, value: Polynomial) -> Polynomial:
        """A place in terms of merged work-groups and rounds."""
        atoms = {Atom("group", axis): Polynomial.atom("group", axis).scaled(factor)
                 for axis, factor in enumerate(self.factors)}
        atoms |= {Atom("round", header): Polynomial.atom("round", header).scaled(count)
                  for header, count in self.rounds.items()}
        return value.replaced(atoms)

    def _end(self, access: Access, place: int) -> Polynomial:
        """Where ends what an access may touch, in lines (0) or elements of them (1). Along which work-groups or rounds
        were put together, that is the last element of these: not each block is whole, and what follows is somebody
        else's. Elsewhere it is the last one of all work-groups and rounds, which is one number for the launch."""
        dimension = place if access.by_rows else 1 - place
        start, along = (access.line, access.along)[place], self._put_together(access.matrix, dimension)
        moving = [along] if along is not None else [atom for atom in start.atoms if self._moves(atom, access)]
        extent = self._extent(access, dimension)
        if repeats(self.matrices, access, dimension):  # there are as many lines as anybody wants
            extent = access.in_memory(list(grown(self.matrices, self.growth, self.factors, self.rounds,
                                                 access.matrix))[dimension], dimension)
        end = start.replaced({atom: farthest for atom in moving if (farthest := _farthest(start, atom)) is not None})
        return end + Polynomial.constant(extent)

    def _put_together(self, matrix: int, dimension: int) -> Atom | None:
        """What was put together along a dimension: the work-groups of an axis, or the rounds of a loop."""
        one = self.matrices.dimensions.find((matrix, dimension))
        if one in self.growth.axes:
            axis = self.growth.axes[one]
            return Atom("group", axis) if self.factors[axis] > 1 else None
        header = self.growth.loops.get(one)
        return Atom("round", header) if header is not None and header in self.rounds else None

    def _moves(self, atom: Atom, access: Access) -> bool:
        """Whether an atom is a position of a work-group, or the number of a round in which an access is."""
        if atom.kind == "round" and atom.number in self.indices.counters:
            return any(row is access.row for block in self.indices.loops.blocks(atom.number)
                       for row in block.instructions)
        return atom.kind == "group"

    # --- numbers ----------------------------------------------------------------------------

    def atom(self, atom: Atom) -> int:
        """An atom's value of 64 bits."""
        if atom.kind == "groups":
            return self.counts[atom.number]
        if atom.kind == "present":
            return self.limits.present.get(atom.number, self.counts[atom.number])
        if atom.kind == "outers":
            own = self.indices.positions.groups[atom.number]
            return self.let(Op.UDiv, self.long, self.counts[atom.number], self.editor.constant(own, ADDRESS_BITS))
        if atom.kind == "group":
            return self._group(atom.number)
        if atom.kind == "round" and atom.number in self._round_phis:
            return self._round_phis[atom.number]
        if atom.kind == "rounds":
            return self._rounds(self.indices.counters[atom.number])
        if atom.kind == "argument":
            return self.wide(self.indices.body.parameters[atom.number].result_id or 0)
        if atom.kind != "value":
            what = "a loop whose rounds are not known" if atom.kind == "round" else "the position in the work-group"
            raise NoMerge(f"where a matrix lies depends on {what}" + (self.indices.line(self._at) if self._at else ""))
        one = self.indices.computed.get(atom.number)
        if one is not None and any(Atom("round", header) in self.indices.atoms(one.value) for header in self.rounds):
            return self.computed(replace(one, value=self._merged(one.value)))  # the same in all rounds that become one
        return self.wide(atom.number)

    def _group(self, axis: int) -> int:
        """The position of the work-group."""
        if not self._groups:
            self._groups = [self.editor.new_id() for _ in range(AXES)]
        return self._groups[axis]

    def _positions(self) -> list[Instruction]:
        """What the work-group's position is taken from."""
        if not self._groups:
            return []
        vector = self.editor.unique(Op.TypeVector, self.long, AXES)
        load = self.editor.row(Op.Load, vector, self.position)
        self.own.add(load.result_id or 0)
        return [load, *(self.editor.row(Op.CompositeExtract, self.long, load.result_id or 0, axis, result=one)
                        for axis, one in enumerate(self._groups))]

    def _rounds(self, counter: Counter) -> int:
        """How often a loop runs; it does run."""
        distance = counter.limit - counter.start + Polynomial.constant(counter.step - 1)
        return self.let(Op.UDiv, self.long, self.number(self._merged(distance)),
                         self.editor.constant(counter.step, ADDRESS_BITS))

    # --- loops ------------------------------------------------------------------------------

    def _count(self, header: Block, counter: Counter) -> None:
        """Count the rounds of a loop, and let it end after as many as there are now."""
        before, after = self.indices.loops.parents(header.label)
        phi, following = self._round_phis[header.label], self.editor.new_id()
        zero = self.editor.constant(0, ADDRESS_BITS)
        words = [*(word for label in before for word in (zero, label)), *(word for label in after
                                                                          for word in (following, label))]
        self.rows = []
        if header.label in self.rounds or self._is_known(counter.start + counter.limit):
            step = Polynomial.atom("round", header.label).scaled(counter.step * self.rounds.get(header.label, 1))
            here = self.number(self._merged(counter.start) + step)
            limit = self.number(self._merged(counter.limit))
            compared = self.let(Op.SLessThan if counter.enters else Op.SGreaterThanEqual, self.bool, here, limit)
            end = header.terminator
            header.instructions[-1] = with_words(end, (compared, *end.words[1:]))
        place = first_place(header)
        self.own.add(phi)
        rows = [self.editor.row(Op.Phi, self.long, *words, result=phi)]
        counted = [self.editor.row(Op.IAdd, self.long, phi, self.editor.constant(1, ADDRESS_BITS), result=following)]
        header.instructions[-2:-2] = self.rows
        header.instructions[place:place] = counted
        header.instructions[:0] = rows


    def _is_known(self, value: Polynomial) -> bool:
        """Whether a number can be written without what is computed from positions."""
        return all(atom.kind in ("argument", "group", "groups") or (
            atom.kind == "round" and atom.number in self._round_phis) for atom in value.atoms)


def _farthest(value: Polynomial, atom: Atom) -> Polynomial | None:
    """What an atom is where a value is largest: the last position or round, or the first; None if that depends on other
    things."""
    factor = value.coefficient(atom)
    if factor is None or factor.known is None:
        return None
    if factor.known < 0:
        return Polynomial()
    return Polynomial.atom("present" if atom.kind == "group" else "rounds", atom.number) - Polynomial.constant(1)
