"""Failed assertions: the first that comes to one is noted in the print buffer, and the work-item goes on.

It cannot end there: others may wait for it at a barrier.
"""

from __future__ import annotations

from coopmat.spirv.analysis.imports import is_assertion
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions.printing import FAILED, WORD, known_string
from coopmat.spirv.transform.to_vulkan.memory import Place
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U32, U64
from coopmat.support.assertions import EXPRESSION, FILE, LINE, message, place


def is_failure(module: Content, row: Instruction) -> bool:
    """Whether an instruction says that an assertion has failed."""
    return row.opcode == Op.FunctionCall and is_assertion(module, row.words[0])


def _failed(t: Translation, row: Instruction) -> None:
    """The number of the assertion, counted from 1, goes to its word if none is there."""
    given, writer = row.words[1:], t.writer
    text, file = (known_string(t, given[index]) if len(given) > index else None for index in (EXPRESSION, FILE))
    line = t.integer_of(given[LINE]) if len(given) > LINE else None
    found = place_of(t.module, row)
    location = f"{found.file.name}:{found.line}" if found is not None else place(file, line)
    t.assertions.append(message(text) + (f" (at {location})" if location else ""))
    address = writer.add(U64, t.block.hidden("printf"), writer.integer(FAILED * WORD, U64))
    relaxed = writer.integer(0)
    writer.op(Op.AtomicCompareExchange, U32, t.memory.pointer(U32, Place(address, 4)),
              writer.integer(t.device_scope()), relaxed, relaxed, writer.integer(len(t.assertions)), writer.integer(0))


HANDLERS: dict[int, Handler] = {Op.FunctionCall: _failed}
"""The only calls that a kernel without calls has."""
