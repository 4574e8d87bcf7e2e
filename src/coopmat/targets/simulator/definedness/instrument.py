"""Around each instruction: marks go on, and what depends on undefined data where it decides something is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NoReturn

import numpy as np

from coopmat.diagnostics import UndefinedBehavior, UninitializedRead
from coopmat.spirv.analysis.types import MatrixType, PointerType, Type, VoidType
from coopmat.spirv.grammar import OPENCL_STD_NAMES, Op, StorageClass
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.address_space import AddressSpace, Buffer, BufferRow, Extent, first_of
from coopmat.targets.simulator.definedness.marks import (
    NOTHING,
    Mark,
    Origin,
    all_ones,
    elements,
    is_any,
    joined,
    lanes,
    set_mark,
)
from coopmat.targets.simulator.definedness.moves import SHUFFLES, Marked, marked_frame, moved_operands
from coopmat.targets.simulator.definedness.rules import FUNCTION_RULES, RULES, Operand, spread
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array, Value, members_of, zero

if TYPE_CHECKING:
    from coopmat.targets.simulator.compiler import FunctionCompiler

Mode = Literal["stores", "decisions"]
SHARED = (StorageClass.CrossWorkgroup, StorageClass.UniformConstant, StorageClass.Input)
CALLS = frozenset({Op.FunctionCall, Op.CooperativeMatrixPerElementOpEXT, Op.GroupAsyncCopy, Op.GroupWaitEvents})
"""Instructions that take care of marks themselves."""
WITH_OUTPUT = ("fract", "frexp", "lgamma_r", "modf", "remquo", "sincos")


class Definedness:
    """What is undefined of a batch's memory. ``memory`` has its buffers, with marks in them; ``in_global``: whether
    there may be some in global memory."""

    def __init__(self, sub_groups: int, lane_count: int, sub_groups_per_group: int, mode: Mode) -> None:
        self.memory = AddressSpace(sub_groups, lane_count, sub_groups_per_group)
        self.reports_stores = mode == "stores"
        self.in_global = False
        self.kept: list[Buffer] = []  # whose marks outlive the launch

    def add(self, row: BufferRow, marks: Array | None) -> None:
        """A buffer of the batch: undefined if each work-item or work-group has its own without an initial value, or
        where ``marks`` say so, which the launch changes."""
        address = self.memory.add(replace(row, initial=None, writable=True), marks)
        buffer = self.memory.buffer_at(address)
        if buffer is not None and marks is not None:
            self.kept.append(buffer)
            self.in_global = True
        if buffer is not None and row.extent is not Extent.LAUNCH and row.initial is None:
            buffer.memory[:] = 0xFF


def known_of(frame: Frame) -> Definedness | None:
    """What is undefined of the memory of a frame's batch; None if nobody wants to know."""
    found: Definedness | None = frame.batch.definedness
    return found


