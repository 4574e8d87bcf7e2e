"""What the text of a kernel's optimised IR looks like where matrices are."""

from __future__ import annotations

import re

CALL = re.compile(r"\s*(?:(%\S+) = )?(?:tail |musttail |notail )?call (.*?) ?@(matrix\.\w+\.\d+)\((.*)\)"
                  r"(?: #\d+)?(?:, ![\w.]+ !\d+)*$")
"""A call of a function that stands for an operation: its result, its type, the function, the operands."""
METADATA_AT_END = re.compile(r"(?:, ![\w.]+ !\d+)+$")
_ATTRIBUTES = re.compile(r" (?:noundef|nonnull|nocapture|readonly|captures\(none\)|noalias|writeonly)(?= )")


def operands_of(text: str) -> list[str]:
    """Operands as types and values, without attributes."""
    return [_ATTRIBUTES.sub("", one.strip()) for one in _split(text)]


def _split(text: str) -> list[str]:
    """Parts, separated by the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]] if text.strip() else []
