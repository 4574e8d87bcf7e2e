"""Conversions between numbers, bools and pointers, and between values and what memory holds.

Builders convert numbers whose representation differs (:meth:`Builder.convert`) and reinterpret bits
(:meth:`Builder.bitcast`); everything that C means beyond that is made from those here, so that all
builders agree.
"""

from __future__ import annotations

from dataclasses import replace

from coopmat.lowering.builder import Value
from coopmat.lowering.context import Context, with_element
from coopmat.lowering.memory import is_bool, memory_type, value_type
from coopmat.tree import types as t
from coopmat.tree.nodes import BinaryOperator


def to_memory(context: Context, value: Value) -> Value:
    """``value`` as memory holds it: a bool as 0 or 1 in 8 bits."""
    return _bool_to_number(context, value, memory_type(value.type), 1) if is_bool(value.type) else value


def from_memory(context: Context, value: Value, type_: t.Type) -> Value:
    """The value of type ``type_`` that memory holds as ``value``."""
    return _to_bool(context, value, type_) if is_bool(type_) else value


def convert(context: Context, value: Value, target: t.Type, rounding: str | None = None,
            saturate: bool = False) -> Value:
    """C's and OpenCL's conversion, as :class:`coopmat.tree.nodes.Convert` defines it."""
    target = value_type(target)
    if value.type == target:
        return value
    if isinstance(value.type, t.Matrix) and isinstance(target, t.Matrix):
        value = _between_uses(context, value, target)
        if value.type == target:
            return value
    if is_bool(target):
        return _to_bool(context, value, target)
    if is_bool(value.type):
        return _bool_to_number(context, value, target, -1 if isinstance(target, t.Vector) else 1)
    source, wanted = value.type.element, target.element
    if source == wanted:
        return _change_use(context, value, target)
    if source == t.BFLOAT16 and wanted != t.FLOAT:
        widened = context.builder.convert(value, with_element(value.type, t.FLOAT))
        return convert(context, widened, target, rounding, saturate)
    if wanted == t.BFLOAT16:
        return _to_bfloat16(context, value, target, rounding)
    if source.is_integer and wanted.is_integer:
        return _integer_to_integer(context, value, target, saturate)
    if _is_exact(source, wanted):
        rounding = None
    return context.builder.convert(value, target, rounding, saturate and wanted.is_integer)


def bitcast(context: Context, value: Value, target: t.Type) -> Value:
    """The same bits as another type; a vector of 3 has the size of one of 4."""
    source, target = value.type, value_type(target)
    if source == target:
        return value
    if _count(source) == 3 and _count(target) == 3:
        return context.builder.bitcast(value, target)
    if isinstance(source, t.Vector) and source.count == 3:
        value = context.builder.shuffle(value, (0, 1, 2, None), replace(source, count=4))
    if isinstance(target, t.Vector) and target.count == 3:
        widened = bitcast(context, value, replace(target, count=4))
        return context.builder.shuffle(widened, (0, 1, 2), target)
    return value if value.type == target else context.builder.bitcast(value, target)


def _count(type_: t.Type) -> int:
    return type_.count if isinstance(type_, t.Vector) else 1


# -- Uses of matrices ----------------------------------------------------------------------


def transpose(context: Context, matrix: Value, target: t.Matrix) -> Value:
    """The matrix as ``target``, with rows and columns exchanged. SPIR-V does that where an accumulator becomes A or B,
    together with a conversion."""
    builder, source, wanted = context.builder, matrix.type.element, target.scalar
    assert isinstance(matrix.type, t.Matrix)
    value = convert(context, matrix, replace(matrix.type, use=t.Use.ACCUMULATOR))
    if source != wanted and t.BFLOAT16 in (source, wanted):
        value = convert(context, value, with_element(value.type, t.FLOAT))
    elif source.is_integer and t.size_of(source) == t.size_of(wanted):
        value = convert(context, value, with_element(value.type, wanted))
    turned = replace(target, use=t.Use.A if target.use is t.Use.ACCUMULATOR else target.use)
    if value.type.element == wanted:
        result = builder.matrix_change_use(value, turned, transposed=True)
    else:
        result = builder.convert(value, turned, transposed=True)
    return convert(context, result, target)


def _between_uses(context: Context, matrix: Value, target: t.Matrix) -> Value:
    """The matrix, one of A that becomes B, or the other way, as an accumulator: SPIR-V has no shorter way."""
    assert isinstance(matrix.type, t.Matrix)
    if matrix.type.use is target.use or t.Use.ACCUMULATOR in (matrix.type.use, target.use):
        return matrix
    return context.builder.matrix_change_use(matrix, replace(matrix.type, use=t.Use.ACCUMULATOR))


