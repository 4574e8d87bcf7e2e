"""Where sub-groups pause: before each instruction that accesses memory which others may see."""

from __future__ import annotations

from collections.abc import Mapping

from coopmat.spirv.grammar import CHAINS, LIFETIMES, POINTER_CASTS, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.cpu.lanes.vector import lanes_of
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.values import Value

SHARED = frozenset({StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.Generic})
ADDRESSES = frozenset({
    *CHAINS, *POINTER_CASTS, *LIFETIMES, Op.Variable, Op.Phi, Op.Select, Op.GenericCastToPtrExplicit, Op.ConvertPtrToU,
    Op.GenericPtrMemSemantics, Op.PtrEqual, Op.PtrNotEqual, Op.PtrDiff, Op.IEqual, Op.INotEqual, Op.SizeOf,
    Op.LoopMerge, Op.SelectionMerge, Op.Branch, Op.BranchConditional, Op.Switch})
"""Instructions that have pointers, or labels, and access no memory."""


def pausing(handlers: Mapping[int, Handler]) -> dict[int, Handler]:
    """The same instructions, those that access memory with a pause before them."""
    return {opcode: handler if opcode in ADDRESSES else _after_pause(handler) for opcode, handler in handlers.items()}


def _after_pause(handler: Handler) -> Handler:
    def handled(emitter: Emitter, row: Instruction) -> Value | None:
        if emitter.row is row and any(_is_shared(emitter, word) for word in row.ids()):
            lanes_of(emitter).pause()
        return handler(emitter, row)

    return handled


def _is_shared(emitter: Emitter, identifier: int) -> bool:
    """Whether an id is a pointer to memory that others may see."""
    kind = emitter.flat.definition(identifier).type_id
    if kind is None:
        return False
    found = emitter.module.definition(kind)
    return found.opcode == Op.TypePointer and found.words[0] in SHARED
