"""Cases of the family decorations."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

VARIABLE = "%v = OpVariable %ptr_global_uint CrossWorkgroup"
PAIR = "%s = OpTypeStruct %uint %float"
SUM = "%r = OpIAdd %uint %uint_1 %uint_2"
CONVERSION = "%h = OpFConvert %half %float_1"
TARGET = "SPIR-V 3.2.20 has {} only; SPIRV-Tools does not look at what it decorates"
FLOAT8 = ("SPV_EXT_float8 has SaturatedToLargestFloat8NormalConversionEXT on conversions to 8-bit floats only; "
          "SPIRV-Tools does not look at what it decorates")
GROUP = "%g = OpDecorationGroup"


def decorate(text: str, body: str = SUM, declarations: str = VARIABLE, **rest: str) -> str:
    """A kernel with the sum ``%r`` and the global variable ``%v``, decorated."""
    return kernel(body, annotations=text, declarations=declarations, **rest)


def to_float8(instruction: str) -> str:
    """A kernel with a conversion that is decorated as one that saturates to an 8-bit float."""
    return kernel(f"%r = Op{instruction}", declarations="%fp8 = OpTypeFloat 8 Float8E4M3EXT", capabilities="Float8EXT",
                  annotations="OpDecorate %r SaturatedToLargestFloat8NormalConversionEXT", extensions="SPV_EXT_float8")


def in_shader(text: str, declarations: str = PAIR, **rest: str) -> str:
    return shader(SUM, annotations=text, declarations=declarations, **rest)


def built_in(name: str, kind: str, storage: str = "Input", **rest: str) -> str:
    """A kernel with a built-in variable."""
    return kernel("", annotations=f"OpDecorate %v BuiltIn {name}",
                  declarations=f"%p = OpTypePointer {storage} {kind}\n%v = OpVariable %p {storage}", **rest)


TARGETS = [
    valid("an alignment", decorate("OpDecorate %v Alignment 4")),
    valid("a constant variable", decorate("OpDecorate %v Constant")),
    valid("arithmetic that does not wrap", decorate("OpDecorate %r NoSignedWrap\nOpDecorate %r NoUnsignedWrap")),
    valid("a specialisation constant",
          decorate("OpDecorate %c SpecId 3", declarations="%c = OpSpecConstant %uint 1")),
    broken("decoration-target", "SpecId on a constant",
           decorate("OpDecorate %c SpecId 3", declarations="%c = OpConstant %uint 1"),
           says="SpecId is for scalar specialisation constants"),
    broken("decoration-target", "SpecId on a composite",
           decorate("OpDecorate %c SpecId 3", declarations="%c = OpSpecConstantComposite %v2uint %uint_1 %uint_1")),
    broken("decoration-target", "CPacked on a number", decorate("OpDecorate %uint CPacked"), says="structure types"),
    broken("decoration-target", "Constant on a sum", decorate("OpDecorate %r Constant"), says="is for variables"),
    broken("decoration-target", "Restrict on a type", decorate("OpDecorate %uint Restrict"),
           says="variables and parameters"),
    broken("decoration-target", "NonWritable on a parameter that is no pointer",
           kernel("", parameters="%uint", annotations="OpDecorate %p0 NonWritable"), says="is of type"),
    broken("decoration-target", "ArrayStride on a number", decorate("OpDecorate %uint ArrayStride 4",
                                                                 capabilities="Shader"),
                                                                 says="array and pointer types"),
    broken("decoration-target", "FuncParamAttr on a variable", decorate("OpDecorate %v FuncParamAttr Zext"),
           TARGET.format("FuncParamAttr on parameters and results of functions"),
           says="functions and their parameters"),
    broken("decoration-target", "NoSignedWrap on a variable", decorate("OpDecorate %v NoSignedWrap"),
           says="integer arithmetic"),
    broken("decoration-target", "SaturatedConversion on a sum", decorate("OpDecorate %r SaturatedConversion"),
           TARGET.format("SaturatedConversion on conversions to integers"),
           says="conversions to integers"),
    broken("decoration-saturated", "SaturatedConversion on a conversion to floats",
           decorate("OpDecorate %h SaturatedConversion", CONVERSION)),
    valid("a conversion that saturates to an 8-bit float", to_float8("FConvert %fp8 %float_1")),
    broken("decoration-float8", "a sum that saturates to an 8-bit float", to_float8("FAdd %float %float_1 %float_1"),
           FLOAT8, says="conversions to 8-bit floats"),
    broken("decoration-float8", "a conversion that saturates to half", to_float8("FConvert %half %float_1"),
           FLOAT8, says="conversions to 8-bit floats"),
    broken("decoration-target", "RowMajor on a structure", in_shader("OpDecorate %s RowMajor"),
           says="members of structures only"),
    broken("decoration-target", "SpecId on a member", decorate("OpMemberDecorate %s 0 SpecId 1", declarations=PAIR),
           says="cannot stand on a member"),
    broken("decoration-target", "an alignment of a member",
           decorate("OpMemberDecorate %s 0 Alignment 8", declarations=PAIR), says="cannot stand on a member"),
    valid("a rounding mode of a conversion", decorate("OpDecorate %h FPRoundingMode RTZ", CONVERSION)),
    broken("decoration-rounding", "a rounding mode of a sum", decorate("OpDecorate %r FPRoundingMode RTZ")),
    broken("decoration-rounding", "a rounding mode of a sum of floats",
           decorate("OpDecorate %f FPRoundingMode RTE", "%f = OpFAdd %float %float_1 %float_1")),
    broken("decoration-alignment", "an alignment of 12", decorate("OpDecorate %v Alignment 12")),
    broken("decoration-alignment", "an alignment of 0", decorate("OpDecorate %v Alignment 0")),
    broken("decoration-by-id", "an id in OpDecorate", decorate("OpDecorate %v AlignmentId %uint_4"),
           says="OpDecorateId sets it"),
    broken("decoration-by-id", "a number in OpDecorateId", decorate("OpDecorateId %v Alignment 4"),
           says="OpDecorate sets it"),
]

SETS = [
    broken("decoration-repeated", "two alignments", decorate("OpDecorate %v Alignment 4\nOpDecorate %v Alignment 8"),
           says="which it has already"),
    broken("decoration-repeated", "one decoration twice", decorate("OpDecorate %v Constant\nOpDecorate %v Constant")),
    valid("one decoration on two members", in_shader(
        "OpMemberDecorate %s 0 Offset 0\nOpMemberDecorate %s 1 Offset 4")),
    broken("decoration-repeated", "two offsets of a member", in_shader(
        "OpMemberDecorate %s 0 Offset 0\nOpMemberDecorate %s 0 Offset 4")),
    valid("an attribute of what a function returns", kernel("", annotations="OpDecorate %main FuncParamAttr Zext")),
    valid("two attributes of a parameter", kernel(
        "", parameters="%ptr_global_uint",
        annotations="OpDecorate %p0 FuncParamAttr NoAlias\nOpDecorate %p0 FuncParamAttr NoWrite")),
    broken("decoration-conflict", "Aliased and Restrict", decorate("OpDecorate %v Aliased\nOpDecorate %v Restrict"),
           says="both Aliased and Restrict"),
    broken("decoration-conflict", "Block and BufferBlock",
           in_shader("OpDecorate %s Block\nOpDecorate %s BufferBlock\nOpMemberDecorate %s 0 Offset 0\n"
                     "OpMemberDecorate %s 1 Offset 4", version="1.3"), says="both Block and BufferBlock"),
    broken("decoration-conflict vulkan-capabilities", "FPFastMathMode and NoContraction",
           shader("%f = OpFAdd %float %float_1 %float_1", kind="Shader Kernel",
                  annotations="OpDecorate %f FPFastMathMode NotNaN\nOpDecorate %f NoContraction"),
           says="both FPFastMathMode and NoContraction"),
    broken("decoration-conflict", "AllowTransform alone",
           decorate("OpDecorate %f FPFastMathMode AllowTransform", "%f = OpFAdd %float %float_1 %float_1",
                    capabilities="FloatControls2", extensions="SPV_KHR_float_controls2"),
           says="AllowContract and AllowReassoc"),
    valid("AllowTransform with what it needs",
          decorate("OpDecorate %f FPFastMathMode AllowTransform|AllowContract|AllowReassoc",
                   "%f = OpFAdd %float %float_1 %float_1", capabilities="FloatControls2",
                   extensions="SPV_KHR_float_controls2")),
    broken("spec-id-unique", "one SpecId for two constants",
           decorate("OpDecorate %c SpecId 3\nOpDecorate %d SpecId 3",
                    declarations="%c = OpSpecConstant %uint 1\n%d = OpSpecConstant %uint 1"), says="SpecId 3, too"),
    valid("two SpecIds", decorate("OpDecorate %c SpecId 3\nOpDecorate %d SpecId 4",
                                  declarations="%c = OpSpecConstant %uint 1\n%d = OpSpecConstant %uint 1")),
    broken("member-decoration", "a member of a number", decorate("OpMemberDecorate %uint 0 Volatile"),
           says="is for structure types"),
    broken("member-decoration", "a member that is not there", decorate("OpMemberDecorate %s 2 Volatile",
                                                                     declarations=PAIR), says="which has 2"),
    broken("member-decoration", "the name of a member that is not there",
           kernel(SUM, annotations='OpMemberName %s 7 "x"', declarations=PAIR), says="which has 2"),
    valid("the name of a member", kernel(SUM, annotations='OpMemberName %s 1 "x"', declarations=PAIR)),
    valid("a group of decorations", decorate(f"OpDecorate %g Alignment 4\n{GROUP}\nOpGroupDecorate %g %v")),
    valid("a group of decorations of members",
          in_shader(f"OpDecorate %g Offset 0\n{GROUP}\nOpGroupMemberDecorate %g %s 0\nOpMemberDecorate %s 1 Offset 4")),
    broken("group-decoration", "a group that decorates a group",
           decorate(f"OpDecorate %g Alignment 4\n{GROUP}\n%h = OpDecorationGroup\nOpGroupDecorate %g %h"),
           says="a decoration group itself"),
    broken("group-decoration", "a group that decorates a member that is not there",
           in_shader(f"OpDecorate %g Offset 0\n{GROUP}\nOpGroupMemberDecorate %g %s 2"), says="does not exist"),
    broken("group-decoration", "a group that decorates a member of a number",
           in_shader(f"OpDecorate %g Offset 0\n{GROUP}\nOpGroupMemberDecorate %g %uint 0"), says="does not exist"),
    broken("group-decoration id-role", "a group that is added", decorate(
        f"OpDecorate %g Constant\n{GROUP}", "%r = OpIAdd %uint %g %uint_1")),
    broken("decoration-repeated", "a group that gives what is there already",
           decorate(f"OpDecorate %g Alignment 4\n{GROUP}\nOpDecorate %v Alignment 8\nOpGroupDecorate %g %v"),
           "SPIR-V 3.2.20 does not allow a decoration twice on one id, whether by a group or by itself; SPIRV-Tools "
           "compares those without groups"),
]

BUILT_INS = [
    *(valid(f"the built-in {name}", built_in(name, "%v3ulong")) for name in ("GlobalInvocationId", "WorkgroupSize")),
    *(valid(f"the built-in {name}", built_in(name, "%uint")) for name in ("SubgroupId", "WorkDim")),
    valid("the built-in GlobalLinearId", built_in("GlobalLinearId", "%ulong")),
    valid("a built-in of 32-bit addresses",
          built_in("GlobalInvocationId", "%v3uint", model="OpMemoryModel Physical32 OpenCL")),
    broken("builtin-variable", "32-bit positions with 64-bit addresses", built_in("GlobalInvocationId", "%v3uint"),
           "the OpenCL SPIR-V environment gives GlobalInvocationId the size of a pointer; SPIRV-Tools checks the types "
           "of built-ins for Vulkan only", says="a vector of 3 64-bit integers"),
    broken("builtin-variable", "a 64-bit position in a sub-group", built_in("SubgroupLocalInvocationId", "%ulong"),
           "the OpenCL SPIR-V environment gives SubgroupLocalInvocationId 32 bits; SPIRV-Tools checks the types of "
           "built-ins for Vulkan only", says="a 32-bit integer"),
    broken("builtin-variable", "a position of two components", built_in("WorkgroupId", "%v2ulong"),
           "the OpenCL SPIR-V environment gives WorkgroupId three components; SPIRV-Tools checks the types of "
           "built-ins for Vulkan only"),
    broken("builtin-storage", "a position in global memory",
           built_in("GlobalInvocationId", "%v3ulong", "CrossWorkgroup")),
    broken("builtin-variable", "a position in local memory", built_in("GlobalInvocationId", "%v3ulong", "Workgroup"),
           "the OpenCL SPIR-V environment has built-ins in Input storage; SPIRV-Tools checks them for Vulkan only",
           says="Input storage"),
    broken("builtin-target", "a built-in sum", decorate("OpDecorate %r BuiltIn GlobalLinearId"),
           says="a variable or a member"),
    broken("builtin-target", "the size of a shader's work-groups as a variable",
           shader("", annotations="OpDecorate %v BuiltIn WorkgroupSize",
                  declarations="%p = OpTypePointer Input %v3uint\n%v = OpVariable %p Input"), says="is a constant"),
    valid("the size of a shader's work-groups",
          shader("", annotations="OpDecorate %size BuiltIn WorkgroupSize",
                 declarations="%size = OpConstantComposite %v3uint %uint_8 %uint_8 %uint_1")),
    broken("builtin-members", "a built-in member beside others",
           in_shader("OpMemberDecorate %s 0 BuiltIn Position\nOpDecorate %s Block"), says="beside others"),
    valid("built-in members only",
          in_shader("OpMemberDecorate %s 0 BuiltIn Position\nOpMemberDecorate %s 1 BuiltIn PointSize\n"
                    "OpDecorate %s Block", "%s = OpTypeStruct %v4float %float")),
    broken("builtin-members", "a structure that holds built-in members",
           in_shader("OpMemberDecorate %s 0 BuiltIn Position\nOpDecorate %s Block",
                     "%s = OpTypeStruct %v4float\n%o = OpTypeStruct %s"), says="a structure of built-in members"),
    broken("block-nesting", "a block within a block",
           in_shader("OpDecorate %s Block\nOpDecorate %o Block\nOpMemberDecorate %s 0 Offset 0\n"
                     "OpMemberDecorate %s 1 Offset 4\nOpMemberDecorate %o 0 Offset 0", f"{PAIR}\n%o = OpTypeStruct %s"),
           says="is a block and holds a block"),
    broken("block-nesting", "an array of blocks with a stride",
           in_shader("OpDecorate %s Block\nOpDecorate %o ArrayStride 8\nOpMemberDecorate %s 0 Offset 0\n"
                     "OpMemberDecorate %s 1 Offset 4", f"{PAIR}\n%o = OpTypeArray %s %uint_4"),
           says="an array of blocks with an ArrayStride"),
    valid("an array of blocks",
          in_shader("OpDecorate %s Block\nOpMemberDecorate %s 0 Offset 0\nOpMemberDecorate %s 1 Offset 4",
                    f"{PAIR}\n%o = OpTypeArray %s %uint_4")),
]

CASES = [*TARGETS, *SETS, *BUILT_INS]
