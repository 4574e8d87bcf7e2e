"""Whether all work-items stay in a loop, asked of the one that leaves it first."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.targets.cpu.lanes.masks import Masks
from coopmat.targets.llvm.values import Number, bits_of

LESS, GREATER = "lt", "gt"
COMPARISONS: dict[int, tuple[str, str, bool]] = {
    Op.ULessThan: ("u", LESS, False), Op.ULessThanEqual: ("u", LESS, True),
    Op.SLessThan: ("s", LESS, False), Op.SLessThanEqual: ("s", LESS, True),
    Op.UGreaterThan: ("u", GREATER, False), Op.UGreaterThanEqual: ("u", GREATER, True),
    Op.SGreaterThan: ("s", GREATER, False), Op.SGreaterThanEqual: ("s", GREATER, True),
}
"""The sign of a comparison's operands, its direction, and whether it holds for equal ones."""
_OTHER = {LESS: GREATER, GREATER: LESS}


def for_all(lanes: Masks, condition: Number, *, negated: bool) -> Number:
    """A condition under which all work-items stay in a loop, one number for all of them: that the terminator's
    condition holds for each, or for none (``negated``). It may fail where work-items' numbers wrap."""
    if condition.is_single:
        return condition
    emitter = lanes.emitter
    assert emitter.row is not None
    row = emitter.flat.definition(emitter.row.words[0])
    if row.opcode in COMPARISONS:
        sign, direction, with_equal = COMPARISONS[row.opcode]
        if negated:
            direction, with_equal = _OTHER[direction], not with_equal
        a, b = (emitter.number(word) for word in row.words)
        found = _by_edge(lanes, sign, direction, with_equal, a, b)
        if found is not None:
            return _negated(lanes, found) if negated else found
    if negated:
        condition = emitter.apply("xor {t} {0}, {1}", "i1", condition, Number("i1", "true"))
    found = lanes.all(condition)  # type: ignore[attr-defined]
    return _negated(lanes, found) if negated else found


def _negated(lanes: Masks, number: Number) -> Number:
    return Number("i1", lanes.writer.let(f"xor i1 {number.base}, true"))


def _by_edge(lanes: Masks, sign: str, direction: str, with_equal: bool, a: Number, b: Number) -> Number | None:
    """Whether numbers that rise towards a bound, or fall, are all on its side: the last one's distance from the first
    is taken from the bound, which then does not go beyond the ends of its type."""
    if a.is_single:
        a, b, direction = b, a, _OTHER[direction]
    if not (a.is_linear and a.stride and b.is_single) or (a.stride > 0) != (direction == LESS):
        return None
    distance = abs(a.stride) * (lanes.size - 1) - with_equal
    if distance >= 1 << bits_of(a.type) - 2:
        return None
    moving = "sub" if direction == LESS else "add"
    bound = lanes.emitter.intrinsic(f"{sign}{moving}.sat", a.type, b, lanes.emitter.constant(a.type, distance))
    return Number("i1", lanes.writer.let(f"icmp {sign}{direction} {a.type} {a.base}, {bound.base}"))
