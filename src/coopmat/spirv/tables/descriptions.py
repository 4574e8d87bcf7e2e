"""What the operands of descriptive instruction sets are: debug information and clspv's reflection.

A row lists the operands in order; ``?`` marks one that may be missing, ``*`` one that may be repeated, and ``|``
separates alternatives.  The name of an instruction stands for its results.  The other words:

* ``string``: an OpString; ``constant``: an OpConstant; ``function``: an OpFunction; ``any``: anything
* ``uint``: a 32-bit OpConstant of signedness 0; ``extent``: such a constant, specialised or not
* ``number``: ``uint`` in non-semantic sets, whose operands are all ids, and a literal in the others
* ``count``: an integer constant, specialised or not, or a variable of the debugged program
* ``type``, ``parameter``, ``result``: a debugged type, also of a template, also void
* ``scope``: what can enclose a declaration
"""

from __future__ import annotations

TYPES = ("DebugInfoNone|DebugTypeBasic|DebugTypePointer|DebugTypeQualifier|DebugTypeArray|DebugTypeVector|DebugTypedef|"
         "DebugTypeFunction|DebugTypeEnum|DebugTypeComposite|DebugTypeMember|DebugTypeInheritance|DebugTypePtrToMember|"
         "DebugTypeTemplate|DebugTypeMatrix|DebugTypeVectorIdEXT|DebugTypeCooperativeMatrixKHR")
WORDS: dict[str, str] = {
    "type": TYPES,
    "parameter": f"{TYPES}|DebugTypeTemplateParameter|DebugTypeTemplateTemplateParameter",
    "result": f"{TYPES}|DebugTypeTemplateParameter|DebugTypeTemplateTemplateParameter|void",
    "scope": "DebugCompilationUnit|DebugFunction|DebugLexicalBlock|DebugTypeComposite",
}
"""Words that stand for several instructions."""

_DEBUG: dict[str, str] = {
    "DebugInfoNone": "",
    "DebugCompilationUnit": "number number DebugSource number",
    "DebugSource": "string string?",
    "DebugTypeBasic": "string constant number",
    "DebugTypePointer": "type number number",
    "DebugTypeQualifier": "type number",
    "DebugTypeArray": "type count*",
    "DebugTypeVector": "DebugTypeBasic number",
    "DebugTypedef": "string type DebugSource number number scope",
    "DebugTypeFunction": "number result parameter*",
    "DebugTypeEnum": "string type DebugSource number number scope constant number",
    "DebugTypeComposite": "string any DebugSource number number scope string DebugInfoNone|constant number "
                          "DebugTypeMember|DebugFunction|DebugTypeInheritance*",
    "DebugFunctionDeclaration": "string DebugTypeFunction DebugSource number number scope string number",
    "DebugLexicalBlock": "DebugSource number number scope string?",
    "DebugScope": "scope DebugInlinedAt?",
    "DebugNoScope": "",
    "DebugInlinedAt": "number scope DebugInlinedAt?",
    "DebugLocalVariable": "string parameter DebugSource number number scope number number?",
    "DebugGlobalVariable": "string type DebugSource number number scope string any number DebugTypeMember?",
    "DebugDeclare": "DebugLocalVariable any DebugExpression any*",
    "DebugValue": "DebugLocalVariable any DebugExpression any*",
    "DebugExpression": "DebugOperation*",
    "DebugTypeTemplate": "DebugTypeComposite|DebugFunction "
                         "DebugTypeTemplateParameter|DebugTypeTemplateTemplateParameter*",
    "DebugTypeTemplateParameter": "string type DebugInfoNone|constant DebugSource number number",
}
_CLSPV: dict[str, str] = {
    "Kernel": "function string uint? uint? string?",
    "ArgumentInfo": "string string? uint? uint? uint?",
    **dict.fromkeys(("ArgumentStorageBuffer", "ArgumentUniform", "ArgumentSampledImage", "ArgumentStorageImage",
                     "ArgumentSampler", "ArgumentStorageTexelBuffer", "ArgumentUniformTexelBuffer",
                     "ArgumentPodPushConstant", "ArgumentPointerPushConstant", "ArgumentWorkgroup"),
                    "Kernel uint uint uint ArgumentInfo?"),
    **dict.fromkeys(("ArgumentPodStorageBuffer", "ArgumentPodUniform", "ArgumentPointerUniform"),
                    "Kernel uint uint uint uint uint ArgumentInfo?"),
    **dict.fromkeys(("SpecConstantWorkgroupSize", "SpecConstantGlobalOffset", "LiteralSampler",
                     "ProgramScopeVariablePointerRelocation", "PrintfBufferStorageBuffer",
                     "PrintfBufferPointerPushConstant"), "uint uint uint"),
    **dict.fromkeys(("SpecConstantWorkDim", "SpecConstantSubgroupMaxSize"), "uint"),
    **dict.fromkeys(("PushConstantGlobalOffset", "PushConstantEnqueuedLocalSize", "PushConstantGlobalSize",
                     "PushConstantRegionOffset", "PushConstantNumWorkgroups", "PushConstantRegionGroupOffset"),
                    "uint uint"),
    **dict.fromkeys(("ConstantDataStorageBuffer", "ConstantDataUniform", "ProgramScopeVariablesStorageBuffer",
                     "ConstantDataPointerPushConstant", "ProgramScopeVariablePointerPushConstant"),
                    "uint uint string"),
    **dict.fromkeys(("PropertyRequiredWorkgroupSize", "ImageArgumentInfoChannelOrderPushConstant",
                     "ImageArgumentInfoChannelDataTypePushConstant", "NormalizedSamplerMaskPushConstant"),
                    "Kernel uint uint uint"),
    **dict.fromkeys(("ImageArgumentInfoChannelOrderUniform", "ImageArgumentInfoChannelDataTypeUniform"),
                    "Kernel uint uint uint uint uint"),
    "PrintfInfo": "uint string uint*",
}

