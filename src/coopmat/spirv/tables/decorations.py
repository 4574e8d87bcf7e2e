"""Decorations, built-ins, execution modes, and the kinds of their parameters.

See :mod:`coopmat.spirv.tables.base` for how a row reads.
"""

from __future__ import annotations

from coopmat.spirv.tables import vendor_enumerants
from coopmat.spirv.tables.base import Row


class Decoration(Row):
    """Decorations of ids and structure members."""

    RelaxedPrecision = 0, "", "Shader"
    SpecId = 1, "LiteralInteger", "Shader Kernel"
    Block = 2, "", "Shader"
    BufferBlock = 3, "", "Shader <=1.3"
    RowMajor = 4, "", "Matrix"
    ColMajor = 5, "", "Matrix"
    ArrayStride = 6, "LiteralInteger", "Shader"
    MatrixStride = 7, "LiteralInteger", "Matrix"
    GLSLShared = 8, "", "Shader"
    GLSLPacked = 9, "", "Shader"
    CPacked = 10, "", "Kernel"
    BuiltIn = 11, "BuiltIn"
    NoPerspective = 13, "", "Shader"
    Flat = 14, "", "Shader"
    Patch = 15, "", "Tessellation"
    Centroid = 16, "", "Shader"
    Sample = 17, "", "SampleRateShading"
    Invariant = 18, "", "Shader"
    Restrict = 19
    Aliased = 20
    Volatile = 21
    Constant = 22, "", "Kernel"
    Coherent = 23
    NonWritable = 24
    NonReadable = 25
    Uniform = 26, "", "Shader UniformDecoration"
    UniformId = 27, "IdScope", "Shader UniformDecoration 1.4"
    SaturatedConversion = 28, "", "Kernel"
    Stream = 29, "LiteralInteger", "GeometryStreams"
    Location = 30, "LiteralInteger", "Shader"
    Component = 31, "LiteralInteger", "Shader"
    Index = 32, "LiteralInteger", "Shader"
    Binding = 33, "LiteralInteger", "Shader"
    DescriptorSet = 34, "LiteralInteger", "Shader"
    Offset = 35, "LiteralInteger", "Shader"
    XfbBuffer = 36, "LiteralInteger", "TransformFeedback"
    XfbStride = 37, "LiteralInteger", "TransformFeedback"
    FuncParamAttr = 38, "FunctionParameterAttribute", "Kernel"
    FPRoundingMode = 39, "FPRoundingMode"
    FPFastMathMode = 40, "FPFastMathMode", "Kernel FloatControls2"
    LinkageAttributes = 41, "LiteralString LinkageType", "Linkage"
    NoContraction = 42, "", "Shader"
    InputAttachmentIndex = 43, "LiteralInteger", "InputAttachment"
    Alignment = 44, "LiteralInteger", "Kernel"
    MaxByteOffset = 45, "LiteralInteger", "Addresses 1.1"
    AlignmentId = 46, "IdRef", "Kernel 1.2"
    MaxByteOffsetId = 47, "IdRef", "Addresses 1.2"
    SaturatedToLargestFloat8NormalConversionEXT = 4216, "", "Float8EXT ext"
    NoSignedWrap = 4469, "", "SPV_KHR_no_integer_wrap_decoration 1.4"
    NoUnsignedWrap = 4470, "", "SPV_KHR_no_integer_wrap_decoration 1.4"
    ArrayStrideIdEXT = 5124, "IdRef", "DescriptorHeapEXT ext"
    OffsetIdEXT = 5125, "IdRef", "DescriptorHeapEXT ext"
    UTFEncodedKHR = 5145, "", "ConstantDataKHR ext"
    PerPrimitiveEXT = 5271, "", "MeshShadingNV MeshShadingEXT SPV_NV_mesh_shader SPV_EXT_mesh_shader ext"
    PerPrimitiveNV = PerPrimitiveEXT
    PerVertexKHR = (5285, "",
        "FragmentBarycentricKHR SPV_NV_fragment_shader_barycentric "
        "SPV_KHR_fragment_shader_barycentric ext")
    PerVertexNV = PerVertexKHR
    NonUniform = 5300, "", "ShaderNonUniform SPV_EXT_descriptor_indexing 1.5"
    NonUniformEXT = NonUniform
    RestrictPointer = (5355, "",
        "PhysicalStorageBufferAddresses SPV_EXT_physical_storage_buffer "
        "SPV_KHR_physical_storage_buffer 1.5")
    RestrictPointerEXT = RestrictPointer
    AliasedPointer = (5356, "",
        "PhysicalStorageBufferAddresses SPV_EXT_physical_storage_buffer "
        "SPV_KHR_physical_storage_buffer 1.5")
    AliasedPointerEXT = AliasedPointer
    CooperativeMatrixTransposeEXT = 5440, "", "CooperativeMatrixConversionsEXT ext"
    SIMTCallINTEL = 5599, "LiteralInteger", "VectorComputeINTEL ext"
    ReferencedIndirectlyINTEL = 5602, "", "IndirectReferencesINTEL SPV_INTEL_function_pointers ext"
    ClobberINTEL = 5607, "LiteralString", "AsmINTEL ext"
    SideEffectsINTEL = 5608, "", "AsmINTEL ext"
    VectorComputeVariableINTEL = 5624, "", "VectorComputeINTEL ext"
    FuncParamIOKindINTEL = 5625, "LiteralInteger", "VectorComputeINTEL ext"
    VectorComputeFunctionINTEL = 5626, "", "VectorComputeINTEL ext"
    StackCallINTEL = 5627, "", "VectorComputeINTEL ext"
    GlobalVariableOffsetINTEL = 5628, "LiteralInteger", "VectorComputeINTEL ext"
    CounterBuffer = 5634, "IdRef", "SPV_GOOGLE_hlsl_functionality1 1.4"
    HlslCounterBufferGOOGLE = CounterBuffer
    UserSemantic = 5635, "LiteralString", "SPV_GOOGLE_hlsl_functionality1 1.4"
    HlslSemanticGOOGLE = UserSemantic
    UserTypeGOOGLE = 5636, "LiteralString", "SPV_GOOGLE_user_type ext"
    FunctionRoundingModeINTEL = 5822, "LiteralInteger FPRoundingMode", "FunctionFloatControlINTEL ext"
    FunctionDenormModeINTEL = 5823, "LiteralInteger FPDenormMode", "FunctionFloatControlINTEL ext"
    AliasScopeINTEL = 5914, "IdRef", "MemoryAccessAliasingINTEL ext"
    NoAliasINTEL = 5915, "IdRef", "MemoryAccessAliasingINTEL ext"
    FunctionFloatingPointModeINTEL = 6080, "LiteralInteger FPOperationMode", "FunctionFloatControlINTEL ext"
    SingleElementVectorINTEL = 6085, "", "VectorComputeINTEL ext"
    MediaBlockIOINTEL = 6140, "", "VectorComputeINTEL ext"
    FPMaxErrorDecorationINTEL = 6170, "LiteralFloat", "FPMaxErrorINTEL ext"
    HostAccessINTEL = 6188, "HostAccessQualifier LiteralString", "GlobalVariableHostAccessINTEL ext"
    ConditionalINTEL = 6247, "IdRef", "SpecConditionalINTEL ext"
    CacheControlLoadINTEL = 6442, "LiteralInteger LoadCacheControl", "CacheControlsINTEL ext"
    CacheControlStoreINTEL = 6443, "LiteralInteger StoreCacheControl", "CacheControlsINTEL ext"

    vars().update(vendor_enumerants.DECORATIONS)


