"""Built-in functions on numbers: math, integer, common, geometric and relational functions.

OpenCL C 6.15.2 to 6.15.6. Results that differ between scalars and vectors (1 and -1 for true) come
from the tree's conversion of bool.
"""

from __future__ import annotations

from coopmat.opencl.builtins.patterns import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    Build,
    BuiltinCall,
    Row,
)
from coopmat.tree.nodes import Binary, BinaryOperator, Convert, Expression, Operation, Zero
from coopmat.tree.types import (
    BOOL,
    CHAR,
    FLOAT,
    INT,
    SHORT,
    UCHAR,
    UINT,
    USHORT,
    VECTOR_COUNTS,
    Type,
    Vector,
)

# ------------------------------------------------------------------ building nodes


def componentwise(operation: str) -> Build:
    """An operation whose operands all have the generic type: scalars are repeated for each component."""
    return lambda call: call.operation(operation, *call.widened())


def _bool_like(type_: Type) -> Type:
    return Vector(BOOL, type_.count) if isinstance(type_, Vector) else BOOL


def compare(operator: BinaryOperator) -> Build:
    """A comparison; true is 1 in a scalar and -1 in a vector (OpenCL C 6.15.6)."""
    def build(call: BuiltinCall) -> Expression:
        left, right = call.arguments
        test = Binary(_bool_like(left.type), call.location, operator, left, right)
        return Convert(call.result, call.location, test)
    return build


def classify(operation: str) -> Build:
    """A core instruction that gives a bool for each component."""
    def build(call: BuiltinCall) -> Expression:
        test = call.operation(operation, *call.arguments, type_=_bool_like(call.arguments[0].type))
        return Convert(call.result, call.location, test)
    return build


def most_significant_bits(operation: str) -> Build:
    """any and all: whether the most significant bit is set in any, or in all, components."""
    def build(call: BuiltinCall) -> Expression:
        (value,) = call.arguments
        zero = Zero(value.type, call.location)
        test: Expression = Binary(_bool_like(value.type), call.location, BinaryOperator.LESS, value, zero)
        if isinstance(value.type, Vector):
            test = Operation(BOOL, call.location, operation, (test,))
        return Convert(call.result, call.location, test)
    return build


def dot(call: BuiltinCall) -> Expression:
    """The dot product; that of two scalars is their product."""
    if call.overload.count > 1:
        return call.operation("core.Dot", *call.arguments)
    return Binary(call.result, call.location, BinaryOperator.MULTIPLY, *call.arguments)


# ------------------------------------------------------------------ rows

STD = "std.{name}"
SIGNED_STD = "std.{sign}_{name}"

MATH = (
    Row("acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 "
        "expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi "
        "tgamma trunc", "gen(gen)", STD, FLOATS),
    Row("atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder",
        "gen(gen, gen)", STD, FLOATS),
    Row("fmax fmin", "gen(gen, scalar)", componentwise(STD), FLOATS, VECTOR_COUNTS),
    Row("fma mad", "gen(gen, gen, gen)", STD, FLOATS),
    Row("fract modf sincos", "gen(gen, any gen*)", STD, FLOATS),
    Row("frexp lgamma_r", "gen(gen, any intn*)", STD, FLOATS),
    Row("remquo", "gen(gen, gen, any intn*)", STD, FLOATS),
    Row("ilogb", "intn(gen)", STD, FLOATS),
    Row("ldexp", "gen(gen, intn)", STD, FLOATS),
    Row("ldexp", "gen(gen, int)", componentwise(STD), FLOATS, VECTOR_COUNTS),
    Row("pown rootn", "gen(gen, intn)", STD, FLOATS),
    Row("nan", "gen(ugen)", STD, FLOATS),
    Row("half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt half_sin "
        "half_sqrt half_tan native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 "
        "native_recip native_rsqrt native_sin native_sqrt native_tan", "gen(gen)", STD, (FLOAT,)),
    Row("half_divide half_powr native_divide native_powr", "gen(gen, gen)", STD, (FLOAT,)),
)
"""OpenCL C 6.15.2."""

INTEGER = (
    Row("abs", "ugen(gen)", SIGNED_STD, INTEGERS),
    Row("abs_diff", "ugen(gen, gen)", SIGNED_STD, INTEGERS),
    Row("add_sat hadd max min mul_hi rhadd sub_sat", "gen(gen, gen)", SIGNED_STD, INTEGERS),
    Row("max min", "gen(gen, scalar)", componentwise(SIGNED_STD), INTEGERS, VECTOR_COUNTS),
    Row("clamp mad_hi mad_sat", "gen(gen, gen, gen)", SIGNED_STD, INTEGERS),
    Row("clamp", "gen(gen, scalar, scalar)", componentwise(SIGNED_STD), INTEGERS, VECTOR_COUNTS),
    Row("clz ctz popcount", "gen(gen)", STD, INTEGERS),
    Row("rotate", "gen(gen, gen)", STD, INTEGERS),
    Row("upsample", "wide(gen, ugen)", SIGNED_STD, (CHAR, UCHAR, SHORT, USHORT, INT, UINT)),
    Row("mad24", "gen(gen, gen, gen)", SIGNED_STD, (INT, UINT)),
    Row("mul24", "gen(gen, gen)", SIGNED_STD, (INT, UINT)),
)
"""OpenCL C 6.15.3."""

