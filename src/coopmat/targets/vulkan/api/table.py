"""What compute needs of Vulkan's interface: its structures and commands, as the Khronos registry (vk.xml) has them.

Names are without the prefixes ``Vk`` and ``vk``. Types: ``u32`` and the like, ``size`` (size_t), ``ptr`` (pointers, and
handles of what is dispatched: instances, devices, queues, command buffers; other handles are ``u64``), a structure's
name; ``[3]`` makes an array. A test compares all of it with the registry.
"""

from __future__ import annotations

STRUCTURES = """
ApplicationInfo 0 pApplicationName:ptr applicationVersion:u32 pEngineName:ptr engineVersion:u32 apiVersion:u32
InstanceCreateInfo 1 flags:u32 pApplicationInfo:ptr enabledLayerCount:u32 ppEnabledLayerNames:ptr
    enabledExtensionCount:u32 ppEnabledExtensionNames:ptr
DeviceQueueCreateInfo 2 flags:u32 queueFamilyIndex:u32 queueCount:u32 pQueuePriorities:ptr
DeviceCreateInfo 3 flags:u32 queueCreateInfoCount:u32 pQueueCreateInfos:ptr enabledLayerCount:u32
    ppEnabledLayerNames:ptr enabledExtensionCount:u32 ppEnabledExtensionNames:ptr pEnabledFeatures:ptr
ExtensionProperties - extensionName:char[256] specVersion:u32
LayerProperties - layerName:char[256] specVersion:u32 implementationVersion:u32 description:char[256]
PhysicalDeviceLimits - maxImageDimension1D:u32 maxImageDimension2D:u32 maxImageDimension3D:u32
    maxImageDimensionCube:u32 maxImageArrayLayers:u32 maxTexelBufferElements:u32 maxUniformBufferRange:u32
    maxStorageBufferRange:u32 maxPushConstantsSize:u32 maxMemoryAllocationCount:u32 maxSamplerAllocationCount:u32
    bufferImageGranularity:u64 sparseAddressSpaceSize:u64 maxBoundDescriptorSets:u32 maxPerStageDescriptorSamplers:u32
    maxPerStageDescriptorUniformBuffers:u32 maxPerStageDescriptorStorageBuffers:u32
    maxPerStageDescriptorSampledImages:u32 maxPerStageDescriptorStorageImages:u32
    maxPerStageDescriptorInputAttachments:u32 maxPerStageResources:u32 maxDescriptorSetSamplers:u32
    maxDescriptorSetUniformBuffers:u32 maxDescriptorSetUniformBuffersDynamic:u32 maxDescriptorSetStorageBuffers:u32
    maxDescriptorSetStorageBuffersDynamic:u32 maxDescriptorSetSampledImages:u32 maxDescriptorSetStorageImages:u32
    maxDescriptorSetInputAttachments:u32 maxVertexInputAttributes:u32 maxVertexInputBindings:u32
    maxVertexInputAttributeOffset:u32 maxVertexInputBindingStride:u32 maxVertexOutputComponents:u32
    maxTessellationGenerationLevel:u32 maxTessellationPatchSize:u32 maxTessellationControlPerVertexInputComponents:u32
    maxTessellationControlPerVertexOutputComponents:u32 maxTessellationControlPerPatchOutputComponents:u32
    maxTessellationControlTotalOutputComponents:u32 maxTessellationEvaluationInputComponents:u32
    maxTessellationEvaluationOutputComponents:u32 maxGeometryShaderInvocations:u32 maxGeometryInputComponents:u32
    maxGeometryOutputComponents:u32 maxGeometryOutputVertices:u32 maxGeometryTotalOutputComponents:u32
    maxFragmentInputComponents:u32 maxFragmentOutputAttachments:u32 maxFragmentDualSrcAttachments:u32
    maxFragmentCombinedOutputResources:u32 maxComputeSharedMemorySize:u32 maxComputeWorkGroupCount:u32[3]
    maxComputeWorkGroupInvocations:u32 maxComputeWorkGroupSize:u32[3] subPixelPrecisionBits:u32
    subTexelPrecisionBits:u32 mipmapPrecisionBits:u32 maxDrawIndexedIndexValue:u32 maxDrawIndirectCount:u32
    maxSamplerLodBias:f32 maxSamplerAnisotropy:f32 maxViewports:u32 maxViewportDimensions:u32[2]
    viewportBoundsRange:f32[2] viewportSubPixelBits:u32 minMemoryMapAlignment:size minTexelBufferOffsetAlignment:u64
    minUniformBufferOffsetAlignment:u64 minStorageBufferOffsetAlignment:u64 minTexelOffset:i32 maxTexelOffset:u32
    minTexelGatherOffset:i32 maxTexelGatherOffset:u32 minInterpolationOffset:f32 maxInterpolationOffset:f32
    subPixelInterpolationOffsetBits:u32 maxFramebufferWidth:u32 maxFramebufferHeight:u32 maxFramebufferLayers:u32
    framebufferColorSampleCounts:u32 framebufferDepthSampleCounts:u32 framebufferStencilSampleCounts:u32
    framebufferNoAttachmentsSampleCounts:u32 maxColorAttachments:u32 sampledImageColorSampleCounts:u32
    sampledImageIntegerSampleCounts:u32 sampledImageDepthSampleCounts:u32 sampledImageStencilSampleCounts:u32
    storageImageSampleCounts:u32 maxSampleMaskWords:u32 timestampComputeAndGraphics:u32 timestampPeriod:f32
    maxClipDistances:u32 maxCullDistances:u32 maxCombinedClipAndCullDistances:u32 discreteQueuePriorities:u32
    pointSizeRange:f32[2] lineWidthRange:f32[2] pointSizeGranularity:f32 lineWidthGranularity:f32 strictLines:u32
    standardSampleLocations:u32 optimalBufferCopyOffsetAlignment:u64 optimalBufferCopyRowPitchAlignment:u64
    nonCoherentAtomSize:u64
PhysicalDeviceSparseProperties - residencyStandard2DBlockShape:u32 residencyStandard2DMultisampleBlockShape:u32
    residencyStandard3DBlockShape:u32 residencyAlignedMipSize:u32 residencyNonResidentStrict:u32
PhysicalDeviceProperties - apiVersion:u32 driverVersion:u32 vendorID:u32 deviceID:u32 deviceType:u32
    deviceName:char[256] pipelineCacheUUID:u8[16] limits:VkPhysicalDeviceLimits
    sparseProperties:VkPhysicalDeviceSparseProperties
PhysicalDeviceProperties2 1000059001 properties:VkPhysicalDeviceProperties
Extent3D - width:u32 height:u32 depth:u32
QueueFamilyProperties - queueFlags:u32 queueCount:u32 timestampValidBits:u32 minImageTransferGranularity:VkExtent3D
MemoryType - propertyFlags:u32 heapIndex:u32
MemoryHeap - size:u64 flags:u32
PhysicalDeviceMemoryProperties - memoryTypeCount:u32 memoryTypes:VkMemoryType[32] memoryHeapCount:u32
    memoryHeaps:VkMemoryHeap[16]
MemoryRequirements - size:u64 alignment:u64 memoryTypeBits:u32
MemoryAllocateInfo 5 allocationSize:u64 memoryTypeIndex:u32
MemoryAllocateFlagsInfo 1000060000 flags:u32 deviceMask:u32
BufferCreateInfo 12 flags:u32 size:u64 usage:u32 sharingMode:u32 queueFamilyIndexCount:u32 pQueueFamilyIndices:ptr
BufferDeviceAddressInfo 1000244001 buffer:u64
ExternalMemoryBufferCreateInfo 1000072000 handleTypes:u32
ImportMemoryHostPointerInfoEXT 1000178000 handleType:u32 pHostPointer:ptr
MemoryHostPointerPropertiesEXT 1000178001 memoryTypeBits:u32
ShaderModuleCreateInfo 16 flags:u32 codeSize:size pCode:ptr
SpecializationMapEntry - constantID:u32 offset:u32 size:size
SpecializationInfo - mapEntryCount:u32 pMapEntries:ptr dataSize:size pData:ptr
PipelineShaderStageCreateInfo 18 flags:u32 stage:u32 module:u64 pName:ptr pSpecializationInfo:ptr
PipelineShaderStageRequiredSubgroupSizeCreateInfo 1000225001 requiredSubgroupSize:u32
PushConstantRange - stageFlags:u32 offset:u32 size:u32
DescriptorSetLayoutBinding - binding:u32 descriptorType:u32 descriptorCount:u32 stageFlags:u32 pImmutableSamplers:ptr
DescriptorSetLayoutCreateInfo 32 flags:u32 bindingCount:u32 pBindings:ptr
DescriptorPoolSize - type:u32 descriptorCount:u32
DescriptorPoolCreateInfo 33 flags:u32 maxSets:u32 poolSizeCount:u32 pPoolSizes:ptr
DescriptorSetAllocateInfo 34 descriptorPool:u64 descriptorSetCount:u32 pSetLayouts:ptr
DescriptorBufferInfo - buffer:u64 offset:u64 range:u64
WriteDescriptorSet 35 dstSet:u64 dstBinding:u32 dstArrayElement:u32 descriptorCount:u32 descriptorType:u32
    pImageInfo:ptr pBufferInfo:ptr pTexelBufferView:ptr
PipelineLayoutCreateInfo 30 flags:u32 setLayoutCount:u32 pSetLayouts:ptr pushConstantRangeCount:u32
    pPushConstantRanges:ptr
ComputePipelineCreateInfo 29 flags:u32 stage:VkPipelineShaderStageCreateInfo layout:u64 basePipelineHandle:u64
    basePipelineIndex:i32
PipelineCacheCreateInfo 17 flags:u32 initialDataSize:size pInitialData:ptr
CommandPoolCreateInfo 39 flags:u32 queueFamilyIndex:u32
CommandBufferAllocateInfo 40 commandPool:u64 level:u32 commandBufferCount:u32
CommandBufferBeginInfo 42 flags:u32 pInheritanceInfo:ptr
MemoryBarrier 46 srcAccessMask:u32 dstAccessMask:u32
BufferCopy - srcOffset:u64 dstOffset:u64 size:u64
SubmitInfo 4 waitSemaphoreCount:u32 pWaitSemaphores:ptr pWaitDstStageMask:ptr commandBufferCount:u32
    pCommandBuffers:ptr signalSemaphoreCount:u32 pSignalSemaphores:ptr
TimelineSemaphoreSubmitInfo 1000207003 waitSemaphoreValueCount:u32 pWaitSemaphoreValues:ptr
    signalSemaphoreValueCount:u32 pSignalSemaphoreValues:ptr
SemaphoreTypeCreateInfo 1000207002 semaphoreType:u32 initialValue:u64
SemaphoreCreateInfo 9 flags:u32
SemaphoreWaitInfo 1000207004 flags:u32 semaphoreCount:u32 pSemaphores:ptr pValues:ptr
QueryPoolCreateInfo 11 flags:u32 queryType:u32 queryCount:u32 pipelineStatistics:u32
PhysicalDeviceVulkan11Properties 50 deviceUUID:u8[16] driverUUID:u8[16] deviceLUID:u8[8] deviceNodeMask:u32
    deviceLUIDValid:u32 subgroupSize:u32 subgroupSupportedStages:u32 subgroupSupportedOperations:u32
    subgroupQuadOperationsInAllStages:u32 pointClippingBehavior:u32 maxMultiviewViewCount:u32
    maxMultiviewInstanceIndex:u32 protectedNoFault:u32 maxPerSetDescriptors:u32 maxMemoryAllocationSize:u64
ConformanceVersion - major:u8 minor:u8 subminor:u8 patch:u8
PhysicalDeviceVulkan12Properties 52 driverID:u32 driverName:char[256] driverInfo:char[256]
    conformanceVersion:VkConformanceVersion denormBehaviorIndependence:u32 roundingModeIndependence:u32
    shaderSignedZeroInfNanPreserveFloat16:u32 shaderSignedZeroInfNanPreserveFloat32:u32
    shaderSignedZeroInfNanPreserveFloat64:u32 shaderDenormPreserveFloat16:u32 shaderDenormPreserveFloat32:u32
    shaderDenormPreserveFloat64:u32 shaderDenormFlushToZeroFloat16:u32 shaderDenormFlushToZeroFloat32:u32
    shaderDenormFlushToZeroFloat64:u32 shaderRoundingModeRTEFloat16:u32 shaderRoundingModeRTEFloat32:u32
    shaderRoundingModeRTEFloat64:u32 shaderRoundingModeRTZFloat16:u32 shaderRoundingModeRTZFloat32:u32
    shaderRoundingModeRTZFloat64:u32 maxUpdateAfterBindDescriptorsInAllPools:u32
    shaderUniformBufferArrayNonUniformIndexingNative:u32 shaderSampledImageArrayNonUniformIndexingNative:u32
    shaderStorageBufferArrayNonUniformIndexingNative:u32 shaderStorageImageArrayNonUniformIndexingNative:u32
    shaderInputAttachmentArrayNonUniformIndexingNative:u32 robustBufferAccessUpdateAfterBind:u32
    quadDivergentImplicitLod:u32 maxPerStageDescriptorUpdateAfterBindSamplers:u32
    maxPerStageDescriptorUpdateAfterBindUniformBuffers:u32 maxPerStageDescriptorUpdateAfterBindStorageBuffers:u32
    maxPerStageDescriptorUpdateAfterBindSampledImages:u32 maxPerStageDescriptorUpdateAfterBindStorageImages:u32
    maxPerStageDescriptorUpdateAfterBindInputAttachments:u32 maxPerStageUpdateAfterBindResources:u32
    maxDescriptorSetUpdateAfterBindSamplers:u32 maxDescriptorSetUpdateAfterBindUniformBuffers:u32
    maxDescriptorSetUpdateAfterBindUniformBuffersDynamic:u32 maxDescriptorSetUpdateAfterBindStorageBuffers:u32
    maxDescriptorSetUpdateAfterBindStorageBuffersDynamic:u32 maxDescriptorSetUpdateAfterBindSampledImages:u32
    maxDescriptorSetUpdateAfterBindStorageImages:u32 maxDescriptorSetUpdateAfterBindInputAttachments:u32
    supportedDepthResolveModes:u32 supportedStencilResolveModes:u32 independentResolveNone:u32 independentResolve:u32
    filterMinmaxSingleComponentFormats:u32 filterMinmaxImageComponentMapping:u32
    maxTimelineSemaphoreValueDifference:u64 framebufferIntegerColorSampleCounts:u32
PhysicalDeviceVulkan13Properties 54 minSubgroupSize:u32 maxSubgroupSize:u32 maxComputeWorkgroupSubgroups:u32
    requiredSubgroupSizeStages:u32 maxInlineUniformBlockSize:u32 maxPerStageDescriptorInlineUniformBlocks:u32
    maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks:u32 maxDescriptorSetInlineUniformBlocks:u32
    maxDescriptorSetUpdateAfterBindInlineUniformBlocks:u32 maxInlineUniformTotalSize:u32
    integerDotProduct8BitUnsignedAccelerated:u32 integerDotProduct8BitSignedAccelerated:u32
    integerDotProduct8BitMixedSignednessAccelerated:u32 integerDotProduct4x8BitPackedUnsignedAccelerated:u32
    integerDotProduct4x8BitPackedSignedAccelerated:u32 integerDotProduct4x8BitPackedMixedSignednessAccelerated:u32
    integerDotProduct16BitUnsignedAccelerated:u32 integerDotProduct16BitSignedAccelerated:u32
    integerDotProduct16BitMixedSignednessAccelerated:u32 integerDotProduct32BitUnsignedAccelerated:u32
    integerDotProduct32BitSignedAccelerated:u32 integerDotProduct32BitMixedSignednessAccelerated:u32
    integerDotProduct64BitUnsignedAccelerated:u32 integerDotProduct64BitSignedAccelerated:u32
    integerDotProduct64BitMixedSignednessAccelerated:u32
    integerDotProductAccumulatingSaturating8BitUnsignedAccelerated:u32
    integerDotProductAccumulatingSaturating8BitSignedAccelerated:u32
    integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated:u32
    integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated:u32
    integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated:u32
    integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated:u32
    integerDotProductAccumulatingSaturating16BitUnsignedAccelerated:u32
    integerDotProductAccumulatingSaturating16BitSignedAccelerated:u32
    integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated:u32
    integerDotProductAccumulatingSaturating32BitUnsignedAccelerated:u32
    integerDotProductAccumulatingSaturating32BitSignedAccelerated:u32
    integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated:u32
    integerDotProductAccumulatingSaturating64BitUnsignedAccelerated:u32
    integerDotProductAccumulatingSaturating64BitSignedAccelerated:u32
    integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated:u32
    storageTexelBufferOffsetAlignmentBytes:u64 storageTexelBufferOffsetSingleTexelAlignment:u32
    uniformTexelBufferOffsetAlignmentBytes:u64 uniformTexelBufferOffsetSingleTexelAlignment:u32 maxBufferSize:u64
PhysicalDeviceExternalMemoryHostPropertiesEXT 1000178002 minImportedHostPointerAlignment:u64
PhysicalDeviceCooperativeMatrixPropertiesKHR 1000506002 cooperativeMatrixSupportedStages:u32
CooperativeMatrixPropertiesKHR 1000506001 MSize:u32 NSize:u32 KSize:u32 AType:u32 BType:u32 CType:u32 ResultType:u32
    saturatingAccumulation:u32 scope:u32
CooperativeMatrixFlexibleDimensionsPropertiesNV 1000593001 MGranularity:u32 NGranularity:u32 KGranularity:u32
    AType:u32 BType:u32 CType:u32 ResultType:u32 saturatingAccumulation:u32 scope:u32 workgroupInvocations:u32
PhysicalDeviceCooperativeMatrix2PropertiesNV 1000593002 cooperativeMatrixWorkgroupScopeMaxWorkgroupSize:u32
    cooperativeMatrixFlexibleDimensionsMaxDimension:u32 cooperativeMatrixWorkgroupScopeReservedSharedMemory:u32
DebugUtilsMessengerCreateInfoEXT 1000128004 flags:u32 messageSeverity:u32 messageType:u32 pfnUserCallback:ptr
    pUserData:ptr
DebugUtilsMessengerCallbackDataEXT 1000128003 flags:u32 pMessageIdName:ptr messageIdNumber:i32 pMessage:ptr
    queueLabelCount:u32 pQueueLabels:ptr cmdBufLabelCount:u32 pCmdBufLabels:ptr objectCount:u32 pObjects:ptr
PhysicalDeviceFeatures - robustBufferAccess:u32 fullDrawIndexUint32:u32 imageCubeArray:u32 independentBlend:u32
    geometryShader:u32 tessellationShader:u32 sampleRateShading:u32 dualSrcBlend:u32 logicOp:u32 multiDrawIndirect:u32
    drawIndirectFirstInstance:u32 depthClamp:u32 depthBiasClamp:u32 fillModeNonSolid:u32 depthBounds:u32 wideLines:u32
    largePoints:u32 alphaToOne:u32 multiViewport:u32 samplerAnisotropy:u32 textureCompressionETC2:u32
    textureCompressionASTC_LDR:u32 textureCompressionBC:u32 occlusionQueryPrecise:u32 pipelineStatisticsQuery:u32
    vertexPipelineStoresAndAtomics:u32 fragmentStoresAndAtomics:u32 shaderTessellationAndGeometryPointSize:u32
    shaderImageGatherExtended:u32 shaderStorageImageExtendedFormats:u32 shaderStorageImageMultisample:u32
    shaderStorageImageReadWithoutFormat:u32 shaderStorageImageWriteWithoutFormat:u32
    shaderUniformBufferArrayDynamicIndexing:u32 shaderSampledImageArrayDynamicIndexing:u32
    shaderStorageBufferArrayDynamicIndexing:u32 shaderStorageImageArrayDynamicIndexing:u32 shaderClipDistance:u32
    shaderCullDistance:u32 shaderFloat64:u32 shaderInt64:u32 shaderInt16:u32 shaderResourceResidency:u32
    shaderResourceMinLod:u32 sparseBinding:u32 sparseResidencyBuffer:u32 sparseResidencyImage2D:u32
    sparseResidencyImage3D:u32 sparseResidency2Samples:u32 sparseResidency4Samples:u32 sparseResidency8Samples:u32
    sparseResidency16Samples:u32 sparseResidencyAliased:u32 variableMultisampleRate:u32 inheritedQueries:u32
PhysicalDeviceFeatures2 1000059000 features:VkPhysicalDeviceFeatures
"""
"""``name sType member:type …``; those without sType have ``-`` in its place, all others begin with sType and pNext."""

