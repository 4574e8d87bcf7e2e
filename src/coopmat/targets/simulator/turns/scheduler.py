"""Whose turn it is: sub-groups go on by themselves, and none that can go on is left out for ever.

The work-items of a sub-group run in lock-step as ever: of the blocks at which they wait the first one runs. A
sub-group goes on until the work-group meets at its next block, or until it has done a round of a loop in which it
waits for others. When all have come so far, they get another round; sub-groups that are at one block run together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coopmat.spirv.analysis.control_flow import RETURNED
from coopmat.targets.simulator.state import Frame, Mask, Site
from coopmat.targets.simulator.turns.deadlock import Poll, Progress, deadlock
from coopmat.targets.simulator.values import Array

if TYPE_CHECKING:
    from coopmat.targets.simulator.control import Function


@dataclass(frozen=True)
class Turns:
    """Where sub-groups let others go on, by the numbers of blocks. ``meetings``: blocks that begin with an instruction
    at which the work-group meets. ``latches``: blocks that end a round of a loop in which work-items wait, with how
    they see that they need not wait any more."""

    meetings: Mapping[int, Site]
    latches: Mapping[int, tuple[Poll, ...]]


def run(function: Function, frame: Frame, turns: Turns) -> None:
    """Run an activation of a function to its end; Deadlock if nobody can go on."""
    _Scheduler(function, frame, turns).run()


class _Scheduler:
    def __init__(self, function: Function, frame: Frame, turns: Turns) -> None:
        self.function, self.frame, self.turns = function, frame, turns
        self.waiting = frame.waiting
        self.waiting[0] = frame.mask
        self.had_turn = np.zeros(frame.batch.sub_groups, np.bool_)  # who has done a round of a loop in which it waits
        self.everybody = np.ones(frame.batch.sub_groups, np.bool_)
        self.progress = Progress()

    def run(self) -> None:
        frame, waiting = self.frame, self.waiting
        while waiting:
            block, chosen = self._next()
            mask = waiting.pop(block)
            if not chosen.all():
                mask, rest = mask.select(chosen[:, None]), mask.select(~chosen[:, None])
                if not rest.empty:
                    waiting[block] = rest
            frame.mask, frame.merge = mask, bool(waiting)
            successor = self.function.execute(block, frame)
            for target, lanes in [(successor, frame.mask)] if isinstance(successor, int) else successor:
                if target != RETURNED:
                    waiting[target] = waiting[target].union(lanes) if target in waiting else lanes

    def _next(self) -> tuple[int, Array]:
        """The block that runs now, and for which sub-groups."""
        block = next(iter(self.waiting))
        if len(self.waiting) == 1 and block not in self.turns.latches and block not in self.turns.meetings:
            return block, self.everybody
        while True:
            at = self._blocks()
            at_latch = np.isin(at, list(self.turns.latches))
            ready = (at >= 0) & ~(at_latch & self.had_turn)
            for block in self.turns.meetings.keys() & self.waiting.keys():
                ready &= (at != block) | self._has_met(self.waiting[block])
            if ready.any():
                break
            if not at_latch.any():  # who is missing at a meeting will not come: the operation says so
                ready = at >= 0
                break
            if self.progress.is_stuck(self.frame, at):
                raise deadlock(self.frame, at, self.turns.latches, self.turns.meetings)
            self.had_turn[:] = False
        block = int(at[ready].min())
        chosen = ready & (at == block)
        if block in self.turns.latches:
            self.had_turn |= chosen
        return block, chosen

    def _blocks(self) -> Array:
        """The block that each sub-group runs next, -1 if it has returned."""
        at = np.full(self.frame.batch.sub_groups, -1)
        for block in sorted(self.waiting, reverse=True):
            at[np.broadcast_to(self.waiting[block].some, at.shape)] = block
        return at

    def _has_met(self, mask: Mask) -> Array:
        """The sub-groups of which the whole work-group is here."""
        batch = self.frame.batch
        here = (mask.expanded | ~batch.existing.expanded).reshape(batch.group_count, -1).all(axis=1)
        return np.repeat(here, batch.sub_groups_per_group)
