"""The order in which work-items that run in lock-step take a function's blocks: where they part and meet again.

SPIR-V says where work-items meet again only for structured control flow. All targets have one rule for any graph: of
the blocks at which work-items wait, the first one in ``Flow.order`` runs, for all that wait there. In that order

- a block stands behind all blocks that lead to it, so that it waits for everybody who can still come;
- the blocks of a loop stand together, its head first, so that what follows the loop waits until all have left it;
- a way back to the head ends at the loop's *latch*, its last block, so that the next round waits for everybody who is
  still in this one. Where several blocks lead back, a latch is added: an empty block that leads to the head;
- what a loop with an OpLoopMerge does before it is left by break or return belongs to its round. Without one it stands
  behind the loop: the graph alone does not say where such a way out begins.

In a loop that has several entries the head is the one that a depth-first search finds first; who enters elsewhere runs
from there to the latch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.control_flow import (
    RETURNED,
    Edges,
    Graph,
    post_dominators,
    postorder,
    predecessors_of,
    successors_of,
)
from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Block
from coopmat.support.cached import cached_property

RETURNS = frozenset({Op.Return, Op.ReturnValue})
Edge = tuple[int, int]


@dataclass
class Loop:
    """Blocks that reach each other; all ways back to the head are ends of a round."""

    head: int
    members: set[int]


@dataclass
class Flow:
    """The blocks of a function in the order in which they are run.

    successors: of each block; behind the function's own blocks stand the latches that were added. order: the blocks
    that can be reached. latches: the added latch on the way from a block back to a head.
    """

    successors: list[list[int]]
    order: list[int]
    loops: list[Loop]
    latches: dict[Edge, int]

    @cached_property
    def place(self) -> dict[int, int]:
        """The position of each block in the order."""
        return {block: position for position, block in enumerate(self.order)}

    def way(self, block: int, target: int) -> int:
        """Where work-items wait that a block sends to another one."""
        return self.latches.get((block, target), target)

    @cached_property
    def meetings(self) -> list[int]:
        """For each block the next one at which all meet again that part at it, or RETURNED.

        That is its post-dominator, if a new round counts as the loop's end: who waits for it may come from there to
        wherever the loop is left, and nobody waits in the loop for those who do another round.
        """
        end = len(self.successors)
        graph = [list(found) for found in self.successors]
        for loop in self.loops:
            left = dict.fromkeys(target for block in loop.members for target in self.successors[block] or [end]
                                 if target not in loop.members)
            for block in loop.members:
                if loop.head in graph[block]:
                    graph[block].remove(loop.head)
                    graph[block] += left
        found = post_dominators([*graph, []])
        return [RETURNED if block == end else block for block in found[:end]]


def nest_of(successors: Graph, kept: Iterable[Edge] = ()) -> tuple[list[int], list[Loop]]:
    """The order of a function's blocks and its loops, outer ones first, without added latches; takes what ``flow_of``
    takes."""
    return _in_order(_ways(successors, kept))


def _ways(graph: Graph, kept: Iterable[Edge]) -> list[list[int]]:
    ways = [list(dict.fromkeys(found)) for found in graph]
    for block, target in kept:
        ways[block].append(target)
    return ways


def flow_of(successors: Graph, kept: Iterable[Edge] = ()) -> Flow:
    """How to run a function: its graph, and what ``kept_in_loops`` gives for it."""
    graph = [list(dict.fromkeys(found)) for found in successors]
    ways = _ways(graph, kept)
    order, loops = _in_order(ways)
    latches = _latches(ways, order, loops)
    for found in (graph, ways):
        for (block, head), latch in latches.items():
            found[block] = [latch if target == head else target for target in found[block]]
        found += [[head] for head in dict.fromkeys(head for _, head in latches)]
    if latches:
        order, loops = _in_order(ways)
    return Flow(graph, order, loops, latches)


def _latches(graph: Graph, order: Sequence[int], loops: Sequence[Loop]) -> dict[Edge, int]:
    """The latches to add, by the ways back on which they stand: for loops whose rounds do not all end in their last
    block, or in one that is also the last of a loop inside."""
    place = {block: position for position, block in enumerate(order)}
    innermost = {block: loop.head for loop in loops for block in loop.members}
    found: dict[Edge, int] = {}
    count = len(graph)
    for loop in loops:
        sources = [block for block in loop.members if loop.head in graph[block]]
        last = max(loop.members, key=place.__getitem__)
        if sources != [last] or innermost[last] != loop.head:
            found |= {(block, loop.head): count for block in sources}
            count += 1
    return found


def _in_order(graph: Graph) -> tuple[list[int], list[Loop]]:
    """The blocks that can be reached in the order described above, and their loops, outer ones first."""
    order: list[int] = []
    loops: list[Loop] = []
    waiting = [Loop(0, set(postorder(0, graph)))]
    while waiting:
        part = waiting.pop()
        order.append(part.head)
        if any(part.head in graph[block] for block in part.members):
            loops.append(part)
        if len(part.members) > 1:
            waiting += reversed(list(_inside(part, graph)))
    return order, loops


def _inside(loop: Loop, graph: Graph) -> Iterator[Loop]:
    """What is left of a loop without its head: its strongly connected parts, each behind those that lead to it.

    Blocks that return come as early as they can: the others then have the function for themselves.
    """
    edges = {block: sorted((target for target in graph[block] if target in loop.members and target != loop.head),
                           key=lambda target: not graph[target]) for block in loop.members}
    backwards: dict[int, list[int]] = {block: [] for block in loop.members}
    for block, found in edges.items():
        for target in found:
            backwards[target].append(block)
    done = {loop.head}
    for block in reversed(list(postorder(loop.head, edges))):
        if block not in done:
            part = _reached(block, backwards, lambda other: other not in done)
            done.update(part)
            yield Loop(block, part)


def _reached(start: int, edges: Edges, may_enter: Callable[[int], bool]) -> set[int]:
    """The blocks that are reached from ``start``, through those that may be entered."""
    found = {start}
    waiting = [start]
    while waiting:
        for target in edges[waiting.pop()]:
            if target not in found and may_enter(target):
                found.add(target)
                waiting.append(target)
    return found


def kept_in_loops(blocks: Sequence[Block]) -> Iterator[Edge]:
    """What a loop with an OpLoopMerge does before it is left by break or return, as ways that stay in the loop: from
    a block that leaves it to the loop's continue target."""
    number = {block.label: index for index, block in enumerate(blocks)}
    merges = {head: [number[label] for label in row.words[:2]] for head, block in enumerate(blocks)
              for row in block.instructions[-2:-1] if row.opcode == Op.LoopMerge and number.keys() >= {*row.words[:2]}}
    if not merges:
        return
    graph = successors_of(blocks)
    entered = set(postorder(0, graph))
    sources = [[block for block in found if block in entered] for found in predecessors_of(graph)]
    below: list[list[int]] = [[] for _ in blocks]
    for block, above in immediate_dominators(0, graph.__getitem__, sources.__getitem__).items():
        below[above].append(block)
    for head, (merge, target) in merges.items():
        behind = _reached(merge, graph, head.__ne__)
        body = _reached(head, below, lambda block, behind=behind: block not in behind)  # type: ignore[misc]
        for block in sorted(_leaving(head, target, body, graph, sources)):
            if not body.issuperset(graph[block]) or blocks[block].terminator.opcode in RETURNS:
                yield block, target


def _leaving(head: int, target: int, body: set[int], graph: Graph, sources: Graph) -> set[int]:
    """The blocks of a loop from which nobody comes back to its head, and that are not behind its continue target.

    Kernels may have any OpLoopMerge. None are found for those that do not say what the graph is: the loop is entered
    at its head only, and each round goes through the continue target once. So the kept ways make no other loops.
    """
    rounds = _reached(head, sources, body.__contains__)
    behind = set() if target == head else _reached(target, graph, (body - {head}).__contains__)
    is_loop = target in rounds and any(head in graph[block] for block in rounds)
    is_entered_at_head = all(body.issuperset(sources[block]) for block in body - {head})
    is_passed_once = not any(target in graph[block] for block in behind)
    return body - rounds - behind if is_loop and is_entered_at_head and is_passed_once else set()
