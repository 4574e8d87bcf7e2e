"""Cases that the modules of others have shown to matter: pipes, hints, images, debug information."""

from __future__ import annotations

from tests.kit.spirv.case import Case, broken, kernel, module, shader, valid

CLOCK = ("the OpenCL SPIR-V environment has clocks of devices, work-groups and sub-groups; SPIRV-Tools says so for "
         "OpenCL's target environments only")
PIPE_TYPES = """%pipe_in = OpTypePipe ReadOnly
%pipe_out = OpTypePipe WriteOnly
%reservation = OpTypeReserveId
"""
IMAGE_TYPES = """%image_1d = OpTypeImage %void 1D 0 0 0 0 Unknown ReadOnly
%image_2d = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
%written_2d = OpTypeImage %void 2D 0 0 0 0 Unknown WriteOnly
%layers_2d = OpTypeImage %void 2D 0 1 0 0 Unknown ReadOnly
%sampler = OpTypeSampler
%sampled_2d = OpTypeSampledImage %image_2d
"""


def pipes(body: str, parameters: str = "%pipe_in %ptr_global_uint") -> str:
    """A kernel that uses pipes."""
    return kernel("%to = OpPtrCastToGeneric %ptr_generic_uint %p1\n" + body, parameters=parameters,
                  capabilities="Pipes", declarations=PIPE_TYPES)


def imaging(body: str, parameters: str = "%image_2d %sampler", declarations: str = "") -> str:
    """A kernel that uses images."""
    return kernel(body, parameters=parameters, capabilities="ImageBasic Image1D ImageQuery",
                  declarations=IMAGE_TYPES + declarations)


def calls(argument: str) -> str:
    """A shader that passes a pointer to a function."""
    return module(f"""%main = OpFunction %void None %main_type
%entry = OpLabel
%a = OpVariable %ptr_private_float Function
%v = OpVariable %ptr_private_v2float Function
%e = OpAccessChain %ptr_private_float %v %uint_0
%r = OpFunctionCall %void %f {argument}
OpReturn
OpFunctionEnd
%f = OpFunction %void None %f_type
%p = OpFunctionParameter %ptr_private_float
%start = OpLabel
OpReturn
OpFunctionEnd""", declarations="%main_type = OpTypeFunction %void\n%f_type = OpTypeFunction %void %ptr_private_float",
                  kind="Shader", model="OpMemoryModel Logical GLSL450", entry='OpEntryPoint GLCompute %main "main"',
                  modes="OpExecutionMode %main LocalSize 1 1 1")


def reflection(declarations: str) -> str:
    """A shader that clspv describes."""
    return shader("", declarations=declarations, model="", extensions="SPV_KHR_non_semantic_info",
                  entry='%set = OpExtInstImport "NonSemantic.ClspvReflection.1"\nOpMemoryModel Logical GLSL450\n'
                        'OpEntryPoint GLCompute %main "main"')


def glsl(body: str, **rest: str) -> str:
    """A shader with instructions of GLSL.std.450."""
    return shader(body, model="", entry='%glsl = OpExtInstImport "GLSL.std.450"\nOpMemoryModel Logical GLSL450\n'
                  + rest.pop("entry", 'OpEntryPoint GLCompute %main "main"'), **rest)


def debug(text: str, body: str = "") -> str:
    """A kernel with debug information."""
    return kernel(body, declarations=f"""{text}""",
                  entry='%info = OpExtInstImport "OpenCL.DebugInfo.100"\nOpMemoryModel Physical64 OpenCL\n'
                        'OpEntryPoint Kernel %main "main"\n%name = OpString "a"', model="")


PIPES: list[Case] = [
    valid("a packet read", pipes("%r = OpReadPipe %uint %p0 %to %uint_4 %uint_4")),
    broken("pipe-types", "a packet size of 64 bits", pipes("%r = OpReadPipe %uint %p0 %to %ulong_4 %uint_4")),
    broken("pipe-types", "a packet read into a float", pipes("%r = OpReadPipe %float %p0 %to %uint_4 %uint_4")),
    broken("pipe-types", "a packet read into global memory",
           pipes("%r = OpReadPipe %uint %p0 %p1 %uint_4 %uint_4")),
    broken("pipe-types", "a number that is no reservation", pipes("%r = OpIsValidReserveId %bool %uint_4")),
    broken("pipe-access", "a packet read from a pipe to write to",
           pipes("%r = OpReadPipe %uint %p0 %to %uint_4 %uint_4", "%pipe_out %ptr_global_uint")),
    broken("pipe-access", "packets reserved for writing in a pipe to read from",
           pipes("%r = OpReserveWritePipePackets %reservation %p0 %uint_1 %uint_4 %uint_4")),
]

