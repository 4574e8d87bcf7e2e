"""Launches on a GPU: the block of words and arguments, the grid, and what is read when the kernel has ended.

A :class:`Plan` is what a launch needs beside its arguments: a kernel with sizes. Programs keep plans.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import KernelAssertion, Where
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.local_memory import check_local_memory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.values import as_bytes
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import call
from coopmat.targets.cuda.host.memory import Blocks, Copies
from coopmat.targets.cuda.host.modules import LoadedKernel
from coopmat.targets.cuda.host.tensor_maps import tensor_map
from coopmat.targets.cuda.host.variables import Variables
from coopmat.targets.cuda.kernel import BLOCK_ALIGNMENT, KernelCode
from coopmat.targets.cuda.work_groups.schedule import CLUSTER
from coopmat.targets.llvm.print_buffer import PrintBuffer
from coopmat.targets.llvm.threads.launch import LOCAL_ALIGNMENT, WORD_BYTES, Word

_WORD = struct.Struct("<Q")
_BLOCKS: dict[int, Blocks] = {}
_LOCK = threading.RLock()


def blocks_of(context: Context) -> Blocks:
    """The memory of a GPU."""
    with _LOCK:
        return _BLOCKS.setdefault(context.ordinal, Blocks(context))


class Plan:
    """A kernel with sizes, ready to be launched with any arguments."""

    def __init__(self, kernel: LoadedKernel, code: KernelCode, signature: KernelSignature, geometry: Geometry,
                 variables: Variables, printf_limit: int, otherwise: Callable[[], Plan] | None = None) -> None:
        """``otherwise``: makes the plan for arguments that tensor maps do not take."""
        self._make_other = otherwise
        self._other: Plan | None = None
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
        template = bytearray(words.tobytes())
        for identifier, slot in code.variables.items():
            _WORD.pack_into(template, slot.offset, variables.address(identifier))
        self.template = bytes(template)
        slots = [(place, slot.offset, slot.size, parameter) for place, (slot, parameter)
                 in enumerate(zip(code.parameters, signature.parameters, strict=True))]
        self.locals = [(place, offset) for place, offset, _, parameter in slots if parameter.kind == "local"]
        self.pointers = [(place, offset, not parameter.const) for place, offset, _, parameter in slots
                         if parameter.is_pointer and parameter.kind != "local"]
        self.values = [slot for slot in slots if not slot[-1].is_pointer]

    @property
    def other(self) -> Plan:
        """The plan for arguments that tensor maps do not take."""
        if self._other is None:
            assert self._make_other is not None
            self._other = self._make_other()
        return self._other

    def launch(self, arguments: Sequence[Any]) -> None:
        """Run the kernel; returns when it is done."""
        with _LOCK:  # blocks are shared; a launch of the host's arrays is done when it returns
            self.context.use()
            blocks = blocks_of(self.context)
            arrays = [(arguments[place], written) for place, _, written in self.pointers
                      if arguments[place] is not None]
            copies = Copies(blocks, arrays)
            try:
                self._run(blocks, copies, arguments)
                copies.bring_back()
            finally:
                copies.free()

    def _run(self, blocks: Blocks, copies: Copies, arguments: Sequence[Any]) -> None:
        block = ctypes.create_string_buffer(self.template, len(self.template) + BLOCK_ALIGNMENT)
        shared = self._bind(block, copies, arguments)
        if not self._describe(block, copies, arguments):
            self.other._run(blocks, copies, arguments)
            return
        if shared > self.local_bytes:
            self._check_local(shared, arguments)
        self.kernel.allow_shared(shared)
        output, failure = self._output(blocks, block), self._failure(blocks, block)
        try:
            for first, counts in self._parts():
                for axis, start in enumerate(first):
                    _WORD.pack_into(block, (Word.FIRST_GROUP + axis) * WORD_BYTES, start)
                parameter = ctypes.c_void_p(ctypes.addressof(block))
                call("cuLaunchKernel", self.kernel.function, *counts, *self.threads, shared, 0,
                     ctypes.addressof(parameter), 0, what=f"the launch of kernel '{self.signature.name}'")
            call("cuStreamSynchronize", 0, what=f"kernel '{self.signature.name}'")
            if output is not None:
                output.bring_back()
            if failure is not None:
                failure.bring_back()
        finally:
            for one in (output, failure):
                if one is not None:
                    one.free()
        if output is not None:
            output.buffer.show()
        if failure is not None:
            failure.check(self.signature.name, self.code.assertions)

    def _describe(self, block: Any, copies: Copies, arguments: Sequence[Any]) -> bool:
        """Put the tensor maps into the block; False if an argument is none that they take."""
        if not self.code.maps:
            return True
        numbers = [0] * len(arguments)
        for place, offset, size, parameter in self.values:
            if parameter.type.kind == "int":
                numbers[place] = int.from_bytes(bytes(block[offset:offset + size]), "little")
        for described, slot in self.code.maps:
            array = arguments[described.parameter]
            found = None if array is None else tensor_map(described, copies.address(array), numbers)
            if found is None:
                return False
            block[slot.offset:slot.offset + slot.size] = found
        return True

    @property
    def threads(self) -> tuple[int, int, int]:
        """The threads of a work-group along each axis, as the hardware counts them."""
        return (self.code.threads, 1, 1) if self.code.is_persistent else self.geometry.local_size

    def _parts(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The grid in parts that the hardware takes: the first work-group of each, and the work-groups along the axes.
        """
        if self.code.is_persistent:
            size = 1 if self.code.cluster is None else CLUSTER
            total = math.prod(-(-count // size) if axis == self.code.cluster else count
                              for axis, count in enumerate(self.geometry.group_counts))
            waves = -(-total // (self.context.multiprocessors // size))
            yield (0, 0, 0), (-(-total // waves) * size, 1, 1)
            return
        axes = [[(start, min(most, count - start)) for start in range(0, count, most)]
                for count, most in zip(self.geometry.group_counts, self.context.largest_grid, strict=True)]
        for part in itertools.product(*axes):
            yield tuple(start for start, _ in part), tuple(count for _, count in part)

    def _bind(self, block: Any, copies: Copies, arguments: Sequence[Any]) -> int:
        """Put the arguments into the block; the bytes of local memory of a work-group."""
        shared = -(-self.local_bytes // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
        for place, offset in self.locals:
            _WORD.pack_into(block, offset, shared)
            shared += -(-arguments[place].nbytes // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
        for place, offset, _ in self.pointers:
            array = arguments[place]
            _WORD.pack_into(block, offset, 0 if array is None else copies.address(array))
        view = memoryview(block).cast("B")
        for place, offset, size, parameter in self.values:
            content = as_bytes(parameter, arguments[place])[:size]
            view[offset:offset + len(content)] = content
        return shared if self.locals else self.local_bytes

    def _check_local(self, nbytes: int, arguments: Sequence[Any] = ()) -> None:
        """LaunchError if a work-group would need more local memory than there is."""
        most = self.context.shared_memory
        if nbytes > most:
            given = [(arguments[place].nbytes, argument_name(place, self.signature.parameters[place].name))
                     for place, _ in self.locals] if arguments else []
            check_local_memory(self.signature.name, [(self.code.local_bytes, "its variables"), *given],
                               f"cuda:{self.context.ordinal}", most)

    def _output(self, blocks: Blocks, block: Any) -> _Printed | None:
        if not self.code.prints:
            return None
        found = _Printed(blocks, PrintBuffer(self.signature.name, self.code.prints, self.printf_limit, "the GPU"))
        _WORD.pack_into(block, Word.OUTPUT * WORD_BYTES, found.copies.address(found.buffer.words))
        return found

    def _failure(self, blocks: Blocks, block: Any) -> _Failure | None:
        if not self.code.assertions:
            return None
        found = _Failure(blocks)
        _WORD.pack_into(block, Word.FAILURE * WORD_BYTES, found.copies.address(found.word))
        return found


class _Printed:
    """The buffer of printf, on the GPU while the kernel runs."""

    def __init__(self, blocks: Blocks, buffer: PrintBuffer) -> None:
        self.buffer = buffer
        self.copies = Copies(blocks, [(buffer.words, True)])

    def bring_back(self) -> None:
        self.copies.bring_back()

    def free(self) -> None:
        self.copies.free()


class _Failure:
    """The word that says which assertion failed first."""

    def __init__(self, blocks: Blocks) -> None:
        self.word = np.zeros(1, np.uint64)
        self.copies = Copies(blocks, [(self.word, True)])

    def bring_back(self) -> None:
        self.copies.bring_back()

    def free(self) -> None:
        self.copies.free()

    def check(self, kernel: str, texts: Sequence[str]) -> None:
        """KernelAssertion for an assertion that failed."""
        if self.word[0]:
            raise KernelAssertion(texts[int(self.word[0]) - 1], Where(kernel))
