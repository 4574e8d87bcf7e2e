"""The other enumerations and masks that operands take.

See :mod:`coopmat.spirv.tables.base` for how a row reads.
"""

from __future__ import annotations

from coopmat.spirv.tables import vendor_enumerants
from coopmat.spirv.tables.base import Mask, Row


class ImageOperands(Mask):
    """Operand kind ImageOperands."""

    None_ = 0x0
    Bias = 0x1, "IdRef", "Shader"
    Lod = 0x2, "IdRef"
    Grad = 0x4, "IdRef IdRef"
    ConstOffset = 0x8, "IdRef"
    Offset = 0x10, "IdRef", "ImageGatherExtended"
    ConstOffsets = 0x20, "IdRef", "ImageGatherExtended"
    Sample = 0x40, "IdRef"
    MinLod = 0x80, "IdRef", "MinLod"
    MakeTexelAvailable = 0x100, "IdScope", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    MakeTexelAvailableKHR = MakeTexelAvailable
    MakeTexelVisible = 0x200, "IdScope", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    MakeTexelVisibleKHR = MakeTexelVisible
    NonPrivateTexel = 0x400, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    NonPrivateTexelKHR = NonPrivateTexel
    VolatileTexel = 0x800, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    VolatileTexelKHR = VolatileTexel
    SignExtend = 0x1000, "", "1.4"
    ZeroExtend = 0x2000, "", "1.4"
    Nontemporal = 0x4000, "", "1.6"
    Offsets = 0x10000, "IdRef"


class FPFastMathMode(Mask):
    """Operand kind FPFastMathMode."""

    None_ = 0x0
    NotNaN = 0x1
    NotInf = 0x2
    NSZ = 0x4
    AllowRecip = 0x8
    Fast = 0x10
    AllowContract = 0x10000, "", "FloatControls2 FPFastMathModeINTEL ext"
    AllowContractFastINTEL = AllowContract
    AllowReassoc = 0x20000, "", "FloatControls2 FPFastMathModeINTEL ext"
    AllowReassocINTEL = AllowReassoc
    AllowTransform = 0x40000, "", "FloatControls2 ext"


class SelectionControl(Mask):
    """Operand kind SelectionControl."""

    None_ = 0x0
    Flatten = 0x1
    DontFlatten = 0x2


class LoopControl(Mask):
    """Operand kind LoopControl."""

    None_ = 0x0
    Unroll = 0x1
    DontUnroll = 0x2
    DependencyInfinite = 0x4, "", "1.1"
    DependencyLength = 0x8, "LiteralInteger", "1.1"
    MinIterations = 0x10, "LiteralInteger", "1.4"
    MaxIterations = 0x20, "LiteralInteger", "1.4"
    IterationMultiple = 0x40, "LiteralInteger", "1.4"
    PeelCount = 0x80, "LiteralInteger", "1.4"
    PartialCount = 0x100, "LiteralInteger", "1.4"
    MultipleWaitQueuesQCOM = 0x10000000, "LiteralInteger"

    vars().update(vendor_enumerants.LOOP_CONTROLS)


class FunctionControl(Mask):
    """Operand kind FunctionControl."""

    None_ = 0x0
    Inline = 0x1
    DontInline = 0x2
    Pure = 0x4
    Const = 0x8
    OptNoneEXT = 0x10000, "", "OptNoneEXT ext"
    OptNoneINTEL = OptNoneEXT


class MemorySemantics(Mask):
    """Operand kind MemorySemantics."""

    Relaxed = 0x0
    None_ = Relaxed
    Acquire = 0x2
    Release = 0x4
    AcquireRelease = 0x8
    SequentiallyConsistent = 0x10
    UniformMemory = 0x40, "", "Shader"
    SubgroupMemory = 0x80
    WorkgroupMemory = 0x100
    CrossWorkgroupMemory = 0x200
    AtomicCounterMemory = 0x400, "", "AtomicStorage"
    ImageMemory = 0x800
    OutputMemory = 0x1000, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    OutputMemoryKHR = OutputMemory
    MakeAvailable = 0x2000, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    MakeAvailableKHR = MakeAvailable
    MakeVisible = 0x4000, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    MakeVisibleKHR = MakeVisible
    Volatile = 0x8000, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"


