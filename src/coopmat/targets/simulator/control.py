"""Running a function: basic blocks in lock-step, divergence and reconvergence.

Of the blocks at which lanes wait the first one in the function's order runs, for all lanes that wait
there (``spirv.lock_step`` says what that order is and where lanes meet again by it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coopmat.diagnostics import SimulationError, UndefinedBehavior, ValidationError
from coopmat.spirv.analysis.control_flow import RETURNED, postorder, predecessors_of
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.module.malformed import MALFORMED
from coopmat.targets.simulator.definedness.marks import Mark, return_mark, take_marks
from coopmat.targets.simulator.state import RESULT, Batch, Frame, LoopSite, Mask, Site, Step
from coopmat.targets.simulator.turns.scheduler import Turns, run
from coopmat.targets.simulator.values import Array, Value, blend

Sides = list[tuple[int, Mask]]
Successor = Callable[[Frame], "int | Sides"]


@dataclass
class Block:
    """A compiled basic block. ``next`` gives the one successor, or, if lanes part, all sides."""

    steps: tuple[Step, ...]
    next: Successor
    site: Site


@dataclass
class Function:
    """A compiled function: ``blocks`` in the order in which they run when lanes have parted, the entry
    first; ``template`` holds the constants by slot.
    """

    name: str
    template: list[Value]
    parameters: tuple[int, ...]
    blocks: list[Block]
    undefined: dict[int, Mark] = field(default_factory=dict)  # constants of which nothing is defined
    turns: Turns | None = None  # where sub-groups let others go on, if they wait for each other
    loops: tuple[LoopSite, ...] = ()  # smaller ones first

    def call(self, batch: Batch, mask: Mask, arguments: Sequence[Value]) -> Value:
        """Run one activation for the lanes of ``mask`` and give back what it returns."""
        return self.call_marked(batch, mask, arguments, {})[0]

    def call_marked(self, batch: Batch, mask: Mask, arguments: Sequence[Value],
                    marks: Mapping[int, Mark]) -> tuple[Value, Mark | None]:
        """The same with what is undefined of arguments, by their positions, and of the result."""
        frame = Frame(batch, self.template.copy(), mask)
        for slot, argument in zip(self.parameters, arguments, strict=True):
            frame.slots[slot] = argument
        if batch.definedness is not None:
            frame.undefined = {**self.undefined, **{self.parameters[number]: mark for number, mark in marks.items()}}
        if self.turns is not None:
            run(self, frame, self.turns)
        else:
            self._run(frame)
        return frame.result, frame.undefined.get(RESULT)

    def _run(self, frame: Frame) -> None:
        waiting = frame.waiting
        together: Mask | None = None  # who parted when nobody waited, if none of them has returned
        block = 0
        while True:
            successor = self.execute(block, frame)
            if isinstance(successor, int):
                if not waiting:
                    if successor == RETURNED:
                        return
                    block = successor
                    continue
                if successor == RETURNED:
                    together = None
                else:
                    _wait(waiting, successor, frame.mask)
            else:
                if not waiting:
                    together = frame.mask
                for target, mask in successor:
                    _wait(waiting, target, mask)
            block = min(waiting)
            frame.mask = waiting.pop(block)
            frame.merge = bool(waiting)
            if not waiting and together is not None:
                frame.mask = together  # what is derived from this mask is known already

    def execute(self, block: int, frame: Frame) -> int | Sides:
        """Run a block for the lanes of the frame's mask; what comes next."""
        code = self.blocks[block]
        try:
            for step in code.steps:
                step(frame)
            successor = code.next(frame)
            frame.batch.counter.count(frame, code.site)
        except SimulationError as error:
            found = frame.batch.counter.in_loop(error, frame, block, [one.site for one in self.blocks], self.loops)
            try:
                if found is error:
                    raise
                raise found from None
            finally:
                del found  # whose traceback has this frame, and with it the launch's memory
        except MALFORMED as error:
            place = f" at {code.site.location}" if code.site.location else ""
            raise ValidationError("operand-type", f"an instruction of function '{self.name}', in the block"
                                  f"{place}, does not fit its operands: {error}") from error
        return successor


def _wait(waiting: dict[int, Mask], block: int, mask: Mask) -> None:
    """Let the lanes of a mask wait at a block, with those that wait there."""
    waiting[block] = waiting[block].union(mask) if block in waiting else mask


# --------------------------------------------------------------------------------------
# Terminators
# --------------------------------------------------------------------------------------


