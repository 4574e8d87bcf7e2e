"""A device as this process has it: its one queue, in whose order everything is done, and what waits for it.

Each submission comes after all before it. A timeline semaphore counts them.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from coopmat.diagnostics import Error
from coopmat.spirv.transform.to_vulkan.features import ALL, FOR_SHADERS
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.failures import DeviceLost
from coopmat.targets.vulkan.api.library import of_device
from coopmat.targets.vulkan.api.structures import array, feature_names, make, structure
from coopmat.targets.vulkan.host.enumeration import listing
from coopmat.targets.vulkan.host.facts import DeviceFacts
from coopmat.targets.vulkan.host.instance import FORKED, instance, is_forked
from coopmat.targets.vulkan.host.query import FEATURE_EXTENSIONS, HOST_MEMORY, NEEDED, feature_chain

RUNTIME_FEATURES = frozenset({*NEEDED, "subgroupSizeControl", "computeFullSubgroups",
                              "cooperativeMatrixFlexibleDimensions", "workgroupMemoryExplicitLayout"})
"""Features that are switched on for what is done here, beside those of shaders."""
PATIENCE = 1.0
"""Seconds that the interpreter's end waits for launches of which one was interrupted."""
SLICE = 200_000_000  # ns after which a wait looks for signals of the system
PORTABILITY = "VK_KHR_portability_subset"
Record = Callable[[int], None]
"""Writes commands into a command buffer."""


class Recorder:
    """A command buffer, and the two times around its commands; it serves again."""

    def __init__(self, context: Context) -> None:
        commands, device = context.commands, context.device
        wanted = make("CommandPoolCreateInfo", flags=vk.COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                      queueFamilyIndex=context.family)
        self.pool = commands.handle("CreateCommandPool", device, ctypes.byref(wanted))
        made = ctypes.c_void_p()
        commands.AllocateCommandBuffers(device, ctypes.byref(make("CommandBufferAllocateInfo", commandPool=self.pool,
                                                                  commandBufferCount=1)), ctypes.byref(made))
        self.buffer: int = made.value or 0
        self.queries = commands.handle("CreateQueryPool", device, ctypes.byref(
            make("QueryPoolCreateInfo", queryType=vk.QUERY_TYPE_TIMESTAMP, queryCount=2))) if context.has_times else 0


class Ticket:
    """A submission. ticks: when it began and ended, by
    the device's clock, in nanoseconds; None where it has no clock. kept: what it works with."""

    def __init__(self, context: Context, number: int, recorder: Recorder, what: str, kept: Sequence[Any]) -> None:
        self.context, self.number, self.recorder, self.what, self.kept = context, number, recorder, what, kept
        self.submitted_at = time.perf_counter_ns()
        self.ended_at = 0
        self.ticks: tuple[float, float] | None = None
        self.is_done = False

    @property
    def times(self) -> tuple[int, int]:
        """When it began and ended, in nanoseconds of time.perf_counter_ns; it is done."""
        if self.ticks is None:
            return self.submitted_at, self.ended_at
        start, end = (round(tick + self.context.clock_offset) for tick in self.ticks)
        start = max(start, self.submitted_at)
        return start, max(start, end)

    @property
    def seconds(self) -> float:
        """How long the device worked on it, by its own clock if it has one; it is done."""
        start, end = self.ticks or self.times
        return (end - start) * 1e-9

    def poll(self) -> bool:
        """Whether it is done."""
        if not self.is_done:
            self.context.collect()
        return self.is_done

    def wait(self, timeout: float | None = None) -> None:
        """Return when it is done. LaunchError, naming what was submitted, if the device is lost, or after a time."""
        if not self.is_done:
            self.context.reach(self, timeout)


