"""Kernels that are launched with as many work-groups as run at a time, and loop over tiles (persistent kernels).

``for (t = get_group_id(0); t < tiles; t += get_num_groups(0))`` gives each tile to one work-group. Launched with as
many work-groups as there are tiles, the kernel needs no such loop, and neighbours can be merged. That is the same where
no round needs what another one leaves: nothing is carried round the loop here; of memory see :mod:`~.rounds_apart`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.edit.functions import first_place, input_variable, replace_uses, with_words
from coopmat.spirv.grammar import BuiltIn, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.enlarge.accesses import STORES
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Condition, fitting
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.matrices import AXES, no_merge, no_merge_of_variable, scope_of, taken_apart
from coopmat.spirv.transform.enlarge.order import Order
from coopmat.spirv.transform.enlarge.requirements import Number
from coopmat.spirv.transform.enlarge.sizes import require_sizes
from coopmat.spirv.transform.facts import Facts
from coopmat.spirv.transform.fold import fold, remove_unused
from coopmat.spirv.transform.goal import Goal

Sizes = tuple[int, int, int]
_FIXED = ("argument", "groups", "outers")
"""What is the same for all work-groups of a launch."""
_MOST = (1 << ADDRESS_BITS - 1) - 1
_OF_LAUNCH = frozenset({BuiltIn.WorkgroupId, BuiltIn.NumWorkgroups, BuiltIn.GlobalInvocationId, BuiltIn.GlobalSize,
                        BuiltIn.GlobalLinearId})
"""What depends on which work-group of how many runs a round."""
_OF_GROUP = frozenset({BuiltIn.SubgroupId, BuiltIn.NumSubgroups, BuiltIn.NumEnqueuedSubgroups, BuiltIn.WorkgroupSize,
                       BuiltIn.EnqueuedWorkgroupSize, BuiltIn.LocalInvocationId, BuiltIn.LocalInvocationIndex})
"""What depends on which sub-group of a work-group does."""


class Persistent(NamedTuple):
    """A kernel without its loops over tiles. counts: axis → how many work-groups a launch has along it instead; places:
    where the loops stand, if the module tells."""

    module: Module
    local_size: Sizes
    counts: dict[int, Number]
    places: tuple[str, ...]


@dataclass(frozen=True)
class _Loop:
    """A loop over tiles along an axis, whose numbers are multiples of ``times`` below a limit, if the conditions hold.
    of_sub_groups: whether it gives them to sub-groups."""

    header: Block
    phi: Instruction
    compared: Instruction
    axis: int
    times: int
    limit: Polynomial
    conditions: tuple[Condition, ...]
    of_sub_groups: bool


def without_loops(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int) -> Persistent:
    """A kernel without the loops in which its work-groups, or sub-groups, take one tile after the other. ``module`` has
    values instead of variables. NoMerge for a loop that cannot be taken as work-groups."""
    x, y, z = local_size
    sizes, counts, places = (x, y, z), dict[int, Number](), list[str]()
    while len(counts) < AXES:
        editor, body = taken_apart(module, kernel)
        indices = Indices(editor, body, sizes, sub_group_size, scope_of(module))
        one = next((loop for loop in _loops(indices) if loop.axis not in counts), None)
        if one is None:
            break
        place = place_of(module, one.compared)
        places += [] if place is None else [f"{place.file.name}:{place.line}"]
        _Taking(indices, one).done()
        counts[one.axis] = _count(indices, one)
        if one.of_sub_groups:
            sizes = (sub_group_size, 1, 1)
            require_sizes(editor, body.id, sizes)
        module = fold(editor.done(), Goal(), lambda _: None)
    return Persistent(module, sizes, counts, tuple(places))


def _loops(indices: Indices) -> Iterator[_Loop]:
    """The loops that begin at the number of the group, and step by how many there are."""
    for header in indices.body.blocks:
        if any(row.opcode == Op.LoopMerge for row in header.instructions[-2:-1]):
            yield from (found for row in header.instructions if row.opcode == Op.Phi
                        and (found := _loop(indices, header, row)) is not None)


def _loop(indices: Indices, header: Block, phi: Instruction) -> _Loop | None:
    end, editor = header.terminator, indices.editor
    if end.opcode != Op.BranchConditional or not indices.is_integer(phi.result_id or 0):
        return None
    number, enters = indices.of(phi.result_id or 0), end.words[2] == header.instructions[-2].words[0]
    compared, conditions = editor.definition(end.words[0]), list[Condition]()
    if compared.opcode == Op.LogicalAnd and enters:  # a range of Python asks, too, if the step is positive
        found = {word: indices.negative(editor.definition(word), holds=True) for word in compared.words}
        always = {word: one for word, one in found.items() if one is not None and indices.is_made_of(one[0], _FIXED)}
        conditions = [each for value, fits in always.values() for each in (Condition(-value, 1, _MOST), *fits)]
        compared = next((editor.definition(word) for word in compared.words if word not in always), compared)
    read = indices.negative(compared, holds=enters)
    if read is None or number not in map(indices.of, compared.words):
        return None
    limit = number - read[0]
    step = _step(indices, number, header)
    if step is None or not indices.is_made_of(limit, ("argument",)):
        return None
    axis, times, of_sub_groups = step
    return _Loop(header, phi, compared, axis, times, limit, tuple(conditions), of_sub_groups)


def _step(indices: Indices, number: Polynomial, header: Block) -> tuple[int, int, bool] | None:
    """The axis along which a number is that of the group, times what, and whether it is a sub-group's number; None if
    it does not step by how many groups there are."""
    this = Polynomial.atom("round", header.label)
    for axis, own in enumerate(indices.positions.groups):
        group, groups = (Polynomial.atom(kind, axis) for kind in ("group", "groups"))
        outer, outers = (Polynomial.atom(kind, axis) for kind in ("outer", "outers")) if own > 1 else (group, groups)
        ways = [(outer, outers, False)]
        if own > 1 and indices.positions.groups == (own, 1, 1):
            ways += [(group, groups, True), (group, outers.scaled(own), True)]
        for start, step, of_sub_groups in ways:
            factor = number.coefficient(*start.atoms)
            times = 0 if factor is None else factor.known or 0
            if times > 0 and number == (start + step * this).scaled(times):
                return axis, times, of_sub_groups
    return None


def _count(indices: Indices, loop: _Loop) -> Number:
    """How many tiles there are: where their numbers, and the next one behind the last round, do not wrap around."""
    most = loop.limit + Polynomial.atom("groups", loop.axis).scaled(loop.times)
    signed = loop.compared.opcode in (Op.SLessThan, Op.SLessThanEqual, Op.SGreaterThan, Op.SGreaterThanEqual)
    bits = min(indices.bits(one) for one in (loop.compared.words[0], loop.phi.result_id or 0))
    fits = [condition for value in (loop.limit, most) for condition in fitting(value, bits, signed=signed)]
    return Number.of(indices, loop.limit, (*loop.conditions, *fits), by=loop.times)


class _Taking:
    """Takes a loop away: what it did in one round is the kernel. NoMerge if that is something else."""

    def __init__(self, indices: Indices, loop: _Loop) -> None:
        self.indices, self.loop = indices, loop
        self.editor, self.body = indices.editor, indices.body

    def done(self) -> None:
        """Change the kernel."""
        loop = self.loop
        begin, end = self._checked()
        _, after = self.indices.loops.parents(loop.header.label)
        merge = loop.header.instructions[-2]
        loop.header.instructions = [row for row in loop.header.instructions[:-1] if row not in (loop.phi, merge)]
        loop.header.instructions.append(make(Op.Branch, begin.label))
        for label in after:
            block = self.body.block(label)
            block.instructions[-1] = with_words(block.terminator, (
                end.label if word == loop.header.label else word for word in block.terminator.words))
        own = self._number()
        remove_unused(Facts(self.editor), self.body)
        self._check_positions(own)

    def _checked(self) -> tuple[Block, Block]:
        """The first block of a round, and the one behind the loop."""
        loop, header = self.loop, self.loop.header
        ways = self.indices.loops.ways(header)
        if ways is None or any(row.opcode == Op.Phi for row in ways[1].instructions):
            raise no_merge(self.editor, loop.compared, "its loop over tiles does not only end where there are no more")
        for row in header.instructions:
            if row.opcode == Op.Phi and row is not loop.phi:
                raise no_merge(self.editor, loop.compared, "its loop over tiles carries a value from round to round")
        order = Order(self.indices, asks=False)
        inside = {block.label for block in self.indices.loops.blocks(header.label)} - {header.label}
        made = {row.result_id for block in self.body.blocks if block.label in inside for row in block.instructions}
        for block in self.body.blocks:
            for row in block.instructions[:-1]:
                if row.opcode == Op.Variable:
                    raise no_merge_of_variable(self.editor, self.body, row)
                if order.has_effects(row) and not (row.opcode in STORES and block.label in inside):
                    raise no_merge(self.editor, row, f"it has other effects than on matrices ({row.name})"
                                   if row.opcode not in STORES else
                                   "a matrix is stored before or behind its loop over tiles")
            if block.label not in inside and block is not header and any(made & set(row.ids())
                                                                        for row in block.instructions):
                raise no_merge(self.editor, loop.compared, "what stands behind its loop over tiles needs the last one")
        return ways

    def _number(self) -> set[int]:
        """Put the work-group's number in the place of the tile's; the ids of what is new."""
        long = self.editor.unique(Op.TypeInt, ADDRESS_BITS, 0)
        vector = self.editor.unique(Op.TypeVector, long, AXES)
        variable = input_variable(self.editor, self.body.id, BuiltIn.WorkgroupId, vector)
        rows, type_id = [self.editor.row(Op.Load, vector, variable)], self.loop.phi.type_id or 0
        rows.append(self.editor.row(Op.CompositeExtract, long, rows[0].result_id or 0, self.loop.axis))
        if type_id != long:
            rows.append(self.editor.row(Op.UConvert, type_id, rows[-1].result_id or 0))
        if self.loop.times != 1:
            times = self.editor.constant(self.loop.times, self.indices.bits(self.loop.phi.result_id or 0))
            rows.append(self.editor.row(Op.IMul, type_id, rows[-1].result_id or 0, times))
        entry = self.body.blocks[0]
        replace_uses(self.body, {self.loop.phi.result_id or 0: rows[-1].result_id or 0})
        entry.instructions[first_place(entry):first_place(entry)] = rows
        return {row.result_id or 0 for row in rows}

    def _check_positions(self, own: set[int]) -> None:
        """Refuse a kernel that asks besides which work-group of how many it is."""
        loads = {row.result_id or 0: builtin for row in self.body.rows() if row.result_id not in own
                 and (builtin := self.indices.builtin(row)) is not None}
        for row in self.body.rows():
            for word in row.ids():
                builtin = loads.get(word)
                other = row.opcode == Op.CompositeExtract and row.words[1] != self.loop.axis
                if (builtin in _OF_LAUNCH and not other) or (builtin in _OF_GROUP and self.loop.of_sub_groups):
                    raise no_merge(self.editor, row, f"its loop over tiles is not all that depends on {builtin.name}")
