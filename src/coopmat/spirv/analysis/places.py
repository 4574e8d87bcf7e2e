"""Where in the source an instruction comes from, and which kernels execute it."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import SourceFile, SourceLocation
from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.grammar import ExecutionModel, Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction


def place_of(module: Content, wanted: Instruction) -> SourceLocation | None:
    """What the OpLine says that an instruction in a block stands under; None if there is none."""
    line: Instruction | None = None
    for row in module.instructions:
        if row.opcode == Op.Line:
            line = row
        elif row.opcode in (Op.NoLine, Op.Label):
            line = None
        if row is wanted:
            break
    else:
        return None  # a copy, as inlining makes them
    if line is None:
        return None
    file, number, column = line.words
    return SourceLocation(SourceFile(module.strings.get(file, ""), ""), number, max(1, column))


def line_text(module: Content, line: Instruction) -> str:
    """The place that an OpLine tells, as messages show it."""
    file, number, column = line.words
    return f"{module.strings.get(file, '')}:{number}" + (f":{column}" if column else "")


def reachable_instructions(module: Content, kernel: str | None) -> Iterator[Instruction]:
    """The parameters and instructions of all functions that a kernel (None: any kernel) can reach."""
    functions = {function.id: function for function in module.functions}
    waiting = [entry.function_id for entry in module.entry_points
               if entry.model == ExecutionModel.Kernel and kernel in (None, entry.name)]
    found: set[int] = set()
    while waiting:
        identifier = waiting.pop()
        if identifier in found or identifier not in functions:
            continue
        found.add(identifier)
        function = functions[identifier]
        yield from function.parameters
        for block in function.blocks:
            for row in block.instructions:
                waiting += callees_of(row)
                yield row


def kernel_with(module: Content, wanted: Instruction) -> str | None:
    """The first kernel that can reach an instruction."""
    return next((entry.name for entry in module.entry_points if entry.model == ExecutionModel.Kernel
                 and any(row is wanted for row in reachable_instructions(module, entry.name))), None)
