"""Specialisation: a module with its specialisation constants replaced by values (SPIR-V 2.12)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from coopmat.diagnostics import Error, value_text
from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.literals import FloatLayout, decode_float, encode_float, float_layout
from coopmat.spirv.module.operands import encode_number

Value = bool | int | float
Values = Mapping[int, Value] | Mapping[str, Value] | Mapping[int | str, Value]

_FROZEN = {Op.SpecConstantComposite: Op.ConstantComposite, Op.SpecConstant: Op.Constant,
           Op.SpecConstantTrue: Op.ConstantTrue, Op.SpecConstantFalse: Op.ConstantFalse}
WIDEST = 64
"""Bits of the widest numbers that constants can have here."""
_SCALARS = (Op.SpecConstant, Op.SpecConstantTrue, Op.SpecConstantFalse)


@dataclass(frozen=True, slots=True)
class SpecConstant:
    """A specialisation constant: its SpecId, its name (OpName) if it has one, its type as text, its default."""

    spec_id: int
    name: str | None
    type: str
    default: Value | None

    def __str__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"{self.spec_id}{name}: {self.type}, default {self.default}"


def spec_constants(module: Module) -> list[SpecConstant]:
    """The specialisation constants of a module that can be set, in order."""
    return [_described(module, item) for items in _by_number(module).values() for item in items]


def _described(module: Module, item: Instruction) -> SpecConstant:
    identifier = item.result_id or 0
    number = next(words[0] for decoration, words in module.decorations(identifier) if decoration == Decoration.SpecId)
    return SpecConstant(number, module.names.get(identifier), _type_text(module, item),
                        module.constant_value(identifier))


def resolve(module: Module, values: Values) -> dict[int, Value]:
    """The same values by SpecId.  Error for a constant that does not exist."""
    if not isinstance(values, Mapping):
        raise Error("the values of specialisation constants are a dict from SpecId or name to value, "
                    f"not {type(values).__name__}")
    by_number = _by_number(module)
    found: dict[int, Value] = {}
    for key, value in values.items():
        number = _number_of(module, by_number, key)
        if number in found:
            raise Error(f"specialisation constant {number} has two values: {value_text(found[number])} and "
                        f"{value_text(value)}")
        found[number] = value
    return found


def specialize(module: Module, values: Values) -> Module:
    """A new module in which specialisation constants are constants: with these values, else with their defaults.

    values: by SpecId, or by the name that OpName gives the constant.  Raises Error for a constant that does
    not exist, or a value that does not fit its type.
    """
    by_number = _by_number(module)
    chosen = {item.result_id or 0: value for number, value in resolve(module, values).items()
              for item in by_number[number]}
    instructions = [_frozen(module, item, chosen) for item in module.instructions if not _is_number(item)]
    frozen = Module(instructions, version=module.version, generator=module.generator, bound=module.bound,
                    schema=module.schema)
    return _folded(frozen)


def frozen(module: Module) -> Module:
    """The module with every specialisation constant at its default; itself if it has none."""
    return specialize(module, {}) if any(module.of_opcode(*_FROZEN, Op.SpecConstantOp)) else module


def _is_number(item: Instruction) -> bool:
    return item.opcode == Op.Decorate and item.words[1] == Decoration.SpecId


def _by_number(module: Module) -> dict[int, list[Instruction]]:
    """SpecId → the constants that bear it (several, where modules were linked)."""
    found: dict[int, list[Instruction]] = {}
    for item in module.of_opcode(Op.Decorate):
        if _is_number(item) and len(item.words) > 2 and module.defines(item.words[0]):
            constant = module.definition(item.words[0])
            if constant.opcode in _SCALARS and _is_scalar(module.definition(constant.type_id or 0)):
                found.setdefault(item.words[2], []).append(constant)
    return found


def _is_scalar(kind: Instruction) -> bool:
    return kind.opcode == Op.TypeBool or (kind.opcode in (Op.TypeInt, Op.TypeFloat)
                                          and 0 < kind.words[0] <= WIDEST)


def _number_of(module: Module, by_number: Mapping[int, list[Instruction]], key: int | str) -> int:
    if isinstance(key, int) and not isinstance(key, bool) and key in by_number:
        return key
    named = {number for number, items in by_number.items() for item in items
             if isinstance(key, str) and module.names.get(item.result_id or 0) == key}
    if len(named) == 1:
        return named.pop()
    if named:
        raise Error(f"the name {value_text(key)} is that of the specialisation constants "
                    f"{', '.join(map(str, sorted(named)))}: "
                    "choose one by its number")
    known = "; ".join(map(str, spec_constants(module)))
    raise Error(f"the module has no specialisation constant {value_text(key)}: " +
                (f"its constants are {known}" if known else "it has none"))


def _type_text(module: Module, item: Instruction) -> str:
    kind = module.definition(item.type_id or 0)
    if kind.opcode == Op.TypeBool:
        return "bool"
    if kind.opcode == Op.TypeInt:
        return f"{'sint' if kind.words[1] else 'uint'}{kind.words[0]}"
    return f"fp{kind.words[0]}" if len(kind.words) == 1 else "float"


def _frozen(module: Module, item: Instruction, chosen: Mapping[int, Value]) -> Instruction:
    if item.opcode not in _FROZEN:
        return item
    value = chosen.get(item.result_id or 0)
    if value is not None:
        opcode, words = _encoded(module, item, value)
        return Instruction(opcode, item.type_id, item.result_id, words, None, item.context)
    return Instruction(_FROZEN[Op(item.opcode)], item.type_id, item.result_id, item.words, None, item.context)


def _encoded(module: Module, item: Instruction, value: Value) -> tuple[Op, tuple[int, ...]]:
    """The instruction and the words of a constant of the item's type."""
    kind = module.definition(item.type_id or 0)
    if kind.opcode == Op.TypeBool:
        if isinstance(value, bool | int) and value in (0, 1):
            return (Op.ConstantTrue if value else Op.ConstantFalse), ()
        expected = "true or false"
    elif kind.opcode == Op.TypeInt:
        width = kind.words[0]
        if _is_integer(value) and -(1 << width - 1) <= value < 1 << width:
            return Op.Constant, integer_words(int(value), kind)
        expected = f"an integer from {-(1 << width - 1)} to {(1 << width) - 1}"
    else:
        layout = float_layout(*kind.words)
        bits = None if layout is None else _float_bits(value, layout)
        if bits is not None:
            return Op.Constant, encode_number(bits, (kind.words[0] + 31) // 32)
        expected = "a number in its range"
    raise Error(f"specialisation constant {_described(module, item)}: {value_text(value)} does not fit; expected "
                f"{expected}")


def _is_integer(value: Value) -> bool:
    return isinstance(value, int | np.integer | np.bool_)


def _float_bits(value: Value, layout: FloatLayout) -> int | None:
    """The bits of the nearest number; None for what is no number, or is finite and too large."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating | bfloat16):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    bits = encode_float(number, layout)
    return None if math.isfinite(number) and not math.isfinite(decode_float(bits, layout)) else bits


def integer_words(value: int, kind: Instruction) -> tuple[int, ...]:
    """The words of a number: of a type narrower than a word the sign fills the rest, if it has one."""
    width, signed = kind.words
    value &= (1 << width) - 1
    return encode_number(_signed(value, width) if signed else value, (width + 31) // 32)


# --------------------------------------------------------------------------------------
# Constant operations
# --------------------------------------------------------------------------------------


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 & 1 else value


def _toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# Operation → function of the operands as unsigned numbers of the given width; None where it is not defined.
INTEGER_OPERATIONS: dict[int, Callable[..., int | None]] = {
    Op.IAdd: lambda w, a, b: a + b,
    Op.ISub: lambda w, a, b: a - b,
    Op.IMul: lambda w, a, b: a * b,
    Op.UDiv: lambda w, a, b: a // b if b else None,
    Op.UMod: lambda w, a, b: a % b if b else None,
    Op.SDiv: lambda w, a, b: _toward_zero(_signed(a, w), _signed(b, w)) if b else None,
    Op.SRem: lambda w, a, b: _signed(a, w) - _signed(b, w) * _toward_zero(_signed(a, w), _signed(b, w)) if b else None,
    Op.SMod: lambda w, a, b: _signed(a, w) % _signed(b, w) if b else None,
    Op.ShiftLeftLogical: lambda w, a, b: a << b if b < w else None,
    Op.ShiftRightLogical: lambda w, a, b: a >> b if b < w else None,
    Op.ShiftRightArithmetic: lambda w, a, b: _signed(a, w) >> b if b < w else None,
    Op.BitwiseAnd: lambda w, a, b: a & b,
    Op.BitwiseOr: lambda w, a, b: a | b,
    Op.BitwiseXor: lambda w, a, b: a ^ b,
    Op.Not: lambda w, a: ~a,
    Op.SNegate: lambda w, a: -a,
    Op.UConvert: lambda w, a: a,
    Op.SConvert: lambda w, a: _signed(a, w),
    Op.IEqual: lambda w, a, b: a == b,
    Op.INotEqual: lambda w, a, b: a != b,
    Op.ULessThan: lambda w, a, b: a < b,
    Op.ULessThanEqual: lambda w, a, b: a <= b,
    Op.UGreaterThan: lambda w, a, b: a > b,
    Op.UGreaterThanEqual: lambda w, a, b: a >= b,
    Op.SLessThan: lambda w, a, b: _signed(a, w) < _signed(b, w),
    Op.SLessThanEqual: lambda w, a, b: _signed(a, w) <= _signed(b, w),
    Op.SGreaterThan: lambda w, a, b: _signed(a, w) > _signed(b, w),
    Op.SGreaterThanEqual: lambda w, a, b: _signed(a, w) >= _signed(b, w),
    Op.LogicalAnd: lambda w, a, b: a & b,
    Op.LogicalOr: lambda w, a, b: a | b,
    Op.LogicalEqual: lambda w, a, b: a == b,
    Op.LogicalNotEqual: lambda w, a, b: a != b,
    Op.LogicalNot: lambda w, a: not a,
    Op.Select: lambda w, c, a, b: a if c else b,
}


def _folded(module: Module) -> Module:
    """The module with operations on scalar constants replaced by their results, where these are defined."""
    known: dict[int, tuple[int, int]] = {}  # id → value as an unsigned number, width
    types: dict[int, Instruction] = {}
    instructions = []
    for item in module.instructions:
        if item.opcode in (Op.TypeInt, Op.TypeBool) and item.result_id is not None and _is_scalar(item):
            types[item.result_id] = item
        kind = types.get(item.type_id or 0)
        if kind is not None and item.opcode == Op.SpecConstantOp:
            item = _fold(item, kind, known)
        if kind is not None and item.result_id is not None:
            _remember(item, kind, known)
        instructions.append(item)
    return Module(instructions, version=module.version, generator=module.generator, bound=module.bound,
                  schema=module.schema)


def _width(kind: Instruction) -> int:
    return 1 if kind.opcode == Op.TypeBool else kind.words[0]


def _remember(item: Instruction, kind: Instruction, known: dict[int, tuple[int, int]]) -> None:
    assert item.result_id is not None
    if item.opcode in (Op.ConstantTrue, Op.ConstantFalse):
        known[item.result_id] = (int(item.opcode == Op.ConstantTrue), 1)
    elif item.opcode in (Op.Constant, Op.ConstantNull):
        value = sum(word << 32 * i for i, word in enumerate(item.words))
        known[item.result_id] = (value & (1 << _width(kind)) - 1, _width(kind))


def _fold(item: Instruction, kind: Instruction, known: Mapping[int, tuple[int, int]]) -> Instruction:
    operation = INTEGER_OPERATIONS.get(item.words[0])
    operands: list[Any] = [known.get(word) for word in item.words[1:]]
    if operation is None or not operands or None in operands:
        return item
    value = operation(operands[0][1], *(number for number, _ in operands))
    if value is None:
        return item
    width = _width(kind)
    value = int(value) & (1 << width) - 1
    if kind.opcode == Op.TypeBool:
        return Instruction(Op.ConstantTrue if value else Op.ConstantFalse, item.type_id, item.result_id, ())
    return Instruction(Op.Constant, item.type_id, item.result_id, integer_words(value, kind))
