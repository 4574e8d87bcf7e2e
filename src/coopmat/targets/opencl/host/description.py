"""What a driver says of a device: read in a child process, and kept as plain values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from coopmat.spirv.grammar import Capability
from coopmat.targets.opencl.host.driver import NO_PLATFORM, code_name, info_texts, info_words, started

SUB_GROUP_SIZES_INTEL = 0x4108  # cl_intel_required_subgroup_size
SPIRV_INSTRUCTION_SETS, SPIRV_EXTENSIONS, SPIRV_CAPABILITIES = 0x12B9, 0x12BA, 0x12BB  # cl_khr_spirv_queries
FINE_SYSTEM = 4  # CL_DEVICE_SVM_FINE_GRAIN_SYSTEM
_CPU, _GPU = 2, 4  # CL_DEVICE_TYPE
_IL = re.compile(r"SPIR-V_(\d+)\.(\d+)")

EXTENSIONS_OF: dict[Capability, frozenset[str]] = {
    capability: frozenset(names.split()) for capability, names in (
        (Capability.GroupNonUniformVote, "cl_khr_subgroup_non_uniform_vote"),
        (Capability.GroupNonUniformBallot, "cl_khr_subgroup_ballot"),
        (Capability.GroupNonUniformArithmetic, "cl_khr_subgroup_non_uniform_arithmetic"),
        (Capability.GroupNonUniformShuffle, "cl_khr_subgroup_shuffle"),
        (Capability.GroupNonUniformShuffleRelative, "cl_khr_subgroup_shuffle_relative"),
        (Capability.GroupNonUniformClustered, "cl_khr_subgroup_clustered_reduce"),
        (Capability.GroupNonUniformRotateKHR, "cl_khr_subgroup_rotate"),
        (Capability.DotProduct, "cl_khr_integer_dot_product"),
        (Capability.DotProductInput4x8Bit, "cl_khr_integer_dot_product"),
        (Capability.DotProductInput4x8BitPacked, "cl_khr_integer_dot_product"),
        (Capability.DotProductInputAll, "cl_khr_integer_dot_product"),
        (Capability.SubgroupShuffleINTEL, "cl_intel_subgroups cl_intel_spirv_subgroups"),
        (Capability.SubgroupBufferBlockIOINTEL, "cl_intel_subgroups cl_intel_spirv_subgroups"),
        (Capability.SplitBarrierEXT, "cl_intel_split_work_group_barrier"),
    )}
"""By which extensions a driver that does not list capabilities says that it takes one: any of them will do. OpenCL's
environment of SPIR-V names them."""

Kind = Literal["cpu", "gpu", "accelerator"]
Version = tuple[int, int]


@dataclass(frozen=True)
class DriverDevice:
    """A device of a driver, in the driver's words.

    platform, device: where it stands among the loader's platforms and the platform's devices. ils: the versions of
    SPIR-V that it takes; none if it takes no SPIR-V. spirv_extensions, spirv_capabilities: those that it takes; None
    where it does not tell (cl_khr_spirv_queries). sub_group_sizes: those that a kernel may require; none where it does
    not tell. svm: the bits of CL_DEVICE_SVM_CAPABILITIES. global_variables: the bytes that one at program scope may
    have; 0 if there are none.
    """

    platform: int
    device: int
    platform_name: str
    name: str
    vendor: str
    version: str
    driver_version: str
    kind: Kind
    ils: tuple[Version, ...]
    extensions: frozenset[str]
    spirv_extensions: frozenset[str] | None
    spirv_capabilities: frozenset[int] | None
    sub_group_sizes: tuple[int, ...]
    has_sub_groups: bool
    has_fp64: bool
    has_fp16: bool
    work_group: int
    local_memory: int
    memory: int
    largest_buffer: int
    units: int
    address_bits: int
    svm: int
    global_variables: int

    @property
    def identity(self) -> str:
        """What verdicts about it are kept under: they are true for this driver and this chip."""
        return "\n".join([self.platform_name, self.name, self.vendor, self.version, self.driver_version,
                          *map(str, self.ils), *sorted(self.extensions)])

    @property
    def why_unusable(self) -> str | None:
        """Why no kernel can be built for it; None if that may be possible."""
        if not self.ils:
            return (f"the driver of {self.name} ({self.platform_name}, {self.version.strip()}) takes no SPIR-V: it has "
                    "neither cl_khr_il_program nor CL_DEVICE_IL_VERSION")
        if self.address_bits != 64:
            return f"{self.name} has addresses of {self.address_bits} bits, and kernels are made for those of 64"
        return None

    @property
    def latest_il(self) -> Version:
        """The latest version of SPIR-V that it says it takes."""
        return max(self.ils)

    def lacks(self, capability: Capability) -> bool:
        """Whether the driver says that it does not take a capability, or lacks the extension that it comes with; False
        where it does not tell."""
        if self.spirv_capabilities is not None:
            return capability not in self.spirv_capabilities
        extensions = EXTENSIONS_OF.get(capability)
        return extensions is not None and not extensions & self.extensions

    def __str__(self) -> str:
        return f"{self.name}, {self.platform_name} {self.driver_version}"


def all_devices(_: object = None) -> list[DriverDevice]:
    """The devices of all drivers, in the loader's order. It runs in a child process."""
    cl = started()
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        if error.code == NO_PLATFORM:
            return []
        raise
    found = []
    for number, platform in enumerate(platforms):
        try:
            devices = platform.get_devices()
        except cl.Error as error:
            if code_name(error.code) != "DEVICE_NOT_FOUND":
                raise
            devices = []
        found += [_described(number, place, platform, device) for place, device in enumerate(devices)]
    return found


def _described(number: int, place: int, platform: Any, device: Any) -> DriverDevice:
    extensions = frozenset(device.extensions.split())
    has_queries = "cl_khr_spirv_queries" in extensions
    texts = info_texts(device, SPIRV_EXTENSIONS) if has_queries else None
    capabilities = info_words(device, SPIRV_CAPABILITIES) if has_queries else []
    kind: Kind = "cpu" if device.type & _CPU else "gpu" if device.type & _GPU else "accelerator"
    return DriverDevice(
        number, place, platform.name.strip(), device.name.strip(), device.vendor.strip(), device.version.strip(),
        device.driver_version.strip(), kind, _il_versions(device), extensions,
        None if texts is None else frozenset(texts), frozenset(capabilities) if capabilities else None,
        tuple(info_words(device, SUB_GROUP_SIZES_INTEL, 8)), bool(_asked(device, "max_num_sub_groups", 0)),
        bool(_asked(device, "double_fp_config", 0)),
        "cl_khr_fp16" in extensions, device.max_work_group_size, device.local_mem_size, device.global_mem_size,
        device.max_mem_alloc_size, device.max_compute_units, device.address_bits,
        int(_asked(device, "svm_capabilities", 0)), int(_asked(device, "max_global_variable_size", 0)))


def _il_versions(device: Any) -> tuple[Version, ...]:
    text = _asked(device, "il_version", "")
    return tuple(sorted((int(major), int(minor)) for major, minor in _IL.findall(text)))


def _asked(device: Any, name: str, otherwise: Any) -> Any:
    """What a device answers to a query of pyopencl's; ``otherwise`` if it does not know it."""
    try:
        return getattr(device, name)
    except started().Error:
        return otherwise