HINTS: list[Case] = [
    valid("an assumption and an expectation",
          kernel("OpAssumeTrueKHR %true\n%r = OpExpectKHR %uint %uint_1 %uint_2", capabilities="ExpectAssumeKHR",
                 extensions="SPV_KHR_expect_assume")),
    broken("assume-condition", "a number assumed to be true",
           kernel("OpAssumeTrueKHR %uint_1", capabilities="ExpectAssumeKHR", extensions="SPV_KHR_expect_assume")),
    broken("expect-types", "a float that is expected", kernel("%r = OpExpectKHR %float %float_1 %float_2",
           capabilities="ExpectAssumeKHR", extensions="SPV_KHR_expect_assume")),
    broken("expect-types", "a value of another type", kernel("%r = OpExpectKHR %uint %ulong_1 %uint_2",
           capabilities="ExpectAssumeKHR", extensions="SPV_KHR_expect_assume")),
]

IMAGES: list[Case] = [
    valid("an image sampled",
          imaging("%s = OpSampledImage %sampled_2d %p0 %p1\n%c = OpUndef %v2float\n"
                  "%r = OpImageSampleExplicitLod %v4float %s %c Lod %float_0")),
    valid("an image read and written",
          imaging("%c = OpUndef %v2uint\n%r = OpImageRead %v4float %p0 %c\nOpImageWrite %p1 %c %r",
                  "%image_2d %written_2d")),
    broken("image-sampled", "an image sampled without a sampler",
           imaging("%c = OpUndef %v2float\n%r = OpImageSampleExplicitLod %v4float %p0 %c Lod %float_0")),
    broken("image-coordinate", "one coordinate for two dimensions",
           imaging("%r = OpImageRead %v4float %p0 %uint_0")),
    broken("image-coordinate", "a layer without its number",
           imaging("%c = OpUndef %v2uint\n%r = OpImageRead %v4float %p0 %c", "%layers_2d")),
    broken("image-coordinate", "a boolean as coordinate",
           imaging("%c = OpUndef %v2bool\n%r = OpImageRead %v4float %p0 %c")),
    broken("image-texel", "a boolean written",
           imaging("%c = OpUndef %v2uint\nOpImageWrite %p0 %c %true", "%written_2d")),
    broken("image-texel", "two numbers sampled",
           imaging("%s = OpSampledImage %sampled_2d %p0 %p1\n%c = OpUndef %v2float\n"
                   "%r = OpImageSampleExplicitLod %v2float %s %c Lod %float_0")),
    broken("sampled-image", "an image as its own sampler", imaging("%s = OpSampledImage %sampled_2d %p0 %p0")),
    broken("sampled-image", "another image than the sampled image holds",
           imaging("%s = OpSampledImage %sampled_2d %p0 %p1", "%image_1d %sampler")),
    broken("sampled-image-type", "a sampled number",
           imaging("", declarations="%t = OpTypeSampledImage %uint\n")),
    broken("image-type", "texels that are booleans",
           imaging("", declarations="%t = OpTypeImage %bool 2D 0 0 0 0 Unknown ReadOnly\n")),
    broken("image-type", "a third way of being arrayed",
           imaging("", declarations="%t = OpTypeImage %void 2D 0 2 0 0 Unknown ReadOnly\n")),
    valid("what an image is asked for",
          imaging("%a = OpImageQuerySizeLod %v2uint %p0 %uint_0\n%b = OpImageQueryFormat %uint %p0\n"
                  "%c = OpImageQueryOrder %uint %p0\n%d = OpImageQuerySizeLod %v3uint %p1 %uint_0",
                  "%image_2d %layers_2d")),
    broken("image-query", "a format that is a float", imaging("%a = OpImageQueryFormat %float %p0")),
    broken("image-query", "the format of a sampler", imaging("%a = OpImageQueryFormat %uint %p1")),
    broken("image-query", "the samples of an image without any", imaging("%a = OpImageQuerySamples %uint %p0")),
    broken("image-query-size", "one size for two dimensions", imaging("%a = OpImageQuerySizeLod %uint %p0 %uint_0")),
    broken("image-query-size", "a float as level", imaging("%a = OpImageQuerySizeLod %v2uint %p0 %float_0")),
    broken("image-query-lod", "the level of an image that is not sampled",
           imaging("%c = OpUndef %v2float\n%a = OpImageQueryLod %v2float %p0 %c")),
    broken("image-query-lod", "a level at booleans",
           imaging("%s = OpSampledImage %sampled_2d %p0 %p1\n%c = OpUndef %v2bool\n"
                   "%a = OpImageQueryLod %v2float %s %c")),
    broken("image-reference", "a depth compared with an integer", shader(
        "%r = OpImageSampleDrefImplicitLod %float %s %c %uint_0", declarations="""
%depth = OpTypeImage %float 2D 1 0 0 1 Unknown
%sampled_depth = OpTypeSampledImage %depth
%s = OpUndef %sampled_depth
%c = OpUndef %v2float""", entry='OpEntryPoint Fragment %main "main"', modes="OpExecutionMode %main OriginUpperLeft")),
    broken("image-gather-component", "a component given by a float", shader(
        "%r = OpImageGather %v4float %s %c %float_0", declarations="""
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
%s = OpUndef %sampled
%c = OpUndef %v2float""")),
]