COMMON = (
    Row("degrees radians sign", "gen(gen)", STD, FLOATS),
    Row("max min", "gen(gen, gen)", "std.f{name}_common", FLOATS),
    Row("max min", "gen(gen, scalar)", componentwise("std.f{name}_common"), FLOATS, VECTOR_COUNTS),
    Row("clamp", "gen(gen, gen, gen)", "std.fclamp", FLOATS),
    Row("clamp", "gen(gen, scalar, scalar)", componentwise("std.fclamp"), FLOATS, VECTOR_COUNTS),
    Row("mix smoothstep", "gen(gen, gen, gen)", STD, FLOATS),
    Row("mix", "gen(gen, gen, scalar)", componentwise(STD), FLOATS, VECTOR_COUNTS),
    Row("smoothstep", "gen(scalar, scalar, gen)", componentwise(STD), FLOATS, VECTOR_COUNTS),
    Row("step", "gen(gen, gen)", STD, FLOATS),
    Row("step", "gen(scalar, gen)", componentwise(STD), FLOATS, VECTOR_COUNTS),
)
"""OpenCL C 6.15.4."""

GEOMETRIC_COUNTS = (1, 2, 3, 4)

GEOMETRIC = (
    Row("cross", "gen(gen, gen)", STD, FLOATS, (3, 4)),
    Row("dot", "scalar(gen, gen)", dot, FLOATS, GEOMETRIC_COUNTS),
    Row("distance", "scalar(gen, gen)", STD, FLOATS, GEOMETRIC_COUNTS),
    Row("length", "scalar(gen)", STD, FLOATS, GEOMETRIC_COUNTS),
    Row("normalize", "gen(gen)", STD, FLOATS, GEOMETRIC_COUNTS),
    Row("fast_distance", "scalar(gen, gen)", STD, (FLOAT,), GEOMETRIC_COUNTS),
    Row("fast_length", "scalar(gen)", STD, (FLOAT,), GEOMETRIC_COUNTS),
    Row("fast_normalize", "gen(gen)", STD, (FLOAT,), GEOMETRIC_COUNTS),
)
"""OpenCL C 6.15.5."""

_COMPARISONS: dict[str, Build] = {
    "isequal": compare(BinaryOperator.EQUAL),
    "isnotequal": compare(BinaryOperator.NOT_EQUAL),
    "isgreater": compare(BinaryOperator.GREATER),
    "isgreaterequal": compare(BinaryOperator.GREATER_EQUAL),
    "isless": compare(BinaryOperator.LESS),
    "islessequal": compare(BinaryOperator.LESS_EQUAL),
    "islessgreater": classify("core.FOrdNotEqual"),
    "isordered": classify("core.Ordered"),
    "isunordered": classify("core.Unordered"),
}
_CLASSIFICATIONS = {
    "isfinite": "core.IsFinite", "isinf": "core.IsInf", "isnan": "core.IsNan", "isnormal": "core.IsNormal",
    "signbit": "core.SignBitSet",
}


def _relational(name: str, parameters: str, build: Build) -> tuple[Row, ...]:
    """A scalar test gives int; a test of vectors gives integers of the operands' width."""
    return (Row(name, f"int({parameters})", build, FLOATS, (1,)),
            Row(name, f"sgen({parameters})", build, FLOATS, VECTOR_COUNTS))


RELATIONAL = (
    *(row for name, build in _COMPARISONS.items() for row in _relational(name, "gen, gen", build)),
    *(row for name, operation in _CLASSIFICATIONS.items()
      for row in _relational(name, "gen", classify(operation))),
    Row("any", "int(gen)", most_significant_bits("core.Any"), SIGNED),
    Row("all", "int(gen)", most_significant_bits("core.All"), SIGNED),
    Row("bitselect", "gen(gen, gen, gen)", STD, NUMBERS),
    Row("select", "gen(gen, gen, sgen)", STD, NUMBERS),
    Row("select", "gen(gen, gen, ugen)", STD, NUMBERS),
)
"""OpenCL C 6.15.6. select chooses by the most significant bit in vectors, by zero or not in scalars."""

ROWS = (*MATH, *INTEGER, *COMMON, *GEOMETRIC, *RELATIONAL)

