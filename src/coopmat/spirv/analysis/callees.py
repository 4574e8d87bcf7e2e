"""Which functions an instruction runs: that of a call, and those that matrix instructions run for elements."""

from __future__ import annotations

from coopmat.spirv.grammar import Op, TensorAddressingOperands
from coopmat.spirv.module.instruction import Instruction

PLACES: dict[Op, int] = {Op.FunctionCall: 0, Op.CooperativeMatrixReduceEXT: 2, Op.CooperativeMatrixPerElementOpEXT: 1}
"""Instruction → the place of the function among its operands."""
CALLING = frozenset({*PLACES, Op.CooperativeMatrixLoadTensorNV})
"""Instructions that run functions; a load with a tensor layout may have some, which decode, at its end."""
_DECODING = (TensorAddressingOperands.DecodeFunc, TensorAddressingOperands.DecodeVectorFunc)


def callees_of(item: Instruction) -> tuple[int, ...]:
    """The ids of the functions that an instruction runs."""
    if item.opcode in PLACES:
        return item.words[PLACES[Op(item.opcode)]:][:1]
    if item.opcode != Op.CooperativeMatrixLoadTensorNV:
        return ()
    addressing = next((int(value) for kind, value in item.operands if kind == "TensorAddressingOperands"), 0)
    count = sum(bool(addressing & decoding) for decoding in _DECODING)
    return item.words[len(item.words) - count:]
