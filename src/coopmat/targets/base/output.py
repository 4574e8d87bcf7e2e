"""Where the text goes that a kernel prints, and what launches warn of."""

from __future__ import annotations

import codecs
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

DEFAULT_PRINTF_LIMIT = 1 << 20  # the least that OpenCL's CL_DEVICE_PRINTF_BUFFER_SIZE may be


@dataclass
class Said:
    """What launches have said: texts for standard output, lines for the error output, and warnings."""

    texts: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)

    def repeat(self) -> None:
        """Say it where this is called."""
        show("".join(self.texts))
        for line in self.lines:
            complain(line)
        for one in self.warnings:
            warn(one)


_HEARD: ContextVar[Said | None] = ContextVar("heard", default=None)


@contextmanager
def heard(said: Said) -> Iterator[None]:
    """Launches of this thread say what they do to ``said``."""
    before = _HEARD.set(said)
    try:
        yield
    finally:
        _HEARD.reset(before)


def show(text: str) -> None:
    """Write a text to standard output, where it cannot be encoded with question marks."""
    said = _HEARD.get()
    if said is not None:
        said.texts.append(text)
    elif text and sys.stdout is not None:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding or "ascii"
            sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def complain(line: str) -> None:
    """Write a line to the error output."""
    said = _HEARD.get()
    if said is not None:
        said.lines.append(line)
    elif sys.stderr is not None:
        print(line, file=sys.stderr)


def warn(warning: Warning) -> None:
    """Warn of something."""
    said = _HEARD.get()
    if said is not None:
        said.warnings.append(warning)
    else:
        warnings.warn(warning, stacklevel=3)


class Output:
    """What one launch prints: at most ``limit`` bytes, to Python's standard output.

    Once a text does not fit, it and all later ones are dropped whole: what is shown is the beginning. ``remark`` ends
    what is said then.
    """

    def __init__(self, kernel: str, limit: int, remark: str = "") -> None:
        self.kernel = kernel
        self.limit = limit
        self.remark = remark
        self.left = limit
        self.dropped = 0
        self.show: Callable[[str], None] = self._show
        """Where the texts go, in place of standard output."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def is_full(self) -> bool:
        """Whether nothing more is printed."""
        return self.dropped > 0

    def fits(self, size: int) -> bool:
        """Whether a text of this many bytes is printed; the room is taken then. An empty one counts as a byte,
        so that printing ends at some time, too."""
        room = max(size, 1)
        if self.is_full or room > self.left:
            return False
        self.left -= room
        return True

    def write(self, data: bytes) -> None:
        """Print texts that fit; the bytes are UTF-8, what is not is shown as U+FFFD."""
        self.show(self._decoder.decode(data))

    def close(self) -> None:
        """The end of the launch: nothing stays behind, and what was dropped is said in one line."""
        self.show(self._decoder.decode(b"", final=True))
        if sys.stdout is not None:
            sys.stdout.flush()
        if self.is_full:
            calls = "a call" if self.dropped == 1 else f"{self.dropped} calls"
            complain(f"coopmat: kernel '{self.kernel}' prints more than {self.limit} bytes: {calls} of printf dropped"
                     f"{self.remark}")

    @staticmethod
    def _show(text: str) -> None:
        show(text)
