"""The capabilities of SPIR-V.

See :mod:`coopmat.spirv.tables.base` for how a row reads.
"""

from __future__ import annotations

from coopmat.spirv.tables import vendor_enumerants
from coopmat.spirv.tables.base import Row


class Capability(Row):
    """Capabilities; the capabilities among the requirements are the ones that this one implies."""

    Matrix = 0
    Shader = 1, "", "Matrix"
    Geometry = 2, "", "Shader"
    Tessellation = 3, "", "Shader"
    Addresses = 4
    Linkage = 5
    Kernel = 6
    Vector16 = 7, "", "Kernel"
    Float16Buffer = 8, "", "Kernel"
    Float16 = 9
    Float64 = 10
    Int64 = 11
    Int64Atomics = 12, "", "Int64"
    ImageBasic = 13, "", "Kernel"
    ImageReadWrite = 14, "", "ImageBasic"
    ImageMipmap = 15, "", "ImageBasic"
    Pipes = 17, "", "Kernel"
    Groups = 18, "", "SPV_AMD_shader_ballot"
    DeviceEnqueue = 19, "", "Kernel"
    LiteralSampler = 20, "", "Kernel"
    AtomicStorage = 21, "", "Shader"
    Int16 = 22
    TessellationPointSize = 23, "", "Tessellation"
    GeometryPointSize = 24, "", "Geometry"
    ImageGatherExtended = 25, "", "Shader"
    StorageImageMultisample = 27, "", "Shader"
    UniformBufferArrayDynamicIndexing = 28, "", "Shader"
    SampledImageArrayDynamicIndexing = 29, "", "Shader"
    StorageBufferArrayDynamicIndexing = 30, "", "Shader"
    StorageImageArrayDynamicIndexing = 31, "", "Shader"
    ClipDistance = 32, "", "Shader"
    CullDistance = 33, "", "Shader"
    ImageCubeArray = 34, "", "SampledCubeArray"
    SampleRateShading = 35, "", "Shader"
    ImageRect = 36, "", "SampledRect"
    SampledRect = 37, "", "Shader"
    GenericPointer = 38, "", "Addresses"
    Int8 = 39
    InputAttachment = 40, "", "Shader"
    SparseResidency = 41, "", "Shader"
    MinLod = 42, "", "Shader"
    Sampled1D = 43
    Image1D = 44, "", "Sampled1D"
    SampledCubeArray = 45, "", "Shader"
    SampledBuffer = 46
    ImageBuffer = 47, "", "SampledBuffer"
    ImageMSArray = 48, "", "Shader"
    StorageImageExtendedFormats = 49, "", "Shader"
    ImageQuery = 50, "", "Shader"
    DerivativeControl = 51, "", "Shader"
    InterpolationFunction = 52, "", "Shader"
    TransformFeedback = 53, "", "Shader"
    GeometryStreams = 54, "", "Geometry"
    StorageImageReadWithoutFormat = 55, "", "Shader"
    StorageImageWriteWithoutFormat = 56, "", "Shader"
    MultiViewport = 57, "", "Geometry"
    SubgroupDispatch = 58, "", "DeviceEnqueue 1.1"
    NamedBarrier = 59, "", "Kernel 1.1"
    PipeStorage = 60, "", "Pipes 1.1"
    GroupNonUniform = 61, "", "1.3"
    GroupNonUniformVote = 62, "", "GroupNonUniform 1.3"
    GroupNonUniformArithmetic = 63, "", "GroupNonUniform 1.3"
    GroupNonUniformBallot = 64, "", "GroupNonUniform 1.3"
    GroupNonUniformShuffle = 65, "", "GroupNonUniform 1.3"
    GroupNonUniformShuffleRelative = 66, "", "GroupNonUniform 1.3"
    GroupNonUniformClustered = 67, "", "GroupNonUniform 1.3"
    GroupNonUniformQuad = 68, "", "GroupNonUniform 1.3"
    ShaderLayer = 69, "", "1.5"
    ShaderViewportIndex = 70, "", "1.5"
    UniformDecoration = 71, "", "1.6"
    TileImageColorReadAccessEXT = 4166, "", "SPV_EXT_shader_tile_image ext"
    TileImageDepthReadAccessEXT = 4167, "", "SPV_EXT_shader_tile_image ext"
    TileImageStencilReadAccessEXT = 4168, "", "SPV_EXT_shader_tile_image ext"
    Float8EXT = 4212, "", "SPV_EXT_float8 ext"
    Float8CooperativeMatrixEXT = 4213, "", "Float8EXT CooperativeMatrixKHR SPV_EXT_float8 ext"
    Float6EXT = 4228, "", "SPV_EXT_ocp_microscaling_types ext"
    Float4EXT = 4229, "", "SPV_EXT_ocp_microscaling_types ext"
    Float8UnsignedE8M0EXT = 4230, "", "SPV_EXT_ocp_microscaling_types ext"
    MXInt8EXT = 4231, "", "SPV_EXT_ocp_microscaling_types ext"
    BitcastExtractEXT = 4232, "", "SPV_EXT_ocp_microscaling_types ext"
    SubgroupBallotKHR = 4423, "", "SPV_KHR_shader_ballot ext"
    DrawParameters = 4427, "", "Shader SPV_KHR_shader_draw_parameters 1.3"
    WorkgroupMemoryExplicitLayoutKHR = 4428, "", "Shader SPV_KHR_workgroup_memory_explicit_layout ext"
    WorkgroupMemoryExplicitLayout8BitAccessKHR = (4429, "",
        "WorkgroupMemoryExplicitLayoutKHR SPV_KHR_workgroup_memory_explicit_layout ext")
    WorkgroupMemoryExplicitLayout16BitAccessKHR = (4430, "",
        "WorkgroupMemoryExplicitLayoutKHR SPV_KHR_workgroup_memory_explicit_layout ext")
    SubgroupVoteKHR = 4431, "", "SPV_KHR_subgroup_vote ext"
    StorageBuffer16BitAccess = 4433, "", "SPV_KHR_16bit_storage 1.3"
    StorageUniformBufferBlock16 = StorageBuffer16BitAccess
    UniformAndStorageBuffer16BitAccess = 4434, "", "StorageBuffer16BitAccess SPV_KHR_16bit_storage 1.3"
    StorageUniform16 = UniformAndStorageBuffer16BitAccess
    StoragePushConstant16 = 4435, "", "SPV_KHR_16bit_storage 1.3"
    StorageInputOutput16 = 4436, "", "SPV_KHR_16bit_storage 1.3"
    DeviceGroup = 4437, "", "SPV_KHR_device_group 1.3"
    MultiView = 4439, "", "Shader SPV_KHR_multiview 1.3"
    VariablePointersStorageBuffer = 4441, "", "Shader SPV_KHR_variable_pointers 1.3"
    VariablePointers = 4442, "", "VariablePointersStorageBuffer SPV_KHR_variable_pointers 1.3"
    AtomicStorageOps = 4445, "", "AtomicStorage SPV_KHR_shader_atomic_counter_ops ext"
    SampleMaskPostDepthCoverage = 4447, "", "SPV_KHR_post_depth_coverage ext"
    StorageBuffer8BitAccess = 4448, "", "SPV_KHR_8bit_storage 1.5"
    UniformAndStorageBuffer8BitAccess = 4449, "", "StorageBuffer8BitAccess SPV_KHR_8bit_storage 1.5"
    StoragePushConstant8 = 4450, "", "SPV_KHR_8bit_storage 1.5"
    DenormPreserve = 4464, "", "SPV_KHR_float_controls 1.4"
    DenormFlushToZero = 4465, "", "SPV_KHR_float_controls 1.4"
    SignedZeroInfNanPreserve = 4466, "", "SPV_KHR_float_controls 1.4"
    RoundingModeRTE = 4467, "", "SPV_KHR_float_controls 1.4"
    RoundingModeRTZ = 4468, "", "SPV_KHR_float_controls 1.4"
    UntypedPointersKHR = 4473, "", "SPV_KHR_untyped_pointers ext"
    StencilExportEXT = 5013, "", "Shader SPV_EXT_shader_stencil_export ext"
    Int64ImageEXT = 5016, "", "Int64 SPV_EXT_shader_image_int64 ext"
    ShaderClockKHR = 5055, "", "SPV_KHR_shader_clock ext"
    QuadControlKHR = 5087, "", "SPV_KHR_quad_control ext"
    Int4TypeINTEL = 5112, "", "SPV_INTEL_int4 ext"
    Int4CooperativeMatrixINTEL = 5114, "", "Int4TypeINTEL CooperativeMatrixKHR SPV_INTEL_int4 ext"
    BFloat16TypeKHR = 5116, "", "SPV_KHR_bfloat16 ext"
    BFloat16DotProductKHR = 5117, "", "BFloat16TypeKHR SPV_KHR_bfloat16 ext"
    BFloat16CooperativeMatrixKHR = 5118, "", "BFloat16TypeKHR CooperativeMatrixKHR SPV_KHR_bfloat16 ext"
    AbortKHR = 5120, "", "SPV_KHR_abort ext"
    DescriptorHeapEXT = 5128, "", "UntypedPointersKHR SPV_EXT_descriptor_heap ext"
    ConstantDataKHR = 5146, "", "SPV_KHR_constant_data ext"
    PoisonFreezeKHR = 5156, "", "SPV_KHR_poison_freeze ext"
    ShaderViewportIndexLayerEXT = (5254, "",
        "MultiViewport SPV_EXT_shader_viewport_index_layer SPV_NV_viewport_array2 ext")
    ShaderViewportIndexLayerNV = ShaderViewportIndexLayerEXT
    FragmentFullyCoveredEXT = 5265, "", "Shader SPV_EXT_fragment_fully_covered ext"
    FragmentBarycentricKHR = (5284, "",
        "SPV_NV_fragment_shader_barycentric SPV_KHR_fragment_shader_barycentric ext")
    FragmentBarycentricNV = FragmentBarycentricKHR
    ComputeDerivativeGroupQuadsKHR = (5288, "",
        "Shader SPV_NV_compute_shader_derivatives SPV_KHR_compute_shader_derivatives ext")
    ComputeDerivativeGroupQuadsNV = ComputeDerivativeGroupQuadsKHR
    GroupNonUniformPartitionedEXT = (5297, "",
        "SPV_NV_shader_subgroup_partitioned SPV_EXT_shader_subgroup_partitioned ext")
    GroupNonUniformPartitionedNV = GroupNonUniformPartitionedEXT
    ShaderNonUniform = 5301, "", "Shader SPV_EXT_descriptor_indexing 1.5"
    ShaderNonUniformEXT = ShaderNonUniform
    RuntimeDescriptorArray = 5302, "", "Shader SPV_EXT_descriptor_indexing 1.5"
    RuntimeDescriptorArrayEXT = RuntimeDescriptorArray
    InputAttachmentArrayDynamicIndexing = 5303, "", "InputAttachment SPV_EXT_descriptor_indexing 1.5"
    InputAttachmentArrayDynamicIndexingEXT = InputAttachmentArrayDynamicIndexing
    UniformTexelBufferArrayDynamicIndexing = 5304, "", "SampledBuffer SPV_EXT_descriptor_indexing 1.5"
    UniformTexelBufferArrayDynamicIndexingEXT = UniformTexelBufferArrayDynamicIndexing
    StorageTexelBufferArrayDynamicIndexing = 5305, "", "ImageBuffer SPV_EXT_descriptor_indexing 1.5"
    StorageTexelBufferArrayDynamicIndexingEXT = StorageTexelBufferArrayDynamicIndexing
    UniformBufferArrayNonUniformIndexing = 5306, "", "ShaderNonUniform SPV_EXT_descriptor_indexing 1.5"
    UniformBufferArrayNonUniformIndexingEXT = UniformBufferArrayNonUniformIndexing
    SampledImageArrayNonUniformIndexing = 5307, "", "ShaderNonUniform SPV_EXT_descriptor_indexing 1.5"
    SampledImageArrayNonUniformIndexingEXT = SampledImageArrayNonUniformIndexing
    StorageBufferArrayNonUniformIndexing = 5308, "", "ShaderNonUniform SPV_EXT_descriptor_indexing 1.5"
    StorageBufferArrayNonUniformIndexingEXT = StorageBufferArrayNonUniformIndexing
    StorageImageArrayNonUniformIndexing = 5309, "", "ShaderNonUniform SPV_EXT_descriptor_indexing 1.5"
    StorageImageArrayNonUniformIndexingEXT = StorageImageArrayNonUniformIndexing
    InputAttachmentArrayNonUniformIndexing = (5310, "",
        "InputAttachment ShaderNonUniform SPV_EXT_descriptor_indexing 1.5")
    InputAttachmentArrayNonUniformIndexingEXT = InputAttachmentArrayNonUniformIndexing
    UniformTexelBufferArrayNonUniformIndexing = (5311, "",
        "SampledBuffer ShaderNonUniform SPV_EXT_descriptor_indexing 1.5")
    UniformTexelBufferArrayNonUniformIndexingEXT = UniformTexelBufferArrayNonUniformIndexing
    StorageTexelBufferArrayNonUniformIndexing = (5312, "",
        "ImageBuffer ShaderNonUniform SPV_EXT_descriptor_indexing 1.5")
    StorageTexelBufferArrayNonUniformIndexingEXT = StorageTexelBufferArrayNonUniformIndexing
    VulkanMemoryModel = 5345, "", "SPV_KHR_vulkan_memory_model 1.5"
    VulkanMemoryModelKHR = VulkanMemoryModel
    VulkanMemoryModelDeviceScope = 5346, "", "SPV_KHR_vulkan_memory_model 1.5"
    VulkanMemoryModelDeviceScopeKHR = VulkanMemoryModelDeviceScope
    PhysicalStorageBufferAddresses = (5347, "",
        "Shader SPV_EXT_physical_storage_buffer SPV_KHR_physical_storage_buffer 1.5")
    PhysicalStorageBufferAddressesEXT = PhysicalStorageBufferAddresses
    ComputeDerivativeGroupLinearKHR = (5350, "",
        "Shader SPV_NV_compute_shader_derivatives SPV_KHR_compute_shader_derivatives ext")
    ComputeDerivativeGroupLinearNV = ComputeDerivativeGroupLinearKHR
    CooperativeMatrixNV = 5357, "", "Shader SPV_NV_cooperative_matrix ext"
    FragmentShaderSampleInterlockEXT = 5363, "", "Shader SPV_EXT_fragment_shader_interlock ext"
    FragmentShaderPixelInterlockEXT = 5378, "", "Shader SPV_EXT_fragment_shader_interlock ext"
    DemoteToHelperInvocation = 5379, "", "Shader SPV_EXT_demote_to_helper_invocation 1.6"
    DemoteToHelperInvocationEXT = DemoteToHelperInvocation
    LongVectorEXT = 5425, "", "SPV_EXT_long_vector ext"
    Shader64BitIndexingEXT = 5426, "", "SPV_EXT_shader_64bit_indexing ext"
    CooperativeMatrixConversionsEXT = 5429, "", "SPV_EXT_cooperative_matrix_maintenance1 ext"
    CooperativeMatrixReductionsEXT = (5430, "",
        "SPV_EXT_cooperative_matrix_maintenance1 SPV_NV_cooperative_matrix2 ext")
    CooperativeMatrixReductionsNV = CooperativeMatrixReductionsEXT
    CooperativeMatrixConversionsNV = 5431, "", "SPV_NV_cooperative_matrix2 ext"
    CooperativeMatrixPerElementOperationsEXT = (5432, "",
        "SPV_EXT_cooperative_matrix_maintenance1 SPV_NV_cooperative_matrix2 ext")
    CooperativeMatrixPerElementOperationsNV = CooperativeMatrixPerElementOperationsEXT
    CooperativeMatrixTensorAddressingNV = 5433, "", "SPV_NV_cooperative_matrix2 ext"
    CooperativeMatrixBlockLoadsNV = 5434, "", "SPV_NV_cooperative_matrix2 ext"
    CooperativeMatrixGetCoordinateEXT = 5438, "", "SPV_EXT_cooperative_matrix_maintenance1 ext"
    TensorAddressingNV = 5439, "", "SPV_NV_tensor_addressing ext"
    CooperativeMatrixDecodeVectorNV = (5447, "",
        "CooperativeMatrixBlockLoadsNV SPV_NV_cooperative_matrix_decode_vector ext")
    SubgroupShuffleINTEL = 5568, "", "SPV_INTEL_subgroups ext"
    SubgroupBufferBlockIOINTEL = 5569, "", "SPV_INTEL_subgroups ext"
    SubgroupImageBlockIOINTEL = 5570, "", "SPV_INTEL_subgroups ext"
    RoundToInfinityINTEL = 5582, "", "SPV_INTEL_float_controls2 ext"
    FloatingPointModeINTEL = 5583, "", "SPV_INTEL_float_controls2 ext"
    IntegerFunctions2INTEL = 5584, "", "SPV_INTEL_shader_integer_functions2 ext"
    FunctionPointersINTEL = 5603, "", "SPV_INTEL_function_pointers ext"
    IndirectReferencesINTEL = 5604, "", "SPV_INTEL_function_pointers ext"
    AsmINTEL = 5606, "", "SPV_INTEL_inline_assembly ext"
    AtomicFloat32MinMaxEXT = 5612, "", "SPV_EXT_shader_atomic_float_min_max ext"
    AtomicFloat64MinMaxEXT = 5613, "", "SPV_EXT_shader_atomic_float_min_max ext"
    AtomicFloat16MinMaxEXT = 5616, "", "SPV_EXT_shader_atomic_float_min_max ext"
    VectorComputeINTEL = 5617, "", "VectorAnyINTEL SPV_INTEL_vector_compute ext"
    VectorAnyINTEL = 5619, "", "SPV_INTEL_vector_compute ext"
    ExpectAssumeKHR = 5629, "", "SPV_KHR_expect_assume ext"
    VariableLengthArrayINTEL = 5817, "", "SPV_INTEL_variable_length_array ext"
    FunctionFloatControlINTEL = 5821, "", "SPV_INTEL_float_controls2 ext"
    FPFastMathModeINTEL = 5837, "", "Kernel SPV_INTEL_fp_fast_math_mode ext"
    ArbitraryPrecisionIntegersALTERA = (5844, "",
        "SPV_ALTERA_arbitrary_precision_integers SPV_INTEL_arbitrary_precision_integers ext")
    ArbitraryPrecisionIntegersINTEL = ArbitraryPrecisionIntegersALTERA
    UnstructuredLoopControlsINTEL = 5886, "", "SPV_INTEL_unstructured_loop_controls ext"
    KernelAttributesINTEL = 5892, "", "SPV_INTEL_kernel_attributes ext"
    MemoryAccessAliasingINTEL = 5910, "", "SPV_INTEL_memory_access_aliasing ext"
    USMStorageClassesALTERA = 5935, "", "SPV_ALTERA_usm_storage_classes SPV_INTEL_usm_storage_classes ext"
    USMStorageClassesINTEL = USMStorageClassesALTERA
    RuntimeAlignedAttributeALTERA = 5939, "", "SPV_ALTERA_runtime_aligned SPV_INTEL_runtime_aligned ext"
    RuntimeAlignedAttributeINTEL = RuntimeAlignedAttributeALTERA
    DotProductInputAll = 6016, "", "SPV_KHR_integer_dot_product 1.6"
    DotProductInputAllKHR = DotProductInputAll
    DotProductInput4x8Bit = 6017, "", "Int8 SPV_KHR_integer_dot_product 1.6"
    DotProductInput4x8BitKHR = DotProductInput4x8Bit
    DotProductInput4x8BitPacked = 6018, "", "SPV_KHR_integer_dot_product 1.6"
    DotProductInput4x8BitPackedKHR = DotProductInput4x8BitPacked
    DotProduct = 6019, "", "SPV_KHR_integer_dot_product 1.6"
    DotProductKHR = DotProduct
    CooperativeMatrixKHR = 6022, "", "SPV_KHR_cooperative_matrix ext"
    ReplicatedCompositesEXT = 6024, "", "SPV_EXT_replicated_composites ext"
    BitInstructions = 6025, "", "SPV_KHR_bit_instructions ext"
    GroupNonUniformRotateKHR = 6026, "", "GroupNonUniform SPV_KHR_subgroup_rotate ext"
    FloatControls2 = 6029, "", "SPV_KHR_float_controls2 ext"
    FMAKHR = 6030, "", "SPV_KHR_fma ext"
    AtomicFloat32AddEXT = 6033, "", "SPV_EXT_shader_atomic_float_add ext"
    AtomicFloat64AddEXT = 6034, "", "SPV_EXT_shader_atomic_float_add ext"
    LongCompositesINTEL = 6089, "", "SPV_INTEL_long_composites ext"
    OptNoneEXT = 6094, "", "SPV_EXT_optnone SPV_INTEL_optnone ext"
    OptNoneINTEL = OptNoneEXT
    AtomicFloat16AddEXT = 6095, "", "SPV_EXT_shader_atomic_float16_add ext"
    DebugInfoModuleINTEL = 6114, "", "SPV_INTEL_debug_module ext"
    BFloat16ConversionINTEL = 6115, "", "SPV_INTEL_bfloat16_conversion ext"
    SplitBarrierEXT = 6141, "", "SPV_EXT_split_barrier SPV_INTEL_split_barrier ext"
    SplitBarrierINTEL = SplitBarrierEXT
    ArithmeticFenceEXT = 6144, "", "SPV_EXT_arithmetic_fence ext"
    FPMaxErrorINTEL = 6169, "", "SPV_INTEL_fp_max_error ext"
    GlobalVariableHostAccessINTEL = 6187, "", "SPV_INTEL_global_variable_host_access ext"
    CooperativeMatrixCheckedInstructionsINTEL = 6192, "", "CooperativeMatrixKHR SPV_INTEL_joint_matrix ext"
    SubgroupBufferPrefetchINTEL = 6220, "", "SPV_INTEL_subgroup_buffer_prefetch ext"
    Subgroup2DBlockIOINTEL = 6228, "", "SPV_INTEL_2d_block_io ext"
    Subgroup2DBlockTransformINTEL = 6229, "", "Subgroup2DBlockIOINTEL SPV_INTEL_2d_block_io ext"
    Subgroup2DBlockTransposeINTEL = 6230, "", "Subgroup2DBlockIOINTEL SPV_INTEL_2d_block_io ext"
    SubgroupMatrixMultiplyAccumulateINTEL = 6236, "", "SPV_INTEL_subgroup_matrix_multiply_accumulate ext"
    TernaryBitwiseFunctionINTEL = 6241, "", "SPV_INTEL_ternary_bitwise_function ext"
    UntypedVariableLengthArrayINTEL = (6243, "",
        "VariableLengthArrayINTEL UntypedPointersKHR SPV_INTEL_variable_length_array ext")
    SpecConditionalINTEL = 6245, "", "SPV_INTEL_function_variants ext"
    FunctionVariantsINTEL = 6246, "", "SpecConditionalINTEL SPV_INTEL_function_variants ext"
    PredicatedIOINTEL = 6257, "", "SPV_INTEL_predicated_io ext"
    RoundedDivideSqrtINTEL = 6265, "", "SPV_INTEL_rounded_divide_sqrt ext"
    GroupUniformArithmeticKHR = 6400, "", "SPV_KHR_uniform_group_instructions ext"
    CooperativeMatrixPrefetchINTEL = 6411, "", "CooperativeMatrixKHR SPV_INTEL_joint_matrix ext"
    TensorFloat32RoundingINTEL = 6425, "", "SPV_INTEL_tensor_float32_conversion ext"
    MaskedGatherScatterINTEL = 6427, "", "SPV_INTEL_masked_gather_scatter ext"
    PackedCooperativeMatrixINTEL = 6434, "", "CooperativeMatrixKHR SPV_INTEL_joint_matrix ext"
    CooperativeMatrixInvocationInstructionsINTEL = 6435, "", "CooperativeMatrixKHR SPV_INTEL_joint_matrix ext"
    CooperativeMatrixTF32ComponentTypeINTEL = 6436, "", "CooperativeMatrixKHR SPV_INTEL_joint_matrix ext"
    CooperativeMatrixBFloat16ComponentTypeINTEL = 6437, "", "CooperativeMatrixKHR SPV_INTEL_joint_matrix ext"
    CacheControlsINTEL = 6441, "", "SPV_INTEL_cache_controls ext"
    RegisterLimitsINTEL = 6460, "", "SPV_INTEL_maximum_registers ext"
    BindlessImagesINTEL = 6528, "", "SPV_INTEL_bindless_images ext"
    GraphARM = 4191, "", "SPV_ARM_graph ext"
    AtomicFloat16VectorNV = 5404, "", "SPV_NV_shader_atomic_fp16_vector ext"

    vars().update(vendor_enumerants.CAPABILITIES)
