"""Summation trees: how they are written, and that each is found again from what large terms make vanish."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from coopmat.probing.trees import Node, Tree, are_together, chain, common, leaves, node, reconstruct, text

PAIRS = node(node(0, 1), node(2, 3))
TREES = {
    "C + p0": node(0, 1),
    "C + p0 + p1": chain(2, [0], [1]),
    "C + p0 + p1 + … + p15": chain(16, *([leaf] for leaf in range(16))),
    "C + p3 + p2 + p1 + p0": chain(4, [3], [2], [1], [0]),
    "C + {p0…p3}": chain(4, range(4)),
    "C + {p0, p1}": chain(2, range(2)),
    "C + {p0…p3} + {p4…p7}": chain(8, range(4), range(4, 8)),
    "C + {p0…p3} + {p4…p7} + … + {p28…p31}": chain(32, *(range(k, k + 4) for k in range(0, 32, 4))),
    "C + ({p0…p3})": node(4, Node((0, 1, 2, 3))),
    "C + ((p0 + p1) + (p2 + p3))": node(4, PAIRS),
    "C + (p0 + p1 + p2 + p3)": node(4, chain(0, [1], [2], [3])),
    "C + ((p0 + p2 + p4) + (p1 + p3 + p5))": node(6, node(chain(0, [2], [4]), chain(1, [3], [5]))),
    "C + ((p0 + p2 + … + p10) + (p1 + p3 + … + p11))": node(
        12, node(chain(0, *([leaf] for leaf in range(2, 12, 2))), chain(1, *([leaf] for leaf in range(3, 12, 2))))),
    "C + {p0, p2} + {p1, p3}": chain(4, [0, 2], [1, 3]),
    "C + {p4, (p0 + p1), (p2 + p3)}": node(5, node(0, 1), node(2, 3), 4),
}


@pytest.mark.parametrize("written", TREES)
def test_text(written: str) -> None:
    tree = TREES[written]
    assert text(tree, len(leaves(tree)) - 1) == written


def test_irregular_chains_are_written_in_full() -> None:
    assert text(chain(6, [0], [1], [3], [2], [4], [5]), 6) == "C + p0 + p1 + p3 + p2 + p4 + p5"


def test_the_node_that_adds_terms() -> None:
    tree = chain(4, [0, 1], [2, 3])
    assert leaves(common(tree, (0, 4))) == [0, 1, 4]
    assert leaves(common(tree, (0, 2))) == [0, 1, 2, 3, 4]
    assert are_together(tree, (0, 1, 4))
    assert not are_together(tree, (0, 2))


def losses(tree: Tree, exact: frozenset[Node] | bool) -> np.ndarray:
    """By the definition: ones everywhere but two terms M and -M; a node drops all ones beside an M, or adds exactly and
    then drops them if an M is left."""
    found = leaves(tree)
    result = np.zeros((len(found), len(found)), np.int64)

    def value(part: Tree, large: dict[int, int]) -> tuple[int, int]:
        """(multiples of M, ones)."""
        if isinstance(part, int):
            return (large[part], 0) if part in large else (0, 1)
        values = [value(child, large) for child in part.children]
        big, ones = sum(one for one, _ in values), sum(count for _, count in values)
        is_exact = exact if isinstance(exact, bool) else part in exact
        has_large = big != 0 if is_exact else any(one for one, _ in values)
        return big, 0 if has_large else ones

    for one, other in combinations(found, 2):
        result[one, other] = result[other, one] = len(found) - value(tree, {one: 1, other: -1})[1]
    return result


def random_tree(rng: np.random.Generator, parts: list[Tree], most: int) -> Tree:
    """A tree over the given parts, with up to ``most`` children of a node."""
    while len(parts) > 1:
        count = min(len(parts), int(rng.integers(2, most + 1)))
        chosen = sorted(rng.choice(len(parts), count, replace=False).tolist(), reverse=True)
        parts.append(node(*(parts.pop(index) for index in chosen)))
    return parts[0]


@pytest.mark.parametrize(("most", "exact"), [(2, False), (3, False), (6, False), (20, False), (2, True), (3, True)])
def test_every_tree_is_found_again(most: int, exact: bool) -> None:
    rng = np.random.default_rng((most, exact))
    for _ in range(60):
        tree = random_tree(rng, list(range(int(rng.integers(2, 20)))), most)
        found = reconstruct(losses(tree, exact))
        assert found is not None
        np.testing.assert_array_equal(losses(found, exact), losses(tree, exact))
        assert exact or found == tree  # exact nodes of two terms may be seen in more than one way


@pytest.mark.parametrize("written", TREES)
@pytest.mark.parametrize("exact", [False, True])
def test_usual_trees_are_found_again(written: str, exact: bool) -> None:
    assert reconstruct(losses(TREES[written], exact)) == TREES[written]


def test_what_fits_no_tree() -> None:
    found = losses(chain(4, [0], [1], [2], [3]), False)
    found[0, 1] = found[1, 0] = 5
    assert reconstruct(found) is None
