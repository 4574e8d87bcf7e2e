"""Repairs of the binary that LLVM's back end writes, where it is no SPIR-V before."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.binary import HEADER_WORDS
from coopmat.spirv.grammar import Op

_NULL_WORDS = 3  # of an OpConstantNull: type, result


def without_surplus_operands(binary: bytes) -> bytes:
    """The null constant of an opaque type without the operand that each use but the first has added to it."""
    words = np.frombuffer(binary, "<u4")
    parts, start, position = [], 0, HEADER_WORDS
    while position < len(words):
        count, opcode = int(words[position]) >> 16, int(words[position]) & 0xFFFF
        if opcode == Op.ConstantNull and count > _NULL_WORDS:
            parts += [words[start:position], np.array([_NULL_WORDS << 16 | opcode], "<u4"),
                      words[position + 1:position + _NULL_WORDS]]
            start = position + count
        position += max(count, 1)
    return np.concatenate([*parts, words[start:]]).tobytes()