class MemoryAccess(Mask):
    """Operand kind MemoryAccess."""

    None_ = 0x0
    Volatile = 0x1
    Aligned = 0x2, "LiteralInteger"
    Nontemporal = 0x4
    MakePointerAvailable = 0x8, "IdScope", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    MakePointerAvailableKHR = MakePointerAvailable
    MakePointerVisible = 0x10, "IdScope", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    MakePointerVisibleKHR = MakePointerVisible
    NonPrivatePointer = 0x20, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    NonPrivatePointerKHR = NonPrivatePointer
    AliasScopeINTELMask = 0x10000, "IdRef", "MemoryAccessAliasingINTEL SPV_INTEL_memory_access_aliasing ext"
    NoAliasINTELMask = 0x20000, "IdRef", "MemoryAccessAliasingINTEL SPV_INTEL_memory_access_aliasing ext"


class KernelProfilingInfo(Mask):
    """Operand kind KernelProfilingInfo."""

    None_ = 0x0
    CmdExecTime = 0x1, "", "Kernel"


class SourceLanguage(Row):
    """Operand kind SourceLanguage."""

    Unknown = 0
    ESSL = 1
    GLSL = 2
    OpenCL_C = 3
    OpenCL_CPP = 4
    HLSL = 5
    CPP_for_OpenCL = 6
    SYCL = 7
    HERO_C = 8
    NZSL = 9
    WGSL = 10
    Slang = 11
    Zig = 12
    Rust = 13
    Pred = 14
    ApilaJai = 15


class ExecutionModel(Row):
    """Operand kind ExecutionModel."""

    Vertex = 0, "", "Shader"
    TessellationControl = 1, "", "Tessellation"
    TessellationEvaluation = 2, "", "Tessellation"
    Geometry = 3, "", "Geometry"
    Fragment = 4, "", "Shader"
    GLCompute = 5, "", "Shader"
    Kernel = 6, "", "Kernel"
    MissKHR = 5317, "", "RayTracingNV RayTracingKHR ext"
    MissNV = MissKHR
    TaskEXT = 5364, "", "MeshShadingEXT ext"
    TaskNV = 5267, "", "MeshShadingNV ext"
    MeshNV = 5268, "", "MeshShadingNV ext"
    MeshEXT = 5365, "", "MeshShadingEXT ext"

    vars().update(vendor_enumerants.EXECUTION_MODELS)


class AddressingModel(Row):
    """Operand kind AddressingModel."""

    Logical = 0
    Physical32 = 1, "", "Addresses"
    Physical64 = 2, "", "Addresses"
    PhysicalStorageBuffer64 = (5348, "",
        "PhysicalStorageBufferAddresses SPV_EXT_physical_storage_buffer "
        "SPV_KHR_physical_storage_buffer 1.5")
    PhysicalStorageBuffer64EXT = PhysicalStorageBuffer64


class MemoryModel(Row):
    """Operand kind MemoryModel."""

    Simple = 0, "", "Shader"
    GLSL450 = 1, "", "Shader"
    OpenCL = 2, "", "Kernel"
    Vulkan = 3, "", "VulkanMemoryModel SPV_KHR_vulkan_memory_model 1.5"
    VulkanKHR = Vulkan


class StorageClass(Row):
    """Operand kind StorageClass."""

    UniformConstant = 0
    Input = 1
    Uniform = 2, "", "Shader"
    Output = 3, "", "Shader"
    Workgroup = 4
    CrossWorkgroup = 5
    Private = 6, "", "Shader VectorComputeINTEL"
    Function = 7
    Generic = 8, "", "GenericPointer"
    PushConstant = 9, "", "Shader"
    AtomicCounter = 10, "", "AtomicStorage"
    Image = 11
    StorageBuffer = 12, "", "Shader SPV_KHR_storage_buffer_storage_class SPV_KHR_variable_pointers 1.3"
    TileImageEXT = 4172, "", "TileImageColorReadAccessEXT ext"
    HitAttributeKHR = 5339, "", "RayTracingNV RayTracingKHR SPV_NV_ray_tracing SPV_KHR_ray_tracing ext"
    HitAttributeNV = HitAttributeKHR
    ShaderRecordBufferKHR = 5343, "", "RayTracingNV RayTracingKHR SPV_NV_ray_tracing SPV_KHR_ray_tracing ext"
    ShaderRecordBufferNV = ShaderRecordBufferKHR
    PhysicalStorageBuffer = (5349, "",
        "PhysicalStorageBufferAddresses SPV_EXT_physical_storage_buffer "
        "SPV_KHR_physical_storage_buffer 1.5")
    PhysicalStorageBufferEXT = PhysicalStorageBuffer
    TaskPayloadWorkgroupEXT = 5402, "", "MeshShadingEXT SPV_EXT_mesh_shader 1.4"
    CodeSectionINTEL = 5605, "", "FunctionPointersINTEL SPV_INTEL_function_pointers ext"
    DeviceOnlyALTERA = 5936, "", "USMStorageClassesALTERA ext"
    DeviceOnlyINTEL = DeviceOnlyALTERA
    HostOnlyALTERA = 5937, "", "USMStorageClassesALTERA ext"
    HostOnlyINTEL = HostOnlyALTERA

    vars().update(vendor_enumerants.STORAGE_CLASSES)


