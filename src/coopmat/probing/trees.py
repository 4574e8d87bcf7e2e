"""Summation trees: which terms of a dot product are added first, how that is written, and how it is found.

A leaf is the number of a product, ``k`` for p_k, or K for the accumulator C. An inner node adds its children at once
and rounds the sum. Written are trees like this: ``+`` adds one after the other, from left to right; ``{p0…p3}`` are
added in one step; parentheses hold a sum of its own.

    C + p0 + p1 + p2 + p3                 a chain
    C + {p0…p3} + {p4…p7}                 four products at a time, together with what there is
    C + ((p0 + p1) + (p2 + p3))           pairs first, C last
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SHOWN = 4  # steps of a regular sum that are written out


@dataclass(frozen=True, slots=True)
class Node:
    """A sum of two or more terms, rounded once."""

    children: tuple[Tree, ...]


Tree = int | Node
Losses = NDArray[np.int64]


def node(*children: Tree) -> Node:
    """A node with its children in the order of their first leaves."""
    return Node(tuple(sorted(children, key=leaves)))


def leaves(tree: Tree) -> list[int]:
    """The leaves, ascending."""
    return [tree] if isinstance(tree, int) else sorted(leaf for child in tree.children for leaf in leaves(child))


def nodes(tree: Tree) -> list[Node]:
    """All inner nodes."""
    return [] if isinstance(tree, int) else [tree, *(below for child in tree.children for below in nodes(child))]


def common(tree: Tree, terms: Iterable[int]) -> Node:
    """The node that adds the given terms, two or more, to each other."""
    wanted = set(terms)
    return min((found for found in nodes(tree) if wanted <= set(leaves(found))), key=lambda found: len(leaves(found)))


def are_together(tree: Tree, terms: Iterable[int]) -> bool:
    """Whether one node adds all these leaves."""
    return set(terms) <= set(common(tree, terms).children)


def chain(first: Tree, *groups: Sequence[Tree]) -> Tree:
    """The sum of the first term and of groups that are added to it one after the other, each at once."""
    result = first
    for group in groups:
        result = node(result, *group)
    return result


# --------------------------------------------------------------------------------------
# Text
# --------------------------------------------------------------------------------------


def text(tree: Tree, k: int) -> str:
    """The tree as the module's description says, for dot products of ``k`` products."""
    if isinstance(tree, int):
        return _name(tree, k)
    head, groups = _steps(tree, k)
    shown = [_group(group, k) for group in groups]
    if len(shown) > _SHOWN and _is_regular(groups):
        shown = [*shown[:2], "…", shown[-1]]
    return " + ".join([*([] if head is None else [_name(head, k)]), *shown])


def _steps(tree: Node, k: int) -> tuple[int | None, list[tuple[Tree, ...]]]:
    """C, where the sum begins with it, and the groups that are added one after the other."""
    head = _head(tree, k)
    if head is None:
        if len(tree.children) == 2:
            return None, [(child,) for child in tree.children]
        return None, [tree.children]
    rest = tuple(child for child in tree.children if child is not head)
    if isinstance(head, int):
        return (head, [rest]) if head == k else (None, [(head,), rest])
    first, groups = _steps(head, k)
    return first, [*groups, rest]


def _head(tree: Node, k: int) -> Tree | None:
    """The child that the others are added to."""
    for child in tree.children:
        if k in leaves(child):
            return child
    inner = [child for child in tree.children if isinstance(child, Node)]
    if not inner or len({len(leaves(child)) for child in tree.children}) == 1:
        return None
    return max(inner, key=lambda child: len(leaves(child)))


def _group(group: tuple[Tree, ...], k: int) -> str:
    if len(group) == 1:
        return _name(group[0], k) if isinstance(group[0], int) else f"({text(group[0], k)})"
    parts = [f"({text(child, k)})" for child in group if isinstance(child, Node)]
    return "{" + ", ".join([*_runs([child for child in group if isinstance(child, int)], k), *parts]) + "}"


