"""Extended instruction sets whose operands are all ids, ``GLSL.std.450`` apart: name and number."""

from __future__ import annotations

SHADER_DEBUG_INFO: dict[str, int] = {
    "DebugInfoNone": 0, "DebugCompilationUnit": 1, "DebugTypeBasic": 2, "DebugTypePointer": 3,
    "DebugTypeQualifier": 4, "DebugTypeArray": 5, "DebugTypeVector": 6, "DebugTypedef": 7, "DebugTypeFunction": 8,
    "DebugTypeEnum": 9, "DebugTypeComposite": 10, "DebugTypeMember": 11, "DebugTypeInheritance": 12,
    "DebugTypePtrToMember": 13, "DebugTypeTemplate": 14, "DebugTypeTemplateParameter": 15,
    "DebugTypeTemplateTemplateParameter": 16, "DebugTypeTemplateParameterPack": 17, "DebugGlobalVariable": 18,
    "DebugFunctionDeclaration": 19, "DebugFunction": 20, "DebugLexicalBlock": 21,
    "DebugLexicalBlockDiscriminator": 22, "DebugScope": 23, "DebugNoScope": 24, "DebugInlinedAt": 25,
    "DebugLocalVariable": 26, "DebugInlinedVariable": 27, "DebugDeclare": 28, "DebugValue": 29,
    "DebugOperation": 30, "DebugExpression": 31, "DebugMacroDef": 32, "DebugMacroUndef": 33,
    "DebugImportedEntity": 34, "DebugSource": 35, "DebugFunctionDefinition": 101, "DebugSourceContinued": 102,
    "DebugLine": 103, "DebugNoLine": 104, "DebugBuildIdentifier": 105, "DebugStoragePath": 106,
    "DebugEntryPoint": 107, "DebugTypeMatrix": 108, "DebugTypeVectorIdEXT": 109,
    "DebugTypeCooperativeMatrixKHR": 110,
}

CLSPV_REFLECTION: dict[str, int] = {
    "Kernel": 1, "ArgumentInfo": 2, "ArgumentStorageBuffer": 3, "ArgumentUniform": 4, "ArgumentPodStorageBuffer": 5,
    "ArgumentPodUniform": 6, "ArgumentPodPushConstant": 7, "ArgumentSampledImage": 8, "ArgumentStorageImage": 9,
    "ArgumentSampler": 10, "ArgumentWorkgroup": 11, "SpecConstantWorkgroupSize": 12, "SpecConstantGlobalOffset": 13,
    "SpecConstantWorkDim": 14, "PushConstantGlobalOffset": 15, "PushConstantEnqueuedLocalSize": 16,
    "PushConstantGlobalSize": 17, "PushConstantRegionOffset": 18, "PushConstantNumWorkgroups": 19,
    "PushConstantRegionGroupOffset": 20, "ConstantDataStorageBuffer": 21, "ConstantDataUniform": 22,
    "LiteralSampler": 23, "PropertyRequiredWorkgroupSize": 24, "SpecConstantSubgroupMaxSize": 25,
    "ArgumentPointerPushConstant": 26, "ArgumentPointerUniform": 27, "ProgramScopeVariablesStorageBuffer": 28,
    "ProgramScopeVariablePointerRelocation": 29, "ImageArgumentInfoChannelOrderPushConstant": 30,
    "ImageArgumentInfoChannelDataTypePushConstant": 31, "ImageArgumentInfoChannelOrderUniform": 32,
    "ImageArgumentInfoChannelDataTypeUniform": 33, "ArgumentStorageTexelBuffer": 34,
    "ArgumentUniformTexelBuffer": 35, "ConstantDataPointerPushConstant": 36,
    "ProgramScopeVariablePointerPushConstant": 37, "PrintfInfo": 38, "PrintfBufferStorageBuffer": 39,
    "PrintfBufferPointerPushConstant": 40, "NormalizedSamplerMaskPushConstant": 41, "WorkgroupVariableSize": 42,
}

VKSP_REFLECTION: dict[str, int] = {
    "Configuration": 1, "StartCounter": 2, "StopCounter": 3, "PushConstants": 4, "SpecializationMapEntry": 5,
    "DescriptorSetBuffer": 6, "DescriptorSetImage": 7, "DescriptorSetSampler": 8,
}

GRAPH_DEBUG_INFO: dict[str, int] = {
    "DebugGraph": 1, "DebugOperation": 2, "DebugTensor": 3,
}

SETS: dict[str, dict[str, int]] = {
    "NonSemantic.DebugPrintf": {"DebugPrintf": 1},
    "NonSemantic.DebugBreak": {"DebugBreak": 1},
    "SPV_AMD_gcn_shader": {"CubeFaceIndexAMD": 1, "CubeFaceCoordAMD": 2, "TimeAMD": 3},
    "SPV_AMD_shader_ballot": {
        "SwizzleInvocationsAMD": 1, "SwizzleInvocationsMaskedAMD": 2, "WriteInvocationAMD": 3, "MbcntAMD": 4,
    },
    "SPV_AMD_shader_explicit_vertex_parameter": {"InterpolateAtVertexAMD": 1},
    "SPV_AMD_shader_trinary_minmax": {
        "FMin3AMD": 1, "UMin3AMD": 2, "SMin3AMD": 3, "FMax3AMD": 4, "UMax3AMD": 5, "SMax3AMD": 6, "FMid3AMD": 7,
        "UMid3AMD": 8, "SMid3AMD": 9,
    },
}
"""Sets by name."""

FAMILIES: dict[str, dict[str, int]] = {
    "NonSemantic.Shader.DebugInfo.": SHADER_DEBUG_INFO,
    "NonSemantic.ClspvReflection.": CLSPV_REFLECTION,
    "NonSemantic.VkspReflection.": VKSP_REFLECTION,
    "NonSemantic.Graph.DebugInfo.": GRAPH_DEBUG_INFO,
}
"""Sets by what their names begin with; a version follows."""