OPENCL_DEBUG_INFO: dict[str, str] = {
    **_DEBUG,
    "DebugTypeMember": "string parameter DebugSource number number DebugTypeComposite constant constant number "
                       "constant?",
    "DebugTypeInheritance": "DebugTypeComposite DebugTypeComposite constant constant number",
    "DebugFunction": "string DebugTypeFunction DebugSource number number scope string number number "
                     "DebugInfoNone|function DebugFunctionDeclaration?",
}
SHADER_DEBUG_INFO: dict[str, str] = {
    **_DEBUG,
    "DebugTypeBasic": "string constant uint uint uint?",
    "DebugTypeMember": "string parameter DebugSource uint uint constant constant uint constant?",
    "DebugFunction": "string DebugTypeFunction DebugSource uint uint scope string uint uint DebugFunctionDeclaration?",
    "DebugOperation": "uint uint*",
    "DebugTypeMatrix": "DebugTypeVector uint any",
    "DebugTypeVectorIdEXT": "DebugTypeBasic extent",
    "DebugTypeCooperativeMatrixKHR": "DebugTypeBasic extent extent extent extent",
    "DebugFunctionDefinition": "DebugFunction function",
    "DebugLine": "DebugSource uint uint uint uint",
    "DebugSourceContinued": "string",
    "DebugBuildIdentifier": "string uint",
    "DebugStoragePath": "string",
    "DebugEntryPoint": "DebugFunction DebugCompilationUnit string string",
}
CLSPV_REFLECTION = _CLSPV
CLSPV_VERSIONS: dict[str, int] = {
    "SpecConstantSubgroupMaxSize": 2,
    **dict.fromkeys(("ArgumentPointerPushConstant", "ArgumentPointerUniform", "ProgramScopeVariablesStorageBuffer",
                     "ProgramScopeVariablePointerRelocation", "ImageArgumentInfoChannelOrderPushConstant",
                     "ImageArgumentInfoChannelDataTypePushConstant", "ImageArgumentInfoChannelOrderUniform",
                     "ImageArgumentInfoChannelDataTypeUniform"), 3),
    **dict.fromkeys(("ArgumentStorageTexelBuffer", "ArgumentUniformTexelBuffer"), 4),
    **dict.fromkeys(("ConstantDataPointerPushConstant", "ProgramScopeVariablePointerPushConstant", "PrintfInfo",
                     "PrintfBufferStorageBuffer", "PrintfBufferPointerPushConstant",
                     "NormalizedSamplerMaskPushConstant"), 5),
}
"""First version of the set that has an instruction."""
