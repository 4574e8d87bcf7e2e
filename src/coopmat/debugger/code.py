"""What is known of a kernel's code before it runs: its functions, the lines of their instructions, their variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from coopmat.spirv.grammar import TERMINATORS, Op, StorageClass
from coopmat.spirv.module import Instruction, Module
from coopmat.support.cached import cached_property

if TYPE_CHECKING:
    from coopmat.targets.simulator.compiler import FunctionCompiler
    from coopmat.targets.simulator.state import Frame, Step

    Before = Callable[[Frame, "Code"], None]

_LOCATION = re.compile(r"(.*?):(\d+)(?::\d+)?")
UNSIGNED = re.compile(r"(const |volatile )*(u(char|short|int|long)|unsigned|size_t|uint)")


@dataclass(frozen=True)
class Line:
    """A line of the source."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, eq=False)
class Code:
    """An instruction; ``index`` counts those of its function, ``line`` is None where the module tells none,
    and at the end of a function that returns nothing."""

    function: FunctionCode
    index: int
    row: Instruction
    line: Line | None

    @property
    def place(self) -> str:
        """Its line in words; the end of a function that returns nothing has none."""
        return str(self.line) if self.line is not None else \
            "its end" if self.row.opcode == Op.Return else "an unknown line"


@dataclass(frozen=True)
class Variable:
    """A variable or a parameter of a function, or one of the module. ``first`` and ``last`` are the indices of the
    instructions that use it first and last."""

    name: str
    identifier: int
    type_id: int  # of a variable that of what it holds
    is_variable: bool
    is_unsigned: bool = False
    first: int = 0
    last: int = 0


@dataclass(eq=False)
class FunctionCode:
    """A function as it is compiled: ``codes`` are the instructions that are executed, in the module's order."""

    compiler: FunctionCompiler
    codes: list[Code] = field(default_factory=list)
    blocks: dict[int, Line | None] = field(default_factory=dict)  # id of a block's last step → its first line
    block_line: Line | None = None

    @cached_property
    def name(self) -> str:
        """What the source calls it."""
        return self.compiler.kernel.function_name(self.identifier)

    @property
    def identifier(self) -> int:
        """The function's id in the module."""
        assert self.compiler.source is not None
        return self.compiler.source.id

    @property
    def first_line(self) -> Line | None:
        """The first line that is executed."""
        return next((code.line for code in self.codes if code.line is not None), None)

    @cached_property
    def variables(self) -> list[Variable]:
        """Parameters, then variables, in the module's order."""
        source, module = self.compiler.source, self.compiler.module
        assert source is not None
        kernel = self.compiler.kernel.kernel
        unsigned = unsigned_parameters(module, kernel) if self.name == kernel else ()
        flags = [*unsigned, *[False] * (len(source.parameters) - len(unsigned))]
        found = [Variable(module.names[row.result_id], row.result_id, row.type_id, False, flag)
                 for row, flag in zip(source.parameters, flags, strict=True)
                 if row.result_id in module.names and row.type_id is not None]
        uses: dict[int, list[int]] = {}
        for index, row in enumerate(self._rows):
            for used in row.ids() if row.opcode != Op.Variable else ():
                uses.setdefault(used, []).append(index)
        for row in self._rows:
            if row.opcode == Op.Variable and row.result_id in module.names:
                places = uses.get(row.result_id, [0])
                found.append(variable_of(module, row, places[0], places[-1]))
        return found

    @cached_property
    def _rows(self) -> list[Instruction]:
        assert self.compiler.source is not None
        return [row for block in self.compiler.source.blocks for row in block.instructions]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(row): index for index, row in enumerate(self._rows)}

    def find(self, name: str, code: Code | None) -> Variable | None:
        """What a name means at an instruction: of several variables of one name the one in use, the last one first."""
        named = [variable for variable in self.variables if variable.name == name]
        place = self._places.get(id(code.row), 0) if code is not None else 0
        used = [variable for variable in named if variable.is_variable and variable.first <= place <= variable.last]
        declared = [variable for variable in named if variable.is_variable and variable.first <= place]
        return max(used or declared[-1:] or named[-1:], key=lambda variable: variable.first, default=None)


