"""Asks a driver what its devices are."""

from __future__ import annotations

import ctypes
from typing import Any

from coopmat.diagnostics import Error
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.library import Commands
from coopmat.targets.vulkan.api.structures import feature_names, make, members, structure
from coopmat.targets.vulkan.host.facts import COMPONENTS, KINDS, SCOPES, DeviceFacts, MatrixRow, version_text

LEAST_API = 1 << 22 | 3 << 12  # Vulkan 1.3
MATRICES, FLEXIBLE = "VK_KHR_cooperative_matrix", "VK_NV_cooperative_matrix2"
HOST_MEMORY = "VK_EXT_external_memory_host"
FEATURE_EXTENSIONS: dict[str, str | None] = {
    "PhysicalDeviceVulkan11Features": None, "PhysicalDeviceVulkan12Features": None,
    "PhysicalDeviceVulkan13Features": None,
    "PhysicalDeviceCooperativeMatrixFeaturesKHR": MATRICES,
    "PhysicalDeviceCooperativeMatrix2FeaturesNV": FLEXIBLE,
    "PhysicalDeviceShaderBfloat16FeaturesKHR": "VK_KHR_shader_bfloat16",
    "PhysicalDeviceShaderFloat8FeaturesEXT": "VK_EXT_shader_float8",
    "PhysicalDeviceShaderAtomicFloatFeaturesEXT": "VK_EXT_shader_atomic_float",
    "PhysicalDeviceShaderSubgroupRotateFeatures": "VK_KHR_shader_subgroup_rotate",
    "PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR": "VK_KHR_shader_maximal_reconvergence",
    "PhysicalDeviceShaderExpectAssumeFeatures": "VK_KHR_shader_expect_assume",
    "PhysicalDeviceShaderFloatControls2Features": "VK_KHR_shader_float_controls2",
    "PhysicalDeviceShaderClockFeaturesKHR": "VK_KHR_shader_clock",
    "PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR": "VK_KHR_workgroup_memory_explicit_layout",
    "PhysicalDeviceShaderUntypedPointersFeaturesKHR": "VK_KHR_shader_untyped_pointers",
}
"""The structures of features that are looked at, each with the extension that it comes from; None: Vulkan 1.3."""
PROPERTY_EXTENSIONS = {HOST_MEMORY: "PhysicalDeviceExternalMemoryHostPropertiesEXT",
                       MATRICES: "PhysicalDeviceCooperativeMatrixPropertiesKHR",
                       FLEXIBLE: "PhysicalDeviceCooperativeMatrix2PropertiesNV"}
"""Extensions, each with the structure of properties that it brings."""
SUBGROUP_BITS = {
    vk.SUBGROUP_FEATURE_BASIC_BIT: "subgroupBasic", vk.SUBGROUP_FEATURE_VOTE_BIT: "subgroupVote",
    vk.SUBGROUP_FEATURE_ARITHMETIC_BIT: "subgroupArithmetic", vk.SUBGROUP_FEATURE_BALLOT_BIT: "subgroupBallot",
    vk.SUBGROUP_FEATURE_SHUFFLE_BIT: "subgroupShuffle",
    vk.SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT: "subgroupShuffleRelative",
    vk.SUBGROUP_FEATURE_CLUSTERED_BIT: "subgroupClustered", vk.SUBGROUP_FEATURE_QUAD_BIT: "subgroupQuad",
    vk.SUBGROUP_FEATURE_ROTATE_BIT: "subgroupRotate"}
NEEDED = ("bufferDeviceAddress", "timelineSemaphore", "shaderInt64", "maintenance4", "vulkanMemoryModel")
"""Features without which no kernel runs."""
LIMITS = ("maxPushConstantsSize", "maxMemoryAllocationCount", "maxComputeSharedMemorySize", "maxComputeWorkGroupCount",
          "maxComputeWorkGroupInvocations", "maxComputeWorkGroupSize", "timestampPeriod", "subgroupSize",
          "minSubgroupSize", "maxSubgroupSize", "maxComputeWorkgroupSubgroups", "maxMemoryAllocationSize",
          "maxBufferSize", "minImportedHostPointerAlignment", "cooperativeMatrixFlexibleDimensionsMaxDimension",
          "minStorageBufferOffsetAlignment", "minUniformBufferOffsetAlignment", "maxStorageBufferRange",
          "maxUniformBufferRange", "maxBoundDescriptorSets",
          "cooperativeMatrixWorkgroupScopeMaxWorkgroupSize", "cooperativeMatrixWorkgroupScopeReservedSharedMemory")
"""The properties that are kept."""


def feature_chain(extensions: frozenset[str]) -> tuple[Any, dict[str, Any]]:
    """The structures of features of a device with these extensions, linked: the first, and all by their names."""
    last, found = None, dict[str, Any]()
    for name, extension in reversed(FEATURE_EXTENSIONS.items()):
        if extension is None or extension in extensions:
            last = found[name] = make(name, after=last)
    first = make("PhysicalDeviceFeatures2", after=last)
    return first, found | {"PhysicalDeviceFeatures": first.features}


