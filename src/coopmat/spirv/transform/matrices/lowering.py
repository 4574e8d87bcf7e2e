"""What rewrites a function whose matrices become components of work-items: values, new instructions, blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coopmat.devices.lane_layout import Indices
from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType, Type, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor, current_line, with_words
from coopmat.spirv.edit.linker import ALL_VARIABLES
from coopmat.spirv.grammar import Decoration, MemorySemantics, Op, StorageClass
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.cut.grids import Grid
from coopmat.spirv.transform.cut.rewriting import Cut, Rewriting
from coopmat.spirv.transform.goal import MatrixSupport
from coopmat.spirv.transform.matrices.lanes import Lanes, add_to_interfaces
from coopmat.spirv.transform.matrices.layout import Chosen, Spread

INT4 = IntType(4)
_WORD = 32
_MEMORY: dict[int, MemorySemantics] = {
    StorageClass.Workgroup: MemorySemantics.WorkgroupMemory,
    StorageClass.CrossWorkgroup: MemorySemantics.CrossWorkgroupMemory}
_ORDERED = frozenset({Op.Load, Op.Store, Op.ControlBarrier, Op.MemoryBarrier, Op.FunctionCall, Op.Phi, Op.CopyMemory,
                      Op.CopyMemorySized, *(op for op in Op if op.name.startswith("Atomic"))})
"""What accesses memory, or stands where something may have done so; and barriers."""
_LOST = frozenset({Decoration.CooperativeMatrixTransposeEXT})
"""Decorations that say what has been done then."""


@dataclass(frozen=True)
class Components(Grid):
    """A matrix type whose parts are the components of a work-item. ``type_id`` becomes an array of ``tile_id``, the
    type of a component: of 4 bits that of 8, with the sign of the 4."""

    spread: Spread = field(kw_only=True)

    @property
    def count(self) -> int:
        return self.spread.length


@dataclass
class Plain(Cut):
    """A module whose matrices become sub-group code. ``lane``, ``sub_group``: the variables with the number of a
    work-item and with that of its sub-group; ``arrays``: those in local memory by their elements' types."""

    support: MatrixSupport = field(kw_only=True)
    lanes: int = field(kw_only=True)
    lane: int = field(kw_only=True)
    sub_group: int = field(kw_only=True)
    arrays: dict[int, int] = field(default_factory=dict)

    def shared(self, type_id: int) -> int:
        """An array in local memory with a value of this type for each work-item of a work-group."""
        if type_id not in self.arrays:
            editor = self.editor
            array = editor.unique(Op.TypeArray, type_id, editor.constant(self.support.work_group_items))
            row = editor.row(Op.Variable, editor.type_pointer(StorageClass.Workgroup, array), StorageClass.Workgroup)
            editor.head.append(row)
            self.arrays[type_id] = row.result_id or 0
            if editor.module.version >= ALL_VARIABLES:
                add_to_interfaces(editor, self.arrays[type_id])
        return self.arrays[type_id]

    def components(self, type_id: int | None) -> Components | None:
        """The components of a matrix type that becomes plain."""
        found = self.grids.get(type_id or 0)
        return found if isinstance(found, Components) else None


