"""Loops over arrays of matrices are unrolled, so that each matrix has a constant index, and can become a value.

What is unrolled is a loop that counts from a constant to a constant, leaves at its header only, and has an access chain
into a variable of matrices with an index that is not constant; or, where that is asked for, into any variable of the
function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coopmat.spirv.analysis.control_flow import targets
from coopmat.spirv.edit.functions import Body, FunctionEditor, rename_parent, replace_uses, with_words
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import CHAINS, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.enlarge.conditions import Counter
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.goal import Goal, Say, counted

MOST_ROUNDS = 16
MOST_PRIVATE_ROUNDS = 64
MOST_INSTRUCTIONS = 8192  # of a function
_PRIVATE = (StorageClass.Function, StorageClass.Generic)
Wanted = Callable[[FunctionEditor, Instruction], bool]
"""Whether a loop with an instruction is to be unrolled."""


def unroll(module: Module, goal: Goal, say: Say) -> Module:
    """The module without loops over arrays of matrices."""
    editor = FunctionEditor(module)
    count = 0
    for body in editor.bodies:
        while body.blocks and _unroll_one(editor, body, _is_of_matrices, MOST_ROUNDS):
            count += 1
    if count:
        say(f"{counted(count, 'loop')} over arrays of matrices unrolled")
    return editor.done() if count else module


def unroll_private(module: Module) -> Module:
    """The module without loops over variables of its functions."""
    editor = FunctionEditor(module)
    count = 0
    for body in editor.bodies:
        while body.blocks and _unroll_one(editor, body, _is_private, MOST_PRIVATE_ROUNDS):
            count += 1
    return editor.done() if count else module


def _unroll_one(editor: FunctionEditor, body: Body, wanted: Wanted, most: int) -> bool:
    """Unroll an innermost loop; False if there is none to unroll."""
    if not any(wanted(editor, row) for row in body.rows()):
        return False
    indices = Indices(editor, body, None)
    for counter in indices.counters.values():
        loop = indices.loops.blocks(counter.header)
        rounds = _rounds(counter)
        if rounds is None or rounds > most or not _is_simple(editor, loop, counter.header, wanted):
            continue
        if sum(len(block.instructions) for block in loop) * rounds > MOST_INSTRUCTIONS:
            continue
        _, (after,) = indices.loops.parents(counter.header)
        _Unrolling(editor, body, loop, counter, rounds, after).done()
        return True
    return False


def _rounds(counter: Counter) -> int | None:
    start, limit = counter.start.known, counter.limit.known
    if start is None or limit is None:
        return None
    return max(0, -(-(limit - start) // counter.step))


def _is_of_matrices(editor: FunctionEditor, row: Instruction) -> bool:
    """Whether an instruction reaches a matrix of an array by an index that is not constant."""
    if row.opcode not in CHAINS or all(editor.integer(word) is not None for word in row.words[1:]):
        return False
    kind = editor.definition(editor.type_of(row.result_id or 0).words[1])
    is_array = kind.opcode in (Op.TypeArray, Op.TypeCooperativeMatrixKHR)
    while kind.opcode == Op.TypeArray:
        kind = editor.definition(kind.words[0])
    storage = editor.type_of(row.result_id or 0).words[0]
    base = editor.definition(editor.type_of(row.words[0]).words[1])
    return (is_array and kind.opcode == Op.TypeCooperativeMatrixKHR and storage == StorageClass.Function
            and base.opcode == Op.TypeArray)


def _is_private(editor: FunctionEditor, row: Instruction) -> bool:
    """Whether an instruction steps into a variable, or what may be one, by a number that is not constant."""
    return (row.opcode in CHAINS and editor.type_of(row.result_id or 0).words[0] in _PRIVATE
            and any(editor.integer(word) is None for word in row.words[1:]))


def _is_simple(editor: FunctionEditor, loop: list[Block], header: int, wanted: Wanted) -> bool:
    """Whether a loop has no loop in it, leaves at its header only, and has what is wanted."""
    labels = {block.label for block in loop}
    for block in loop:
        if block.label != header and (any(row.opcode == Op.LoopMerge for row in block.instructions[-2:-1])
                                      or not labels.issuperset(targets(block))):
            return False
    return any(wanted(editor, row) for block in loop for row in block.instructions) and sum(
        header in targets(block) for block in loop) == 1


@dataclass
class _Unrolling:
    """Writes a loop out. after: the block that comes back to the header."""

    editor: FunctionEditor
    body: Body
    loop: list[Block]
    counter: Counter
    rounds: int
    after: int

    def done(self) -> None:
        header = next(block for block in self.loop if block.label == self.counter.header)
        phis = [row for row in header.instructions if row.opcode == Op.Phi]
        back = {row.result_id or 0: dict(zip(row.words[1::2], row.words[::2], strict=True))[self.after] for row in phis}
        start = {row.result_id or 0: next(value for value, parent in zip(row.words[::2], row.words[1::2], strict=True)
                                          if parent != self.after) for row in phis}
        merge = header.instructions[-2].words[0]
        inside = next(word for word in header.terminator.words[1:3] if word != merge)
        first = header.label
        values: Mapping[int, int] = start
        made: list[Block] = []
        for number in range(self.rounds + 1):
            names = {block.label: first if block is header and number == 0 else self.editor.new_id()
                     for block in self.loop}
            if made:  # the round before goes on here
                _redirect(made, header.label, names[header.label])
            names |= {row.result_id: self.editor.new_id() for block in self.loop for row in block.instructions
                      if row.result_id is not None and row not in phis}
            names |= values
            is_last = number == self.rounds
            for block in [header] if is_last else self.loop:
                made.append(self._copy(block, names, phis, merge if is_last else inside))
            following = {phi: names.get(value, value) for phi, value in back.items()}
            end = names
            values = following
        places = [self.body.blocks.index(block) for block in self.loop]
        for block in self.loop:
            self.body.blocks.remove(block)
        self.body.blocks[places[0]:places[0]] = made
        outside = {one: end[one] for one in (*start, *(row.result_id for row in header.instructions
                                                       if row.result_id is not None)) if one in end}
        rest = Body(self.body.head, [block for block in self.body.blocks if block not in made])
        replace_uses(rest, outside)
        rename_parent(self.body, made[-1], header.label)

    def _copy(self, block: Block, names: Mapping[int, int], phis: list[Instruction], target: int) -> Block:
        """A block of one round; the header goes on to the block inside, or to the one behind the loop."""
        is_header = block.label == self.counter.header
        rows: list[Instruction] = []
        for row in block.instructions[:-2] if is_header else block.instructions:
            if row in phis:
                continue
            rows.append(row if row.opcode in LINES else self._renamed(row, names))
        if is_header:
            rows.append(make(Op.Branch, names.get(target, target)))
        return Block(names[block.label], rows)

    def _renamed(self, row: Instruction, names: Mapping[int, int]) -> Instruction:
        words = list(row.words)
        comes_back = row.opcode in (Op.Branch, Op.BranchConditional)
        for place in row.id_places():
            if not comes_back or words[place] != self.counter.header:
                words[place] = names.get(words[place], words[place])
        if row.result_id is None:
            return with_words(row, words)
        return self.editor.add(Instruction(row.opcode, row.type_id, names[row.result_id], tuple(words), row.offset,
                                           row.context))


def _redirect(blocks: list[Block], old: int, new: int) -> None:
    """Let the block that comes back to a header go on to another one."""
    for block in blocks:
        end = block.terminator
        if old in targets(block):
            block.instructions[-1] = with_words(end, (new if word == old else word for word in end.words))
