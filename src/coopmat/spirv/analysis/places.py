"""Where in the source an instruction comes from, and which kernels execute it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coopmat.diagnostics import SourceFile, SourceLocation
from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.grammar import ExecutionModel, Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction


def place_of(module: Content, wanted: Instruction) -> SourceLocation | None:
    """What the OpLine says that an instruction in a block stands under; None if there is none."""
    return next((place for row, place in _places(module, module.instructions) if row is wanted), None)


def places_in(module: Content, blocks: Iterable[Sequence[Instruction]]) -> dict[Instruction, SourceLocation]:
    """The same of all instructions in blocks, without those that have none."""
    return {row: place for block in blocks for row, place in _places(module, block) if place is not None}


def _places(module: Content, rows: Iterable[Instruction]) -> Iterator[tuple[Instruction, SourceLocation | None]]:
    place: SourceLocation | None = None
    for row in rows:
        if row.opcode == Op.Line:
            file, number, column = row.words
            place = SourceLocation(SourceFile(module.strings.get(file, ""), ""), number, max(1, column))
        elif row.opcode in (Op.NoLine, Op.Label):
            place = None
        yield row, place


def in_line(place: SourceLocation) -> str:
    """A file and a line, as messages end."""
    return f" ({place.file.name}:{place.line})"


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
