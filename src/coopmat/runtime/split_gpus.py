"""Queues of several NVIDIA GPUs that share launches: what takes memory of GPUs only is submitted, and the GPUs wait for
each other by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from coopmat.runtime.cuda_stream import CudaEvent, CudaStream
from coopmat.runtime.events import Event
from coopmat.runtime.streams import HostStream, Kernel, Prepared, Sizes
from coopmat.runtime.work_in_parts import Work
from coopmat.targets.base.device_array import DeviceArray, Memory
from coopmat.targets.base.partition import Part
from coopmat.targets.cuda.host.context import keeps_current

Foreign = Mapping[int, Sequence[int]]
"""The streams in which other libraries work with arguments, by the numbers of their GPUs."""


class PartsEvent(Event):
    """A command whose parts run on several GPUs: it begins with the first one, and ends with the last one."""

    def __init__(self, submitted_at: int, parts: Sequence[CudaEvent]) -> None:
        self.submitted_at = submitted_at
        self.parts = parts

    @property
    def is_complete(self) -> bool:
        """Whether all parts have ended."""
        return all(one.is_complete for one in self.parts)

    def wait(self) -> PartsEvent:
        """Return when all parts have ended. LaunchError if one of them, or something before it, has failed."""
        for one in self.parts:
            one.wait()
        return self

    @property
    def elapsed(self) -> float:
        """The time of the longest part, in seconds, by its GPU's clock."""
        return max(one.elapsed for one in self.parts)

    @property
    def started_at(self) -> int:  # type: ignore[override]
        """When the first part began, in nanoseconds of time.perf_counter_ns."""
        return min(one.started_at for one in self.parts)

    @property
    def ended_at(self) -> int:  # type: ignore[override]
        """When the last part ended."""
        return max(one.ended_at for one in self.parts)

    def __repr__(self) -> str:
        return f"<coopmat.Event, {len(self.parts)} parts, {'' if self.is_complete else 'not '}complete>"


