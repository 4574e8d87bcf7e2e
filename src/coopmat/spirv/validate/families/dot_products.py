"""Rules of SPV_KHR_integer_dot_product."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Op, PackedVectorFormat
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

SECTION = "SPV_KHR_integer_dot_product"
PLAIN = (Op.SDot, Op.UDot, Op.SUDot)
ACCUMULATING = (Op.SDotAccSat, Op.UDotAccSat, Op.SUDotAccSat)
DOT_PRODUCTS = (*PLAIN, *ACCUMULATING)
_UNSIGNED = (Op.UDot, Op.UDotAccSat)
_MIXED = (Op.SUDot, Op.SUDotAccSat)


def _format_place(group: Group) -> int:
    return 3 if group.opcode in ACCUMULATING else 2


@rule("dot-vectors", "A dot product takes two vectors of integers, or two 32-bit integers with a packed format.",
      SECTION, *DOT_PRODUCTS)
def dot_vectors(group: Group) -> Findings:
    one, two = group.value(0), group.value(1)
    place = _format_place(group)
    for operand, number in ((one, 0), (two, 1)):
        yield ~operand.scalars_of(Op.TypeInt), f"{{op}} takes vectors of integers, not {{type{number}}}"
    packed = one.is_kind(Op.TypeInt)
    yield packed & (one.width != 32), "{op} takes packed vectors of 32 bits, not {type0}"
    yield packed & ~group.has(place), "{op} of two scalars needs the operand PackedVectorFormat4x8Bit"
    yield ~packed & group.has(place), "{op} of two vectors takes no packed vector format"
    yield group.has(place) & (group.word(place) != int(PackedVectorFormat.PackedVectorFormat4x8Bit)), \
        f"{{op}} has the packed vector format {{word{place}}}, which is not known"
    if group.opcode in _MIXED:
        differ = (one.components != two.components) | (one.scalar.width != two.scalar.width) \
            | (one.kind != two.kind)
    else:
        differ = one != two
    yield differ, "the two vectors of {op} differ: {type0} and {type1}"


@rule("dot-signedness", "What is unsigned in a dot product has signedness 0.", SECTION,
      *_UNSIGNED, *_MIXED)
def dot_signedness(group: Group) -> Findings:
    yield _signed_vector(group.value(1)), "vector 2 of {op} has components of signedness 0, not {type1}"
    if group.opcode in _UNSIGNED:
        yield _signed_vector(group.value(0)), "vector 1 of {op} has components of signedness 0, not {type0}"
        yield group.result.signed == 1, "the result of {op} has signedness 0, not {type}"


def _signed_vector(kind: Types) -> Booleans:
    """Vectors of signed integers; packed vectors may be integers of either signedness."""
    return kind.is_vector(Op.TypeInt) & (kind.scalar.signed == 1)


@rule("dot-result", "The result is an integer at least as wide as a component.", SECTION, *DOT_PRODUCTS)
def dot_result(group: Group) -> Findings:
    one, result = group.value(0), group.result
    yield ~result.is_kind(Op.TypeInt), "the result of {op} is an integer, not {type}"
    component = np.where(one.is_kind(Op.TypeInt), 8, one.scalar.width)
    yield result.is_kind(Op.TypeInt) & (result.width < component), \
        "the result of {op}, {type}, is narrower than the components of {type0}"


@rule("dot-accumulator", "The accumulator has the result type.", SECTION, *ACCUMULATING)
def dot_accumulator(group: Group) -> Findings:
    yield group.value(2) != group.result, "the accumulator of {op} has type {type2}; the result type {type} is needed"
