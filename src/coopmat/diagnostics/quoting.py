"""What a source or a caller gives, and a message quotes: long texts and numbers are shortened."""

from __future__ import annotations

import re
import reprlib
from enum import Enum

SNIPPET_WIDTH = 160  # of a longer source line, the part around the caret is shown
LONGEST_WORD, LONGEST_MESSAGE = 256, 3072  # of a longer word or message, beginning and end are shown
LONGEST_NAME = 4096  # of a word in an error that quotes no source: a path, at most


def shortened(text: str, word: int = LONGEST_WORD, whole: int = LONGEST_MESSAGE) -> str:
    """A text of which no word is longer than ``word`` characters, and which is no longer than ``whole``."""
    if len(text) <= word:
        return text
    text = re.sub(rf"\S{{{word + 1},}}", lambda match: _ends(match[0], word), text)
    return _ends(text, whole)


def _ends(text: str, length: int) -> str:
    """The beginning and the end of a text that is longer than this."""
    return text if len(text) <= length else f"{text[:length * 2 // 3]}…{text[len(text) - length // 4:]}"


def number_text(value: float) -> str:
    """A number as messages show it: in hexadecimal digits if it has more than Python makes decimal ones of."""
    return f"{value:#x}" if is_long(value) else str(value)


def value_text(value: object) -> str:
    """What messages quote of a value that a caller gave: its ``repr``, of a long one a line's worth."""
    return _ends(_QUOTATION.repr(value), SNIPPET_WIDTH)


class _Quotation(reprlib.Repr):
    """Takes no time over long values, and integers of any length."""

    def __init__(self) -> None:
        super().__init__()
        self.maxother = 2 * SNIPPET_WIDTH  # so that it is not this class that shortens

    def repr_int(self, x: int, level: int) -> str:
        return _ends(number_text(x), SNIPPET_WIDTH)

    def repr_str(self, x: str, level: int) -> str:
        return repr(_ends(x, SNIPPET_WIDTH))


_QUOTATION = _Quotation()


def is_long(value: object) -> bool:
    """Whether this is an integer of more digits than Python makes decimal ones of."""
    return isinstance(value, int) and value.bit_length() > 1 << 12


class SpelledEnum(Enum):
    """An enumeration whose members are shown as the user writes them: ``use.a``."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __repr__ = __str__