def variable_of(module: Module, row: Instruction, first: int = 0, last: int = 0) -> Variable:
    """The variable that an OpVariable declares."""
    assert row.result_id is not None
    assert row.type_id is not None
    pointee = module.definition(row.type_id).words[1]
    return Variable(module.names[row.result_id], row.result_id, pointee, True, False, first, last)


def unsigned_parameters(module: Module, kernel: str) -> Sequence[bool]:
    """Whether the integers of each of a kernel's parameters have no sign, as far as the module tells."""
    signature = module.kernel_signatures.get(kernel)
    return [bool(parameter.type_name and UNSIGNED.match(parameter.type_name))
            for parameter in signature.parameters] if signature is not None else ()


def module_variables(module: Module) -> dict[str, Variable]:
    """The variables outside of functions by their names, and local ones, which SPIR-V has there, too."""
    return {module.names[row.result_id]: variable_of(module, row) for row in module.of_opcode(Op.Variable)
            if row.result_id in module.names and row.words[0] not in (StorageClass.Function, StorageClass.Input)}


def line_of(location: str | None) -> Line | None:
    """The line of a place as messages have it."""
    match = _LOCATION.fullmatch(location or "")
    return Line(match[1], int(match[2])) if match else None


class CodeTable:
    """An instrument that notes the code as it is compiled, and has ``watcher`` called before each instruction."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.functions: dict[FunctionCompiler, FunctionCode] = {}

    def instrument(self, compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
        """See :data:`coopmat.targets.simulator.compiler.Instrument`."""
        is_last = row.opcode in TERMINATORS
        is_declaration = row.opcode == Op.Variable and len(row.words) < 2
        if compiler.source is None or is_declaration or (step is None and not is_last):
            return step
        function = self.functions.setdefault(compiler, FunctionCode(compiler))
        line = line_of(compiler.site(row).location)
        code = Code(function, len(function.codes), row, None if _is_end(function, row, line) else line)
        function.codes.append(code)
        function.block_line = function.block_line or code.line
        before = self.watcher.before
        if is_last:  # a step that it has is one of the simulator's checks
            last = partial(_before, before, code) if step is None else partial(_stepped, before, code, step)
            function.blocks[id(last)], function.block_line = function.block_line, None
            return last
        assert step is not None
        if row.opcode == Op.FunctionCall:
            return partial(_called, self.watcher, code, step)
        return partial(_stepped, before, code, step)

    def lines(self, file: str) -> list[int]:
        """The lines of a file that have code."""
        return sorted({code.line.number for function in self.functions.values() for code in function.codes
                       if code.line is not None and code.line.file == file})

    @property
    def files(self) -> list[str]:
        """The files that the code comes from."""
        return sorted({code.line.file for function in self.functions.values() for code in function.codes
                       if code.line is not None})


def _is_end(function: FunctionCode, row: Instruction, line: Line | None) -> bool:
    """Whether this is the end of a function that returns nothing: it stands under the line of the function's head."""
    first = function.first_line if function.codes else None
    return row.opcode == Op.Return and line is not None and first is not None and line.number < first.number


class Watcher:
    """What a table of code calls while a kernel runs."""

    def before(self, frame: Frame, code: Code) -> None:
        """An instruction will be executed."""
        raise NotImplementedError

    def enter(self, frame: Frame) -> None:
        """A function is called."""
        raise NotImplementedError

    def leave(self, frame: Frame, code: Code) -> None:
        """The function that a call instruction called has returned."""
        raise NotImplementedError


def _before(before: Before, code: Code, frame: Frame) -> None:
    before(frame, code)


def _stepped(before: Before, code: Code, step: Step, frame: Frame) -> None:
    before(frame, code)
    step(frame)


def _called(watcher: Watcher, code: Code, step: Step, frame: Frame) -> None:
    watcher.before(frame, code)
    watcher.enter(frame)
    step(frame)
    watcher.leave(frame, code)
