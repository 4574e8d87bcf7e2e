"""Queues on NVIDIA's GPUs: commands in the order of a CUDA stream, and events that the GPU's own clock times.

What takes memory of the GPU only is submitted; what takes arrays of the host is done when it returns.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.runtime.events import Event
from coopmat.runtime.streams import Kernel, Prepared, Sizes, host_bytes
from coopmat.targets.base.device_array import DeviceArray, Memory
from coopmat.targets.cuda.host.allocations import is_managed, prefetch, reachable
from coopmat.targets.cuda.host.context import Context, keeps_current
from coopmat.targets.cuda.host.driver import ContextLost, call
from coopmat.targets.cuda.host.graphs import Capture, Graph
from coopmat.targets.cuda.host.launch import Plan
from coopmat.targets.cuda.host.streams import Mark, Stream, clock_of
from coopmat.targets.cuda.options import CudaOptions
from coopmat.targets.cuda.program import CudaProgram

if TYPE_CHECKING:
    from coopmat.runtime.device import Device

_WIDTHS = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}


class CudaEvent(Event):
    """A command in a stream; its times are asked of the GPU, and waited for, when they are needed."""

    def __init__(self, stream: Stream, submitted_at: int, start: Mark, end: Mark) -> None:
        self.submitted_at = submitted_at
        self.end = end
        self._start = start
        self.stream = stream

    @property
    @keeps_current
    def is_complete(self) -> bool:
        """Whether the command has ended."""
        self.stream.context.use()
        return self.end.is_done()

    @keeps_current
    def wait(self) -> CudaEvent:
        """Return when the command has ended. LaunchError if it, or one before it in its queue, has failed."""
        self.stream.context.use()
        self.stream.reach(self.end)
        return self

    @property
    @keeps_current
    def elapsed(self) -> float:
        """The time that the command took, in seconds, by the GPU's clock."""
        self.wait()
        return self.end.after(self._start) * 1e-3

    @property
    @keeps_current
    def started_at(self) -> int:  # type: ignore[override]
        """When it began, in nanoseconds of time.perf_counter_ns."""
        self.wait()
        return max(clock_of(self.stream.context).time_of(self._start, self.submitted_at), self.submitted_at)

    @property
    def ended_at(self) -> int:  # type: ignore[override]
        """When it ended."""
        return self.started_at + round(self.elapsed * 1e9)


class _Untimed(CudaEvent):
    """A prepared launch: marks around it would take the GPU as long as a small kernel. Its end is marked when that is
    first asked for, behind whatever has been submitted until then."""

    def __init__(self, stream: Stream, submitted_at: int) -> None:
        self.submitted_at = submitted_at
        self.stream = stream
        self._end: Mark | None = None

    @property
    def end(self) -> Mark:  # type: ignore[override]
        """A mark behind the launch."""
        if self._end is None:
            self._end = self.stream.mark()
        return self._end

    def _no_times(self) -> LaunchError:
        return LaunchError("a prepared launch is not timed: Queue.enqueue gives events with times, and cm.do_bench "
                           "times functions")

    def __repr__(self) -> str:
        return f"<coopmat.Event, {'complete' if self.is_complete else 'not complete'}>"

    @property
    def elapsed(self) -> float:
        """LaunchError."""
        raise self._no_times()

    @property
    def started_at(self) -> int:  # type: ignore[override]
        """LaunchError."""
        raise self._no_times()

    @property
    def ended_at(self) -> int:  # type: ignore[override]
        """LaunchError."""
        raise self._no_times()


class _Captured(Event):
    """A command that has become part of a graph: nothing has been done."""

    def __init__(self) -> None:
        now = time.perf_counter_ns()
        super().__init__(now, now, now)

    def wait(self) -> Event:
        """It cannot be waited for."""
        raise LaunchError("a command that a graph has taken is done when the graph is launched: wait for "
                          "graph.launch()")


