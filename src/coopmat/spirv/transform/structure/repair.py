"""Values where blocks have moved: phis become variables first, and what is no longer computed on every way to its uses
becomes one, too. In the end all of them are values again, with phis where they are needed."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.spirv.edit.functions import MERGES, Body, FunctionEditor, Graph
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import CHAINS, POINTER_CASTS, Op, StorageClass
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make

_COPIED = frozenset({*CHAINS, *POINTER_CASTS})
_LONGEST = 32
"""Of a row of pointers, each computed from the one before, that is copied."""


def variable(editor: FunctionEditor, type_id: int) -> Instruction:
    """A variable of a function; the caller puts it into the function's first block."""
    return editor.row(Op.Variable, editor.type_pointer(StorageClass.Function, type_id), StorageClass.Function)


class Phis:
    """The phis of a function as variables: loaded where they stood, stored on each way to their block."""

    def __init__(self, editor: FunctionEditor, body: Body) -> None:
        self.editor = editor
        self.labels = [block.label for block in body.blocks]
        self.variables: list[Instruction] = []
        self._values: dict[tuple[int, int], list[Instruction]] = {}
        for number, block in enumerate(body.blocks):
            block.instructions = [self._loaded(row, number) if row.opcode == Op.Phi else row
                                  for row in block.instructions]

    def _loaded(self, phi: Instruction, number: int) -> Instruction:
        holder = variable(self.editor, phi.type_id or 0)
        self.variables.append(holder)
        for value, parent in zip(phi.words[::2], phi.words[1::2], strict=True):
            self._values.setdefault((parent, number), []).append(make(Op.Store, holder.result_id or 0, value))
        return self.editor.row(Op.Load, phi.type_id or 0, holder.result_id or 0, result=phi.result_id)

    def stores(self, source: int, target: int) -> list[Instruction]:
        """What happens on the way from one block to another one."""
        return self._values.get((self.labels[source], target), [])


class Repair:
    """Makes each value be there where it is used. ``variables`` are those that were added."""

    def __init__(self, editor: FunctionEditor, body: Body) -> None:
        self.editor = editor
        self.body = body
        self.variables: dict[int, Instruction] = {}
        self.made = {row.result_id: number for number, block in enumerate(body.blocks) for row in block.instructions
                     if row.result_id is not None}
        self._find_intervals(Graph.of(body))

    def _find_intervals(self, graph: Graph) -> None:
        """Of each block, its first and last place in a walk over the tree of dominators."""
        children = graph.children()
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        waiting = [(0, False)]
        while waiting:
            block, is_done = waiting.pop()
            if is_done:
                self.last[block] = len(self.first)
                continue
            self.first[block] = len(self.first)
            waiting.append((block, True))
            waiting += [(child, False) for child in children.get(block, ())]

    def done(self) -> None:
        """Change the function's blocks."""
        for number, block in enumerate(self.body.blocks):
            if number in self.first:
                block.instructions = list(_Block(self, number).changed(block))
        for block in self.body.blocks:
            block.instructions = list(self._stored(block))

    def is_there(self, value: int, number: int) -> bool:
        """Whether a value is computed on all ways to a block."""
        made = self.made.get(value)
        return made is None or (made in self.first and self.first[made] <= self.first[number] < self.last[made])

    def holder(self, value: int) -> int:
        """The variable of a value."""
        if value not in self.variables:
            self.variables[value] = variable(self.editor, self.editor.definition(value).type_id or 0)
        return self.variables[value].result_id or 0

    def _stored(self, block: Block) -> Iterator[Instruction]:
        for row in block.instructions:
            yield row
            if row.result_id in self.variables:
                yield make(Op.Store, self.variables[row.result_id].result_id or 0, row.result_id)


class _Block:
    """One block whose operands are repaired."""

    def __init__(self, repair: Repair, number: int) -> None:
        self.repair = repair
        self.number = number
        self.here: dict[int, int] = {}
        self.added: list[Instruction] = []

    def changed(self, block: Block) -> Iterator[Instruction]:
        merge: list[Instruction] = []  # which stands right before the block's end
        for row in block.instructions:
            if row.opcode in MERGES:
                merge.append(row)
                continue
            if row.opcode not in LINES and not all(self.repair.is_there(one, self.number) for one in row.ids()):
                row = self._with_values(row, 0)
                yield from self.added
                self.added = []
            yield from merge
            merge = []
            yield row

    def _with_values(self, row: Instruction, length: int) -> Instruction:
        words = list(row.words)
        for place in row.id_places():
            words[place] = self._value(words[place], length)
        return Instruction(row.opcode, row.type_id, row.result_id, tuple(words), row.offset, row.context)

    def _value(self, value: int, length: int) -> int:
        """What stands for a value here."""
        if value in self.here or self.repair.is_there(value, self.number):
            return self.here.get(value, value)
        editor = self.repair.editor
        row = editor.definition(value)
        if row.opcode in _COPIED and length < _LONGEST and editor.type_of(value).opcode == Op.TypePointer:
            found = self._with_values(row, length + 1)
            copy = editor.row(Op(row.opcode), row.type_id or 0, *found.words)
        else:
            copy = editor.row(Op.Load, row.type_id or 0, self.repair.holder(value))
        self.added.append(copy)
        self.here[value] = copy.result_id or 0
        return self.here[value]