FEATURES = """
PhysicalDeviceVulkan11Features 49 storageBuffer16BitAccess uniformAndStorageBuffer16BitAccess storagePushConstant16
    storageInputOutput16 multiview multiviewGeometryShader multiviewTessellationShader variablePointersStorageBuffer
    variablePointers protectedMemory samplerYcbcrConversion shaderDrawParameters
PhysicalDeviceVulkan12Features 51 samplerMirrorClampToEdge drawIndirectCount storageBuffer8BitAccess
    uniformAndStorageBuffer8BitAccess storagePushConstant8 shaderBufferInt64Atomics shaderSharedInt64Atomics
    shaderFloat16 shaderInt8 descriptorIndexing shaderInputAttachmentArrayDynamicIndexing
    shaderUniformTexelBufferArrayDynamicIndexing shaderStorageTexelBufferArrayDynamicIndexing
    shaderUniformBufferArrayNonUniformIndexing shaderSampledImageArrayNonUniformIndexing
    shaderStorageBufferArrayNonUniformIndexing shaderStorageImageArrayNonUniformIndexing
    shaderInputAttachmentArrayNonUniformIndexing shaderUniformTexelBufferArrayNonUniformIndexing
    shaderStorageTexelBufferArrayNonUniformIndexing descriptorBindingUniformBufferUpdateAfterBind
    descriptorBindingSampledImageUpdateAfterBind descriptorBindingStorageImageUpdateAfterBind
    descriptorBindingStorageBufferUpdateAfterBind descriptorBindingUniformTexelBufferUpdateAfterBind
    descriptorBindingStorageTexelBufferUpdateAfterBind descriptorBindingUpdateUnusedWhilePending
    descriptorBindingPartiallyBound descriptorBindingVariableDescriptorCount runtimeDescriptorArray
    samplerFilterMinmax scalarBlockLayout imagelessFramebuffer uniformBufferStandardLayout shaderSubgroupExtendedTypes
    separateDepthStencilLayouts hostQueryReset timelineSemaphore bufferDeviceAddress bufferDeviceAddressCaptureReplay
    bufferDeviceAddressMultiDevice vulkanMemoryModel vulkanMemoryModelDeviceScope
    vulkanMemoryModelAvailabilityVisibilityChains shaderOutputViewportIndex shaderOutputLayer
    subgroupBroadcastDynamicId
PhysicalDeviceVulkan13Features 53 robustImageAccess inlineUniformBlock
    descriptorBindingInlineUniformBlockUpdateAfterBind pipelineCreationCacheControl privateData
    shaderDemoteToHelperInvocation shaderTerminateInvocation subgroupSizeControl computeFullSubgroups synchronization2
    textureCompressionASTC_HDR shaderZeroInitializeWorkgroupMemory dynamicRendering shaderIntegerDotProduct
    maintenance4
PhysicalDeviceCooperativeMatrixFeaturesKHR 1000506000 cooperativeMatrix cooperativeMatrixRobustBufferAccess
PhysicalDeviceCooperativeMatrix2FeaturesNV 1000593000 cooperativeMatrixWorkgroupScope
    cooperativeMatrixFlexibleDimensions cooperativeMatrixReductions cooperativeMatrixConversions
    cooperativeMatrixPerElementOperations cooperativeMatrixTensorAddressing cooperativeMatrixBlockLoads
PhysicalDeviceShaderBfloat16FeaturesKHR 1000141000 shaderBFloat16Type shaderBFloat16DotProduct
    shaderBFloat16CooperativeMatrix
PhysicalDeviceShaderFloat8FeaturesEXT 1000567000 shaderFloat8 shaderFloat8CooperativeMatrix
PhysicalDeviceShaderAtomicFloatFeaturesEXT 1000260000 shaderBufferFloat32Atomics shaderBufferFloat32AtomicAdd
    shaderBufferFloat64Atomics shaderBufferFloat64AtomicAdd shaderSharedFloat32Atomics shaderSharedFloat32AtomicAdd
    shaderSharedFloat64Atomics shaderSharedFloat64AtomicAdd shaderImageFloat32Atomics shaderImageFloat32AtomicAdd
    sparseImageFloat32Atomics sparseImageFloat32AtomicAdd
PhysicalDeviceShaderSubgroupRotateFeatures 1000416000 shaderSubgroupRotate shaderSubgroupRotateClustered
PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR 1000434000 shaderMaximalReconvergence
PhysicalDeviceShaderExpectAssumeFeatures 1000544000 shaderExpectAssume
PhysicalDeviceShaderFloatControls2Features 1000528000 shaderFloatControls2
PhysicalDeviceShaderClockFeaturesKHR 1000181000 shaderSubgroupClock shaderDeviceClock
PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR 1000336000 workgroupMemoryExplicitLayout
    workgroupMemoryExplicitLayoutScalarBlockLayout workgroupMemoryExplicitLayout8BitAccess
    workgroupMemoryExplicitLayout16BitAccess
PhysicalDeviceShaderUntypedPointersFeaturesKHR 1000387000 shaderUntypedPointers
"""
"""``name sType member …``: structures whose members are all booleans."""

