"""Structured control flow after which work-items of shaders need not meet where those of kernels do.

With maximal reconvergence (SPV_KHR_maximal_reconvergence), work-items meet at merge blocks and continue targets, and no
other block but the head of a loop and the cases of a switch may have several blocks before it. Those who come to a case
by different numbers, or out of the case before it, may meet there or not: where it matters, switches become branches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from coopmat.spirv.analysis.control_flow import switch_cases, targets
from coopmat.spirv.edit.functions import MERGES, Body, FunctionEditor, change_phis, with_words
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block, Function
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import encode_number

TOGETHER = ("OpGroup", "OpSubgroup", "OpCooperativeMatrix")
"""How the names of instructions begin for which it matters who comes to them together."""


def with_branches(module: Module) -> Module:
    """The module without switches at whose cases work-items may not meet, in functions where that matters."""
    chosen = meeting(module)
    if not chosen or not any(True for _ in module.of_opcode(Op.Switch)):
        return module
    editor = FunctionEditor(module)
    changed = [_replace(editor, body, block) for body in editor.bodies if body.id in chosen
               for block in list(body.blocks) if _is_doubtful(editor, body, block)]
    return editor.done() if changed else module


def meeting(module: Module) -> set[int]:
    """The functions in which it matters who comes to an instruction together."""
    return {function.id for function in module.functions if any(
        row.name.startswith(TOGETHER) for block in function.blocks for row in block.instructions)}


def parting(module: Module) -> set[int]:
    """Those of them that have blocks, besides the ones that may, to which several others lead."""
    chosen = meeting(module)
    return {function.id for function in module.functions if function.id in chosen and _parts(function)}


def _parts(function: Function) -> bool:
    sources = Counter(target for block in function.blocks for target in set(targets(block)))
    allowed = set[int]()
    for block in function.blocks:
        row = block.instructions[-2] if len(block.instructions) > 1 else None
        if row is not None and row.opcode in MERGES:
            allowed |= {block.label, *row.words[:2]} if row.opcode == Op.LoopMerge else {row.words[0]}
        if block.terminator.opcode == Op.Switch:
            allowed.update(targets(block))
    return any(count > 1 and label not in allowed for label, count in sources.items())


# --- switches ------------------------------------------------------------------------------------


def _cases(editor: FunctionEditor, row: Instruction) -> tuple[int, dict[int, list[int]]]:
    """The default label of a switch, and the literals of each other label."""
    bits = editor.type_of(row.words[0]).words[0]
    default, cases = switch_cases(row, bits // 8)
    found: dict[int, list[int]] = {}
    for literal, label in cases.items():
        if label != default:
            found.setdefault(label, []).append(literal)
    return default, found


def _is_doubtful(editor: FunctionEditor, body: Body, block: Block) -> bool:
    """Whether a block ends with a switch that leads several numbers to one case, or a case from which another one
    goes on."""
    if block.terminator.opcode != Op.Switch:
        return False
    merge = block.instructions[-2] if len(block.instructions) > 1 else None
    end = merge.words[0] if merge is not None and merge.opcode == Op.SelectionMerge else 0
    default, cases = _cases(editor, block.terminator)
    if default != end or any(len(literals) > 1 for label, literals in cases.items() if label != end):
        return True
    own = cases.keys() - {end}
    return any(not own.isdisjoint(targets(other)) for other in body.blocks if other is not block)


def _replace(editor: FunctionEditor, body: Body, block: Block) -> bool:
    """Let branches, one after the other, stand for a switch; the function's control flow is no longer structured.

    They lead to its labels in their order, the default first: the order of loops that are entered anywhere follows that
    (:mod:`coopmat.spirv.analysis.lock_step`).
    """
    default, cases = _cases(editor, block.terminator)
    selector = block.terminator.words[0]
    merge = block.instructions[-2:-1] if block.instructions[-2:-1] and block.instructions[-2].opcode in MERGES else []
    del block.instructions[-1 - len(merge):]
    ways = [(default, [literal for literals in cases.values() for literal in literals]), *cases.items()]
    chain, parents = [block], {label: block.label for label, _ in ways}
    for label, literals in ways[:-1]:
        rows = _is_one_of(editor, selector, literals)
        found, following = rows[-1].result_id or 0, Block(editor.new_id(), [])
        if label == default:  # where it is none of all
            rows.append(editor.row(Op.LogicalNot, editor.unique(Op.TypeBool), found))
            found = rows[-1].result_id or 0
        chain[-1].instructions += [*rows, make(Op.BranchConditional, found, label, following.label)]
        parents[label] = chain[-1].label
        chain.append(following)
    label, _ = ways[-1]
    chain[-1].instructions.append(make(Op.Branch, label))
    parents[label] = chain[-1].label
    block.instructions[-1:-1] = [row for row in merge if row.opcode == Op.LoopMerge]
    for one in chain[1:]:
        editor.add(make(Op.Label, result_id=one.label))
    place = body.blocks.index(block) + 1
    body.blocks[place:place] = chain[1:]
    for other in body.blocks:
        if other.label in parents:
            change_phis(other, _renamed(block.label, parents[other.label]))
    return True


def _is_one_of(editor: FunctionEditor, selector: int, literals: list[int]) -> list[Instruction]:
    """Whether a number is among several; the last row is the answer."""
    boolean, kind = editor.unique(Op.TypeBool), editor.definition(selector).type_id or 0
    bits = editor.definition(kind).words[0]
    rows: list[Instruction] = []
    for literal in literals:
        constant = editor.unique(Op.Constant, *encode_number(literal, max(1, bits // 32)), type_id=kind)
        found = rows[-1].result_id if rows else None
        rows.append(editor.row(Op.IEqual, boolean, selector, constant))
        if found is not None:
            rows.append(editor.row(Op.LogicalOr, boolean, found, rows[-1].result_id or 0))
    return rows


def _renamed(old: int, new: int) -> Callable[[Instruction], Instruction]:
    """Another parent in phis."""
    def renamed(phi: Instruction) -> Instruction:
        return with_words(phi, (new if place % 2 and word == old else word for place, word in enumerate(phi.words)))
    return renamed
