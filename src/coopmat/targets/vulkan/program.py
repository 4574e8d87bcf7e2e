"""A module made ready for a device of Vulkan: shaders, kept in the cache, and launches."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from coopmat.devices import Combination
from coopmat.diagnostics import KernelNotSupported, LaunchError
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.analysis.matrix_uses import has_work_groups
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.analysis.sub_group_kernels import notices_sub_groups
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.malformed import well_formed
from coopmat.spirv.transform.to_vulkan import to_vulkan
from coopmat.spirv.transform.to_vulkan.shader import Shader, VulkanTarget
from coopmat.support.cache import Cache, key
from coopmat.support.cached import cached_property
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.validity import Validity
from coopmat.targets.llvm.saved import canonical
from coopmat.targets.vulkan.host.context import Context, context
from coopmat.targets.vulkan.host.launch import Plan
from coopmat.targets.vulkan.host.memory import ALIGNMENT, Allocation, transfer
from coopmat.targets.vulkan.matrices import USERS, Matrices
from coopmat.targets.vulkan.options import VulkanOptions

MOST_PLANS = 256
Size = tuple[int, int, int]
_TRANSLATING = ForkSafeLock()


class VulkanProgram:
    """The kernels of a module on a device. matrices: those of the driver that may be used. validates: whether a module
    is checked before; drivers do not survive invalid shaders."""

    def __init__(self, module: Module, number: int, options: VulkanOptions, cache: Cache | None = None, *,
                 matrices: Matrices | None = None, validates: bool = True) -> None:
        self.module, self.options = module, options
        self.context: Context = context(number, options.validation)
        self.cache = cache if cache is not None else Cache(None)
        self.matrices = matrices if matrices is not None else Matrices(number, self.context.facts, options.probes)
        self.validity = Validity(module, validates=validates)
        self.signatures = module.kernel_signatures
        self.has_work_groups = has_work_groups(module)
        self._shaders: dict[tuple[str, Size | None], Shader] = {}
        self._plans: dict[Any, Plan] = {}
        self._globals: dict[bytes, DeviceArray] = {}

    def launch(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> None:
        """Run a kernel over ``global_size`` work-items in groups of ``local_size``; returns when it is done.

        arguments: contiguous numpy arrays for pointers (written in place) or None, bytes for values,
            :class:`LocalMemory` for local pointers. Raises LaunchError for sizes that do not fit.
        """
        self.plan(kernel_name, global_size, local_size, global_offset).launch(arguments).wait(self.options.timeout)

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> Any:
        """What launches it with arguments; it is done then."""
        plan = self.plan(kernel_name, global_size, local_size, global_offset)
        return lambda given: plan.launch(given).wait(self.options.timeout)

    def plan(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
             global_offset: Sequence[int] | None = None) -> Plan:
        """Translate a kernel for these sizes, if that has not been done; what launches it."""
        chosen = (kernel_name, tuple(global_size), tuple(local_size), global_offset and tuple(global_offset))
        if chosen not in self._plans:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[chosen] = self._made_plan(*chosen)
        return self._plans[chosen]

    def _made_plan(self, name: str, global_size: Sequence[int], local_size: Sequence[int],
                   global_offset: Sequence[int] | None) -> Plan:
        if name not in self.signatures:
            raise LaunchError(f"there is no kernel '{name}'; the kernels are {', '.join(self.signatures)}")
        signature = self.signatures[name]
        size = self.sub_group_size(signature)
        geometry = Geometry.checked(signature, global_size, local_size, global_offset, size)
        self._check_sizes(name, geometry)
        shader = self.shader(name, geometry.local_size)
        return Plan(self.context, self.options, shader, signature, geometry, size, self._globals_of(shader), self.cache)

    def _check_sizes(self, name: str, geometry: Geometry) -> None:
        limits = self.context.facts.limits
        size = geometry.sub_group_size
        if geometry.local_total % size and self._has_matrices(name):
            raise LaunchError(f"kernel '{name}' has cooperative matrices, which on {self.context.name} sub-groups of "
                              f"{size} work-items hold: a work-group of {geometry.local_total} is not made of whole "
                              "ones")
        most, along = limits["maxComputeWorkGroupInvocations"], limits["maxComputeWorkGroupSize"]
        if geometry.local_total > most:
            raise LaunchError(f"kernel '{name}': a work-group of {geometry.local_total} work-items is larger than "
                              f"{self.context.name} allows, {most}")
        for axis, (size, limit) in enumerate(zip(geometry.local_size, along, strict=True)):
            if size > limit:
                raise LaunchError(f"kernel '{name}': a work-group of {size} work-items in dimension {axis} is longer "
                                  f"than {self.context.name} allows there, {limit}")
        if geometry.sub_groups_per_group > limits["maxComputeWorkgroupSubgroups"]:
            raise LaunchError(f"kernel '{name}': a work-group of {geometry.sub_groups_per_group} sub-groups is larger "
                              f"than {self.context.name} allows, {limits['maxComputeWorkgroupSubgroups']}")

    def _has_matrices(self, name: str) -> bool:
        types = {row.result_id for row in self.module.of_opcode(Op.TypeCooperativeMatrixKHR)}
        return bool(types) and any(row.type_id in types for row in reachable_instructions(self.module, name))

    # --- shaders ----------------------------------------------------------------------

    def sub_group_size(self, signature: KernelSignature) -> int:
        """Of a kernel. KernelNotSupported if the device does not have the one that it requires, and needs."""
        sizes = self.context.facts.sub_group_sizes
        size = signature.sub_group_size or sizes[0]
        if size not in sizes:
            if not notices_sub_groups(self.module, signature.name):
                return sizes[0]
            has = " or ".join(map(str, sizes))
            raise KernelNotSupported(f"kernel '{signature.name}' requires sub-groups of {size}; {self.context.name} "
                                     f"has {has}: let it require {has}, or none, and launch it in such sub-groups")
        return size

    def target(self, signature: KernelSignature, work_group: Size | None = None) -> VulkanTarget:
        """What the driver can do for a kernel, in work-groups of a size if that matters."""
        facts = self.context.facts
        limits, size = facts.limits, self.sub_group_size(signature)
        memory, work_groups = limits["maxComputeSharedMemorySize"], tuple[Combination, ...]()
        if work_group is not None:
            memory -= limits.get("cooperativeMatrixWorkgroupScopeReservedSharedMemory", 0)
            work_groups = self.matrices.usable_by_work_groups(self.module, prod(work_group), size)
        return VulkanTarget(facts.features, size, limits["maxPushConstantsSize"], memory,
                            self.matrices.usable(self.module, size), work_group, work_groups,
                            in_step=facts.kind == "CPU")

    def shader(self, name: str, local_size: Size | None = None) -> Shader:
        """A kernel as a shader for launches in work-groups of a size (None: that which it requires); made once, and
        kept in the cache. Where the kernel has no matrices of work-groups, one shader is for all sizes."""
        signature = self.signatures[name]
        chosen = name, (local_size or signature.work_group_size) if self.has_work_groups else None
        if chosen not in self._shaders:
            target = self.target(signature, chosen[1])
            with _TRANSLATING:
                if chosen not in self._shaders:
                    self._shaders[chosen] = self._made_shader(name, target)
        return self._shaders[chosen]

    def _made_shader(self, name: str, target: VulkanTarget) -> Shader:
        place = key("shader for Vulkan", self._module_bytes, name, canonical(target))
        content = self.cache.get(place)
        if content is not None:
            found = pickle.loads(content)
            assert isinstance(found, Shader)
            return found
        with self.validity.of_kernel(name), well_formed("the module"):
            made = _plain(to_vulkan(self.module, name, target))
        self.cache.put(place, pickle.dumps(made))
        return made

    @cached_property
    def _module_bytes(self) -> bytes:
        return self.module.to_bytes()

    def _globals_of(self, shader: Shader) -> DeviceArray | None:
        """The memory of the module's own variables, which its kernels share."""
        image = shader.globals_image
        if not image:
            return None
        if image not in self._globals:
            made = Allocation(self.context, "device", len(image), ALIGNMENT).device_array(len(image))
            content = bytearray(image)
            for place in shader.globals_relocations:
                address = int.from_bytes(content[place:place + 8], "little") + made.address
                content[place:place + 8] = address.to_bytes(8, "little")
            transfer(self.context, made, np.frombuffer(content, np.uint8), len(image))
            self._globals[image] = made
        return self._globals[image]

    def explanation(self) -> list[str]:
        """What the kernels that were launched have become."""
        found = []
        for (name, _), shader in self._shaders.items():
            words = ["arguments in memory" if shader.block_in_memory else "arguments in push constants"]
            if shader.sub_group_size is not None:
                words.append(f"sub-groups of {shader.sub_group_size}")
            if "cooperativeMatrixWorkgroupScope" in shader.features:
                words.append("matrices of work-groups of the driver")
            elif "cooperativeMatrix" in shader.features:
                words.append("matrices of the driver")
            elif USERS.intersection(self.module.capabilities):
                words.append("matrices as sub-group code, as the driver has none that work of their types and uses "
                             "(coopmat doctor)")
            found.append(f"kernel '{name}' on {self.context.facts.name}: a compute shader with {', '.join(words)}")
        return found


def _plain(shader: Shader) -> Shader:
    """The shader in a form that can be kept."""
    calls = tuple(replace(one, strings=dict(one.strings)) for one in shader.print_calls)
    return replace(shader, hidden=dict(shader.hidden), print_calls=calls)
