"""Shaders on a device: pipelines, with the driver's own code kept in the cache."""

from __future__ import annotations

import contextlib
import ctypes
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from coopmat.diagnostics import Error, LaunchError
from coopmat.support.cache import Cache, key
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.structures import array, make
from coopmat.targets.vulkan.host.context import Context
from coopmat.targets.vulkan.host.trial import Trial, survives


class Pipeline:
    """A shader with values of its specialisation constants. sub_group_size: None where the driver chooses. full:
    whether the driver must make whole sub-groups of work-groups. pushed: bytes of the push constants. sets: the
    layouts of the descriptor sets. is_tried: whether a process of its own makes it first, if the
    cache does not have it.

    Raises Error, with the kernel's name, if the driver refuses the shader.
    """

    def __init__(self, context: Context, kernel: str, spirv: bytes, entry_point: str, values: Mapping[int, int],
                 pushed: int, sub_group_size: int | None, full: bool, cache: Cache, sets: Sequence[int] = (), *,
                 is_tried: bool = False) -> None:
        self.context = context
        self.handle = self.layout = 0
        context.use()
        commands, device = context.commands, context.device
        name = key("pipeline of Vulkan", context.facts.identity, spirv, entry_point, repr(sorted(values.items())),
                   repr((pushed, sub_group_size, full)))
        saved = cache.get(name)
        if is_tried and saved is None and not sets:
            survives(Trial(context.number, kernel, spirv, entry_point, tuple(values.items()), pushed, sub_group_size,
                           full), context.facts.driver or context.name)
        module = store = 0
        try:
            with context.noting(f"kernel '{kernel}'"):
                module = commands.handle("CreateShaderModule", device, ctypes.byref(
                    make("ShaderModuleCreateInfo", codeSize=len(spirv), pCode=spirv)))
                self.layout = commands.handle("CreatePipelineLayout", device, ctypes.byref(_layout(pushed, sets)))
                store = self._store(saved)
                self._make(_stage(module, entry_point, values, sub_group_size, full), store)
                if saved is None:
                    cache.put(name, self._content(store))
        except LaunchError as error:
            if context.lost is not None:
                raise
            raise Error(f"kernel '{kernel}': {context.facts.driver or context.name} refuses the shader: {error}"
                        ) from None
        finally:
            if context.lost is None:
                commands.DestroyShaderModule(device, module, None)
                commands.DestroyPipelineCache(device, store, None)
        context.check_messages()

    def _store(self, saved: bytes | None) -> int:
        """A pipeline cache that holds what was saved; the driver itself looks whether it is its own."""
        commands, device = self.context.commands, self.context.device
        content = saved or b""
        made = make("PipelineCacheCreateInfo", initialDataSize=len(content), pInitialData=content or None)
        return int(commands.handle("CreatePipelineCache", device, ctypes.byref(made)))

    def _make(self, stage: Any, store: int) -> None:
        wanted = make("ComputePipelineCreateInfo", stage=stage, layout=self.layout, basePipelineIndex=-1)
        made = ctypes.c_uint64()
        self.context.commands.CreateComputePipelines(self.context.device, store, 1, ctypes.byref(wanted), None,
                                                     ctypes.byref(made))
        self.handle = made.value

    def _content(self, store: int) -> bytes:
        commands, device = self.context.commands, self.context.device
        size = ctypes.c_size_t()
        commands.GetPipelineCacheData(device, store, ctypes.byref(size), None)
        found = (ctypes.c_char * size.value)()
        commands.GetPipelineCacheData(device, store, ctypes.byref(size), found)
        return found.raw[:size.value]

    def __del__(self) -> None:
        if self.context.lost is not None:
            return
        with contextlib.suppress(Error, TypeError, AttributeError):
            self.context.use()
            self.context.commands.DestroyPipeline(self.context.device, self.handle, None)
            self.context.commands.DestroyPipelineLayout(self.context.device, self.layout, None)


def _layout(pushed: int, sets: Sequence[int]) -> Any:
    """Push constants, and the layouts of descriptor sets."""
    ranges = make("PushConstantRange", stageFlags=vk.SHADER_STAGE_COMPUTE_BIT, size=pushed)
    return make("PipelineLayoutCreateInfo", pushConstantRangeCount=1 if pushed else 0,
                pPushConstantRanges=ranges if pushed else None, setLayoutCount=len(sets),
                pSetLayouts=array("u64", sets) if sets else None)


def _stage(module: int, entry_point: str, values: Mapping[int, int], sub_group_size: int | None, full: bool) -> Any:
    entries = [make("SpecializationMapEntry", constantID=number, offset=4 * place, size=4)
               for place, number in enumerate(values)]
    data = struct.pack(f"<{len(values)}I", *values.values())
    special = make("SpecializationInfo", mapEntryCount=len(entries),
                   pMapEntries=array("SpecializationMapEntry", entries), dataSize=len(data), pData=data)
    size = None if sub_group_size is None else make("PipelineShaderStageRequiredSubgroupSizeCreateInfo",
                                                    requiredSubgroupSize=sub_group_size)
    return make("PipelineShaderStageCreateInfo", after=size, module=module, pName=entry_point,
                flags=vk.PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT if full else 0,
                stage=vk.SHADER_STAGE_COMPUTE_BIT, pSpecializationInfo=special)
