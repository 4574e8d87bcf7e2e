"""Stops and memory in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coopmat.debugger.code import Line
from coopmat.debugger.engine import Engine
from coopmat.debugger.evaluation import evaluate
from coopmat.debugger.expressions import Node
from coopmat.debugger.items import show_item
from coopmat.debugger.points import Change, Stop
from coopmat.debugger.scope import Known, Scope
from coopmat.debugger.showing import Format, show
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, PointerType, VectorType
from coopmat.targets.simulator.memory import element_stride

PER_LINE = 8  # elements of memory
MOST = 4096


def stop_lines(engine: Engine, stop: Stop, last_function: str | None) -> list[str]:
    """Where and why the kernel stopped; with the line's text."""
    if stop.reason == "end":
        return [f"the kernel has ended after {stop.clock} instructions"]
    lines = [stop_head(engine, stop)] if stop.reason != "step" or stop.function != last_function else []
    if stop.error is not None:
        lines = [f"error: {stop.error}", *lines]
    lines += [line for change in stop.changes for line in change_lines(change)]
    if stop.trouble and stop.breakpoint is not None:
        lines.append(f"the condition of breakpoint {stop.breakpoint.number} has no value: {stop.trouble}")
    return [*lines, *source_lines(engine, stop.line)]


def stop_head(engine: Engine, stop: Stop) -> str:
    """Why and where the kernel stopped, and who is there."""
    reason = f"breakpoint {stop.breakpoint.number}, " if stop.breakpoint is not None else {
        "watchpoint": f"watchpoint {', '.join(str(change.watchpoint.number) for change in stop.changes)}, ",
        "start": "start, ", "interrupt": "interrupted, ", "finish": "returned, "}.get(stop.reason, "")
    place = stop.code.place if stop.code is not None else "its start"
    return f"{reason}{stop.function or 'the kernel'} at {place}{_who(engine, stop)}"


def _who(engine: Engine, stop: Stop) -> str:
    """The chosen work-item if it is here, and how many others are."""
    if stop.lanes is None:
        return f", work-item {show_item(engine.item)}"
    count = int(stop.lanes.sum())
    if engine.place is None or not stop.lanes[engine.place]:
        return f": {count} {'work-item is' if count == 1 else 'work-items are'} here, {show_item(engine.item)} is not"
    others = "" if count == 1 else f" and {count - 1} {'other' if count == 2 else 'others'}"
    return f", work-item {show_item(engine.item)}{others}"


def change_lines(change: Change) -> list[str]:
    """What a watchpoint has seen."""
    line = f" at {change.line}" if change.line is not None else ""
    return [f"{change.watchpoint.expression}: {change.old} -> {change.new}, written{line} by {change.writer}"]


def source_lines(engine: Engine, line: Line | None) -> list[str]:
    """A line of the source with its number, if its text is known."""
    text = engine.launch.text_of(line.file) if line is not None else None
    if line is None or text is None:
        return []
    lines = text.splitlines()
    return [f"{line.number:>5}  {lines[line.number - 1]}"] if line.number <= len(lines) else []


def memory_lines(engine: Engine, node: Node, count: int, how: Format) -> list[str]:
    """``count`` elements of memory, from what a pointer points to, or from an element or an array on."""
    stack = engine.stack()
    if not stack or not engine.has_state:
        raise Error("the kernel does not stand anywhere where this work-item has memory")
    if not 1 <= count <= MOST:
        raise Error(f"memory shows 1 to {MOST} elements; found {count}")
    scope = engine.scope(stack[0])
    known = _start(node, scope)
    stride, place = element_stride(known.kind), engine.place
    assert place is not None
    assert known.address is not None
    address = int(np.broadcast_to(known.address, scope.lanes.shape)[place])
    lines = []
    for first in range(0, count, PER_LINE):
        elements = [scope.load(replace(known, address=np.full((1, 1), address + index * stride)))
                    for index in range(first, min(first + PER_LINE, count))]
        where = scope.frame.memory.describe(address + first * stride, known.kind.size)
        lines.append(f"{where}: {', '.join(show(element, scope, place, how) for element in elements)}")
    return lines


def _start(node: Node, scope: Scope) -> Known:
    """The first element."""
    known = evaluate(node, scope)
    if isinstance(known.kind, PointerType):
        known = scope.pointed(scope.load(known))
    if known.address is None:
        raise Error(f"{node} is not in memory")
    while isinstance(known.kind, ArrayType | VectorType):
        part = known.kind.element if isinstance(known.kind, ArrayType) else known.kind.component
        type_id = scope.module.definition(known.type_id).words[0] if known.type_id else None
        known = replace(known, kind=part, type_id=type_id)
    return known