class BuiltIn(Row):
    """Built-in variables."""

    Position = 0, "", "Shader"
    PointSize = 1, "", "Shader"
    ClipDistance = 3, "", "ClipDistance"
    CullDistance = 4, "", "CullDistance"
    VertexId = 5, "", "Shader"
    InstanceId = 6, "", "Shader"
    PrimitiveId = 7, "", "Geometry Tessellation RayTracingNV RayTracingKHR MeshShadingNV MeshShadingEXT"
    InvocationId = 8, "", "Geometry Tessellation"
    Layer = 9, "", "Geometry ShaderLayer ShaderViewportIndexLayerEXT MeshShadingNV MeshShadingEXT"
    ViewportIndex = 10, "", "MultiViewport ShaderViewportIndex ShaderViewportIndexLayerEXT MeshShadingNV MeshShadingEXT"
    TessLevelOuter = 11, "", "Tessellation"
    TessLevelInner = 12, "", "Tessellation"
    TessCoord = 13, "", "Tessellation"
    PatchVertices = 14, "", "Tessellation"
    FragCoord = 15, "", "Shader"
    PointCoord = 16, "", "Shader"
    FrontFacing = 17, "", "Shader"
    SampleId = 18, "", "SampleRateShading"
    SamplePosition = 19, "", "SampleRateShading"
    SampleMask = 20, "", "Shader"
    FragDepth = 22, "", "Shader"
    HelperInvocation = 23, "", "Shader"
    NumWorkgroups = 24
    WorkgroupSize = 25
    WorkgroupId = 26
    LocalInvocationId = 27
    GlobalInvocationId = 28
    LocalInvocationIndex = 29
    WorkDim = 30, "", "Kernel"
    GlobalSize = 31, "", "Kernel"
    EnqueuedWorkgroupSize = 32, "", "Kernel"
    GlobalOffset = 33, "", "Kernel"
    GlobalLinearId = 34, "", "Kernel"
    SubgroupSize = 36, "", "Kernel GroupNonUniform SubgroupBallotKHR"
    SubgroupMaxSize = 37, "", "Kernel"
    NumSubgroups = 38, "", "Kernel GroupNonUniform"
    NumEnqueuedSubgroups = 39, "", "Kernel"
    SubgroupId = 40, "", "Kernel GroupNonUniform"
    SubgroupLocalInvocationId = 41, "", "Kernel GroupNonUniform SubgroupBallotKHR"
    VertexIndex = 42, "", "Shader"
    InstanceIndex = 43, "", "Shader"
    CoreIDARM = 4160, "", "CoreBuiltinsARM"
    CoreCountARM = 4161, "", "CoreBuiltinsARM"
    CoreMaxIDARM = 4162, "", "CoreBuiltinsARM"
    WarpIDARM = 4163, "", "CoreBuiltinsARM"
    WarpMaxIDARM = 4164, "", "CoreBuiltinsARM"
    SubgroupEqMask = 4416, "", "SubgroupBallotKHR GroupNonUniformBallot SPV_KHR_shader_ballot 1.3"
    SubgroupEqMaskKHR = SubgroupEqMask
    SubgroupGeMask = 4417, "", "SubgroupBallotKHR GroupNonUniformBallot SPV_KHR_shader_ballot 1.3"
    SubgroupGeMaskKHR = SubgroupGeMask
    SubgroupGtMask = 4418, "", "SubgroupBallotKHR GroupNonUniformBallot SPV_KHR_shader_ballot 1.3"
    SubgroupGtMaskKHR = SubgroupGtMask
    SubgroupLeMask = 4419, "", "SubgroupBallotKHR GroupNonUniformBallot SPV_KHR_shader_ballot 1.3"
    SubgroupLeMaskKHR = SubgroupLeMask
    SubgroupLtMask = 4420, "", "SubgroupBallotKHR GroupNonUniformBallot SPV_KHR_shader_ballot 1.3"
    SubgroupLtMaskKHR = SubgroupLtMask
    BaseVertex = 4424, "", "DrawParameters SPV_KHR_shader_draw_parameters 1.3"
    BaseInstance = 4425, "", "DrawParameters SPV_KHR_shader_draw_parameters 1.3"
    DrawIndex = (4426, "",
        "DrawParameters MeshShadingNV MeshShadingEXT "
        "SPV_KHR_shader_draw_parameters SPV_NV_mesh_shader SPV_EXT_mesh_shader 1.3")
    DeviceIndex = 4438, "", "DeviceGroup SPV_KHR_device_group 1.3"
    ViewIndex = 4440, "", "MultiView SPV_KHR_multiview 1.3"
    FragStencilRefEXT = 5014, "", "StencilExportEXT SPV_EXT_shader_stencil_export ext"
    SamplerHeapEXT = 5122, "", "DescriptorHeapEXT ext"
    ResourceHeapEXT = 5123, "", "DescriptorHeapEXT ext"
    FullyCoveredEXT = 5264, "", "FragmentFullyCoveredEXT SPV_EXT_fragment_fully_covered ext"
    BaryCoordKHR = (5286, "",
        "FragmentBarycentricKHR SPV_NV_fragment_shader_barycentric "
        "SPV_KHR_fragment_shader_barycentric ext")
    BaryCoordNV = BaryCoordKHR
    BaryCoordNoPerspKHR = (5287, "",
        "FragmentBarycentricKHR SPV_NV_fragment_shader_barycentric "
        "SPV_KHR_fragment_shader_barycentric ext")
    BaryCoordNoPerspNV = BaryCoordNoPerspKHR
    FragSizeEXT = 5292, "", "FragmentDensityEXT SPV_EXT_fragment_invocation_density SPV_NV_shading_rate ext"
    FragmentSizeNV = FragSizeEXT
    FragInvocationCountEXT = 5293, "", "FragmentDensityEXT SPV_EXT_fragment_invocation_density SPV_NV_shading_rate ext"
    InvocationsPerPixelNV = FragInvocationCountEXT

    vars().update(vendor_enumerants.BUILT_INS)


