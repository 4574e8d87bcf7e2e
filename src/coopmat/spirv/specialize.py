"""Specialisation: a module with its specialisation constants replaced by values (SPIR-V 2.12)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.instruction import Instruction, encode_number
from coopmat.spirv.literals import encode_float, float_layout
from coopmat.spirv.module import Module

Value = bool | int | float

_FROZEN = {Op.SpecConstantComposite: Op.ConstantComposite, Op.SpecConstant: Op.Constant,
           Op.SpecConstantTrue: Op.ConstantTrue, Op.SpecConstantFalse: Op.ConstantFalse}
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
    return [SpecConstant(number, module.names.get(item.result_id or 0), _type_text(module, item),
                         module.constant_value(item.result_id or 0))
            for number, item in _by_number(module).items()]


def specialize(module: Module, values: Mapping[int | str, Value]) -> Module:
    """A new module in which specialisation constants are constants: with these values, else with their defaults.

    values: by SpecId, or by the name that OpName gives the constant.  Raises Error for a constant that does
    not exist, or a value that does not fit its type.
    """
    by_number = _by_number(module)
    chosen: dict[int, Value] = {}
    for key, value in values.items():
        item = _find(module, by_number, key)
        chosen[item.result_id or 0] = value
    instructions = [_frozen(module, item, chosen) for item in module.instructions if not _is_number(item)]
    frozen = Module(instructions, version=module.version, generator=module.generator, bound=module.bound,
                    schema=module.schema)
    return _folded(frozen)


def _is_number(item: Instruction) -> bool:
    return item.opcode == Op.Decorate and item.words[1] == Decoration.SpecId


def _by_number(module: Module) -> dict[int, Instruction]:
    """SpecId → the constant."""
    found = {}
    for item in module.of_opcode(Op.Decorate):
        if _is_number(item) and len(item.words) > 2 and module.defines(item.words[0]):
            constant = module.definition(item.words[0])
            if constant.opcode in _SCALARS:
                found[item.words[2]] = constant
    return found


def _find(module: Module, by_number: Mapping[int, Instruction], key: int | str) -> Instruction:
    if isinstance(key, int) and not isinstance(key, bool) and key in by_number:
        return by_number[key]
    named = [item for item in by_number.values() if isinstance(key, str) and
             module.names.get(item.result_id or 0) == key]
    if len(named) == 1:
        return named[0]
    known = "; ".join(map(str, spec_constants(module)))
    raise Error(f"the module has no specialisation constant {key!r}: " +
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
    elif kind.opcode == Op.TypeInt:
        width = kind.words[0]
        if isinstance(value, int) and -(1 << width - 1) <= value < 1 << width:
            return Op.Constant, _integer_words(int(value), kind)
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        layout = float_layout(*kind.words)
        if layout is not None:
            return Op.Constant, encode_number(encode_float(float(value), layout), (kind.words[0] + 31) // 32)
    raise Error(f"specialisation constant of type {_type_text(module, item)}: {value!r} does not fit")


def _integer_words(value: int, kind: Instruction) -> tuple[int, ...]:
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
_OPERATIONS: dict[int, Callable[..., int | None]] = {
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
        if item.opcode in (Op.TypeInt, Op.TypeBool) and item.result_id is not None:
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
    operation = _OPERATIONS.get(item.words[0])
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
    return Instruction(Op.Constant, item.type_id, item.result_id, _integer_words(value, kind))
