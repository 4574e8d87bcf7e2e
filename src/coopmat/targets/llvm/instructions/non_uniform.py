"""OpGroupNonUniform*: the operations of those work-items of a sub-group that are there together.

A result that the specification leaves undefined (a shuffle from a work-item that is not there) is zero, as in the
simulator.
"""

from __future__ import annotations

from collections.abc import Callable

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import FloatType
from coopmat.spirv.grammar import GroupOperation, Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.group_scopes import known_cluster, known_scan, known_scope
from coopmat.targets.cpu.shuffles import bounded, known_lanes, present, taken, taken_from
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.floats import from_bf16
from coopmat.targets.llvm.instructions.group_operations import broadcast
from coopmat.targets.llvm.instructions.integers import is_bf16, resized
from coopmat.targets.llvm.reductions import REDUCTIONS
from coopmat.targets.llvm.values import Number, Value, llvm_type

BALLOT_WORDS, WORD_BITS = 4, 32
Evaluate = Callable[[Emitter, Instruction, "tuple[int, ...]"], Value]  # the ids of the operands after the scope


def scoped(evaluate: Evaluate) -> Handler:
    """An instruction whose first operand is the scope."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        known_scope(emitter.constant_of(row.words[0]), row.name, Scope.Subgroup)
        return evaluate(emitter, row, tuple(row.words[1:]))

    return handle


# --------------------------------------------------------------------------------------
# Votes and broadcasts
# --------------------------------------------------------------------------------------


def _elect(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    lanes = Number("i32", lanes=emitter.lanes(emitter.lane_number()))
    return (emitter.apply("icmp eq {t} {0}, {1}", "i1", lanes, Number("i32", emitter.first_lane())),)


def all_of(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Whether a predicate holds for all that are here."""
    return (_all(emitter, emitter.number(words[0])),)


def _all(emitter: Emitter, predicate: Number) -> Number:
    if predicate.is_uniform:
        return predicate
    bits = emitter.mask_bits(emitter.lanes(present(emitter, predicate, emitter.constant("i1", True))))
    return Number("i1", emitter.writer.let(f"icmp eq i{emitter.size} {bits}, -1"))


