"""What stands between two instructions of a block, and whether they may change places: which memory they reach."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.grammar import Decoration, FunctionParameterAttribute, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.facts import PURE, Facts

STORES = frozenset({Op.CooperativeMatrixStoreKHR, Op.CooperativeMatrixStoreCheckedINTEL})
"""What stores a matrix that may become a part of a larger one."""
_MATRIX_LOADS = frozenset({Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixLoadCheckedINTEL})
_LOADS = _MATRIX_LOADS | {Op.Load}
_QUIET = PURE | _LOADS | {Op.Phi, Op.CooperativeMatrixPerElementOpEXT, Op.CooperativeMatrixReduceEXT,
                          Op.CooperativeMatrixTransposeNV, Op.CooperativeMatrixPrefetchINTEL, Op.LoopMerge,
                          Op.SelectionMerge, Op.NoLine, Op.Line}
"""What writes nothing to memory, and orders nothing."""
_NO_ALIAS = (Decoration.FuncParamAttr, (FunctionParameterAttribute.NoAlias,))


def has_effects(facts: Facts, row: Instruction) -> bool:
    """Whether an instruction may write to memory, or orders what does."""
    if row.opcode == Op.CooperativeMatrixPerElementOpEXT:
        return not facts.only_computes(row.words[1])
    if row.opcode == Op.ExtInst:
        is_known = facts.editor.module.instruction_sets.get(row.words[0]) == "OpenCL.std"
        return is_known and not facts.is_pure_function(row)
    return row.opcode not in _QUIET


class Order:
    """The instructions of a function. places: where each stands, its block's number and its own there. apart: pairs of
    parameters (their positions) whose arguments may not share memory in a launch."""

    def __init__(self, indices: Indices, *, asks: bool) -> None:
        """``asks``: whether launches can be asked if two arguments share memory."""
        self.indices, self.editor, self.body, self.asks = indices, indices.editor, indices.body, asks
        self.facts = Facts(self.editor)
        self.arguments = {row.result_id or 0: place for place, row in enumerate(self.body.parameters)}
        self.places = {id(row): (number, place) for number, block in enumerate(self.body.blocks)
                       for place, row in enumerate(block.instructions)}
        self.apart: dict[tuple[int, int], None] = {}

    def block(self, row: Instruction) -> int:
        """The number of the block in which an instruction stands."""
        return self.places[id(row)][0]

    def between(self, one: Instruction, other: Instruction) -> bool:
        """Whether something between two instructions of a block writes to memory."""
        block = self.body.blocks[self.block(one)].instructions
        first, last = sorted((self.places[id(one)][1], self.places[id(other)][1]))
        return any(self.has_effects(row) for row in block[first + 1:last])

    def has_effects(self, row: Instruction) -> bool:
        """Whether an instruction may write to memory, or orders what does."""
        return has_effects(self.facts, row)

    def crosses(self, row: Instruction, last: Instruction, stores: Sequence[Instruction]) -> bool:
        """Whether something is loaded, or stored by others than some stores, between a store and a later one. Stores to
        other arguments of the kernel may be stores to other memory."""
        block = self.body.blocks[self.block(row)].instructions
        between = block[self.places[id(row)][1]:self.places[id(last)][1]]
        return any((self.reads(one) or self.has_effects(one)) and not self._is_apart(one, row)
                   for one in between if not any(one is store for store in stores))

    def is_passed(self, row: Instruction, last: Instruction) -> bool:
        """Whether something writes to the memory that an instruction reads before a later one."""
        block = self.body.blocks[self.block(row)].instructions
        between = block[self.places[id(row)][1] + 1:self.places[id(last)][1]]
        return any(self.has_effects(one) and not self._is_apart(one, row) for one in between)

    def reads(self, row: Instruction) -> bool:
        """Whether an instruction reads memory."""
        return row.opcode in _LOADS or (row.opcode == Op.CooperativeMatrixPerElementOpEXT
                                        and self.facts.reads_memory(row.words[1]))

    def _is_apart(self, one: Instruction, other: Instruction) -> bool:
        """Whether two instructions reach different arguments, of which one is ``restrict``, or that must not share
        memory in a launch."""
        pairs = [(left, right) for left in self._bases(one) for right in self._bases(other)]
        are_known = all(left != right and {left, right} <= self.arguments.keys() for left, right in pairs)
        return bool(pairs) and are_known and all(self.are_apart(*pair) for pair in pairs)

    def are_apart(self, one: int, other: int) -> bool:
        """The same of two pointers from which memory is reached."""
        if one == other or not {one, other} <= self.arguments.keys():
            return False
        if any(_NO_ALIAS in self.editor.module.decorations(base) for base in (one, other)):
            return True
        first, second = sorted((self.arguments[one], self.arguments[other]))
        self.apart |= {(first, second): None} if self.asks else {}
        return self.asks

    def _bases(self, row: Instruction) -> set[int]:
        """From where an instruction reaches memory; empty if that is not known."""
        if row.opcode in STORES | _MATRIX_LOADS:
            return {self._base(row.words[0])}
        own = (StorageClass.Input, StorageClass.Function)
        if row.opcode != Op.CooperativeMatrixPerElementOpEXT or any(
                one.words[0] not in own for one in self.editor.module.of_opcode(Op.Variable)):
            return set()
        return {self._base(word) for word in row.words[2:] if self.editor.type_of(word).opcode == Op.TypePointer}

    def _base(self, pointer: int) -> int:
        """From where a pointer is reached, also as one of another type."""
        base = self.indices.pointer(pointer)[0]
        row = self.editor.definition(base)
        while row.opcode == Op.Bitcast and self.editor.type_of(row.words[0]).opcode == Op.TypePointer:
            base = self.indices.pointer(row.words[0])[0]
            row = self.editor.definition(base)
        return base
