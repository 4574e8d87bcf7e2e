"""Rules for arithmetic, bit, relational and logical instructions (SPIR-V 3.3.13 to 3.3.15)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

ARITHMETIC = "SPIR-V 3.3.13 Arithmetic Instructions"
BITS = "SPIR-V 3.3.14 Bit Instructions"
LOGIC = "SPIR-V 3.3.15 Relational and Logical Instructions"

INTEGER_UNARY = (Op.SNegate, Op.Not)
INTEGER_BINARY = (Op.IAdd, Op.ISub, Op.IMul, Op.UDiv, Op.SDiv, Op.UMod, Op.SRem, Op.SMod,
                  Op.BitwiseOr, Op.BitwiseXor, Op.BitwiseAnd)
SHIFTS = (Op.ShiftRightLogical, Op.ShiftRightArithmetic, Op.ShiftLeftLogical)
FLOAT_UNARY = (Op.FNegate,)
FLOAT_BINARY = (Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FRem, Op.FMod)
MATRIX_ARITHMETIC = frozenset({Op.SNegate, Op.FNegate, Op.IAdd, Op.FAdd, Op.ISub, Op.FSub, Op.IMul, Op.FMul, Op.SDiv,
                               Op.UDiv, Op.FDiv})
"""What SPV_KHR_cooperative_matrix allows on cooperative matrices."""

_UNSIGNED = (Op.UDiv, Op.UMod)
INTEGER_COMPARISONS = (Op.IEqual, Op.INotEqual, Op.UGreaterThan, Op.SGreaterThan, Op.UGreaterThanEqual,
                       Op.SGreaterThanEqual, Op.ULessThan, Op.SLessThan, Op.ULessThanEqual, Op.SLessThanEqual)
FLOAT_COMPARISONS = (Op.FOrdEqual, Op.FUnordEqual, Op.FOrdNotEqual, Op.FUnordNotEqual, Op.FOrdLessThan,
                     Op.FUnordLessThan, Op.FOrdGreaterThan, Op.FUnordGreaterThan, Op.FOrdLessThanEqual,
                     Op.FUnordLessThanEqual, Op.FOrdGreaterThanEqual, Op.FUnordGreaterThanEqual,
                     Op.LessOrGreater, Op.Ordered, Op.Unordered)
FLOAT_TESTS = (Op.IsNan, Op.IsInf, Op.IsFinite, Op.IsNormal, Op.SignBitSet)
LOGICAL_BINARY = (Op.LogicalEqual, Op.LogicalNotEqual, Op.LogicalOr, Op.LogicalAnd)


def _numbers(group: Group, types: Types, kind: Op) -> Booleans:
    """Scalars and vectors of this kind, and cooperative matrices where the instruction allows them."""
    fits = types.scalars_of(kind)
    if group.opcode in MATRIX_ARITHMETIC:
        fits |= types.is_matrix & types.element.is_kind(kind)
    return fits


def _shape_differs(one: Types, other: Types) -> Booleans:
    """Whether the numbers of components or the widths of these scalars or vectors differ."""
    return (one.components != other.components) | (one.scalar.width != other.scalar.width) \
        | (one.is_matrix != other.is_matrix)


@rule("integer-arithmetic", "Integer instructions work on integers of one width, or vectors of one size of them.",
      f"{ARITHMETIC}, {BITS}; SPV_KHR_cooperative_matrix", *INTEGER_UNARY, *INTEGER_BINARY)
def integer_arithmetic(group: Group) -> Findings:
    fits = _numbers(group, group.result, Op.TypeInt)
    yield ~fits, "the result of {op} must be an integer or a vector of integers, not {type}"
    for place in group.places():
        operand = group.value(place)
        wrong = ~_numbers(group, operand, Op.TypeInt) | _shape_differs(operand, group.result)
        yield fits & wrong, f"operand {place + 1} of {{op}} has type {{type{place}}}, which does not fit the " \
                            "result type {type}: the number of components and the width must be equal"


@rule("unsigned-division", "OpUDiv and OpUMod work on one type, of signedness 0.",
      f"{ARITHMETIC}; SPV_KHR_cooperative_matrix", *_UNSIGNED)
def unsigned_division(group: Group) -> Findings:
    signed = group.result.scalar.signed == 1
    yield signed, "the result type of {op}, {type}, must have signedness 0"
    for place in group.places():
        yield ~signed & (group.value(place).scalar.signed == 1), \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; the result type {{type}} is needed"


@rule("shift-operands", "Base and shift are integers with as many components as the result.", BITS, *SHIFTS)
def shift_operands(group: Group) -> Findings:
    result, base, shift = group.result, group.value(0), group.value(1)
    fits = result.scalars_of(Op.TypeInt)
    yield ~fits, "the result of {op} must be an integer or a vector of integers, not {type}"
    yield fits & (~base.scalars_of(Op.TypeInt) | _shape_differs(base, result)), \
        "the base of {op} has type {type0}, which does not fit the result type {type}"
    yield fits & (~shift.scalars_of(Op.TypeInt) | (shift.components != result.components)), \
        "the shift of {op} has type {type1}; as many integers as in the result type {type} are needed"


_FIELDS = {Op.BitFieldInsert: 2, Op.BitFieldSExtract: 1, Op.BitFieldUExtract: 1}
"""Instruction → the number of operands that have the result type; an offset and a count follow."""


@rule("bit-field", "A bit field is read from and written to integers of the result type, at an integer offset.", BITS,
      *_FIELDS)
def bit_field(group: Group) -> Findings:
    yield ~group.result.scalars_of(Op.TypeInt), \
        "the result of {op} must be an integer or a vector of integers, not {type}"
    values = _FIELDS[group.opcode]
    for place in range(values):
        yield group.value(place) != group.result, \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; {{type}} is needed"
    for place, what in ((values, "offset"), (values + 1, "count")):
        yield ~group.value(place).is_kind(Op.TypeInt), f"the {what} of {{op}} is an integer, not {{type{place}}}"


@rule("bit-count", "OpBitCount and OpBitReverse give an integer for each integer.", BITS, Op.BitCount, Op.BitReverse)
def bit_count(group: Group) -> Findings:
    operand, result = group.value(0), group.result
    yield ~result.scalars_of(Op.TypeInt), "the result of {op} must be an integer or a vector of integers, not {type}"
    yield ~operand.scalars_of(Op.TypeInt), "{op} takes an integer or a vector of integers, not {type0}"
    if group.opcode == Op.BitReverse:
        yield operand != result, "{op} gives the type of its operand, {type0}, not {type}"
    else:
        yield operand.components != result.components, "{op} of {type0} gives as many integers, not {type}"


_WITH_OVERFLOW = (Op.IAddCarry, Op.ISubBorrow, Op.UMulExtended, Op.SMulExtended)


@rule("extended-arithmetic", "Arithmetic with carry gives a structure of two members of the operands' integer type.",
      ARITHMETIC, *_WITH_OVERFLOW)
def extended_arithmetic(group: Group) -> Findings:
    result, member = group.result, group.result.element
    pair = result.is_kind(Op.TypeStruct) & (result.length == 2) & _members_agree(group)
    yield ~pair, "the result of {op} must be a structure of two members of one type, not {type}"
    yield pair & ~member.scalars_of(Op.TypeInt), "the members of the result of {op}, {type}, must be integers or " \
                                                 "vectors of integers"
    if group.opcode != Op.SMulExtended:
        yield pair & (member.scalar.signed == 1), "the members of the result of {op}, {type}, must have signedness 0"
    for place in (0, 1):
        yield pair & (group.value(place) != member), \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; the type of the members of {{type}} is needed"


def _members_agree(group: Group) -> Booleans:
    """Whether all members of the result's structure type have one type."""
    uniform = [item is not None and len(set(item.words)) == 1 for item in group.view.type_table.instructions]
    return np.array(uniform, bool)[group.result.places]


