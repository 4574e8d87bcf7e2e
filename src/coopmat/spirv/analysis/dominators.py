"""Immediate dominators in time O(m log n), whatever the graph (Lengauer and Tarjan 1979, simple version)."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def preorder(entry: int, successors: Callable[[int], Iterable[int]]) -> tuple[list[int], dict[int, int]]:
    """The nodes that can be reached in the order of a depth-first search, and the parent of each in its tree."""
    order: list[int] = []
    parent: dict[int, int] = {}
    stack = [(entry, entry)]
    while stack:
        node, before = stack.pop()
        if node not in parent:
            parent[node] = before
            order.append(node)
            stack.extend((following, node) for following in reversed(list(successors(node)))
                         if following not in parent)
    return order, parent


def immediate_dominators(entry: int, successors: Callable[[int], Iterable[int]],
                         predecessors: Callable[[int], Iterable[int]]) -> dict[int, int]:
    """The immediate dominator of each node that can be reached, ``entry`` itself left out."""
    order, tree_parent = preorder(entry, successors)
    number = {node: i for i, node in enumerate(order)}
    parent = [number[tree_parent[node]] for node in order]
    semi = list(range(len(order)))
    dominator = [0] * len(order)
    forest = _Forest(semi)
    bucket: dict[int, list[int]] = {}
    for w in range(len(order) - 1, 0, -1):
        for node in predecessors(order[w]):
            if node in number:
                semi[w] = min(semi[w], semi[forest.least(number[node])])
        bucket.setdefault(semi[w], []).append(w)
        forest.link(parent[w], w)
        for v in bucket.pop(parent[w], ()):
            u = forest.least(v)
            dominator[v] = u if semi[u] < semi[v] else parent[w]
    for w in range(1, len(order)):
        if dominator[w] != semi[w]:
            dominator[w] = dominator[dominator[w]]
    return {order[w]: order[dominator[w]] for w in range(1, len(order))}


class _Forest:
    """Trees of nodes whose semidominators are known, with compressed paths."""

    def __init__(self, semi: list[int]) -> None:
        self.semi = semi
        self.ancestor: list[int | None] = [None] * len(semi)
        self.label = list(range(len(semi)))

    def link(self, parent: int, node: int) -> None:
        """Hang the tree of ``node`` below ``parent``."""
        self.ancestor[node] = parent

    def least(self, node: int) -> int:
        """The node of least semidominator on the path from ``node`` to its root, the root left out."""
        if self.ancestor[node] is None:
            return self.label[node]
        path = []
        while (above := self.ancestor[node]) is not None and self.ancestor[above] is not None:
            path.append(node)
            node = above
        for below in reversed(path):
            above = self.ancestor[below]
            assert above is not None
            if self.semi[self.label[above]] < self.semi[self.label[below]]:
                self.label[below] = self.label[above]
            self.ancestor[below] = self.ancestor[above]
        return self.label[path[0]] if path else self.label[node]
