"""Functions being changed: blocks whose instructions are added, replaced and removed, and what a changed module needs.

Source lines stand among a block's instructions, where OpLine has them: what is inserted belongs to the line it stands
under.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.control_flow import predecessors_of, successors_of, targets
from coopmat.spirv.analysis.dominators import immediate_dominators, preorder
from coopmat.spirv.analysis.requirements import Needs, implied
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import TERMINATORS, BuiltIn, Decoration, Op, StorageClass, instruction
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make

MERGES = frozenset({Op.SelectionMerge, Op.LoopMerge})
NAMES = frozenset({Op.Name, Op.MemberName})
DECORATIONS = frozenset({Op.Decorate, Op.DecorateId, Op.DecorateString})
_ANNOTATIONS = NAMES | DECORATIONS | {Op.MemberDecorate, Op.MemberDecorateString}
_SPAN = 2  # words for each target of OpGroupMemberDecorate


@dataclass
class Body:
    """A function being changed. ``head`` is what stands before its first block: OpFunction, parameters, lines."""

    head: list[Instruction] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    @property
    def instruction(self) -> Instruction:
        """The OpFunction."""
        return next(item for item in self.head if item.opcode == Op.Function)

    @property
    def id(self) -> int:
        """The function's result id."""
        return self.instruction.result_id or 0

    @property
    def parameters(self) -> list[Instruction]:
        """The OpFunctionParameter instructions."""
        return [item for item in self.head if item.opcode == Op.FunctionParameter]

    def rows(self) -> Iterator[Instruction]:
        """All instructions of all blocks, in order."""
        for block in self.blocks:
            yield from block.instructions

    def block(self, label: int) -> Block:
        """The block with a label."""
        return next(block for block in self.blocks if block.label == label)


class FunctionEditor(Editor):
    """An editor whose functions are taken apart into ``bodies``."""

    def __init__(self, module: Module) -> None:
        for item in module.instructions:
            if instruction(item.opcode) is None:
                raise Error(f"{item.name} is unknown here, so nobody can tell which of its words are ids: "
                            "modules with it cannot be transformed")
        super().__init__(module)
        self.bodies = list(_bodies(self.functions))
        self._copied: list[Instruction] = []

    def row(self, op: Op, type_id: int, *words: int, result: int | None = None) -> Instruction:
        """A new instruction with a result; the caller puts it where it belongs."""
        return self.add(make(op, *words, type_id=type_id, result_id=self.new_id() if result is None else result))

    def annotations(self) -> dict[int, list[Instruction]]:
        """Id → its names and decorations; those of groups as if they stood by themselves."""
        found: dict[int, list[Instruction]] = {}
        for item in self.head:
            if item.opcode in NAMES | DECORATIONS:
                found.setdefault(item.words[0], []).append(item)
            elif item.opcode == Op.GroupDecorate:
                group, *targets = item.words
                for target in targets:
                    found.setdefault(target, []).extend(with_words(one, (target, *one.words[1:]))
                                                        for one in found.get(group, ()) if one.opcode in DECORATIONS)
        return found

    def annotate(self, rows: Iterable[Instruction]) -> None:
        """Add names and decorations."""
        self._copied += rows

    def undefined(self, type_id: int) -> int:
        """An undefined value of a type."""
        return self.unique(Op.Undef, type_id=type_id)

    def done(self) -> Module:
        """The changed module, without names and decorations of what is gone and without types that nobody uses."""
        self.functions = [item for body in self.bodies for item in _written(body)]
        self._place_annotations()
        self._drop_annotations()
        self.sweep()
        return self._declaring(self.finish())

    def _declaring(self, module: Module) -> Module:
        """The module with what it was declared to need besides what its instructions tell."""
        before = Needs((self.module.version >> 16, self.module.version >> 8 & 0xFF))
        for item in self.module.instructions:
            if item.opcode not in (Op.Capability, Op.Extension):
                before.add(item)
        told = implied(before.capabilities())
        rows = module.instructions
        kept = [item for item in self.module.of_opcode(Op.Capability)
                if item.words[0] not in told and item.words[0] not in module.capabilities]
        if not kept:
            return module
        extensions = [item for item, name in zip(self.module.of_opcode(Op.Extension), self.module.extensions,
                                                 strict=True) if name not in module.extensions]
        first = next(i for i, item in enumerate(rows) if item.opcode != Op.Capability)
        return module.with_instructions([*rows[:first], *kept, *extensions, *rows[first:]])

    def _place_annotations(self) -> None:
        """Names stand before decorations, and both where the module has its own."""
        for kinds in (DECORATIONS, NAMES):
            rows = [item for item in self._copied if item.opcode in kinds]
            before = [i for i, item in enumerate(self.head) if item.opcode in kinds]
            behind = _BEHIND[kinds is NAMES]
            later = (i for i, item in enumerate(self.head) if _is_global(item) or item.opcode in behind)
            place = before[-1] + 1 if before else next(later, len(self.head))
            self.head[place:place] = rows
        self._copied = []

    def _drop_annotations(self) -> None:
        defined = {item.result_id for item in (*self.head, *self.functions)}
        kept = []
        for item in self.head:
            if item.opcode in _ANNOTATIONS and item.words[0] not in defined:
                continue
            if item.opcode in (Op.GroupDecorate, Op.GroupMemberDecorate):
                size = _SPAN if item.opcode == Op.GroupMemberDecorate else 1
                group, *targets = item.words
                parts = [targets[i:i + size] for i in range(0, len(targets), size)]
                item = make(Op(item.opcode), group, *(word for part in parts if part[0] in defined for word in part))
            kept.append(item)
        self.head = kept