class ExecutionMode(Row):
    """Execution modes of an entry point."""

    Invocations = 0, "LiteralInteger", "Geometry"
    SpacingEqual = 1, "", "Tessellation"
    SpacingFractionalEven = 2, "", "Tessellation"
    SpacingFractionalOdd = 3, "", "Tessellation"
    VertexOrderCw = 4, "", "Tessellation"
    VertexOrderCcw = 5, "", "Tessellation"
    PixelCenterInteger = 6, "", "Shader"
    OriginUpperLeft = 7, "", "Shader"
    OriginLowerLeft = 8, "", "Shader"
    EarlyFragmentTests = 9, "", "Shader"
    PointMode = 10, "", "Tessellation"
    Xfb = 11, "", "TransformFeedback"
    DepthReplacing = 12, "", "Shader"
    DepthGreater = 14, "", "Shader"
    DepthLess = 15, "", "Shader"
    DepthUnchanged = 16, "", "Shader"
    LocalSize = 17, "LiteralInteger LiteralInteger LiteralInteger"
    LocalSizeHint = 18, "LiteralInteger LiteralInteger LiteralInteger", "Kernel"
    InputPoints = 19, "", "Geometry"
    InputLines = 20, "", "Geometry"
    InputLinesAdjacency = 21, "", "Geometry"
    Triangles = 22, "", "Geometry Tessellation"
    InputTrianglesAdjacency = 23, "", "Geometry"
    Quads = 24, "", "Tessellation"
    Isolines = 25, "", "Tessellation"
    OutputVertices = 26, "LiteralInteger", "Geometry Tessellation MeshShadingNV MeshShadingEXT"
    OutputPoints = 27, "", "Geometry MeshShadingNV MeshShadingEXT"
    OutputLineStrip = 28, "", "Geometry"
    OutputTriangleStrip = 29, "", "Geometry"
    VecTypeHint = 30, "LiteralInteger", "Kernel"
    ContractionOff = 31, "", "Kernel"
    Initializer = 33, "", "Kernel 1.1"
    Finalizer = 34, "", "Kernel 1.1"
    SubgroupSize = 35, "LiteralInteger", "SubgroupDispatch 1.1"
    SubgroupsPerWorkgroup = 36, "LiteralInteger", "SubgroupDispatch 1.1"
    SubgroupsPerWorkgroupId = 37, "IdRef", "SubgroupDispatch 1.2"
    LocalSizeId = 38, "IdRef IdRef IdRef", "1.2"
    LocalSizeHintId = 39, "IdRef IdRef IdRef", "Kernel 1.2"
    NonCoherentColorAttachmentReadEXT = 4169, "", "TileImageColorReadAccessEXT ext"
    NonCoherentDepthAttachmentReadEXT = 4170, "", "TileImageDepthReadAccessEXT ext"
    NonCoherentStencilAttachmentReadEXT = 4171, "", "TileImageStencilReadAccessEXT ext"
    SubgroupUniformControlFlowKHR = 4421, "", "Shader SPV_KHR_subgroup_uniform_control_flow ext"
    PostDepthCoverage = 4446, "", "SampleMaskPostDepthCoverage SPV_KHR_post_depth_coverage ext"
    DenormPreserve = 4459, "LiteralInteger", "DenormPreserve SPV_KHR_float_controls 1.4"
    DenormFlushToZero = 4460, "LiteralInteger", "DenormFlushToZero SPV_KHR_float_controls 1.4"
    SignedZeroInfNanPreserve = 4461, "LiteralInteger", "SignedZeroInfNanPreserve SPV_KHR_float_controls 1.4"
    RoundingModeRTE = 4462, "LiteralInteger", "RoundingModeRTE SPV_KHR_float_controls 1.4"
    RoundingModeRTZ = 4463, "LiteralInteger", "RoundingModeRTZ SPV_KHR_float_controls 1.4"
    StencilRefReplacingEXT = 5027, "", "StencilExportEXT SPV_EXT_shader_stencil_export ext"
    QuadDerivativesKHR = 5088, "", "QuadControlKHR ext"
    RequireFullQuadsKHR = 5089, "", "QuadControlKHR ext"
    ArithmeticPoisonKHR = 5157, "", "PoisonFreezeKHR ext"
    DerivativeGroupQuadsKHR = (5289, "",
        "ComputeDerivativeGroupQuadsKHR SPV_NV_compute_shader_derivatives "
        "SPV_KHR_compute_shader_derivatives ext")
    DerivativeGroupQuadsNV = DerivativeGroupQuadsKHR
    DerivativeGroupLinearKHR = (5290, "",
        "ComputeDerivativeGroupLinearKHR SPV_NV_compute_shader_derivatives "
        "SPV_KHR_compute_shader_derivatives ext")
    DerivativeGroupLinearNV = DerivativeGroupLinearKHR
    PixelInterlockOrderedEXT = (5366, "",
        "FragmentShaderPixelInterlockEXT SPV_EXT_fragment_shader_interlock ext")
    PixelInterlockUnorderedEXT = (5367, "",
        "FragmentShaderPixelInterlockEXT SPV_EXT_fragment_shader_interlock ext")
    SampleInterlockOrderedEXT = (5368, "",
        "FragmentShaderSampleInterlockEXT SPV_EXT_fragment_shader_interlock ext")
    SampleInterlockUnorderedEXT = (5369, "",
        "FragmentShaderSampleInterlockEXT SPV_EXT_fragment_shader_interlock ext")
    Shader64BitIndexingEXT = 5427, "", "Shader64BitIndexingEXT ext"
    SharedLocalMemorySizeINTEL = 5618, "LiteralInteger", "VectorComputeINTEL ext"
    RoundingModeRTPINTEL = 5620, "LiteralInteger", "RoundToInfinityINTEL ext"
    RoundingModeRTNINTEL = 5621, "LiteralInteger", "RoundToInfinityINTEL ext"
    FloatingPointModeALTINTEL = 5622, "LiteralInteger", "RoundToInfinityINTEL ext"
    FloatingPointModeIEEEINTEL = 5623, "LiteralInteger", "RoundToInfinityINTEL ext"
    MaxWorkgroupSizeINTEL = (5893, "LiteralInteger LiteralInteger LiteralInteger",
        "KernelAttributesINTEL SPV_INTEL_kernel_attributes ext")
    MaximallyReconvergesKHR = 6023, "", "Shader SPV_KHR_maximal_reconvergence ext"
    FPFastMathDefault = 6028, "IdRef IdRef", "FloatControls2 ext"
    NamedBarrierCountINTEL = 6417, "LiteralInteger", "VectorComputeINTEL ext"
    MaximumRegistersINTEL = 6461, "LiteralInteger", "RegisterLimitsINTEL ext"
    MaximumRegistersIdINTEL = 6462, "IdRef", "RegisterLimitsINTEL ext"
    NamedMaximumRegistersINTEL = 6463, "NamedMaximumNumberOfRegisters", "RegisterLimitsINTEL ext"

    vars().update(vendor_enumerants.EXECUTION_MODES)