GLSL: list[Case] = [
    valid("floats and integers", glsl("%a = OpExtInst %float %glsl Fma %float_1 %float_2 %float_3\n"
                                      "%b = OpExtInst %uint %glsl UMax %uint_1 %uint_2")),
    broken("glsl-float-types", "a maximum of integers", glsl("%a = OpExtInst %uint %glsl FMax %uint_1 %uint_2")),
    broken("glsl-float-types", "operands of two widths", glsl("%a = OpExtInst %float %glsl FMax %float_1 %double_2")),
    broken("glsl-float-types", "the sine of a double", glsl("%a = OpExtInst %double %glsl Sin %double_1")),
    broken("glsl-integer-types", "integers of two widths", glsl("%a = OpExtInst %uint %glsl UMin %uint_1 %ulong_2")),
    broken("glsl-integer-types", "a 64-bit integer's highest bit",
           glsl("%a = OpExtInst %ulong %glsl FindUMsb %ulong_1")),
    valid("two halves packed", glsl("%v = OpUndef %v2float\n%a = OpExtInst %uint %glsl PackHalf2x16 %v")),
    broken("glsl-packing", "four numbers packed as two",
           glsl("%v = OpUndef %v4float\n%a = OpExtInst %uint %glsl PackHalf2x16 %v")),
    broken("glsl-packing", "four bytes unpacked into two numbers",
           glsl("%a = OpExtInst %v2float %glsl UnpackUnorm4x8 %uint_1")),
    broken("glsl-matrix-types", "the determinant of a vector",
           glsl("%v = OpUndef %v2float\n%a = OpExtInst %float %glsl Determinant %v")),
    broken("glsl-geometric-types", "a cross product of two components",
           glsl("%v = OpUndef %v2float\n%a = OpExtInst %v2float %glsl Cross %v %v")),
    broken("glsl-geometric-types", "a length that is a vector",
           glsl("%v = OpUndef %v2float\n%a = OpExtInst %v2float %glsl Length %v")),
    valid("a number split in two", glsl("%i = OpVariable %ptr_private_float Function\n"
                                        "%a = OpExtInst %float %glsl Modf %float_1 %i")),
    broken("glsl-parts-types", "an exponent that is a float", glsl("%i = OpVariable %ptr_private_float Function\n"
                                                                   "%a = OpExtInst %float %glsl Frexp %float_1 %i")),
    broken("glsl-parts-types", "a structure of one part",
           glsl("%a = OpExtInst %s %glsl ModfStruct %float_1", declarations="%s = OpTypeStruct %float")),
    broken("glsl-interpolation", "a value interpolated",
           glsl("%a = OpExtInst %float %glsl InterpolateAtCentroid %float_1",
                capabilities="InterpolationFunction", entry='OpEntryPoint Fragment %main "main"',
                modes="OpExecutionMode %main OriginUpperLeft")),
]

STORED_HALVES = """%half = OpTypeFloat 16
%buffer = OpTypeStruct %half
%ptr_buffer = OpTypePointer StorageBuffer %buffer
%ptr_element = OpTypePointer StorageBuffer %half
%data = OpVariable %ptr_buffer StorageBuffer"""
STORED = {"capabilities": "StorageBuffer16BitAccess", "extensions": "SPV_KHR_16bit_storage "
          "SPV_KHR_storage_buffer_storage_class", "declarations": STORED_HALVES, "version": "1.3",
          "annotations": "OpDecorate %buffer Block\nOpMemberDecorate %buffer 0 Offset 0\n"
          "OpDecorate %data DescriptorSet 0\nOpDecorate %data Binding 0"}