_BEHIND = {False: frozenset[Op](), True: _ANNOTATIONS | {Op.ModuleProcessed, Op.DecorationGroup, Op.GroupDecorate}}


def _is_global(item: Instruction) -> bool:
    """Whether an instruction is a type, a constant or a global variable (or stands among them)."""
    return item.type_id is not None or item.name.startswith("OpType")


def _bodies(items: Sequence[Instruction]) -> Iterator[Body]:
    body = Body()
    block: Block | None = None
    for item in items:
        if block is not None:
            block.instructions.append(item)
            if item.opcode in TERMINATORS:
                block = None
        elif item.opcode == Op.Label:
            block = Block(item.result_id or 0)
            body.blocks.append(block)
        elif item.opcode == Op.FunctionEnd:
            yield body
            body = Body()
        else:
            body.head.append(item)


def _written(body: Body) -> Iterator[Instruction]:
    yield from body.head
    for block in body.blocks:
        yield make(Op.Label, result_id=block.label)
        yield from _lines_once(block.instructions)
    yield make(Op.FunctionEnd)


def _lines_once(items: Iterable[Instruction]) -> Iterator[Instruction]:
    """A block without lines that no instruction stands under, and without the same line again."""
    waiting: Instruction | None = None
    current: tuple[int, ...] = ()
    for item in items:
        if item.opcode in LINES:
            waiting = item
            continue
        if waiting is not None and waiting.words != current:
            yield waiting
            current = waiting.words
        waiting = None
        yield item


# --- what is asked of blocks -----------------------------------------------------------


def with_words(item: Instruction, words: Iterable[int]) -> Instruction:
    """The instruction with other operand words."""
    return Instruction(item.opcode, item.type_id, item.result_id, tuple(words), item.offset, item.context)


def uses_of(body: Body) -> dict[int, list[Instruction]]:
    """Id → the instructions of a function that use it as an operand, each once."""
    found: dict[int, list[Instruction]] = {}
    for item in body.rows():
        if item.opcode not in LINES:
            for identifier in dict.fromkeys(item.ids()):
                found.setdefault(identifier, []).append(item)
    return found


def resolved(same: Mapping[int, int]) -> dict[int, int]:
    """Replacements followed to their ends: what stands for an id may be replaced itself."""
    found: dict[int, int] = {}
    for start in same:
        end = start
        while end in same:
            end = same[end]
        found[start] = end
    return found


def replace_uses(body: Body, same: Mapping[int, int]) -> None:
    """Other ids in the place of some, in all operands of a function."""
    if not same:
        return
    ends = resolved(same)
    for block in body.blocks:
        block.instructions = [_with_other_ids(item, ends) for item in block.instructions]


