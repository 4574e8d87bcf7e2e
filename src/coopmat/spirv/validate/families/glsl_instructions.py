"""Rules about the instructions of GLSL.std.450, with which the modules of Vulkan compute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from coopmat.spirv.grammar import Capability, Op, StorageClass
from coopmat.spirv.tables.glsl_std_450 import NUMBERS
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

SECTION = "SPIR-V Extended Instructions for GLSL, 2"
FIRST = 2
"""The place of the first operand, behind the set and the number."""

# Instruction → number of operands, all of the result type.
_FLOATS = {**dict.fromkeys(("Round", "RoundEven", "Trunc", "FAbs", "FSign", "Floor", "Ceil", "Fract", "Sqrt",
                            "InverseSqrt", "Normalize"), 1),
           **dict.fromkeys(("FMin", "FMax", "NMin", "NMax", "Step", "Reflect"), 2),
           **dict.fromkeys(("FClamp", "NClamp", "FMix", "SmoothStep", "Fma", "FaceForward"), 3)}
_NARROW = {**dict.fromkeys(("Radians", "Degrees", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh",
                            "Asinh", "Acosh", "Atanh", "Exp", "Log", "Exp2", "Log2"), 1), "Atan2": 2, "Pow": 2}
"""Those that doubles have not."""
_INTEGERS = {**dict.fromkeys(("SAbs", "SSign", "FindILsb", "FindSMsb", "FindUMsb"), 1),
             **dict.fromkeys(("UMin", "SMin", "UMax", "SMax"), 2), "UClamp": 3, "SClamp": 3}
# Instruction → what is packed into what: kind, width and number of components.
_INT, _FLOAT = Op.TypeInt, Op.TypeFloat
_PACKED: dict[str, tuple[tuple[Op, int, int], tuple[Op, int, int]]] = {
    "Snorm4x8": ((_FLOAT, 32, 4), (_INT, 32, 1)), "Unorm4x8": ((_FLOAT, 32, 4), (_INT, 32, 1)),
    "Snorm2x16": ((_FLOAT, 32, 2), (_INT, 32, 1)), "Unorm2x16": ((_FLOAT, 32, 2), (_INT, 32, 1)),
    "Half2x16": ((_FLOAT, 32, 2), (_INT, 32, 1)), "Double2x32": ((_INT, 32, 2), (_FLOAT, 64, 1)),
}
_AMD_INTEGERS, _AMD_FLOATS = "SPV_AMD_gpu_shader_int16", "SPV_AMD_gpu_shader_half_float"
_INTERPOLATING = ("InterpolateAtCentroid", "InterpolateAtSample", "InterpolateAtOffset")


def _by_name(group: Group, names: Iterable[str]) -> Iterator[tuple[str, Booleans]]:
    """Those of these instructions that there are, each with where it stands in the group."""
    sets = [identifier for identifier, name in group.view.module.instruction_sets.items() if name == "GLSL.std.450"]
    if not sets:
        return
    own, numbers = np.isin(group.word(0), sets), group.word(1)
    present = set(np.unique(numbers[own]).tolist())
    for name in names:
        if NUMBERS[name] in present:
            yield name, own & (numbers == NUMBERS[name])


@rule("glsl-float-types", "Instructions on floats take and give floats of one type.", SECTION, Op.ExtInst)
def glsl_float_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, _FLOATS | _NARROW):
        yield chosen & ~group.result.scalars_of(Op.TypeFloat), f"{name} gives floats, not {{type}}"
        if name in _NARROW:
            yield chosen & group.result.scalars_of(Op.TypeFloat) & (group.result.scalar.width > 32), \
                f"{name} gives floats of 16 or 32 bits, not {{type}}"
        yield from _same(group, chosen, name, (_FLOATS | _NARROW)[name])


def _same(group: Group, chosen: Booleans, name: str, count: int) -> Findings:
    for place in range(FIRST, FIRST + count):
        yield chosen & (group.value(place) != group.result), \
            f"operand {place - FIRST + 1} of {name} has type {{type{place}}}; {{type}} is needed"


@rule("glsl-integer-types", "Instructions on integers take and give integers of one width and number.", SECTION,
      Op.ExtInst)
def glsl_integer_types(group: Group) -> Findings:
    result = group.result
    for name, chosen in _by_name(group, _INTEGERS):
        yield chosen & ~result.scalars_of(Op.TypeInt), f"{name} gives integers, not {{type}}"
        if name in ("FindSMsb", "FindUMsb"):
            yield chosen & (result.scalar.width != 32), f"{name} works on 32-bit integers, not {{type}}"
        for place in range(FIRST, FIRST + _INTEGERS[name]):
            operand = group.value(place)
            good = operand.scalars_of(Op.TypeInt) & (operand.components == result.components) \
                & (operand.scalar.width == result.scalar.width)
            yield chosen & ~good, \
                f"operand {place - FIRST + 1} of {name} is as many integers as wide as {{type}}, not {{type{place}}}"


@rule("glsl-packing", "Packing takes numbers of the parts' type and gives the whole, unpacking the reverse.", SECTION,
      Op.ExtInst)
def glsl_packing(group: Group) -> Findings:
    for form, (parts, whole) in _PACKED.items():
        for name, given, taken in ((f"Pack{form}", whole, parts), (f"Unpack{form}", parts, whole)):
            for _, chosen in _by_name(group, (name,)):
                yield chosen & ~_fits(group.result, given), f"{name} gives {_words(given)}, not {{type}}"
                yield chosen & ~_fits(group.value(FIRST), taken), f"{name} takes {_words(taken)}, not {{type{FIRST}}}"


def _fits(types: Types, wanted: tuple[Op, int, int]) -> Booleans:
    kind, width, count = wanted
    return types.scalars_of(kind) & (types.scalar.width == width) & (types.components == count)


def _words(wanted: tuple[Op, int, int]) -> str:
    kind, width, count = wanted
    what = f"{width}-bit {'integer' if kind == Op.TypeInt else 'float'}"
    return f"{count} {what}s" if count > 1 else f"one {what}"


@rule("glsl-matrix-types", "A determinant and an inverse are of square matrices.", SECTION, Op.ExtInst)
def glsl_matrix_types(group: Group) -> Findings:
    matrix = group.value(FIRST)
    square = matrix.is_kind(Op.TypeMatrix) & (matrix.length == matrix.element.components)
    for name, chosen in _by_name(group, ("Determinant", "MatrixInverse")):
        yield chosen & ~square, f"{name} takes a square matrix, not {{type{FIRST}}}"
        wanted = matrix.element.scalar if name == "Determinant" else matrix
        yield chosen & square & (group.result != wanted), f"{name} of {{type{FIRST}}} cannot give {{type}}"


@rule("glsl-geometric-types", "Lengths and distances are numbers, cross products of three components, indices of "
      "refraction one float.", SECTION, Op.ExtInst)
def glsl_geometric_types(group: Group) -> Findings:
    result, operand = group.result, group.value(FIRST)
    for name, chosen in _by_name(group, ("Length", "Distance")):
        good = result.is_kind(Op.TypeFloat) & operand.scalars_of(Op.TypeFloat) & (operand.scalar == result)
        yield chosen & ~good, f"{name} of {{type{FIRST}}} cannot give {{type}}"
        if name == "Distance":
            yield chosen & (group.value(FIRST + 1) != operand), \
                f"the operands of {name} differ: {{type{FIRST}}} and {{type{FIRST + 1}}}"
    for name, chosen in _by_name(group, ("Cross",)):
        yield chosen & ~(result.is_vector(Op.TypeFloat) & (result.components == 3)), \
            f"{name} gives a vector of 3 floats, not {{type}}"
        yield from _same(group, chosen, name, 2)
    for name, chosen in _by_name(group, ("Refract",)):
        yield chosen & ~result.scalars_of(Op.TypeFloat), f"{name} gives floats, not {{type}}"
        yield from _same(group, chosen, name, 2)
        yield chosen & ~group.value(FIRST + 2).is_kind(Op.TypeFloat), \
            f"the index of {name} is one float, not {{type{FIRST + 2}}}"


@rule("glsl-parts-types", "Modf and Frexp split floats of the result type, and put the second part through a pointer "
      "or into a structure; Ldexp joins them.", SECTION, Op.ExtInst)
def glsl_parts_types(group: Group) -> Findings:
    result, second = group.result, group.value(FIRST + 1)
    for name, chosen in _by_name(group, ("Modf", "Frexp", "Ldexp")):
        yield chosen & ~result.scalars_of(Op.TypeFloat), f"{name} gives floats, not {{type}}"
        yield from _same(group, chosen, name, 1)
        part = second if name == "Ldexp" else second.element
        if name != "Ldexp":
            yield chosen & ~second.is_pointer, f"{name} writes through a pointer, not {{type{FIRST + 1}}}"
        good = part == result if name == "Modf" else _exponents(group, part, result)
        relevant = chosen if name == "Ldexp" else chosen & second.is_kind(Op.TypePointer)
        yield relevant & ~good, f"{name} of {{type}} cannot have {{type{FIRST + 1}}} as second operand"
    for name, chosen in _by_name(group, ("ModfStruct", "FrexpStruct")):
        yield chosen & ~_pairs(group, name == "ModfStruct"), \
            f"{name} gives a structure of what it takes, {{type{FIRST}}}, and of the other part, not {{type}}"


def _exponents(group: Group, types: Types, of: Types) -> Booleans:
    """Whether these are integers that can be exponents of such floats."""
    widths = (16, 32, 64) if _AMD_INTEGERS in group.view.declared.extensions else (32, 64)
    return types.scalars_of(Op.TypeInt) & (types.components == of.components) & np.isin(types.scalar.width, widths)


def _pairs(group: Group, floats: bool) -> Booleans:
    """Whether the results are structures of the operand's type and of it again, or of as many 32-bit integers."""
    operand, table = group.value(FIRST), group.view.type_table
    second = np.zeros(len(group), np.int64)
    first = np.zeros(len(group), np.int64)
    for offset, place in enumerate(group.result.places.tolist()):
        item = table.instructions[place]
        if item is not None and item.opcode == Op.TypeStruct and len(item.words) == 2:
            first[offset], second[offset] = (table.position.get(word, 0) for word in item.words)
    other = Types(operand.table, second)
    good = other == operand if floats else _exponents(group, other, operand)
    return operand.scalars_of(Op.TypeFloat) & (first == operand.places) & good