FRAGMENT = {"entry": 'OpEntryPoint Fragment %main "main"', "modes": "OpExecutionMode %main OriginUpperLeft"}
SHADERS: list[Case] = [
    valid("a half of a buffer converted", shader("%p = OpAccessChain %ptr_element %data %uint_0\n"
                                                 "%h = OpLoad %half %p\n%f = OpFConvert %float %h", **STORED)),
    broken("small-type-use", "a half of a buffer added",
           shader("%p = OpAccessChain %ptr_element %data %uint_0\n%h = OpLoad %half %p\n%f = OpFAdd %half %h %h",
                  **STORED)),
    broken("small-type-use", "a constant half", shader("", **{**STORED, "declarations": STORED_HALVES
                                                              + "\n%c = OpConstant %half 1"})),
    broken("small-type-variable", "a half in private memory",
           shader("", **{**STORED, "declarations": STORED_HALVES + "\n%ptr = OpTypePointer Private %half\n"
                                                   "%v = OpVariable %ptr Private"})),
    broken("small-type-variable", "a half of a work-group",
           shader("", **{**STORED, "declarations": STORED_HALVES + "\n%ptr = OpTypePointer Workgroup %half\n"
                                                   "%v = OpVariable %ptr Workgroup"})),
    broken("logical-pointer-use", "a choice of two pointers",
           shader("%a = OpVariable %ptr_private_float Function\n%b = OpVariable %ptr_private_float Function\n"
                  "%c = OpSelect %ptr_private_float %true %a %b", version="1.4")),
    broken("logical-pointer-use", "a pointer in a structure",
           shader("%a = OpVariable %ptr_private_float Function\n%c = OpCompositeConstruct %s %a",
                  declarations="%s = OpTypeStruct %ptr_private_float")),
    broken("execution-model-limits", "a compute shader that emits vertices",
           shader("OpEmitVertex", capabilities="Geometry")),
    valid("a fragment's derivative", shader("%d = OpDPdx %float %float_1", **FRAGMENT)),
    broken("derivative-groups", "a derivative in a work-group", shader("%d = OpDPdx %float %float_1"),
           "without SPV_KHR_compute_shader_derivatives only fragments have derivatives (SPIR-V 3.3.16); SPIRV-Tools "
           "looks at execution modes only where the extension is declared"),
    broken("execution-model-storage", "a compute shader with the payload of a ray",
           shader("%f = OpLoad %float %v", capabilities="RayTracingKHR", extensions="SPV_KHR_ray_tracing",
                  entry='OpEntryPoint GLCompute %main "main" %v',
                  declarations="%ptr = OpTypePointer RayPayloadKHR %float\n%v = OpVariable %ptr RayPayloadKHR")),
    valid("a variable passed to a function", calls("%a")),
    broken("logical-pointer-argument", "a part of a variable passed to a function", calls("%e")),
]

PREDICATED = {"capabilities": "PredicatedIOINTEL", "extensions": "SPV_INTEL_predicated_io",
              "parameters": "%ptr_global_float"}
ADDRESSES = {"kind": "Shader Int64 PhysicalStorageBufferAddresses", "extensions": "SPV_KHR_physical_storage_buffer",
             "model": "OpMemoryModel PhysicalStorageBuffer64 GLSL450", "version": "1.5",
             "declarations": "%ptr = OpTypePointer PhysicalStorageBuffer %float"}
EXTENSIONS: list[Case] = [
    valid("a load that may not happen", kernel("%r = OpPredicatedLoadINTEL %float %p0 %true %float_1", **PREDICATED)),
    broken("predicated-types", "a default of another type",
           kernel("%r = OpPredicatedLoadINTEL %float %p0 %true %uint_1", **PREDICATED)),
    broken("predicated-types", "a store that depends on a number",
           kernel("OpPredicatedStoreINTEL %p0 %float_1 %uint_1", **PREDICATED)),
    broken("predicated-types", "a boolean stored", kernel("OpPredicatedStoreINTEL %p0 %true %true", **PREDICATED)),
    broken("predicated-types", "a store through a number",
           kernel("OpPredicatedStoreINTEL %uint_1 %float_1 %true", **PREDICATED)),
    broken("predicated-types", "a volatile load",
           kernel("%r = OpPredicatedLoadINTEL %float %p0 %true %float_1 Volatile", **PREDICATED)),
    valid("a clock read", kernel("%t = OpReadClockKHR %ulong %uint_1", capabilities="ShaderClockKHR",
                                 extensions="SPV_KHR_shader_clock")),
    broken("clock-types", "a clock of 32 bits", kernel("%t = OpReadClockKHR %uint %uint_1",
           capabilities="ShaderClockKHR", extensions="SPV_KHR_shader_clock")),
    broken("clock-types", "a clock of one work-item", kernel("%t = OpReadClockKHR %ulong %uint_4",
           capabilities="ShaderClockKHR", extensions="SPV_KHR_shader_clock"), CLOCK),
    valid("a float through an address", shader("%p = OpConvertUToPtr %ptr %ulong_0\n%r = OpLoad %float %p Aligned 4",
                                               **ADDRESSES)),
    broken("physical-alignment", "a float aligned like a half",
           shader("%p = OpConvertUToPtr %ptr %ulong_0\n%r = OpLoad %float %p Aligned 2", **ADDRESSES)),
]