@dataclass
class Edge:
    """The way to a successor block: where it leads, and which values that block's phi instructions take over."""

    target: int
    phis: tuple[tuple[int, int, Type], ...] = ()  # (slot of the phi, slot of the value, type)

    def take(self, frame: Frame) -> int:
        """Carry out the phi instructions, all at once, for the lanes of the frame's mask."""
        if self.phis:
            if frame.undefined:
                take_marks(frame, self.phis)
            slots = frame.slots
            values = [slots[source] for _, source, _ in self.phis]
            for (slot, _, kind), value in zip(self.phis, values, strict=True):
                slots[slot] = blend(kind, frame.mask.lanes, value, slots[slot]) if frame.merge else value
        return self.target


def branch(edge: Edge) -> Successor:
    """OpBranch."""
    if edge.phis:
        return edge.take
    target = edge.target
    return lambda frame: target


def _part(frame: Frame, sides: list[tuple[Edge, Mask]]) -> int | Sides:
    """Send each side's lanes over its edge; sides without lanes are left out."""
    sides = [side for side in sides if not side[1].empty]
    if len(sides) == 1:
        return sides[0][0].take(frame)
    mask, merge = frame.mask, frame.merge
    frame.merge = True
    together: dict[int, Mask] = {}
    for edge, lanes in sides:
        frame.mask = lanes
        target = edge.take(frame)
        _wait(together, target, lanes)
    frame.mask, frame.merge = mask, merge
    return list(together.items()) if len(together) > 1 else target


def branch_conditional(condition: int, true: Edge, false: Edge) -> Successor:
    """OpBranchConditional on the boolean in slot ``condition``."""

    def choose(frame: Frame) -> int | Sides:
        value: Array = frame.slots[condition]
        if value.size == 1:
            return true.take(frame) if value.item() else false.take(frame)
        active = frame.mask.active(value)
        if active.all():
            return true.take(frame)
        if not active.any():
            return false.take(frame)
        return _part(frame, [(true, frame.mask.select(value)), (false, frame.mask.select(~value))])

    return choose


def switch(selector: int, cases: dict[int, Edge], default: Edge) -> Successor:
    """OpSwitch on the integer in slot ``selector``; the keys of ``cases`` are signed."""

    def choose(frame: Frame) -> int | Sides:
        value: Array = frame.slots[selector]
        found = np.unique(frame.mask.active(value)).tolist()
        if len(found) == 1:
            return cases.get(found[0], default).take(frame)
        sides = [(cases[literal], frame.mask.select(value == literal)) for literal in found if literal in cases]
        others = frame.mask.select(~np.isin(value, list(cases)))
        return _part(frame, [*sides, (default, others)])

    return choose


def return_void(frame: Frame) -> int:
    """OpReturn."""
    return RETURNED


def return_value(slot: int, kind: Type) -> Successor:
    """OpReturnValue; lanes that returned before keep their result."""

    def leave(frame: Frame) -> int:
        value = frame.slots[slot]
        if frame.undefined:
            return_mark(frame, slot, kind)
        if frame.result is not None:
            value = blend(kind, frame.mask.lanes, value, frame.result)
        frame.result = value
        return RETURNED

    return leave


def unreachable(site: Site) -> Successor:
    """OpUnreachable: an error for whoever comes here."""

    def fail(frame: Frame) -> int:
        sub_group, lane = frame.mask.first
        raise UndefinedBehavior("the end of code that must not be reached (OpUnreachable)",
                                site.where(frame, sub_group, lane))

    return fail


# --------------------------------------------------------------------------------------
# Source lines
# --------------------------------------------------------------------------------------


def give_lines(blocks: Sequence[Block], successors: Sequence[Sequence[int]], line: str | None) -> None:
    """Give each block without a source line the one of a block near by.

    That is the nearest block of its innermost loops, or else the last one before it in the function;
    before all of them it is ``line``, the function's.
    """
    known = [block.site.location for block in blocks]
    for number, block in enumerate(blocks):
        line = known[number] or line
        if known[number] is None:
            lines = (known[other] for other in _loop_of(number, successors)) if any(known) else iter(())
            block.site = replace(block.site, location=next(filter(None, lines), line))


def _loop_of(block: int, successors: Sequence[Sequence[int]]) -> Iterator[int]:
    """The blocks that ``block`` reaches and that reach it, in the order of their distance from it."""
    back = set(postorder(block, predecessors_of(successors)))
    waiting, seen = [block], {block}
    for reached in waiting:
        if reached in back:
            yield reached
        for target in successors[reached]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
