"""Which operation a function of two numbers is: what the CombineFunc of a reduction computes, where it is a usual one.

Compilers write such a function in many ways: with its parameters in variables, with numbers of a narrow type computed
in a wider one. The names are those of the instructions: ``FAdd`` of SPIR-V, ``fmax`` of OpenCL.std.
"""

from __future__ import annotations

from coopmat.spirv.grammar import OPENCL_STD_NAMES, Op
from coopmat.spirv.module.content import Content, Function

_OPERATIONS = frozenset({Op.FAdd, Op.FMul, Op.IAdd, Op.IMul, Op.BitwiseAnd, Op.BitwiseOr, Op.BitwiseXor})
_STD_OPERATIONS = frozenset({"fmax", "fmin", "fmax_common", "fmin_common", "s_max", "s_min", "u_max", "u_min"})
_WITHOUT_EFFECT = frozenset({Op.Variable, Op.Line, Op.NoLine, Op.Name})
_WIDE_ENOUGH = 2  # a type of twice as many bits holds sums and products closely enough: rounding again is harmless

COMBINATIONS = frozenset({*(op.name for op in _OPERATIONS), *_STD_OPERATIONS})
"""The names."""


def combination_of(module: Content, identifier: int) -> str | None:
    """The name of the operation that a function applies to its two parameters; None if it is another function."""
    function = module.function(identifier)
    if len(function.blocks) != 1 or len(function.parameters) != 2:
        return None
    return _Reader(module, function).result()


class _Reader:
    """Follows the values of a function of one block: they are the parameters' numbers, or the operation's name."""

    def __init__(self, module: Content, function: Function) -> None:
        self.module = module
        self.block = function.blocks[0]
        self.values: dict[int, int | str] = {
            parameter.result_id or 0: number for number, parameter in enumerate(function.parameters)}
        self.held: dict[int, int | str] = {}  # by variables

    def result(self) -> str | None:
        for row in self.block.instructions[:-1]:
            if row.opcode in _WITHOUT_EFFECT:
                continue
            if row.opcode == Op.Store:
                if row.words[1] not in self.values:
                    return None
                self.held[row.words[0]] = self.values[row.words[1]]
                continue
            found = self._value(row.opcode, row.type_id or 0, row.words)
            if found is None or row.result_id is None:
                return None
            self.values[row.result_id] = found
        end = self.block.terminator
        found = self.values.get(end.words[0]) if end.opcode == Op.ReturnValue else None
        return found if isinstance(found, str) else None

    def _value(self, opcode: int, type_id: int, words: tuple[int, ...]) -> int | str | None:
        if opcode == Op.Load:
            return self.held.get(words[0])
        if opcode == Op.FConvert:
            return self.values.get(words[0]) if self._is_harmless(words[0], type_id) else None
        operands, name = words, Op(opcode).name
        if opcode == Op.ExtInst:
            number, operands = words[1], words[2:]
            name = OPENCL_STD_NAMES.get(number, "") if self._is_std(words[0]) else ""
        is_operation = opcode in _OPERATIONS or (opcode == Op.ExtInst and name in _STD_OPERATIONS)
        of_both = {self.values.get(word) for word in operands} == {0, 1} and len(operands) == 2
        return name if is_operation and of_both else None

    def _is_std(self, identifier: int) -> bool:
        return self.module.instruction_sets.get(identifier) == "OpenCL.std"

    def _is_harmless(self, operand: int, type_id: int) -> bool:
        """Whether a conversion leads to a type so wide, or back, that the operation gives what it gives without."""
        before = self.module.definition(self.module.definition(operand).type_id or 0).words[0]
        after = self.module.definition(type_id).words[0]
        return max(before, after) >= _WIDE_ENOUGH * min(before, after)
