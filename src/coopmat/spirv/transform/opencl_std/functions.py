"""Functions of numbers: calls of the library, component by component, or core instructions."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.opencl_std import library
from coopmat.spirv.transform.opencl_std.code import Code
from coopmat.spirv.transform.opencl_std.memory import Handler

_F16, _F32 = 16, 32
_OF_HALF_BITS = frozenset({"nextafter", "nan"})
"""Functions of fp16 that the library has for its bits."""

GEOMETRY = frozenset({"cross", "distance", "length", "normalize"})
"""Functions of whole vectors."""
PAIRS: dict[str, tuple[str, str]] = {
    "fract": ("fract", "floor"), "frexp": ("frexp", "frexp_exponent"), "modf": ("modf", "trunc"),
    "lgamma_r": ("lgamma", "gamma_sign"), "sincos": ("sin", "cos"),
}
"""Functions with a second result, which goes to memory: what computes the first and the second one."""


def plain_name(name: str) -> str:
    """The function that computes another one, too: ``exp`` for ``half_exp``, ``fmax`` for ``fmax_common``."""
    return name.removeprefix("half_").removeprefix("native_").removeprefix("fast_").removesuffix("_common")


def one(code: Code, name: str, result: int, values: tuple[int, ...]) -> int:
    """A function of single numbers; of fp16 by way of float. ``result``: the type."""
    first = code.type_of(values[0])
    if name == "nan":
        first = result
    if not (code.is_float(first) and code.width(first) == _F16):
        return code.call(_known(f"{name}_{code.kind(first)}"), result, *values)
    if name in _OF_HALF_BITS:
        bits = code.integer(_F16)
        given = [value if code.type_of(value) == bits else code.value(Op.Bitcast, bits, value) for value in values]
        return code.value(Op.Bitcast, result, code.call(f"{name}_f16", bits, *given))
    wide = code.float(_F32)
    given = [code.value(Op.FConvert, wide, value) if code.is_float(code.type_of(value)) else value for value in values]
    own = f"{name}_f16"
    called = own if own in library.names() else _known(f"{name}_f32")
    if not code.is_float(result):
        return code.call(called, result, *given)
    return code.value(Op.FConvert, result, code.call(called, wide, *given))


def _known(name: str) -> str:
    if name not in library.names():
        function, _, kind = name.rpartition("_")
        raise Error(f"OpenCL.std has no '{function}' of {kind}")
    return name


def by_components(code: Code, name: str, operands: tuple[int, ...]) -> list[Instruction]:
    """A function of each component."""
    kind = code.row.type_id or 0
    found = []
    for place in range(code.count(kind)):
        values = tuple(code.component(operand, place) for operand in operands)
        found.append(one(code, name, code.scalar(kind), values))
    return code.named(code.together(found))


def geometric(code: Code, name: str, operands: tuple[int, ...]) -> list[Instruction]:
    """A function of vectors, fp16 by way of float."""
    given = code.type_of(operands[0])
    result, count = code.row.type_id or 0, code.count(given)
    called = name if name == "cross" else f"{name}"
    if code.width(given) != _F16:
        return code.named(code.call(_known(f"{called}_{count}_{code.kind(given)}"), result, *operands))
    wide = [code.value(Op.FConvert, code.like(code.float(_F32), count), operand) for operand in operands]
    found = code.call(f"{called}_{count}_f32", code.like(code.float(_F32), code.count(result)), *wide)
    return code.named(code.value(Op.FConvert, result, found))


def pair(code: Code, name: str, operands: tuple[int, ...]) -> list[Instruction]:
    """A function whose second result is stored through the last operand."""
    *given, pointer = operands
    kind = code.row.type_id or 0
    second = code.editor.definition(code.type_of(pointer)).words[1]
    found: tuple[list[int], list[int]] = ([], [])
    for place in range(code.count(kind)):
        values = tuple(code.component(operand, place) for operand in given)
        for values_of, called, result in zip(found, PAIRS[name], (kind, second), strict=True):
            values_of.append(one(code, called, code.scalar(result), values))
    code.do(Op.Store, pointer, code.together(found[1]))
    return code.named(code.together(found[0]))


def remquo(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    """Both results at once, as a vector of a number and of an integer's bits."""
    *given, pointer = operands
    kind = code.row.type_id or 0
    scalar = code.scalar(kind)
    wide = code.float(_F32) if code.width(kind) == _F16 else scalar
    rests, quotients = [], []
    for place in range(code.count(kind)):
        values = [code.component(operand, place) for operand in given]
        if wide != scalar:
            values = [code.value(Op.FConvert, wide, value) for value in values]
        both = code.call(f"remquo_{code.kind(wide)}", code.like(wide, 2), *values)
        rest, bits = code.component(both, 0), code.component(both, 1)
        rests.append(rest if wide == scalar else code.value(Op.FConvert, scalar, rest))
        quotient = code.value(Op.Bitcast, code.integer(code.width(wide)), bits)
        narrow = code.integer(_F32)
        quotients.append(quotient if code.width(wide) == _F32 else code.value(Op.UConvert, narrow, quotient))
    code.do(Op.Store, pointer, code.together(quotients))
    return code.named(code.together(rests))


# --------------------------------------------------------------------------------------
# Core instructions
# --------------------------------------------------------------------------------------


def _bits(code: Code, value: int) -> int:
    """A value's bits as integers."""
    kind = code.type_of(value)
    if not code.is_float(kind):
        return value
    return code.value(Op.Bitcast, code.like(code.integer(code.width(kind)), code.count(kind)), value)


def _select(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    """By whether a number is not zero, or by the sign of a vector's components."""
    a, b, choice = operands
    kind = code.type_of(choice)
    count = code.count(kind)
    op = Op.INotEqual if count == 1 else Op.SLessThan
    condition = code.value(op, code.boolean(count), choice, code.constant(0, kind))
    return code.named(code.value(Op.Select, code.row.type_id or 0, condition, b, a))


def _bit_select(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    a, b, mask = (_bits(code, operand) for operand in operands)
    kind, result = code.type_of(a), code.row.type_id or 0
    kept = code.value(Op.BitwiseAnd, kind, a, code.value(Op.Not, kind, mask))
    found = code.value(Op.BitwiseOr, kind, kept, code.value(Op.BitwiseAnd, kind, b, mask))
    return code.named(found if result == kind else code.value(Op.Bitcast, result, found))


def _divide(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    return code.named(code.value(Op.FDiv, code.row.type_id or 0, *operands))


def _reciprocal(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    kind = code.row.type_id or 0
    scalar, count = code.scalar(kind), code.count(kind)
    one_bits = {16: (0x3C00,), 32: (0x3F800000,), 64: (0, 0x3FF00000)}[code.width(kind)]
    number = code.editor.unique(Op.Constant, *one_bits, type_id=scalar)
    ones = number if count == 1 else code.editor.unique(Op.ConstantComposite, *[number] * count, type_id=kind)
    return code.named(code.value(Op.FDiv, kind, ones, *operands))


def _same(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    return code.named(operands[0])


CORE: dict[str, Handler] = {
    "select": _select, "bitselect": _bit_select, "divide": _divide, "recip": _reciprocal, "u_abs": _same,
}
