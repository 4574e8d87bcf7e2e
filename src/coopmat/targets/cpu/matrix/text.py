"""What the text of a kernel's optimised IR looks like where matrices are."""

from __future__ import annotations

import re

from coopmat.diagnostics import Error

CALL = re.compile(r"\s*(?:(%\S+) = )?(?:tail |musttail |notail )?call (.*?) ?@(matrix\.\w+\.\d+)\((.*)\)"
                  r"(?: #\d+)?(?:, ![\w.]+ !\d+)*$")
"""A call of a function that stands for an operation: its result, its type, the function, the operands."""
_METADATA_AT_END = re.compile(r"(?:, ![\w.]+ !\d+)+$")
_ATTRIBUTES = re.compile(r" (?:noundef|nonnull|nocapture|readonly|captures\(none\)|noalias|writeonly)(?= )")

_MOVES = {name: re.compile(pattern) for name, pattern in {
    "phi": r"(%\S+) = phi MATRIX (.*)",
    "load": r"(%\S+) = load MATRIX, ptr ([^,]+)(?:, align \d+)?",
    "store": r"store MATRIX (\S+), ptr ([^,]+)(?:, align \d+)?",
    "select": r"(%\S+) = select i1 ([^,]+), MATRIX (\S+), MATRIX (\S+)",
    "freeze": r"(%\S+) = freeze MATRIX (\S+)",
}.items()}
"""What moves matrices beside operations; MATRIX stands for the type."""


def move_of(line: str, matrix: str) -> tuple[str, tuple[str, ...]]:
    """What a line that has a type of matrices and is no operation does: the move's name, and its operands. Error for
    one that is not known."""
    text = _METADATA_AT_END.sub("", line.strip()).replace(matrix, "MATRIX")
    for name, pattern in _MOVES.items():
        found = pattern.fullmatch(text)
        if found:
            return name, found.groups()
    raise Error(f"a cooperative matrix is used in a way that is not known: {text}")


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
