"""Devices of Vulkan: ``vulkan:0`` and so on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from coopmat.devices import ARCHITECTURES, Combination, DeviceDescription
from coopmat.devices.features import XMX_SIZES
from coopmat.devices.model import Limits
from coopmat.diagnostics import Error, LaunchError
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.runtime.device_arrays import device_array, way_to_host
from coopmat.spirv.analysis.shader_interface import Interface
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.targets.base.device_array import DeviceArray, Memory
from coopmat.targets.base.modules import check
from coopmat.targets.vulkan.host.context import Context, context, device_facts
from coopmat.targets.vulkan.host.facts import DeviceFacts
from coopmat.targets.vulkan.matrices import Matrices
from coopmat.targets.vulkan.options import VulkanOptions

if TYPE_CHECKING:
    from coopmat.runtime.timing import Restore
    from coopmat.runtime.vulkan_stream import VulkanStream, VulkanTimer
    from coopmat.targets.vulkan.descriptors import ShaderProgram
    from coopmat.targets.vulkan.program import VulkanProgram

ALIGNMENT = 256  # of buffers
FLUSHED = 64 << 20  # bytes that are more than the caches of most GPUs


def description_of(number: int, facts: DeviceFacts) -> DeviceDescription:
    """What kernels may use on a device: every shape and type, as on the CPU; what the driver has no matrices for is
    computed by sub-groups."""
    limits = Limits(facts.limits["maxComputeSharedMemorySize"], facts.limits["maxComputeWorkGroupInvocations"],
                    "the driver")
    sizes = facts.sub_group_sizes
    return DeviceDescription(f"vulkan:{number}", "vulkan" if facts.is_gpu else "vulkan_cpu", sizes, (),
                             has_fp64="shaderFloat64" in facts.features, any_combination=True,
                             xmx_sub_group_sizes=tuple(size for size in XMX_SIZES if size in sizes), limits=limits)


class VulkanDevice(Device):
    """A device of Vulkan: ``options`` are :class:`coopmat.VulkanOptions`. Error if there is no such device, or no
    driver; it is opened when something is done on it."""

    is_apart = True
    takes_shaders = True
    options: VulkanOptions

    def __init__(self, number: int, options: VulkanOptions | None = None) -> None:
        self.number = number
        self.facts = device_facts(number)
        super().__init__(description_of(number, self.facts), options if options is not None else VulkanOptions())
        if not isinstance(self.options, VulkanOptions):
            raise Error(f"the options of the device '{self.name}' are VulkanOptions, not {type(options).__name__}")
        self.matrices = Matrices(number, self.facts, self.options.probes)

    @property
    def identity(self) -> tuple[Any, ...]:
        return (*super().identity, self.facts.identity)

    def with_options(self, options: VulkanOptions) -> VulkanDevice:
        """The device with other options."""
        return VulkanDevice(self.number, options)

    @cached_property
    def gpu(self) -> Context:
        """The device, opened."""
        return context(self.number, self.options.validation)

    @property
    def chip(self) -> str:
        """The device's name, as its driver has it."""
        return self.facts.name

    @property
    def driver(self) -> str:
        """What the driver calls itself."""
        return f"{self.facts.driver} {self.facts.driver_info}"

    @property
    def architecture(self) -> str:
        """The device's name, as its driver has it: Vulkan knows no others."""
        return self.facts.name

    @property
    def own_matrices(self) -> list[Combination]:
        """The rows of the driver's table that compute what they should."""
        rows = self.matrices.rows
        if self.options.probes:
            rows = [one.row for one in self.matrices.verdicts(rows, self.sub_group_sizes[0]) if one.is_right]
        return list(dict.fromkeys(made for row in rows if (made := row.combination()) is not None))

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The rows of the driver's table that compute what they should (docs/vulkan.md): ``native``, and first. Then
        those of every device's table: all that kernels ask for are taken, too."""
        own = self.own_matrices
        others = dict.fromkeys(row for one in ARCHITECTURES.values() for row in one.combinations if row not in own)
        return [*own, *(replace(row, native=False) for row in others)]

    # --- programs -----------------------------------------------------------------------

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> VulkanProgram:
        """Prepare a module for execution; each kernel is translated at its first launch, or found in ``cache``."""
        from coopmat.targets.vulkan.program import VulkanProgram

        if not is_checked:
            check(module, self.description)
        return VulkanProgram(module, self.number, self.options, cache, matrices=self.matrices)

    def load_shaders(self, shaders: Module, kernels: Module, interfaces: Mapping[str, Interface],
                     cache: Cache, refusal: Error | None) -> ShaderProgram:
        """Prepare compute shaders, which go to the driver as they are. kernels: the same as kernels; refusal: why they
        are only declarations, if they are."""
        from coopmat.targets.vulkan.descriptors import ShaderProgram

        check(kernels, self.description)
        return ShaderProgram(kernels, shaders, interfaces, self.number, self.options, cache, self.description,
                             self.matrices, refusal)

    def explanation(self, program: LoadedProgram) -> list[str]:
        """What kernels have become: whether their matrices are the driver's."""
        from coopmat.targets.vulkan.program import VulkanProgram

        assert isinstance(program, VulkanProgram)
        return program.explanation()

    def assembly(self, program: LoadedProgram) -> str:
        """Error: drivers keep their code to themselves."""
        raise Error(f"the device '{self.name}' gives no assembly: its driver keeps the machine code to itself; "
                    "'coopmat compile --emit vulkan' writes the shader, and drivers print what they make of it "
                    "(RADV_DEBUG=asm, NAK_DEBUG=print)")

    # --- queues and memory --------------------------------------------------------------

    def stream(self, handle: int | None = None) -> VulkanStream:
        """What a queue submits its commands to."""
        from coopmat.runtime.vulkan_stream import VulkanStream

        if handle is not None:
            raise Error(f"a queue on '{self.name}' has no stream: streams are of NVIDIA's GPUs, such as cuda:0")
        return VulkanStream(self, self.gpu)

    def foreign(self, given: Any) -> DeviceArray | None:
        """The memory of malloc_device that an object shows; None if it shows none of a device. LaunchError for
        another device's."""
        found = device_array(given)
        if found is not None and getattr(found.owner, "context", None) is not self.gpu:
            raise LaunchError(f"its memory is on {found.place}, and {self.name} reaches its own and the host's: pass a "
                              f"copy, made with {way_to_host(given)}")
        return found

    def allocate(self, kind: Literal["device", "host", "shared"], nbytes: int, alignment: int) -> Memory:
        """Zeroed memory: of the device, or of the host that the device reaches."""
        from coopmat.targets.vulkan.host.memory import Allocation

        allocation = Allocation(self.gpu, kind, nbytes, alignment)
        return allocation.device_array(nbytes) if kind == "device" else allocation.array(nbytes)

    # --- times --------------------------------------------------------------------------

    def timer(self) -> VulkanTimer:
        """Times by the device's clock; a buffer larger than most caches empties them."""
        from coopmat.runtime.vulkan_stream import VulkanTimer

        return VulkanTimer(self.gpu, self.stream(), self.allocate("device", FLUSHED, ALIGNMENT))

    def snapshot(self, memory: Any) -> Restore | None:
        """See :meth:`Device.snapshot`, of memory of the device, too."""
        found = self.foreign(memory)
        if found is None:
            return super().snapshot(memory)
        queue = self.stream()
        copy = self.allocate("device", found.nbytes, ALIGNMENT)
        queue.copy(copy, found, found.nbytes).wait()
        return lambda: queue.copy(found, copy, found.nbytes).wait()