COMMANDS = """
GetInstanceProcAddr ptr ptr ptr
GetDeviceProcAddr ptr ptr ptr
EnumerateInstanceVersion i32 ptr
EnumerateInstanceExtensionProperties i32 ptr ptr ptr
EnumerateInstanceLayerProperties i32 ptr ptr
CreateInstance i32 ptr ptr ptr
DestroyInstance void ptr ptr
EnumeratePhysicalDevices i32 ptr ptr ptr
GetPhysicalDeviceProperties2 void ptr ptr
GetPhysicalDeviceFeatures2 void ptr ptr
GetPhysicalDeviceQueueFamilyProperties void ptr ptr ptr
GetPhysicalDeviceMemoryProperties void ptr ptr
EnumerateDeviceExtensionProperties i32 ptr ptr ptr ptr
CreateDevice i32 ptr ptr ptr ptr
DestroyDevice void ptr ptr
GetPhysicalDeviceCooperativeMatrixPropertiesKHR i32 ptr ptr ptr
GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV i32 ptr ptr ptr
GetDeviceQueue void ptr u32 u32 ptr
AllocateMemory i32 ptr ptr ptr ptr
FreeMemory void ptr u64 ptr
MapMemory i32 ptr u64 u64 u64 u32 ptr
CreateBuffer i32 ptr ptr ptr ptr
DestroyBuffer void ptr u64 ptr
GetBufferMemoryRequirements void ptr u64 ptr
BindBufferMemory i32 ptr u64 u64 u64
GetBufferDeviceAddress u64 ptr ptr
GetMemoryHostPointerPropertiesEXT i32 ptr u32 ptr ptr
CreateShaderModule i32 ptr ptr ptr ptr
DestroyShaderModule void ptr u64 ptr
CreatePipelineLayout i32 ptr ptr ptr ptr
DestroyPipelineLayout void ptr u64 ptr
CreateComputePipelines i32 ptr u64 u32 ptr ptr ptr
DestroyPipeline void ptr u64 ptr
CreatePipelineCache i32 ptr ptr ptr ptr
DestroyPipelineCache void ptr u64 ptr
GetPipelineCacheData i32 ptr u64 ptr ptr
CreateCommandPool i32 ptr ptr ptr ptr
DestroyCommandPool void ptr u64 ptr
AllocateCommandBuffers i32 ptr ptr ptr
FreeCommandBuffers void ptr u64 u32 ptr
BeginCommandBuffer i32 ptr ptr
EndCommandBuffer i32 ptr
ResetCommandBuffer i32 ptr u32
CmdBindPipeline void ptr u32 u64
CreateDescriptorSetLayout i32 ptr ptr ptr ptr
DestroyDescriptorSetLayout void ptr u64 ptr
CreateDescriptorPool i32 ptr ptr ptr ptr
DestroyDescriptorPool void ptr u64 ptr
AllocateDescriptorSets i32 ptr ptr ptr
UpdateDescriptorSets void ptr u32 ptr u32 ptr
CmdBindDescriptorSets void ptr u32 u64 u32 u32 ptr u32 ptr
CmdPushConstants void ptr u64 u32 u32 u32 ptr
CmdDispatch void ptr u32 u32 u32
CmdPipelineBarrier void ptr u32 u32 u32 u32 ptr u32 ptr u32 ptr
CmdCopyBuffer void ptr u64 u64 u32 ptr
CmdFillBuffer void ptr u64 u64 u64 u32
CmdWriteTimestamp void ptr u32 u64 u32
CmdResetQueryPool void ptr u64 u32 u32
QueueSubmit i32 ptr u32 ptr u64
QueueWaitIdle i32 ptr
DeviceWaitIdle i32 ptr
CreateSemaphore i32 ptr ptr ptr ptr
DestroySemaphore void ptr u64 ptr
GetSemaphoreCounterValue i32 ptr u64 ptr
WaitSemaphores i32 ptr ptr u64
CreateQueryPool i32 ptr ptr ptr ptr
DestroyQueryPool void ptr u64 ptr
GetQueryPoolResults i32 ptr u64 u32 u32 size ptr u64 u32
CreateDebugUtilsMessengerEXT i32 ptr ptr ptr ptr
DestroyDebugUtilsMessengerEXT void ptr u64 ptr
"""
"""``name result parameter …``."""
