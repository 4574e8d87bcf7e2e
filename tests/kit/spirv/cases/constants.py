"""Cases of the family constants."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid
from tests.kit.spirv.cases.declarations import declare

REPLICATED = {"capabilities": "ReplicatedCompositesEXT", "extensions": "SPV_EXT_replicated_composites"}
PAIRS = "%pair = OpTypeStruct %uint %uint\n%mixed = OpTypeStruct %uint %float\n"
SOME = "%some = OpSpecConstant %uint 2\n"
SIZED = SOME + "%list = OpTypeArray %uint %some\n"
SAMPLER = "%t = OpTypeSampler\n"
ARRAY = "%v = OpVariable %ptr_global_arr4_uint CrossWorkgroup\n"


def operation(text: str, before: str = "", **rest: str) -> str:
    return kernel("", declarations=f"{before}%c = OpSpecConstantOp {text}", **rest)


def replicate(text: str, before: str = "") -> str:
    return declare(f"{before}%c = Op{text}", **REPLICATED)


CASES = [
    valid("a boolean that can be specialised", declare("%c = OpSpecConstantTrue %bool")),
    broken("boolean-constant", "true as an integer", declare("%c = OpConstantTrue %uint")),
    broken("boolean-constant", "a vector that is false", declare("%c = OpConstantFalse %v2bool")),
    broken("boolean-constant", "an integer that can be specialised to true", declare("%c = OpSpecConstantFalse %uint")),
    valid("a double", declare("%c = OpConstant %double 0.1")),
    valid("a negative byte", declare("%t = OpTypeInt 8 1\n%c = OpConstant %t -1", shader, capabilities="Int8")),
    broken("number-constant", "a boolean with a number", declare("%c = OpConstant %bool !0x1")),
    broken("number-constant", "a vector with a number", declare("%c = OpConstant %v2uint !0x1")),
    broken("number-constant", "a 64-bit integer of one word", declare("%c = OpConstant %ulong !0x1")),
    broken("number-constant", "a 32-bit float of two words", declare("%c = OpConstant %float !0x1 !0x0")),
    broken("number-constant", "a byte beyond 255", declare("%c = OpConstant %uchar !0x100")),
    broken("number-constant", "bits above a half", declare("%c = OpConstant %half !0x13c00")),
    broken("operand-missing", "a constant without a number", declare("%c = OpConstant %uint !0x10000"),
           words=(("OpConstant", 0, 0x0003002B),)),
    valid("a vector constant", declare("%c = OpConstantComposite %v2uint %uint_1 %uint_2")),
    valid("an undefined component", declare("%u = OpUndef %uint\n%c = OpConstantComposite %v2uint %u %uint_1")),
    valid("one value fills a cooperative matrix", declare("%c = OpConstantComposite %matrix_acc_8x16_float %float_1")),
    valid("a structure without members as constant", declare("%s = OpTypeStruct\n%c = OpConstantComposite %s")),
    valid("an array of a length that can be specialised",
          declare(SIZED + "%c = OpSpecConstantComposite %list %uint_1 %uint_1")),
    broken("composite-constant", "too few constituents", declare("%c = OpConstantComposite %v2uint %uint_1")),
    broken("composite-constant", "too many elements", declare("%c = OpConstantComposite %arr2_uint"
                                                              " %uint_1 %uint_2 %uint_3")),
    broken("composite-constant", "no members", declare(PAIRS + "%c = OpConstantComposite %pair")),
    broken("composite-constant", "a constituent of another type",
           declare("%c = OpConstantComposite %v2uint %uint_1 %float_1")),
    broken("composite-constant", "a member of another type",
           declare(PAIRS + "%c = OpConstantComposite %mixed %float_1 %float_1")),
    broken("composite-constant", "an element of another type in a length that can be specialised",
           declare(SIZED + "%c = OpSpecConstantComposite %list %uint_1 %float_1")),
    broken("composite-constant", "an integer made of an integer", declare("%c = OpConstantComposite %uint %uint_1")),
    broken("composite-constant", "a constant made of one that can be specialised",
           declare(SOME + "%c = OpConstantComposite %v2uint %uint_1 %some")),
    valid("one that can be specialised made of one",
          declare(SOME + "%c = OpSpecConstantComposite %v2uint %uint_1 %some")),
    valid("a value fills a vector", replicate("ConstantCompositeReplicateEXT %v4uint %uint_1")),
    valid("a value fills a structure", replicate("ConstantCompositeReplicateEXT %pair %uint_1", PAIRS)),
    broken("replicated-composite", "a value fills an integer",
           replicate("ConstantCompositeReplicateEXT %uint %uint_1")),
    broken("replicated-composite", "floats fill integers", replicate("ConstantCompositeReplicateEXT %v4uint %float_1")),
    broken("replicated-composite", "a value fills different members",
           replicate("ConstantCompositeReplicateEXT %mixed %uint_1", PAIRS)),
    broken("replicated-composite", "a constant filled with one that can be specialised",
           replicate("ConstantCompositeReplicateEXT %v4uint %some", SOME)),
    broken("replicated-composite", "a value that is no constant fills others",
           kernel("%a = OpUndef %uint\n%r = OpCompositeConstructReplicateEXT %v4float %a", **REPLICATED)),
    valid("a null pointer in a structure",
          declare("%s = OpTypeStruct %uint %ptr_global_uint\n%c = OpConstantNull %s")),
    valid("a null event", declare("%t = OpTypeEvent\n%c = OpConstantNull %t")),
    broken("null-constant", "a null void", declare("%c = OpConstantNull %void")),
    broken("null-constant", "a null sampler", declare(SAMPLER + "%c = OpConstantNull %t")),
    broken("null-constant", "a null structure of samplers",
           declare(SAMPLER + "%s = OpTypeStruct %uint %t\n%c = OpConstantNull %s")),
    valid("a sampler", declare(SAMPLER + "%c = OpConstantSampler %t Clamp 1 Nearest", capabilities="LiteralSampler")),
    broken("sampler-constant", "an integer sampler",
           declare("%c = OpConstantSampler %uint Clamp 0 Nearest", capabilities="LiteralSampler")),
    broken("sampler-constant", "coordinates that are neither normalised nor not",
           declare(SAMPLER + "%c = OpConstantSampler %t Clamp 2 Nearest", capabilities="LiteralSampler"),
           "OpConstantSampler's Param is 0 (not normalised) or 1 (normalised); SPIRV-Tools does not look at it"),
    valid("an undefined pointer", kernel("%a = OpUndef %ptr_global_uint")),
    broken("undef-type", "an undefined void", kernel("%a = OpUndef %void")),
    broken("undef-type", "an undefined function", kernel("%a = OpUndef %main_type")),
    valid("an addition of constants", operation("%uint IAdd %some %uint_1", SOME)),
    valid("a division of floats in a kernel module", operation("%float FDiv %float_1 %float_2")),
    valid("the address of an element", operation("%ptr_global_uint InBoundsPtrAccessChain %v %uint_0 %uint_1", ARRAY)),
    valid("an address as number", operation("%ulong ConvertPtrToU %v", ARRAY)),
    valid("a wider constant in a shader module of SPIR-V 1.4",
          declare("%c = OpSpecConstantOp %ulong UConvert %uint_1", shader)),
    broken("constant-operation", "counted bits", operation("%uint BitCount %uint_1")),
    broken("constant-operation", "a copy", operation("%uint CopyObject %uint_1")),
    broken("constant-operation", "an addition of floats in a shader module",
           declare("%c = OpSpecConstantOp %float FAdd %float_1 %float_1", shader)),
    broken("constant-operation", "a wider constant in a shader module of SPIR-V 1.3",
           declare("%c = OpSpecConstantOp %ulong UConvert %uint_1", shader, version="1.3")),
    broken("integer-arithmetic", "floats in an addition of constants", operation("%uint IAdd %uint_1 %float_1")),
    broken("float-arithmetic", "integers in a division of constants", operation("%float FDiv %float_1 %uint_2")),
    broken("composite-insert", "a constant beyond the end of a vector",
           operation("%v2uint CompositeInsert %uint_1 %null 2", "%null = OpConstantNull %v2uint\n")),
]