class Dim(Row):
    """Operand kind Dim."""

    _1D = 0, "", "Sampled1D"
    _2D = 1
    _3D = 2
    Cube = 3, "", "Shader"
    Rect = 4, "", "SampledRect"
    Buffer = 5, "", "SampledBuffer"
    SubpassData = 6, "", "InputAttachment"
    TileImageDataEXT = 4173, "", "TileImageColorReadAccessEXT ext"


class SamplerAddressingMode(Row):
    """Operand kind SamplerAddressingMode."""

    None_ = 0
    ClampToEdge = 1
    Clamp = 2
    Repeat = 3
    RepeatMirrored = 4


class SamplerFilterMode(Row):
    """Operand kind SamplerFilterMode."""

    Nearest = 0
    Linear = 1


class ImageFormat(Row):
    """Operand kind ImageFormat."""

    Unknown = 0
    Rgba32f = 1, "", "Shader"
    Rgba16f = 2, "", "Shader"
    R32f = 3, "", "Shader"
    Rgba8 = 4, "", "Shader"
    Rgba8Snorm = 5, "", "Shader"
    Rg32f = 6, "", "StorageImageExtendedFormats"
    Rg16f = 7, "", "StorageImageExtendedFormats"
    R11fG11fB10f = 8, "", "StorageImageExtendedFormats"
    R16f = 9, "", "StorageImageExtendedFormats"
    Rgba16 = 10, "", "StorageImageExtendedFormats"
    Rgb10A2 = 11, "", "StorageImageExtendedFormats"
    Rg16 = 12, "", "StorageImageExtendedFormats"
    Rg8 = 13, "", "StorageImageExtendedFormats"
    R16 = 14, "", "StorageImageExtendedFormats"
    R8 = 15, "", "StorageImageExtendedFormats"
    Rgba16Snorm = 16, "", "StorageImageExtendedFormats"
    Rg16Snorm = 17, "", "StorageImageExtendedFormats"
    Rg8Snorm = 18, "", "StorageImageExtendedFormats"
    R16Snorm = 19, "", "StorageImageExtendedFormats"
    R8Snorm = 20, "", "StorageImageExtendedFormats"
    Rgba32i = 21, "", "Shader"
    Rgba16i = 22, "", "Shader"
    Rgba8i = 23, "", "Shader"
    R32i = 24, "", "Shader"
    Rg32i = 25, "", "StorageImageExtendedFormats"
    Rg16i = 26, "", "StorageImageExtendedFormats"
    Rg8i = 27, "", "StorageImageExtendedFormats"
    R16i = 28, "", "StorageImageExtendedFormats"
    R8i = 29, "", "StorageImageExtendedFormats"
    Rgba32ui = 30, "", "Shader"
    Rgba16ui = 31, "", "Shader"
    Rgba8ui = 32, "", "Shader"
    R32ui = 33, "", "Shader"
    Rgb10a2ui = 34, "", "StorageImageExtendedFormats"
    Rg32ui = 35, "", "StorageImageExtendedFormats"
    Rg16ui = 36, "", "StorageImageExtendedFormats"
    Rg8ui = 37, "", "StorageImageExtendedFormats"
    R16ui = 38, "", "StorageImageExtendedFormats"
    R8ui = 39, "", "StorageImageExtendedFormats"
    R64ui = 40, "", "Int64ImageEXT"
    R64i = 41, "", "Int64ImageEXT"


class ImageChannelOrder(Row):
    """Operand kind ImageChannelOrder."""

    R = 0
    A = 1
    RG = 2
    RA = 3
    RGB = 4
    RGBA = 5
    BGRA = 6
    ARGB = 7
    Intensity = 8
    Luminance = 9
    Rx = 10
    RGx = 11
    RGBx = 12
    Depth = 13
    DepthStencil = 14
    sRGB = 15
    sRGBx = 16
    sRGBA = 17
    sBGRA = 18
    ABGR = 19