class GpusStream(HostStream):
    """See :class:`~coopmat.runtime.streams.Stream`. Every command comes after all that were submitted before it, to
    whichever GPU; what takes arrays of the host is done when it returns."""

    def __init__(self, device: Any) -> None:
        """``device``: the GPUs, a :class:`~coopmat.runtime.split_device.SplitDevice`."""
        super().__init__(device)
        self.gpus = [cast(CudaStream, one.stream()) for one in device.devices]

    # --- kernels ------------------------------------------------------------------------

    @keeps_current
    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if _are_on_gpus(arguments):
            return _Launch(self, kernel, sizes, arguments).submitted()
        self.meet(_foreign(arguments))
        self.wait()
        return super().launch(kernel, sizes, arguments)

    def prepare(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if _are_on_gpus(arguments):
            return _Launch(self, kernel, sizes, arguments, is_prepared=True).submitted
        return lambda: self.launch(kernel, sizes, arguments)

    # --- memory -------------------------------------------------------------------------

    def copy(self, target: Memory, source: Memory, nbytes: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        return self._on_one((target, source), lambda gpu, to, start: gpu.copy(to, start, nbytes))

    def fill(self, target: Memory, pattern: np.ndarray, count: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        return self._on_one((target,), lambda gpu, to: gpu.fill(to, pattern, count))

    def prefetch(self, memory: Memory, nbytes: int) -> Event:
        """Have each GPU read the memory in a copy of its own, a new one."""
        if isinstance(memory, DeviceArray):
            self.device.peers.wanted(memory)
        return super().prefetch(memory, nbytes)

    @keeps_current
    def _on_one(self, memory: Sequence[Memory], submit: Callable[..., Event]) -> Event:
        """Have the first GPU do something with memory, the first of which it writes."""
        foreign = _foreign(memory)
        self.meet(foreign)
        event = submit(self.gpus[0], *(_without_stream(one) for one in memory))
        if isinstance(event, CudaEvent):
            self.lead(foreign, memory, [event])
        self.device.peers.changed(memory[:1])
        return event

    # --- order --------------------------------------------------------------------------

    @keeps_current
    def wait_for(self, events: Iterable[Event]) -> None:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        for event in events:
            for one in event.parts if isinstance(event, PartsEvent) else (event,):
                if isinstance(one, CudaEvent):
                    self.gpus[0].wait_for([one])  # and the others for this one, at the next command
                else:
                    one.wait()

    def wait(self) -> None:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        for gpu in self.gpus:
            gpu.wait()

    def meet(self, foreign: Foreign) -> None:
        """What is submitted from now on, to any GPU, comes after everything that was submitted to any of them, and to
        streams of other libraries."""
        marks = []
        for gpu in self.gpus:
            for other in foreign.get(gpu.context.ordinal, ()):
                gpu.context.use()
                gpu.stream.follow(other)
            marks.append(gpu.stream.mark())
        for gpu, own in zip(self.gpus, marks, strict=True):
            for mark in marks:
                if mark is not own:
                    gpu.stream.wait_for(mark)

    def lead(self, foreign: Foreign, memory: Iterable[Any], events: Sequence[CudaEvent]) -> None:
        """What other libraries submit from now on comes after events; memory that nobody else keeps stays until then.
        """
        for gpu in self.gpus:
            for other in foreign.get(gpu.context.ordinal, ()):
                gpu.context.use()
                for event in events:
                    gpu.stream.lead(other, event.end)
        for one in memory:
            if isinstance(one, DeviceArray) and one.is_lent:
                for event in events:
                    event.stream.hold(event.end, one.owner)


class _Launch:
    """A kernel with sizes and arguments, whose arrays are all memory of GPUs.

    ``is_prepared``: whether what each GPU needs is kept for the next time.
    """

    def __init__(self, stream: GpusStream, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any], *,
                 is_prepared: bool = False) -> None:
        self._stream = stream
        program = kernel.program.load(stream.device)
        self._work: Work = program.work(kernel.name, *sizes)
        self._arguments = [_without_stream(one) for one in arguments]
        self._arrays = {place: one for place, one in enumerate(self._arguments) if isinstance(one, DeviceArray)}
        program.check_counters(self._work, self._arrays)
        self._written = [one for place, one in self._arrays.items() if place in self._work.sharing.written]
        self._foreign = _foreign(arguments)
        self._is_reused = program.has_matrices
        self._is_prepared = is_prepared
        self._ready: dict[Any, Prepared] = {}  # what submits a part, by its GPU and the addresses of arrays
        self._parts: Sequence[Part] = ()

    @keeps_current
    def submitted(self) -> Event:
        """Submit the parts; their event."""
        submitted_at = time.perf_counter_ns()
        stream, shares = self._stream, self._work.shares
        parts, is_timed = shares.following(), shares.wants_times
        if parts is not self._parts:
            self._parts, self._ready = parts, {}
        stream.meet(self._foreign)
        events = [self._submitted(part, is_timed=is_timed) for part in parts]
        if is_timed:
            shares.watch(parts, events)
        stream.device.peers.changed(self._written)
        stream.lead(self._foreign, self._arrays.values(), events)
        return PartsEvent(submitted_at, events)

    def _submitted(self, part: Part, *, is_timed: bool) -> CudaEvent:
        """Submit a part."""
        work, gpu, ordinal = self._work, self._stream.gpus[part.owner], self._stream.device.ordinals[part.owner]
        peers = self._stream.device.peers
        key = part.owner, *(peers.address(one, ordinal, place in work.sharing.written, self._is_reused)
                            for place, one in self._arrays.items())
        launch = self._ready.get(key)
        if launch is None:
            taken = {place: peers.at(one, ordinal, address)
                     for (place, one), address in zip(self._arrays.items(), key[1:], strict=True)}
            arguments = [*(taken.get(place, one) for place, one in enumerate(self._arguments)), *work.place(part)]
            if not self._is_prepared:
                return cast(CudaEvent, gpu.launch(work.kernel, work.sizes(part), arguments))
            launch = self._ready[key] = gpu.ready(work.kernel, work.sizes(part), arguments)
        return cast(CudaEvent, launch(is_timed=is_timed))


def _are_on_gpus(arguments: Sequence[Any]) -> bool:
    return not any(isinstance(one, np.ndarray) for one in arguments)


def _foreign(arguments: Iterable[Any]) -> Foreign:
    """The streams of other libraries among the arguments."""
    found: dict[int, list[int]] = {}
    for one in arguments:
        if isinstance(one, DeviceArray) and one.stream is not None:
            known = found.setdefault(one.device or 0, [])
            if one.stream not in known:
                known.append(one.stream)
    return found


def _without_stream(given: Any) -> Any:
    """An argument that brings no order of its own."""
    if not isinstance(given, DeviceArray) or given.stream is None:
        return given
    return DeviceArray(given.address, given.shape, given.dtype, is_read_only=given.is_read_only, device=given.device,
                       owner=given.owner, is_lent=given.is_lent)
