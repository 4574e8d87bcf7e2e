"""One call of a built-in function, and the instructions that take its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.llvm.to_spirv.names import BuiltinName, PointerCode
from coopmat.llvm.to_spirv.types import type_of
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import (
    ENUMERATIONS,
    ID_KINDS,
    Decoration,
    FPRoundingMode,
    InstructionRow,
    Mask,
    Op,
    OperandSpec,
    operands_of,
    parameters,
)
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import mask_bits

ROUNDING_MODES = {"rte": FPRoundingMode.RTE, "rtz": FPRoundingMode.RTZ, "rtp": FPRoundingMode.RTP,
                  "rtn": FPRoundingMode.RTN}
"""OpenCL C's suffixes of conversions."""


@dataclass
class ImportedCall:
    """An OpFunctionCall of an imported function. ``function`` is the name in the user's IR; what
    :meth:`emit` and :meth:`value` append replaces the call."""

    editor: Editor
    function: str
    name: BuiltinName
    result_type: int
    result: int
    arguments: list[int]
    code: list[Instruction] = field(default_factory=list)

    def fail(self, reason: str) -> CompileError:
        """The error that says why this call cannot become an instruction."""
        return CompileError([Diagnostic("error", f"call of '{self.function}': {reason}", None)])

    # -- the new instructions --------------------------------------------------------

    def value(self, op: Op, type_id: int, *words: int | IntEnum, result: int | None = None) -> int:
        """Append an instruction with a result; its id."""
        identifier = self.editor.new_id() if result is None else result
        self.code.append(self.editor.add(make(op, *words, type_id=type_id, result_id=identifier)))
        return identifier

    def effect(self, op: Op, *words: int | IntEnum) -> None:
        """Append an instruction without a result."""
        self.code.append(make(op, *words))

    def replace(self, op: Op, *words: int | IntEnum) -> None:
        """Append the instruction whose result is the call's."""
        self.value(op, self.result_type, *words, result=self.result)
        if self.name.saturates:
            self.editor.decorate(self.result, Decoration.SaturatedConversion)
        if self.name.rounding is not None:
            self.editor.decorate(self.result, Decoration.FPRoundingMode, ROUNDING_MODES[self.name.rounding])

    def instruction(self, row: InstructionRow) -> None:
        """Append the instruction of ``row``: the arguments fill its operands in the grammar's order."""
        words = _Filler(self, row).fill()
        if row.has_type:
            if self.editor.definition(self.result_type).opcode == Op.TypeVoid:
                raise self.fail(f"{row.name} has a result, but the function is declared to return void")
            self.replace(row.opcode, *words)
        else:
            self.effect(row.opcode, *words)

    # -- arguments -------------------------------------------------------------------

    def expect(self, *counts: int) -> None:
        """Raise unless the call has one of these numbers of arguments."""
        if len(self.arguments) not in counts:
            wanted = " or ".join(map(str, counts))
            noun = "argument" if counts == (1,) else "arguments"
            raise self.fail(f"expected {wanted} {noun}, found {len(self.arguments)}")

    def literal(self, argument: int, what: str) -> int:
        """The value of an argument that must be an integer constant."""
        found = self.editor.integer(argument)
        if found is None:
            raise self.fail(f"expected an integer constant as {what}")
        return found

    def argument_type(self, index: int) -> Instruction:
        """The type of an argument, which must be there."""
        if index >= len(self.arguments):
            noun = "arguments" if index else "argument"
            raise self.fail(f"expected at least {index + 1} {noun}, found {len(self.arguments)}")
        return self.editor.type_of(self.arguments[index])

    def point_to(self, index: int, pointee: int) -> None:
        """Make the pointer argument ``index`` a pointer to ``pointee``: LLVM's pointers have no type, and
        the back end passes them to functions as pointers to bytes."""
        pointer = self.argument_type(index)
        if pointer.opcode != Op.TypePointer:
            raise self.fail(f"expected a pointer as argument {index + 1}")
        wanted = self.editor.type_pointer(pointer.words[0], pointee)
        if pointer.result_id != wanted:
            self.arguments[index] = self.value(Op.Bitcast, wanted, self.arguments[index])

    def point_as_named(self) -> None:
        """Give pointer arguments the pointees that the function's name tells."""
        for index, code in enumerate(self.name.parameters[:len(self.arguments)]):
            if isinstance(code, PointerCode) and code.pointee is not None \
                    and self.argument_type(index).opcode == Op.TypePointer:
                self.point_to(index, type_of(code.pointee, self.editor))


class _Filler:
    """Fills a row's operands from a call's arguments: an id is passed on, a literal must be constant."""

    def __init__(self, call: ImportedCall, row: InstructionRow) -> None:
        self.call = call
        self.row = row
        self.waiting = list(call.arguments)
        self.words: list[int] = []

    def fill(self) -> list[int]:
        self.fill_all(operands_of(self.row, len(self.waiting)))
        if self.waiting:
            count = len(self.call.arguments)
            raise self.call.fail(f"{self.row.name} takes {count - len(self.waiting)} operands, found {count} "
                                 f"arguments")
        return self.words

    def fill_all(self, specs: Sequence[OperandSpec]) -> None:
        for kind, quantifier in specs:
            if quantifier == "*":
                while self.waiting:
                    self.fill_one(kind)
            elif quantifier != "?" or self.waiting:
                self.fill_one(kind)

    def fill_one(self, kind: str) -> None:
        if not self.waiting:
            raise self.call.fail(f"{self.row.name} has more operands than the {len(self.call.arguments)} "
                                 f"arguments given; the next one is of kind {kind}")
        argument = self.waiting.pop(0)
        if kind in ID_KINDS:
            self.words.append(argument)
            return
        word = self.call.literal(argument, f"{self.row.name}'s operand of kind {kind}") & 0xFFFFFFFF
        self.words.append(word)
        enumeration = ENUMERATIONS.get(kind)
        if enumeration is None:
            return
        if issubclass(enumeration, Mask):
            for bit in mask_bits(enumeration, word) or ():
                self.fill_all(parameters(bit))
        elif word in enumeration._value2member_map_:
            self.fill_all(parameters(enumeration(word)))
