"""Cases of the family composites."""

from __future__ import annotations

from typing import Any

from tests.kit.spirv.case import broken, valid
from tests.kit.spirv.cases.arithmetic import apply

TYPES = "\n".join((
    "%pair = OpTypeStruct %uint %float", "%same = OpTypeStruct %uint %float", "%other = OpTypeStruct %uint %uint",
    "%nest = OpTypeStruct %pair %arr4_uint", "%pairs = OpTypeArray %pair %uint_2", "%sames = OpTypeArray %same %uint_2",
    "%two = OpConstant %uint 2", "%again = OpTypeArray %same %two",
    "%more = OpTypeArray %same %uint_3", "%event = OpTypeEvent", "%m23 = OpTypeMatrix %v2float 3",
    "%m32 = OpTypeMatrix %v3float 2", "%d32 = OpTypeMatrix %v3double 2"))
FREEZE = {"capabilities": "PoisonFreezeKHR", "extensions": "SPV_KHR_poison_freeze",
          "modes": "OpExecutionMode %main ArithmeticPoisonKHR"}


def part(op: str, result: str, *operands: str, literals: str = "", **rest: Any) -> str:
    """An instruction on undefined values and literals that follow them."""
    capabilities = f"Matrix {rest.pop('capabilities', '')}"
    text = apply(op, result, *operands, declarations=TYPES, capabilities=capabilities, **rest)
    return text.replace("\nOpReturn", f" {literals}\nOpReturn")


def extract(result: str, composite: str, literals: str, **rest: Any) -> str:
    return part("CompositeExtract", result, composite, literals=literals, **rest)


def insert(result: str, new: str, composite: str, literals: str) -> str:
    return part("CompositeInsert", result, new, composite, literals=literals)


def construct(result: str, *constituents: str) -> str:
    return part("CompositeConstruct", result, *constituents)


def shuffle(result: str, one: str, two: str, literals: str) -> str:
    return part("VectorShuffle", result, one, two, literals=literals)


