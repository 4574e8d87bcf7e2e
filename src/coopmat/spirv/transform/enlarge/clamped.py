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
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Condition, Counter, fitting
from coopmat.spirv.transform.enlarge.indices import Indices
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
            if row.opcode not in (Op.ExtInst, Op.Select, Op.Phi) or not indices.is_integer(row.result_id or 0):
                continue
            found = _least(indices, row, counter) if row.opcode == Op.ExtInst else (
                _chosen(indices, row, row.words[0], (row.words[1], row.words[2]), counter) if row.opcode == Op.Select
                else _of_branch(indices, row, block, counter))
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
            most, where = value.replaced({this: last}), indices.line(row)
            return Clamped(row, word, (Condition(limit - most, 0, _MOST, _TOO_FAR, where=where), *(
                one for number in (most, limit, value.replaced({this: Polynomial()}))
                for one in fitting(number, bits, signed=signed, where=where))))
    return None


def _chosen(indices: Indices, row: Instruction, condition: int, numbers: tuple[int, int], counter: Counter
            ) -> Clamped | None:
    """One of two numbers, the first where a condition holds, if that says whether there is another round."""
    compared = indices.editor.definition(condition)
    for number, holds in zip(numbers, (True, False), strict=True):
        found = indices.negative(compared, holds=holds)
        if found is not None and found[0] == another_round(counter):
            return Clamped(row, number, tuple(found[1]))
    return None


def _of_branch(indices: Indices, row: Instruction, block: Block, counter: Counter) -> Clamped | None:
    """The same of a phi behind a branch, of which at least one way leads through a block of its own."""
    numbers = dict(zip(row.words[1::2], row.words[::2], strict=True))
    parents = {label: indices.loops.only_parent(indices.body.block(label)) for label in numbers}
    for above in parents.values():
        merge = [] if above is None else above.instructions[-2:-1]
        if above is None or above.terminator.opcode != Op.BranchConditional or (
                not merge or merge[0].opcode != Op.SelectionMerge or merge[0].words[0] != block.label):
            continue
        ways = [above.label if label == block.label else label for label in above.terminator.words[1:3]]
        if set(ways) == numbers.keys() and all(way == above.label or parents[way] is above for way in ways):
            one, other = (numbers[way] for way in ways)
            return _chosen(indices, row, above.terminator.words[0], (one, other), counter)
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