class Context:
    """A logical device. facts: what is known of it. lost: why it cannot be used any more; None if it can."""

    def __init__(self, facts: DeviceFacts, number: int, validates: bool) -> None:
        self.facts, self.number, self.name = facts, number, f"vulkan:{number}"
        self._made_by = number, validates
        self.lost: str | None = None
        self._is_interrupted = False
        self.lock = threading.RLock()
        self.instance = instance(validates, listing().drivers)
        above = self.instance.commands
        self.physical = self._found()
        self.family, valid_bits = self._queue_family()
        self.has_times = bool(valid_bits) and facts.limits["timestampPeriod"] > 0
        self._mask = (1 << valid_bits) - 1
        self.extensions = self._wanted_extensions()
        self.device: int = above.handle("CreateDevice", self.physical, ctypes.byref(self._description()))
        self.commands = of_device(above, self.device, self.name)
        queue = ctypes.c_void_p()
        self.commands.GetDeviceQueue(self.device, self.family, 0, ctypes.byref(queue))
        self.queue = queue.value
        self.memory = structure("PhysicalDeviceMemoryProperties")()
        above.GetPhysicalDeviceMemoryProperties(self.physical, ctypes.byref(self.memory))
        kind = make("SemaphoreTypeCreateInfo", semaphoreType=vk.SEMAPHORE_TYPE_TIMELINE)
        self.timeline = self.commands.handle("CreateSemaphore", self.device,
                                             ctypes.byref(make("SemaphoreCreateInfo", after=kind)))
        self.submitted = 0
        self.clock_offset = float("inf")  # from the device's clock to the host's: the least that was seen
        self._idle: list[Recorder] = []
        self._pending: deque[Ticket] = deque()
        atexit.register(self._finish)

    def __reduce__(self) -> tuple[Any, ...]:
        return context, self._made_by

    def _found(self) -> int:
        """The physical device that the facts are of."""
        found = self.instance.facts()
        for one in (self.facts.ordinal, *range(len(found))):
            if one < len(found) and found[one].identity == self.facts.identity:
                return self.instance.physical[one]
        raise Error(f"{self.name} is not there any more: it was {self.facts.shown}")

    def _queue_family(self) -> tuple[int, int]:
        """The family of queues for kernels, rather one with graphics, and the bits of its clock."""
        families = self.instance.commands.listed_void(
            "GetPhysicalDeviceQueueFamilyProperties", self.physical, kind=structure("QueueFamilyProperties"))
        able = [(not one.queueFlags & vk.QUEUE_GRAPHICS_BIT, index, one.timestampValidBits)
                for index, one in enumerate(families) if one.queueFlags & vk.QUEUE_COMPUTE_BIT and one.queueCount]
        if not able:
            raise Error(f"{self.name} has no queue for kernels")
        _, index, bits = min(able)
        return index, bits

    def _wanted_extensions(self) -> list[str]:
        wanted = [one for one in FEATURE_EXTENSIONS.values() if one] + [HOST_MEMORY, PORTABILITY]
        return [one for one in dict.fromkeys(wanted) if one in self.facts.extensions]

    def _description(self) -> Any:
        """What the device is made with: the features that shaders and the runtime use."""
        first, by_name = feature_chain(self.facts.extensions)
        wanted = self.facts.features & (ALL | FOR_SHADERS | RUNTIME_FEATURES)
        for name, one in by_name.items():
            for member in feature_names()[name]:
                setattr(one, member, member in wanted)
        queue = make("DeviceQueueCreateInfo", queueFamilyIndex=self.family, queueCount=1,
                     pQueuePriorities=array("f32", [1.0]))
        return make("DeviceCreateInfo", after=first, queueCreateInfoCount=1, pQueueCreateInfos=queue,
                    enabledExtensionCount=len(self.extensions), ppEnabledExtensionNames=self.extensions)

    # --- submitting -------------------------------------------------------------------

    def use(self) -> None:
        """Raise DeviceLost if the device cannot be used any more, and Error in a forked process."""
        if is_forked():
            raise Error(FORKED)
        if self.lost is not None:
            raise DeviceLost(f"{self.name} cannot be used any more in this process, since {self.lost}")

    def submit(self, record: Record, what: str, kept: Sequence[Any] = ()) -> Ticket:
        """Submit commands. what: what they do, for errors; kept: what must stay until they are done."""
        self.use()
        with self.lock, self.noting(what):
            self.collect()
            recorder = self._idle.pop() if self._idle else Recorder(self)
            self._record(recorder, record)
            self.submitted += 1
            signal = make("TimelineSemaphoreSubmitInfo", signalSemaphoreValueCount=1,
                          pSignalSemaphoreValues=array("u64", [self.submitted]))
            wanted = make("SubmitInfo", after=signal, commandBufferCount=1,
                          pCommandBuffers=array("ptr", [recorder.buffer]), signalSemaphoreCount=1,
                          pSignalSemaphores=array("u64", [self.timeline]))
            self.commands.QueueSubmit(self.queue, 1, ctypes.byref(wanted), 0)
            ticket = Ticket(self, self.submitted, recorder, what, kept)
            self._pending.append(ticket)
        self.check_messages()
        return ticket

    def _record(self, recorder: Recorder, record: Record) -> None:
        commands, buffer = self.commands, recorder.buffer
        commands.BeginCommandBuffer(buffer, ctypes.byref(
            make("CommandBufferBeginInfo", flags=vk.COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)))
        self.barrier(buffer)
        if self.has_times:
            commands.CmdResetQueryPool(buffer, recorder.queries, 0, 2)
            commands.CmdWriteTimestamp(buffer, vk.PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, recorder.queries, 0)
        record(buffer)
        if self.has_times:
            commands.CmdWriteTimestamp(buffer, vk.PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, recorder.queries, 1)
        self.barrier(buffer)
        commands.EndCommandBuffer(buffer)

    def barrier(self, buffer: int) -> None:
        """What follows in a command buffer sees what was written before, by the host, too, and the host sees it."""
        access = vk.ACCESS_MEMORY_READ_BIT | vk.ACCESS_MEMORY_WRITE_BIT
        host = vk.ACCESS_HOST_READ_BIT | vk.ACCESS_HOST_WRITE_BIT
        stages = vk.PIPELINE_STAGE_ALL_COMMANDS_BIT | vk.PIPELINE_STAGE_HOST_BIT
        whole = make("MemoryBarrier", srcAccessMask=access | host, dstAccessMask=access | host)
        self.commands.CmdPipelineBarrier(buffer, stages, stages, 0, 1, ctypes.byref(whole), 0, None, 0, None)

    def keep(self, thing: Any) -> None:
        """Let something stay until everything that has been submitted is done."""
        if self._pending:
            self._pending[-1].kept = [*self._pending[-1].kept, thing]

    # --- waiting ----------------------------------------------------------------------

    def collect(self, reached: int = 0) -> None:
        """Take note of what is done: at least what has been waited for."""
        if self.lost is not None:
            return
        with self.lock, self.noting(self.name):
            value = ctypes.c_uint64()
            self.commands.GetSemaphoreCounterValue(self.device, self.timeline, ctypes.byref(value))
            while self._pending and self._pending[0].number <= max(value.value, reached):
                self._done(self._pending.popleft())

    def _done(self, ticket: Ticket) -> None:
        ticket.ended_at = time.perf_counter_ns()
        if self.has_times:
            found = (ctypes.c_uint64 * 2)()
            status = self.commands.GetQueryPoolResults(self.device, ticket.recorder.queries, 0, 2, 16, found, 8,
                                                       vk.QUERY_RESULT_64_BIT)
            if status == vk.SUCCESS:
                period = self.facts.limits["timestampPeriod"]
                start = found[0] & self._mask
                ticket.ticks = start * period, (start + ((found[1] - found[0]) & self._mask)) * period
                self.clock_offset = min(self.clock_offset, ticket.ended_at - ticket.ticks[1])
        ticket.is_done, ticket.kept = True, ()
        self._idle.append(ticket.recorder)

    def reach(self, ticket: Ticket, timeout: float | None = None) -> None:
        """Return when a submission is done."""
        self.use()
        wanted = make("SemaphoreWaitInfo", semaphoreCount=1, pSemaphores=array("u64", [self.timeline]),
                      pValues=array("u64", [ticket.number]))
        start = time.monotonic()
        try:
            with self.noting(ticket.what):
                while self.commands.WaitSemaphores(self.device, ctypes.byref(wanted), SLICE) == vk.TIMEOUT:
                    if timeout is not None and time.monotonic() - start > timeout:
                        raise DeviceLost(f"{ticket.what} did not end within {timeout:g} s (VulkanOptions(timeout=…)), "
                                         "and cannot be stopped")
        except KeyboardInterrupt:
            self._is_interrupted = True
            raise
        self.collect(ticket.number)
        self.check_messages()

    def wait(self, timeout: float | None = None) -> None:
        """Return when everything has been done."""
        self.use()
        with self.lock:
            last = self._pending[-1] if self._pending else None
        if last is not None:
            last.wait(timeout)

    @contextlib.contextmanager
    def noting(self, what: str) -> Any:
        """Errors name what was to be done; a device that is lost stays so."""
        try:
            yield
        except DeviceLost as error:
            message = f"{what}: {error}"
            self.lost = self.lost or message
            raise DeviceLost(f"{message}. Nothing can be done on {self.name} until the process is started again"
                             ) from None

    def check_messages(self) -> None:
        """Raise Error for what the validation layer has found."""
        if self.instance.messages:
            found, self.instance.messages[:] = list(self.instance.messages), []
            raise Error(f"{self.name}: the validation layer says: " + "\n".join(dict.fromkeys(found)))

    def _finish(self) -> None:
        """At the interpreter's end: drivers that still work then may crash. Who has interrupted a launch, or what was
        done behind it, does not wait for it."""
        is_interrupted = self._is_interrupted or getattr(sys, "last_type", None) is KeyboardInterrupt
        if self.lost is None and not is_forked():
            with contextlib.suppress(Error):
                self.wait(PATIENCE if is_interrupted else None)
                self.commands.DeviceWaitIdle(self.device)


_LOCK = ForkSafeLock(threading.RLock)


@cache
def _context(number: int, validates: bool, _: DeviceFacts) -> Context:
    return Context(_, number, validates)


def context(number: int, validates: bool = False) -> Context:
    """The device of a number, opened once. Error, saying what there is, if there is none or it cannot be used."""
    found = device_facts(number)
    with _LOCK:
        return _context(number, validates, found)


def device_facts(number: int) -> DeviceFacts:
    """What is known of the device of a number; it is not opened. Error as above."""
    found = listing()
    if number >= len(found.devices):
        count = len(found.devices)
        shown = f"vulkan:0 to vulkan:{count - 1}" if count > 1 else "vulkan:0 only" if count else "no device"
        why = f" ({'; '.join(found.problems)})" if found.problems else ""
        raise Error(f"there is no device vulkan:{number}: Vulkan's drivers show {shown}{why}")
    if found.devices[number].unusable:
        raise Error(f"vulkan:{number}, {found.devices[number].shown}, cannot run kernels: "
                    f"{found.devices[number].unusable}")
    return found.devices[number]
