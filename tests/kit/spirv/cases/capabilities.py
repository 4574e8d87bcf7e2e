"""Cases of the family capabilities."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

MATRIX = "OpTypeCooperativeMatrixKHR %uchar %uint_3 %uint_8 %uint_32 %uint_0"
DOT = "%a = OpUndef {vector}\n%r = OpSDot %uint %a %a {rest}"
MULTIPLY = ("%a = OpUndef %v8ushort\n%b = OpUndef %v8uint\n"
            "%r = OpSubgroupMatrixMultiplyAccumulateINTEL %v8uint %uint_32 %a %b %b "
            "MatrixAPackedInt8INTEL|MatrixBPackedInt8INTEL")
EXTENSION_OF_MULTIPLY = "SPV_INTEL_subgroup_matrix_multiply_accumulate"


def dot(vector: str, capabilities: str, rest: str = "", extensions: str = "SPV_KHR_integer_dot_product",
        version: str = "1.4") -> str:
    return kernel(DOT.format(vector=vector, rest=rest), capabilities=capabilities, extensions=extensions,
                  version=version)


def without(capability: str, text: str) -> str:
    """A module that does not declare a capability."""
    return text.replace(f"OpCapability {capability}\n", "")


def without_extension(name: str, text: str) -> str:
    return text.replace(f'OpExtension "{name}"\n', "")


def declare(text: str, **rest: str) -> str:
    return kernel("", declarations=f"%t = {text}", **rest)


MISSING = [
    broken("capability-missing", "8-bit integers without Int8", without("Int8", kernel("%a = OpUndef %uchar")),
           says="Int8"),
    broken("capability-missing", "16-bit integers without Int16", without("Int16", kernel("%a = OpUndef %ushort"))),
    broken("capability-missing", "64-bit integers without Int64", without("Int64", kernel("%a = OpUndef %ulong"))),
    broken("capability-missing", "half without Float16", without("Float16", kernel("%a = OpUndef %half"))),
    broken("capability-missing", "double without Float64", without("Float64", kernel("%a = OpUndef %double"))),
    valid("half in memory only needs Float16Buffer",
          kernel("", declarations="%t = OpTypeFloat 16", capabilities="Float16Buffer")),
    broken("capability-missing", "vectors of 8 without Vector16", without("Vector16", kernel("%a = OpUndef %v8uint"))),
    broken("capability-missing", "a generic pointer without GenericPointer",
           without("GenericPointer", declare("OpTypePointer Generic %uint"))),
    broken("capability-missing", "physical addresses without Addresses", without("Addresses", kernel(""))),
    broken("capability-missing", "a pipe without Pipes",
           declare("OpTypePipe ReadOnly")),
    broken("capability-missing", "linkage without Linkage",
           kernel("", declarations="%v = OpVariable %ptr_global_uint CrossWorkgroup",
                  annotations='OpDecorate %v LinkageAttributes "v" Import')),
    broken("capability-missing", "a required sub-group size without SubgroupDispatch",
           kernel("", modes="OpExecutionMode %main SubgroupSize 16")),
    broken("capability-missing", "a matrix type without CooperativeMatrixKHR",
           without("CooperativeMatrixKHR", kernel("%a = OpUndef %matrix_a_8x16_half")), says="CooperativeMatrixKHR"),
    broken("capability-missing", "a sub-group product without its capability",
           kernel(MULTIPLY, extensions=EXTENSION_OF_MULTIPLY), says="SubgroupMatrixMultiplyAccumulateINTEL"),
    broken("capability-missing", "a dot product without DotProduct", dot("%v4uchar", "DotProductInputAll"),
           says="DotProduct"),
    valid("four bytes with DotProductInput4x8Bit", dot("%v4uchar", "DotProduct DotProductInput4x8Bit")),
    valid("four bytes with DotProductInputAll", dot("%v4uchar", "DotProduct DotProductInputAll")),
    broken("capability-missing", "four bytes with the packed input only",
           dot("%v4uchar", "DotProduct DotProductInput4x8BitPacked"),
           says="DotProductInput4x8Bit or DotProductInputAll"),
    broken("capability-missing", "two bytes with DotProductInput4x8Bit",
           dot("%v2uchar", "DotProduct DotProductInput4x8Bit"), says="DotProductInputAll"),
    broken("capability-missing", "four shorts with DotProductInput4x8Bit",
           dot("%v4ushort", "DotProduct DotProductInput4x8Bit"), says="DotProductInputAll"),
    valid("sixteen words with DotProductInputAll", dot("%v16uint", "DotProduct DotProductInputAll")),
    broken("capability-missing", "packed bytes with DotProductInputAll only",
           dot("%uint", "DotProduct DotProductInputAll", "PackedVectorFormat4x8Bit"),
           says="DotProductInput4x8BitPacked"),
    valid("Int8 comes with DotProductInput4x8Bit",
          without("Int8", dot("%v4uchar", "DotProduct DotProductInput4x8Bit"))),
    broken("capability-missing", "bfloat16 without its type's capability",
           without("BFloat16TypeKHR", kernel("%a = OpUndef %bfloat16")), says="BFloat16TypeKHR"),
    broken("capability-missing", "a dot product of bfloat16 without BFloat16DotProductKHR",
           kernel("%a = OpUndef %v2bfloat16\n%r = OpDot %bfloat16 %a %a"), says="BFloat16DotProductKHR"),
    valid("a dot product of bfloat16",
          kernel("%a = OpUndef %v2bfloat16\n%r = OpDot %bfloat16 %a %a", capabilities="BFloat16DotProductKHR")),
    broken("capability-missing", "a matrix of bfloat16 without BFloat16CooperativeMatrixKHR",
           kernel("%a = OpUndef %matrix_a_8x16_bfloat16"), says="BFloat16CooperativeMatrixKHR"),
    valid("a matrix of bfloat16",
          kernel("%a = OpUndef %matrix_a_8x16_bfloat16", capabilities="BFloat16CooperativeMatrixKHR")),
    broken("capability-missing", "a 4-bit integer without Int4TypeINTEL",
           without("Int4TypeINTEL", kernel("%a = OpUndef %int4")), says="Int4TypeINTEL"),
    broken("capability-missing", "a matrix of 4-bit integers without Int4CooperativeMatrixINTEL",
           kernel("%a = OpUndef %matrix_a_8x64_int4"),
           "SPV_INTEL_int4 asks for Int4CooperativeMatrixINTEL; SPIRV-Tools asks for it nowhere",
           says="Int4CooperativeMatrixINTEL"),
    valid("a matrix of 4-bit integers",
          kernel("%a = OpUndef %matrix_a_8x64_int4", capabilities="Int4CooperativeMatrixINTEL")),
    broken("capability-missing", "an 8-bit float without Float8EXT",
           declare("OpTypeFloat 8 Float8E4M3EXT", extensions="SPV_EXT_float8"), says="Float8EXT"),
    broken("capability-missing", "a matrix of 8-bit floats without Float8CooperativeMatrixEXT",
           kernel("%a = OpUndef %matrix_a_8x32_fp8", declarations="%fp8 = OpTypeFloat 8 Float8E4M3EXT\n"
                  "%matrix_a_8x32_fp8 = OpTypeCooperativeMatrixKHR %fp8 %uint_3 %uint_8 %uint_32 %uint_0",
                  capabilities="Float8EXT CooperativeMatrixKHR",
                  extensions="SPV_EXT_float8 SPV_KHR_cooperative_matrix"), says="Float8CooperativeMatrixEXT"),
    broken("capability-missing", "the packed layout without PackedCooperativeMatrixINTEL",
           kernel("%m = OpCooperativeMatrixLoadKHR %matrix_b_16x16_half %p0 %uint_2 %uint_16",
                  parameters="%ptr_global_half"),
           "SPV_INTEL_joint_matrix asks for the capability with the layout PackedINTEL; SPIRV-Tools does not "
           "know the extension", says="PackedCooperativeMatrixINTEL"),
    broken("capability-missing", "the packed layout without PackedCooperativeMatrixINTEL, after another layout",
           kernel("".join(f"%m{layout} = OpCooperativeMatrixLoadKHR %matrix_b_16x16_half %p0 %uint_{layout} %uint_16\n"
                          for layout in (0, 2)), parameters="%ptr_global_half"),
           "SPV_INTEL_joint_matrix asks for the capability with the layout PackedINTEL; SPIRV-Tools does not "
           "know the extension", says="PackedCooperativeMatrixINTEL"),
    broken("capability-missing", "rounding to tf32 without its capability",
           kernel("%r = OpRoundFToTF32INTEL %float %float_1", extensions="SPV_INTEL_tensor_float32_conversion"),
           says="TensorFloat32RoundingINTEL"),
    broken("capability-missing", "a bfloat16 conversion without its capability",
           kernel("%r = OpConvertFToBF16INTEL %ushort %float_1", extensions="SPV_INTEL_bfloat16_conversion"),
           says="BFloat16ConversionINTEL"),
    broken("capability-missing", "a shuffle without SubgroupShuffleINTEL",
           kernel("%r = OpSubgroupShuffleINTEL %uint %uint_1 %uint_2", extensions="SPV_INTEL_subgroups")),
    broken("capability-missing", "a non-uniform sum without GroupNonUniformArithmetic",
           kernel("%r = OpGroupNonUniformIAdd %uint %uint_3 Reduce %uint_1")),
]

SUPERFLUOUS = [
    broken("capability-superfluous", "Int8 of which nothing is made", kernel("", capabilities="Int8"), says="Int8"),
    broken("capability-superfluous", "Float64 beside floats", kernel("%a = OpUndef %float", capabilities="Float64")),
    broken("capability-superfluous", "cooperative matrices that are not there",
           kernel("", capabilities="CooperativeMatrixKHR", extensions="SPV_KHR_cooperative_matrix")),
    broken("capability-superfluous", "DotProductInputAll beside packed input",
           dot("%uint", "DotProduct DotProductInput4x8BitPacked DotProductInputAll", "PackedVectorFormat4x8Bit"),
           says="DotProductInputAll"),
    broken("capability-superfluous", "Float16Buffer beside Float16",
           kernel("%a = OpUndef %half", capabilities="Float16Buffer"), says="Float16Buffer"),
    valid("what another capability implies is not superfluous",
          kernel("%a = OpUndef %v4uchar\n%r = OpSDot %uint %a %a", capabilities="DotProduct DotProductInput4x8Bit Int8",
                 extensions="SPV_KHR_integer_dot_product")),
    valid("Linkage says what kind of module it is", kernel("", capabilities="Linkage")),
    broken("capability-unknown", "capability 60000", kernel("", capabilities="Linkage"),
           "the number of a capability that no table has may belong to an extension to come: a warning here, an error "
           "of SPIRV-Tools", words=(("OpCapability", 1, 60000),), says="capability 60000 is not known"),
    broken("instruction-unknown capability-unknown", "opcode 60000 with capability 60000",
           kernel("!0x0002ea60 !7", capabilities="Linkage"),
           "an opcode that no table has may belong to an extension to come, as its capability does: a warning here, an "
           "error of SPIRV-Tools", words=(("OpCapability", 1, 60000),), says="opcode 60000 is not known"),
    broken("instruction-announced instruction-unknown", "opcode 60000 in a module without unknown extensions",
           kernel("!0x0002ea60 !7"), says="is no instruction of SPIR-V"),
    broken("instruction-unknown", "opcode 60000", kernel("!0x0002ea60 !7", extensions="SPV_VENDOR_of_tomorrow"),
           "an opcode that no table has may belong to an extension to come: a warning here, an error of SPIRV-Tools",
           says="opcode 60000 is not known"),
]

MATRIX_EXTENSION = "SPV_KHR_cooperative_matrix"
EXTENSIONS = [
    broken("extension-missing", "a matrix type without its extension",
           without_extension(MATRIX_EXTENSION, kernel("%a = OpUndef %matrix_a_8x16_half")),
           says="the capability CooperativeMatrixKHR needs the extension SPV_KHR_cooperative_matrix"),
    broken("extension-missing", "a sub-group product without its extension",
           kernel(MULTIPLY, capabilities="SubgroupMatrixMultiplyAccumulateINTEL"), says=EXTENSION_OF_MULTIPLY),
    broken("extension-missing", "a dot product before SPIR-V 1.6 without its extension",
           dot("%v4uchar", "DotProduct DotProductInput4x8Bit", extensions=""), says="SPV_KHR_integer_dot_product"),
    valid("a dot product of SPIR-V 1.6 needs no extension",
          dot("%v4uchar", "DotProduct DotProductInput4x8Bit", extensions="", version="1.6")),
    valid("a dot product of SPIR-V 1.0 with its extension",
          dot("%v4uchar", "DotProduct DotProductInput4x8Bit", version="1.0")),
    broken("extension-missing", "bfloat16 without its extension",
           without_extension("SPV_KHR_bfloat16", kernel("%a = OpUndef %bfloat16"))),
    broken("extension-missing", "4-bit integers without their extension",
           without_extension("SPV_INTEL_int4", kernel("%a = OpUndef %int4")), says="SPV_INTEL_int4"),
    broken("extension-missing", "tf32 rounding without its extension",
           kernel("%r = OpRoundFToTF32INTEL %float %float_1", capabilities="TensorFloat32RoundingINTEL")),
    broken("extension-missing", "no-wrap decorations before SPIR-V 1.4 without their extension",
           kernel("%r = OpIAdd %uint %uint_1 %uint_2", annotations="OpDecorate %r NoSignedWrap", version="1.3"),
           says="SPV_KHR_no_integer_wrap_decoration"),
    valid("no-wrap decorations of SPIR-V 1.4",
          kernel("%r = OpIAdd %uint %uint_1 %uint_2", annotations="OpDecorate %r NoSignedWrap")),
    broken("version-range", "OpCopyLogical before SPIR-V 1.4",
           kernel("%a = OpUndef %s\n%r = OpCopyLogical %t %a", version="1.3",
                  declarations="%s = OpTypeStruct %uint\n%t = OpTypeStruct %uint"), says="from SPIR-V 1.4 on"),
    broken("version-range", "non-uniform votes before SPIR-V 1.3",
           kernel("%r = OpGroupNonUniformElect %bool %uint_3", capabilities="GroupNonUniform", version="1.2"),
           says="from SPIR-V 1.3 on"),
    broken("version-range", "SubgroupDispatch before SPIR-V 1.1",
           kernel("", modes="OpExecutionMode %main SubgroupSize 16", capabilities="SubgroupDispatch", version="1.0"),
           says="the capability SubgroupDispatch exists from SPIR-V 1.1 on"),
    broken("version-range", "OpLessOrGreater of SPIR-V 1.6", kernel(
        "%a = OpUndef %float\n%r = OpLessOrGreater %bool %a %a", version="1.6"), says="up to SPIR-V 1.5 only"),
    broken("version-range", "a loop control of SPIR-V 1.4 in 1.3",
           kernel("OpBranch %loop\n%loop = OpLabel\nOpLoopMerge %end %next PeelCount 1\nOpBranch %end\n"
                  "%next = OpLabel\nOpBranch %loop\n%end = OpLabel", version="1.3"), says="from SPIR-V 1.4 on"),
    broken("extension-version", "the Vulkan memory model's extension in SPIR-V 1.2",
           kernel("", extensions="SPV_KHR_vulkan_memory_model", version="1.2"), says="needs SPIR-V 1.3"),
    valid("the Vulkan memory model's extension in SPIR-V 1.3",
          kernel("", extensions="SPV_KHR_vulkan_memory_model", version="1.3")),
    broken("extension-version", "explicit work-group layouts in SPIR-V 1.3",
           shader("", extensions="SPV_KHR_workgroup_memory_explicit_layout", version="1.3")),
    broken("extension-version-advised", "cooperative matrices in SPIR-V 1.2",
           kernel("%a = OpUndef %matrix_a_8x16_half", version="1.2"), says="asks for SPIR-V 1.3"),
    valid("cooperative matrices in SPIR-V 1.3", kernel("%a = OpUndef %matrix_a_8x16_half", version="1.3")),
]

CASES = [*MISSING, *SUPERFLUOUS, *EXTENSIONS]
