"""Where work-items of a sub-group part and meet again: divergent code, laid out in a row.

A block is *partial* if only a part of the sub-group may be in it: it lies between a divergent branch and the branch's
immediate post-dominator. Partial blocks have a mask each and stand in a row behind one another; each is a check, which
skips the block if nobody wants it, and a body. A branch in a body adds its work-items to the masks of its targets; a
body that has sent work-items backwards jumps there. So each block waits for all that can still come to it, and
work-items meet again where the simulator has them meet.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from coopmat.spirv.control_flow import RETURNED, postorder
from coopmat.spirv.dominators import immediate_dominators

Graph = Sequence[Sequence[int]]


@dataclass
class Layout:
    """How the blocks of a kernel stand in code.

    order: every block that can be reached; values are defined before they are used.
    partial: the blocks with a mask. following: of each of these the next one in its row, or the whole block that the
    row ends in, or RETURNED. place: the position of a block in ``order``.
    """

    successors: Graph
    order: list[int]
    partial: frozenset[int]
    following: dict[int, int]

    @cached_property
    def place(self) -> dict[int, int]:
        return {block: position for position, block in enumerate(self.order)}

    def first_of(self, block: int, targets: Collection[int]) -> int:
        """Where control goes from a whole block whose work-items go to ``targets``: the partial block among them that
        comes first, else the only target."""
        partial = [target for target in targets if target in self.partial]
        return min(partial, key=self.place.__getitem__) if partial else next(iter(targets))

    @property
    def has_loops(self) -> bool:
        """Whether control may come to a block again."""
        return any(target in self.place and self.place[target] <= self.place[block]
                   for block in self.order for target in self.successors[block])

    def backward(self, block: int) -> list[int]:
        """The targets of a partial block that do not come after it."""
        return [target for target in dict.fromkeys(self.successors[block])
                if target in self.partial and self.place[target] <= self.place[block]]

    @cached_property
    def _dominators(self) -> dict[int, int]:
        """Immediate dominators in the code as it is laid out: node 2 b is block b, or the body of a partial one; node
        2 b + 1 its check."""
        graph: dict[int, list[int]] = {}

        def entry(block: int) -> list[int]:
            return [] if block == RETURNED else [2 * block + (block in self.partial)]

        for block in self.order:
            targets = self.successors[block]
            if block in self.partial:
                graph[2 * block + 1] = [2 * block, *entry(self.following[block])]
                graph[2 * block] = [node for target in (*self.backward(block), self.following[block])
                                    for node in entry(target)]
            else:  # a uniform branch goes to each of its targets, a divergent one to the first of them
                graph[2 * block] = [node for target in targets for node in entry(target)]
        sources: dict[int, list[int]] = {node: [] for node in graph}
        for node, targets in graph.items():
            for target in targets:
                sources[target].append(node)
        start = entry(self.order[0])[0]
        return immediate_dominators(start, graph.__getitem__, sources.__getitem__)

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """For each node when a walk over the dominator tree comes to it and leaves it."""
        children: dict[int, list[int]] = {}
        for node, parent in self._dominators.items():
            children.setdefault(parent, []).append(node)
        spans: dict[int, tuple[int, int]] = {}
        count = 0
        start = self.order[0] * 2 + (self.order[0] in self.partial)
        stack: list[tuple[int, bool]] = [(start, False)]
        begun: dict[int, int] = {}
        while stack:
            node, is_left = stack.pop()
            if is_left:
                spans[node] = (begun[node], count)
                continue
            begun[node] = count
            count += 1
            stack.append((node, True))
            stack += [(child, False) for child in children.get(node, ())]
        return spans

    def dominates(self, defining: int, using: int) -> bool:
        """Whether the code of one block always runs before that of another, so that its values are there."""
        above, below = self._spans.get(2 * defining), self._spans.get(2 * using)
        return above is not None and below is not None and above[0] <= below[0] < above[1]


def lay_out(successors: Graph, meetings: Sequence[int], divergent: Collection[int]) -> Layout:
    """The layout of a function in which the branches of the blocks ``divergent`` may send work-items to several
    targets; ``meetings`` are the immediate post-dominators."""
    reverse = list(reversed(list(postorder(0, successors))))
    partial: set[int] = set()
    for block in divergent:
        partial |= _between(successors, block, meetings[block])
    rank = {block: position for position, block in enumerate(reverse)}
    order = _in_rows(successors, meetings, partial, reverse, rank)
    exits = {block: _exit(block, meetings, partial) for block in partial}
    following: dict[int, int] = {}
    last: dict[int, int] = {}
    for block in order:
        if block in partial:
            if exits[block] in last:
                following[last[exits[block]]] = block
            last[exits[block]] = block
    following |= {block: end for end, block in last.items()}
    return Layout(successors, order, frozenset(partial), following)


def _between(successors: Graph, branch: int, meeting: int) -> set[int]:
    """The blocks that a branch leads to before all its ways meet."""
    found: set[int] = set()
    waiting = [target for target in successors[branch] if target != meeting]
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += [target for target in successors[block] if target != meeting]
    return found


def _exit(block: int, meetings: Sequence[int], partial: set[int]) -> int:
    """The first whole block that all ways from a partial block come to."""
    while block in partial:
        block = meetings[block]
    return block


def _in_rows(successors: Graph, meetings: Sequence[int], partial: set[int], reverse: list[int],
             rank: dict[int, int]) -> list[int]:
    """The blocks in an order in which a block comes after all those that lead to it, back edges aside; and the meeting
    of a partial branch after all blocks that the branch leads to before it."""
    before: dict[int, set[int]] = {block: set() for block in reverse}
    for block in reverse:
        for target in successors[block]:
            if rank[target] > rank[block]:
                before[target].add(block)
    reached = set(reverse)
    for block in partial & reached:
        meeting = meetings[block]
        if len(set(successors[block])) > 1 and meeting in partial:
            inside = _between(successors, block, meeting)
            if block not in _between(successors, meeting, RETURNED) or rank[meeting] > rank[block]:
                before[meeting] |= inside & reached - {meeting}
    return _sorted(before, rank)


def _sorted(before: dict[int, set[int]], rank: dict[int, int]) -> list[int]:
    """A topological order, near to ``rank``; where constraints form a circle, ``rank`` decides."""
    after: dict[int, list[int]] = {block: [] for block in before}
    missing = {}
    for block, needed in before.items():
        missing[block] = len(needed)
        for other in needed:
            after[other].append(block)
    ready = [(rank[block], block) for block, count in missing.items() if not count]
    ready.sort()
    order: list[int] = []
    done: set[int] = set()
    while len(order) < len(before):
        if ready:
            _, block = heappop(ready)
        else:
            block = min((one for one in before if one not in done), key=rank.__getitem__)
        if block in done:
            continue
        done.add(block)
        order.append(block)
        for other in after[block]:
            missing[other] -= 1
            if not missing[other] and other not in done:
                heappush(ready, (rank[other], other))
    return order