def replace_outside(body: Body, inside: Collection[Block], same: Mapping[int, int]) -> None:
    """Other ids in the place of some, all at once, in what is not in some blocks."""
    for block in body.blocks:
        if block not in inside:
            block.instructions = [_with_other_ids(item, same) for item in block.instructions]


def _with_other_ids(item: Instruction, ends: Mapping[int, int]) -> Instruction:
    if item.opcode in LINES or not any(word in ends for word in item.words):
        return item
    words = list(item.words)
    for place in item.id_places():
        words[place] = ends.get(words[place], words[place])
    return with_words(item, words)


def current_line(items: Sequence[Instruction]) -> Instruction | None:
    """The OpLine that what follows these instructions stands under."""
    return next((item for item in reversed(items) if item.opcode in LINES), None)


def first_place(block: Block) -> int:
    """Where the instructions of a block begin, behind its phis and variables."""
    place = 0
    for index, item in enumerate(block.instructions):
        if item.opcode in (Op.Phi, Op.Variable):
            place = index + 1
        elif item.opcode not in LINES:
            break
    return place


# --- what a kernel is given ------------------------------------------------------------


def add_parameters(editor: FunctionEditor, body: Body, types: Sequence[int],
                   ids: Sequence[int] | None = None) -> list[int]:
    """Give a function more parameters, of these types, behind its own; their ids, ``ids`` where they are given. Who
    calls it must give them."""
    function = body.instruction
    result, *known = editor.definition(function.words[1]).words
    kind = editor.unique(Op.TypeFunction, result, *known, *types)
    last = max(place for place, row in enumerate(body.head) if row.opcode in (Op.Function, Op.FunctionParameter))
    rows = [editor.row(Op.FunctionParameter, kind_id, result=result_id)
            for kind_id, result_id in zip(types, ids if ids is not None else [None] * len(types), strict=True)]
    body.head[last + 1:last + 1] = rows
    body.head[body.head.index(function)] = editor.add(with_words(function, (function.words[0], kind)))
    return [row.result_id or 0 for row in rows]


def input_variable(editor: FunctionEditor, function: int, builtin: BuiltIn, type_id: int) -> int:
    """The variable with what a built-in variable says, of a type; entry points of ``function`` list it."""
    pointer = editor.type_pointer(StorageClass.Input, type_id)
    for row in editor.head:
        decorations = editor.module.decorations(row.result_id or 0) if row.opcode == Op.Variable else ()
        if row.type_id == pointer and (Decoration.BuiltIn, (builtin,)) in decorations:
            _list_variable(editor, function, row.result_id or 0)
            return row.result_id or 0
    variable = editor.row(Op.Variable, pointer, StorageClass.Input)
    editor.head.append(variable)
    identifier = variable.result_id or 0
    editor.decorate(identifier, Decoration.BuiltIn, builtin)
    editor.decorate(identifier, Decoration.Constant)
    _list_variable(editor, function, identifier)
    return identifier


def _list_variable(editor: FunctionEditor, function: int, variable: int) -> None:
    """Have the entry points of a function list a variable."""
    editor.head = [with_words(row, (*row.words, variable)) if row.opcode == Op.EntryPoint
                   and row.words[1] == function and variable not in row.ids() else row for row in editor.head]


# --- the graph ------------------------------------------------------------------------


@dataclass
class Graph:
    """The control flow of a function's blocks, which have numbers; what cannot be reached has no dominator."""

    successors: list[list[int]]
    predecessors: list[list[int]]
    parent: dict[int, int]
    order: list[int]

    @classmethod
    def of(cls, body: Body) -> Graph:
        """The graph of a function with blocks."""
        successors = [list(dict.fromkeys(found)) for found in successors_of(body.blocks)]
        order, _ = preorder(0, successors.__getitem__)
        entered = set(order)
        predecessors = [[one for one in found if one in entered] for found in predecessors_of(successors)]
        parent = immediate_dominators(0, successors.__getitem__, predecessors.__getitem__)
        return cls(successors, predecessors, parent, order)

    def frontiers(self) -> dict[int, set[int]]:
        """The dominance frontier of each block that has one (Cooper, Harvey and Kennedy 2001)."""
        found: dict[int, set[int]] = {}
        for block in self.order:
            if len(self.predecessors[block]) > 1 or block == 0:
                for runner in self.predecessors[block]:
                    while runner != self.parent.get(block, -1):
                        found.setdefault(runner, set()).add(block)
                        runner = self.parent.get(runner, -1)
        return found

    def children(self) -> dict[int, list[int]]:
        """The blocks that each block dominates immediately."""
        found: dict[int, list[int]] = {}
        for block in self.order:
            if block in self.parent:
                found.setdefault(self.parent[block], []).append(block)
        return found


