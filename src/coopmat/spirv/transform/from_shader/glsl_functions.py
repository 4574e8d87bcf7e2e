"""The functions of GLSL.std.450 as those of OpenCL.std, or as code of instructions that kernels have.

OpenCL's bounds are narrower than Vulkan's. What happens to a NaN where GLSL leaves it open is what OpenCL's functions
do.
"""

from __future__ import annotations

from collections.abc import Callable

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import EXTENDED_INSTRUCTIONS, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.from_shader.state import Translation

SET = "GLSL.std.450"
SAME: dict[str, str] = {
    "Round": "round", "RoundEven": "rint", "Trunc": "trunc", "FAbs": "fabs", "SAbs": "s_abs", "FSign": "sign",
    "Floor": "floor", "Ceil": "ceil", "Radians": "radians", "Degrees": "degrees", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh",
    "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh", "Atan2": "atan2", "Pow": "pow", "Exp": "exp", "Log": "log",
    "Exp2": "exp2", "Log2": "log2", "Sqrt": "sqrt", "InverseSqrt": "rsqrt", "FMin": "fmin", "UMin": "u_min",
    "SMin": "s_min", "FMax": "fmax", "UMax": "u_max", "SMax": "s_max", "FClamp": "fclamp", "UClamp": "u_clamp",
    "SClamp": "s_clamp", "FMix": "mix", "Step": "step", "SmoothStep": "smoothstep", "Fma": "fma", "Ldexp": "ldexp",
    "Length": "length", "Distance": "distance", "Cross": "cross", "Normalize": "normalize", "NMin": "fmin",
    "NMax": "fmax",
}
"""Those that OpenCL.std has, too."""
_NAMES = {number: name for name, number in EXTENDED_INSTRUCTIONS[SET].items()}
_HALF, _SINGLE = 16, 32


def translate(to: Translation, row: Instruction) -> None:
    """Define what stands for an OpExtInst of GLSL.std.450. Error for a function that kernels do not have."""
    name = _NAMES.get(row.words[1], str(row.words[1]))
    if name in SAME:
        to.define(row, to.compute(SAME[name], to.result_type(row), *map(to.id, row.words[2:])))
        return
    made = _OWN.get(name)
    if made is None:
        raise Error(f"the function {name} of {SET} has no counterpart in kernels")
    to.define(row, made(_Call(to, row)))


class _Call:
    """A call being replaced: its result's type, its operands, and what is computed from them."""

    def __init__(self, to: Translation, row: Instruction) -> None:
        self.to = to
        self.row = row
        self.type = to.result_type(row)
        self.operands = list(map(to.id, row.words[2:]))

    def operand_type(self, place: int = 0) -> Instruction:
        """The shader's type of an operand."""
        return self.to.type_of(self.row.words[2 + place])

    def components(self, type_: Instruction) -> tuple[Instruction, int]:
        """The type of the components of a scalar or vector, and how many there are."""
        if type_.opcode == Op.TypeVector:
            return self.to.module.definition(type_.words[0]), type_.words[1]
        return type_, 1

    def like(self, scalar: int, type_: Instruction) -> int:
        """A kernel's type with another component in place of a type's."""
        count = self.components(type_)[1]
        return scalar if count == 1 else self.to.builder.type_vector(scalar, count)

    def number(self, value: float, type_: Instruction) -> int:
        """A constant all of whose components are one number."""
        component, count = self.components(type_)
        scalar = self.to.builder.constant(self.to.types[component.result_id or 0], value)
        if count == 1:
            return scalar
        return self.to.builder.constant_composite(self.to.types[type_.result_id or 0], [scalar] * count)

    def __call__(self, op: Op, *words: int, type_id: int | None = None) -> int:
        return self.to.value(op, self.type if type_id is None else type_id, *words)

    def function(self, name: str, *words: int, type_id: int | None = None) -> int:
        """A function of OpenCL.std."""
        return self.to.compute(name, self.type if type_id is None else type_id, *words)

    def result(self) -> Instruction:
        """The shader's type of the result."""
        return self.to.module.definition(self.row.type_id or 0)

    def condition(self, op: Op, *words: int) -> int:
        """A comparison of operands."""
        return self(op, *words, type_id=self.like(self.to.builder.type_bool(), self.operand_type()))


def _fract(call: _Call) -> int:
    x, = call.operands
    return call(Op.FSub, x, call.function("floor", x))


def _sign(call: _Call) -> int:
    x, = call.operands
    return call.function("s_clamp", x, call.number(-1, call.result()), call.number(1, call.result()))


def _clamp(call: _Call) -> int:
    x, low, high = call.operands
    return call.function("fmin", call.function("fmax", x, low), high)


def _structure(call: _Call, whole: int, rest: int) -> int:
    return call(Op.CompositeConstruct, whole, rest)


def _modf(call: _Call) -> tuple[int, int]:
    """The fraction and the whole part."""
    x = call.operands[0]
    kind = call.to.types[call.operand_type().result_id or 0]
    whole = call.function("trunc", x, type_id=kind)
    infinite = call.condition(Op.IsInf, x)
    rest = call(Op.Select, infinite, call.number(0, call.operand_type()), call(Op.FSub, x, whole, type_id=kind),
                type_id=kind)
    return call.function("copysign", rest, x, type_id=kind), whole


def _modf_structure(call: _Call) -> int:
    return _structure(call, *_modf(call))


def _modf_pointer(call: _Call) -> int:
    rest, whole = _modf(call)
    call.to.builder.emit(Op.Store, call.operands[1], whole)
    return rest


def _frexp_structure(call: _Call) -> int:
    structure = call.result()
    parts = [call.to.types[word] for word in structure.words]
    builder = call.to.builder
    place = builder.local_variable(parts[1])
    mantissa = call.function("frexp", call.operands[0], place, type_id=parts[0])
    return call(Op.CompositeConstruct, mantissa, call(Op.Load, place, type_id=parts[1]))