class FunctionParameterAttribute(Row):
    """Operand kind FunctionParameterAttribute."""

    Zext = 0, "", "Kernel"
    Sext = 1, "", "Kernel"
    ByVal = 2, "", "Kernel"
    Sret = 3, "", "Kernel"
    NoAlias = 4, "", "Kernel"
    NoCapture = 5, "", "Kernel"
    NoWrite = 6, "", "Kernel"
    NoReadWrite = 7, "", "Kernel"
    RuntimeAlignedALTERA = 5940, "", "RuntimeAlignedAttributeALTERA"
    RuntimeAlignedINTEL = RuntimeAlignedALTERA


class FPRoundingMode(Row):
    """Operand kind FPRoundingMode."""

    RTE = 0
    RTZ = 1
    RTP = 2
    RTN = 3


class FPDenormMode(Row):
    """Operand kind FPDenormMode."""

    Preserve = 0, "", "FunctionFloatControlINTEL ext"
    FlushToZero = 1, "", "FunctionFloatControlINTEL ext"


class FPOperationMode(Row):
    """Operand kind FPOperationMode."""

    IEEE = 0, "", "FunctionFloatControlINTEL ext"
    ALT = 1, "", "FunctionFloatControlINTEL ext"


class LinkageType(Row):
    """Operand kind LinkageType."""

    Export = 0, "", "Linkage"
    Import = 1, "", "Linkage"
    LinkOnceODR = 2, "", "Linkage SPV_KHR_linkonce_odr ext"

    vars().update(vendor_enumerants.LINKAGE_TYPES)


