"""printf of OpenCL.std: one call by many work-items, printed in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import OutOfBounds, UndefinedBehavior
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.module import Instruction
from coopmat.targets.base.printing import Conversion, FormatFault, check_printable, conversions, formatted
from coopmat.targets.simulator.compiler import FunctionCompiler
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array

TOGETHER = 1024  # work-items whose arguments are taken out of the arrays at once
STRING_STEP = 4096  # bytes in which the end of a string is searched at once


def printf(compiler: FunctionCompiler, row: Instruction) -> Step:
    """The step of a call. It gives 0, and -1 in the work-items whose text is dropped."""
    template, *operands = row.words[2:]
    kinds = [compiler.type_of(operand) for operand in operands]
    check_printable(kinds)
    slots, result, site = [compiler.slot(o) for o in operands], compiler.result(row), compiler.site(row)
    pointer, dtype = compiler.slot(template), compiler.result_type(row).dtype

    def execute(frame: Frame) -> None:
        lanes = np.argwhere(frame.mask.expanded)
        values = [frame.slots[slot] for slot in (pointer, *slots)]
        printed = _Call(frame, site, kinds).run(lanes, values)
        outcome = np.zeros(frame.mask.expanded.shape, dtype)
        outcome[tuple(lanes[printed:].T)] = -1
        frame.slots[result] = outcome

    return execute


class _Call:
    """One execution of a printf instruction."""

    def __init__(self, frame: Frame, site: Site, kinds: Sequence[Type]) -> None:
        self.frame = frame
        self.site = site
        self.kinds = kinds
        self.output = frame.batch.output
        self.formats: dict[int, list[bytes | Conversion]] = {}

    def run(self, lanes: Array, values: Sequence[Array]) -> int:
        """Print for ``lanes``, rows of sub-group and lane; ``values`` are the formats' addresses and the
        arguments. Returns how many of them were printed, the first ones."""
        for start in range(0, len(lanes), TOGETHER):
            part = lanes[start:start + TOGETHER]
            rows = zip(*(self._taken(value, part) for value in values), strict=True)
            printed = 0 if self.output.is_full else self._print(part.tolist(), rows)
            if printed < len(part):
                self.output.dropped += len(lanes) - start - printed
                return start + printed
        return len(lanes)

    def _taken(self, value: Array, lanes: Array) -> list[Any]:
        """The value of each lane."""
        shape = (*self.frame.mask.expanded.shape, *value.shape[2:])
        taken = np.broadcast_to(value, shape)[lanes[:, 0], lanes[:, 1]]
        found: list[Any] = (taken.astype(np.float32) if taken.dtype.kind == "V" else taken).tolist()
        return found

    def _print(self, lanes: list[list[int]], rows: Iterable[tuple[Any, ...]]) -> int:
        """Print up to the first text that does not fit; what comes before an error is printed, too."""
        texts: list[bytes] = []
        try:
            for (sub_group, lane), (address, *arguments) in zip(lanes, rows, strict=True):
                text = self._text(address, arguments, sub_group, lane)
                if text is None or not self.output.fits(len(text)):
                    break
                texts.append(text)
        finally:
            self.output.write(b"".join(texts))
        return len(texts)

    def _text(self, address: int, arguments: Sequence[Any], sub_group: int, lane: int) -> bytes | None:
        """What one work-item prints; None if there is no room for it."""
        if address not in self.formats:
            format = self._string(address, None, sub_group, lane)
            try:
                self.formats[address] = conversions(format, self.kinds)
            except FormatFault as fault:
                raise UndefinedBehavior(str(fault), self.site.where(self.frame, sub_group, lane)) from None
        return formatted(self.formats[address], arguments, self.output.left,
                         lambda argument, most: self._string(argument, most, sub_group, lane))

    def _string(self, address: int, most: int | None, sub_group: int, lane: int) -> bytes:
        return string_at(self.frame, self.site, address, most, self.output.left + 1, (sub_group, lane), "printf")


def string_at(frame: Frame, site: Site, address: int, most: int | None, room: int, place: tuple[int, int],
              reader: str) -> bytes:
    """The characters at an address, up to a zero, that the work-item at ``place`` (sub-group and lane) sees; at most
    ``most`` bytes are read, and no more than have ``room``. ``reader``: who reads them, for messages."""
    memory = frame.memory
    buffer = memory.buffer_at(address)
    start = memory.offset_in(address)
    if buffer is None or not 0 <= start < buffer.row.nbytes:
        if most == 0 or not frame.batch.options.bounds:
            return b""
        raise OutOfBounds(f"{reader} reads a string at {memory.describe(address, 1)}", site.where(frame, *place))
    end = buffer.row.nbytes if most is None else min(buffer.row.nbytes, start + most)
    first = 0
    if buffer.instances is not None:
        first = int(np.broadcast_to(buffer.instances, frame.mask.expanded.shape)[place])
    found = b""
    for position in range(start, end, STRING_STEP):
        piece = bytes(buffer.memory[first + position:first + min(end, position + STRING_STEP)])
        text, zero, _ = piece.partition(b"\0")
        found += text
        if zero or len(found) > room:
            return found
    if end == buffer.row.nbytes and len(found) != most and frame.batch.options.bounds:
        raise OutOfBounds(f"{reader} reads a string without an end: no zero follows in the {len(found)} bytes up to "
                          "the end of the buffer", site.where(frame, *place, buffer.row.name, start))
    return found
