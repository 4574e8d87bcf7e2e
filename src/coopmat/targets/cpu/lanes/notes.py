"""What became of a kernel's loops and accesses to memory, and why not something faster, in lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.targets.cpu.lanes.blocks import Blocks
from coopmat.targets.cpu.lanes.places import Places
from coopmat.targets.cpu.rounds import blocks_of_rests, reason_against


def notes(lanes: Blocks) -> Iterator[str]:
    """Of a kernel whose code is written."""
    yield from lanes.accesses.lines()
    yield from _loops(lanes)


def _loops(lanes: Blocks) -> Iterator[str]:
    """What became of each loop."""
    found, flat = Places(), lanes.emitter.flat
    rests = blocks_of_rests(flat)
    for loop in flat.flow.loops:
        label = flat.blocks[loop.head].label
        if loop.head in rests:  # told with the first rounds
            continue
        place = lanes.emitter.location_of(loop.head)
        if label in flat.full_rounds:
            found.add("loops without masks while all work-items are in them, then the rest with masks", place)
        elif loop.members.isdisjoint(lanes.known.divergent) and loop.head not in lanes.layout.partial:
            found.add("loops that all work-items of a sub-group run alike, without masks", place)
        elif _is_left_together(lanes, loop.head, loop.members):
            found.add("loops that all work-items run equally often, with masks in them or around them", place)
        else:
            found.add(f"loops with masks, as {reason_against(flat, loop)}", place)
    yield from found.lines()


def _is_left_together(lanes: Blocks, head: int, members: set[int]) -> bool:
    """Whether no branch out of a loop parts work-items."""
    successors = lanes.layout.flow.successors
    leaving = {block for block in members if any(target not in members for target in successors[block])}
    return leaving.isdisjoint(lanes.known.divergent) and head in lanes.layout.partial | members
