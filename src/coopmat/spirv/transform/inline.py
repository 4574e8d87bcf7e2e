"""Calls replaced by what they call.

A function of one block takes the call's place; the blocks of another one stand between the two halves of the call's
block. Where it returns from within a loop, that way leads out of the loop past its merge block: kernels may, shaders
may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coopmat.spirv.analysis.callees import CALLING, callees_of
from coopmat.spirv.analysis.imports import imported_name
from coopmat.spirv.edit.functions import (
    Body,
    FunctionEditor,
    Graph,
    change_phis,
    current_line,
    first_place,
    keep_header,
    remove_unreachable,
    replace_uses,
    with_words,
)
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import (
    Decoration,
    FunctionControl,
    FunctionParameterAttribute,
    LinkageType,
    Op,
    StorageClass,
)
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.text.names import source_name
from coopmat.spirv.transform.goal import Goal, Say, counted
from coopmat.support.limits import DEEPEST_CALL

MOST_INSTRUCTIONS = 1 << 18
"""Of a function with everything that it calls; what is called beyond that is left."""
_RETURNS = frozenset({Op.Return, Op.ReturnValue})


def inline(module: Module, goal: Goal, say: Say) -> Module:
    """The module without calls, and without functions that only calls used."""
    return _Inlining(module, say).done()


@dataclass
class _Callee:
    """A function to copy: its blocks have no calls any more that could be replaced."""

    body: Body
    size: int


class _Inlining:
    def __init__(self, module: Module, say: Say) -> None:
        self.module = module
        self.say = say
        self.editor = FunctionEditor(module)
        self.bodies = {body.id: body for body in self.editor.bodies}
        self.annotations = self.editor.annotations()
        self.entry_points = {entry.function_id for entry in module.entry_points}
        self.finished: dict[int, _Callee] = {}
        self.kept: dict[str, int] = {}
        self.open: list[int] = []

    def done(self) -> Module:
        total = 0
        for body in self.editor.bodies:
            total += self._finish(body)
        for reason, count in self.kept.items():
            self.say(f"{counted(count, 'call')} left: {reason}")
        if total:
            self.say(f"{counted(total, 'call')} replaced by what they call")
        removed = self._remove_unused()
        if removed:
            self.say("removed what nobody calls any more: " + ", ".join(map(self._name, removed)))
        return self.editor.done() if total or removed else self.module

    def _name(self, identifier: int) -> str:
        return source_name(self.module.names.get(identifier) or f"%{identifier}")

    def _keep(self, reason: str) -> None:
        self.kept[reason] = self.kept.get(reason, 0) + 1

    def _finish(self, body: Body) -> int:
        """Replace a function's calls, those of the functions that it calls first; their number."""
        if body.id in self.finished:
            return 0
        self.open.append(body.id)
        remove_unreachable(body)
        count = 0
        for row in list(body.rows()) if len(self.open) < DEEPEST_CALL else ():
            if row.opcode == Op.FunctionCall and row.words[0] in self.bodies and row.words[0] not in self.open:
                count += self._finish(self.bodies[row.words[0]])
        if any(self._is_replaced(row) for row in body.rows()):
            count += _Caller(self, body).done()
        if body.blocks and body.id not in self.entry_points:
            _return_by_merges(self.editor, body)
        self.finished[body.id] = _Callee(body, sum(1 for _ in body.rows()))
        self.open.pop()
        return count

    def _is_replaced(self, row: Instruction) -> bool:
        return row.opcode == Op.FunctionCall and row.words[0] in self.finished

    def callee(self, row: Instruction, size: int) -> Body | None:
        """The function that is to take a call's place, or None, and why it is not."""
        if row.opcode != Op.FunctionCall:
            return None
        identifier = row.words[0]
        name = self._name(identifier)
        found = self.finished.get(identifier)
        if found is None:
            self._keep(f"'{name}' calls itself, or calls are nested more than {DEEPEST_CALL} deep")
        elif not found.body.blocks:
            self._keep(f"'{imported_name(self.module, identifier) or name}' is imported")
        elif found.body.instruction.words[0] & FunctionControl.DontInline:
            self._keep(f"'{name}' is not to be inlined (DontInline)")
        elif size + found.size > MOST_INSTRUCTIONS:
            self._keep(f"with '{name}' its caller would have more than {MOST_INSTRUCTIONS} instructions")
        else:
            return found.body
        return None

    def _remove_unused(self) -> list[int]:
        """Functions that were called, and that no entry point, export, constant or instruction names any more."""
        editor = self.editor
        exported = {item.words[0] for item in editor.head if item.opcode == Op.Decorate and item.words[1] ==
                    Decoration.LinkageAttributes and item.words[-1] == LinkageType.Export}
        named = {identifier for item in editor.head if item.opcode not in _ANNOTATING for identifier in item.ids()}
        called = {callee for item in self.module.instructions if item.opcode in CALLING for callee in callees_of(item)}
        waiting = [body.id for body in editor.bodies if body.id in exported | named or body.id not in called]
        used: set[int] = set()
        while waiting:
            identifier = waiting.pop()
            if identifier in used or identifier not in self.bodies:
                continue
            used.add(identifier)
            waiting += [callee for row in self.bodies[identifier].rows() if row.opcode in CALLING
                        for callee in callees_of(row)]
        removed = [body.id for body in editor.bodies if body.id not in used and body.blocks]
        editor.bodies = [body for body in editor.bodies if body.id not in removed]
        return removed


