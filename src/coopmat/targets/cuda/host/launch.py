"""Launches on a GPU: the block of words and arguments, the grid, and what is read when the kernel has ended.

A :class:`Plan` is what a launch needs beside its arguments: a kernel with sizes. Programs keep plans.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coopmat.diagnostics import KernelAssertion, LaunchError, Where
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.local_memory import check_local_memory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.values import as_bytes
from coopmat.targets.cuda.host.allocations import Allocation, reachable
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import failure
from coopmat.targets.cuda.host.memory import Blocks, Copies
from coopmat.targets.cuda.host.modules import LoadedKernel
from coopmat.targets.cuda.host.streams import Mark, Stream
from coopmat.targets.cuda.host.submission import early_submission, submit
from coopmat.targets.cuda.host.tensor_maps import sizes_of, tensor_map
from coopmat.targets.cuda.host.turning import Turn, Turned, turn
from coopmat.targets.cuda.host.variables import Variables
from coopmat.targets.cuda.kernel import BLOCK_ALIGNMENT, KernelCode
from coopmat.targets.cuda.lanes import CudaLanes
from coopmat.targets.cuda.work_groups.pipeline import CLUSTER
from coopmat.targets.llvm.merging import MergedLaunch
from coopmat.targets.llvm.print_buffer import PrintBuffer
from coopmat.targets.llvm.threads.launch import LOCAL_ALIGNMENT, WORD_BYTES, Slot, Word

Misfit = Literal["arguments", "overlap", "loads", "stores"]
"""What does not fit a plan: the arguments, as its work-groups are merged; that they overlap, where a pipeline needs
them apart; tensor maps of loads or of stores."""
OWN_MEMORY = "its variables and the parts of matrices that work-items exchange"
_WORD = struct.Struct("<Q")
_BLOCKS: dict[int, Blocks] = {}
_STREAMS: dict[int, Stream] = {}
_LOCK = ForkSafeLock(threading.RLock)


def own_stream(context: Context) -> Stream:
    """The stream of a GPU for launches that name none."""
    with _LOCK:
        found = _STREAMS.get(context.ordinal)
        if found is None:
            found = _STREAMS[context.ordinal] = Stream(context)
        return found


def blocks_of(context: Context) -> Blocks:
    """The memory of a GPU."""
    with _LOCK:
        return _BLOCKS.setdefault(context.ordinal, Blocks(context))


class Plan:
    """A kernel with sizes, ready to be launched with any arguments.

    kinds: of the parameters: "pointer", "local" or "value". parts: the grid as the hardware takes it: the first
    work-group of each part, and the work-groups along the axes. threads: of a work-group. shown: what errors call it.
    used: the plan that took the arguments of the last launch: this one or another.
    """

    def __init__(self, kernel: LoadedKernel, code: KernelCode, signature: KernelSignature, geometry: Geometry,
                 variables: Variables | None, printf_limit: int, otherwise: Callable[[Misfit], Plan],
                 merged: MergedLaunch | None = None) -> None:
        """``otherwise``: makes the plan for arguments that this one does not take, and why."""
        self._make_other, self._merged = otherwise, merged
        self._others: dict[Misfit, Plan] = {}
        self.used = self
        self.kernel, self.code, self.signature, self.geometry = kernel, code, signature, geometry
        self.context = kernel.context
        self.printf_limit = printf_limit
        self.local_bytes = code.local_bytes
        self._check_local(code.local_bytes)
        words = np.zeros(-(-code.block_bytes // WORD_BYTES), np.int64)
        words[Word.GLOBAL_SIZE:Word.GLOBAL_SIZE + 3] = geometry.global_size
        words[Word.OFFSET:Word.OFFSET + 3] = geometry.global_offset
        words[Word.GROUPS:Word.GROUPS + 3] = geometry.group_counts
        words[Word.DIMENSIONS] = geometry.dimensions
        template = bytearray(words.tobytes())  # variables come after all arguments
        for identifier, slot in code.variables.items():
            assert variables is not None
            _WORD.pack_into(template, slot.offset, variables.address(identifier))
        self.template = bytes(template)
        self.kinds = ["local" if parameter.kind == "local" else "pointer" if parameter.is_pointer else "value"
                      for parameter in signature.parameters]
        self.first, self.layout = _layout(code.parameters, self.kinds)
        self.has_locals = "local" in self.kinds
        self._aligned = [(place, min(parameter.type.alignment, CudaLanes.most_aligned))
                         for place, parameter in enumerate(signature.parameters)
                         if self.kinds[place] == "pointer" and parameter.type.count > 1]
        self.source: str | None = None
        self.shown = f"kernel '{signature.name}'"
        self.is_plain = not code.prints and not code.assertions
        self.threads = (code.threads, 1, 1) if code.is_persistent else geometry.local_size
        self.parts = _parts(geometry.group_counts, self.context.largest_grid)
        if code.is_persistent:
            self.parts = [((0, 0, 0), (_persistent_groups(code, geometry, self.context.multiprocessors), 1, 1))]

    def come_from(self, source: str) -> None:
        """Note the file that the kernel is from, for errors."""
        if source != self.source:
            self.source = source
            self.shown = f"kernel '{self.signature.name}' of {source}"

    def other(self, misfit: Misfit) -> Plan:
        """The plan for arguments that this one does not take."""
        if misfit not in self._others:
            self._others[misfit] = self._make_other(misfit)
        found = self._others[misfit]
        found.source, found.shown = self.source, self.shown
        return found

    def launch(self, arguments: Sequence[Any], stream: Stream | None = None) -> tuple[Mark, Mark] | None:
        """Submit the kernel to a stream: the marks before and after it; None while a graph takes it. It is done, if
        arguments are the host's arrays, if it prints or has assertions, and without a stream: then it runs in one of
        the GPU's own."""
        context = self.context
        context.use()
        ready, copied = self._bound(arguments)
        if stream is not None and not copied and self.is_plain:
            self.used = ready.plan
            return ready.submit(stream)
        with _LOCK:  # blocks are shared
            if stream is None:
                stream = own_stream(context)
            if stream.is_capturing:
                raise LaunchError(self._why_not_captured(copied))
            copies = Copies(blocks_of(context), [(arguments[place], not self.signature.parameters[place].const)
                                                 for place in copied], stream.handle)
            try:
                if copied:
                    ready, _ = self._bound(arguments, copies)
                self.used = ready.plan
                marks = ready.plan._run(ready, stream)
                copies.bring_back()
            finally:
                copies.free()
        return marks

    def _why_not_captured(self, copied: Sequence[int]) -> str:
        if copied:
            place = copied[0]
            reason = (f"argument {place} ({self.signature.parameters[place]}) is memory of the host, which would be "
                      "copied once only: pass memory of the GPU, such as malloc_device's or an array of torch or cupy")
        else:
            reason = "it has printf or assertions, whose words are read after each launch"
        return f"{self.shown} cannot be part of a graph: {reason}"

    def prepared(self, arguments: Sequence[Any], stream: Stream) -> Callable[[], None] | None:
        """What submits the kernel with these arguments, as often as it is called, in a thread that uses the context;
        None if more is to be done than that."""
        self.context.use()
        ready, copied = self._bound(arguments)
        plan = ready.plan
        if copied or not self.is_plain or len(plan.parts) > 1:
            return None
        (_, grid), = plan.parts
        again = early_submission(self.context, plan.kernel.function, grid, plan.threads, ready.shared, stream,
                                 ready.block)
        shown = self.shown
        targets = [Allocation(self.context, "device", one.nbytes, BLOCK_ALIGNMENT) for one in ready.turns]
        for one, target in zip(ready.turns, targets, strict=True):
            one.describe(ready.block, target.start)

        def run(_keep: Any = (ready, arguments)) -> None:
            stream.launched(shown)
            for one, target in zip(ready.turns, targets, strict=True):
                one.submit(self.context, stream, target.start)
            status, = again()
            if status:
                raise failure(status, self.what)

        return run

    @property
    def what(self) -> str:
        """What is to be done, for errors."""
        return (f"the launch of {self.shown} over {self.geometry.global_size} work-items in groups "
                f"of {self.geometry.local_size}")

    def _run(self, ready: Ready, stream: Stream) -> tuple[Mark, Mark] | None:
        """Launch the kernel, and wait for it; then print and look at assertions. The marks around it."""
        blocks = blocks_of(self.context)
        output, failed = self._output(blocks, ready.block, stream), self._failure(blocks, ready.block, stream)
        try:
            marks = ready.submit(stream)
            stream.synchronize()
            if output is not None:
                output.bring_back()
            if failed is not None:
                failed.bring_back()
        finally:
            for one in (output, failed):
                if one is not None:
                    one.free()
        if output is not None:
            output.buffer.show()
        if failed is not None:
            failed.check(self.signature.name, self.code.assertions)
        return marks

    def _bound(self, arguments: Sequence[Any], copies: Copies | None = None) -> tuple[Ready, list[int]]:
        """A launch with arguments, and the positions of the arrays that must be copied to the GPU first: what is in
        ``copies`` has been."""
        block = ctypes.create_string_buffer(self.template, len(self.template) + BLOCK_ALIGNMENT)
        words: list[Any] = []
        copied: list[int] = []
        shared = self.local_bytes
        turns: list[Turn] = []
        given = arguments
        if self._merged is not None:
            arguments = (*arguments, *self._merged.given)
        if self.has_locals:
            shared = -(-shared // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
        for place, kind in enumerate(self.kinds):
            argument = arguments[place]
            if kind == "value":
                words.append(argument if type(argument) is bytes else
                             as_bytes(self.signature.parameters[place], argument))
            elif kind == "local":
                words.append(shared)
                shared += -(-argument.nbytes // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
            elif type(argument) is DeviceArray:
                words.append(argument.address)
            elif argument is None:
                words.append(0)
            else:
                address = int(argument.ctypes.data)
                if not reachable(address, argument.nbytes):
                    copied.append(place)
                    if copies is not None:
                        address = copies.address(argument)
                words.append(address)
        is_final = copies is not None or not copied  # each array where the GPU has it
        for place, alignment in self._aligned:
            if is_final and words[place] % alignment:
                name = argument_name(place, self.signature.parameters[place].name)
                raise LaunchError(f"{self.shown}: {name} lies at an address that is no multiple of {alignment}, which "
                                  f"{self.signature.parameters[place].type} needs on a GPU: pass memory that begins at "
                                  f"one, such as a copy")
        self.layout.pack_into(block, self.first, *words)
        if shared > self.kernel.shared_limit:
            self._check_local(shared, arguments)
            self.kernel.allow_shared(shared)
        if is_final and (self.code.maps or self.code.apart or self._merged is not None):
            numbers = self._numbers(words)
            merged = () if self._merged is None else self._merged.merged.apart
            overlaps = {pair: _overlap(*((words[place], arguments[place]) for place in pair))
                        for pair in (*merged, *self.code.apart)}
            misfit: Misfit | None = "arguments" if any(overlaps[pair] for pair in merged) else "overlap"
            if not any(overlaps.values()):
                misfit = self._misfit(block, words, numbers, turns)
            if misfit is not None:
                return self.other(misfit)._bound(given, copies)
        return Ready(self, block, shared, tuple(turns)), copied

    def _numbers(self, words: Sequence[Any]) -> tuple[int, ...]:
        """The arguments that are integers, as such."""
        return tuple(int.from_bytes(word[:slot.size], "little", signed=True)
                     if kind == "value" and parameter.type.kind == "int" else 0
                     for word, kind, slot, parameter in zip(words, self.kinds, self.code.parameters,
                                                            self.signature.parameters, strict=True))

    def _misfit(self, block: Any, words: Sequence[Any], numbers: tuple[int, ...], turns: list[Turn]) -> Misfit | None:
        """Put the tensor maps into the block, and into ``turns`` what is transposed first. Why the arguments do not
        fit, if they do not."""
        if self._merged is not None and not self._merged.takes(numbers):
            return "arguments"
        for described, slot in self.code.maps:
            address = words[described.parameter]
            sizes = sizes_of(described, numbers)
            found: Turn | bytes | None = None
            if address and described.is_turned:
                found = turn(described, slot, address, sizes)
            elif address:
                found = tensor_map(described, address, sizes)
            if found is None:
                return described.way
            if isinstance(found, Turn):
                turns.append(found)
            else:
                block[slot.offset:slot.offset + slot.size] = found
        return None

    def _check_local(self, nbytes: int, arguments: Sequence[Any] = ()) -> None:
        """LaunchError if a work-group would need more local memory than there is."""
        most = self.context.shared_memory
        if nbytes > most:
            given = [(arguments[place].nbytes, argument_name(place, self.signature.parameters[place].name))
                     for place, kind in enumerate(self.kinds) if kind == "local"] if arguments else []
            check_local_memory(self.signature.name, [(self.code.local_bytes, OWN_MEMORY), *given],
                               f"cuda:{self.context.ordinal}", most)

    def _output(self, blocks: Blocks, block: Any, stream: Stream) -> _Printed | None:
        if not self.code.prints:
            return None
        found = _Printed(blocks, PrintBuffer(self.signature.name, self.code.prints, self.printf_limit, "the GPU"),
                         stream)
        _WORD.pack_into(block, Word.OUTPUT * WORD_BYTES, found.copies.address(found.buffer.words))
        return found

    def _failure(self, blocks: Blocks, block: Any, stream: Stream) -> _Failure | None:
        if not self.code.assertions:
            return None
        found = _Failure(blocks, stream)
        _WORD.pack_into(block, Word.FAILURE * WORD_BYTES, found.copies.address(found.word))
        return found


@dataclass(frozen=True)
class Ready:
    """A launch whose arguments are in their block. shared: the bytes of local memory of a work-group. turns: what is
    transposed first."""

    plan: Plan
    block: Any
    shared: int
    turns: tuple[Turn, ...] = ()

    def submit(self, stream: Stream) -> tuple[Mark, Mark] | None:
        """Launch all parts of the grid; the marks around them."""
        plan, block = self.plan, self.block
        stream.launched(plan.shown)
        start = None if stream.is_capturing else stream.mark()
        turned = Turned(plan.context, self.turns, block, stream)
        for first, grid in plan.parts:
            if any(first):
                for axis, group in enumerate(first):
                    _WORD.pack_into(block, (Word.FIRST_GROUP + axis) * WORD_BYTES, group)
            status, = submit(plan.kernel.function, grid, plan.threads, self.shared, stream, block)
            if status:
                raise failure(status, plan.what)
        turned.free()
        return None if start is None else (start, stream.mark())


def _overlap(one: tuple[int, Any], other: tuple[int, Any]) -> bool:
    """Whether two arrays have memory in common, by their addresses."""
    (start, array), (other_start, other_array) = one, other
    return (array is not None and other_array is not None and start < other_start + other_array.nbytes
            and other_start < start + array.nbytes)


def _persistent_groups(code: KernelCode, geometry: Geometry, multiprocessors: int) -> int:
    """The work-groups that run at once, of a kernel whose work-groups take the work of several."""
    size = 1 if code.cluster is None else CLUSTER
    total = math.prod(-(-count // size) if axis == code.cluster else count
                      for axis, count in enumerate(geometry.group_counts))
    waves = -(-total // (multiprocessors // size))
    return -(-total // waves) * size


def _parts(group_counts: Sequence[int], most: Sequence[int]) -> Sequence[tuple[tuple[int, ...], tuple[int, ...]]]:
    """A grid in parts that the hardware takes: the first work-group of each, and the work-groups along the axes."""
    axes = [[(start, min(limit, count - start)) for start in range(0, count, limit)]
            for count, limit in zip(group_counts, most, strict=True)]
    return [(tuple(start for start, _ in part), tuple(count for _, count in part))
            for part in itertools.product(*axes)]


def _layout(slots: Sequence[Slot], kinds: Sequence[str]) -> tuple[int, struct.Struct]:
    """Where arguments begin in the block, and their form from there on."""
    if not slots:
        return 0, struct.Struct("")
    first = end = slots[0].offset
    form = "<"
    for slot, kind in zip(slots, kinds, strict=True):
        form += f"{slot.offset - end}x" + (f"{slot.size}s" if kind == "value" else "Q")
        end = slot.offset + slot.size
    return first, struct.Struct(form)


class _Printed:
    """The buffer of printf, on the GPU while the kernel runs."""

    def __init__(self, blocks: Blocks, buffer: PrintBuffer, stream: Stream) -> None:
        self.buffer = buffer
        self.copies = Copies(blocks, [(buffer.words, True)], stream.handle)

    def bring_back(self) -> None:
        self.copies.bring_back()

    def free(self) -> None:
        self.copies.free()


class _Failure:
    """The word that says which assertion failed first."""

    def __init__(self, blocks: Blocks, stream: Stream) -> None:
        self.word = np.zeros(1, np.uint64)
        self.copies = Copies(blocks, [(self.word, True)], stream.handle)

    def bring_back(self) -> None:
        self.copies.bring_back()

    def free(self) -> None:
        self.copies.free()

    def check(self, kernel: str, texts: Sequence[str]) -> None:
        """KernelAssertion for an assertion that failed."""
        if self.word[0]:
            raise KernelAssertion(texts[int(self.word[0]) - 1], Where(kernel))