def _change_use(context: Context, matrix: Value, target: t.Type) -> Value:
    """The same elements with another use."""
    assert isinstance(target, t.Matrix)
    return context.builder.matrix_change_use(matrix, target)


# -- bool ----------------------------------------------------------------------------------


def _to_bool(context: Context, value: Value, target: t.Type) -> Value:
    """Whether not zero; NaN is not zero."""
    if isinstance(value.type, t.Pointer):
        value = context.builder.bitcast(value, t.ULONG)
    elif value.type.element == t.BFLOAT16:
        value = context.builder.convert(value, with_element(value.type, t.FLOAT))
    result = context.builder.binary(BinaryOperator.NOT_EQUAL, value, context.constant(value.type, 0))
    return replace(result, type=target)


def _bool_to_number(context: Context, value: Value, target: t.Type, true: int) -> Value:
    scalar = target.element
    assert isinstance(scalar, t.Scalar)
    if scalar == t.BFLOAT16:
        number = _bool_to_number(context, value, with_element(target, t.FLOAT), true)
        return context.builder.convert(number, target)
    if scalar.kind == "uint":
        true %= 1 << scalar.bits
    return context.builder.select(value, context.constant(target, true), context.constant(target, 0))


# -- Integers ------------------------------------------------------------------------------


def _integer_to_integer(context: Context, value: Value, target: t.Type, saturate: bool) -> Value:
    source, wanted = value.type.element, target.element
    assert isinstance(source, t.Scalar)
    assert isinstance(wanted, t.Scalar)
    if saturate:
        value = _clamp(context, value, source, wanted)
    if source.bits != wanted.bits:
        return context.builder.convert(value, target)
    same = context.builder.bitcast(value, with_element(value.type, wanted))
    return same if same.type == target else _change_use(context, same, target)


def _clamp(context: Context, value: Value, source: t.Scalar, wanted: t.Scalar) -> Value:
    """``value`` limited to the part of ``wanted``'s range that ``source`` can express."""
    (source_low, source_high), (low, high) = integer_range(source), integer_range(wanted)
    prefix = "s" if source.is_signed else "u"
    if low > source_low:
        value = _std(context, f"{prefix}_max", value, low)
    if high < source_high:
        value = _std(context, f"{prefix}_min", value, high)
    return value


def _std(context: Context, name: str, value: Value, limit: int) -> Value:
    return context.builder.std(name, value.type, (value, context.constant(value.type, limit)), ())


def integer_range(scalar: t.Scalar) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if scalar.is_signed:
        return -(1 << scalar.bits - 1), (1 << scalar.bits - 1) - 1
    return 0, (1 << scalar.bits) - 1


# -- Floating point ------------------------------------------------------------------------

_EXACT_INTEGER_BITS = {16: 11, 32: 24, 64: 53}  # integers of so many bits fit into a float of that width


def _is_exact(source: t.Type, target: t.Type) -> bool:
    """Whether every value of ``source`` is one of ``target``, a floating-point type."""
    if not target.is_float:
        return False
    assert isinstance(source, t.Scalar)
    assert isinstance(target, t.Scalar)
    if source.is_float:
        return source.bits <= target.bits
    return source.bits - source.is_signed <= _EXACT_INTEGER_BITS[target.bits]


def _to_bfloat16(context: Context, value: Value, target: t.Type, rounding: str | None) -> Value:
    """Through float, the only type that bfloat16 converts from.

    Two roundings in one direction are one. For round to nearest the first step rounds to odd (chops,
    and sets the last bit if anything was lost), which keeps what the second one must know. Matrices
    have no operations on bits: their elements are rounded twice.
    """
    builder, nearest = context.builder, rounding in (None, "rte")
    single_type = with_element(value.type, t.FLOAT)
    if value.type == single_type or _is_exact(value.type.element, t.FLOAT):
        single = convert(context, value, single_type)
    elif nearest and not isinstance(target, t.Matrix):
        single = _to_float_odd(context, value, single_type)
    else:
        single = builder.convert(value, single_type, rounding)
    return builder.convert(single, target, None if nearest else rounding)


def _to_float_odd(context: Context, value: Value, single_type: t.Type) -> Value:
    builder = context.builder
    bits_type = with_element(single_type, t.UINT)
    chopped = builder.convert(value, single_type, "rtz")
    back = builder.convert(chopped, value.type)
    inexact = builder.binary(BinaryOperator.NOT_EQUAL, back, value)
    sticky = builder.select(inexact, context.constant(bits_type, 1), context.constant(bits_type, 0))
    return builder.bitcast(builder.binary(BinaryOperator.OR, builder.bitcast(chopped, bits_type), sticky),
                           single_type)
