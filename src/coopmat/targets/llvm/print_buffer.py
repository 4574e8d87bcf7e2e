"""The buffer of a launch for printf, and what the host prints of it when the launch has ended.

The buffer begins with the words of :class:`Header`. Each call of a work-item is a record behind them: the number of the
call in the code, then its arguments, a word for each number. Where the format is not known when the kernel is
compiled, its bytes come first. Strings that a known format prints are in the record, too: their length in a word, then
their bytes, padded to whole words; they may lie where nothing is left of them when the kernel has ended.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, OutOfBounds, UndefinedBehavior, Where
from coopmat.spirv.analysis.types import FloatType, PointerType, Type
from coopmat.targets.base.output import Output
from coopmat.targets.base.printing import FormatFault, conversions, formatted

WORD = 8  # bytes
BYTES_PER_CHARACTER = 24  # of records: a number and its call, which print at least one
LEAST_BYTES = 1 << 16  # of all records
NO_STRING = (1 << 64) - 1


class Header(IntEnum):
    """The words at the buffer's start, by their positions."""

    USED = 0  # bytes that records have taken, also of those that did not fit
    END = 1  # where the first of these begins
    CHARACTERS = 2  # that the texts of all records take at least
    DROPPED = 3  # calls that were not written down
    CAPACITY = 4  # bytes for records
    LIMIT = 5  # characters that are printed
    FAILED = 6  # the first assertion that failed, counted from 1, on targets that note it here
    COUNT = 8


@dataclass(frozen=True)
class PrintCall:
    """A call of printf in the code. format: None if it is not known. strings: the arguments that are in the record as
    strings, with the most bytes that are read of them."""

    format: bytes | None
    kinds: tuple[Type, ...]
    strings: Mapping[int, int | None]


class PrintBuffer:
    """What the kernels of one launch print. ``calls`` are those in the kernel's code; ``machine`` runs it, by the name
    that messages call it. ``words``: the buffer itself."""

    def __init__(self, kernel: str, calls: Sequence[PrintCall], limit: int, machine: str) -> None:
        self._kernel = kernel
        self._calls = calls
        self._limit = limit
        self._remark = f" ({machine}'s option printf_limit allows more)"
        capacity = LEAST_BYTES + BYTES_PER_CHARACTER * limit
        try:
            self.words = np.empty(Header.COUNT + capacity // WORD, np.uint64)
        except (MemoryError, ValueError) as error:
            raise Error(f"a printf_limit of {limit} needs more memory than there is") from error
        self.words[:Header.COUNT] = 0
        self.words[Header.END] = self.words[Header.CAPACITY] = capacity
        self.words[Header.LIMIT] = limit

    @property
    def address(self) -> int:
        """Where the kernel finds the buffer."""
        return int(self.words.ctypes.data)

    def show(self) -> None:
        """Print everything, when the launch has ended. UndefinedBehavior for a format that is not defined, OutOfBounds
        for a string at a null pointer; what comes before it has been printed then."""
        output = Output(self._kernel, self._limit, self._remark)
        try:
            for call, arguments in self._records():
                text = None if output.is_full else self._text(call, arguments, output.left)
                if text is None or not output.fits(len(text)):
                    output.dropped += 1
                else:
                    output.write(text)
            output.dropped += int(self.words[Header.DROPPED])
        finally:
            output.close()

    def _text(self, call: PrintCall, words: _Words, room: int) -> bytes | None:
        format = call.format if call.format is not None else self._string(words.string(), None)
        arguments = [words.string() if index in call.strings else words.value(kind)
                     for index, kind in enumerate(call.kinds)]
        try:
            return formatted(conversions(format, call.kinds), arguments, room, self._string)
        except FormatFault as fault:
            raise UndefinedBehavior(str(fault), Where(self._kernel)) from None

    def _string(self, argument: bytes | int | None, most: int | None) -> bytes:
        """The bytes of a string; of one that is not in the record, those at its address."""
        if isinstance(argument, bytes):
            return argument
        if most == 0:
            return b""
        if not argument:
            raise OutOfBounds("printf reads a string at a null pointer", Where(self._kernel))
        room = self._limit + 1 if most is None else min(most, self._limit + 1)
        found = b""
        while len(found) < room:
            byte = ctypes.string_at(argument + len(found), 1)
            if byte == b"\0":
                break
            found += byte
        return found

    def _records(self) -> Iterator[tuple[PrintCall, _Words]]:
        end = int(min(self.words[Header.USED], self.words[Header.END]))
        words = _Words(self.words[Header.COUNT:Header.COUNT + end // WORD].view(np.uint8))
        while words.position < end:
            call = self._calls[words.word()]
            start = words.position
            yield call, words
            words.position = start
            words.skip(call)


class _Words:
    """Reads records from the bytes of a buffer."""

    def __init__(self, content: np.ndarray) -> None:
        self._content = content.data
        self.position = 0

    def word(self) -> int:
        """The next word."""
        found: int = struct.unpack_from("<Q", self._content, self.position)[0]
        self.position += WORD
        return found

    def string(self) -> bytes | None:
        """The next string; None for a null pointer."""
        length = self.word()
        if length == NO_STRING:
            return None
        found = bytes(self._content[self.position:self.position + length])
        self.position += -(-length // WORD) * WORD
        return found

    def value(self, kind: Type) -> Any:
        """The next argument that is no string: a number, or a list of them."""
        code = "d" if isinstance(kind.scalar, FloatType) else "Q" if isinstance(kind, PointerType) else "q"
        found = list(struct.unpack_from(f"<{kind.count}{code}", self._content, self.position))
        self.position += WORD * kind.count
        return found if kind.count > 1 else found[0]

    def skip(self, call: PrintCall) -> None:
        """Go behind the arguments of a call."""
        if call.format is None:
            self.string()
        for index, kind in enumerate(call.kinds):
            if index in call.strings:
                self.string()
            else:
                self.position += WORD * kind.count
