"""Watchpoints at work: values are compared before each instruction with those before the one that came before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.debugger.code import Code, Line
from coopmat.debugger.evaluation import evaluate, truth
from coopmat.debugger.expressions import Node
from coopmat.debugger.items import item_at, place_in, show_item
from coopmat.debugger.points import Change, Watchpoint
from coopmat.debugger.scope import Known, Scope
from coopmat.debugger.showing import Format, Place, show, show_bytes
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import MatrixType, PointerType
from coopmat.spirv.grammar import CooperativeMatrixLayout, Op
from coopmat.targets.simulator.address_space import OFFSET_BITS, Extent
from coopmat.targets.simulator.memory import element_stride
from coopmat.targets.simulator.state import Frame, Mask
from coopmat.targets.simulator.values import Array

if TYPE_CHECKING:
    from coopmat.debugger.activations import Activation
    from coopmat.debugger.engine import Engine


class Watches:
    """Watches what an engine's watchpoints name."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._previous: tuple[Frame, Code, Mask] | None = None
        self._line: Line | None = None

    def restart(self) -> None:
        """The launch begins, or another batch of it."""
        self._previous = None
        for point in self.engine.points.watchpoints.values():
            point.last = None

    def watchable(self, node: Node, activation: Activation | None, place: Place | None) -> Watchpoint:
        """See :meth:`Engine.watchable`."""
        engine = self.engine
        place = place if place is not None else engine.place
        found = activation if activation is not None else next(iter(engine.stack(place)), None)
        if place is None or found is None or not engine.has_state:
            raise Error("a watchpoint needs a kernel that stands still: run it to where the name is known")
        assert engine.batch is not None
        scope = engine.scope(found, engine.lane(place))
        known = evaluate(node, scope)
        point = Watchpoint(engine.points.next_number(), node, item_at(engine.batch, *place), activation=found.ordinal)
        if known.address is not None:
            self._locate(point, known, scope, place)
        if self._value(point)[0] is None:
            raise Error(f"{node} cannot be watched: it has no value here")
        return point

    def begin(self, point: Watchpoint) -> None:
        """See :meth:`Engine.watch_for`."""
        engine = self.engine
        if not engine.has_state or not engine.activations:
            return
        point.last, point.shown = self._value(point)
        last = engine.activations[-1]
        if last.frame is not None and last.code is not None:
            self._previous = last.frame, last.code, last.frame.mask

    def _locate(self, point: Watchpoint, known: Known, scope: Scope, place: Place) -> None:
        """Note where in memory an element lies."""
        scope.load(known)  # an Error if it lies nowhere
        memory = scope.frame.memory
        address = int(np.broadcast_to(known.address, scope.lanes.shape)[place])  # type: ignore[arg-type]
        buffer = memory.buffer_at(address)
        assert buffer is not None
        point.buffer, point.address, point.size = address >> OFFSET_BITS, address, known.kind.size
        point.in_words = lambda content: show_bytes(known, scope, content)
        point.offset = memory.offset_in(address)
        if buffer.instances is not None:
            point.offset += int(np.broadcast_to(buffer.instances, scope.lanes.shape)[place])
            point.first_group = scope.frame.batch.first_group

    def _value(self, point: Watchpoint) -> tuple[bytes | None, str]:
        """The bytes of what is watched, and how they are shown; None where it does not exist now."""
        engine = self.engine
        batch = engine.batch
        activation = next((one for one in engine.activations if one.ordinal == point.activation), None)
        assert batch is not None
        if point.buffer is not None:
            if point.first_group not in (None, batch.first_group):
                return None, ""
            memory = batch.memory._buffers[point.buffer - 1].memory
            return memory[point.offset:point.offset + point.size].tobytes(), ""
        place = place_in(batch, point.item)
        if activation is None or activation.frame is None or place is None:
            return None, ""
        return self._lane_value(point, activation, place)

    def _lane_value(self, point: Watchpoint, activation: Activation,
                    place: tuple[int, int]) -> tuple[bytes | None, str]:
        assert activation.frame is not None
        scope = Scope(activation, self.engine.lane(place))
        known = scope.load(evaluate(point.expression, scope))
        return _bytes(known.value, place, known.kind), show(known, scope, place, Format())

    def changes(self, frame: Frame, code: Code) -> tuple[Change, ...]:
        """What the instruction before this one has changed."""
        found = []
        previous, self._previous = self._previous, (frame, code, frame.mask)
        if previous is not None and previous[1].line is not None:
            self._line = previous[1].line
        for point in self.engine.points.watchpoints.values():
            try:
                now, shown = self._value(point)
            except Error:
                continue
            last, point.last = point.last, now
            if last is not None and now is not None and last != now and previous is not None:
                change = self._change(point, last, now, shown, previous)
                if self._holds(point) and point.hit(self.engine.clock):
                    found.append(change)
            if shown:
                point.shown = shown
        return tuple(found)

    def _holds(self, point: Watchpoint) -> bool:
        """Whether a watchpoint's condition holds for its work-item, or has no value."""
        engine = self.engine
        place = place_in(engine.batch, point.item) if engine.batch is not None else None
        activation = next((one for one in engine.activations if one.ordinal == point.activation),
                          engine.activations[0])
        if point.condition is None or place is None or activation.frame is None:
            return True
        try:
            return bool(truth(point.condition, Scope(activation, engine.lane(place))).any())
        except Error:
            return True

    def _change(self, point: Watchpoint, last: bytes, now: bytes, shown: str,
                previous: tuple[Frame, Code, Mask]) -> Change:
        frame, code, mask = previous
        old = point.shown
        if point.buffer is not None:
            old, shown = point.in_words(last), point.in_words(now)
        return Change(point, old, shown, code.line or self._line, writer(point, frame, code, mask))



