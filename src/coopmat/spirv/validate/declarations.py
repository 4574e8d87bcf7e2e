"""Rules for types and constants (SPIR-V 3.3.6 and 3.3.7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import Capability, FPEncoding, Op
from coopmat.spirv.instruction import Instruction
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import NO_ENCODING, TYPES
from coopmat.spirv.validate.view import ModuleView

TYPE_SECTION = "SPIR-V 3.3.6 Type-Declaration Instructions"
CONSTANT_SECTION = "SPIR-V 3.3.7 Constant-Creation Instructions"

INTEGER_WIDTHS = (4, 8, 16, 32, 64)
FLOAT_WIDTHS = (16, 32, 64)
ENCODING_WIDTHS = {FPEncoding.BFloat16KHR: 16, FPEncoding.Float8E4M3EXT: 8, FPEncoding.Float8E5M2EXT: 8}
_AGGREGATES = frozenset({Op.TypeArray, Op.TypeRuntimeArray, Op.TypeStruct})
_MAY_REPEAT = _AGGREGATES | {Op.TypePointer, Op.TypeUntypedPointerKHR}
"""Types that may be declared twice: aggregates, and pointers, which decorations tell apart."""


@rule("integer-type", "An integer has 8, 16, 32 or 64 bits (4 with SPV_INTEL_int4), and signedness 0 or 1.",
      TYPE_SECTION, Op.TypeInt)
def integer_type(group: Group) -> Findings:
    if Capability.ArbitraryPrecisionIntegersALTERA not in group.view.declared.all:
        yield ~np.isin(group.word(0), INTEGER_WIDTHS), \
            "an integer of {word0} bits: 8, 16, 32 and 64 are possible, and 4 with SPV_INTEL_int4"
    yield group.word(1) > 1, "signedness {word1}: 0 and 1 are possible"


@rule("kernel-signedness", "In OpenCL, integer types have signedness 0.",
      "OpenCL SPIR-V environment; SPIR-V 2.16.3 Validation Rules for Kernel Capabilities", Op.TypeInt)
def kernel_signedness(group: Group) -> Findings:
    if Capability.Kernel in group.view.declared.all:
        yield group.word(1) == 1, "a module with the capability Kernel has integers of signedness 0; instructions " \
                                  "such as OpSDiv and OpConvertSToF say where a sign matters"


@rule("float-type", "A float has 16, 32 or 64 bits, or the width of its encoding.", TYPE_SECTION, Op.TypeFloat)
def float_type(group: Group) -> Findings:
    encoding = np.where(group.has(1), group.word(1), NO_ENCODING)
    yield (encoding == NO_ENCODING) & ~np.isin(group.word(0), FLOAT_WIDTHS), \
        "a float of {word0} bits: 16, 32 and 64 are possible, others with an encoding"
    for number, width in ENCODING_WIDTHS.items():
        yield (encoding == number) & (group.word(0) != width), \
            f"a float of {{word0}} bits: the encoding {number.spelling} has {width}"


@rule("vector-type", "A vector has at least two components, which are scalars.", TYPE_SECTION, Op.TypeVector)
def vector_type(group: Group) -> Findings:
    yield ~group.type(0).is_scalar, "the components of a vector are booleans, integers or floats, not {def0}"
    yield group.word(1) < 2, "a vector of {word1} components: at least 2 are needed"


@rule("matrix-type", "A matrix has two to four columns, which are vectors of floats.", TYPE_SECTION, Op.TypeMatrix)
def matrix_type(group: Group) -> Findings:
    column = group.type(0)
    yield ~(column.is_kind(Op.TypeVector) & column.element.is_kind(Op.TypeFloat)), \
        "the columns of a matrix are vectors of floats, not {def0}"
    yield (group.word(1) < 2) | (group.word(1) > 4), "a matrix of {word1} columns: 2 to 4 are possible"


@rule("array-type", "An array has elements of a type with size, and at least one.", TYPE_SECTION, Op.TypeArray,
      Op.TypeRuntimeArray)
def array_type(group: Group) -> Findings:
    yield group.type(0).is_kind(Op.TypeVoid, Op.TypeFunction), "the elements of an array cannot be {def0}"
    if group.view.opcode[group.indices[0]] == Op.TypeArray:
        yield ~group.value(1).is_kind(Op.TypeInt), "the length of an array is an integer constant, not {def1}"
        yield group.constant(1) == 0, "an array of length 0: at least 1 is needed"


@rule("structure-type", "The members of a structure have types with size.", TYPE_SECTION, Op.TypeStruct)
def structure_type(group: Group) -> Findings:
    for place in group.places():
        yield group.has(place) & group.type(place).is_kind(Op.TypeVoid, Op.TypeFunction), \
            f"member {place} of a structure cannot be {{def{place}}}"


@rule("type-before-use", "A type is made of types declared before it, forward-declared pointers apart.", TYPE_SECTION)
def type_before_use(view: ModuleView) -> Findings:
    forward = {item.words[0] for _, item in view.of_opcode(Op.TypeForwardPointer)}
    for index, item in view.of_opcode(Op.TypeStruct):
        for word in item.words:
            if int(view.defined_by[word]) >= index and word not in forward:
                yield index, f"{{op}} has a member of type %{word}, which is declared only later"
    for index, item in view.of_opcode(Op.TypeForwardPointer):
        found = int(view.defined_by[item.words[0]])
        if found >= 0 and view.opcode[found] != Op.TypePointer:
            yield index, "{op} is for pointers, not for {def0}"


@rule("function-type", "A function's parameters have types with size.", TYPE_SECTION, Op.TypeFunction)
def function_type(group: Group) -> Findings:
    yield group.type(0).is_kind(Op.TypeFunction), "a function cannot return {def0}"
    for place in group.places(1):
        yield group.has(place) & group.type(place).is_kind(Op.TypeVoid, Op.TypeFunction), \
            f"a parameter of a function cannot be {{def{place}}}"


@rule("type-unique", "A type that is no aggregate or pointer is declared once.",
      "SPIR-V 2.8 Types and Variables")
def type_unique(view: ModuleView) -> Findings:
    seen: dict[tuple[int, tuple[int, ...]], int] = {}
    for index, item in view.of_opcode(*sorted(TYPES - _MAY_REPEAT)):
        before = seen.setdefault((item.opcode, item.words), index)
        if before != index:
            yield index, f"{{op}} declares again what %{view.result_id[before]} is"


# --------------------------------------------------------------------------------------
# Constants
# --------------------------------------------------------------------------------------


@rule("boolean-constant", "OpConstantTrue and OpConstantFalse are booleans.", CONSTANT_SECTION,
      Op.ConstantTrue, Op.ConstantFalse, Op.SpecConstantTrue, Op.SpecConstantFalse)
def boolean_constant(group: Group) -> Findings:
    yield ~group.result.is_kind(Op.TypeBool), "{op} is a boolean, not {type}"


@rule("number-constant", "A constant is an integer or a float, with as many words as its type needs.",
      CONSTANT_SECTION, Op.Constant, Op.SpecConstant)
def number_constant(group: Group) -> Findings:
    fits = group.result.is_kind(Op.TypeInt, Op.TypeFloat)
    yield ~fits, "{op} is an integer or a float, not {type}"
    words = np.maximum(1, (group.result.width + 31) // 32)
    yield fits & (group.size != words), "the value of {op} has another number of words than {type} needs"


@rule("composite-constant", "The constituents of a constant fit its type.", CONSTANT_SECTION,
      Op.ConstantComposite, Op.SpecConstantComposite)
def composite_constant(group: Group) -> Findings:
    view = group.view
    for offset, index in enumerate(group.indices.tolist()):
        for message in constituents(view, view.items[index], view.items[index].words):
            yield _only(group, offset), message


def _only(group: Group, offset: int) -> np.ndarray:
    chosen = np.zeros(len(group), bool)
    chosen[offset] = True
    return chosen


def constituents(view: ModuleView, item: Instruction, given: tuple[int, ...]) -> Iterator[str]:
    """What is wrong with the constituents from which a composite is made, one for each member."""
    members = member_types(view, item.type_id or 0)
    if members is None:
        yield "{op} makes a vector, matrix, array, structure or cooperative matrix, not {type}"
        return
    if len(given) != len(members):
        yield f"{{op}} has {len(given)} constituents; {{type}} has {len(members)}"
        return
    for place, (identifier, wanted) in enumerate(zip(given, members, strict=True)):
        at = int(view.defined_by[identifier])
        if int(view.type_id[at]) != wanted:
            yield f"constituent {place} of {{op}} has type {{type{place}}}; %{wanted} is needed"


def member_types(view: ModuleView, type_id: int) -> list[int] | None:
    """The type ids of a composite's constituents; None for what is no composite of known length.

    A cooperative matrix is made of one: the value of all its components.
    """
    at = int(view.defined_by[type_id])
    if at < 0:
        return None
    declaration = view.items[at]
    match declaration.opcode:
        case Op.TypeVector | Op.TypeMatrix:
            return [declaration.words[0]] * min(declaration.words[1], MAX_CONSTITUENTS)
        case Op.TypeArray:
            length = view.constant(declaration.words[1])
            return [declaration.words[0]] * min(length, MAX_CONSTITUENTS) if length is not None else None
        case Op.TypeStruct:
            return list(declaration.words)
        case Op.TypeCooperativeMatrixKHR:
            return [declaration.words[0]]
    return None


MAX_CONSTITUENTS = 0x10000
"""More than an instruction has words; keeps a declared length of 2**32 from becoming a list."""


@rule("null-constant", "OpConstantNull has a type that has a null value.", CONSTANT_SECTION, Op.ConstantNull)
def null_constant(group: Group) -> Findings:
    yield group.result.is_kind(Op.TypeVoid, Op.TypeFunction, Op.TypeRuntimeArray, Op.TypeImage, Op.TypeSampler,
                               Op.TypeSampledImage, Op.TypeOpaque), "{type} has no null value"


@rule("undef-type", "OpUndef has a type that has values.", "SPIR-V 3.3.1 Miscellaneous Instructions", Op.Undef)
def undef_type(group: Group) -> Findings:
    yield group.result.is_kind(Op.TypeVoid, Op.TypeFunction), "{op} cannot have type {type}"
