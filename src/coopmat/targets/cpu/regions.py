"""Where work-items of a sub-group part and meet again: divergent code, laid out in a row.

A block is *partial* if only a part of the sub-group may be in it: it lies between a divergent branch and the block
where all meet again that part there. Partial blocks have a mask each and stand in a row behind one another, in the
order that all targets share (``spirv.lock_step``); each is a check, which skips the block if nobody wants it, and a
body. A branch in a body adds its work-items to the masks of its targets; a latch that has sent work-items back to its
loop's head jumps there. So each block waits for all that can still come to it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.control_flow import RETURNED, Graph
from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.analysis.lock_step import Flow
from coopmat.support.cached import cached_property


@dataclass
class Layout:
    """How the blocks of a kernel stand in code.

    flow: the blocks and latches, and their order, in which values are defined before they are used. partial: those with
    a mask. following: of each of these the next one in its row, or the whole block that the row ends in, or RETURNED.
    """

    flow: Flow
    partial: frozenset[int]
    following: dict[int, int]

    @property
    def successors(self) -> Graph:
        """Of each block and latch."""
        return self.flow.successors

    @property
    def order(self) -> list[int]:
        """Every block and latch that can be reached."""
        return self.flow.order

    @property
    def place(self) -> dict[int, int]:
        """The position of a block in ``order``."""
        return self.flow.place

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


def lay_out(flow: Flow, divergent: Collection[int]) -> Layout:
    """The layout of a function in which the branches of the blocks ``divergent`` may send work-items to several
    targets."""
    successors, meetings = flow.successors, flow.meetings
    partial: set[int] = set()
    for block in divergent:
        partial |= _between(successors, block, meetings[block])
    following: dict[int, int] = {}
    last: dict[int, int] = {}
    for block in flow.order:
        if block in partial:
            end = _exit(block, meetings, partial)
            if end in last:
                following[last[end]] = block
            last[end] = block
    following |= {block: end for end, block in last.items()}
    return Layout(flow, frozenset(partial), following)


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
    """The whole block that all come to who are in a partial one."""
    while block in partial:
        block = meetings[block]
    return block
