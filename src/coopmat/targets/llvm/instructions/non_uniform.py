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
from coopmat.targets.llvm.arithmetic.floats import from_bf16
from coopmat.targets.llvm.arithmetic.integers import bounded, is_bf16, resized
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.lanes import Source
from coopmat.targets.llvm.numbers import NumberWriter
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
    return (emitter.execution.elect(),)


def all_of(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Whether a predicate holds for all that are here."""
    return (emitter.execution.all(emitter.number(words[0])),)


def any_of(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Whether a predicate holds for one that is here."""
    return (emitter.execution.any(emitter.number(words[0])),)


def all_equal(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Whether a value is the same for all that are here; NaN equals nothing."""
    kind, numbers = emitter.type_of(words[0]).scalar, emitter.numbers(words[0])
    is_float = isinstance(kind, FloatType)
    found = emitter.constant("i1", True)
    for number in numbers:
        own = from_bf16(emitter, number) if is_bf16(kind) else number
        [first] = emitter.execution.broadcast_first((own,))
        equal = emitter.apply(f"{'fcmp oeq' if is_float else 'icmp eq'} {{t}} {{0}}, {{1}}", "i1", own, first)
        found = emitter.apply("and {t} {0}, {1}", "i1", found, emitter.execution.all(equal))
    return (found,)


def broadcast_first(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """The value of the first that is here."""
    return emitter.execution.broadcast_first(emitter.numbers(words[0]))


def _broadcast(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    return emitter.execution.broadcast(emitter.numbers(words[0]), emitter.number(words[1]))


# --------------------------------------------------------------------------------------
# Ballots: four 32-bit words, bit i for lane i
# --------------------------------------------------------------------------------------


def ballot(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    """Who is here and has a predicate hold."""
    bits = emitter.execution.ballot(emitter.number(words[0]))
    zero = emitter.constant("i32", 0)
    if emitter.sub_group_size <= WORD_BITS:
        return (resized(emitter, bits, "i32", signed=False), *[zero] * (BALLOT_WORDS - 1))
    high = emitter.apply("lshr {t} {0}, {1}", bits.type, bits, emitter.constant(bits.type, WORD_BITS))
    return (*(resized(emitter, one, "i32", signed=False) for one in (bits, high)), zero, zero)


def _bits_of(emitter: Emitter, word: int) -> Number:
    """A ballot as one integer, without the bits of lanes that no sub-group has."""
    low, high, *_ = emitter.numbers(word)
    size = emitter.sub_group_size
    if size <= WORD_BITS:
        return emitter.apply("and {t} {0}, {1}", "i32", low, emitter.constant("i32", (1 << size) - 1))
    low, high = (emitter.apply("zext {t} {0} to {r}", "i64", one) for one in (low, high))
    high = emitter.apply("shl {t} {0}, {1}", "i64", high, emitter.constant("i64", WORD_BITS))
    return emitter.apply("or {t} {0}, {1}", "i64", low, high)


def _bit(emitter: Emitter, bits: Number, index: Number) -> Number:
    """Whether a bit is set; ``index`` is an i32."""
    size = emitter.sub_group_size
    exists = emitter.apply("icmp ult {t} {0}, {1}", "i1", index, emitter.constant("i32", size))
    within = emitter.apply("and {t} {0}, {1}", "i32", index, emitter.constant("i32", size - 1))
    moved = emitter.apply("lshr {t} {0}, {1}", bits.type, bits, resized(emitter, within, bits.type, signed=False))
    return emitter.apply("and {t} {0}, {1}", "i1", exists, emitter.apply("trunc {t} {0} to {r}", "i1", moved))


def _inverse_ballot(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    bits = _bits_of(emitter, words[0])
    if not emitter.execution.is_joint(bits):
        return (_bit(emitter, bits, emitter.lane_number()),)
    return (emitter.execution.own_bit(resized(emitter, bits, f"i{emitter.sub_group_size}", signed=False)),)


def _bit_extract(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    return (_bit(emitter, _bits_of(emitter, words[0]), bounded(emitter, emitter.number(words[1]))),)


def _bit_count(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    operation, bits = known_scan(words[0], row.name), _bits_of(emitter, words[1])
    if operation != GroupOperation.Reduce:
        before = emitter.execution.bits_before(bits.type, own=operation == GroupOperation.InclusiveScan)
        bits = emitter.apply("and {t} {0}, {1}", bits.type, bits, before)
    found = emitter.intrinsic("ctpop", bits.type, bits)
    return (resized(emitter, found, llvm_type(emitter.result_type(row)), signed=False),)


def _find(counting: str) -> Evaluate:
    """FindLSB and FindMSB: -1 if no bit is set."""

    def evaluate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
        bits = _bits_of(emitter, words[0])
        found = emitter.intrinsic(counting, bits.type, bits, immediate=[("i1", "false")])
        if counting == "ctlz":  # no bit: as many zeros as there are bits, and so -1
            highest = emitter.constant(bits.type, max(WORD_BITS, emitter.sub_group_size) - 1)
            found = emitter.apply("sub {t} {0}, {1}", bits.type, highest, found)
        else:
            is_none = emitter.apply("icmp eq {t} {0}, {1}", "i1", bits, emitter.constant(bits.type, 0))
            found = emitter.select(is_none, emitter.constant(bits.type, -1), found)
        return (resized(emitter, found, llvm_type(emitter.result_type(row)), signed=True),)

    return evaluate


# --------------------------------------------------------------------------------------
# Shuffles
# --------------------------------------------------------------------------------------

SOURCES = {
    "Shuffle": Source(lambda lane, chosen: chosen),
    "ShuffleXor": Source(lambda lane, mask: lane ^ mask,
                         lambda numbers, lane, mask: numbers.apply("xor {t} {0}, {1}", "i32", lane, mask)),
    "ShuffleUp": Source(lambda lane, delta: lane - delta,
                        lambda numbers, lane, delta: numbers.apply("sub {t} {0}, {1}", "i32", lane, delta)),
    "ShuffleDown": Source(lambda lane, delta: lane + delta,
                          lambda numbers, lane, delta: numbers.apply("add {t} {0}, {1}", "i32", lane, delta)),
}
"""The shuffles by their names, and the lane that each reads from."""


def shuffle(source: Source) -> Evaluate:
    """A shuffle from the lane that an operand leads to."""

    def evaluate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
        return emitter.execution.shuffle(emitter.numbers(words[0]), emitter.number(words[1]), source)

    return evaluate


def _rotated(size: int) -> Source:
    """From the lane further on in a cluster, whose end is followed by its start."""

    def written(numbers: NumberWriter, lane: Number, delta: Number) -> Number:
        low = numbers.constant("i32", size - 1)
        moved = numbers.apply("and {t} {0}, {1}", "i32", numbers.apply("add {t} {0}, {1}", "i32", lane, delta), low)
        start = numbers.apply("and {t} {0}, {1}", "i32", lane, numbers.constant("i32", -size))
        return numbers.apply("or {t} {0}, {1}", "i32", start, moved)

    return Source(lambda lane, delta: lane // size * size + (lane + delta) % size, written, wraps=True)


def _rotate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    numbers, delta = emitter.numbers(words[0]), emitter.number(words[1])
    size = emitter.sub_group_size
    if len(words) > 2:
        size = min(size, known_cluster(emitter.constant_of(words[2]), row.name))
    return emitter.execution.shuffle(numbers, delta, _rotated(size))


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
            return tuple(emitter.execution.clustered(folding, number, size) for number in numbers)
        known_scan(operation, row.name)
        return tuple(emitter.execution.scan(operation, folding, number) for number in numbers)

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
    **{name: shuffle(source) for name, source in SOURCES.items()},
    "RotateKHR": _rotate,
    **{name: _arithmetic(name) for name in REDUCTIONS},
}
OPERATIONS: dict[int, Handler] = {
    Op[f"GroupNonUniform{name}"]: scoped(evaluate) for name, evaluate in EVALUATIONS.items()}
