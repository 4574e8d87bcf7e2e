"""What Vulkan's commands return when they fail, in words; each failure is one of our errors."""

from __future__ import annotations

from coopmat.diagnostics import Error, LaunchError
from coopmat.targets.vulkan.api import constants as vk

WORDS: dict[int, tuple[str, str]] = {
    vk.ERROR_OUT_OF_HOST_MEMORY: ("OUT_OF_HOST_MEMORY", "the host has not so much memory left"),
    vk.ERROR_OUT_OF_DEVICE_MEMORY: ("OUT_OF_DEVICE_MEMORY", "the device has not so much memory left: free some of it "
                                                            "first, or work on less at once"),
    vk.ERROR_INITIALIZATION_FAILED: ("INITIALIZATION_FAILED", "the driver does not start"),
    vk.ERROR_DEVICE_LOST: ("DEVICE_LOST", "the device was lost: a kernel accessed memory that is not there, or ran "
                                          "longer than the system allows"),
    vk.ERROR_MEMORY_MAP_FAILED: ("MEMORY_MAP_FAILED", "the driver cannot show its memory to the host"),
    vk.ERROR_LAYER_NOT_PRESENT: ("LAYER_NOT_PRESENT", "a layer that is asked for is not installed"),
    vk.ERROR_EXTENSION_NOT_PRESENT: ("EXTENSION_NOT_PRESENT", "the driver lacks an extension"),
    vk.ERROR_FEATURE_NOT_PRESENT: ("FEATURE_NOT_PRESENT", "the driver lacks a feature"),
    vk.ERROR_INCOMPATIBLE_DRIVER: ("INCOMPATIBLE_DRIVER", "the loader finds no driver that it could use"),
    vk.ERROR_TOO_MANY_OBJECTS: ("TOO_MANY_OBJECTS", "the driver has no room for more objects of a kind"),
    vk.ERROR_INVALID_EXTERNAL_HANDLE: ("INVALID_EXTERNAL_HANDLE", "the driver does not take memory of the host"),
    vk.ERROR_UNKNOWN: ("UNKNOWN", "the driver does not say why"),
}
"""Negative results: the registry's name without ``VK_ERROR_``, and what it means."""


class DeviceLost(LaunchError):
    """Nothing can be done on a device any more in this process."""


class OutOfMemory(LaunchError):
    """There is not so much memory."""


def failure(status: int, what: str, error: type[Error] = LaunchError) -> Error:
    """The error for a command's result. what: what was to be done."""
    name, words = WORDS.get(status, (str(status), "an error that Vulkan's specification may explain"))
    if status == vk.ERROR_DEVICE_LOST:
        error = DeviceLost
    elif status in (vk.ERROR_OUT_OF_HOST_MEMORY, vk.ERROR_OUT_OF_DEVICE_MEMORY):
        error = OutOfMemory
    return error(f"{what}: {words} (VK_ERROR_{name})" if status in WORDS else f"{what}: VkResult {name}, {words}")
