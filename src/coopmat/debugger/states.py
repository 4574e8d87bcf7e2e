"""Who is where: what each work-item of a work-group does while the kernel stands still."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.debugger.activations import Activation
from coopmat.debugger.code import Line, line_of
from coopmat.debugger.engine import Engine
from coopmat.debugger.items import item_at, show_item
from coopmat.targets.simulator.values import Array


def states(engine: Engine) -> Array:
    """What each lane of the running batch does, in words: ``[S, L]`` of texts, empty where there is no work-item."""
    batch = engine.batch
    assert batch is not None
    found = np.where(batch.existing.expanded, "has ended", "").astype(object)
    inner = None
    for activation in engine.activations:
        if activation.frame is None or activation.code is None:
            continue
        if inner is not None:
            found[inner] = f"has returned from {activation.code.function.name}"
        for line, mask in _waiting(activation):
            found[mask] = f"waits at {line}" if line is not None else "waits"
        inner = activation.frame.mask.expanded
        found[inner] = f"is at {activation.code.place}"
    return found


def line_of_lane(activation: Activation, place: tuple[int, int]) -> tuple[Line | None, str]:
    """The line that a lane is at in an activation that it is in, or the one before if that has none, and what it does
    there, in words, if it does not come next: it waits, or the function is at its end."""
    frame, code = activation.frame, activation.code
    assert frame is not None
    assert code is not None
    if not frame.mask.expanded[place]:
        return next((line for line, mask in _waiting(activation) if mask[place]), None), "waits"
    if code.line is not None:
        return code.line, ""
    before = [one.line for one in code.function.codes[:code.index] if one.line is not None]
    return before[-1] if before else code.function.first_line, f"is at {code.place}"


def _waiting(activation: Activation) -> Iterator[tuple[Line | None, Array]]:
    """The lanes of an activation that wait for others, with the line that they will go on at."""
    frame, code = activation.frame, activation.code
    assert frame is not None
    assert code is not None
    function = code.function
    blocks = function.compiler.kernel.function(function.identifier).blocks
    for number, mask in frame.waiting.items():
        block = blocks[number]
        line = function.blocks.get(id(block.steps[-1])) if block.steps else None
        yield line or line_of(block.site.location), mask.expanded


def lines_of_lanes(engine: Engine) -> list[str]:
    """The states of the chosen work-item's work-group, by sub-group; work-items that do the same in one line."""
    batch, place = engine.batch, engine.place
    assert batch is not None
    first = (place[0] if place is not None else 0) // batch.sub_groups_per_group * batch.sub_groups_per_group
    found = states(engine)
    lines = [f"work-group {show_item(batch.work_group(first))}"]
    for sub_group in range(first, first + batch.sub_groups_per_group):
        lines.append(f"  sub-group {sub_group - first}")
        row = found[sub_group]
        start = 0
        for lane in range(1, batch.lanes + 1):
            if lane == batch.lanes or row[lane] != row[start]:
                if row[start]:
                    lines.append(_run(engine, sub_group, start, lane - 1, row[start]))
                start = lane
    return lines


def _run(engine: Engine, sub_group: int, first: int, last: int, state: str) -> str:
    batch = engine.batch
    assert batch is not None
    lanes = f"lane {first}" if first == last else f"lanes {first} to {last}"
    items = " to ".join(dict.fromkeys(show_item(item_at(batch, sub_group, lane)) for lane in (first, last)))
    chosen = engine.place is not None and engine.place[0] == sub_group and first <= engine.place[1] <= last
    return f"    {lanes}, {items}: {state}" + (f"; {show_item(engine.item)} is chosen" if chosen else "")
