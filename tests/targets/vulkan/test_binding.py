"""The tables of Vulkan's interface against the Khronos registry, and the structures that are made of them."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache

import pytest

from coopmat.targets.vulkan.api import constants, failures, library, table
from coopmat.targets.vulkan.api.structures import array, make, members, rows, structure
from tests.kit.oracles import vulkan_registry

LEAST_VERSION = 318  # of headers that have all of this
STRUCTURES = [name for name, *_ in rows(table.STRUCTURES)]
FEATURES = [name for name, *_ in rows(table.FEATURES)]
COMMANDS = [name for name, *_ in rows(table.COMMANDS)]
CONSTANTS = [name for name in vars(constants) if name.isupper()]


@cache
def registry() -> vulkan_registry.Registry:
    path = vulkan_registry.path()
    assert path is not None
    found = vulkan_registry.Registry(path)
    if found.version < LEAST_VERSION:
        pytest.skip(f"the registry here is of headers {found.version}; {LEAST_VERSION} is needed")
    return found


@pytest.mark.oracle("vulkan-registry")
def test_structures() -> None:
    for name, *words in rows(table.STRUCTURES):
        assert " ".join(words) == registry().structure(f"Vk{name}"), name


@pytest.mark.oracle("vulkan-registry")
def test_features() -> None:
    for name, kind, *names in rows(table.FEATURES):
        shown = " ".join([kind, *(f"{member}:u32" for member in names)])
        assert shown == registry().structure(f"Vk{name}"), name


@pytest.mark.oracle("vulkan-registry")
def test_commands() -> None:
    for name, *words in rows(table.COMMANDS):
        assert " ".join(words) == registry().command(f"vk{name}"), name


@pytest.mark.oracle("vulkan-registry")
def test_constants() -> None:
    assert len(CONSTANTS) > 60
    for name in CONSTANTS:
        assert getattr(constants, name) == registry().constant(f"VK_{name}"), name
    for status, (name, _) in failures.WORDS.items():
        assert status == registry().constant(f"VK_ERROR_{name}")


def test_no_row_is_twice() -> None:
    names = [*STRUCTURES, *FEATURES]
    assert len(set(names)) == len(names)
    assert len(set(COMMANDS)) == len(COMMANDS)


@pytest.mark.parametrize(("name", "size"), [
    ("ApplicationInfo", 48), ("PhysicalDeviceLimits", 504), ("PhysicalDeviceProperties", 824),
    ("PhysicalDeviceMemoryProperties", 520), ("PhysicalDeviceFeatures", 220), ("ComputePipelineCreateInfo", 96)])
def test_sizes_are_those_of_c(name: str, size: int) -> None:
    """Of x86-64 and AArch64, by sizeof."""
    assert ctypes.sizeof(structure(name)) == size


def test_pointers_keep_what_they_point_to() -> None:
    made = make("DeviceCreateInfo", enabledExtensionCount=2, ppEnabledExtensionNames=["one", "two"],
                pQueueCreateInfos=make("DeviceQueueCreateInfo", pQueuePriorities=array("f32", [0.5])))
    queue = structure("DeviceQueueCreateInfo").from_address(made.pQueueCreateInfos)
    assert queue.sType == 2
    assert ctypes.c_float.from_address(queue.pQueuePriorities).value == 0.5
    names = (ctypes.c_char_p * 2).from_address(made.ppEnabledExtensionNames)
    assert list(names) == [b"one", b"two"]


def test_members_by_their_names() -> None:
    made = make("PhysicalDeviceVulkan12Properties", driverName=b"a driver", driverID=3)
    assert members(made)["driverName"] == "a driver"
    assert members(make("PhysicalDeviceVulkan11Properties"))["deviceUUID"] == [0] * 16


def test_failures_say_what_was_to_be_done() -> None:
    lost = failures.failure(constants.ERROR_DEVICE_LOST, "a launch")
    assert isinstance(lost, failures.DeviceLost)
    assert "a launch: the device was lost" in str(lost)
    assert isinstance(failures.failure(constants.ERROR_OUT_OF_DEVICE_MEMORY, "x"), failures.OutOfMemory)
    assert "VkResult -7777" in str(failures.failure(-7777, "x"))


def test_the_loader_is_named_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    library.loader.cache_clear()
    monkeypatch.setenv(library.VARIABLE, "off")
    assert not library.has_loader()
    monkeypatch.setenv(library.VARIABLE, "/no/such/libvulkan.so")
    with pytest.raises(Exception, match="COOPMAT_VULKAN names /no/such/"):
        library.loader()
    monkeypatch.setenv(library.VARIABLE, ctypes.util.find_library("c") or "libc.so.6")
    with pytest.raises(Exception, match="no library of Vulkan"):
        library.loader()
    library.loader.cache_clear()
