"""Numbers that say where a loop loads what its next round uses, and that its last round keeps from being too large.

``min(k + step, last)`` is ``k + step`` in all rounds but the last one, whose loads nobody uses. Where the loads move to
the round that uses them, the last one is not done, and the limit is not needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import uses_of
from coopmat.spirv.grammar import OPENCL_STD, Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import Condition, Counter
from coopmat.spirv.transform.enlarge.indices import ADDRESS_BITS, Indices, fitting
from coopmat.spirv.transform.facts import PURE

_LEAST = {OPENCL_STD["s_min"]: True, OPENCL_STD["u_min"]: False}
"""The functions that give the smaller number, and whether numbers have a sign."""
_MOST = (1 << ADDRESS_BITS - 1) - 1
_TOO_FAR = "a loop loads ahead what is no tile of the next round"


@dataclass(frozen=True)
class Clamped:
    """A number that is another one in all rounds but the last, if the conditions hold."""

    row: Instruction
    number: int
    conditions: tuple[Condition, ...]


def clamped(indices: Indices, header: Block, loads: Collection[int]) -> Iterator[Clamped]:
    """Those of a loop that nothing depends on but where some loads are, by their ids."""
    counter = indices.counters.get(header.label)
    if counter is None:
        return
    uses = uses_of(indices.body)
    for block in indices.loops.blocks(header.label):
        for row in block.instructions:
            if row.opcode in (Op.ExtInst, Op.Select) and indices.is_integer(row.result_id or 0):
                found = _least(indices, row, counter) if row.opcode == Op.ExtInst else _chosen(indices, row, counter)
                if found is not None and _leads_to(row, uses, loads):
                    yield found


def another_round(counter: Counter) -> Polynomial:
    """What is negative in all rounds but the last one."""
    following = Polynomial.atom("round", counter.header) + Polynomial.constant(1)
    return counter.start + following.scaled(counter.step) - counter.limit


def _least(indices: Indices, row: Instruction, counter: Counter) -> Clamped | None:
    """The smaller one of a number that rises from round to round and of one that does not."""
    if indices.editor.module.instruction_sets.get(row.words[0]) != "OpenCL.std" or row.words[1] not in _LEAST:
        return None
    signed, bits, this = _LEAST[row.words[1]], indices.bits(row.result_id or 0), Atom("round", counter.header)
    last = Polynomial.atom("rounds", counter.header) - Polynomial.constant(2)
    for word, other in (row.words[2:], row.words[:1:-1]):
        value, limit = indices.of(word), indices.of(other)
        factor = value.coefficient(this)
        if factor is not None and (factor.known or 0) > 0 and this not in limit.atoms:
            most = value.replaced({this: last})
            return Clamped(row, word, (Condition(limit - most, 0, _MOST, _TOO_FAR), *(
                one for number in (most, limit, value.replaced({this: Polynomial()}))
                for one in fitting(number, bits, signed=signed))))
    return None


def _chosen(indices: Indices, row: Instruction, counter: Counter) -> Clamped | None:
    """One of two numbers, by whether there is another round."""
    compared = indices.editor.definition(row.words[0])
    for place, holds in ((1, True), (2, False)):
        found = indices.negative(compared, holds=holds)
        if found is not None and found[0] == another_round(counter):
            return Clamped(row, row.words[place], tuple(found[1]))
    return None


def _leads_to(row: Instruction, uses: dict[int, list[Instruction]], loads: Collection[int]) -> bool:
    """Whether a number is used for nothing but to compute where some loads are."""
    waiting = [row]
    while waiting:
        for user in uses.get(waiting.pop().result_id or 0, ()):
            if user.result_id in loads:
                continue
            if user.opcode not in PURE:
                return False
            waiting.append(user)
    return True