def _bytes(value: Any, place: tuple[int, int], kind: object) -> bytes:
    """The bytes of one lane's value; of a matrix that of its sub-group."""
    if isinstance(value, tuple):
        return b"".join(_bytes(part, place, None) for part in value)
    array: Array = value
    sub_group, lane = min(place[0], array.shape[0] - 1), place[1]
    if isinstance(kind, MatrixType) and not kind.is_of_work_group:
        return array[sub_group].tobytes()
    return array[sub_group, min(lane, array.shape[1] - 1)].tobytes()


# --------------------------------------------------------------------------------------
# Who wrote
# --------------------------------------------------------------------------------------

def writer(point: Watchpoint, frame: Frame, code: Code, mask: Mask) -> str:
    """Who executed a write, in words: the work-item, if the instruction tells."""
    lanes = mask.expanded
    if point.buffer is None:
        return f"work-item {show_item(point.item)}"
    place = _matrix_writer(point, frame, code, lanes) if code.row.opcode == Op.CooperativeMatrixStoreKHR else \
        _store_writer(point, frame, code, lanes)
    if place is not None:
        return f"work-item {show_item(item_at(frame.batch, *place))}"
    count = int(lanes.sum())
    sub_group, lane = mask.first
    only = show_item(item_at(frame.batch, sub_group, lane))
    return f"work-item {only}" if count == 1 else f"one of {count} work-items, the first of which is {only}"


def _store_writer(point: Watchpoint, frame: Frame, code: Code, lanes: Array) -> tuple[int, int] | None:
    """The last of the lanes that stored to the address."""
    row, compiler = code.row, code.function.compiler
    if not (row.opcode == Op.Store or row.name.startswith("OpAtomic")):
        return None
    if compiler.place(row.words[0]) is not None:
        return None
    kind = compiler.type_of(row.words[0])
    assert isinstance(kind, PointerType)
    address = np.broadcast_to(frame.slots[compiler.slot(row.words[0])], lanes.shape)
    size = compiler.types.pointee(kind).size
    wrote = lanes & (address < point.address + point.size) & (address + size > point.address)
    buffer = frame.memory.buffer_at(point.address)
    if buffer is not None and buffer.row.extent is not Extent.LAUNCH and buffer.instances is not None:
        instance = np.broadcast_to(buffer.instances, lanes.shape)
        wrote = wrote & (instance == point.offset - frame.memory.offset_in(point.address))
    found = np.argwhere(wrote)
    return (int(found[-1][0]), int(found[-1][1])) if len(found) else None


def _matrix_writer(point: Watchpoint, frame: Frame, code: Code, lanes: Array) -> tuple[int, int] | None:
    """The lane that holds the element of a matrix that was stored to the address."""
    compiler, (pointer, matrix, layout, *more) = code.function.compiler, code.row.words
    kind = compiler.type_of(matrix)
    if not isinstance(kind, MatrixType) or kind.is_of_work_group or not more:
        return None
    unit = element_stride(compiler.types.pointee(compiler.type_of(pointer)))
    address = np.broadcast_to(frame.slots[compiler.slot(pointer)], lanes.shape)[:, 0]
    stride = np.broadcast_to(frame.slots[compiler.slot(more[0])], lanes.shape)[:, 0].astype(np.int64) * unit
    by_rows = compiler.constant(layout) == CooperativeMatrixLayout.RowMajorKHR
    distance = point.address - address
    for sub_group in np.flatnonzero(lanes.any(axis=1))[::-1]:
        if stride[sub_group] <= 0 or distance[sub_group] < 0:
            continue
        line, rest = divmod(int(distance[sub_group]), int(stride[sub_group]))
        row, column = (line, rest // kind.component.size) if by_rows else (rest // kind.component.size, line)
        if row < kind.rows and column < kind.columns:
            return int(sub_group), int(kind.layout.owner[0][row, column])
    return None
