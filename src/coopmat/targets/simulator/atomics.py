"""Atomic instructions: carried out lane by lane, in the order of sub-groups and lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.address_space import Part
from coopmat.targets.simulator.arithmetic import of_unsigned
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.races.memory import watch_atomic
from coopmat.targets.simulator.races.ordering import ALL_SEMANTICS
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.traffic import traffic_of
from coopmat.targets.simulator.values import Array

Update = Callable[..., Array]  # (old values, operands...) -> new values


def _atomic(update: Update | None, operands: slice, *, writes: bool = True,
            constant: int | None = None) -> Handler:
    """An atomic instruction; ``operands`` are the words that ``update`` takes, None only reads.

    ``constant`` stands for an operand that the instruction does not have.
    """

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        kind = compiler.types.pointee(compiler.type_of(row.words[0]))
        pointer, site = compiler.slot(row.words[0]), compiler.site(row)
        slots = [compiler.slot(word) for word in row.words[operands]]
        result = None if row.type_id is None else compiler.result(row)
        gives_bool = row.opcode == Op.AtomicFlagTestAndSet
        scope, semantics = _constants(compiler, row)
        loads = row.opcode not in (Op.AtomicStore, Op.AtomicFlagClear)

        def execute(frame: Frame) -> None:
            parts = frame.memory.locate(frame, frame.slots[pointer], kind.dtype, 1, kind.size, site,
                                        writing=writes)
            shape = frame.mask.expanded.shape
            old = np.zeros(shape, kind.dtype)
            values = [np.broadcast_to(frame.slots[slot], shape) for slot in slots]
            if constant is not None:
                values.append(np.full(shape, constant, kind.dtype))
            traffic = traffic_of(frame)
            for part in parts:
                if traffic is not None:
                    traffic.atomic(frame, part, kind.size, site)
                lanes = part.mask.expanded
                index = np.broadcast_to(part.positions, shape)[lanes]
                found = _apply(part, index, [value[lanes] for value in values], update)
                old[lanes] = found
                for changed, changes in _who_writes(part, old, values, update, writes=writes):
                    watch_atomic(frame, changed, site, scope, semantics, loads=loads, writes=changes)
            if result is not None:
                frame.slots[result] = old != 0 if gives_bool else old

        return execute

    return handle


def _constants(compiler: FunctionCompiler, row: Instruction) -> tuple[int, int]:
    """Scope and memory semantics; the strongest where they are not known before the kernel runs."""
    scope, semantics = map(compiler.constant, row.words[1:3])
    return Scope.Device if scope is None else scope, ALL_SEMANTICS if semantics is None else semantics


def _who_writes(part: Part, old: Array, values: list[Array], update: Update | None, *,
                writes: bool) -> list[tuple[Part, bool]]:
    """The parts of an access by whether they write: a comparison that fails only loads."""
    if update is not _compare_exchange:
        return [(part, writes)]
    succeeds = old == values[1]
    sides = ((part.mask.select(succeeds), True), (part.mask.select(~succeeds), False))
    return [(part._replace(mask=mask), is_written) for mask, is_written in sides if not mask.empty]


def _apply(part: Part, index: Array, operands: list[Array], update: Update | None) -> Array:
    """Update ``part.view[index]`` element by element; returns what each found there."""
    view = part.view
    if update is None:
        return view[index]
    old = np.empty(len(index), view.dtype)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, len(index)))
    if isinstance(update, np.ufunc) and lengths.max() > len(starts):
        for start, length in zip(starts, lengths, strict=True):
            lanes = order[start:start + length]
            place = index[lanes[0]]
            chain = np.concatenate([view[place:place + 1], operands[0][lanes]])
            history = update.accumulate(chain, dtype=view.dtype)
            old[lanes] = history[:-1]
            view[place] = history[-1]
        return old
    for lanes in _rounds(order, starts, lengths):
        where = index[lanes]
        found = view[where]
        old[lanes] = found
        view[where] = update(found, *(operand[lanes] for operand in operands))
    return old


def _rounds(order: Array, starts: Array, lengths: Array) -> list[Array]:
    """The lanes in rounds: in each, no two lanes use one element, and no lane overtakes an earlier one.

    ``order`` sorts the lanes by element; the lanes of one element begin at ``starts``.
    """
    if lengths.max() == 1:
        return [order]
    rank = np.arange(len(order)) - np.repeat(starts, lengths)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1])


def _compare_exchange(old: Array, value: Array, comparator: Array) -> Array:
    return np.where(old == comparator, value, old)


VALUE = slice(3, 4)
NO_OPERAND = slice(0, 0)

OPERATIONS: dict[int, Handler] = {
    Op.AtomicLoad: _atomic(None, NO_OPERAND, writes=False),
    Op.AtomicStore: _atomic(lambda old, value: value, VALUE),
    Op.AtomicExchange: _atomic(lambda old, value: value, VALUE),
    Op.AtomicCompareExchange: _atomic(_compare_exchange, slice(4, 6)),
    Op.AtomicCompareExchangeWeak: _atomic(_compare_exchange, slice(4, 6)),
    Op.AtomicIIncrement: _atomic(np.add, NO_OPERAND, constant=1),
    Op.AtomicIDecrement: _atomic(np.subtract, NO_OPERAND, constant=1),
    Op.AtomicIAdd: _atomic(np.add, VALUE),
    Op.AtomicISub: _atomic(np.subtract, VALUE),
    Op.AtomicSMin: _atomic(np.minimum, VALUE),
    Op.AtomicUMin: _atomic(of_unsigned(np.minimum), VALUE),
    Op.AtomicSMax: _atomic(np.maximum, VALUE),
    Op.AtomicUMax: _atomic(of_unsigned(np.maximum), VALUE),
    Op.AtomicAnd: _atomic(np.bitwise_and, VALUE),
    Op.AtomicOr: _atomic(np.bitwise_or, VALUE),
    Op.AtomicXor: _atomic(np.bitwise_xor, VALUE),
    Op.AtomicFlagTestAndSet: _atomic(lambda old: np.ones_like(old), NO_OPERAND),
    Op.AtomicFlagClear: _atomic(lambda old: np.zeros_like(old), NO_OPERAND),
    Op.AtomicFAddEXT: _atomic(np.add, VALUE),
    Op.AtomicFMinEXT: _atomic(np.fmin, VALUE),
    Op.AtomicFMaxEXT: _atomic(np.fmax, VALUE),
}
