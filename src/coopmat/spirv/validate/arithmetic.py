"""Rules for arithmetic, bit, relational, logical and conversion instructions (SPIR-V 3.3.11 to 3.3.15)."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import NO_ENCODING, Booleans, Types

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
    if int(group.view.opcode[group.indices[0]]) in MATRIX_ARITHMETIC:
        fits |= types.is_matrix & types.element.is_kind(kind)
    return fits


def _shape_differs(one: Types, other: Types) -> Booleans:
    """Whether the numbers of components or the widths of these scalars or vectors differ."""
    return (one.components != other.components) | (one.scalar.width != other.scalar.width) \
        | (one.is_matrix != other.is_matrix)


@rule("integer-arithmetic", "Integer instructions work on integers of one width, or vectors of one size of them.",
      f"{ARITHMETIC}, {BITS}", *INTEGER_UNARY, *INTEGER_BINARY)
def integer_arithmetic(group: Group) -> Findings:
    fits = _numbers(group, group.result, Op.TypeInt)
    yield ~fits, "the result of {op} must be an integer or a vector of integers, not {type}"
    for place in group.places():
        operand = group.value(place)
        wrong = ~_numbers(group, operand, Op.TypeInt) | _shape_differs(operand, group.result)
        yield fits & wrong, f"operand {place + 1} of {{op}} has type {{type{place}}}, which does not fit the " \
                            "result type {type}: the number of components and the width must be equal"


@rule("unsigned-division", "The result type of OpUDiv and OpUMod has signedness 0.", ARITHMETIC, *_UNSIGNED)
def unsigned_division(group: Group) -> Findings:
    yield group.result.scalar.signed == 1, "the result type of {op}, {type}, must have signedness 0"


@rule("shift-operands", "Base and shift are integers with as many components as the result.", BITS, *SHIFTS)
def shift_operands(group: Group) -> Findings:
    result, base, shift = group.result, group.value(0), group.value(1)
    fits = result.scalars_of(Op.TypeInt)
    yield ~fits, "the result of {op} must be an integer or a vector of integers, not {type}"
    yield fits & (~base.scalars_of(Op.TypeInt) | _shape_differs(base, result)), \
        "the base of {op} has type {type0}, which does not fit the result type {type}"
    yield fits & (~shift.scalars_of(Op.TypeInt) | (shift.components != result.components)), \
        "the shift of {op} has type {type1}; as many integers as in the result type {type} are needed"


@rule("float-arithmetic", "Floating-point instructions work on one floating-point type.", ARITHMETIC,
      *FLOAT_UNARY, *FLOAT_BINARY)
def float_arithmetic(group: Group) -> Findings:
    fits = _numbers(group, group.result, Op.TypeFloat)
    yield ~fits, "the result of {op} must be a floating-point number or a vector of them, not {type}"
    for place in group.places():
        yield fits & (group.value(place) != group.result), \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; the result type {{type}} is needed"


@rule("low-precision-arithmetic", "Floats with an encoding of their own (bfloat16, float8) have no arithmetic.",
      "SPV_KHR_bfloat16, SPV_EXT_float8", *FLOAT_UNARY, *FLOAT_BINARY, *FLOAT_COMPARISONS, *FLOAT_TESTS,
      Op.MatrixTimesScalar, Op.VectorTimesScalar)
def low_precision_arithmetic(group: Group) -> Findings:
    operand = group.value(0).scalar
    yield operand.is_kind(Op.TypeFloat) & (operand.encoding != NO_ENCODING), \
        "{op} is not defined for {type0}: convert it to a wider floating-point type first"


@rule("comparison-types", "A comparison gives as many booleans as its operands have components.", LOGIC,
      *INTEGER_COMPARISONS, *FLOAT_COMPARISONS)
def comparison_types(group: Group) -> Findings:
    is_float = int(group.view.opcode[group.indices[0]]) in FLOAT_COMPARISONS
    kind, what = (Op.TypeFloat, "floating-point numbers") if is_float else (Op.TypeInt, "integers")
    result, left, right = group.result, group.value(0), group.value(1)
    fits = result.scalars_of(Op.TypeBool)
    yield ~fits, "the result of {op} must be a boolean or a vector of booleans, not {type}"
    good = left.scalars_of(kind) & right.scalars_of(kind)
    yield ~good, f"{{op}} compares {what}, not {{type0}} and {{type1}}"
    yield good & _shape_differs(left, right), "the operands of {op} differ: {type0} and {type1}"
    yield fits & good & (left.components != result.components), \
        "{op} of {type0} gives as many booleans as it has components, not {type}"


@rule("float-test-types", "A test of floating-point numbers gives one boolean for each.", LOGIC, *FLOAT_TESTS)
def float_test_types(group: Group) -> Findings:
    result, operand = group.result, group.value(0)
    yield ~result.scalars_of(Op.TypeBool), "the result of {op} must be a boolean or a vector of booleans, not {type}"
    good = operand.scalars_of(Op.TypeFloat)
    yield ~good, "{op} tests floating-point numbers, not {type0}"
    yield good & (operand.components != result.components), "{op} of {type0} cannot give {type}"


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