@rule("glsl-interpolation", "Interpolation gives 32-bit floats of a pointer to Input memory.", SECTION, Op.ExtInst)
def glsl_interpolation(group: Group) -> Findings:
    result, place = group.value(FIRST), FIRST + 1
    widths = (16, 32) if _AMD_FLOATS in group.view.declared.extensions else (32,)
    for name, chosen in _by_name(group, _INTERPOLATING):
        if not group.view.has(Capability.InterpolationFunction):
            yield chosen, f"{name} needs the capability InterpolationFunction, which the module does not declare"
        yield chosen & ~(group.result.scalars_of(Op.TypeFloat) & np.isin(group.result.scalar.width, widths)), \
            f"{name} gives 32-bit floats, not {{type}}"
        yield chosen & ~(result.is_pointer & result.in_storage(StorageClass.Input)), \
            f"{name} takes a pointer to Input memory, not {{type{FIRST}}}"
        yield chosen & result.is_kind(Op.TypePointer) & (result.element != group.result), \
            f"{name} of {{pointee{FIRST}}} cannot give {{type}}"
        if name == "InterpolateAtSample":
            yield chosen & ~group.value(place).is_int(32), f"the sample of {name} is a 32-bit integer, " \
                                                          f"not {{type{place}}}"
        elif name == "InterpolateAtOffset":
            offset = group.value(place)
            good = offset.is_vector(Op.TypeFloat) & (offset.components == 2) & np.isin(offset.scalar.width, widths)
            yield chosen & ~good, f"the offset of {name} is two 32-bit floats, not {{type{place}}}"
