"""Calls of the functions that failed assertions call: the first that comes to one is noted for the host."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.support.assertions import EXPRESSION, FILE, LINE, place
from coopmat.targets.llvm.emitter import Emitter, Handler, unsupported
from coopmat.targets.llvm.instructions.printing import known_string
from coopmat.targets.llvm.values import Value


def _call(emitter: Emitter, row: Instruction) -> Value | None:
    """The only calls that a kernel without calls has."""
    if emitter.checks is None:
        raise unsupported(row, emitter.machine.name)
    given = row.words[1:]
    text, file = (known_string(emitter, given[index]) if len(given) > index else None for index in (EXPRESSION, FILE))
    line = emitter.constant_of(given[LINE]) if len(given) > LINE else None
    emitter.checks.assertion((text or b"").decode("utf-8", "replace"), place(file, line))
    return None


OPERATIONS: dict[int, Handler] = {Op.FunctionCall: _call}