class ImageChannelDataType(Row):
    """Operand kind ImageChannelDataType."""

    SnormInt8 = 0
    SnormInt16 = 1
    UnormInt8 = 2
    UnormInt16 = 3
    UnormShort565 = 4
    UnormShort555 = 5
    UnormInt101010 = 6
    SignedInt8 = 7
    SignedInt16 = 8
    SignedInt32 = 9
    UnsignedInt8 = 10
    UnsignedInt16 = 11
    UnsignedInt32 = 12
    HalfFloat = 13
    Float = 14
    UnormInt24 = 15
    UnormInt101010_2 = 16
    UnormInt10X6EXT = 17
    UnsignedIntRaw10EXT = 19
    UnsignedIntRaw12EXT = 20
    UnormInt2_101010EXT = 21
    UnsignedInt10X6EXT = 22
    UnsignedInt12X4EXT = 23
    UnsignedInt14X2EXT = 24
    UnormInt12X4EXT = 25
    UnormInt14X2EXT = 26


class Scope(Row):
    """Operand kind Scope."""

    CrossDevice = 0
    Device = 1
    Workgroup = 2
    Subgroup = 3
    Invocation = 4
    QueueFamily = 5, "", "VulkanMemoryModel 1.5"
    QueueFamilyKHR = QueueFamily
    ShaderCallKHR = 6, "", "RayTracingKHR ext"


class GroupOperation(Row):
    """Operand kind GroupOperation."""

    Reduce = 0, "", "Kernel GroupNonUniformArithmetic GroupNonUniformBallot"
    InclusiveScan = 1, "", "Kernel GroupNonUniformArithmetic GroupNonUniformBallot"
    ExclusiveScan = 2, "", "Kernel GroupNonUniformArithmetic GroupNonUniformBallot"
    ClusteredReduce = 3, "", "GroupNonUniformClustered 1.3"
    PartitionedReduceEXT = 6, "", "GroupNonUniformPartitionedEXT ext"
    PartitionedReduceNV = PartitionedReduceEXT
    PartitionedInclusiveScanEXT = 7, "", "GroupNonUniformPartitionedEXT ext"
    PartitionedInclusiveScanNV = PartitionedInclusiveScanEXT
    PartitionedExclusiveScanEXT = 8, "", "GroupNonUniformPartitionedEXT ext"
    PartitionedExclusiveScanNV = PartitionedExclusiveScanEXT


class KernelEnqueueFlags(Row):
    """Operand kind KernelEnqueueFlags."""

    NoWait = 0, "", "Kernel"
    WaitKernel = 1, "", "Kernel"
    WaitWorkGroup = 2, "", "Kernel"


class PackedVectorFormat(Row):
    """Operand kind PackedVectorFormat."""

    PackedVectorFormat4x8Bit = 0, "", "SPV_KHR_integer_dot_product 1.6"
    PackedVectorFormat4x8BitKHR = PackedVectorFormat4x8Bit


class CooperativeMatrixOperands(Mask):
    """Operand kind CooperativeMatrixOperands."""

    NoneKHR = 0x0, "", "ext"
    MatrixASignedComponentsKHR = 0x1, "", "ext"
    MatrixBSignedComponentsKHR = 0x2, "", "ext"
    MatrixCSignedComponentsKHR = 0x4, "", "ext"
    MatrixResultSignedComponentsKHR = 0x8, "", "ext"
    SaturatingAccumulationKHR = 0x10, "", "ext"
    MatrixAAndBTF32ComponentsINTEL = 0x20, "", "CooperativeMatrixTF32ComponentTypeINTEL ext"
    MatrixAAndBBFloat16ComponentsINTEL = 0x40, "", "CooperativeMatrixBFloat16ComponentTypeINTEL ext"
    MatrixCBFloat16ComponentsINTEL = 0x80, "", "CooperativeMatrixBFloat16ComponentTypeINTEL ext"
    MatrixResultBFloat16ComponentsINTEL = 0x100, "", "CooperativeMatrixBFloat16ComponentTypeINTEL ext"


class CooperativeMatrixLayout(Row):
    """Operand kind CooperativeMatrixLayout."""

    RowMajorKHR = 0, "", "ext"
    ColumnMajorKHR = 1, "", "ext"
    PackedINTEL = 2, "", "PackedCooperativeMatrixINTEL ext"

    vars().update(vendor_enumerants.COOPERATIVE_MATRIX_LAYOUTS)