CASES = [
    valid("a member is extracted", extract("%float", "%pair", "1")),
    valid("a member of a member is extracted", extract("%uint", "%nest", "0 0")),
    valid("a component of a cooperative matrix is extracted", extract("%float", "%matrix_acc_8x16_float", "3")),
    broken("composite-extract", "the type of another member", extract("%float", "%pair", "0")),
    broken("composite-extract", "a member beyond the last", extract("%float", "%pair", "2")),
    broken("composite-extract", "an element beyond the last", extract("%uint", "%arr4_uint", "4")),
    broken("composite-extract", "a part of a scalar", extract("%uint", "%nest", "0 0 0")),
    broken("composite-extract", "a part of a pointer", extract("%uint", "%ptr_global_uint", "0")),
    broken("composite-extract", "no index", extract("%pair", "%pair", "")),
    broken("composite-extract", "256 indices", extract("%uint", "%pair", "0 " * 256)),
    valid("a member is inserted", insert("%pair", "%float", "%pair", "1")),
    broken("composite-insert", "the structure becomes another", insert("%same", "%float", "%pair", "1")),
    broken("composite-insert", "a member of another type", insert("%pair", "%float", "%pair", "0")),
    broken("composite-insert", "a member beyond the last is inserted", insert("%pair", "%float", "%pair", "2")),
    broken("composite-insert", "no index to insert at", insert("%pair", "%pair", "%pair", "")),
    broken("composite-insert", "256 indices to insert at", insert("%pair", "%uint", "%pair", "0 " * 256)),
    valid("a vector of scalars", construct("%v2uint", "%uint", "%uint")),
    valid("a vector of a vector and a scalar", construct("%v3uint", "%v2uint", "%uint")),
    valid("a structure", construct("%pair", "%uint", "%float")),
    valid("a matrix of columns", construct("%m32", "%v3float", "%v3float")),
    valid("one value fills a cooperative matrix", construct("%matrix_acc_8x16_float", "%float")),
    broken("composite-construct", "a vector of one vector", construct("%v2uint", "%v2uint")),
    broken("composite-construct", "too few components", construct("%v4uint", "%v2uint", "%uint")),
    broken("composite-construct", "too many components", construct("%v3uint", "%v2uint", "%v2uint")),
    broken("composite-construct", "components of another type", construct("%v2float", "%uint", "%float")),
    broken("composite-construct", "members of another type", construct("%pair", "%uint", "%uint")),
    broken("composite-construct", "too few members", construct("%pair", "%uint")),
    broken("composite-construct", "too many elements", construct("%arr2_uint", "%uint", "%uint", "%uint")),
    broken("composite-construct", "an integer is constructed", construct("%uint", "%uint")),
    broken("composite-construct", "two values for a cooperative matrix",
           construct("%matrix_acc_8x16_float", "%float", "%float")),
    valid("components are picked, one of them undefined", shuffle("%v3uint", "%v2uint", "%v4uint", "0 5 0xffffffff")),
    broken("vector-shuffle", "a component beyond the vectors", shuffle("%v2uint", "%v2uint", "%v2uint", "0 4")),
    broken("vector-shuffle", "fewer components than the result has", shuffle("%v3uint", "%v2uint", "%v2uint", "0 1")),
    broken("vector-shuffle", "a scalar is picked", shuffle("%uint", "%v2uint", "%v2uint", "0")),
    broken("vector-shuffle", "vectors of two types", shuffle("%v2uint", "%v2uint", "%v2float", "0 1")),
    broken("vector-shuffle", "components of scalars", shuffle("%v2uint", "%uint", "%uint", "0 1")),
    valid("a component by a variable", part("VectorExtractDynamic", "%uint", "%v2uint", "%ulong")),
    valid("insertion by a variable", part("VectorInsertDynamic", "%v2float", "%v2float", "%float", "%uint")),
    broken("vector-dynamic", "a float as index", part("VectorExtractDynamic", "%uint", "%v2uint", "%float")),
    broken("vector-dynamic", "a component of another type", part("VectorExtractDynamic", "%float", "%v2uint", "%uint")),
    broken("vector-dynamic", "a member by a variable", part("VectorExtractDynamic", "%uint", "%other", "%uint")),
    broken("vector-dynamic", "a longer vector results",
           part("VectorInsertDynamic", "%v3uint", "%v2uint", "%uint", "%uint")),
    broken("vector-dynamic", "an integer into floats",
           part("VectorInsertDynamic", "%v2float", "%v2float", "%uint", "%uint")),
    broken("vector-dynamic", "a vector as index",
           part("VectorInsertDynamic", "%v2uint", "%v2uint", "%uint", "%v2uint")),
    valid("a structure is copied", part("CopyObject", "%pair", "%pair")),
    broken("copy-object", "a copy of another type", part("CopyObject", "%same", "%pair")),
    valid("a structure becomes one made alike", part("CopyLogical", "%same", "%pair")),
    valid("an array of structures becomes one made alike", part("CopyLogical", "%sames", "%pairs")),
    broken("copy-logical", "a logical copy of the same type", part("CopyLogical", "%pair", "%pair")),
    broken("copy-logical", "members of other types", part("CopyLogical", "%other", "%pair")),
    broken("copy-logical", "arrays of two lengths", part("CopyLogical", "%more", "%pairs")),
    broken("copy-logical", "arrays of one length by two ids", part("CopyLogical", "%again", "%pairs")),
    broken("copy-logical", "a structure of an array", part("CopyLogical", "%same", "%pairs")),
    broken("copy-logical", "a number becomes another", part("CopyLogical", "%float", "%uint")),
    valid("a frozen value", part("FreezeKHR", "%uint", "%uint", **FREEZE)),
    broken("freeze-type", "freezing changes the type", part("FreezeKHR", "%float", "%uint", **FREEZE),
           "SPV_KHR_poison_freeze: the operand of OpFreezeKHR has the result type; SPIRV-Tools has no rule for this "
           "instruction"),
    valid("a choice between integers", part("Select", "%uint", "%bool", "%uint", "%uint")),
    valid("a choice by component", part("Select", "%v2uint", "%v2bool", "%v2uint", "%v2uint")),
    valid("a choice between pointers", part("Select", "%ptr_global_uint", "%bool", "%ptr_global_uint",
                                            "%ptr_global_uint", version="1.3")),
    valid("a choice between structures", part("Select", "%pair", "%bool", "%pair", "%pair")),
    valid("a choice between vectors by one boolean", part("Select", "%v2uint", "%bool", "%v2uint", "%v2uint")),
    broken("select-types", "a choice by an integer", part("Select", "%uint", "%uint", "%uint", "%uint")),
    broken("select-types", "a choice between other types", part("Select", "%float", "%bool", "%uint", "%float")),
    broken("select-types", "two booleans for three components",
           part("Select", "%v3uint", "%v2bool", "%v3uint", "%v3uint")),
    broken("select-types", "a choice between events", part("Select", "%event", "%bool", "%event", "%event")),
    broken("select-types", "a choice between structures in SPIR-V 1.3",
           part("Select", "%pair", "%bool", "%pair", "%pair", version="1.3")),
    broken("select-types", "one boolean for a vector in SPIR-V 1.3",
           part("Select", "%v2uint", "%bool", "%v2uint", "%v2uint", version="1.3")),
    valid("a transposed matrix", part("Transpose", "%m32", "%m23")),
    broken("transpose", "a matrix keeps its shape", part("Transpose", "%m23", "%m23")),
    broken("transpose", "transposing changes the precision", part("Transpose", "%d32", "%m23")),
    broken("transpose", "a vector is transposed", part("Transpose", "%v2float", "%v2float")),
]