class CudaStream:
    """See :class:`~coopmat.runtime.streams.Stream`."""

    @keeps_current
    def __init__(self, device: Device, context: Context, options: CudaOptions, handle: int | None = None) -> None:
        self.device = device
        self.context = context
        self.options = options
        self.stream = Stream(context, handle)

    @property
    def handle(self) -> int:
        """CUDA's handle of the stream."""
        return self.stream.number

    # --- kernels ----------------------------------------------------------------------

    @keeps_current
    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if self.options.diagnose and not self.stream.is_capturing:
            return self._diagnosed(kernel, sizes, arguments)
        return self._launch(kernel, sizes, arguments)

    def _launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        submitted_at, stream = time.perf_counter_ns(), self.stream
        plan = self._plan(kernel, sizes, arguments)
        foreign = () if stream.is_capturing else self._follow(arguments)
        marks = plan.launch(arguments, stream)
        if marks is None:
            stream.taken.append(arguments)
            return _Captured()
        start, end = marks
        self._lead(arguments, foreign, end)
        return CudaEvent(stream, submitted_at, start, end)

    @keeps_current
    def prepare(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        return keeps_current(self.ready(kernel, sizes, arguments))

    def ready(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """The same, which leaves the GPU's context to the thread. ``is_timed``: whether its event has times."""
        stream = self.stream
        run = self._plan(kernel, sizes, arguments).prepared(arguments, stream)
        if run is None or self.options.diagnose:
            return lambda **_: self.launch(kernel, sizes, arguments)
        context = self.context
        is_apart = not any(type(one) is DeviceArray and one.stream is not None for one in arguments)

        def launch(*, is_timed: bool = False) -> Event:
            context.use()
            if stream.is_capturing:
                stream.taken.append(arguments)
                run()
                return _Captured()
            submitted_at = time.perf_counter_ns()
            foreign = () if is_apart else self._follow(arguments)
            start = stream.mark() if is_timed or context.times_all else None
            run()
            event = _Untimed(stream, submitted_at) if start is None else CudaEvent(
                stream, submitted_at, start, stream.mark())
            if foreign:
                self._lead(arguments, foreign, event.end)
            return event

        return launch

    def _plan(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Plan:
        """The kernel with its sizes, compiled and loaded."""
        program = kernel.program.load(self.device)
        assert isinstance(program, CudaProgram)
        plan = program.plan(kernel.name, *sizes, arguments)
        plan.come_from(kernel.program.source_name)
        return plan

    def _follow(self, arguments: Sequence[Any]) -> Sequence[int]:
        """Come after what other libraries have submitted that work with the arguments; their streams."""
        own = self.stream.number
        found: list[int] = []
        for one in arguments:
            if type(one) is DeviceArray and one.stream is not None and one.stream != own and one.stream not in found:
                if not found:
                    self.context.use()
                found.append(one.stream)
                self.stream.follow(one.stream)
        return found

    def _lead(self, arguments: Sequence[Any], foreign: Sequence[int], end: Mark) -> None:
        """Let other libraries come after the launch, and keep what nobody else keeps."""
        for other in foreign:
            self.stream.lead(other, end)
        for one in arguments:
            if type(one) is DeviceArray and one.is_lent:
                self.stream.hold(end, one.owner)

    def _diagnosed(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        from coopmat.runtime.diagnosis import Diagnosis

        self.wait()
        diagnosis = Diagnosis(kernel, sizes, arguments, self.to_host)
        try:
            return self._launch(kernel, sizes, arguments).wait()
        except ContextLost as error:
            raise diagnosis.explained(error) from error

    # --- memory -----------------------------------------------------------------------

    def to_host(self, memory: DeviceArray) -> np.ndarray:
        """A copy of memory of the GPU."""
        found = np.empty(memory.nbytes, np.uint8)
        self.copy(found, memory, memory.nbytes)
        return found.view(memory.dtype).reshape(memory.shape)

    @keeps_current
    def copy(self, target: Memory, source: Memory, nbytes: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if not nbytes:
            return self._command((), lambda: None)
        to, start = _address(target), _address(source)
        return self._command((target, source), lambda: call(
            "cuMemcpyAsync", to, start, nbytes, self.stream.handle, what=f"a copy of {nbytes} bytes"))

    @keeps_current
    def fill(self, target: Memory, pattern: np.ndarray, count: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if isinstance(target, np.ndarray) and not _is_reachable(target):
            self.wait()
            return Event.of(lambda: np.copyto(host_bytes(target, count * pattern.size).reshape(-1, pattern.size),
                                              pattern))
        return self._command((target,), lambda: self._set(_address(target), pattern, count))

    def _set(self, address: int, pattern: np.ndarray, count: int) -> None:
        """Have the GPU write a pattern; one of 8 bytes as two of 4, by columns."""
        size = pattern.size
        if not count:
            return
        if size in _WIDTHS:
            call(_WIDTHS[size], address, int.from_bytes(pattern.tobytes(), "little"), count, self.stream.handle)
            return
        for place in range(0, size, 4):
            word = int.from_bytes(pattern[place:place + 4].tobytes(), "little")
            call("cuMemsetD2D32Async", address + place, size, word, 1, count, self.stream.handle)

    @keeps_current
    def prefetch(self, memory: Memory, nbytes: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        address = _address(memory)
        moves = bool(nbytes) and is_managed(address, nbytes)
        return self._command((), lambda: prefetch(self.context, address, nbytes, self.stream.handle) if moves else None)

    def _command(self, memory: Sequence[Memory], submit: Any) -> Event:
        submitted_at, stream = time.perf_counter_ns(), self.stream
        self.context.use()
        is_on_host = any(isinstance(one, np.ndarray) and not _is_reachable(one) for one in memory)
        if stream.is_capturing:
            if is_on_host:
                raise LaunchError("a graph takes copies between memory of the GPU, malloc_host and malloc_shared; "
                                  "arrays of the host would be copied once only")
            stream.taken.append(memory)
            submit()
            return _Captured()
        foreign = self._follow(memory)
        start = stream.mark()
        submit()
        end = stream.mark()
        self._lead(memory, foreign, end)
        if is_on_host:
            stream.synchronize()
        return CudaEvent(stream, submitted_at, start, end)

    # --- order ------------------------------------------------------------------------

    @keeps_current
    def wait_for(self, events: Iterable[Event]) -> None:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        self.context.use()
        for event in events:
            if isinstance(event, CudaEvent):
                self.stream.wait_for(event.end)
            else:
                event.wait()

    @keeps_current
    def wait(self) -> None:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if self.stream.is_capturing:
            raise LaunchError("a queue whose commands a graph takes cannot be waited for: wait for graph.launch()")
        self.context.use()
        self.stream.synchronize()

    def graph(self) -> CudaGraph:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        return CudaGraph(self)


class CudaGraph:
    """Commands that were taken once and are launched together: ``with queue.graph() as graph: …``, then
    ``graph.launch()`` as often as needed. The arguments are those of the commands; memory of the GPU may have other
    contents each time.

    LaunchError, at the command, for what no graph can hold: arrays of the host, printf, assertions, waiting.
    """

    def __init__(self, stream: CudaStream) -> None:
        self._stream = stream
        self._capture: Capture | None = None
        self._graph: Graph | None = None

    @keeps_current
    def __enter__(self) -> CudaGraph:
        if self._graph is not None or self._capture is not None:
            raise LaunchError("a graph takes commands once; make another with queue.graph()")
        self._stream.context.use()
        self._capture = Capture(self._stream.stream)
        return self

    @keeps_current
    def __exit__(self, kind: Any, *_: object) -> None:
        capture, self._capture = self._capture, None
        assert capture is not None
        graph = capture.ended(is_wanted=kind is None)
        if graph is not None:
            self._graph = graph

    @keeps_current
    def launch(self) -> Event:
        """Submit all commands to the queue, in their order."""
        if self._graph is None:
            raise LaunchError("the graph has no commands yet: they are taken inside of 'with queue.graph() as graph:'")
        submitted_at, stream = time.perf_counter_ns(), self._stream
        stream.context.use()
        arguments = self._graph.arguments
        foreign = stream._follow(arguments)
        start = stream.stream.mark()
        self._graph.launch(stream.stream)
        end = stream.stream.mark()
        stream._lead(arguments, foreign, end)
        return CudaEvent(stream.stream, submitted_at, start, end)

    replay = launch


def _address(memory: Memory) -> int:
    return memory.address if isinstance(memory, DeviceArray) else int(memory.ctypes.data)


def _is_reachable(array: np.ndarray) -> bool:
    return reachable(int(array.ctypes.data), array.nbytes)
