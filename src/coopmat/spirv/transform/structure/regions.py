"""The loops of a function, one inside another, and for each of them what a round of it runs, in order.

The function itself counts as a loop of one round. A region's *items* are its blocks and the loops directly inside; who
is in it comes from item to item until he leaves the region or comes back to its head, so that the items have an order
in which each stands behind all that lead to it (:mod:`coopmat.spirv.analysis.lock_step`), and a tree of dominators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from coopmat.spirv.analysis.control_flow import Graph, successors_of
from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.analysis.lock_step import kept_in_loops, nest_of
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block

OUTSIDE = -1
"""Stands for what leads into a region, and is the head of a function, to which nobody comes back."""


@dataclass
class Region:
    """A loop or the whole function.

    entries: the blocks at which rounds may begin, the head among them. item_of: the item that each block is or is in,
    by the number of the block or of the loop's head. children: what each item dominates immediately, in order; of
    OUTSIDE, where the region begins. sources: the items that lead to an item. passed: the items from which, or from
    what they dominate, control comes to items of the region that they do not dominate.
    """

    head: int
    members: set[int]
    entries: set[int] = field(default_factory=set)
    inner: dict[int, Region] = field(default_factory=dict)
    item_of: dict[int, int] = field(default_factory=dict)
    children: dict[int, list[int]] = field(default_factory=dict)
    sources: dict[int, set[int]] = field(default_factory=dict)
    passed: set[int] = field(default_factory=set)

    def holds(self, target: int) -> bool:
        """Whether a block lies ahead in the same round."""
        return target in self.members and target != self.head

    def starts(self, item: int) -> set[int]:
        """The blocks at which an item is entered."""
        return self.inner[item].entries if item in self.inner else {item}


def region_of(blocks: Sequence[Block]) -> tuple[Region, Graph]:
    """A function as a region, and its graph."""
    graph = [list(dict.fromkeys(found)) for found in successors_of(blocks)]
    order, loops = nest_of(graph, kept_in_loops(blocks))
    function = Region(OUTSIDE, set(order), {order[0]})
    innermost = dict.fromkeys(order, function)
    regions = [function]
    for loop in loops:
        region = Region(loop.head, loop.members, {loop.head})
        innermost[loop.head].inner[loop.head] = region
        innermost |= dict.fromkeys(loop.members, region)
        regions.append(region)
    place = {block: position for position, block in enumerate(order)}
    for region in regions:
        _connect(region, graph, place)
    return function, graph


def has_loops_of_several_entries(module: Module) -> bool:
    """Whether rounds of a loop may begin at more than one block, which not every driver's compiler can do."""
    def found(region: Region) -> bool:
        return any(len(loop.entries) > 1 or found(loop) for loop in region.inner.values())

    return any(found(region_of(function.blocks)[0]) for function in module.functions if function.blocks)


def _connect(region: Region, graph: Graph, place: dict[int, int]) -> None:
    """Find entries of the loops inside, the items and how they lead to each other."""
    region.item_of = {block: block for block in region.members}
    for head, loop in region.inner.items():
        region.item_of |= dict.fromkeys(loop.members, head)
    items = sorted(set(region.item_of.values()), key=place.__getitem__)
    following: dict[int, set[int]] = {item: set() for item in items}
    region.sources = {item: set() for item in items}
    following[OUTSIDE] = {region.item_of[block] for block in region.entries}
    for item in following[OUTSIDE]:
        region.sources[item].add(OUTSIDE)
    for block in region.members:
        item = region.item_of[block]
        for target in filter(region.holds, graph[block]):
            other = region.item_of[target]
            if other != item:
                following[item].add(other)
                region.sources[other].add(item)
                if other in region.inner:
                    region.inner[other].entries.add(target)
    for block in region.entries:
        if region.item_of[block] in region.inner:
            region.inner[region.item_of[block]].entries.add(block)
    parent = immediate_dominators(OUTSIDE, lambda item: sorted(following[item], key=place.__getitem__),
                                  lambda item: region.sources.get(item, ()))
    for item in items:
        region.children.setdefault(parent[item], []).append(item)
    region.passed = _passed(items, parent, following)


def _passed(items: Sequence[int], parent: dict[int, int], following: dict[int, set[int]]) -> set[int]:
    depth = {OUTSIDE: 0}
    for item in items:
        depth[item] = depth[parent[item]] + 1
    highest = {item: min((depth[parent[other]] for other in following[item]), default=depth[item]) for item in items}
    for item in reversed(items):
        if parent[item] != OUTSIDE:
            highest[parent[item]] = min(highest[parent[item]], highest[item])
    return {item for item in items if highest[item] < depth[item]}