def _runs(numbers: Sequence[int], k: int) -> list[str]:
    """Names of leaves; three or more in a row by the first and the last."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1 and number != k:
            found[-1].append(number)
        else:
            found.append([number])
    return [part for run in found for part in (
        [f"{_name(run[0], k)}…{_name(run[-1], k)}"] if len(run) > 2 else [_name(number, k) for number in run])]


def _name(leaf: int, k: int) -> str:
    return "C" if leaf == k else f"p{leaf}"


def _is_regular(groups: Sequence[tuple[Tree, ...]]) -> bool:
    """Whether each group is the first one moved on by the same number of products."""
    first, second = (leaves(Node(group))[0] for group in groups[:2])
    return all(group == tuple(_moved(child, index * (second - first)) for child in groups[0])
               for index, group in enumerate(groups))


def _moved(tree: Tree, by: int) -> Tree:
    return tree + by if isinstance(tree, int) else Node(tuple(_moved(child, by) for child in tree.children))


# --------------------------------------------------------------------------------------
# Reconstruction
# --------------------------------------------------------------------------------------


def reconstruct(losses: Losses) -> Tree | None:
    """The tree of which this is seen, None if none is found.

    losses: [n, n], symmetric; for each two terms, how many of the n terms do not count in the sum if these two are +M
        and -M, so large that the others vanish beside them.

    Where M and -M meet in a node, the terms below it are lost: all of them if the node drops what is small beside its
    largest term, or those below the two children that hold M and -M if the node adds exactly. So clusters are joined
    from the smallest losses to the largest, as of two leaves, of a whole node, or of two children of an exact node.
    """
    clusters: list[Tree] = list(range(len(losses)))
    while len(clusters) > 1:
        joined = _joined(clusters, losses)
        if joined is None:
            return None
        clusters = joined
    return clusters[0]


def _joined(clusters: list[Tree], losses: Losses) -> list[Tree] | None:
    """The clusters with those joined that are nearest to each other; None if that fits no tree."""
    held = [leaves(cluster) for cluster in clusters]
    between = np.array([[losses[np.ix_(one, other)].min() for other in held] for one in held])
    np.fill_diagonal(between, np.iinfo(np.int64).max)
    level = int(between.min())
    done: list[Tree] = []
    left = set(range(len(clusters)))
    while left:
        members = _connected(min(left), between == level)
        left -= members
        if len(members) == 1:
            done.append(clusters[members.pop()])
            continue
        found = _join([clusters[index] for index in sorted(members)], losses, level)
        if found is None:
            return None
        done.append(found)
    return done


def _connected(start: int, edges: NDArray[np.bool_]) -> set[int]:
    found, new = {start}, [start]
    while new:
        neighbours = set(np.flatnonzero(edges[new.pop()]).tolist()) - found
        found |= neighbours
        new += neighbours
    return found


def _join(members: list[Tree], losses: Losses, level: int) -> Tree | None:
    """The node of clusters that lose ``level`` terms between each other."""
    if sum(map(_size, members)) == level and _all_lose(members, losses, lambda _one, _other: level):
        return node(*members)
    if _is_exact(members, losses):
        return node(*members)
    for member in members:  # it may be a part of an exact node, whose children of one size were joined first
        if isinstance(member, Node):
            parts = [*(other for other in members if other is not member), *member.children]
            if _is_exact(parts, losses):
                return node(*parts)
    return None


def _is_exact(parts: list[Tree], losses: Losses) -> bool:
    return _all_lose(parts, losses, lambda one, other: _size(one) + _size(other))


def _size(tree: Tree) -> int:
    return len(leaves(tree))


def _all_lose(members: list[Tree], losses: Losses, expected: Callable[[Tree, Tree], int]) -> bool:
    return all(_lose(one, other, losses, expected(one, other))
               for index, one in enumerate(members) for other in members[:index])


def _lose(one: Tree, other: Tree, losses: Losses, expected: int) -> bool:
    return bool((losses[np.ix_(leaves(one), leaves(other))] == expected).all())
