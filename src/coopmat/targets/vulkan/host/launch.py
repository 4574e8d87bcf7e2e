"""Launches on a device of Vulkan: the block of arguments, the dispatches, the host's arrays, and what kernels print.

A :class:`Plan` is what a launch needs beside its arguments: a kernel with sizes. Programs keep plans.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.diagnostics import KernelAssertion, LaunchError, Where
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.transform.to_vulkan.shader import Shader
from coopmat.support.cache import Cache
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.local_memory import check_local_memory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.values import as_bytes
from coopmat.targets.llvm.print_buffer import Header, PrintBuffer, PrintCall
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.host.context import Context, Ticket
from coopmat.targets.vulkan.host.memory import ALIGNMENT, Buffer, Place, blocks_of, copy, imported, known, spans
from coopmat.targets.vulkan.host.pipelines import Pipeline
from coopmat.targets.vulkan.options import VulkanOptions

OWN_MEMORY = "its variables"
MOST_PIPELINES = 64  # of a plan, for sizes of local arguments and the like
MATRIX_ALIGNMENT = 16  # of the memory of matrices
GRAINS = (6, 4, 0)
"""Powers of two of which multiples are told from other integers: 16 bytes of any element, and tiles along K."""
_OFFSETS = {"group_offset": "<3I", "group_count": "<3I", "global_offset": "<3Q", "printf": "<Q", "globals": "<Q"}
"""The form of what the runtime fills in."""


class Plan:
    """A kernel with sizes, ready to be launched with any arguments. parts: the grid as the device takes it: the first
    work-group of each part, and the work-groups along the axes."""

    def __init__(self, context: Context, options: VulkanOptions, shader: Shader, signature: KernelSignature,
                 geometry: Geometry, sub_group_size: int, globals_: DeviceArray | None, cache: Cache) -> None:
        self.context, self.options, self.shader, self.signature = context, options, shader, signature
        self.geometry, self.sub_group_size, self._cache = geometry, sub_group_size, cache
        self._globals = globals_
        self.parts = _parts(geometry.group_counts, context.facts.limits["maxComputeWorkGroupCount"])
        self._pipelines: dict[tuple[bool, tuple[tuple[int, int], ...]], Pipeline] = {}
        self.source = ""
        self._check_local(())

    @property
    def what(self) -> str:
        """What is to be done, for errors."""
        source = f" of {self.source}" if self.source else ""
        return (f"the launch of kernel '{self.signature.name}'{source} over {self.geometry.global_size} work-items in "
                f"groups of {self.geometry.local_size}")

    # --- launching --------------------------------------------------------------------

    def launch(self, arguments: Sequence[Any]) -> Ticket:
        """Submit the kernel. It is done, if arguments are arrays that only the host has, or if it prints or may fail an
        assertion; KernelAssertion if one failed."""
        self.context.use()
        lent = [place for place, one in enumerate(arguments) if self._is_lent(one)]
        printed = self._print_buffer()
        if not lent and printed is None:
            return self._submitted(self._addresses(arguments, None), None, 0, arguments)
        arrays = [(arguments[place], not self.signature.parameters[place].const) for place in lent]
        if printed is not None:
            arrays.append((printed.words, True))
        shared, ticket = Shared(self.context, arrays), None
        try:
            words = 0 if printed is None else shared.address(printed.words)
            ticket = self._submitted(self._addresses(arguments, shared), shared, words, arguments)
            ticket.wait(self.options.timeout)
            shared.bring_back()
        finally:
            if ticket is None or ticket.is_done:  # after an interruption, the device still works with the buffers
                shared.free()
        if printed is not None:
            printed.show()
            failed = int(printed.words[Header.FAILED])
            if failed:
                raise KernelAssertion(self.shader.assertions[failed - 1], Where(self.signature.name))
        return ticket

    def _is_lent(self, argument: Any) -> bool:
        """Whether an argument is memory of the host that the device does not reach yet."""
        return isinstance(argument, np.ndarray) and argument.ndim > 0 and known(self.context, argument) is None

    def _submitted(self, words: list[bytes | int], shared: Shared | None, printed: int, arguments: Sequence[Any]
                   ) -> Ticket:
        pipeline = self._pipeline(arguments, words)
        block = self._block(words, printed)
        memory = self._in_memory(block) if self.shader.block_in_memory else None
        commands, context = self.context.commands, self.context

        def record(to: int) -> None:
            if shared is not None:
                shared.record_in(to)
            commands.CmdBindPipeline(to, vk.PIPELINE_BIND_POINT_COMPUTE, pipeline.handle)
            for number, (first, counts) in enumerate(self.parts):
                pushed = self._pushed(block, first) if memory is None else struct.pack(
                    "<Q", memory.address + number * self._block_step)
                if pushed:
                    commands.CmdPushConstants(to, pipeline.layout, vk.SHADER_STAGE_COMPUTE_BIT, 0, len(pushed), pushed)
                commands.CmdDispatch(to, *counts)
            if shared is not None:
                shared.record_out(to)

        return context.submit(record, self.what, [pipeline, memory, self._globals, shared, arguments])

    def _addresses(self, arguments: Sequence[Any], shared: Shared | None) -> list[bytes | int]:
        """The arguments as they are in the block; 0 for local ones."""
        found: list[bytes | int] = []
        for place, (argument, form) in enumerate(zip(arguments, self.shader.arguments, strict=True)):
            parameter = self.signature.parameters[place]
            if form.kind == "value":
                found.append(as_bytes(parameter, argument))
                continue
            address = 0
            if form.kind == "pointer" and argument is not None:
                if isinstance(argument, DeviceArray):
                    known(self.context, argument)
                    address = argument.address
                else:
                    end = known(self.context, argument)
                    if end is not None:
                        address = end[0].address + end[1]
                    elif shared is not None:
                        address = shared.address(argument)
                self._check_alignment(place, address)
            found.append(address)
        return found

    def _check_alignment(self, place: int, address: int) -> None:
        parameter = self.signature.parameters[place]
        alignment = min(parameter.type.alignment, MATRIX_ALIGNMENT)
        if address % alignment:
            raise LaunchError(
                f"kernel '{self.signature.name}': {argument_name(place, parameter.name)} lies at an address that is "
                f"no multiple of {alignment}, which {parameter.type} needs: pass memory that begins at one, such as a "
                "copy")

    # --- the block --------------------------------------------------------------------

    @property
    def _block_step(self) -> int:
        return -(-self.shader.block_size // ALIGNMENT) * ALIGNMENT

    def _block(self, words: Sequence[bytes | int], printed: int) -> bytearray:
        """The block for the first part of the grid."""
        block = bytearray(-(-self.shader.block_size // 4) * 4)
        for word, form in zip(words, self.shader.arguments, strict=True):
            if form.kind == "value":
                assert isinstance(word, bytes)
                block[form.offset:form.offset + form.size] = word[:form.size]
            elif form.kind == "pointer":
                struct.pack_into("<Q", block, form.offset, word)
        self._fill(block, "group_count", *self.geometry.group_counts)
        self._fill(block, "global_offset", *self.geometry.global_offset)
        self._fill(block, "printf", printed)
        if self._globals is not None:
            self._fill(block, "globals", self._globals.address)
        return block

    def _fill(self, block: bytearray, name: str, *values: int) -> None:
        if name in self.shader.hidden:
            struct.pack_into(_OFFSETS[name], block, self.shader.hidden[name], *values)

    def _pushed(self, block: bytearray, first: Sequence[int]) -> bytes:
        """The block for a part of the grid."""
        self._fill(block, "group_offset", *first)
        return bytes(block)

    def _in_memory(self, block: bytearray) -> Buffer:
        """The blocks of all parts, in memory."""
        found = Buffer(self.context, self._block_step * len(self.parts), "host")
        for number, (first, _) in enumerate(self.parts):
            found.write(self._pushed(block, first), number * self._block_step)
        return found

    # --- the pipeline -----------------------------------------------------------------

    def _pipeline(self, arguments: Sequence[Any], words: Sequence[bytes | int]) -> Pipeline:
        """The pipeline for the sizes of the local arguments, and for what is known of the others. words: the arguments
        as they are in the block."""
        values: dict[int, int] = {}
        for form, argument, word in zip(self.shader.arguments, arguments, words, strict=True):
            if form.spec_id is not None:
                values[form.spec_id] = max(1, -(-argument.nbytes // form.element_size))
            if form.grain_id is not None:
                values[form.grain_id] = _grain(word)
        is_tame = self._is_tame(words)
        chosen = is_tame, tuple(values.items())
        if chosen not in self._pipelines:
            self._check_local(arguments)
            if len(self._pipelines) >= MOST_PIPELINES:
                self._pipelines.clear()
            sizes = zip(self.shader.local_size_spec_ids, self.geometry.local_size, strict=True)
            self._pipelines[chosen] = self._made({**dict(sizes), **values}, is_tame=is_tame)
        return self._pipelines[chosen]

    def _is_tame(self, words: Sequence[bytes | int]) -> bool:
        """Whether a launch can do with the shader for tame ones."""
        if self.shader.tame is None or any(self.geometry.global_offset):
            return False
        numbers = [word if isinstance(word, int) else int.from_bytes(word, "little", signed=True) for word in words]
        return self.shader.tame.holds(numbers, self.geometry.group_counts)

    def _made(self, values: dict[int, int], *, is_tame: bool = False) -> Pipeline:
        shader, features = self.shader, self.context.facts.features
        has_choice = len(self.context.facts.sub_group_sizes) > 1 or "subgroupSizeControl" in features
        size = shader.sub_group_size
        full = (size is not None and "computeFullSubgroups" in features
                and self.geometry.local_size[0] % size == 0)
        spirv = shader.tame_spirv if is_tame else shader.spirv
        form = (self.signature.name, spirv, shader.entry_point, values, self._pushed_bytes(),
                size if has_choice else None, full)
        return Pipeline(self.context, *form, self._cache, self._set_layouts(), is_tried=self.options.tries_shaders)

    def _pushed_bytes(self) -> int:
        return 8 if self.shader.block_in_memory else -(-self.shader.block_size // 4) * 4

    def _set_layouts(self) -> Sequence[int]:
        """The layouts of descriptor sets: kernels have none."""
        return ()

    def _check_local(self, arguments: Sequence[Any]) -> None:
        """LaunchError if a work-group would need more local memory than there is."""
        given = [(argument.nbytes, argument_name(place, self.signature.parameters[place].name))
                 for place, argument in enumerate(arguments) if self.shader.arguments[place].kind == "local"]
        check_local_memory(self.signature.name, [(self.shader.local_bytes, OWN_MEMORY), *given], self.context.name,
                           self.context.facts.limits["maxComputeSharedMemorySize"])

    def _print_buffer(self) -> PrintBuffer | None:
        if "printf" not in self.shader.hidden:
            return None
        calls = [PrintCall(one.format, one.kinds, one.strings) for one in self.shader.print_calls]
        return PrintBuffer(self.signature.name, calls, self.options.printf_limit if calls else 0, "the device")


def _grain(word: bytes | int) -> int:
    """The largest of a few powers of two that divides an integer or an address, as exponent: each has a pipeline."""
    value = word if isinstance(word, int) else int.from_bytes(word, "little")
    return next(grain for grain in GRAINS if not value & (1 << grain) - 1)


def _parts(counts: Sequence[int], most: Sequence[int]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """A grid in parts that the device takes: the first work-group of each, and the work-groups along the axes."""
    axes = [[(start, min(limit, count - start)) for start in range(0, count, limit)]
            for count, limit in zip(counts, most, strict=True)]
    return [(tuple(start for start, _ in part), tuple(count for _, count in part))
            for part in itertools.product(*axes)]


# --------------------------------------------------------------------------- the host's arrays


@dataclass
class _Span:
    """Bytes of the host's memory and the buffer that stands for them, from ``offset`` on. staging: the buffer that
    the host reaches, where that is another one. imported: whether the buffer is that memory itself."""

    start: int
    nbytes: int
    written: bool
    buffer: Buffer
    offset: int = 0
    staging: Buffer | None = None
    is_imported: bool = False

    @property
    def place(self) -> int:
        """Where the host reaches the copy."""
        return (self.staging or self.buffer).mapped or 0


class Shared:
    """The host's arrays of one launch: the device works on them themselves, or on copies. Arrays that overlap stay so.
    """

    def __init__(self, context: Context, arrays: Sequence[tuple[np.ndarray[Any, Any], bool]]) -> None:
        """arrays: each with whether the kernel may write to it."""
        self.context = context
        self._blocks = blocks_of(context)
        self._spans: list[_Span] = []
        try:
            for start, end, written in spans(arrays):
                self._spans.append(self._span(start, end - start, written))
        except LaunchError:
            self.free()
            raise

    def _span(self, start: int, nbytes: int, written: bool) -> _Span:
        if self.context.facts.shares_memory and start % MATRIX_ALIGNMENT == 0:
            found = imported(self.context, start, nbytes)
            if found is not None:
                return _Span(start, nbytes, written, *found, is_imported=True)
        place: Place = "host" if self.context.facts.shares_memory else "device"
        span = _Span(start, nbytes, written, self._blocks.take(nbytes, place))
        if span.buffer.mapped is None:
            span.staging = self._blocks.take(nbytes, "host")
        ctypes.memmove(span.place, start, nbytes)
        return span

    def address(self, array: np.ndarray[Any, Any]) -> int:
        """Where an array is on the device; of one without elements, any address."""
        place = int(array.ctypes.data)
        for span in self._spans:
            if span.start <= place < span.start + span.nbytes:
                return span.buffer.address + span.offset + place - span.start
        return ALIGNMENT

    def place(self, array: np.ndarray[Any, Any]) -> tuple[Buffer, int] | None:
        """The buffer that holds an array, and where in it."""
        place = int(array.ctypes.data)
        return next(((span.buffer, span.offset + place - span.start) for span in self._spans
                     if span.start <= place < span.start + span.nbytes), None)

    def record_in(self, to: int) -> None:
        """Write the copies to the device into a command buffer."""
        self._record(to, [(span.staging, span.buffer, span.nbytes) for span in self._spans if span.staging])

    def record_out(self, to: int) -> None:
        """Write the copies of what the kernel may have written into a command buffer."""
        copies = [(span.buffer, span.staging, span.nbytes) for span in self._spans if span.staging and span.written]
        if copies:
            self.context.barrier(to)
            self._record(to, copies, is_last=True)

    def _record(self, to: int, copies: Sequence[tuple[Buffer, Buffer, int]], is_last: bool = False) -> None:
        for source, target, nbytes in copies:
            copy(self.context, to, source, 0, target, 0, nbytes)
        if copies and not is_last:
            self.context.barrier(to)

    def bring_back(self) -> None:
        """Put what the kernel may have written into the arrays, when it is done."""
        for span in self._spans:
            if span.written and not span.is_imported:
                ctypes.memmove(span.start, span.place, span.nbytes)

    def free(self) -> None:
        """Give the buffers back; nothing works with them any more."""
        if self.context.lost is None:
            for span in self._spans:
                if not span.is_imported:
                    self._blocks.give_back(span.buffer, "host" if self.context.facts.shares_memory else "device")
                if span.staging is not None:
                    self._blocks.give_back(span.staging, "host")
        self._spans = []