OTHERS: list[Case] = [
    broken("execution-mode-target", "a fragment's mode on a kernel",
           kernel("", modes="OpExecutionMode %main SampleInterlockOrderedEXT", capabilities="Shader "
                  "FragmentShaderSampleInterlockEXT", extensions="SPV_EXT_fragment_shader_interlock")),
    valid("an attribute of what a function returns, given twice",
          module("""%main = OpFunction %void None %main_type
%entry = OpLabel
%r = OpFunctionCall %uint %f
OpReturn
OpFunctionEnd
%f = OpFunction %uint None %f_type
%start = OpLabel
OpReturnValue %uint_1
OpFunctionEnd""", annotations="OpDecorate %f FuncParamAttr Zext\nOpDecorate %f FuncParamAttr Zext",
                 declarations="%main_type = OpTypeFunction %void\n%f_type = OpTypeFunction %uint")),
    valid("parameters that a group makes constant",
          kernel("", parameters="%uint", annotations="OpDecorate %group Constant\n%group = OpDecorationGroup\n"
                                                     "OpGroupDecorate %group %p0")),
    broken("decoration-target", "a constant parameter",
           kernel("", parameters="%uint", annotations="OpDecorate %p0 Constant")),
    valid("a built-in in constant memory, as the first producers wrote it",
          kernel("%id = OpLoad %v3ulong %v", annotations="OpDecorate %v BuiltIn GlobalInvocationId",
                 declarations="%v = OpVariable %ptr_constant_v3ulong UniformConstant", version="1.0")),
    valid("debug information that refers to what follows",
          debug("""%file = OpExtInst %void %info DebugSource %name
%unit = OpExtInst %void %info DebugCompilationUnit 1 4 %file OpenCL_C
%none = OpExtInst %void %info DebugInfoNone
%number = OpExtInst %void %info DebugTypeBasic %name %uint_32 Unsigned
%record = OpExtInst %void %info DebugTypeComposite %name Structure %file 1 1 %unit %name %uint_4 None %member
%member = OpExtInst %void %info DebugTypeMember %name %number %file 1 1 %record %uint_0 %uint_4 None""")),
    broken("described-operands", "a type named by a number",
           debug("%number = OpExtInst %void %info DebugTypeBasic %uint_32 %uint_32 Unsigned")),
    broken("described-operands", "a member of what is no structure",
           debug("""%file = OpExtInst %void %info DebugSource %name
%number = OpExtInst %void %info DebugTypeBasic %name %uint_32 Unsigned
%m = OpExtInst %void %info DebugTypeMember %name %number %file 1 1 %number %uint_0 %uint_4 None""")),
    broken("described-result", "debug information with a value",
           debug("%number = OpExtInst %uint %info DebugTypeBasic %name %uint_32 Unsigned")),
    broken("described-place", "a type described within a function",
           debug("", "%number = OpExtInst %void %info DebugTypeBasic %name %uint_32 Unsigned")),
    broken("described-place", "a scope that nothing lies in",
           debug("""%file = OpExtInst %void %info DebugSource %name
%unit = OpExtInst %void %info DebugCompilationUnit 1 4 %file OpenCL_C
%in = OpExtInst %void %info DebugScope %unit""")),
    valid("reflection of clspv", reflection("%r = OpExtInst %void %set SpecConstantWorkDim %uint_3")),
    broken("described-operands", "reflection with a float",
           reflection("%r = OpExtInst %void %set SpecConstantWorkDim %float_3")),
    broken("reflection-version", "reflection of a later version",
           reflection("%r = OpExtInst %void %set SpecConstantSubgroupMaxSize %uint_32")),
    broken("id-before-use", "debug information that refers to a type that follows",
          debug("""%number = OpExtInst %void %info DebugTypeBasic %name %size Unsigned
%size = OpConstant %uint 32""")),
]

CASES = [*PIPES, *HINTS, *IMAGES, *GLSL, *SHADERS, *EXTENSIONS, *OTHERS]