def definedness(compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
    """The instrument (``compiler.Instrument``)."""
    if row.opcode == Op.Variable:
        return _variable(compiler, row, step)
    if row.opcode in (Op.BranchConditional, Op.Switch):
        return _branch(compiler, row)
    if step is None or row.opcode in CALLS:
        return step
    name = _extended_name(compiler, row)
    moved = moved_operands(row, name)
    if row.opcode in SHUFFLES and moved is not None:
        return _Shuffle(compiler, row, step, moved).execute
    if moved is not None:
        return _Move(compiler, row, step, moved).execute
    if row.name.startswith("OpAtomic"):
        return _atomic(compiler, row, step)
    return _Computation(compiler, row, step, name).execute


def _extended_name(compiler: FunctionCompiler, row: Instruction) -> str | None:
    if row.opcode not in (Op.ExtInst, Op.ExtInstWithForwardRefsKHR):
        return None
    return OPENCL_STD_NAMES.get(row.words[1], "")


def _values(compiler: FunctionCompiler, row: Instruction, words: Iterable[int]) -> list[tuple[int, Type]]:
    """Slot and type of those ids that are values; pointers to registers have no value."""
    ids, found = set(row.ids()), []
    for word in words:
        if word in ids and compiler.place(word) is None:
            row_of = compiler.module.definition(word)
            type_id = None if row_of.opcode == Op.Function else row_of.type_id
            if type_id is not None and not isinstance(compiler.types[type_id], VoidType):
                found.append((compiler.slot(word), compiler.types[type_id]))
    return found



# --------------------------------------------------------------------------------------
# Reports
# --------------------------------------------------------------------------------------


def require_defined(frame: Frame, slot: int, kind: Type, site: Site, what: str) -> None:
    """Raise UninitializedRead, or what the mark's origin says, if the value of an active lane is not wholly defined."""
    mark = frame.undefined.get(slot)
    if mark is None:
        return
    here = frame.mask.expanded & lanes(mark.value, kind)
    if here.any():
        report(frame, site, what, mark, kind, first_of(here))


def report(frame: Frame, site: Site, what: str, mark: Mark, kind: Type, place: tuple[int, int]) -> NoReturn:
    """Raise UninitializedRead, or what the mark's origin says, for a lane."""
    if isinstance(kind, MatrixType) and not kind.is_of_work_group:
        found = np.argwhere(np.broadcast_to(elements(mark.value, kind), (frame.batch.sub_groups, kind.rows,
                                                                        kind.columns))[place[0]])
        what = f"element ({found[0][0]}, {found[0][1]}) of {what}" if len(found) else what
    raise mark.origin.error(f"{what} is undefined: it depends on {mark.origin}; {mark.origin.remedy}",
                            site.where(frame, *place))


def _branch(compiler: FunctionCompiler, row: Instruction) -> Step:
    slot, kind, site = compiler.slot(row.words[0]), compiler.type_of(row.words[0]), compiler.site(row)

    def check(frame: Frame) -> None:
        if frame.undefined:
            require_defined(frame, slot, kind, site, "the condition of a branch")

    return check


# --------------------------------------------------------------------------------------
# Where undefined data comes from
# --------------------------------------------------------------------------------------


def _variable(compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
    """A variable of a function: undefined each time it comes to life, but for its initial value."""
    assert row.result_id is not None
    kind = compiler.types.pointee(compiler.result_type(row))
    place, site = compiler.place(row.result_id), compiler.site(row)
    origin = Origin(f"variable '{compiler.kernel.name(row.result_id)}', which has not been written")
    initial = compiler.slot(row.words[1]) if len(row.words) > 1 else None
    slot = compiler.slot(row.result_id) if place is None else place.slot
    assert slot is not None
    target, fresh = slot, Mark(all_ones(kind) if initial is None else zero(kind), origin)

    def execute(frame: Frame) -> None:
        if step is not None:
            step(frame)
        value, origin = frame.undefined.get(initial, fresh) if initial is not None else fresh
        known = known_of(frame)
        if place is not None:
            set_mark(frame, target, kind, value, origin)
        elif known is not None:
            shadow, _ = marked_frame(frame, known.memory, {})
            shadow.memory.write(shadow, frame.slots[target], value, kind, 1, site)

    return execute


# --------------------------------------------------------------------------------------
# Instructions
# --------------------------------------------------------------------------------------


def _result(compiler: FunctionCompiler, row: Instruction) -> tuple[int, Type] | None:
    """Slot and type of the result, if that is a value."""
    if row.type_id is None or row.result_id in compiler.places:
        return None
    kind = compiler.result_type(row)
    return None if isinstance(kind, VoidType) else (compiler.result(row), kind)


def _registers(compiler: FunctionCompiler, row: Instruction) -> dict[int, Type]:
    """The slots of the variables that the instruction's pointers are known to point to."""
    ids, found = set(row.ids()), {}
    for word in row.words:
        place = compiler.place(word) if word in ids else None
        if place is not None and place.slot is not None:
            found[place.slot] = place.kind
    return found


def keep_registers(frame: Frame, slots: Marked, registers: Mapping[int, Type], origin: Origin) -> None:
    """The marks of variables that an instruction has written."""
    for slot in registers:
        if slot in slots.written:
            value = slots.written[slot]
            if is_any(value):
                frame.undefined[slot] = Mark(value, origin)
            else:
                frame.undefined.pop(slot, None)


class _Move:
    """An instruction that moves data, also from and to memory."""

    def __init__(self, compiler: FunctionCompiler, row: Instruction, step: Step, moved: list[int]) -> None:
        self.step, self.site = step, compiler.site(row)
        self.moved = dict(_values(compiler, row, moved))
        self.result = _result(compiler, row)
        self.registers = _registers(compiler, row)
        others = _values(compiler, row, [word for word in row.words if word not in moved])
        self.control = [(slot, kind) for slot, kind in others if not isinstance(kind, PointerType)]
        self.pointers = [(slot, kind) for slot, kind in others if isinstance(kind, PointerType)]
        self.is_select = row.opcode == Op.Select
        storages = {kind.storage for _, kind in self.pointers if isinstance(kind, PointerType)}
        self.has_memory = bool(storages)
        self.may_store = self.result is None and not storages <= {StorageClass.Function, StorageClass.Workgroup}
        self.copies = row.opcode in (Op.CopyMemory, Op.CopyMemorySized)
        self.only_shared = storages <= set(SHARED)
        self.data = {**self.moved, **self.registers, **({self.result[0]: self.result[1]} if self.result else {})}

    def execute(self, frame: Frame) -> None:
        marks, known = frame.undefined, known_of(frame)
        if known is None:
            self.step(frame)
            return
        if marks:
            self._check_operands(frame)
        self.step(frame)
        has_marks = bool(marks) and not marks.keys().isdisjoint(self.data)
        touches_memory = self.has_memory and (not self.only_shared or known.in_global)
        if has_marks or touches_memory:
            self._move(frame, known)

    def _check_operands(self, frame: Frame) -> None:
        for slot, pointer in self.pointers:
            require_defined(frame, slot, pointer, self.site, "the address of an access")
        if self.has_memory or self.registers:
            for slot, kind in self.control:
                require_defined(frame, slot, kind, self.site, "an operand of an access")

    def _move(self, frame: Frame, known: Definedness) -> None:
        shadow, slots = marked_frame(frame, known.memory, self.data)
        shadow.undefined = {}
        self.step(shadow)
        origin = self._origin(frame)
        if self.may_store and (self.copies or not frame.undefined.keys().isdisjoint(self.moved)):
            self._check_store(frame, known)
        keep_registers(frame, slots, self.registers, origin)
        if self.result is not None and self.result[0] in slots.written:
            slot, kind = self.result
            set_mark(frame, slot, kind, self._with_control(frame, kind, slots.written[slot]), origin)

    def _with_control(self, frame: Frame, kind: Type, value: Value) -> Value:
        """What is chosen by something undefined is undefined."""
        operands = [Operand(one, None, frame.undefined[slot].value, True) for slot, one in self.control
                    if slot in frame.undefined]
        if not operands:
            return value
        chosen = spread(kind, operands)
        return joined(kind, np.ones((1, 1), np.bool_), chosen, value) if isinstance(value, tuple) else np.where(
            elements(chosen, kind), chosen, value)

    def _origin(self, frame: Frame) -> Origin:
        for slot in (*self.moved, *self.registers, *(slot for slot, _ in self.control)):
            if slot in frame.undefined:
                return frame.undefined[slot].origin
        for slot, _ in self.pointers:
            address = int(frame.mask.active(frame.slots[slot])[0])
            buffer = frame.memory.buffer_at(address)
            name = "memory" if buffer is None else buffer.row.name
            return Origin(f"{name}, of which a part has not been written", self.site.location)
        return NOTHING

    def _check_store(self, frame: Frame, known: Definedness) -> None:
        """Raise UninitializedRead if something undefined has come to memory that the host reads."""
        address = int(frame.mask.active(frame.slots[self.pointers[0][0]])[0])
        buffer, there = known.memory.buffer_at(address), frame.memory.buffer_at(address)
        if buffer is None or there is None or there.row.extent is not Extent.LAUNCH or not buffer.memory.any():
            return
        known.in_global = True
        if not known.reports_stores:
            return
        origin, size = self._origin(frame), 1
        place: tuple[int, int] | None = None
        for slot, kind in self.moved.items():
            if slot in frame.undefined:
                here = frame.mask.expanded & lanes(frame.undefined[slot].value, kind)
                place, size = (first_of(here) if here.any() else place), unit_of(kind)
        element = int(np.argmax(buffer.memory != 0)) // size
        if any(buffer is kept for kept in known.kept):  # parts of which nobody had written before
            if place is None:
                return
            addresses = np.broadcast_to(frame.slots[self.pointers[0][0]], frame.mask.expanded.shape)
            element = frame.memory.offset_in(int(addresses[place])) // size
        place = frame.mask.first if place is None else place
        raise origin.error(f"the value stored to element {element} of {there.row.name} is undefined: it depends on "
                           f"{origin}; {origin.remedy}", self.site.where(frame, *place, there.row.name, element))


class _Shuffle(_Move):
    """An instruction with which lanes read from each other: what comes from one that takes no part is undefined."""

    def execute(self, frame: Frame) -> None:
        frame.absent = None
        super().execute(frame)
        if frame.absent is None or not frame.batch.options.undefined or known_of(frame) is None:
            return
        lanes_without, source = frame.absent
        here = frame.mask.expanded & lanes_without
        if here.any():
            self._mark(frame, here, int(source[first_of(here)]))

    def _mark(self, frame: Frame, here: Array, source: int) -> None:
        assert self.result is not None
        slot, kind = self.result
        what = f"what {self.site.in_words} gives from lane {source}, which takes no part"
        if not 0 <= source < frame.batch.lanes:
            what = f"what {self.site.in_words} gives from lane {source}, which none of {frame.batch.lanes} lanes is"
        origin = Origin(what, self.site.location, "", UndefinedBehavior,
                        "use it only in work-items whose source takes part")
        old = frame.undefined.get(slot)
        value = joined(kind, here, all_ones(kind), zero(kind) if old is None else old.value)
        set_mark(frame, slot, kind, value, origin)


def unit_of(kind: Type) -> int:
    """The bytes of what messages count as an element."""
    if isinstance(kind, MatrixType):
        return kind.component.size
    return kind.size if members_of(kind) is not None else kind.scalar.size


class _Computation:
    """An instruction that computes a value of its operands."""

    def __init__(self, compiler: FunctionCompiler, row: Instruction, step: Step, name: str | None) -> None:
        self.step, self.site, self.opcode = step, compiler.site(row), row.opcode
        self.operands = [] if row.opcode in OF_TYPES else _values(
            compiler, row, row.words[2:] if name is not None else row.words)
        self.result = _result(compiler, row)
        self.rule = RULES.get(row.opcode, spread) if name is None else FUNCTION_RULES.get(name, spread)
        self.is_group = row.name.startswith(GROUP_OPERATIONS)
        self.output: tuple[Callable[[Frame, Value], None], Type] | None = None
        self.registers: dict[int, Type] = {}
        if name in WITH_OUTPUT:  # the second result goes through the last operand, a pointer
            kind = compiler.types.pointee(compiler.type_of(row.words[-1]))
            self.output = compiler.writer(row.words[-1], row, 1), kind
            self.registers = _registers(compiler, row)

    def execute(self, frame: Frame) -> None:
        marks = frame.undefined
        if marks and self.is_group:
            for slot, what in self.operands:
                require_defined(frame, slot, what, self.site, f"an operand of {self.site.in_words}")
        self.step(frame)
        found = [slot for slot, _ in self.operands if slot in marks] if marks else []
        known = known_of(frame)
        if self.output is not None and known is not None:
            write, kind = self.output
            shadow, slots = marked_frame(frame, known.memory, self.registers)
            write(shadow, all_ones(kind) if found else zero(kind))
            keep_registers(frame, slots, self.registers, marks[found[0]].origin if found else NOTHING)
        if self.result is not None and (found or self.result[0] in marks):
            self._set_result(frame, found)

    def _set_result(self, frame: Frame, found: list[int]) -> None:
        assert self.result is not None
        slot, kind = self.result
        if not found:
            set_mark(frame, slot, kind, None, NOTHING)
            return
        marks, operands = frame.undefined, []
        for one, what in self.operands:
            mark = marks.get(one)
            operands.append(Operand(what, frame.slots[one], zero(what) if mark is None else mark.value,
                                    mark is not None))
        origin = marks[found[0]].origin
        if isinstance(kind, MatrixType) and self.opcode == Op.CooperativeMatrixMulAddKHR:
            origin = _of_product(origin, operands, self.site)
        set_mark(frame, slot, kind, self.rule(kind, operands), origin)


OF_TYPES = frozenset({Op.CooperativeMatrixLengthKHR, Op.CooperativeMatrixGetElementCoordINTEL,
                      Op.CooperativeMatrixGetCoordinateEXT})
"""Instructions whose result does not depend on what their operands hold."""
GROUP_OPERATIONS = ("OpGroup", "OpSubgroupAll", "OpSubgroupAny", "OpSubgroupBallot", "OpCooperativeMatrixReduce")


def _of_product(origin: Origin, operands: list[Operand], site: Site) -> Origin:
    """Which element of an operand made a row or column of a product undefined."""
    spread_to = ("row {0}, by k = {1}", "column {1}, by k = {0}")
    for name, operand, spreads in zip(("A", "B"), operands, spread_to, strict=False):
        if operand.is_marked and isinstance(operand.kind, MatrixType) and not operand.kind.is_of_work_group:
            found = np.argwhere(elements(operand.mark, operand.kind))
            if len(found):
                _, row, column = found[0].tolist()
                return origin._replace(
                    effect=f", in element ({row}, {column}) of {name}, which makes all of "
                           f"{spreads.format(row, column)} of the product at {site.location} undefined")
    return origin


def _atomic(compiler: FunctionCompiler, row: Instruction, step: Step) -> Step:
    """An atomic that reads memory needs it written; one that writes defines it."""
    pointer, site = compiler.slot(row.words[0]), compiler.site(row)
    kind, pointer_kind = compiler.types.pointee(compiler.type_of(row.words[0])), compiler.type_of(row.words[0])
    operands = _values(compiler, row, row.words[3:])
    writes, reads = row.opcode != Op.AtomicLoad, row.opcode not in (Op.AtomicStore, Op.AtomicFlagClear)
    result = compiler.result(row) if row.type_id is not None else None
    assert isinstance(pointer_kind, PointerType)
    is_shared = pointer_kind.storage in SHARED

    def execute(frame: Frame) -> None:
        known = known_of(frame)
        for slot, what in ((pointer, pointer_kind), *operands) if frame.undefined else ():
            require_defined(frame, slot, what, site, f"an operand of {site.in_words}")
        if known is not None and (not is_shared or known.in_global):
            shadow, _ = marked_frame(frame, known.memory, {})
            if reads:
                _require_written(frame, shadow, pointer, kind, site)
            if writes:
                shadow.memory.write(shadow, frame.slots[pointer], zero(kind), kind, 1, site)
        step(frame)
        if result is not None:
            frame.undefined.pop(result, None)

    return execute


def _require_written(frame: Frame, shadow: Frame, pointer: int, kind: Type, site: Site) -> None:
    found = shadow.memory.read(shadow, frame.slots[pointer], kind, 1, site)
    here: Array = frame.mask.expanded & lanes(found, kind)
    if here.any():
        place = first_of(here)
        address = int(np.broadcast_to(frame.slots[pointer], here.shape)[place])
        buffer = frame.memory.buffer_at(address)
        name, element = None if buffer is None else buffer.row.name, frame.memory.offset_in(address) // kind.size
        raise UninitializedRead(
            f"{site.in_words} reads {frame.memory.describe(address, kind.size)}, which has not been written; let one "
            "work-item write it before, and a barrier follow", site.where(frame, *place, name, element))