_ANNOTATING = frozenset({Op.Name, Op.MemberName, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.GroupDecorate,
                         Op.ExecutionMode})


@dataclass
class _Caller:
    """A function whose calls are replaced. ``last`` is, for the label of a block that was cut, that of its last part;
    ``same`` the value that a call gives."""

    owner: _Inlining
    body: Body
    blocks: list[Block] = field(default_factory=list)
    variables: list[Instruction] = field(default_factory=list)
    last: dict[int, int] = field(default_factory=dict)
    same: dict[int, int] = field(default_factory=dict)
    count: int = 0
    size: int = 0

    def done(self) -> int:
        self.size = sum(1 for _ in self.body.rows())
        for block in list(self.body.blocks):
            if any(map(self._cuts, block.instructions)):
                keep_header(self.owner.editor, self.body, block)
        for block in self.body.blocks:
            self._block(block)
        self.body.blocks = self.blocks
        entry = self.blocks[0].instructions
        place = first_place(self.blocks[0])
        entry[place:place] = self.variables
        for block in self.blocks:
            change_phis(block, self._with_parents)
        replace_uses(self.body, self.same)
        return self.count

    def _with_parents(self, item: Instruction) -> Instruction:
        return with_words(item, (self.last.get(word, word) if place % 2 else word
                                 for place, word in enumerate(item.words)))

    def _block(self, block: Block) -> None:
        current = Block(block.label)
        self.blocks.append(current)
        for row in block.instructions:
            callee = self.owner.callee(row, self.size)
            if callee is None:
                current.instructions.append(row)
                continue
            self.count += 1
            current = self._replaced(row, callee, current)
        if current.label != block.label:
            self.last[block.label] = current.label

    def _cuts(self, row: Instruction) -> bool:
        """Whether an instruction calls a function of several blocks."""
        found = self.owner.finished.get(row.words[0]) if row.opcode == Op.FunctionCall else None
        return found is not None and len(found.body.blocks) > 1

    def _replaced(self, call: Instruction, callee: Body, before: Block) -> Block:
        """Put a function's blocks in a call's place; the block in which its caller goes on."""
        editor = self.owner.editor
        renames = self._renames(callee)
        for parameter, argument in zip(callee.parameters, call.words[1:], strict=True):
            renames[parameter.result_id or 0] = self._passed(parameter, argument, before)
        line = current_line(before.instructions) or make(Op.NoLine)
        blocks = [Block(renames[block.label], [editor.add(_renamed(row, renames)) for row in block.instructions])
                  for block in callee.blocks]
        self._hoist(blocks[0])
        self.size += sum(len(block.instructions) for block in blocks)
        returned = [(block.instructions.pop(), block) for block in blocks
                    if block.instructions[-1].opcode in _RETURNS]
        if len(blocks) == 1 and returned:
            before.instructions += [*blocks[0].instructions, line]
            self._gives(call, [(end, before) for end, _ in returned], before)
            return before
        after = Block(editor.new_id())
        before.instructions.append(make(Op.Branch, blocks[0].label))
        for _, block in returned:
            block.instructions.append(make(Op.Branch, after.label))
        self._gives(call, returned, after)
        after.instructions.append(line)
        self.blocks += [*blocks, after]
        return after

    def _gives(self, call: Instruction, returned: list[tuple[Instruction, Block]], after: Block) -> None:
        """What stands for the value of a call."""
        result, type_id = call.result_id or 0, call.type_id or 0
        ends = [(end.words[0], block.label) for end, block in returned if end.words]
        if len(ends) == 1:
            self.same[result] = ends[0][0]
        elif ends:
            after.instructions.append(self.owner.editor.add(Instruction(
                Op.Phi, type_id, result, tuple(word for pair in ends for word in pair))))
        elif self.owner.editor.definition(type_id).opcode != Op.TypeVoid:  # it never returns
            self.same[result] = self.owner.editor.undefined(type_id)

    def _renames(self, callee: Body) -> dict[int, int]:
        """Fresh ids for what a function defines, with the names and decorations of what they stand for."""
        editor = self.owner.editor
        renames: dict[int, int] = {}
        for block in callee.blocks:
            for identifier in (block.label, *(row.result_id for row in block.instructions)):
                if identifier is not None:
                    renames[identifier] = editor.new_id()
                    copies = [with_words(one, (renames[identifier], *one.words[1:]))
                              for one in self.owner.annotations.get(identifier, ())]
                    editor.annotate(copies)
                    if copies:
                        self.owner.annotations[renames[identifier]] = copies
        return renames

    def _hoist(self, entry: Block) -> None:
        """Let a function's variables be the caller's; their initial values are stored each time."""
        kept = []
        for row in entry.instructions:
            if row.opcode != Op.Variable:
                kept.append(row)
                continue
            self.variables.append(with_words(row, row.words[:1]))
            kept += [make(Op.Store, row.result_id or 0, word) for word in row.words[1:]]
        entry.instructions = kept

    def _passed(self, parameter: Instruction, argument: int, before: Block) -> int:
        """What stands for a parameter: the argument, or a copy of what it points to that is the function's own."""
        by_value = any(
            row.opcode == Op.Decorate and row.words[1:] == (Decoration.FuncParamAttr, FunctionParameterAttribute.ByVal)
            for row in self.owner.annotations.get(parameter.result_id or 0, ()))
        if not by_value:
            return argument
        copy = self.owner.editor.row(Op.Variable, parameter.type_id or 0, StorageClass.Function)
        self.variables.append(copy)
        before.instructions.append(make(Op.CopyMemory, copy.result_id or 0, argument))
        return copy.result_id or 0


