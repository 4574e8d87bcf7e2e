"""Where the text goes that a kernel prints."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable

DEFAULT_PRINTF_LIMIT = 1 << 20  # the least that OpenCL's CL_DEVICE_PRINTF_BUFFER_SIZE may be


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
        if self.is_full and sys.stderr is not None:
            calls = "a call" if self.dropped == 1 else f"{self.dropped} calls"
            print(f"coopmat: kernel '{self.kernel}' prints more than {self.limit} bytes: {calls} of printf dropped"
                  f"{self.remark}", file=sys.stderr)

    @staticmethod
    def _show(text: str) -> None:
        if not text or sys.stdout is None:
            return
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding or "ascii"
            sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
