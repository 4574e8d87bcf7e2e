"""The graph of a function's blocks: successors, orders, dominators and post-dominators.

Blocks are numbered in the function's order; a graph is the list of each block's successors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.grammar import ID_KINDS, Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction

RETURNED = -1
"""The "block" that a returning work-item goes to."""

Graph = Sequence[Sequence[int]]
Edges = Graph | Mapping[int, Sequence[int]]


def targets(block: Block) -> list[int]:
    """The labels that a block may branch to."""
    row = block.terminator
    if row.opcode == Op.Branch:
        return [row.words[0]]
    if row.opcode == Op.BranchConditional:
        return list(row.words[1:3])
    if row.opcode == Op.Switch:
        return [value for kind, value in row.operands[1:] if kind in ID_KINDS and isinstance(value, int)]
    return []


def switch_cases(row: Instruction, selector_bytes: int) -> tuple[int, dict[int, int]]:
    """The default label of OpSwitch, and the label of each literal; literals without sign."""
    _, default, *pairs = row.words
    size = 2 if selector_bytes == 8 else 1
    cases = {}
    for start in range(0, len(pairs), size + 1):
        literal = sum(word << 32 * place for place, word in enumerate(pairs[start:start + size]))
        cases[literal & (1 << 8 * selector_bytes) - 1] = pairs[start + size]
    return default, cases


def successors_of(blocks: Sequence[Block]) -> list[list[int]]:
    """The graph of a function; labels that are no blocks of it are left out."""
    number = {block.label: index for index, block in enumerate(blocks)}
    return [[number[label] for label in targets(block) if label in number] for block in blocks]


def predecessors_of(successors: Graph) -> list[list[int]]:
    """The blocks from which control may come to each block."""
    predecessors: list[list[int]] = [[] for _ in successors]
    for block, found in enumerate(successors):
        for target in found:
            predecessors[target].append(block)
    return predecessors


def postorder(start: int, edges: Edges) -> Iterator[int]:
    """The blocks that ``start`` reaches, each after those it leads to (back edges aside)."""
    seen = {start}
    stack = [(start, iter(edges[start]))]
    while stack:
        block, found = stack[-1]
        for target in found:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(edges[target])))
                break
        else:
            stack.pop()
            yield block


def post_dominators(successors: Graph) -> list[int]:
    """The immediate post-dominator of each block, RETURNED where only the function's end is one, or where the end
    cannot be reached."""
    end = len(successors)
    graph = [found or [end] for found in successors]
    graph.append([])
    backwards = predecessors_of(graph)
    parent = immediate_dominators(end, backwards.__getitem__, graph.__getitem__)
    return [RETURNED if parent.get(block, end) == end else parent[block] for block in range(end)]


def without_dead_ends(successors: Graph, dead: Collection[int]) -> Graph:
    """The graph without the ways into blocks that lead nowhere else than to dead ones."""
    if not dead:
        return successors
    lost = set(dead)
    predecessors = predecessors_of(successors)
    waiting = list(dead)
    while waiting:
        for block in predecessors[waiting.pop()]:
            if block not in lost and lost.issuperset(successors[block]):
                lost.add(block)
                waiting.append(block)
    return [found if block in lost else [target for target in found if target not in lost]
            for block, found in enumerate(successors)]