class CooperativeMatrixUse(Row):
    """Operand kind CooperativeMatrixUse."""

    MatrixAKHR = 0, "", "ext"
    MatrixBKHR = 1, "", "ext"
    MatrixAccumulatorKHR = 2, "", "ext"


class CooperativeMatrixReduce(Mask):
    """Operand kind CooperativeMatrixReduce."""

    Row = 0x1, "", "ext"
    Column = 0x2, "", "ext"
    _2x2 = 0x4, "", "ext"


class TensorClampMode(Row):
    """Operand kind TensorClampMode."""

    Undefined = 0, "", "ext"
    Constant = 1, "", "ext"
    ClampToEdge = 2, "", "ext"
    Repeat = 3, "", "ext"
    RepeatMirrored = 4, "", "ext"


class TensorAddressingOperands(Mask):
    """Operand kind TensorAddressingOperands."""

    None_ = 0x0, "", "ext"
    TensorView = 0x1, "IdRef", "CooperativeMatrixTensorAddressingNV ext"
    DecodeFunc = 0x2, "IdRef", "CooperativeMatrixBlockLoadsNV ext"
    DecodeVectorFunc = 0x4, "IdRef", "CooperativeMatrixDecodeVectorNV ext"


class MatrixMultiplyAccumulateOperands(Mask):
    """Operand kind MatrixMultiplyAccumulateOperands."""

    None_ = 0x0, "", "ext"
    MatrixASignedComponentsINTEL = 0x1, "", "ext"
    MatrixBSignedComponentsINTEL = 0x2, "", "ext"
    MatrixCBFloat16INTEL = 0x4, "", "ext"
    MatrixResultBFloat16INTEL = 0x8, "", "ext"
    MatrixAPackedInt8INTEL = 0x10, "", "ext"
    MatrixBPackedInt8INTEL = 0x20, "", "ext"
    MatrixAPackedInt4INTEL = 0x40, "", "ext"
    MatrixBPackedInt4INTEL = 0x80, "", "ext"
    MatrixATF32INTEL = 0x100, "", "ext"
    MatrixBTF32INTEL = 0x200, "", "ext"
    MatrixAPackedFloat16INTEL = 0x400, "", "ext"
    MatrixBPackedFloat16INTEL = 0x800, "", "ext"
    MatrixAPackedBFloat16INTEL = 0x1000, "", "ext"
    MatrixBPackedBFloat16INTEL = 0x2000, "", "ext"


class FPEncoding(Row):
    """Operand kind FPEncoding."""

    BFloat16KHR = 0, "", "BFloat16TypeKHR ext"
    Float8E4M3EXT = 4214, "", "Float8EXT ext"
    Float8E5M2EXT = 4215, "", "Float8EXT ext"
    Float6E2M3EXT = 4223, "", "Float6EXT ext"
    Float6E3M2EXT = 4224, "", "Float6EXT ext"
    Float4E2M1EXT = 4225, "", "Float4EXT ext"
    Float8UnsignedE8M0EXT = 4226, "", "Float8UnsignedE8M0EXT ext"
    MXInt8EXT = 4227, "", "MXInt8EXT ext"


class RawAccessChainOperands(Mask):
    """Operand kind RawAccessChainOperands."""

    None_ = 0x0
    RobustnessPerComponentNV = 0x1, "", "RawAccessChainsNV ext"
    RobustnessPerElementNV = 0x2, "", "RawAccessChainsNV ext"


class InitializationModeQualifier(Row):
    """Operand kind InitializationModeQualifier."""

    InitOnDeviceReprogramALTERA = 0, "", "GlobalVariableFPGADecorationsALTERA ext"
    InitOnDeviceReprogramINTEL = InitOnDeviceReprogramALTERA
    InitOnDeviceResetALTERA = 1, "", "GlobalVariableFPGADecorationsALTERA ext"
    InitOnDeviceResetINTEL = InitOnDeviceResetALTERA


class TensorOperands(Mask):
    """Operand kind TensorOperands."""

    NoneARM = 0x0, "", "TensorsARM ext"
    NontemporalARM = 0x1, "", "TensorsARM ext"
    OutOfBoundsValueARM = 0x2, "IdRef", "TensorsARM ext"
    MakeElementAvailableARM = 0x4, "IdRef", "TensorsARM ext"
    MakeElementVisibleARM = 0x8, "IdRef", "TensorsARM ext"
    NonPrivateElementARM = 0x10, "", "TensorsARM ext"
