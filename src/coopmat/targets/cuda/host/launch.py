"""Launches on a GPU: the block of words and arguments, the grid, and what is read when the kernel has ended.

A :class:`Plan` is what a launch needs beside its arguments: a kernel with sizes. Programs keep plans.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import KernelAssertion, LaunchError, Where
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.local_memory import check_local_memory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.values import as_bytes
from coopmat.targets.cuda.host.allocations import reachable
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import bindings, failure
from coopmat.targets.cuda.host.memory import Blocks, Copies
from coopmat.targets.cuda.host.modules import LoadedKernel
from coopmat.targets.cuda.host.streams import Mark, Stream
from coopmat.targets.cuda.host.variables import Variables
from coopmat.targets.cuda.kernel import KernelCode
from coopmat.targets.llvm.print_buffer import PrintBuffer
from coopmat.targets.llvm.threads.launch import LOCAL_ALIGNMENT, WORD_BYTES, Slot, Word

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
    """A kernel with sizes, ready to be launched with any arguments. shown: what errors call it."""

    def __init__(self, kernel: LoadedKernel, code: KernelCode, signature: KernelSignature, geometry: Geometry,
                 variables: Variables, printf_limit: int) -> None:
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
            _WORD.pack_into(template, slot.offset, variables.address(identifier))
        self.template = bytes(template)
        slots = list(zip(code.parameters, signature.parameters, strict=True))
        self.slots = [(place, slot.offset, "local" if parameter.kind == "local" else
                       "pointer" if parameter.is_pointer else "value") for place, (slot, parameter) in enumerate(slots)]
        self.first, self.layout = _layout(code.parameters, [kind for _, _, kind in self.slots])
        self.has_locals = any(kind == "local" for _, _, kind in self.slots)
        self.source: str | None = None
        self.shown = f"kernel '{signature.name}'"
        self.is_plain = not code.prints and not code.assertions
        self.parts = _parts(geometry.group_counts, self.context.largest_grid)

    def come_from(self, source: str) -> None:
        """Note the file that the kernel is from, for errors."""
        if source != self.source:
            self.source = source
            self.shown = f"kernel '{self.signature.name}' of {source}"

    def launch(self, arguments: Sequence[Any], stream: Stream | None = None) -> tuple[Mark, Mark] | None:
        """Submit the kernel to a stream: the marks before and after it; None while a graph takes it. It is done, if
        arguments are the host's arrays, if it prints or has assertions, and without a stream: then it runs in one of
        the GPU's own."""
        context = self.context
        context.use()
        block = ctypes.create_string_buffer(self.template, len(self.template))
        shared, copied = self._bind(block, arguments)
        if stream is not None and not copied and self.is_plain:
            return self._submit(block, shared, stream)
        with _LOCK:  # blocks are shared
            if stream is None:
                stream = own_stream(context)
            if stream.is_capturing:
                raise LaunchError(self._why_not_captured(copied))
            copies = Copies(blocks_of(context), [(arguments[place], not self.signature.parameters[place].const)
                                                 for place, _ in copied], stream.handle)
            try:
                for place, offset in copied:
                    _WORD.pack_into(block, offset, copies.address(arguments[place]))
                marks = self._run(block, shared, stream)
                copies.bring_back()
            finally:
                copies.free()
        return marks

    def _why_not_captured(self, copied: Sequence[tuple[int, int]]) -> str:
        if copied:
            place = copied[0][0]
            reason = (f"argument {place} ({self.signature.parameters[place]}) is memory of the host, which would be "
                      "copied once only: pass memory of the GPU, such as malloc_device's or an array of torch or cupy")
        else:
            reason = "it has printf or assertions, whose words are read after each launch"
        return f"{self.shown} cannot be part of a graph: {reason}"

    def prepared(self, arguments: Sequence[Any], stream: Stream) -> Callable[[], None] | None:
        """What submits the kernel with these arguments, as often as it is called, in a thread that uses the context;
        None if more is to be done than that."""
        self.context.use()
        block = ctypes.create_string_buffer(self.template, len(self.template))
        shared, copied = self._bind(block, arguments)
        if copied or not self.is_plain or len(self.parts) > 1:
            return None
        parameter = ctypes.c_void_p(ctypes.addressof(block))
        (_, counts), = self.parts
        given = (self.kernel.function, *counts, *self.geometry.local_size, shared, stream.handle,
                 ctypes.addressof(parameter), 0)
        submit, shown = bindings().cuLaunchKernel, self.shown

        def run(_keep: Any = (block, parameter, arguments)) -> None:
            stream.launched(shown)
            status, = submit(*given)
            if status:
                raise failure(status, self._what())

        return run

    def _submit(self, block: Any, shared: int, stream: Stream) -> tuple[Mark, Mark] | None:
        """Launch all parts of the grid; the marks around them."""
        parameter = ctypes.c_void_p(ctypes.addressof(block))
        stream.launched(self.shown)
        start = None if stream.is_capturing else stream.mark()
        for first, counts in self.parts:
            if any(first):
                for axis, group in enumerate(first):
                    _WORD.pack_into(block, (Word.FIRST_GROUP + axis) * WORD_BYTES, group)
            status, = bindings().cuLaunchKernel(self.kernel.function, *counts, *self.geometry.local_size, shared,
                                                stream.handle, ctypes.addressof(parameter), 0)
            if status:
                raise failure(status, self._what())
        return None if start is None else (start, stream.mark())

    def _what(self) -> str:
        return (f"the launch of {self.shown} over {self.geometry.global_size} work-items in groups "
                f"of {self.geometry.local_size}")

    def _run(self, block: Any, shared: int, stream: Stream) -> tuple[Mark, Mark] | None:
        """Launch the kernel, and wait for it; then print and look at assertions. The marks around it."""
        blocks = blocks_of(self.context)
        output, failed = self._output(blocks, block, stream), self._failure(blocks, block, stream)
        try:
            marks = self._submit(block, shared, stream)
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

    def _bind(self, block: Any, arguments: Sequence[Any]) -> tuple[int, list[tuple[int, int]]]:
        """Put the arguments into the block. The bytes of local memory of a work-group, and the positions and offsets of
        arrays that must be copied to the GPU first."""
        words: list[Any] = []
        copied: list[tuple[int, int]] = []
        shared = self.local_bytes
        if self.has_locals:
            shared = -(-shared // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
        for place, offset, kind in self.slots:
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
                words.append(address)
                if not reachable(address, argument.nbytes):
                    copied.append((place, offset))
        self.layout.pack_into(block, self.first, *words)
        if shared > self.kernel.shared_limit:
            self._check_local(shared, arguments)
            self.kernel.allow_shared(shared)
        return shared, copied

    def _check_local(self, nbytes: int, arguments: Sequence[Any] = ()) -> None:
        """LaunchError if a work-group would need more local memory than there is."""
        most = self.context.shared_memory
        if nbytes > most:
            given = [(arguments[place].nbytes, argument_name(place, self.signature.parameters[place].name))
                     for place, _, kind in self.slots if kind == "local"] if arguments else []
            check_local_memory(self.signature.name, [(self.code.local_bytes, "its variables"), *given],
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
