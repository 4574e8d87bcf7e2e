"""Rules for types (SPIR-V 3.3.6)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, FPEncoding, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import AGGREGATES, NO_ENCODING, POINTERS, TYPES
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.6 Type-Declaration Instructions"

INTEGER_WIDTHS = (4, 8, 16, 32, 64)
FLOAT_WIDTHS = (16, 32, 64)
ENCODING_WIDTHS = {
    FPEncoding.BFloat16KHR: 16, FPEncoding.Float8E4M3EXT: 8, FPEncoding.Float8E5M2EXT: 8,
    FPEncoding.Float6E2M3EXT: 6, FPEncoding.Float6E3M2EXT: 6, FPEncoding.Float4E2M1EXT: 4,
    FPEncoding.Float8UnsignedE8M0EXT: 8, FPEncoding.MXInt8EXT: 8,
}
_MAY_REPEAT = frozenset({*AGGREGATES, *POINTERS, Op.TypeNodePayloadArrayAMDX})
"""Types that may be declared twice: aggregates, and pointers, which decorations tell apart."""
_MAY_REPEAT_ANYTHING = "SPV_VALIDATOR_ignore_type_decl_unique"


@rule("integer-type", "An integer has 8, 16, 32 or 64 bits (4 with SPV_INTEL_int4), and signedness 0 or 1.",
      SECTION, Op.TypeInt)
def integer_type(group: Group) -> Findings:
    if not group.view.has(Capability.ArbitraryPrecisionIntegersALTERA):
        yield ~np.isin(group.word(0), INTEGER_WIDTHS), \
            "an integer of {word0} bits: 8, 16, 32 and 64 are possible, and 4 with SPV_INTEL_int4"
    yield group.word(0) == 0, "an integer of 0 bits: at least 1 is needed"
    yield group.word(1) > 1, "signedness {word1}: 0 and 1 are possible"


@rule("kernel-signedness", "In OpenCL, integer types have signedness 0.",
      "SPIR-V 2.16.3 Validation Rules for Kernel Capabilities", Op.TypeInt)
def kernel_signedness(group: Group) -> Findings:
    if group.view.has(Capability.Kernel):
        yield group.word(1) == 1, "a module with the capability Kernel has integers of signedness 0; instructions " \
                                  "such as OpSDiv and OpConvertSToF say where a sign matters"


@rule("float-type", "A float has 16, 32 or 64 bits, or the width of its encoding.",
      f"{SECTION}; SPV_KHR_bfloat16", Op.TypeFloat)
def float_type(group: Group) -> Findings:
    encoding = np.where(group.has(1), group.word(1), NO_ENCODING)
    yield (encoding == NO_ENCODING) & ~np.isin(group.word(0), FLOAT_WIDTHS), \
        "a float of {word0} bits: 16, 32 and 64 are possible, others with an encoding"
    for number, width in ENCODING_WIDTHS.items():
        yield (encoding == number) & (group.word(0) != width), \
            f"a float of {{word0}} bits: the encoding {number.spelling} has {width}"


@rule("vector-type", "A vector has at least two components, which are scalars.", SECTION, Op.TypeVector)
def vector_type(group: Group) -> Findings:
    component = group.type(0)
    pointers = component.is_pointer & group.view.has(Capability.MaskedGatherScatterINTEL)
    yield ~component.is_scalar & ~pointers, \
        "the components of a vector are booleans, integers or floats, not {def0}"
    least = 1 if group.view.has(Capability.LongVectorEXT, Capability.VectorAnyINTEL) else 2
    yield group.word(1) < least, f"a vector of {{word1}} components: at least {least} are needed"


@rule("matrix-type", "A matrix has two to four columns, which are vectors of floats.", SECTION, Op.TypeMatrix)
def matrix_type(group: Group) -> Findings:
    yield ~group.type(0).is_vector(Op.TypeFloat), "the columns of a matrix are vectors of floats, not {def0}"
    yield (group.word(1) < 2) | (group.word(1) > 4), "a matrix of {word1} columns: 2 to 4 are possible"


@rule("array-type", "An array has elements of a type with size, and at least one.", SECTION, Op.TypeArray,
      Op.TypeRuntimeArray)
def array_type(group: Group) -> Findings:
    yield group.type(0).is_kind(Op.TypeVoid, Op.TypeFunction), "the elements of an array cannot be {def0}"
    if group.opcode == Op.TypeArray:
        yield ~group.value(1).is_kind(Op.TypeInt) | (group.definition(1) == int(Op.Undef)), \
            "the length of an array is an integer constant, not {def1}"
        yield group.constant(1) == 0, "an array of length 0: at least 1 is needed"
        yield (group.value(1).signed == 1) & (group.constant(1) >> group.value(1).width - 1 == 1), \
            "an array of negative length: at least 1 is needed"


@rule("structure-type", "The members of a structure have types with size; it does not contain itself.", SECTION,
      Op.TypeStruct)
def structure_type(group: Group) -> Findings:
    for place in group.places():
        yield group.has(place) & group.type(place).is_kind(Op.TypeVoid, Op.TypeFunction), \
            f"member {place} of a structure cannot be {{def{place}}}"
        yield group.has(place) & (group.word(place) == group.view.result_id[group.indices]), \
            f"member {place} of a structure cannot be the structure itself: a pointer to it can"


@rule("type-before-use", "A type is made of types declared before it, forward-declared pointers apart.", SECTION)
def type_before_use(view: ModuleView) -> Findings:
    announced = {item.words[0]: index for index, item in view.of_opcode(Op.TypeForwardPointer)}
    for index, item in view.of_opcode(Op.TypeStruct):
        for word in dict.fromkeys(item.words):
            if int(view.defined_by[word]) > index and announced.get(word, index) >= index:
                yield index, f"{{op}} has a member of type %{word}, which is declared only later"


@rule("forward-pointer", "A pointer that is announced is declared, in the same storage class, and points to a "
      "structure.", SECTION)
def forward_pointer(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.TypeForwardPointer):
        pointer = view.definition(item.words[0])
        if pointer.opcode != Op.TypePointer:
            yield index, "{op} is for pointers, not for {def0}"
            continue
        if pointer.words[0] != item.words[1]:
            yield index, "the storage class of {op} differs from that of {def0}"
        if view.definition(pointer.words[1]).opcode != Op.TypeStruct:
            yield index, "{op} announces a pointer to a structure; {id0} points to something else"


@rule("function-type", "A function's parameters have types with size.", SECTION, Op.TypeFunction)
def function_type(group: Group) -> Findings:
    yield group.type(0).is_kind(Op.TypeFunction), "a function cannot return {def0}"
    for place in group.places(1):
        yield group.has(place) & group.type(place).is_kind(Op.TypeVoid, Op.TypeFunction), \
            f"a parameter of a function cannot be {{def{place}}}"


@rule("pointer-type", "A pointer points to a type with size, or to void; to a function only with "
      "SPV_INTEL_function_pointers.", SECTION, Op.TypePointer)
def pointer_type(group: Group) -> Findings:
    if not group.view.has(Capability.FunctionPointersINTEL):
        yield group.type(1).is_kind(Op.TypeFunction), "a pointer to a function, {def1}, needs the capability " \
                                                     "FunctionPointersINTEL"


@rule("type-unique", "A type that is no aggregate or pointer is declared once.",
      "SPIR-V 2.8 Types and Variables; SPV_KHR_cooperative_matrix")
def type_unique(view: ModuleView) -> Findings:
    if _MAY_REPEAT_ANYTHING in view.declared.extensions:
        return
    seen: dict[tuple[int, tuple[int, ...]], int] = {}
    for index, item in view.of_opcode(*(TYPES - _MAY_REPEAT)):
        before = seen.setdefault((item.opcode, item.words), index)
        if before != index:
            yield index, f"{{op}} declares again what %{view.result_id[before]} is"


def contains(view: ModuleView, wanted: tuple[Op, ...]) -> np.ndarray:
    """For each type of the table, whether it is or contains one of these (not through pointers)."""
    found = np.zeros(len(view.type_table.rows), bool)
    for place, item in enumerate(view.type_table.instructions):
        if item is not None:
            found[place] = item.opcode in wanted or any(found[view.type_table.position.get(word, 0)]
                                                        for word in parts(item))
    return found


def parts(declaration: Instruction) -> tuple[int, ...]:
    """The ids of the types of which a composite type is made."""
    match declaration.opcode:
        case Op.TypeStruct:
            return declaration.words
        case Op.TypeArray | Op.TypeRuntimeArray | Op.TypeVector | Op.TypeMatrix | Op.TypeCooperativeMatrixKHR:
            return declaration.words[:1]
    return ()
