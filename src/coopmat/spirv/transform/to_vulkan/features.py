"""Which Vulkan feature a capability of a shader needs (Vulkan, appendix A.6 'SPIR-V capabilities')."""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.spirv.grammar import Capability as C
from coopmat.spirv.grammar import ExecutionMode

ALWAYS = frozenset({"bufferDeviceAddress", "vulkanMemoryModel", "maintenance4", "shaderInt64"})
"""Features that every translated kernel needs: addresses are 64-bit integers, LocalSizeId is a specialisation
constant."""

BY_CAPABILITY: dict[C, str] = {
    C.Int8: "shaderInt8",
    C.Int16: "shaderInt16",
    C.Int64: "shaderInt64",
    C.Float16: "shaderFloat16",
    C.Float64: "shaderFloat64",
    C.StorageBuffer8BitAccess: "storageBuffer8BitAccess",
    C.StorageBuffer16BitAccess: "storageBuffer16BitAccess",
    C.StoragePushConstant8: "storagePushConstant8",
    C.StoragePushConstant16: "storagePushConstant16",
    C.PhysicalStorageBufferAddresses: "bufferDeviceAddress",
    C.VulkanMemoryModel: "vulkanMemoryModel",
    C.VulkanMemoryModelDeviceScope: "vulkanMemoryModelDeviceScope",
    C.DotProduct: "shaderIntegerDotProduct",
    C.DotProductInputAll: "shaderIntegerDotProduct",
    C.DotProductInput4x8Bit: "shaderIntegerDotProduct",
    C.DotProductInput4x8BitPacked: "shaderIntegerDotProduct",
    C.CooperativeMatrixKHR: "cooperativeMatrix",
    C.CooperativeMatrixTensorAddressingNV: "cooperativeMatrixTensorAddressing",
    C.TensorAddressingNV: "cooperativeMatrixTensorAddressing",
    C.AtomicFloat32AddEXT: "shaderBufferFloat32AtomicAdd",
    C.AtomicFloat64AddEXT: "shaderBufferFloat64AtomicAdd",
    C.BFloat16TypeKHR: "shaderBFloat16Type",
    C.BFloat16DotProductKHR: "shaderBFloat16DotProduct",
    C.BFloat16CooperativeMatrixKHR: "shaderBFloat16CooperativeMatrix",
    C.GroupNonUniform: "subgroupBasic",
    C.GroupNonUniformArithmetic: "subgroupArithmetic",
    C.GroupNonUniformBallot: "subgroupBallot",
    C.GroupNonUniformClustered: "subgroupClustered",
    C.GroupNonUniformQuad: "subgroupQuad",
    C.GroupNonUniformShuffle: "subgroupShuffle",
    C.GroupNonUniformShuffleRelative: "subgroupShuffleRelative",
    C.GroupNonUniformVote: "subgroupVote",
    C.GroupNonUniformRotateKHR: "shaderSubgroupRotate",
    C.ExpectAssumeKHR: "shaderExpectAssume",
    C.ShaderClockKHR: "shaderSubgroupClock",
    C.FloatControls2: "shaderFloatControls2",
}

OF_SHADERS: dict[C, str | None] = {
    C.Shader: None, C.Matrix: None, C.ImageQuery: None,
    C.UniformAndStorageBuffer8BitAccess: "uniformAndStorageBuffer8BitAccess",
    C.UniformAndStorageBuffer16BitAccess: "uniformAndStorageBuffer16BitAccess",
    C.WorkgroupMemoryExplicitLayoutKHR: "workgroupMemoryExplicitLayout",
    C.WorkgroupMemoryExplicitLayout8BitAccessKHR: "workgroupMemoryExplicitLayout8BitAccess",
    C.WorkgroupMemoryExplicitLayout16BitAccessKHR: "workgroupMemoryExplicitLayout16BitAccess",
    C.VariablePointers: "variablePointers",
    C.VariablePointersStorageBuffer: "variablePointersStorageBuffer",
    C.CooperativeMatrixReductionsNV: "cooperativeMatrixReductions",
    C.CooperativeMatrixConversionsNV: "cooperativeMatrixConversions",
    C.CooperativeMatrixPerElementOperationsNV: "cooperativeMatrixPerElementOperations",
    C.CooperativeMatrixBlockLoadsNV: "cooperativeMatrixBlockLoads",
}
"""Further capabilities of shaders that were no kernels; None: every driver has it."""

LAYOUTS = frozenset({"scalarBlockLayout", "uniformBufferStandardLayout",
                     "workgroupMemoryExplicitLayoutScalarBlockLayout"})
"""Features that allow such shaders more layouts of memory; no capability tells that they are used."""

FLOAT_WIDTHS = (16, 32, 64)
FLOAT_MODES: dict[C, tuple[ExecutionMode, str]] = {
    C.DenormPreserve: (ExecutionMode.DenormPreserve, "shaderDenormPreserveFloat"),
    C.SignedZeroInfNanPreserve: (ExecutionMode.SignedZeroInfNanPreserve, "shaderSignedZeroInfNanPreserveFloat"),
    C.RoundingModeRTE: (ExecutionMode.RoundingModeRTE, "shaderRoundingModeRTEFloat"),
}
"""Capability → the execution mode that asks for arithmetic as kernels have it, and how the property that allows it
begins; a width in bits is its end. Where a driver does not have it, its own arithmetic is taken."""

RECONVERGENCE = "shaderMaximalReconvergence"
"""Without this feature Vulkan does not say which work-items of a sub-group are together in divergent control flow."""

OPTIONAL = frozenset({
    RECONVERGENCE,
    "shaderBufferInt64Atomics", "shaderSharedInt64Atomics", "shaderSubgroupExtendedTypes",
    "cooperativeMatrixWorkgroupScope", "cooperativeMatrixFlexibleDimensions",
    *(f"{name}{width}" for _, name in FLOAT_MODES.values() for width in FLOAT_WIDTHS)})
"""Further names that the translation asks for."""

ALL = ALWAYS | frozenset(BY_CAPABILITY.values()) | OPTIONAL


FOR_SHADERS = LAYOUTS | {feature for feature in OF_SHADERS.values() if feature is not None}
"""Names that only shaders ask for that were no kernels."""


def lacking(capabilities: Iterable[C | int], features: frozenset[str]) -> list[str]:
    """The capabilities of a shader that a driver with these features lacks, or of which nobody here knows."""
    known = {**OF_SHADERS, **BY_CAPABILITY}
    return [one.name if isinstance(one, C) else str(one) for one in capabilities
            if not isinstance(one, C) or known.get(one, "unknown") not in {None, *features}]


def features_of(capabilities: Iterable[C]) -> dict[str, C]:
    """Feature → the capability that needs it."""
    return {BY_CAPABILITY[one]: one for one in capabilities if one in BY_CAPABILITY}