def without_parents(item: Instruction, gone: Collection[int]) -> Instruction:
    """A phi without the values that come from some blocks."""
    pairs = zip(item.words[::2], item.words[1::2], strict=True)
    return with_words(item, (word for value, parent in pairs if parent not in gone for word in (value, parent)))


def change_phis(block: Block, change: Callable[[Instruction], Instruction]) -> None:
    """Replace the phis of a block."""
    block.instructions = [change(item) if item.opcode == Op.Phi else item for item in block.instructions]


def remove_unreachable(body: Body) -> int:
    """Take out what cannot be reached; the number of blocks that are gone.

    A merge block or continue target that a merge instruction still names stays, empty.
    """
    if not body.blocks:
        return 0
    graph = Graph.of(body)
    entered = {body.blocks[number].label for number in graph.order}
    named: dict[int, int] = {}
    for block in body.blocks:
        if block.label in entered:
            for item in block.instructions[-2:-1]:
                if item.opcode == Op.LoopMerge:
                    named.setdefault(item.words[1], block.label)
                if item.opcode in MERGES:
                    named[item.words[0]] = 0
    kept: list[Block] = []
    back: dict[int, set[int]] = {}
    for block in body.blocks:
        if block.label in entered:
            kept.append(block)
        elif block.label in named:
            header = named[block.label]
            end = make(Op.Branch, header) if header else make(Op.Unreachable)
            back.setdefault(header, set()).add(block.label)
            kept.append(Block(block.label, [end]))
    gone = {block.label for block in body.blocks} - entered
    if not gone:
        return 0
    for block in kept:
        empty = back.get(block.label, set())
        change_phis(block, lambda item, empty=empty: _with_empty(without_parents(item, gone), empty))  # type: ignore[misc]
    removed = len(body.blocks) - len(kept)
    body.blocks = kept
    return removed


def _with_empty(phi: Instruction, parents: Collection[int]) -> Instruction:
    """A phi with its own value from continue targets that are empty: nobody comes from there."""
    return with_words(phi, (*phi.words, *(word for parent in parents for word in (phi.result_id or 0, parent))))


def rename_parent(body: Body, block: Block, old: int) -> None:
    """Let the phis of a block's successors name it instead of the block with another label."""
    labels = set(targets(block))
    for target in body.blocks:
        if target.label in labels:
            change_phis(target, lambda item: with_words(item, (
                block.label if place % 2 and word == old else word for place, word in enumerate(item.words))))


def keep_header(editor: FunctionEditor, body: Body, block: Block) -> None:
    """Let a block be cut: if it is the head of a loop, what is behind its phis becomes a block of its own, and where it
    is all of the loop, its end another one."""
    rows = block.instructions
    if not any(row.opcode == Op.LoopMerge for row in rows):
        return
    place, merge, end = first_place(block), rows[-2], rows[-1]
    inside = Block(editor.new_id(), [*rows[place:-2], end])
    added = [inside]
    if merge.words[1] == block.label:
        latch = Block(editor.new_id(), [end])
        inside.instructions[-1] = make(Op.Branch, latch.label)
        merge = with_words(merge, (merge.words[0], latch.label, *merge.words[2:]))
        added.append(latch)
    block.instructions = [*rows[:place], merge, make(Op.Branch, inside.label)]
    index = body.blocks.index(block)
    body.blocks[index + 1:index + 1] = added
    rename_parent(body, added[-1], block.label)
