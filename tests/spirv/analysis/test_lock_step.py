"""The order of blocks in which work-items run in lock-step: by hand for small graphs, by its rules for random ones."""

from __future__ import annotations

from random import Random

import pytest

from coopmat.spirv.analysis.control_flow import RETURNED, postorder, predecessors_of
from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.analysis.lock_step import Flow, flow_of, kept_in_loops
from coopmat.spirv.module import Module


@pytest.mark.parametrize(("graph", "order", "meetings"), [
    ([[2, 1], [2, 3], [4], [4], []], [0, 1, 3, 2, 4], [4, 4, 4, 4, RETURNED]),  # if (0 || 1) 2; else 3;
    ([[1, 2], [3], [3, 4], [4], []], [0, 2, 1, 3, 4], [4, 3, 4, 4, RETURNED]),  # 1 and 2 jump to 3
    ([[1], [2, 3], [1], []], [0, 1, 2, 3], [1, 3, 3, RETURNED]),  # while (1) 2;
    ([[1], [2, 4], [1, 3], [1], []], [0, 1, 2, 3, 5, 4], [1, 4, 5, 5, RETURNED, 4]),  # 2 may continue
    ([[1], [4, 2], [3, 4], [1], []], [0, 1, 2, 3, 4], [1, 4, 4, 4, RETURNED]),  # 1 and 2 may break
    ([[1], [2], [2, 1, 3], []], [0, 1, 2, 4, 3], [1, 2, 3, RETURNED, 3]),  # two loops that end in 2
    ([[1, 2], [2], [1, 3], []], [0, 1, 2, 3], [2, 2, 3, RETURNED]),  # a loop with two entries
    ([[1], [3, 2], [1], []], [0, 1, 2, 3], [1, 3, 3, RETURNED]),
    ([[1, 2], [], []], [0, 2, 1], [RETURNED] * 3),
])
def test_small_graphs(graph: list[list[int]], order: list[int], meetings: list[int]) -> None:
    flow = flow_of(graph)
    assert flow.order == order
    assert flow.meetings == meetings


def random_graph(random: Random) -> list[list[int]]:
    count = random.randint(1, 10)
    return [[random.randrange(1, count) for _ in range(random.choice((0, 1, 2, 2, 3)))] if count > 1 else []
            for _ in range(count)]


def test_rules_for_random_graphs() -> None:
    """Ways lead forward, or from the last block of a loop to its head; loops stand together."""
    random = Random(1)
    for _ in range(2000):
        graph = random_graph(random)
        flow = flow_of(graph)
        place = flow.place
        assert flow.order[0] == 0
        assert place.keys() - range(len(graph)) == set(flow.latches.values())
        assert place.keys() & set(range(len(graph))) == set(postorder(0, graph))
        ends = {loop.head: max(loop.members, key=place.__getitem__) for loop in flow.loops}
        for loop in flow.loops:
            assert place[ends[loop.head]] - place[loop.head] == len(loop.members) - 1
            assert min(loop.members, key=place.__getitem__) == loop.head
        for block in flow.order:
            assert all(place[target] > place[block] or ends.get(target) == block for target in flow.successors[block])
        above = immediate_dominators(0, graph.__getitem__, predecessors_of(graph).__getitem__)
        assert all(place[above[block]] < place[block] for block in above)


def test_meetings_of_random_graphs() -> None:
    """Where all are together who parted at a block when all were there."""
    random = Random(2)
    for _ in range(2000):
        flow = flow_of(random_graph(random))
        meets: int | None = None
        for block, here, all_of_them in steps(flow, random):
            if block == meets:
                assert here == all_of_them
                meets = None
            if meets is None and here == all_of_them and flow.meetings[block] != RETURNED:
                meets = flow.meetings[block]


def steps(flow: Flow, random: Random, lanes: int = 4) -> list[tuple[int, int, int]]:
    """Which block runs next, for how many lanes, and how many there are: they choose at random."""
    waiting = {0: lanes}
    found: list[tuple[int, int, int]] = []
    while waiting and len(found) < 60:
        block = min(waiting, key=flow.place.__getitem__)
        here = waiting.pop(block)
        found.append((block, here, lanes))
        for _ in range(here if flow.successors[block] else 0):
            target = random.choice(flow.successors[block])
            waiting[target] = waiting.get(target, 0) + 1
    return found


LOOP = """
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %f "f"
%void = OpTypeVoid
%bool = OpTypeBool
%kind = OpTypeFunction %void
%true = OpConstantTrue %bool
%f = OpFunction %void None %kind
%l0 = OpLabel
OpBranch %l1
%l1 = OpLabel
OpLoopMerge {} {} None
OpBranchConditional %true %l2 %l7
%l2 = OpLabel
OpBranchConditional %true %l3 %l4
%l3 = OpLabel
OpBranch %l7
%l4 = OpLabel
OpBranchConditional %true %l5 %l6
%l5 = OpLabel
OpReturn
%l6 = OpLabel
OpBranch %l1
%l7 = OpLabel
OpReturn
OpFunctionEnd"""


@pytest.mark.parametrize(("merge", "latch", "kept"), [
    ("%l7", "%l6", [(3, 6), (5, 6)]), ("%l7", "%l3", []), ("%l6", "%l7", []), ("%l7", "%l1", [(3, 1), (5, 1)])])
def test_what_is_kept_in_a_loop(merge: str, latch: str, kept: list[tuple[int, int]]) -> None:
    """What is done before break and return, where the OpLoopMerge fits the graph."""
    (function,) = Module.from_text(LOOP.format(merge, latch)).functions
    assert list(kept_in_loops(function.blocks)) == kept


def test_what_stands_behind_the_merge_block_too_is_not_kept() -> None:
    """A function that returns from a loop, put in the place of its call: both ways go on with the caller's code."""
    text = LOOP.format("%l7", "%l6").replace("%l5 = OpLabel\nOpReturn", "%l5 = OpLabel\nOpBranch %l8").replace(
        "%l7 = OpLabel\nOpReturn", "%l7 = OpLabel\nOpBranch %l8\n%l8 = OpLabel\nOpReturn")
    (function,) = Module.from_text(text).functions
    assert list(kept_in_loops(function.blocks)) == [(3, 6), (5, 6)]
