"""Launches on the CPU: the geometry, the arguments as the code takes them, and the threads that share the work.

A :class:`Plan` is what a launch needs beside its arguments: a kernel with sizes. Programs keep plans, so that a launch
has little to do before the code runs. A :class:`LaunchFrame` is the memory that the code reads: the words of the
launch, and the arguments behind them; it serves one launch at a time.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.devices import CPU
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.kernels import KernelSignature, Parameter
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.support.native import NativeCode
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.local_memory import check_local_memory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.values import as_bytes
from coopmat.targets.cpu.checks.table import Checks
from coopmat.targets.cpu.host.frame import ALIGNMENT, TURN_BYTES, Field
from coopmat.targets.cpu.host.threads import POOL, Share, TeamCode, aligned, team_code
from coopmat.targets.cpu.kernel import KernelCode
from coopmat.targets.llvm.merging import MergedLaunch
from coopmat.targets.llvm.print_buffer import PrintBuffer

SMALLEST_STACK = 1 << 18  # bytes
CHUNKS_PER_THREAD = 16  # portions of work-groups that a thread takes, so that threads end at about the same time
MOST_TAKEN = 64  # work-groups at once
CHUNKS_IN_LINE, LEAST_IN_LINE = 4, 4  # portions, and work-groups of one, where neighbours share what a thread keeps
MOST_IN_MAIN = 4096  # work-groups of a kernel without loops that Python's main thread runs itself
WORTH_WAKING = 20_000  # nanoseconds of work; for less, one thread is done before another has begun
SHORT = 100_000_000  # nanoseconds that Ctrl-C may wait for a launch
WORD_BYTES = 8
WORDS_BYTES = -(-Field.COUNT * WORD_BYTES // ALIGNMENT) * ALIGNMENT


@dataclass
class CompiledKernel:
    """Native code of one variant of a kernel. cache: where what it needs beside that is kept."""

    code: KernelCode
    native: NativeCode
    cache: Cache
    run: Any

    @cached_property
    def run_address(self) -> int:
        """Where :attr:`run` begins."""
        return self.native.address("run")

    @cached_property
    def team(self) -> TeamCode:
        """What several threads run it by."""
        return team_code(self.cache)


def _words_of(geometry: Geometry) -> np.ndarray:
    """The words of a launch, as far as the sizes decide them."""
    words = np.zeros(Field.COUNT, np.int64)
    words[Field.GLOBAL_SIZE:Field.GLOBAL_SIZE + 3] = geometry.global_size
    words[Field.LOCAL_SIZE:Field.LOCAL_SIZE + 3] = geometry.local_size
    words[Field.OFFSET:Field.OFFSET + 3] = geometry.global_offset
    words[Field.GROUPS:Field.GROUPS + 3] = geometry.group_counts
    words[Field.DIMENSIONS] = geometry.dimensions
    words[Field.TOTAL] = geometry.group_total
    words[Field.SUB_GROUPS] = geometry.sub_groups_per_group
    return words


def _taken_at_once(groups: int, threads: int, *, in_lines: bool) -> int:
    """How many work-groups a thread takes: few, so that all threads end at about the same time; more where it has less
    to do for neighbours."""
    if not in_lines:
        return max(1, min(MOST_TAKEN, groups // (threads * CHUNKS_PER_THREAD)))
    each = -(-groups // threads)
    return max(1, min(each, LEAST_IN_LINE), each // CHUNKS_IN_LINE)


def _owners(groups: int, threads: int, *, in_lines: bool) -> int:
    """How many threads have portions of their own: all, if each has many, or what follows each other is near each other
    in any case; one thread may do all of a few, and does so in their order."""
    return threads if in_lines or groups >= threads * CHUNKS_PER_THREAD else 1


class LaunchFrame:
    """Memory for the words and the arguments of a launch. values: the arguments that are no pointers."""

    def __init__(self, size: int) -> None:
        memory = aligned(size)
        self.words = memory[:Field.COUNT * WORD_BYTES].view(np.int64)
        self.view = memory.data
        self.address = memory.ctypes.data
        self.values: list[bytes] = []


Execute = Callable[[LaunchFrame, int, Callable[[], None], object], None]
"""Runs a launch: its frame, the bytes of memory that a thread needs, what makes it end early, what must stay."""


class Plan:
    """A kernel with sizes, ready to be launched with any arguments."""

    def __init__(self, kernel: CompiledKernel, signature: KernelSignature, geometry: Geometry,
                 threads: int, addresses: Mapping[int, int], printf_limit: int, checks: Checks | None, *,
                 in_lines: bool = False, repeats: bool = False) -> None:
        """``addresses``: those of the module's variables, by their offsets among the arguments. ``printf_limit``: the
        characters that a launch may print. ``checks``: of its accesses, if they are checked. ``in_lines``: whether
        work-groups that follow each other share what a thread keeps. ``repeats``: whether loops run as often as in a
        launch with the same numbers before."""
        code = kernel.code
        words = _words_of(geometry)
        self.sub_group_size = geometry.sub_group_size
        self.groups = int(words[Field.TOTAL])
        self.threads = min(threads, self.groups)
        words[Field.CHUNK] = _taken_at_once(self.groups, self.threads, in_lines=in_lines)
        words[Field.STACK_BYTES] = SMALLEST_STACK + 2 * code.stack_bytes // ALIGNMENT * ALIGNMENT
        self.kernel = kernel
        self.run = kernel.run
        self.ends = not code.has_loops and self.groups <= MOST_IN_MAIN
        self.name = signature.name
        self.prints = code.prints
        self.reused, self.read = code.reused, code.read
        self.checks = checks
        self.printf_limit = printf_limit
        self.local_bytes = -(-code.local_bytes // ALIGNMENT) * ALIGNMENT  # without arguments
        check_local_memory(self.name, self._local_parts(), CPU.device_name, CPU.limits.local_memory)
        self.stack_bytes = int(words[Field.STACK_BYTES] * words[Field.SUB_GROUPS]) if code.waits else 0
        words[Field.TURNS] = turns = -(-(WORDS_BYTES + code.argument_bytes + 16) // TURN_BYTES) * TURN_BYTES
        words[Field.OWNERS] = owners = _owners(self.groups, self.threads, in_lines=in_lines)
        self.size = turns + owners * TURN_BYTES
        template = bytearray(self.size)
        template[:words.nbytes] = words.tobytes()
        for offset, address in addresses.items():
            _WORD.pack_into(template, WORDS_BYTES + offset, address)
        self.template = bytes(template)
        slots = [(place, WORDS_BYTES + slot.offset, slot.size, parameter) for place, (slot, parameter)
                 in enumerate(zip(code.parameters, signature.parameters, strict=True))]
        self.locals = [(place, offset) for place, offset, _, parameter in slots if parameter.kind == "local"]
        self.pointers = [(place, offset) for place, offset, _, parameter in slots
                         if parameter.is_pointer and parameter.kind != "local"]
        self.parameters = signature.parameters
        self.values = [slot for slot in slots if not slot[-1].is_pointer]
        self._expected = WORTH_WAKING  # nanoseconds of work, as the last launch had it
        self._repeats = repeats
        self._numbers: list[bytes] | None = None  # of the last launch
        self._frames: list[LaunchFrame] = []  # that no launch uses

    def launch(self, arguments: Sequence[Any]) -> None:
        """Run the kernel; returns when it is done."""
        self._run(arguments, self._execute)

    def _execute(self, frame: LaunchFrame, scratch_bytes: int, stop: Callable[[], None], used: object) -> None:
        """Let threads take work-groups until there are none left."""
        threads = self.threads if self._expected >= WORTH_WAKING else 1
        share = Share(self.kernel, frame.address, frame.address + WORDS_BYTES, scratch_bytes, used)
        is_short = self._repeats and frame.values == self._numbers and self._expected < SHORT * threads
        self._expected = POOL.run(share, threads, stop, ends=self.ends or is_short)
        self._numbers = frame.values

    def _run(self, arguments: Sequence[Any], execute: Execute, *, shows: bool = True) -> None:
        """Run the kernel once. ``shows``: what it prints."""
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = LaunchFrame(self.size)
        frame.view[:] = self.template
        local_bytes = self._bind(frame, arguments)
        if self.reused and not _overlap(arguments, self.reused):
            frame.words[Field.REUSE] = next(_launches)
        if self.read:
            frame.words[Field.APART] = not _overlap(arguments, self.read)
        output = PrintBuffer(self.name, self.prints, self.printf_limit, "the CPU") if self.prints else None
        if output is not None:
            frame.words[Field.OUTPUT] = output.address
        table = self.checks.table(frame.words, arguments) if self.checks is not None else None

        def stop() -> None:
            frame.words[Field.STOP] = 1

        # A thread that is left alone after an interruption keeps what it uses.
        execute(frame, local_bytes + self.stack_bytes + 128, stop, (self.kernel, frame, arguments, output, table))
        fault = None if self.checks is None else self.checks.fault(frame.words, table)
        self._frames.append(frame)
        if output is not None and shows:
            output.show()
        if fault is not None:
            try:
                raise fault
            finally:
                del fault  # whose traceback has this frame, and with it the arguments

    def _bind(self, frame: LaunchFrame, arguments: Sequence[Any]) -> int:
        """Put the arguments into the frame; the bytes of local memory of a work-group."""
        view, local_bytes = frame.view, self.local_bytes
        for place, offset in self.locals:
            _WORD.pack_into(view, offset, local_bytes)
            local_bytes += -(-arguments[place].nbytes // ALIGNMENT) * ALIGNMENT
        if local_bytes > CPU.limits.local_memory:
            check_local_memory(self.name, self._local_parts(arguments), CPU.device_name, CPU.limits.local_memory)
        for place, offset in self.pointers:
            array = arguments[place]
            _WORD.pack_into(view, offset, 0 if array is None else address_of(array))
        frame.values = [as_bytes(parameter, arguments[place])[:size] for place, _, size, parameter in self.values]
        for (_, offset, _, _), content in zip(self.values, frame.values, strict=True):
            view[offset:offset + len(content)] = content
        _WORD.pack_into(view, Field.LOCAL_BYTES * WORD_BYTES, local_bytes)
        return local_bytes

    def _local_parts(self, arguments: Sequence[Any] = ()) -> list[tuple[int, str]]:
        """What a work-group's local memory is for: the kernel's own variables, and arguments."""
        given = [(arguments[place].nbytes, argument_name(place, self.parameters[place].name))
                 for place, _ in self.locals] if arguments else []
        return [(self.local_bytes, "its variables"), *given]


class MergedPlan:
    """A kernel with sizes whose work-groups are merged where the arguments allow it."""

    def __init__(self, merged: MergedLaunch, signature: KernelSignature, larger: Callable[[], Plan],
                 usual: Callable[[], Plan]) -> None:
        """``larger``: makes the plan with merged work-groups; ``usual``: the one without."""
        self._merged = merged
        self._parameters = signature.parameters
        self._numbers = Numbers(signature.parameters)
        self._make: dict[bool, Callable[[], Plan]] = {True: larger, False: usual}
        self._plans: dict[bool, Plan] = {}
        self.used: Plan | None = None
        self.is_merged = False
        self.reason = ""  # why it is not
        self._refused = ""  # why it never is

    def launch(self, arguments: Sequence[Any], numbers: tuple[int, ...] | None = None) -> None:
        """Run the kernel; returns when it is done. numbers: those of the arguments, where they are known."""
        numbers = self._numbers.of(arguments) if numbers is None else numbers
        self.reason = self._merged.refusal(numbers) or shared(
            self._merged.merged.apart, arguments, self._parameters)
        is_merged = not self.reason and self._make_larger()
        if is_merged not in self._plans:
            self._plans[is_merged] = self._make[is_merged]()
        self.used, self.is_merged = self._plans[is_merged], is_merged
        self.used.launch([*arguments, *self._merged.given] if is_merged else arguments)

    def _make_larger(self) -> bool:
        """Whether there is a plan with merged work-groups: their matrices may be too large."""
        if True not in self._plans and not self._refused:
            try:
                self._plans[True] = self._make[True]()
            except Error as error:
                self._refused = str(error)
        self.reason = self._refused
        return not self._refused


def shared(pairs: Sequence[tuple[int, int]], arguments: Sequence[Any], parameters: Sequence[Parameter]) -> str:
    """Which arguments of pairs share memory, and may not; nothing if none do."""
    spans = {place: _span(arguments[place]) for place in {place for pair in pairs for place in pair}}
    for pair in pairs:
        if _meet(*(spans[place] for place in pair)):
            one, other = (argument_name(place, parameters[place].name) for place in pair)
            return f"{one} and {other} share memory, of which one is stored to while the other is used"
    return ""


class Numbers:
    """The arguments of a kernel that are integers, as such, and 0 for all others."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = [one if not one.is_pointer and one.type.kind == "int" else None for one in parameters]

    def of(self, arguments: Sequence[Any]) -> tuple[int, ...]:
        """Those of a launch."""
        return tuple([0 if parameter is None else int.from_bytes(
            as_bytes(parameter, argument)[:parameter.type.size], "little", signed=True)
            for parameter, argument in zip(self._parameters, arguments, strict=True)])


def address_of(array: Any) -> int:
    """Where an array's memory begins. What numpy says of it takes longer, but knows read-only and empty ones, too."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):
        return int(array.ctypes.data)


_WORD = struct.Struct("<Q")
_launches = itertools.count(1)


def _span(argument: Any) -> tuple[int, int] | None:
    """Where an array's memory begins and ends; None of what is no array."""
    return (start := address_of(argument), start + argument.nbytes) if isinstance(argument, np.ndarray) else None


def _meet(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """Whether two arrays share memory."""
    return one is not None and other is not None and one[0] < other[1] and other[0] < one[1]


def _overlap(arguments: Sequence[Any], chosen: Sequence[int]) -> bool:
    """Whether one of the chosen arrays shares memory with another argument."""
    spans = list(map(_span, arguments))
    return any(_meet(spans[place], span) for place in chosen for other, span in enumerate(spans) if other != place)
