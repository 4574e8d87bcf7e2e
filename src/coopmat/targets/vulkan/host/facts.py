"""What a driver says of a device: the record that is made once, in a child process, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from coopmat.devices import Combination
from coopmat.diagnostics import Error
from coopmat.targets.vulkan.api import constants as vk

KINDS = {vk.PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: "discrete GPU", vk.PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: "integrated GPU",
         vk.PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: "virtual GPU", vk.PHYSICAL_DEVICE_TYPE_CPU: "CPU",
         vk.PHYSICAL_DEVICE_TYPE_OTHER: "other device"}
COMPONENTS = {
    vk.COMPONENT_TYPE_FLOAT16_KHR: "fp16", vk.COMPONENT_TYPE_FLOAT32_KHR: "fp32",
    vk.COMPONENT_TYPE_FLOAT64_KHR: "fp64", vk.COMPONENT_TYPE_BFLOAT16_KHR: "bf16",
    vk.COMPONENT_TYPE_FLOAT8_E4M3_EXT: "fp8_e4m3", vk.COMPONENT_TYPE_FLOAT8_E5M2_EXT: "fp8_e5m2",
    vk.COMPONENT_TYPE_SINT8_KHR: "sint8", vk.COMPONENT_TYPE_SINT16_KHR: "sint16",
    vk.COMPONENT_TYPE_SINT32_KHR: "sint32", vk.COMPONENT_TYPE_SINT64_KHR: "sint64",
    vk.COMPONENT_TYPE_UINT8_KHR: "uint8", vk.COMPONENT_TYPE_UINT16_KHR: "uint16",
    vk.COMPONENT_TYPE_UINT32_KHR: "uint32", vk.COMPONENT_TYPE_UINT64_KHR: "uint64"}
"""Vulkan's component types by our names, or by those of formats that matrices here do not have yet."""
SCOPES = {vk.SCOPE_SUBGROUP_KHR: "sub-group", vk.SCOPE_WORKGROUP_KHR: "work-group"}


@dataclass(frozen=True)
class MatrixRow:
    """A row of a driver's table. types: of A, B, C and D. sizes: M, N and K, or, of a flexible row, what they are
    multiples of. invocations: the work-group's size that a flexible row is for."""

    types: tuple[str, str, str, str]
    sizes: tuple[int, int, int]
    scope: str = "sub-group"
    saturating: bool = False
    invocations: int = 0

    def combination(self, sizes: tuple[int, int, int] | None = None) -> Combination | None:
        """The row, with sizes of its own if it is flexible; None if its types are no matrices of ours."""
        try:
            return Combination.row(*self.types, *(sizes or self.sizes))
        except (ValueError, Error):
            return None

    def __str__(self) -> str:
        return f"{' '.join(self.types)} {'x'.join(map(str, self.sizes))}{' saturating' if self.saturating else ''}"


@dataclass(frozen=True)
class DeviceFacts:
    """A device. ordinal: its place among those that Vulkan lists. versions are as Vulkan has them. features: the names
    of the members of structures that are on, of boolean properties, and of a sub-group's operations. limits: the
    numbers of the property structures that are looked at here, by their members' names. unusable: why kernels cannot
    run there, or empty."""

    ordinal: int
    name: str
    kind: str
    driver: str
    driver_info: str
    driver_version: int
    api_version: int
    vendor: int
    device: int
    uuid: str
    sub_group_sizes: tuple[int, ...]
    features: frozenset[str]
    extensions: frozenset[str]
    limits: Mapping[str, Any]
    matrices: tuple[MatrixRow, ...] = ()
    flexible: tuple[MatrixRow, ...] = ()
    unusable: str = ""

    def __hash__(self) -> int:
        return hash(self.identity)

    @property
    def is_gpu(self) -> bool:
        """Whether it is hardware, not a program on the CPU."""
        return self.kind.endswith("GPU")

    @property
    def shares_memory(self) -> bool:
        """Whether the device's memory is the host's."""
        return self.kind in ("CPU", "integrated GPU")

    @property
    def api(self) -> str:
        """The version of Vulkan, such as 1.4.318."""
        return version_text(self.api_version)

    @property
    def identity(self) -> str:
        """What makes two drivers of a device one and the same."""
        return repr((self.name, self.driver, self.driver_info, self.driver_version, self.api_version, self.vendor,
                     self.device, self.uuid))

    @property
    def shown(self) -> str:
        """The device and its driver, for people."""
        return f"{self.name} ({self.kind}; {self.driver} {self.driver_info}, Vulkan {self.api})".replace(" ,", ",")

    def to_json(self) -> dict[str, Any]:
        """As members of JSON."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["features"], found["extensions"] = sorted(self.features), sorted(self.extensions)
        for name in ("matrices", "flexible"):
            found[name] = [vars(row) for row in found[name]]
        return found | {"api": self.api}


def version_text(version: int) -> str:
    """A version as Vulkan packs it (Vulkan, section "Version Numbers")."""
    return f"{version >> 22 & 0x7f}.{version >> 12 & 0x3ff}.{version & 0xfff}"