def any_of(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Whether a predicate holds for one that is here."""
    predicate = emitter.number(words[0])
    if predicate.is_uniform:
        return (predicate,)
    here = present(emitter, predicate, emitter.constant("i1", False))
    return (Number("i1", emitter.any_of(emitter.lanes(here))),)


def all_equal(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Whether a value is the same for all that are here; NaN equals nothing."""
    kind, numbers = emitter.type_of(words[0]).scalar, emitter.numbers(words[0])
    is_float = isinstance(kind, FloatType)
    found = emitter.constant("i1", True)
    for number in numbers:
        own = from_bf16(emitter, number) if is_bf16(kind) else number
        first = Number(own.type, emitter.lane_of(own, emitter.first_lane()))
        equal = emitter.apply(f"{'fcmp oeq' if is_float else 'icmp eq'} {{t}} {{0}}, {{1}}", "i1", own, first)
        found = emitter.apply("and {t} {0}, {1}", "i1", found, _all(emitter, equal))
    return (found,)


def broadcast_first(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """The value of the first that is here."""
    first = emitter.first_lane()
    return tuple(Number(number.type, emitter.lane_of(number, first)) for number in emitter.numbers(words[0]))


def _broadcast(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    return broadcast(emitter, emitter.numbers(words[0]), emitter.number(words[1]))


# --------------------------------------------------------------------------------------
# Ballots: four 32-bit words, bit i for lane i
# --------------------------------------------------------------------------------------


def ballot(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Who is here and has a predicate hold."""
    here = present(emitter, emitter.number(words[0]), emitter.constant("i1", False))
    bits = Number(f"i{emitter.size}", emitter.mask_bits(emitter.lanes(here)))
    zero = emitter.constant("i32", 0)
    if emitter.size <= WORD_BITS:
        return (resized(emitter, bits, "i32", signed=False), *[zero] * (BALLOT_WORDS - 1))
    high = emitter.apply("lshr {t} {0}, {1}", bits.type, bits, emitter.constant(bits.type, WORD_BITS))
    return (*(resized(emitter, one, "i32", signed=False) for one in (bits, high)), zero, zero)


def _bits_of(emitter: Emitter, word: int) -> Number:
    """A ballot as one integer, without the bits of lanes that no sub-group has."""
    low, high, *_ = emitter.numbers(word)
    if emitter.size <= WORD_BITS:
        return emitter.apply("and {t} {0}, {1}", "i32", low, emitter.constant("i32", (1 << emitter.size) - 1))
    low, high = (emitter.apply("zext {t} {0} to {r}", "i64", one) for one in (low, high))
    high = emitter.apply("shl {t} {0}, {1}", "i64", high, emitter.constant("i64", WORD_BITS))
    return emitter.apply("or {t} {0}, {1}", "i64", low, high)


def _bit(emitter: Emitter, bits: Number, index: Number) -> Number:
    """Whether a bit is set; ``index`` is an i32."""
    exists = emitter.apply("icmp ult {t} {0}, {1}", "i1", index, emitter.constant("i32", emitter.size))
    within = emitter.apply("and {t} {0}, {1}", "i32", index, emitter.constant("i32", emitter.size - 1))
    moved = emitter.apply("lshr {t} {0}, {1}", bits.type, bits, resized(emitter, within, bits.type, signed=False))
    return emitter.apply("and {t} {0}, {1}", "i1", exists, emitter.apply("trunc {t} {0} to {r}", "i1", moved))


def _inverse_ballot(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    bits = _bits_of(emitter, words[0])
    if not bits.is_uniform:
        return (_bit(emitter, bits, emitter.lane_number()),)
    small = resized(emitter, bits, f"i{emitter.size}", signed=False)
    return (emitter.varying("i1", emitter.writer.let(f"bitcast {small.type} {small.base} to {emitter.mask_type}")),)


def _bit_extract(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    return (_bit(emitter, _bits_of(emitter, words[0]), bounded(emitter, emitter.number(words[1]))),)


def _bit_count(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    operation, bits = known_scan(words[0], row.name), _bits_of(emitter, words[1])
    if operation != GroupOperation.Reduce:
        further = operation == GroupOperation.InclusiveScan
        masks = ", ".join(f"{bits.type} {(1 << lane + further) - 1 - (lane + further == 64 and 1 << 64)}"
                          for lane in range(emitter.size))
        bits = emitter.apply("and {t} {0}, {1}", bits.type, bits, emitter.varying(bits.type, f"<{masks}>"))
    found = emitter.intrinsic("ctpop", bits.type, bits)
    return (resized(emitter, found, llvm_type(emitter.result_type(row)), signed=False),)


def _find(counting: str) -> Evaluate:
    """FindLSB and FindMSB: -1 if no bit is set."""

    def evaluate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
        bits = _bits_of(emitter, words[0])
        found = emitter.intrinsic(counting, bits.type, bits, immediate=[("i1", "false")])
        if counting == "ctlz":  # no bit: as many zeros as there are bits, and so -1
            highest = emitter.constant(bits.type, max(WORD_BITS, emitter.size) - 1)
            found = emitter.apply("sub {t} {0}, {1}", bits.type, highest, found)
        else:
            is_none = emitter.apply("icmp eq {t} {0}, {1}", "i1", bits, emitter.constant(bits.type, 0))
            found = emitter.select(is_none, emitter.constant(bits.type, -1), found)
        return (resized(emitter, found, llvm_type(emitter.result_type(row)), signed=True),)

    return evaluate


# --------------------------------------------------------------------------------------
# Shuffles
# --------------------------------------------------------------------------------------

Source = Callable[[int, int], int]  # (own lane, operand) → lane


def shuffle(template: str, source_of: Source) -> Evaluate:
    """A shuffle from the lane that an instruction of LLVM computes from the own lane and the (unsigned) operand;
    ``source_of`` computes it, too, for operands that are known."""

    def evaluate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
        numbers, operand = emitter.numbers(words[0]), emitter.number(words[1])
        known = known_lanes(emitter, operand)
        if known is not None and (template or operand.stride):
            sources = [source_of(lane, chosen) for lane, chosen in enumerate(known)]
            return tuple(taken_from(emitter, number, sources) for number in numbers)
        source = bounded(emitter, operand)
        if template:
            source = emitter.apply(template, "i32", emitter.lane_number(), source)
        return tuple(taken(emitter, number, source) for number in numbers)

    return evaluate


SHUFFLES: dict[str, Evaluate] = {
    "Shuffle": shuffle("", lambda lane, chosen: chosen),
    "ShuffleXor": shuffle("xor {t} {0}, {1}", lambda lane, mask: lane ^ mask),
    "ShuffleUp": shuffle("sub {t} {0}, {1}", lambda lane, delta: lane - delta),
    "ShuffleDown": shuffle("add {t} {0}, {1}", lambda lane, delta: lane + delta),
}
"""The shuffles by their names, and the lane that each reads from."""


def _rotate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    numbers, delta = emitter.numbers(words[0]), emitter.number(words[1])
    size = known_cluster(emitter.constant_of(words[2]), row.name) if len(words) > 2 else emitter.size
    size = min(size, emitter.size)
    known = known_lanes(emitter, delta)
    if known is not None:
        sources = [lane // size * size + (lane + by) % size for lane, by in enumerate(known)]
        return tuple(taken_from(emitter, number, sources) for number in numbers)
    lane, low = emitter.lane_number(), emitter.constant("i32", size - 1)
    moved = emitter.apply("add {t} {0}, {1}", "i32", lane, resized(emitter, delta, "i32", signed=False))
    moved = emitter.apply("and {t} {0}, {1}", "i32", moved, low)
    start = emitter.apply("and {t} {0}, {1}", "i32", lane, emitter.constant("i32", -size))
    source = emitter.apply("or {t} {0}, {1}", "i32", start, moved)
    return tuple(taken(emitter, number, source) for number in numbers)


# --------------------------------------------------------------------------------------
# Arithmetic
# --------------------------------------------------------------------------------------


def _arithmetic(name: str) -> Evaluate:
    def evaluate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
        operation, numbers = words[0], emitter.numbers(words[1])
        folding = REDUCTIONS[name].of(emitter, emitter.result_type(row), row.name)
        if operation == GroupOperation.ClusteredReduce:
            if len(words) < 3:
                raise Error(f"{row.name} with ClusteredReduce needs a cluster size")
            size = known_cluster(emitter.constant_of(words[2]), row.name)
            return tuple(folding.clustered(number, size) for number in numbers)
        known_scan(operation, row.name)
        return tuple(folding.scan(operation, number) for number in numbers)

    return evaluate


EVALUATIONS: dict[str, Evaluate] = {
    "Elect": _elect,
    "All": all_of,
    "Any": any_of,
    "AllEqual": all_equal,
    "Broadcast": _broadcast,
    "BroadcastFirst": broadcast_first,
    "Ballot": ballot,
    "InverseBallot": _inverse_ballot,
    "BallotBitExtract": _bit_extract,
    "BallotBitCount": _bit_count,
    "BallotFindLSB": _find("cttz"),
    "BallotFindMSB": _find("ctlz"),
    **SHUFFLES,
    "RotateKHR": _rotate,
    **{name: _arithmetic(name) for name in REDUCTIONS},
}
OPERATIONS: dict[int, Handler] = {
    Op[f"GroupNonUniform{name}"]: scoped(evaluate) for name, evaluate in EVALUATIONS.items()}