def _renamed(row: Instruction, renames: Mapping[int, int]) -> Instruction:
    if row.opcode in LINES:
        return row
    found = row.with_ids(lambda identifier: renames.get(identifier, identifier))
    found.offset = row.offset
    return found


def _return_by_merges(editor: FunctionEditor, body: Body) -> None:
    """Let loops that are left by returns only be left to their merge blocks, which return instead: so the copy of the
    function tells what belongs to such a loop."""
    graph = Graph.of(body)
    number = {block.label: index for index, block in enumerate(body.blocks)}
    children = graph.children()
    heads = [(index, row.words[0]) for index in graph.order for row in body.blocks[index].instructions[-2:-1]
             if row.opcode == Op.LoopMerge and number[row.words[0]] not in graph.parent]
    for head, label in reversed(heads):
        inside = _dominated(head, children)
        ends = [block for index, block in enumerate(body.blocks) if index in inside
                and block.instructions[-1].opcode in _RETURNS]
        if ends:
            _leave(editor, body, label, ends)
            children.setdefault(head, []).append(number[label])


def _dominated(head: int, children: Mapping[int, list[int]]) -> set[int]:
    found, waiting = {head}, [head]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _leave(editor: FunctionEditor, body: Body, label: int, ends: list[Block]) -> None:
    """Let blocks that return branch to a block that nobody came to, and that one return."""
    values = [(word, block.label) for block in ends for word in block.instructions[-1].words]
    rows = [make(Op.Return)]
    if values:
        phi = editor.row(Op.Phi, body.instruction.type_id or 0, *(word for pair in values for word in pair))
        rows = [phi, make(Op.ReturnValue, phi.result_id or 0)]
    for block in ends:
        block.instructions[-1] = make(Op.Branch, label)
    body.block(label).instructions = rows
