"""The instructions of SPIR-V: core 1.0 to 1.6 and the extensions that compute kernels meet.

See :mod:`coopmat.spirv.tables.base` for how a row reads.  The names leave out the prefix ``Op``.
"""

from __future__ import annotations

from coopmat.spirv.tables import vendor_instructions
from coopmat.spirv.tables.base import Row


class Op(Row):
    """Opcodes; ``signature`` lists the operands, ``requires`` the capabilities, extensions and versions."""

    # miscellaneous
    Nop = 0
    Undef = 1, "type result"

    # debug
    SourceContinued = 2, "LiteralString"
    Source = 3, "SourceLanguage LiteralInteger IdRef? LiteralString?"
    SourceExtension = 4, "LiteralString"
    Name = 5, "IdRef LiteralString"
    MemberName = 6, "IdRef LiteralInteger LiteralString"
    String = 7, "result LiteralString"
    Line = 8, "IdRef LiteralInteger LiteralInteger"

    # extension
    Extension = 10, "LiteralString"
    ExtInstImport = 11, "result LiteralString"
    ExtInst = 12, "type result IdRef LiteralExtInstInteger IdRef*"

    # mode-setting
    MemoryModel = 14, "AddressingModel MemoryModel"
    EntryPoint = 15, "ExecutionModel IdRef LiteralString IdRef*"
    ExecutionMode = 16, "IdRef ExecutionMode"
    Capability = 17, "Capability"

    # types
    TypeVoid = 19, "result"
    TypeBool = 20, "result"
    TypeInt = 21, "result LiteralInteger LiteralInteger"
    TypeFloat = 22, "result LiteralInteger FPEncoding?"
    TypeVector = 23, "result IdRef LiteralInteger"
    TypeMatrix = 24, "result IdRef LiteralInteger", "Matrix"
    TypeImage = (
        25,
        "result IdRef Dim LiteralInteger LiteralInteger LiteralInteger LiteralInteger ImageFormat "
        "AccessQualifier?",
    )
    TypeSampler = 26, "result"
    TypeSampledImage = 27, "result IdRef"
    TypeArray = 28, "result IdRef IdRef"
    TypeRuntimeArray = 29, "result IdRef", "Shader"
    TypeStruct = 30, "result IdRef*"
    TypeOpaque = 31, "result LiteralString", "Kernel"
    TypePointer = 32, "result StorageClass IdRef"
    TypeFunction = 33, "result IdRef IdRef*"
    TypeEvent = 34, "result", "Kernel"
    TypeDeviceEvent = 35, "result", "DeviceEnqueue"
    TypeReserveId = 36, "result", "Pipes"
    TypeQueue = 37, "result", "DeviceEnqueue"
    TypePipe = 38, "result AccessQualifier", "Pipes"
    TypeForwardPointer = 39, "IdRef StorageClass", "Addresses PhysicalStorageBufferAddresses"

    # constants
    ConstantTrue = 41, "type result"
    ConstantFalse = 42, "type result"
    Constant = 43, "type result LiteralContextDependentNumber"
    ConstantComposite = 44, "type result IdRef*"
    ConstantSampler = (45, "type result SamplerAddressingMode LiteralInteger SamplerFilterMode",
        "LiteralSampler")
    ConstantNull = 46, "type result"
    SpecConstantTrue = 48, "type result"
    SpecConstantFalse = 49, "type result"
    SpecConstant = 50, "type result LiteralContextDependentNumber"
    SpecConstantComposite = 51, "type result IdRef*"
    SpecConstantOp = 52, "type result LiteralSpecConstantOpInteger"

    # function
    Function = 54, "type result FunctionControl IdRef"
    FunctionParameter = 55, "type result"
    FunctionEnd = 56
    FunctionCall = 57, "type result IdRef IdRef*"

    # memory
    Variable = 59, "type result StorageClass IdRef?"
    ImageTexelPointer = 60, "type result IdRef IdRef IdRef"
    Load = 61, "type result IdRef MemoryAccess?"
    Store = 62, "IdRef IdRef MemoryAccess?"
    CopyMemory = 63, "IdRef IdRef MemoryAccess? MemoryAccess?"
    CopyMemorySized = 64, "IdRef IdRef IdRef MemoryAccess? MemoryAccess?", "Addresses UntypedPointersKHR"
    AccessChain = 65, "type result IdRef IdRef*"
    InBoundsAccessChain = 66, "type result IdRef IdRef*"
    PtrAccessChain = (67, "type result IdRef IdRef IdRef*",
        "Addresses VariablePointers VariablePointersStorageBuffer PhysicalStorageBufferAddresses")
    ArrayLength = 68, "type result IdRef LiteralInteger", "Shader"
    GenericPtrMemSemantics = 69, "type result IdRef", "Kernel"
    InBoundsPtrAccessChain = 70, "type result IdRef IdRef IdRef*", "Addresses"

    # annotation
    Decorate = 71, "IdRef Decoration"
    MemberDecorate = 72, "IdRef LiteralInteger Decoration"
    DecorationGroup = 73, "result"
    GroupDecorate = 74, "IdRef IdRef*"
    GroupMemberDecorate = 75, "IdRef PairIdRefLiteralInteger*"

    # composite
    VectorExtractDynamic = 77, "type result IdRef IdRef"
    VectorInsertDynamic = 78, "type result IdRef IdRef IdRef"
    VectorShuffle = 79, "type result IdRef IdRef LiteralInteger*"
    CompositeConstruct = 80, "type result IdRef*"
    CompositeExtract = 81, "type result IdRef LiteralInteger*"
    CompositeInsert = 82, "type result IdRef IdRef LiteralInteger*"
    CopyObject = 83, "type result IdRef"
    Transpose = 84, "type result IdRef", "Matrix"

    # image
    SampledImage = 86, "type result IdRef IdRef"
    ImageSampleImplicitLod = 87, "type result IdRef IdRef ImageOperands?", "Shader"
    ImageSampleExplicitLod = 88, "type result IdRef IdRef ImageOperands"
    ImageSampleDrefImplicitLod = 89, "type result IdRef IdRef IdRef ImageOperands?", "Shader"
    ImageSampleDrefExplicitLod = 90, "type result IdRef IdRef IdRef ImageOperands", "Shader"
    ImageSampleProjImplicitLod = 91, "type result IdRef IdRef ImageOperands?", "Shader"
    ImageSampleProjExplicitLod = 92, "type result IdRef IdRef ImageOperands", "Shader"
    ImageSampleProjDrefImplicitLod = 93, "type result IdRef IdRef IdRef ImageOperands?", "Shader"
    ImageSampleProjDrefExplicitLod = 94, "type result IdRef IdRef IdRef ImageOperands", "Shader"
    ImageFetch = 95, "type result IdRef IdRef ImageOperands?"
    ImageGather = 96, "type result IdRef IdRef IdRef ImageOperands?", "Shader"
    ImageDrefGather = 97, "type result IdRef IdRef IdRef ImageOperands?", "Shader"
    ImageRead = 98, "type result IdRef IdRef ImageOperands?"
    ImageWrite = 99, "IdRef IdRef IdRef ImageOperands?"
    Image = 100, "type result IdRef"
    ImageQueryFormat = 101, "type result IdRef", "Kernel"
    ImageQueryOrder = 102, "type result IdRef", "Kernel"
    ImageQuerySizeLod = 103, "type result IdRef IdRef", "Kernel ImageQuery"
    ImageQuerySize = 104, "type result IdRef", "Kernel ImageQuery"
    ImageQueryLod = 105, "type result IdRef IdRef", "ImageQuery"
    ImageQueryLevels = 106, "type result IdRef", "Kernel ImageQuery"
    ImageQuerySamples = 107, "type result IdRef", "Kernel ImageQuery"

    # conversion
    ConvertFToU = 109, "type result IdRef"
    ConvertFToS = 110, "type result IdRef"
    ConvertSToF = 111, "type result IdRef"
    ConvertUToF = 112, "type result IdRef"
    UConvert = 113, "type result IdRef"
    SConvert = 114, "type result IdRef"
    FConvert = 115, "type result IdRef"
    QuantizeToF16 = 116, "type result IdRef", "Shader"
    ConvertPtrToU = 117, "type result IdRef", "Addresses PhysicalStorageBufferAddresses"
    SatConvertSToU = 118, "type result IdRef", "Kernel"
    SatConvertUToS = 119, "type result IdRef", "Kernel"
    ConvertUToPtr = 120, "type result IdRef", "Addresses PhysicalStorageBufferAddresses"
    PtrCastToGeneric = 121, "type result IdRef", "Kernel"
    GenericCastToPtr = 122, "type result IdRef", "Kernel"
    GenericCastToPtrExplicit = 123, "type result IdRef StorageClass", "Kernel"
    Bitcast = 124, "type result IdRef"

    # arithmetic
    SNegate = 126, "type result IdRef"
    FNegate = 127, "type result IdRef"
    IAdd = 128, "type result IdRef IdRef"
    FAdd = 129, "type result IdRef IdRef"
    ISub = 130, "type result IdRef IdRef"
    FSub = 131, "type result IdRef IdRef"
    IMul = 132, "type result IdRef IdRef"
    FMul = 133, "type result IdRef IdRef"
    UDiv = 134, "type result IdRef IdRef"
    SDiv = 135, "type result IdRef IdRef"
    FDiv = 136, "type result IdRef IdRef"
    UMod = 137, "type result IdRef IdRef"
    SRem = 138, "type result IdRef IdRef"
    SMod = 139, "type result IdRef IdRef"
    FRem = 140, "type result IdRef IdRef"
    FMod = 141, "type result IdRef IdRef"
    VectorTimesScalar = 142, "type result IdRef IdRef"
    MatrixTimesScalar = 143, "type result IdRef IdRef", "Matrix"
    VectorTimesMatrix = 144, "type result IdRef IdRef", "Matrix"
    MatrixTimesVector = 145, "type result IdRef IdRef", "Matrix"
    MatrixTimesMatrix = 146, "type result IdRef IdRef", "Matrix"
    OuterProduct = 147, "type result IdRef IdRef", "Matrix"
    Dot = 148, "type result IdRef IdRef"
    IAddCarry = 149, "type result IdRef IdRef"
    ISubBorrow = 150, "type result IdRef IdRef"
    UMulExtended = 151, "type result IdRef IdRef"
    SMulExtended = 152, "type result IdRef IdRef"

    # relational and logical
    Any = 154, "type result IdRef"
    All = 155, "type result IdRef"
    IsNan = 156, "type result IdRef"
    IsInf = 157, "type result IdRef"
    IsFinite = 158, "type result IdRef", "Kernel"
    IsNormal = 159, "type result IdRef", "Kernel"
    SignBitSet = 160, "type result IdRef", "Kernel"
    LessOrGreater = 161, "type result IdRef IdRef", "Kernel <=1.5"
    Ordered = 162, "type result IdRef IdRef", "Kernel"
    Unordered = 163, "type result IdRef IdRef", "Kernel"
    LogicalEqual = 164, "type result IdRef IdRef"
    LogicalNotEqual = 165, "type result IdRef IdRef"
    LogicalOr = 166, "type result IdRef IdRef"
    LogicalAnd = 167, "type result IdRef IdRef"
    LogicalNot = 168, "type result IdRef"
    Select = 169, "type result IdRef IdRef IdRef"
    IEqual = 170, "type result IdRef IdRef"
    INotEqual = 171, "type result IdRef IdRef"
    UGreaterThan = 172, "type result IdRef IdRef"
    SGreaterThan = 173, "type result IdRef IdRef"
    UGreaterThanEqual = 174, "type result IdRef IdRef"
    SGreaterThanEqual = 175, "type result IdRef IdRef"
    ULessThan = 176, "type result IdRef IdRef"
    SLessThan = 177, "type result IdRef IdRef"
    ULessThanEqual = 178, "type result IdRef IdRef"
    SLessThanEqual = 179, "type result IdRef IdRef"
    FOrdEqual = 180, "type result IdRef IdRef"
    FUnordEqual = 181, "type result IdRef IdRef"
    FOrdNotEqual = 182, "type result IdRef IdRef"
    FUnordNotEqual = 183, "type result IdRef IdRef"
    FOrdLessThan = 184, "type result IdRef IdRef"
    FUnordLessThan = 185, "type result IdRef IdRef"
    FOrdGreaterThan = 186, "type result IdRef IdRef"
    FUnordGreaterThan = 187, "type result IdRef IdRef"
    FOrdLessThanEqual = 188, "type result IdRef IdRef"
    FUnordLessThanEqual = 189, "type result IdRef IdRef"
    FOrdGreaterThanEqual = 190, "type result IdRef IdRef"
    FUnordGreaterThanEqual = 191, "type result IdRef IdRef"

    # bit
    ShiftRightLogical = 194, "type result IdRef IdRef"
    ShiftRightArithmetic = 195, "type result IdRef IdRef"
    ShiftLeftLogical = 196, "type result IdRef IdRef"
    BitwiseOr = 197, "type result IdRef IdRef"
    BitwiseXor = 198, "type result IdRef IdRef"
    BitwiseAnd = 199, "type result IdRef IdRef"
    Not = 200, "type result IdRef"
    BitFieldInsert = 201, "type result IdRef IdRef IdRef IdRef", "Shader BitInstructions"
    BitFieldSExtract = 202, "type result IdRef IdRef IdRef", "Shader BitInstructions"
    BitFieldUExtract = 203, "type result IdRef IdRef IdRef", "Shader BitInstructions"
    BitReverse = 204, "type result IdRef", "Shader BitInstructions"
    BitCount = 205, "type result IdRef"

    # derivative
    DPdx = 207, "type result IdRef", "Shader"
    DPdy = 208, "type result IdRef", "Shader"
    Fwidth = 209, "type result IdRef", "Shader"
    DPdxFine = 210, "type result IdRef", "DerivativeControl"
    DPdyFine = 211, "type result IdRef", "DerivativeControl"
    FwidthFine = 212, "type result IdRef", "DerivativeControl"
    DPdxCoarse = 213, "type result IdRef", "DerivativeControl"
    DPdyCoarse = 214, "type result IdRef", "DerivativeControl"
    FwidthCoarse = 215, "type result IdRef", "DerivativeControl"

    # primitive
    EmitVertex = 218, "", "Geometry"
    EndPrimitive = 219, "", "Geometry"
    EmitStreamVertex = 220, "IdRef", "GeometryStreams"
    EndStreamPrimitive = 221, "IdRef", "GeometryStreams"

    # barrier
    ControlBarrier = 224, "IdScope IdScope IdMemorySemantics"
    MemoryBarrier = 225, "IdScope IdMemorySemantics"

    # atomic
    AtomicLoad = 227, "type result IdRef IdScope IdMemorySemantics"
    AtomicStore = 228, "IdRef IdScope IdMemorySemantics IdRef"
    AtomicExchange = 229, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicCompareExchange = 230, "type result IdRef IdScope IdMemorySemantics IdMemorySemantics IdRef IdRef"
    AtomicCompareExchangeWeak = (
        231,
        "type result IdRef IdScope IdMemorySemantics IdMemorySemantics IdRef IdRef",
        "Kernel <=1.3",
    )
    AtomicIIncrement = 232, "type result IdRef IdScope IdMemorySemantics"
    AtomicIDecrement = 233, "type result IdRef IdScope IdMemorySemantics"
    AtomicIAdd = 234, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicISub = 235, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicSMin = 236, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicUMin = 237, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicSMax = 238, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicUMax = 239, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicAnd = 240, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicOr = 241, "type result IdRef IdScope IdMemorySemantics IdRef"
    AtomicXor = 242, "type result IdRef IdScope IdMemorySemantics IdRef"

    # control-flow
    Phi = 245, "type result PairIdRefIdRef*"
    LoopMerge = 246, "IdRef IdRef LoopControl"
    SelectionMerge = 247, "IdRef SelectionControl"
    Label = 248, "result"
    Branch = 249, "IdRef"
    BranchConditional = 250, "IdRef IdRef IdRef LiteralInteger*"
    Switch = 251, "IdRef IdRef PairLiteralIntegerIdRef*"
    Kill = 252, "", "Shader"
    Return = 253
    ReturnValue = 254, "IdRef"
    Unreachable = 255
    LifetimeStart = 256, "IdRef LiteralInteger", "Kernel"
    LifetimeStop = 257, "IdRef LiteralInteger", "Kernel"

    # group
    GroupAsyncCopy = 259, "type result IdScope IdRef IdRef IdRef IdRef IdRef", "Kernel"
    GroupWaitEvents = 260, "IdScope IdRef IdRef", "Kernel"
    GroupAll = 261, "type result IdScope IdRef", "Groups"
    GroupAny = 262, "type result IdScope IdRef", "Groups"
    GroupBroadcast = 263, "type result IdScope IdRef IdRef", "Groups"
    GroupIAdd = 264, "type result IdScope GroupOperation IdRef", "Groups"
    GroupFAdd = 265, "type result IdScope GroupOperation IdRef", "Groups"
    GroupFMin = 266, "type result IdScope GroupOperation IdRef", "Groups"
    GroupUMin = 267, "type result IdScope GroupOperation IdRef", "Groups"
    GroupSMin = 268, "type result IdScope GroupOperation IdRef", "Groups"
    GroupFMax = 269, "type result IdScope GroupOperation IdRef", "Groups"
    GroupUMax = 270, "type result IdScope GroupOperation IdRef", "Groups"
    GroupSMax = 271, "type result IdScope GroupOperation IdRef", "Groups"

    # pipe
    ReadPipe = 274, "type result IdRef IdRef IdRef IdRef", "Pipes"
    WritePipe = 275, "type result IdRef IdRef IdRef IdRef", "Pipes"
    ReservedReadPipe = 276, "type result IdRef IdRef IdRef IdRef IdRef IdRef", "Pipes"
    ReservedWritePipe = 277, "type result IdRef IdRef IdRef IdRef IdRef IdRef", "Pipes"
    ReserveReadPipePackets = 278, "type result IdRef IdRef IdRef IdRef", "Pipes"
    ReserveWritePipePackets = 279, "type result IdRef IdRef IdRef IdRef", "Pipes"
    CommitReadPipe = 280, "IdRef IdRef IdRef IdRef", "Pipes"
    CommitWritePipe = 281, "IdRef IdRef IdRef IdRef", "Pipes"
    IsValidReserveId = 282, "type result IdRef", "Pipes"
    GetNumPipePackets = 283, "type result IdRef IdRef IdRef", "Pipes"
    GetMaxPipePackets = 284, "type result IdRef IdRef IdRef", "Pipes"
    GroupReserveReadPipePackets = 285, "type result IdScope IdRef IdRef IdRef IdRef", "Pipes"
    GroupReserveWritePipePackets = 286, "type result IdScope IdRef IdRef IdRef IdRef", "Pipes"
    GroupCommitReadPipe = 287, "IdScope IdRef IdRef IdRef IdRef", "Pipes"
    GroupCommitWritePipe = 288, "IdScope IdRef IdRef IdRef IdRef", "Pipes"

    # device-side enqueue
    EnqueueMarker = 291, "type result IdRef IdRef IdRef IdRef", "DeviceEnqueue"
    EnqueueKernel = (292, "type result IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef*",
        "DeviceEnqueue")
    GetKernelNDrangeSubGroupCount = 293, "type result IdRef IdRef IdRef IdRef IdRef", "DeviceEnqueue"
    GetKernelNDrangeMaxSubGroupSize = 294, "type result IdRef IdRef IdRef IdRef IdRef", "DeviceEnqueue"
    GetKernelWorkGroupSize = 295, "type result IdRef IdRef IdRef IdRef", "DeviceEnqueue"
    GetKernelPreferredWorkGroupSizeMultiple = 296, "type result IdRef IdRef IdRef IdRef", "DeviceEnqueue"
    RetainEvent = 297, "IdRef", "DeviceEnqueue"
    ReleaseEvent = 298, "IdRef", "DeviceEnqueue"
    CreateUserEvent = 299, "type result", "DeviceEnqueue"
    IsValidEvent = 300, "type result IdRef", "DeviceEnqueue"
    SetUserEventStatus = 301, "IdRef IdRef", "DeviceEnqueue"
    CaptureEventProfilingInfo = 302, "IdRef IdRef IdRef", "DeviceEnqueue"
    GetDefaultQueue = 303, "type result", "DeviceEnqueue"
    BuildNDRange = 304, "type result IdRef IdRef IdRef", "DeviceEnqueue"

    # core, numbered after the sections above
    ImageSparseSampleImplicitLod = 305, "type result IdRef IdRef ImageOperands?", "SparseResidency"
    ImageSparseSampleExplicitLod = 306, "type result IdRef IdRef ImageOperands", "SparseResidency"
    ImageSparseSampleDrefImplicitLod = 307, "type result IdRef IdRef IdRef ImageOperands?", "SparseResidency"
    ImageSparseSampleDrefExplicitLod = 308, "type result IdRef IdRef IdRef ImageOperands", "SparseResidency"
    ImageSparseSampleProjImplicitLod = 309, "type result IdRef IdRef ImageOperands?", "SparseResidency ext"
    ImageSparseSampleProjExplicitLod = 310, "type result IdRef IdRef ImageOperands", "SparseResidency ext"
    ImageSparseSampleProjDrefImplicitLod = (311, "type result IdRef IdRef IdRef ImageOperands?",
        "SparseResidency ext")
    ImageSparseSampleProjDrefExplicitLod = (312, "type result IdRef IdRef IdRef ImageOperands",
        "SparseResidency ext")
    ImageSparseFetch = 313, "type result IdRef IdRef ImageOperands?", "SparseResidency"
    ImageSparseGather = 314, "type result IdRef IdRef IdRef ImageOperands?", "SparseResidency"
    ImageSparseDrefGather = 315, "type result IdRef IdRef IdRef ImageOperands?", "SparseResidency"
    ImageSparseTexelsResident = 316, "type result IdRef", "SparseResidency"
    NoLine = 317
    AtomicFlagTestAndSet = 318, "type result IdRef IdScope IdMemorySemantics", "Kernel"
    AtomicFlagClear = 319, "IdRef IdScope IdMemorySemantics", "Kernel"
    ImageSparseRead = 320, "type result IdRef IdRef ImageOperands?", "SparseResidency"
    SizeOf = 321, "type result IdRef", "Addresses 1.1"
    TypePipeStorage = 322, "result", "PipeStorage 1.1"
    ConstantPipeStorage = 323, "type result LiteralInteger LiteralInteger LiteralInteger", "PipeStorage 1.1"
    CreatePipeFromPipeStorage = 324, "type result IdRef", "PipeStorage 1.1"
    GetKernelLocalSizeForSubgroupCount = (325, "type result IdRef IdRef IdRef IdRef IdRef",
        "SubgroupDispatch 1.1")
    GetKernelMaxNumSubgroups = 326, "type result IdRef IdRef IdRef IdRef", "SubgroupDispatch 1.1"
    TypeNamedBarrier = 327, "result", "NamedBarrier 1.1"
    NamedBarrierInitialize = 328, "type result IdRef", "NamedBarrier 1.1"
    MemoryNamedBarrier = 329, "IdRef IdScope IdMemorySemantics", "NamedBarrier 1.1"
    ModuleProcessed = 330, "LiteralString", "1.1"
    ExecutionModeId = 331, "IdRef ExecutionMode", "1.2"
    DecorateId = 332, "IdRef Decoration", "SPV_GOOGLE_hlsl_functionality1 1.2"
    GroupNonUniformElect = 333, "type result IdScope", "GroupNonUniform 1.3"
    GroupNonUniformAll = 334, "type result IdScope IdRef", "GroupNonUniformVote 1.3"
    GroupNonUniformAny = 335, "type result IdScope IdRef", "GroupNonUniformVote 1.3"
    GroupNonUniformAllEqual = 336, "type result IdScope IdRef", "GroupNonUniformVote 1.3"
    GroupNonUniformBroadcast = 337, "type result IdScope IdRef IdRef", "GroupNonUniformBallot 1.3"
    GroupNonUniformBroadcastFirst = 338, "type result IdScope IdRef", "GroupNonUniformBallot 1.3"
    GroupNonUniformBallot = 339, "type result IdScope IdRef", "GroupNonUniformBallot 1.3"
    GroupNonUniformInverseBallot = 340, "type result IdScope IdRef", "GroupNonUniformBallot 1.3"
    GroupNonUniformBallotBitExtract = 341, "type result IdScope IdRef IdRef", "GroupNonUniformBallot 1.3"
    GroupNonUniformBallotBitCount = (342, "type result IdScope GroupOperation IdRef",
        "GroupNonUniformBallot 1.3")
    GroupNonUniformBallotFindLSB = 343, "type result IdScope IdRef", "GroupNonUniformBallot 1.3"
    GroupNonUniformBallotFindMSB = 344, "type result IdScope IdRef", "GroupNonUniformBallot 1.3"
    GroupNonUniformShuffle = 345, "type result IdScope IdRef IdRef", "GroupNonUniformShuffle 1.3"
    GroupNonUniformShuffleXor = 346, "type result IdScope IdRef IdRef", "GroupNonUniformShuffle 1.3"
    GroupNonUniformShuffleUp = 347, "type result IdScope IdRef IdRef", "GroupNonUniformShuffleRelative 1.3"
    GroupNonUniformShuffleDown = 348, "type result IdScope IdRef IdRef", "GroupNonUniformShuffleRelative 1.3"
    GroupNonUniformIAdd = (349, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformFAdd = (350, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformIMul = (351, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformFMul = (352, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformSMin = (353, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformUMin = (354, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformFMin = (355, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformSMax = (356, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformUMax = (357, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformFMax = (358, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformBitwiseAnd = (359, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformBitwiseOr = (360, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformBitwiseXor = (361, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformLogicalAnd = (362, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformLogicalOr = (363, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformLogicalXor = (364, "type result IdScope GroupOperation IdRef IdRef?",
        "GroupNonUniformArithmetic GroupNonUniformClustered GroupNonUniformPartitionedEXT 1.3")
    GroupNonUniformQuadBroadcast = 365, "type result IdScope IdRef IdRef", "GroupNonUniformQuad 1.3"
    GroupNonUniformQuadSwap = 366, "type result IdScope IdRef IdRef", "GroupNonUniformQuad 1.3"
    CopyLogical = 400, "type result IdRef", "1.4"
    PtrEqual = 401, "type result IdRef IdRef", "1.4"
    PtrNotEqual = 402, "type result IdRef IdRef", "1.4"
    PtrDiff = 403, "type result IdRef IdRef", "Addresses VariablePointers VariablePointersStorageBuffer 1.4"
    ColorAttachmentReadEXT = 4160, "type result IdRef IdRef?", "TileImageColorReadAccessEXT ext"
    DepthAttachmentReadEXT = 4161, "type result IdRef?", "TileImageDepthReadAccessEXT ext"
    StencilAttachmentReadEXT = 4162, "type result IdRef?", "TileImageStencilReadAccessEXT ext"
    BitcastExtractEXT = 4195, "type result IdRef IdRef", "BitcastExtractEXT ext"

    # extensions
    TerminateInvocation = 4416, "", "Shader SPV_KHR_terminate_invocation 1.6"
    TypeUntypedPointerKHR = 4417, "result StorageClass", "UntypedPointersKHR ext"
    UntypedVariableKHR = 4418, "type result StorageClass IdRef? IdRef?", "UntypedPointersKHR ext"
    UntypedAccessChainKHR = 4419, "type result IdRef IdRef IdRef*", "UntypedPointersKHR ext"
    UntypedInBoundsAccessChainKHR = 4420, "type result IdRef IdRef IdRef*", "UntypedPointersKHR ext"
    SubgroupBallotKHR = 4421, "type result IdRef", "SubgroupBallotKHR SPV_KHR_shader_ballot ext"
    SubgroupFirstInvocationKHR = 4422, "type result IdRef", "SubgroupBallotKHR SPV_KHR_shader_ballot ext"
    UntypedPtrAccessChainKHR = 4423, "type result IdRef IdRef IdRef IdRef*", "UntypedPointersKHR ext"
    UntypedInBoundsPtrAccessChainKHR = 4424, "type result IdRef IdRef IdRef IdRef*", "UntypedPointersKHR ext"
    UntypedArrayLengthKHR = 4425, "type result IdRef IdRef LiteralInteger", "UntypedPointersKHR ext"
    UntypedPrefetchKHR = 4426, "IdRef IdRef IdRef? IdRef? IdRef?", "UntypedPointersKHR ext"
    FmaKHR = 4427, "type result IdRef IdRef IdRef", "FMAKHR ext"
    SubgroupAllKHR = 4428, "type result IdRef", "SubgroupVoteKHR SPV_KHR_subgroup_vote ext"
    SubgroupAnyKHR = 4429, "type result IdRef", "SubgroupVoteKHR SPV_KHR_subgroup_vote ext"
    SubgroupAllEqualKHR = 4430, "type result IdRef", "SubgroupVoteKHR SPV_KHR_subgroup_vote ext"
    GroupNonUniformRotateKHR = 4431, "type result IdScope IdRef IdRef IdRef?", "GroupNonUniformRotateKHR ext"
    SubgroupReadInvocationKHR = 4432, "type result IdRef IdRef", "SubgroupBallotKHR SPV_KHR_shader_ballot ext"
    ExtInstWithForwardRefsKHR = (4433, "type result IdRef LiteralExtInstInteger IdRef*",
        "SPV_KHR_relaxed_extended_instruction ext")
    UntypedGroupAsyncCopyKHR = (
        4434,
        "type result IdRef IdRef IdRef IdRef IdRef IdRef IdRef MemoryAccess? MemoryAccess?",
        "UntypedPointersKHR ext",
    )
    SDot = 4450, "type result IdRef IdRef PackedVectorFormat?", "DotProduct SPV_KHR_integer_dot_product 1.6"
    SDotKHR = SDot
    UDot = 4451, "type result IdRef IdRef PackedVectorFormat?", "DotProduct SPV_KHR_integer_dot_product 1.6"
    UDotKHR = UDot
    SUDot = 4452, "type result IdRef IdRef PackedVectorFormat?", "DotProduct SPV_KHR_integer_dot_product 1.6"
    SUDotKHR = SUDot
    SDotAccSat = (4453, "type result IdRef IdRef IdRef PackedVectorFormat?",
        "DotProduct SPV_KHR_integer_dot_product 1.6")
    SDotAccSatKHR = SDotAccSat
    UDotAccSat = (4454, "type result IdRef IdRef IdRef PackedVectorFormat?",
        "DotProduct SPV_KHR_integer_dot_product 1.6")
    UDotAccSatKHR = UDotAccSat
    SUDotAccSat = (4455, "type result IdRef IdRef IdRef PackedVectorFormat?",
        "DotProduct SPV_KHR_integer_dot_product 1.6")
    SUDotAccSatKHR = SUDotAccSat
    TypeCooperativeMatrixKHR = 4456, "result IdRef IdScope IdRef IdRef IdRef", "CooperativeMatrixKHR ext"
    CooperativeMatrixLoadKHR = (4457, "type result IdRef IdRef IdRef? MemoryAccess?",
        "CooperativeMatrixKHR ext")
    CooperativeMatrixStoreKHR = 4458, "IdRef IdRef IdRef IdRef? MemoryAccess?", "CooperativeMatrixKHR ext"
    CooperativeMatrixMulAddKHR = (4459, "type result IdRef IdRef IdRef CooperativeMatrixOperands?",
        "CooperativeMatrixKHR ext")
    CooperativeMatrixLengthKHR = 4460, "type result IdRef", "CooperativeMatrixKHR ext"
    ConstantCompositeReplicateEXT = 4461, "type result IdRef", "ReplicatedCompositesEXT ext"
    SpecConstantCompositeReplicateEXT = 4462, "type result IdRef", "ReplicatedCompositesEXT ext"
    CompositeConstructReplicateEXT = 4463, "type result IdRef", "ReplicatedCompositesEXT ext"
    ReadClockKHR = 5056, "type result IdScope", "ShaderClockKHR ext"
    GroupNonUniformQuadAllKHR = 5110, "type result IdRef", "QuadControlKHR ext"
    GroupNonUniformQuadAnyKHR = 5111, "type result IdRef", "QuadControlKHR ext"
    TypeBufferEXT = 5115, "result StorageClass", "DescriptorHeapEXT ext"
    BufferPointerEXT = 5119, "type result IdRef", "DescriptorHeapEXT ext"
    AbortKHR = 5121, "IdRef IdRef", "AbortKHR ext"
    UntypedImageTexelPointerEXT = 5126, "type result IdRef IdRef IdRef IdRef", "DescriptorHeapEXT ext"
    MemberDecorateIdEXT = 5127, "IdRef LiteralInteger Decoration", "DescriptorHeapEXT ext"
    ConstantSizeOfEXT = 5129, "type result IdRef", "DescriptorHeapEXT ext"
    ConstantDataKHR = 5147, "type result LiteralInteger*", "ConstantDataKHR ext"
    SpecConstantDataKHR = 5148, "type result LiteralInteger*", "ConstantDataKHR ext"
    PoisonKHR = 5158, "type result", "PoisonFreezeKHR ext"
    FreezeKHR = 5159, "type result IdRef", "PoisonFreezeKHR ext"
    TypeVectorIdEXT = 5288, "result IdRef IdRef", "CooperativeVectorNV LongVectorEXT ext"
    TypeCooperativeVectorNV = TypeVectorIdEXT
    CooperativeMatrixConvertUseEXT = (5293, "type result IdRef",
        "CooperativeMatrixConversionsEXT CooperativeMatrixConversionsNV ext")
    CooperativeMatrixConvertNV = CooperativeMatrixConvertUseEXT
    GroupNonUniformPartitionEXT = 5296, "type result IdRef", "GroupNonUniformPartitionedEXT ext"
    GroupNonUniformPartitionNV = GroupNonUniformPartitionEXT
    TypeCooperativeMatrixNV = (5358, "result IdRef IdScope IdRef IdRef",
        "CooperativeMatrixNV SPV_NV_cooperative_matrix ext")
    CooperativeMatrixLoadNV = (5359, "type result IdRef IdRef IdRef MemoryAccess?",
        "CooperativeMatrixNV SPV_NV_cooperative_matrix ext")
    CooperativeMatrixStoreNV = (5360, "IdRef IdRef IdRef IdRef MemoryAccess?",
        "CooperativeMatrixNV SPV_NV_cooperative_matrix ext")
    CooperativeMatrixMulAddNV = (5361, "type result IdRef IdRef IdRef",
        "CooperativeMatrixNV SPV_NV_cooperative_matrix ext")
    CooperativeMatrixLengthNV = 5362, "type result IdRef", "CooperativeMatrixNV SPV_NV_cooperative_matrix ext"
    CooperativeMatrixGetCoordinateEXT = (5363, "type result IdRef IdRef",
        "CooperativeMatrixGetCoordinateEXT ext")
    BeginInvocationInterlockEXT = (5364, "",
        "FragmentShaderSampleInterlockEXT FragmentShaderPixelInterlockEXT "
        "FragmentShaderShadingRateInterlockEXT SPV_EXT_fragment_shader_interlock ext")
    EndInvocationInterlockEXT = (5365, "",
        "FragmentShaderSampleInterlockEXT FragmentShaderPixelInterlockEXT "
        "FragmentShaderShadingRateInterlockEXT SPV_EXT_fragment_shader_interlock ext")
    CooperativeMatrixReduceEXT = (5366, "type result IdRef CooperativeMatrixReduce IdRef",
        "CooperativeMatrixReductionsEXT ext")
    CooperativeMatrixReduceNV = CooperativeMatrixReduceEXT
    CooperativeMatrixLoadTensorNV = (
        5367,
        "type result IdRef IdRef IdRef MemoryAccess TensorAddressingOperands",
        "CooperativeMatrixTensorAddressingNV ext",
    )
    CooperativeMatrixStoreTensorNV = (5368, "IdRef IdRef IdRef MemoryAccess TensorAddressingOperands",
        "CooperativeMatrixTensorAddressingNV ext")
    CooperativeMatrixPerElementOpEXT = (5369, "type result IdRef IdRef IdRef*",
        "CooperativeMatrixPerElementOperationsEXT ext")
    CooperativeMatrixPerElementOpNV = CooperativeMatrixPerElementOpEXT
    TypeTensorLayoutNV = 5370, "result IdRef IdRef", "TensorAddressingNV ext"
    TypeTensorViewNV = 5371, "result IdRef IdRef IdRef*", "TensorAddressingNV ext"
    CreateTensorLayoutNV = 5372, "type result", "TensorAddressingNV ext"
    TensorLayoutSetDimensionNV = 5373, "type result IdRef IdRef*", "TensorAddressingNV ext"
    TensorLayoutSetStrideNV = 5374, "type result IdRef IdRef*", "TensorAddressingNV ext"
    TensorLayoutSliceNV = 5375, "type result IdRef IdRef*", "TensorAddressingNV ext"
    TensorLayoutSetClampValueNV = 5376, "type result IdRef IdRef", "TensorAddressingNV ext"
    CreateTensorViewNV = 5377, "type result", "TensorAddressingNV ext"
    TensorViewSetDimensionNV = 5378, "type result IdRef IdRef*", "TensorAddressingNV ext"
    TensorViewSetStrideNV = 5379, "type result IdRef IdRef*", "TensorAddressingNV ext"
    DemoteToHelperInvocation = 5380, "", "DemoteToHelperInvocation 1.6"
    DemoteToHelperInvocationEXT = DemoteToHelperInvocation
    IsHelperInvocationEXT = (5381, "type result",
        "DemoteToHelperInvocation SPV_EXT_demote_to_helper_invocation ext")
    TensorViewSetClipNV = 5382, "type result IdRef IdRef IdRef IdRef IdRef", "TensorAddressingNV ext"
    TensorLayoutSetBlockSizeNV = 5384, "type result IdRef IdRef*", "TensorAddressingNV ext"
    CooperativeMatrixTransposeNV = 5390, "type result IdRef", "CooperativeMatrixConversionsNV ext"
    SubgroupShuffleINTEL = 5571, "type result IdRef IdRef", "SubgroupShuffleINTEL ext"
    SubgroupShuffleDownINTEL = 5572, "type result IdRef IdRef IdRef", "SubgroupShuffleINTEL ext"
    SubgroupShuffleUpINTEL = 5573, "type result IdRef IdRef IdRef", "SubgroupShuffleINTEL ext"
    SubgroupShuffleXorINTEL = 5574, "type result IdRef IdRef", "SubgroupShuffleINTEL ext"
    SubgroupBlockReadINTEL = 5575, "type result IdRef", "SubgroupBufferBlockIOINTEL ext"
    SubgroupBlockWriteINTEL = 5576, "IdRef IdRef", "SubgroupBufferBlockIOINTEL ext"
    SubgroupImageBlockReadINTEL = 5577, "type result IdRef IdRef", "SubgroupImageBlockIOINTEL ext"
    SubgroupImageBlockWriteINTEL = 5578, "IdRef IdRef IdRef", "SubgroupImageBlockIOINTEL ext"
    UCountLeadingZerosINTEL = 5585, "type result IdRef", "IntegerFunctions2INTEL ext"
    UCountTrailingZerosINTEL = 5586, "type result IdRef", "IntegerFunctions2INTEL ext"
    AbsISubINTEL = 5587, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    AbsUSubINTEL = 5588, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    IAddSatINTEL = 5589, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    UAddSatINTEL = 5590, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    IAverageINTEL = 5591, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    UAverageINTEL = 5592, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    IAverageRoundedINTEL = 5593, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    UAverageRoundedINTEL = 5594, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    ISubSatINTEL = 5595, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    USubSatINTEL = 5596, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    IMul32x16INTEL = 5597, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    UMul32x16INTEL = 5598, "type result IdRef IdRef", "IntegerFunctions2INTEL ext"
    ConstantFunctionPointerINTEL = (5600, "type result IdRef",
        "FunctionPointersINTEL SPV_INTEL_function_pointers ext")
    FunctionPointerCallINTEL = (5601, "type result IdRef*",
        "FunctionPointersINTEL SPV_INTEL_function_pointers ext")
    AsmTargetINTEL = 5609, "result LiteralString", "AsmINTEL ext"
    AsmINTEL = 5610, "type result IdRef IdRef LiteralString LiteralString", "AsmINTEL ext"
    AsmCallINTEL = 5611, "type result IdRef IdRef*", "AsmINTEL ext"
    AtomicFMinEXT = (5614, "type result IdRef IdScope IdMemorySemantics IdRef",
        "AtomicFloat16MinMaxEXT AtomicFloat32MinMaxEXT AtomicFloat64MinMaxEXT AtomicFloat16VectorNV ext")
    AtomicFMaxEXT = (5615, "type result IdRef IdScope IdMemorySemantics IdRef",
        "AtomicFloat16MinMaxEXT AtomicFloat32MinMaxEXT AtomicFloat64MinMaxEXT AtomicFloat16VectorNV ext")
    AssumeTrueKHR = 5630, "IdRef", "ExpectAssumeKHR SPV_KHR_expect_assume ext"
    ExpectKHR = 5631, "type result IdRef IdRef", "ExpectAssumeKHR SPV_KHR_expect_assume ext"
    DecorateString = 5632, "IdRef Decoration", "SPV_GOOGLE_decorate_string SPV_GOOGLE_hlsl_functionality1 1.4"
    DecorateStringGOOGLE = DecorateString
    MemberDecorateString = (5633, "IdRef LiteralInteger Decoration",
        "SPV_GOOGLE_decorate_string SPV_GOOGLE_hlsl_functionality1 1.4")
    MemberDecorateStringGOOGLE = MemberDecorateString
    VariableLengthArrayINTEL = 5818, "type result IdRef", "VariableLengthArrayINTEL ext"
    SaveMemoryINTEL = 5819, "type result", "VariableLengthArrayINTEL ext"
    RestoreMemoryINTEL = 5820, "IdRef", "VariableLengthArrayINTEL ext"
    LoopControlINTEL = (5887, "LiteralInteger*",
        "UnstructuredLoopControlsINTEL SPV_INTEL_unstructured_loop_controls ext")
    AliasDomainDeclINTEL = (5911, "result IdRef?",
        "MemoryAccessAliasingINTEL SPV_INTEL_memory_access_aliasing ext")
    AliasScopeDeclINTEL = (5912, "result IdRef IdRef?",
        "MemoryAccessAliasingINTEL SPV_INTEL_memory_access_aliasing ext")
    AliasScopeListDeclINTEL = (5913, "result IdRef*",
        "MemoryAccessAliasingINTEL SPV_INTEL_memory_access_aliasing ext")
    AtomicFAddEXT = (6035, "type result IdRef IdScope IdMemorySemantics IdRef",
        "AtomicFloat16AddEXT AtomicFloat32AddEXT AtomicFloat64AddEXT AtomicFloat16VectorNV "
        "SPV_EXT_shader_atomic_float_add ext")
    TypeBufferSurfaceINTEL = 6086, "result AccessQualifier", "VectorComputeINTEL ext"
    TypeStructContinuedINTEL = 6090, "IdRef*", "LongCompositesINTEL ext"
    ConstantCompositeContinuedINTEL = 6091, "IdRef*", "LongCompositesINTEL ext"
    SpecConstantCompositeContinuedINTEL = 6092, "IdRef*", "LongCompositesINTEL ext"
    CompositeConstructContinuedINTEL = 6096, "IdRef*", "LongCompositesINTEL ext"
    ConvertFToBF16INTEL = 6116, "type result IdRef", "BFloat16ConversionINTEL ext"
    ConvertBF16ToFINTEL = 6117, "type result IdRef", "BFloat16ConversionINTEL ext"
    ControlBarrierArriveEXT = 6142, "IdScope IdScope IdMemorySemantics", "SplitBarrierEXT ext"
    ControlBarrierArriveINTEL = ControlBarrierArriveEXT
    ControlBarrierWaitEXT = 6143, "IdScope IdScope IdMemorySemantics", "SplitBarrierEXT ext"
    ControlBarrierWaitINTEL = ControlBarrierWaitEXT
    ArithmeticFenceEXT = 6145, "type result IdRef", "ArithmeticFenceEXT ext"
    CooperativeMatrixLoadCheckedINTEL = (
        6193,
        "type result IdRef IdRef IdRef IdRef IdRef IdRef IdRef? MemoryAccess?",
        "CooperativeMatrixCheckedInstructionsINTEL ext",
    )
    CooperativeMatrixStoreCheckedINTEL = (
        6194,
        "IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef? MemoryAccess?",
        "CooperativeMatrixCheckedInstructionsINTEL ext",
    )
    CooperativeMatrixConstructCheckedINTEL = (6195, "type result IdRef IdRef IdRef IdRef IdRef",
        "CooperativeMatrixCheckedInstructionsINTEL ext")
    SubgroupBlockPrefetchINTEL = 6221, "IdRef IdRef MemoryAccess?", "SubgroupBufferPrefetchINTEL ext"
    Subgroup2DBlockLoadINTEL = (6231, "IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef",
        "Subgroup2DBlockIOINTEL ext")
    Subgroup2DBlockLoadTransformINTEL = (6232, "IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef",
        "Subgroup2DBlockTransformINTEL ext")
    Subgroup2DBlockLoadTransposeINTEL = (6233, "IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef",
        "Subgroup2DBlockTransposeINTEL ext")
    Subgroup2DBlockPrefetchINTEL = (6234, "IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef",
        "Subgroup2DBlockIOINTEL ext")
    Subgroup2DBlockStoreINTEL = (6235, "IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef IdRef",
        "Subgroup2DBlockIOINTEL ext")
    SubgroupMatrixMultiplyAccumulateINTEL = (
        6237,
        "type result IdRef IdRef IdRef IdRef MatrixMultiplyAccumulateOperands?",
        "SubgroupMatrixMultiplyAccumulateINTEL ext",
    )
    BitwiseFunctionINTEL = 6242, "type result IdRef IdRef IdRef IdRef", "TernaryBitwiseFunctionINTEL ext"
    UntypedVariableLengthArrayINTEL = 6244, "type result IdRef IdRef", "UntypedVariableLengthArrayINTEL ext"
    ConditionalExtensionINTEL = 6248, "IdRef LiteralString", "SpecConditionalINTEL ext"
    ConditionalEntryPointINTEL = (6249, "IdRef ExecutionModel IdRef LiteralString IdRef*",
        "SpecConditionalINTEL ext")
    ConditionalCapabilityINTEL = 6250, "IdRef Capability", "SpecConditionalINTEL ext"
    SpecConstantTargetINTEL = 6251, "type result LiteralInteger LiteralInteger*", "FunctionVariantsINTEL ext"
    SpecConstantArchitectureINTEL = (
        6252,
        "type result LiteralInteger LiteralInteger LiteralInteger LiteralInteger",
        "FunctionVariantsINTEL ext",
    )
    SpecConstantCapabilitiesINTEL = 6253, "type result Capability*", "FunctionVariantsINTEL ext"
    ConditionalCopyObjectINTEL = 6254, "type result IdRef*", "SpecConditionalINTEL ext"
    PredicatedLoadINTEL = 6258, "type result IdRef IdRef IdRef MemoryAccess?", "PredicatedIOINTEL ext"
    PredicatedStoreINTEL = 6259, "IdRef IdRef IdRef MemoryAccess?", "PredicatedIOINTEL ext"
    GroupIMulKHR = 6401, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    GroupFMulKHR = 6402, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    GroupBitwiseAndKHR = 6403, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    GroupBitwiseOrKHR = 6404, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    GroupBitwiseXorKHR = 6405, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    GroupLogicalAndKHR = 6406, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    GroupLogicalOrKHR = 6407, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    GroupLogicalXorKHR = 6408, "type result IdScope GroupOperation IdRef", "GroupUniformArithmeticKHR ext"
    RoundFToTF32INTEL = 6426, "type result IdRef", "TensorFloat32RoundingINTEL ext"
    MaskedGatherINTEL = 6428, "type result IdRef LiteralInteger IdRef IdRef", "MaskedGatherScatterINTEL ext"
    MaskedScatterINTEL = 6429, "IdRef IdRef LiteralInteger IdRef", "MaskedGatherScatterINTEL ext"
    CooperativeMatrixGetElementCoordINTEL = (6440, "type result IdRef IdRef",
        "CooperativeMatrixInvocationInstructionsINTEL ext")
    CooperativeMatrixApplyFunctionINTEL = (6448, "type result IdRef IdRef",
        "CooperativeMatrixInvocationInstructionsINTEL ext")
    CooperativeMatrixPrefetchINTEL = (6449, "IdRef IdRef IdRef IdRef IdRef LiteralInteger IdRef IdRef?",
        "CooperativeMatrixPrefetchINTEL ext")
    ConvertHandleToImageINTEL = 6529, "type result IdRef", "BindlessImagesINTEL ext"
    ConvertHandleToSamplerINTEL = 6530, "type result IdRef", "BindlessImagesINTEL ext"
    ConvertHandleToSampledImageINTEL = 6531, "type result IdRef", "BindlessImagesINTEL ext"

    # other families, of which rules know something
    TypeTensorARM = 4163, "result IdRef IdRef? IdRef?", "TensorsARM ext"
    IgnoreIntersectionKHR = 4448, "", "RayTracingKHR SPV_KHR_ray_tracing ext"
    TerminateRayKHR = 4449, "", "RayTracingKHR SPV_KHR_ray_tracing ext"
    EmitMeshTasksEXT = 5294, "IdRef IdRef IdRef IdRef?", "MeshShadingEXT ext"
    SamplerImageAddressingModeNV = 5397, "LiteralInteger", "BindlessTextureNV ext"
    FDot2MixAcc32VALVE = (6916, "type result IdRef IdRef IdRef",
        "DotProductFloat16AccFloat32VALVE DotProductBFloat16AccVALVE ext")
    FDot2MixAcc16VALVE = (6917, "type result IdRef IdRef IdRef",
        "DotProductFloat16AccFloat16VALVE DotProductBFloat16AccVALVE ext")
    FDot4MixAcc32VALVE = 6918, "type result IdRef IdRef IdRef", "DotProductFloat8AccFloat32VALVE ext"
    TypeNodePayloadArrayAMDX = 5076, "result IdRef", "ShaderEnqueueAMDX ext"
    TypeGraphARM = 4190, "result LiteralInteger IdRef*", "GraphARM ext"

    vars().update(vendor_instructions.INSTRUCTIONS)