def facts(commands: Commands, physical: int, ordinal: int) -> DeviceFacts:
    """What the driver says of a device."""
    listed = commands.listed("EnumerateDeviceExtensionProperties", physical, None,
                             kind=lambda count: (structure("ExtensionProperties") * count)())
    extensions = frozenset(one.extensionName.decode() for one in listed)
    plain = make("PhysicalDeviceProperties2")
    commands.GetPhysicalDeviceProperties2(physical, ctypes.byref(plain))
    found = members(plain.properties)
    limits = members(plain.properties.limits)
    if found["apiVersion"] < LEAST_API:
        properties, features = dict[str, Any](), frozenset[str]()
        unusable = (f"its driver is for Vulkan {version_text(found['apiVersion'])}, and {version_text(LEAST_API)} is "
                    "needed")
    else:
        properties = _properties(commands, physical, extensions)
        features = _features(commands, physical, extensions, properties)
        lacking = [name for name in NEEDED if name not in features]
        unusable = f"it lacks {', '.join(lacking)}" if lacking else ""
    limits = {name: value for name, value in (limits | properties).items() if name in LIMITS}
    return DeviceFacts(
        ordinal, found["deviceName"], KINDS.get(found["deviceType"], "other device"), properties.get("driverName", ""),
        properties.get("driverInfo", ""), found["driverVersion"], found["apiVersion"], found["vendorID"],
        found["deviceID"], bytes(properties.get("deviceUUID", ())).hex(),
        _sub_group_sizes(limits, features, properties), features, extensions, limits,
        tuple(_matrices(commands, physical)) if "cooperativeMatrix" in features else (),
        tuple(_flexible(commands, physical)) if "cooperativeMatrixFlexibleDimensions" in features else (), unusable)


def _properties(commands: Commands, physical: int, extensions: frozenset[str]) -> dict[str, Any]:
    wanted = [*(f"PhysicalDeviceVulkan1{minor}Properties" for minor in (1, 2, 3)),
              *(name for extension, name in PROPERTY_EXTENSIONS.items() if extension in extensions)]
    chain: list[Any] = []
    for name in wanted:
        chain.append(make(name, after=chain[-1] if chain else None))
    commands.GetPhysicalDeviceProperties2(physical, ctypes.byref(make("PhysicalDeviceProperties2", after=chain[-1])))
    return {name: value for one in chain for name, value in members(one).items()}


def _features(commands: Commands, physical: int, extensions: frozenset[str], properties: dict[str, Any]
              ) -> frozenset[str]:
    first, by_name = feature_chain(extensions)
    commands.GetPhysicalDeviceFeatures2(physical, ctypes.byref(first))
    found = {member for name, one in by_name.items() for member in feature_names()[name] if getattr(one, member)}
    found |= {name for name, value in properties.items() if name.startswith("shader") and value}
    if properties["subgroupSupportedStages"] & vk.SHADER_STAGE_COMPUTE_BIT:
        operations = properties["subgroupSupportedOperations"]
        found |= {name for bit, name in SUBGROUP_BITS.items() if operations & bit}
    if not properties.get("cooperativeMatrixSupportedStages", 0) & vk.SHADER_STAGE_COMPUTE_BIT:
        found.discard("cooperativeMatrix")
    return frozenset(found)


def _sub_group_sizes(limits: dict[str, Any], features: frozenset[str], properties: dict[str, Any]) -> tuple[int, ...]:
    """The first is what the driver takes by itself."""
    usual = limits.get("subgroupSize", 1)
    if "subgroupSizeControl" not in features or not (properties["requiredSubgroupSizeStages"]
                                                     & vk.SHADER_STAGE_COMPUTE_BIT):
        return (usual,)
    least, most = limits["minSubgroupSize"], limits["maxSubgroupSize"]
    possible = [1 << power for power in range(least.bit_length() - 1, most.bit_length()) if 1 << power >= least]
    return (usual, *(size for size in possible if size != usual))


def _matrices(commands: Commands, physical: int) -> list[MatrixRow]:
    kind = structure("CooperativeMatrixPropertiesKHR")
    listed = commands.listed("GetPhysicalDeviceCooperativeMatrixPropertiesKHR", physical,
                             kind=lambda count: _typed(kind, count))
    return [MatrixRow(_types(one), (one.MSize, one.NSize, one.KSize), SCOPES.get(one.scope, "another"),
                      bool(one.saturatingAccumulation)) for one in listed]


def _flexible(commands: Commands, physical: int) -> list[MatrixRow]:
    kind = structure("CooperativeMatrixFlexibleDimensionsPropertiesNV")
    try:
        listed = commands.listed("GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV", physical,
                                 kind=lambda count: _typed(kind, count))
    except Error:
        return []
    return [MatrixRow(_types(one), (one.MGranularity, one.NGranularity, one.KGranularity),
                      SCOPES.get(one.scope, "another"), bool(one.saturatingAccumulation), one.workgroupInvocations)
            for one in listed]


def _typed(kind: Any, count: int) -> Any:
    """An array of structures with their sType."""
    found = (kind * count)()
    for one in found:
        one.sType = kind.s_type
    return found


def _types(row: Any) -> tuple[str, str, str, str]:
    a, b, c, d = (COMPONENTS.get(getattr(row, name), f"component type {getattr(row, name)}")
                  for name in ("AType", "BType", "CType", "ResultType"))
    return a, b, c, d