class Lowering(Rewriting):
    """One function. ``blocks`` are those that are written; the last is that of ``rows``."""

    cut: Plain

    def __init__(self, cut: Plain, body: Body) -> None:
        super().__init__(cut, body)
        self.table: TypeTable = cut.table
        self.lanes = Lanes(cut.editor, cut.lanes, cut.lane, cut.sub_group, cut.support.moves)
        self.blocks: list[Block] = []
        self.split: dict[int, int] = {}
        self._first = 0

    def _named(self, value: int, grid: Grid) -> list[int]:
        """Ids for the components of a value, whose types are known before they are written. They have no names: there
        are many."""
        decorations = [row for row in self.cut.annotations.get(value, ())
                       if row.opcode != Op.Name and row.words[1] not in _LOST]
        found = [self.editor.new_id() for _ in range(grid.count)]
        for one in found:
            self.editor.add(make(Op.Undef, type_id=grid.tile_id, result_id=one))
            self.editor.annotate(with_words(row, (one, *row.words[1:])) for row in decorations)
        return found

    # --- blocks --------------------------------------------------------------------------

    def enter(self, block: Block) -> None:
        """Begin with a block of the function."""
        self._first, self.rows = block.label, []
        self.begin(block.label)

    def leave(self) -> None:
        """End with that block; note if it has become several."""
        last = self.blocks[-1].label
        if last != self._first:
            self.split[self._first] = last

    def begin(self, label: int) -> None:
        """A block, which goes on with the line of the source that the one before has come to."""
        line = current_line(self.rows)
        self.rows = [] if line is None else [line]
        self.blocks.append(Block(label, self.rows))

    @property
    def label(self) -> int:
        """The block that is being written."""
        return self.blocks[-1].label

    def when(self, condition: int, then: Callable[[], None]) -> None:
        """Instructions only where a condition holds."""
        inside, end = self.editor.new_id(), self.editor.new_id()
        self.do(Op.SelectionMerge, end, 0)
        self.do(Op.BranchConditional, condition, inside, end)
        self.begin(inside)
        then()
        self.do(Op.Branch, end)
        self.begin(end)

    def value_when(self, condition: int, type_id: int, then: Callable[[], int], otherwise: int) -> int:
        """A value that is computed only where a condition holds."""
        before, found = self.label, [0, 0]

        def compute() -> None:
            found[:] = then(), self.label

        self.when(condition, compute)
        return self.let(Op.Phi, type_id, found[0], found[1], otherwise, before)

    def loop(self, count: int, states: Sequence[tuple[int, int]],
             turn: Callable[[int, Sequence[int]], Sequence[int]]) -> list[int]:
        """A loop of so many turns. ``states``: types and first values of what is handed from turn to turn; ``turn``
        gets the number of the turn, of 32 bits, and the values, and gives the next ones. The last ones come back."""
        before = self.label
        head, inside, latch, end = (self.editor.new_id() for _ in range(4))
        number, following = self.editor.new_id(), self.editor.new_id()
        self.do(Op.Branch, head)
        self.begin(head)
        header = self.rows
        held = [self.editor.new_id() for _ in states]
        self.editor.add(make(Op.Phi, type_id=self.uint, result_id=number))
        for (type_id, _), one in zip(states, held, strict=True):
            self.editor.add(make(Op.Phi, type_id=type_id, result_id=one))
        self.begin(inside)
        changed = turn(number, held)
        self.do(Op.Branch, latch)
        self.begin(latch)
        self.let(Op.IAdd, self.uint, number, self.number(1, self.uint), result=following)
        more = self.let(Op.ULessThan, self.bool, following, self.number(count, self.uint))
        self.do(Op.BranchConditional, more, head, end)
        header.append(self.editor.row(Op.Phi, self.uint, self.number(0, self.uint), before, following, latch,
                                      result=number))
        header += [self.editor.row(Op.Phi, type_id, first, before, last, latch, result=one)
                   for (type_id, first), one, last in zip(states, held, changed, strict=True)]
        header += [make(Op.LoopMerge, end, latch, 0), make(Op.Branch, inside)]
        self.begin(end)
        return list(changed)

    def synchronize(self, pointer: int) -> None:
        """Let all of the sub-group have done with what a pointer leads to: a matrix is loaded and stored as one, and
        what one work-item stores may be what another one has loaded, or will load."""
        storage = self.editor.definition(self.type_id(pointer)).words[0]
        memory = _MEMORY.get(storage, MemorySemantics.WorkgroupMemory | MemorySemantics.CrossWorkgroupMemory)
        words = (self.lanes.scope, self.lanes.scope, self.constant(int(MemorySemantics.AcquireRelease | memory)))
        last = next((row for row in reversed(self.rows) if row.opcode in _ORDERED), None)
        if last is None or last.opcode != Op.ControlBarrier or last.words != words:
            self.do(Op.ControlBarrier, *words)

    # --- types -----------------------------------------------------------------------------

    def matrix(self, value: int) -> Components | None:
        """The components of a matrix that becomes plain."""
        return self.cut.components(self.type_id(value))

    def kind(self, type_id: int) -> Type:
        """A type as the tables have it."""
        return self.table[type_id]

    def integer(self, bits: int) -> int:
        """The type of integers of so many bits."""
        return self.editor.unique(Op.TypeInt, bits, 0)

    def float(self, bits: int) -> int:
        """The type of floats of so many bits."""
        return self.editor.unique(Op.TypeFloat, bits)

    def constant(self, value: int, bits: int = _WORD) -> int:
        """An integer constant."""
        return self.editor.constant(value & (1 << bits) - 1, bits)

    # --- moves -----------------------------------------------------------------------------

    def taken(self, values: Sequence[int], lane: Indices, value: Indices, type_id: int) -> int:
        """In each work-item w the value number ``value[w]`` of work-item ``lane[w]``; ``type_id``: that of all."""
        lane, value = np.asarray(lane), np.asarray(value)
        found = 0
        for number in dict.fromkeys(value.tolist()):
            chosen = value == number
            one = self._moved(values[number], lane, chosen, type_id)
            found = one if not found else self.let(Op.Select, type_id, self.lanes.flag(chosen), one, found)
        return found

    def _moved(self, value: int, lane: Indices, chosen: Chosen, type_id: int) -> int:
        """A value of other work-items, in those that are chosen."""
        wanted = lane[chosen]
        if (wanted == np.arange(len(lane))[chosen]).all():
            return value
        wide = self._widened(value, type_id)
        if (wanted == wanted[0]).all():
            found = self.broadcast(wide, self.constant(int(wanted[0])), self.type_id(wide))
        else:
            source = self.lanes.index(lane if chosen.all() else np.where(chosen, lane, 0))
            found = self.shuffled(wide, source, self.type_id(wide))
        return found if wide == value else self._narrowed(found, type_id)

    def _widened(self, value: int, type_id: int) -> int:
        """A value that can travel: not every driver moves less than 32 bits, and nobody moves bf16."""
        kind, bits = self.editor.definition(type_id), self.editor.definition(type_id).words[0]
        if bits >= _WORD:
            return value
        if kind.opcode == Op.TypeFloat:
            value = self.let(Op.Bitcast, self.integer(bits), value)
        return self.let(Op.UConvert, self.uint, value)

    def _narrowed(self, value: int, type_id: int) -> int:
        kind, bits = self.editor.definition(type_id), self.editor.definition(type_id).words[0]
        if kind.opcode != Op.TypeFloat:
            return self.let(Op.UConvert, type_id, value)
        return self.let(Op.Bitcast, type_id, self.let(Op.UConvert, self.integer(bits), value))

    def broadcast(self, value: int, lane: int, type_id: int) -> int:
        """The value of one work-item, whose number is a constant."""
        if self.lanes.moves == "khr":
            return self.let(Op.GroupNonUniformBroadcast, type_id, self.lanes.scope, value, lane)
        return self.shuffled(value, lane, type_id)

    def shuffled(self, value: int, lane: int, type_id: int) -> int:
        """The value of the work-item with a number."""
        if self.lanes.moves == "intel":
            return self.let(Op.SubgroupShuffleINTEL, type_id, value, lane)
        if self.lanes.moves == "local":
            return self._by_local_memory(value, lane, type_id)
        return self.let(Op.GroupNonUniformShuffle, type_id, self.lanes.scope, value, lane)

    def _by_local_memory(self, value: int, lane: int, type_id: int) -> int:
        """The same where work-items can only leave their values in local memory for the others."""
        shared, start = self.cut.shared(type_id), self.lanes.start_in_work_group
        part = self.editor.type_pointer(StorageClass.Workgroup, type_id)
        own, other = (self.let(Op.AccessChain, part, shared, self.let(Op.IAdd, self.uint, start, number))
                      for number in (self.lanes.lane, lane))
        self.do(Op.Store, own, value)
        self.synchronize(own)
        found = self.let(Op.Load, type_id, other)
        self.synchronize(own)
        return found


Handler = Callable[[Lowering, Instruction], bool]
Handlers = Mapping[int, Handler]


def is_float(kind: MatrixType) -> bool:
    """Whether a matrix has floats."""
    return isinstance(kind.component, FloatType)


def new_components(editor: FunctionEditor, type_id: int, kind: MatrixType, lanes: int) -> Components:
    """How a matrix type becomes plain."""
    component = editor.definition(type_id).words[0]
    if kind.component == INT4:
        component = editor.unique(Op.TypeInt, 8, 0)
    return Components(type_id, component, kind, 1, 1, spread=Spread(kind.rows, kind.columns, lanes))