class AccessQualifier(Row):
    """Operand kind AccessQualifier."""

    ReadOnly = 0, "", "Kernel"
    WriteOnly = 1, "", "Kernel"
    ReadWrite = 2, "", "Kernel"


class HostAccessQualifier(Row):
    """Operand kind HostAccessQualifier."""

    NoneINTEL = 0, "", "GlobalVariableHostAccessINTEL ext"
    ReadINTEL = 1, "", "GlobalVariableHostAccessINTEL ext"
    WriteINTEL = 2, "", "GlobalVariableHostAccessINTEL ext"
    ReadWriteINTEL = 3, "", "GlobalVariableHostAccessINTEL ext"


class LoadCacheControl(Row):
    """Operand kind LoadCacheControl."""

    UncachedINTEL = 0, "", "CacheControlsINTEL ext"
    CachedINTEL = 1, "", "CacheControlsINTEL ext"
    StreamingINTEL = 2, "", "CacheControlsINTEL ext"
    InvalidateAfterReadINTEL = 3, "", "CacheControlsINTEL ext"
    ConstCachedINTEL = 4, "", "CacheControlsINTEL ext"


class StoreCacheControl(Row):
    """Operand kind StoreCacheControl."""

    UncachedINTEL = 0, "", "CacheControlsINTEL ext"
    WriteThroughINTEL = 1, "", "CacheControlsINTEL ext"
    WriteBackINTEL = 2, "", "CacheControlsINTEL ext"
    StreamingINTEL = 3, "", "CacheControlsINTEL ext"


class NamedMaximumNumberOfRegisters(Row):
    """Operand kind NamedMaximumNumberOfRegisters."""

    AutoINTEL = 0, "", "RegisterLimitsINTEL ext"