def _frexp(call: _Call) -> int:
    if call.operand_type(1).words[0] != StorageClass.Function:
        raise Error(f"Frexp of {SET} is used with a pointer to other memory than a function's")
    return call.function("frexp", *call.operands)


def _face_forward(call: _Call) -> int:
    normal, incident, reference = call.operands
    against = _dot(call, reference, incident)
    component = call.components(call.operand_type())[0]
    zero = call.to.builder.constant(call.to.types[component.result_id or 0], 0)
    condition = call(Op.FOrdLessThan, against, zero, type_id=call.to.builder.type_bool())
    return call(Op.Select, _wide(call, condition), normal, call(Op.FNegate, normal))


def _wide(call: _Call, condition: int) -> int:
    count = call.components(call.result())[1]
    if count == 1:
        return condition
    builder = call.to.builder
    return call.to.composite(builder.type_vector(builder.type_bool(), count), [condition] * count)


def _dot(call: _Call, a: int, b: int) -> int:
    component, count = call.components(call.operand_type())
    return call(Op.Dot if count > 1 else Op.FMul, a, b, type_id=call.to.types[component.result_id or 0])


def _times(call: _Call, vector: int, scalar: int) -> int:
    return call(Op.VectorTimesScalar if call.components(call.result())[1] > 1 else Op.FMul, vector, scalar)


def _reflect(call: _Call) -> int:
    incident, normal = call.operands
    component = call.components(call.operand_type())[0]
    kind = call.to.types[component.result_id or 0]
    twice = call(Op.FMul, _dot(call, normal, incident), call.to.builder.constant(kind, 2), type_id=kind)
    return call(Op.FSub, incident, _times(call, normal, twice))


def _lowest_bit(call: _Call) -> int:
    x, = call.operands
    is_zero = call.condition(Op.IEqual, x, call.number(0, call.operand_type()))
    return call(Op.Select, is_zero, call.number(-1, call.result()), call.function("ctz", x))


def _highest_bit(call: _Call) -> int:
    """31 minus the leading zeros: -1 for 0."""
    return call(Op.ISub, call.number(31, call.result()), call.function("clz", call.operands[0]))


def _highest_signed_bit(call: _Call) -> int:
    x, = call.operands
    negative = call.condition(Op.SLessThan, x, call.number(0, call.operand_type()))
    bits = call(Op.Select, negative, call(Op.Not, x), x)
    return call(Op.ISub, call.number(31, call.result()), call.function("clz", bits))


def _pack_half(call: _Call) -> int:
    half = call.like(call.to.builder.type_float(_HALF), call.operand_type())
    return call(Op.Bitcast, call(Op.FConvert, call.operands[0], type_id=half))


def _unpack_half(call: _Call) -> int:
    half = call.like(call.to.builder.type_float(_HALF), call.result())
    return call(Op.FConvert, call(Op.Bitcast, call.operands[0], type_id=half))


def _bits(call: _Call) -> int:
    return call(Op.Bitcast, call.operands[0])


def _packing(bits: int, *, signed: bool) -> Callable[[_Call], int]:
    """Numbers from -1 or 0 to 1 as integers of some bits."""
    largest = (1 << bits - signed) - 1

    def made(call: _Call) -> int:
        kind = call.operand_type()
        floats = call.to.types[kind.result_id or 0]
        low = call.number(-1 if signed else 0, kind)
        clamped = call.function("fclamp", call.operands[0], low, call.number(1, kind), type_id=floats)
        scaled = call(Op.FMul, clamped, call.number(largest, kind), type_id=floats)
        rounded = call.function("rint", scaled, type_id=floats)
        integers = call.like(call.to.builder.type_int(bits), kind)
        converted = call(Op.ConvertFToS if signed else Op.ConvertFToU, rounded, type_id=integers)
        return call(Op.Bitcast, converted)

    return made


def _unpacking(bits: int, *, signed: bool) -> Callable[[_Call], int]:
    largest = (1 << bits - signed) - 1

    def made(call: _Call) -> int:
        kind = call.result()
        integers = call.like(call.to.builder.type_int(bits), kind)
        parts = call(Op.Bitcast, call.operands[0], type_id=integers)
        found = call(Op.FDiv, call(Op.ConvertSToF if signed else Op.ConvertUToF, parts), call.number(largest, kind))
        return call.function("fclamp", found, call.number(-1, kind), call.number(1, kind)) if signed else found

    return made


_OWN: dict[str, Callable[[_Call], int]] = {
    "Fract": _fract, "SSign": _sign, "NClamp": _clamp, "Modf": _modf_pointer, "ModfStruct": _modf_structure,
    "Frexp": _frexp, "FrexpStruct": _frexp_structure, "FaceForward": _face_forward, "Reflect": _reflect,
    "FindILsb": _lowest_bit, "FindUMsb": _highest_bit, "FindSMsb": _highest_signed_bit, "PackHalf2x16": _pack_half,
    "UnpackHalf2x16": _unpack_half, "PackDouble2x32": _bits, "UnpackDouble2x32": _bits,
    "PackSnorm4x8": _packing(8, signed=True), "PackUnorm4x8": _packing(8, signed=False),
    "PackSnorm2x16": _packing(16, signed=True), "PackUnorm2x16": _packing(16, signed=False),
    "UnpackSnorm4x8": _unpacking(8, signed=True), "UnpackUnorm4x8": _unpacking(8, signed=False),
    "UnpackSnorm2x16": _unpacking(16, signed=True), "UnpackUnorm2x16": _unpacking(16, signed=False),
}
"""Those of which OpenCL.std has no counterpart."""
