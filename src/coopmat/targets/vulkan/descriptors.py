"""Compute shaders on a device of Vulkan: the module goes to the driver as it is, and buffers to it as descriptors.

What the driver does not have, such as the shape of a matrix, makes the shader a kernel (docs/shaders.md), which is
translated as every other one.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Error, KernelNotSupported, LaunchError
from coopmat.spirv.analysis.device_support import check_supported
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.analysis.shader_interface import Interface, Slot
from coopmat.spirv.grammar import Capability
from coopmat.spirv.module import Module
from coopmat.spirv.transform.to_vulkan.features import lacking
from coopmat.spirv.transform.to_vulkan.shader import Argument, Shader
from coopmat.support.cache import Cache
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.structures import array, make
from coopmat.targets.vulkan.host.context import Context, Ticket
from coopmat.targets.vulkan.host.launch import Plan, Shared
from coopmat.targets.vulkan.host.memory import Buffer, known
from coopmat.targets.vulkan.host.pipelines import Pipeline
from coopmat.targets.vulkan.matrices import Matrices
from coopmat.targets.vulkan.options import VulkanOptions
from coopmat.targets.vulkan.program import VulkanProgram

_STEP = 256  # bytes to which uniform buffers are aligned
_SMALLEST = 16  # bytes of the buffer that stands for a null pointer
_KINDS = {"storage buffer": vk.DESCRIPTOR_TYPE_STORAGE_BUFFER, "uniform buffer": vk.DESCRIPTOR_TYPE_UNIFORM_BUFFER,
          "uniform member": vk.DESCRIPTOR_TYPE_UNIFORM_BUFFER}


class ShaderProgram(VulkanProgram):
    """The compute shaders of a module on a device. kernels: the same as kernels. shaders: the module.
    refusal: why the kernels are only declarations, if they are."""

    def __init__(self, kernels: Module, shaders: Module, interfaces: Mapping[str, Interface], number: int,
                 options: VulkanOptions, cache: Cache | None, description: DeviceDescription,
                 matrices: Matrices, refusal: Error | None) -> None:
        super().__init__(kernels, number, options, cache, matrices=matrices)
        self.shaders, self.interfaces, self.description = shaders, interfaces, description
        self.refusal = refusal

    def runs_as_it_is(self, name: str) -> bool:
        """Whether the driver has all that a shader needs."""
        signature = self.signatures[name]
        if self._lacking():
            return False
        if self.refusal is not None:  # the driver itself says whether it has the matrices
            return True
        usable = self.matrices.usable(self.module, self.sub_group_size(signature))
        if not usable:
            return Capability.CooperativeMatrixKHR not in self.shaders.capabilities
        try:
            check_supported(self.module, replace(self.description, any_combination=False, combinations=usable),
                            name)
        except KernelNotSupported:
            return False
        return True

    def _lacking(self) -> list[str]:
        """The capabilities that the driver lacks."""
        return lacking(self.shaders.capabilities, self.context.facts.features)

    def _made_plan(self, name: str, global_size: Sequence[int], local_size: Sequence[int],
                   global_offset: Sequence[int] | None) -> Plan:
        signature = self.signatures.get(name)
        if signature is None or any(global_offset or ()) or not self.runs_as_it_is(name):
            if self.refusal is not None:
                reason = f"lacks {', '.join(self._lacking())}" if self._lacking() else "takes no offset of a launch"
                raise KernelNotSupported(f"compute shader '{name}' does not run as it is, as {self.context.name} "
                                         f"{reason}, and not as a kernel: {self.refusal}")
            return super()._made_plan(name, global_size, local_size, global_offset)
        size = self.sub_group_size(signature)
        geometry = Geometry.checked(signature, global_size, local_size, global_offset, size)
        self._check_sizes(name, geometry)
        return DescriptorPlan(self.context, self.options, self.shaders.to_bytes(), self.interfaces[name], signature,
                              geometry, size, self.cache)


@dataclass(frozen=True)
class _Blocks:
    """Where members lie: the push constants first, then each uniform buffer that is made of members, by its set and
    binding: its offset and its bytes."""

    pushed: int
    uniform: Mapping[tuple[int, int], tuple[int, int]]

    @classmethod
    def of(cls, slots: Sequence[Slot]) -> _Blocks:
        """Those of a shader's parameters."""
        pushed = max((slot.offset + slot.size for slot in slots if slot.kind == "push constant"), default=0)
        pushed = -(-pushed // 4) * 4
        sizes: dict[tuple[int, int], int] = {}
        for slot in slots:
            if slot.kind == "uniform member":
                place = slot.set, slot.binding
                sizes[place] = max(sizes.get(place, 0), slot.offset + slot.size)
        found, end = {}, pushed
        for place, size in sizes.items():
            start = -(-end // _STEP) * _STEP
            end = start + -(-size // _SMALLEST) * _SMALLEST
            found[place] = start, end - start
        return cls(pushed, found)

    @property
    def size(self) -> int:
        """All bytes."""
        return max((start + size for start, size in self.uniform.values()), default=self.pushed)

    def argument(self, slot: Slot) -> Argument:
        """Where a parameter's value is written."""
        if slot.is_buffer:
            return Argument("descriptor", 0, 0)
        start = self.uniform[slot.set, slot.binding][0] if slot.kind == "uniform member" else 0
        return Argument("pointer" if slot.is_address else "value", start + slot.offset, slot.size)


class DescriptorPlan(Plan):
    """A compute shader with sizes, ready to be launched."""

    def __init__(self, context: Context, options: VulkanOptions, spirv: bytes, interface: Interface,
                 signature: KernelSignature, geometry: Geometry, sub_group_size: int, cache: Cache) -> None:
        self.slots = interface.slots
        self.blocks = _Blocks.of(self.slots)
        signature = replace(signature, parameters=signature.parameters[:len(self.slots)])
        shader = Shader(spirv, interface.entry.name, tuple(map(self.blocks.argument, self.slots)), self.blocks.size,
                        block_in_memory=False, hidden={}, local_size_spec_ids=(0, 0, 0), sub_group_size=sub_group_size)
        super().__init__(context, options, shader, signature, geometry, sub_group_size, None, cache)
        if len(self.parts) > 1:
            raise LaunchError(f"compute shader '{signature.name}': {geometry.group_counts} work-groups are more than "
                              f"{context.name} runs at once, {context.facts.limits['maxComputeWorkGroupCount']}")
        self.layouts = _Layouts(context, self.slots)
        self._made_pipeline: Pipeline | None = None

    def launch(self, arguments: Sequence[Any]) -> Ticket:
        """Submit the shader; the sizes of buffers, which follow the arguments, are the descriptors' own."""
        return super().launch(arguments[:len(self.slots)])

    def _pipeline(self, arguments: Sequence[Any], words: Sequence[bytes | int]) -> Pipeline:
        if self._made_pipeline is None:
            self._made_pipeline = self._made({})
        return self._made_pipeline

    def _pushed_bytes(self) -> int:
        return self.blocks.pushed

    def _set_layouts(self) -> Sequence[int]:
        return self.layouts.handles

    def _submitted(self, words: list[bytes | int], shared: Shared | None, printed: int, arguments: Sequence[Any]
                   ) -> Ticket:
        pipeline = self._pipeline(arguments, words)
        block = bytes(self._block(words, printed))
        sets = _Sets(self.layouts)
        for place, (slot, argument) in enumerate(zip(self.slots, arguments, strict=True)):
            if slot.is_buffer:
                sets.write(slot, *self._buffer(place, argument, shared))
        for slot in {(one.set, one.binding): one for one in self.slots if one.kind == "uniform member"}.values():
            start, size = self.blocks.uniform[slot.set, slot.binding]
            made = Buffer(self.context, size, "host")
            made.write(block[start:start + size])
            sets.write(slot, made, 0, size)
        commands = self.context.commands

        def record(to: int) -> None:
            if shared is not None:
                shared.record_in(to)
            commands.CmdBindPipeline(to, vk.PIPELINE_BIND_POINT_COMPUTE, pipeline.handle)
            sets.bind(to, pipeline.layout)
            if self.blocks.pushed:
                commands.CmdPushConstants(to, pipeline.layout, vk.SHADER_STAGE_COMPUTE_BIT, 0, self.blocks.pushed,
                                          block[:self.blocks.pushed])
            commands.CmdDispatch(to, *self.geometry.group_counts)
            if shared is not None:
                shared.record_out(to)

        return self.context.submit(record, self.what, [pipeline, sets, shared, arguments])

    def _buffer(self, place: int, argument: Any, shared: Shared | None) -> tuple[Buffer, int, int]:
        """The buffer that an argument lies in, where it begins there, and its bytes."""
        if argument is None or argument.nbytes == 0:
            return Buffer(self.context, _SMALLEST, "host"), 0, _SMALLEST
        found = known(self.context, argument)
        if found is None and shared is not None and isinstance(argument, np.ndarray):
            found = shared.place(argument)
        name = argument_name(place, self.signature.parameters[place].name)
        if found is None:
            kind = "the device" if isinstance(argument, DeviceArray) else "the host"
            raise LaunchError(f"compute shader '{self.signature.name}': {name} is memory of {kind} that is no buffer "
                              "of Vulkan")
        buffer, offset = found
        slot, limits = self.slots[place], self.context.facts.limits
        word = "Storage" if slot.kind == "storage buffer" else "Uniform"
        alignment, most = limits[f"min{word}BufferOffsetAlignment"], limits[f"max{word}BufferRange"]
        if offset % alignment:
            raise LaunchError(f"compute shader '{self.signature.name}': {name} begins {offset} bytes into a buffer, no "
                              f"multiple of {alignment}, which {self.context.name} needs: pass a copy")
        if argument.nbytes > most:
            raise LaunchError(f"compute shader '{self.signature.name}': {name} has {argument.nbytes} bytes, and a "
                              f"{slot.kind} of {self.context.name} at most {most}")
        return buffer, offset, argument.nbytes


class _Layouts:
    """The layouts of a shader's descriptor sets; those that it does not use are empty."""

    def __init__(self, context: Context, slots: Sequence[Slot]) -> None:
        self.context = context
        self.handles: list[int] = []
        self.kinds: dict[tuple[int, int], int] = {
            (slot.set, slot.binding): _KINDS[slot.kind] for slot in slots if slot.kind in _KINDS}
        context.use()
        for number in range(max((one for one, _ in self.kinds), default=-1) + 1):
            rows = [make("DescriptorSetLayoutBinding", binding=binding, descriptorType=kind, descriptorCount=1,
                         stageFlags=vk.SHADER_STAGE_COMPUTE_BIT)
                    for (place, binding), kind in self.kinds.items() if place == number]
            self.handles.append(context.commands.handle("CreateDescriptorSetLayout", context.device, ctypes.byref(
                make("DescriptorSetLayoutCreateInfo", bindingCount=len(rows),
                     pBindings=array("DescriptorSetLayoutBinding", rows) if rows else None))))

    def __del__(self) -> None:
        if self.context.lost is None:
            with contextlib.suppress(Error, TypeError, AttributeError):
                self.context.use()
                for handle in self.handles:
                    self.context.commands.DestroyDescriptorSetLayout(self.context.device, handle, None)


class _Sets:
    """The descriptor sets of one launch, and the buffers in them."""

    def __init__(self, layouts: _Layouts) -> None:
        self.context, self.layouts = layouts.context, layouts
        self.pool = 0
        self.handles: Any = array("u64", [0] * len(layouts.handles))
        self.kept: list[Buffer] = []
        if not layouts.handles:
            return
        context, kinds = self.context, list(layouts.kinds.values())
        sizes = [make("DescriptorPoolSize", type=kind, descriptorCount=kinds.count(kind)) for kind in set(kinds)]
        self.pool = context.commands.handle("CreateDescriptorPool", context.device, ctypes.byref(
            make("DescriptorPoolCreateInfo", maxSets=len(layouts.handles), poolSizeCount=len(sizes),
                 pPoolSizes=array("DescriptorPoolSize", sizes))))
        context.commands.AllocateDescriptorSets(context.device, ctypes.byref(
            make("DescriptorSetAllocateInfo", descriptorPool=self.pool, descriptorSetCount=len(layouts.handles),
                 pSetLayouts=array("u64", layouts.handles))), self.handles)

    def write(self, slot: Slot, buffer: Buffer, offset: int, nbytes: int) -> None:
        """Bind bytes of a buffer to a slot."""
        self.kept.append(buffer)
        place = make("DescriptorBufferInfo", buffer=buffer.handle, offset=offset, range=nbytes)
        row = make("WriteDescriptorSet", dstSet=self.handles[slot.set], dstBinding=slot.binding, descriptorCount=1,
                   descriptorType=_KINDS[slot.kind], pBufferInfo=place)
        self.context.commands.UpdateDescriptorSets(self.context.device, 1, ctypes.byref(row), 0, None)

    def bind(self, to: int, layout: int) -> None:
        """Write their binding into a command buffer."""
        if self.layouts.handles:
            self.context.commands.CmdBindDescriptorSets(to, vk.PIPELINE_BIND_POINT_COMPUTE, layout, 0,
                                                        len(self.handles), self.handles, 0, None)

    def __del__(self) -> None:
        if self.pool and self.context.lost is None:
            with contextlib.suppress(Error, TypeError, AttributeError):
                self.context.use()
                self.context.commands.DestroyDescriptorPool(self.context.device, self.pool, None)
