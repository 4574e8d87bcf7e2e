"""Functions, blocks, edges and dominators of a module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.grammar import TERMINATORS, Op, instruction
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.types import Integers
from coopmat.support.cached import cached_property

_BETWEEN = frozenset({Op.Line, Op.NoLine, Op.ExtInst, Op.ExtInstWithForwardRefsKHR})
"""What may stand outside blocks: lines and non-semantic information."""
_STRUCTURE = frozenset({Op.Function, Op.FunctionParameter, Op.FunctionEnd, Op.Label}) | TERMINATORS


@dataclass(slots=True)
class BlockRange:
    """A block: the indices of its OpLabel and of its terminator."""

    label: int
    first: int
    last: int
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    dominator: int | None = None


@dataclass(slots=True)
class FunctionRange:
    """A function: the indices of its OpFunction, its parameters and OpFunctionEnd; its blocks by number."""

    first: int
    last: int = -1
    parameters: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)


class Flow:
    """The control flow of a module.

    ``problems`` pairs the index of an instruction that stands where it may not with the reason.  Per
    instruction: ``function_of`` and ``block_of``, the number of its function and block, or -1.
    """

    def __init__(self, items: Sequence[Instruction], opcode: Integers) -> None:
        self.items = items
        self.functions: list[FunctionRange] = []
        self.blocks: list[BlockRange] = []
        self.block_with_label: dict[int, int] = {}
        self.problems: list[tuple[int, str]] = []
        self._find(opcode)
        self.function_of = self._numbers([(f.first, f.last) for f in self.functions])
        self.block_of = self._numbers([(b.first, b.last) for b in self.blocks])
        self._check_between(opcode)
        self._connect()

    def _find(self, opcode: Integers) -> None:
        function: FunctionRange | None = None
        block: BlockRange | None = None
        for index in np.flatnonzero(np.isin(opcode, [int(op) for op in _STRUCTURE])).tolist():
            op = int(opcode[index])
            if op == Op.Function:
                if function is not None:
                    self._end(function, block, index - 1)
                    self.problems.append((index, "{op} begins within a function that has no OpFunctionEnd"))
                function, block = FunctionRange(index), None
                self.functions.append(function)
            elif function is None:
                self.problems.append((index, "{op} stands outside a function"))
            elif op == Op.FunctionParameter:
                if function.blocks:
                    self.problems.append((index, "{op} stands after the first block"))
                else:
                    function.parameters.append(index)
            elif op == Op.FunctionEnd:
                if block is not None and instruction(int(opcode[index - 1])) is not None:
                    self.problems.append((index, "{op} stands in a block without terminator"))
                self._end(function, block, index)
                function = block = None
            elif op == Op.Label:
                if block is not None:
                    block.last = index - 1
                    if instruction(int(opcode[index - 1])) is not None:  # an unknown one may be a terminator
                        self.problems.append((index, "{op} begins within a block without terminator"))
                block = self._new_block(function, index)
            elif block is None:
                self.problems.append((index, "{op} stands outside a block"))
            else:
                block.last = index
                block = None
        if function is not None:
            self._end(function, block, len(opcode) - 1)
            self.problems.append((function.first, "{op} has no OpFunctionEnd"))

    def _new_block(self, function: FunctionRange, index: int) -> BlockRange:
        block = BlockRange(self.items[index].result_id or 0, index, index)
        self.block_with_label[block.label] = len(self.blocks)
        function.blocks.append(len(self.blocks))
        self.blocks.append(block)
        return block

    @staticmethod
    def _end(function: FunctionRange, block: BlockRange | None, last: int) -> None:
        function.last = last
        if block is not None:
            block.last = last

    def _numbers(self, ranges: list[tuple[int, int]]) -> Integers:
        numbers = np.full(len(self.items), -1)
        for number, (first, last) in enumerate(ranges):
            numbers[first:last + 1] = number
        return numbers

    def _check_between(self, opcode: Integers) -> None:
        allowed = np.isin(opcode, [int(op) for op in _BETWEEN | {Op.Function, Op.FunctionParameter, Op.FunctionEnd}])
        for index in np.flatnonzero((self.function_of >= 0) & (self.block_of < 0) & ~allowed).tolist():
            self.problems.append((index, "{op} stands outside a block"))

    def _connect(self) -> None:
        for number, block in enumerate(self.blocks):
            for label in successor_labels(self.items[block.last]):
                target = self.block_with_label.get(label)
                if target is not None:
                    block.successors.append(target)
                    self.blocks[target].predecessors.append(number)

    # -- dominators ------------------------------------------------------------------

    @cached_property
    def _tree(self) -> tuple[Integers, Integers]:
        """Of each block, its interval in a walk over the dominator tree; (-1, -1) if it is unreachable."""
        enter = np.full(len(self.blocks), -1)
        leave = np.full(len(self.blocks), -1)
        clock = 0
        for function in self.functions:
            if not function.blocks:
                continue
            children = self._dominator_tree(function)
            stack = [(function.blocks[0], False)]
            while stack:
                block, done = stack.pop()
                if done:
                    leave[block] = clock
                    continue
                enter[block] = clock
                clock += 1
                stack.append((block, True))
                stack.extend((child, False) for child in children.get(block, ()))
        return enter, leave

    def _dominator_tree(self, function: FunctionRange) -> dict[int, list[int]]:
        """The children of each block in the dominator tree."""
        found = immediate_dominators(function.blocks[0], lambda block: self.blocks[block].successors,
                                     lambda block: self.blocks[block].predecessors)
        children: dict[int, list[int]] = {}
        for block, dominator in found.items():
            self.blocks[block].dominator = dominator
            children.setdefault(dominator, []).append(block)
        return children

    def reachable(self, blocks: Integers) -> np.ndarray:
        """Whether control can reach these blocks."""
        return self._tree[0][blocks] >= 0

    def dominates(self, above: Integers, below: Integers) -> np.ndarray:
        """Whether each block of the first array dominates the one of the second (a block dominates itself)."""
        enter, leave = self._tree
        return (enter[above] >= 0) & (enter[above] <= enter[below]) & (enter[below] < leave[above])


def successor_labels(terminator: Instruction) -> list[int]:
    """The labels that a terminator may branch to."""
    words = terminator.words
    match terminator.opcode:
        case Op.Branch:
            return list(words[:1])
        case Op.BranchConditional:
            return list(words[1:3])
        case Op.Switch:
            literal = int(terminator.context or 1)
            return [words[1], *words[2 + literal::literal + 1]]
    return []
