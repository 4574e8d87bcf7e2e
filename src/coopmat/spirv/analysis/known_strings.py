"""Strings that are known before anything runs: those of printf's formats, and of assertions."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import CHAINS, Decoration, Op, StorageClass
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction

_SAME_POINTERS = frozenset({Op.Bitcast, Op.PtrCastToGeneric, Op.GenericCastToPtr})


def variable_of_string(module: Content, pointer: int, definition: Callable[[int], Instruction],
                       constant_of: Callable[[int], int | None]) -> int | None:
    """The constant variable to whose first byte a pointer leads; None for another pointer.

    ``definition`` and ``constant_of`` tell of ids as functions of the module have them at last, inlined ones too.
    """
    row = definition(pointer)
    opcode, words = row.opcode, row.words
    if opcode == Op.SpecConstantOp:
        opcode, words = words[0], words[1:]
    if opcode in _SAME_POINTERS or (opcode in CHAINS and all(constant_of(word) == 0 for word in words[1:])):
        return variable_of_string(module, words[0], definition, constant_of)
    return pointer if opcode == Op.Variable and len(words) > 1 and _is_constant(module, pointer, words[0]) else None


def _is_constant(module: Content, variable: int, storage: int) -> bool:
    """Whether a variable keeps its initial value."""
    return storage == StorageClass.UniformConstant or (storage == StorageClass.CrossWorkgroup and any(
        decoration == Decoration.Constant for decoration, _ in module.decorations(variable)))


def text_of(content: bytes) -> bytes:
    """The bytes of a string, up to a zero."""
    return content.partition(b"\0")[0]
