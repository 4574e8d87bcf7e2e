"""What becomes of a value: for messages that say what a position, or a variable, is used for."""

from __future__ import annotations

from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import CHAINS, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.facts import PURE

_SAID = {Op.BranchConditional: "a branch", Op.Store: "what is stored in memory", Op.Load: "what is loaded from memory",
         Op.Switch: "a switch"}
_ON_THE_WAY = PURE | {Op.Phi, Op.Select}


def effect_of(editor: FunctionEditor, body: Body, identifier: int) -> Instruction | None:
    """The first instruction of a function that does something else with a value, or with what is computed from it, than
    to compute numbers."""
    found = {identifier}
    while True:
        more = {row.result_id or 0 for row in body.rows() if row.opcode in _ON_THE_WAY and found.intersection(row.ids())
                and not _is_matrix(editor, row)}
        if more <= found:
            break
        found |= more
    return next((row for row in body.rows() if found.intersection(row.ids())
                 and (row.opcode not in _ON_THE_WAY or _is_matrix(editor, row))), None)


def said_of(editor: FunctionEditor, row: Instruction) -> str:
    """What an instruction does, in messages."""
    if _is_matrix(editor, row):
        return f"a matrix ({row.name})"
    return _SAID.get(Op(row.opcode), row.name)


def holds_matrix(editor: FunctionEditor, variable: Instruction) -> bool:
    """Whether a variable is a matrix, or an array or structure of matrices."""
    waiting = [editor.definition(variable.type_id or 0).words[1]]
    while waiting:
        kind = editor.definition(waiting.pop())
        if kind.opcode == Op.TypeCooperativeMatrixKHR:
            return True
        waiting += kind.words[:1] if kind.opcode == Op.TypeArray else (
            kind.words if kind.opcode == Op.TypeStruct else ())
    return False


def access_to(body: Body, variable: Instruction) -> Instruction:
    """Where a variable is reached by an index first; where it is used first; the variable itself if it is not."""
    used = [row for row in body.rows() if (variable.result_id or 0) in row.ids()]
    return next((row for row in used if row.opcode in CHAINS), used[0] if used else variable)


def _is_matrix(editor: FunctionEditor, row: Instruction) -> bool:
    return row.type_id is not None and editor.definition(row.type_id).opcode == Op.TypeCooperativeMatrixKHR
