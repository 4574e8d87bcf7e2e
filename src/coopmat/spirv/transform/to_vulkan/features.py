"""Which Vulkan feature a capability of a shader needs (Vulkan, appendix A.6 'SPIR-V capabilities')."""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.spirv.grammar import Capability as C

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
    C.Int64Atomics: "shaderBufferInt64Atomics",
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
    C.DenormPreserve: "shaderDenormPreserveFloat32",
    C.SignedZeroInfNanPreserve: "shaderSignedZeroInfNanPreserveFloat32",
    C.RoundingModeRTE: "shaderRoundingModeRTEFloat16",
    C.ExpectAssumeKHR: "shaderExpectAssume",
    C.ShaderClockKHR: "shaderSubgroupClock",
    C.FloatControls2: "shaderFloatControls2",
}

OPTIONAL = frozenset({"shaderSharedInt64Atomics", "shaderDenormPreserveFloat16", "shaderDenormPreserveFloat64",
                      "shaderSignedZeroInfNanPreserveFloat16", "shaderSignedZeroInfNanPreserveFloat64"})
"""Further names that the translation asks for."""

ALL = ALWAYS | frozenset(BY_CAPABILITY.values()) | OPTIONAL


def features_of(capabilities: Iterable[C]) -> dict[str, C]:
    """Feature → the capability that needs it."""
    return {BY_CAPABILITY[one]: one for one in capabilities if one in BY_CAPABILITY}