@rule("float-arithmetic", "Floating-point instructions work on one floating-point type.",
      f"{ARITHMETIC}; SPV_KHR_cooperative_matrix", *FLOAT_UNARY, *FLOAT_BINARY)
def float_arithmetic(group: Group) -> Findings:
    fits = _numbers(group, group.result, Op.TypeFloat)
    yield ~fits, "the result of {op} must be a floating-point number or a vector of them, not {type}"
    for place in group.places():
        yield fits & (group.value(place) != group.result), \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; the result type {{type}} is needed"


@rule("fused-arithmetic", "A fused multiply-add works on one floating-point type.", "SPV_KHR_fma", Op.FmaKHR)
def fused_arithmetic(group: Group) -> Findings:
    yield ~group.result.scalars_of(Op.TypeFloat), \
        "the result of {op} must be a floating-point number or a vector of them, not {type}"
    for place in group.places():
        yield group.value(place) != group.result, \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; the result type {{type}} is needed"


@rule("comparison-types", "A comparison gives as many booleans as its operands have components.", LOGIC,
      *INTEGER_COMPARISONS, *FLOAT_COMPARISONS)
def comparison_types(group: Group) -> Findings:
    is_float = group.opcode in FLOAT_COMPARISONS
    kind, what = (Op.TypeFloat, "floating-point numbers") if is_float else (Op.TypeInt, "integers")
    result, left, right = group.result, group.value(0), group.value(1)
    fits = result.scalars_of(Op.TypeBool)
    yield ~fits, "the result of {op} must be a boolean or a vector of booleans, not {type}"
    good = left.scalars_of(kind) & right.scalars_of(kind)
    yield ~good, f"{{op}} compares {what}, not {{type0}} and {{type1}}"
    yield good & _shape_differs(left, right), \
        "the operands of {op} differ: {type0} and {type1}; their widths and numbers of components must be equal"
    yield fits & good & (left.components != result.components), \
        "{op} of {type0} gives as many booleans as it has components, not {type}"


@rule("float-test-types", "A test of floating-point numbers gives one boolean for each.", LOGIC, *FLOAT_TESTS)
def float_test_types(group: Group) -> Findings:
    result, operand = group.result, group.value(0)
    yield ~result.scalars_of(Op.TypeBool), "the result of {op} must be a boolean or a vector of booleans, not {type}"
    good = operand.scalars_of(Op.TypeFloat)
    yield ~good, "{op} tests floating-point numbers, not {type0}"
    yield good & (operand.components != result.components), "{op} of {type0} gives as many booleans, not {type}"


@rule("logical-types", "Logical instructions work on booleans of one type.", LOGIC, *LOGICAL_BINARY, Op.LogicalNot)
def logical_types(group: Group) -> Findings:
    fits = group.result.scalars_of(Op.TypeBool)
    yield ~fits, "the result of {op} must be a boolean or a vector of booleans, not {type}"
    for place in group.places():
        yield fits & (group.value(place) != group.result), \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; the result type {{type}} is needed"


@rule("any-all-types", "OpAny and OpAll make one boolean of a vector of booleans.", LOGIC, Op.Any, Op.All)
def any_all_types(group: Group) -> Findings:
    yield ~group.result.is_kind(Op.TypeBool), "the result of {op} must be a boolean, not {type}"
    operand = group.value(0)
    yield ~(operand.is_kind(Op.TypeVector) & operand.element.is_kind(Op.TypeBool)), \
        "{op} takes a vector of booleans, not {type0}"
