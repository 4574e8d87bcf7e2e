"""NVIDIA's GPUs as devices: ``cuda:0`` and so on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from coopmat.devices import ARCHITECTURES, Combination, DeviceDescription
from coopmat.devices.model import Limits
from coopmat.diagnostics import Error, LaunchError
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.runtime.device_arrays import device_array
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.targets.base.device_array import DeviceArray, Memory
from coopmat.targets.base.modules import check
from coopmat.targets.cuda.host.allocations import Allocation, device_of
from coopmat.targets.cuda.host.context import Context, context, keeps_current
from coopmat.targets.cuda.host.driver import driver_version
from coopmat.targets.cuda.options import CudaOptions

if TYPE_CHECKING:
    from coopmat.runtime.cuda_stream import CudaStream
    from coopmat.runtime.cuda_timer import CudaTimer
    from coopmat.runtime.timing import Restore
    from coopmat.targets.cuda.program import CudaProgram, PtxProgram

ALIGNMENT = 256  # of buffers


def description_of(gpu: Context) -> DeviceDescription:
    """What kernels may use on a GPU: every shape and type, as on the CPU."""
    from coopmat.targets.cuda.program import SUB_GROUP_SIZES

    limits = Limits(gpu.shared_memory, gpu.attribute("MAX_THREADS_PER_BLOCK"), "the driver")
    return DeviceDescription(f"cuda:{gpu.ordinal}", "cuda", SUB_GROUP_SIZES, (), any_combination=True,
                             xmx_sub_group_sizes=(8, 16), limits=limits)


class CudaDevice(Device):
    """An NVIDIA GPU: ``options`` are :class:`coopmat.CudaOptions`. Error if there is no such GPU, or no driver."""

    is_apart = True
    options: CudaOptions

    def __init__(self, ordinal: int, options: CudaOptions | None = None) -> None:
        self.gpu = context(ordinal)
        super().__init__(description_of(self.gpu), options if options is not None else CudaOptions())
        if not isinstance(self.options, CudaOptions):
            raise Error(f"the options of the device '{self.name}' are CudaOptions, not {type(options).__name__}")

    def with_options(self, options: CudaOptions) -> CudaDevice:
        """The device with other options."""
        return CudaDevice(self.gpu.ordinal, options)

    @property
    def chip(self) -> str:
        """What the driver calls the GPU."""
        return self.gpu.name

    @property
    def driver(self) -> str:
        """The driver, with the version of CUDA that it has."""
        major, minor = divmod(driver_version(), 1000)
        return f"CUDA {major}.{minor // 10}"

    @property
    def architecture(self) -> str:
        """Name of the architecture: that of the table whose instructions the chip has."""
        return self.gpu.chip.table

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The rows of every device's table: ``native`` where the tensor cores have them, which come first. All others
        that kernels ask for are taken, too."""
        own = dict.fromkeys(self.gpu.chip.description.combinations)
        others = dict.fromkeys(row for one in ARCHITECTURES.values() for row in one.combinations if row not in own)
        return [*own, *(replace(row, native=False) for row in others)]

    # --- programs -----------------------------------------------------------------------

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> CudaProgram:
        """Prepare a module for execution; each kernel is compiled at its first launch, or found in ``cache``."""
        from coopmat.targets.cuda.program import CudaProgram

        if not is_checked:
            check(module, self.description)
        return CudaProgram(module, self.gpu.ordinal, self.options, cache)

    def explanation(self, program: LoadedProgram) -> list[str]:
        """What was chosen for the last launch of a program: merged work-groups, pipelines, clusters."""
        from coopmat.targets.cuda.program import CudaProgram

        assert isinstance(program, CudaProgram)
        return program.explanation()

    def ptx_program(self, module: Module, cache: Cache, load: Callable[[], LoadedProgram]) -> PtxProgram:
        """The program as it is loaded."""
        from coopmat.targets.cuda.program import PtxProgram

        found = load()
        assert isinstance(found, PtxProgram)
        return found

    def overview(self, load: Callable[[], LoadedProgram], ptx: Callable[[], PtxProgram]) -> list[str]:
        """What is chosen for all kernels, for work-groups as in PTX."""
        return ptx().usual_explanation()

    def assembly(self, program: LoadedProgram) -> str:
        """The PTX of all kernels of a program."""
        from coopmat.targets.cuda.program import PtxProgram

        assert isinstance(program, PtxProgram)
        return program.ptx()

    # --- queues and memory --------------------------------------------------------------

    def stream(self, handle: int | None = None) -> CudaStream:
        """What a queue submits its commands to: a CUDA stream of its own, or one by its handle."""
        from coopmat.runtime.cuda_stream import CudaStream

        return CudaStream(self, self.gpu, self.options, handle)

    @keeps_current
    def foreign(self, given: Any) -> DeviceArray | None:
        """The memory of this GPU that an object shows; None if it shows none. LaunchError for another GPU's."""
        found = device_array(given)
        if found is None:
            return None
        if not found.is_cuda:
            raise LaunchError(f"its memory is on {found.place}, and the launch is on {self.name}: pass a copy, made "
                              "with memory.to_host()")
        if found.device is None:
            self.gpu.use()
            found.device = device_of(found.address) if found.nbytes else self.gpu.ordinal
        if found.device != self.gpu.ordinal:
            raise LaunchError(f"its memory is on cuda:{found.device}, and the launch is on {self.name}: launch on a "
                              f"queue of cuda:{found.device}, or copy the array to {self.name} with its library")
        return found

    @keeps_current
    def allocate(self, kind: Literal["device", "host", "shared"], nbytes: int, alignment: int) -> Memory:
        """Zeroed memory: of the GPU, of the host that the GPU reaches, or managed by the driver, which moves it to
        whoever uses it."""
        allocation = Allocation(self.gpu, kind, nbytes, alignment)
        return allocation.device_array(nbytes) if kind == "device" else allocation.array(nbytes)

    # --- times --------------------------------------------------------------------------

    def timer(self) -> CudaTimer:
        """Times by the GPU's clock."""
        from coopmat.runtime.cuda_timer import CudaTimer

        return CudaTimer([self.flush()])

    def flush(self) -> tuple[Context, CudaStream, Memory]:
        """The GPU, a stream of it, and a buffer twice as large as its last cache, which empties that."""
        return self.gpu, self.stream(), self.allocate("device", 2 * self.gpu.cache, ALIGNMENT)

    def snapshot(self, memory: Any) -> Restore | None:
        """See :meth:`Device.snapshot`, of memory of the GPU, too."""
        found = self.foreign(memory)
        if found is None:
            return super().snapshot(memory)
        if found.is_read_only:
            return None
        queue = self.stream()
        copy = self.allocate("device", found.nbytes, ALIGNMENT)
        queue.copy(copy, found, found.nbytes).wait()
        return lambda: queue.copy(found, copy, found.nbytes).wait()
