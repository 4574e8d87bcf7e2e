"""Atomic instructions: one of the processor's for each work-item, in the order of the work-items.

Where all work-items of a sub-group update one integer, there is a single instruction for all of them if nobody asks
what each has found there, or if that can be told from what the first one has found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import FloatType, IntType, Type
from coopmat.spirv.grammar import MemorySemantics, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.pointer_uses import users_of
from coopmat.targets.cpu.loops import for_each_lane
from coopmat.targets.llvm.access import checked
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.floats import through_float
from coopmat.targets.llvm.instructions.integers import add, is_bf16, multiply, resized, subtract
from coopmat.targets.llvm.values import Number, Value, bits_of, llvm_type

ORDERED = (MemorySemantics.Acquire | MemorySemantics.Release | MemorySemantics.AcquireRelease
           | MemorySemantics.SequentiallyConsistent)


class Update(NamedTuple):
    """An instruction that replaces a number.

    name: LLVM's. kinds: the types that it has. operand: of one that has no operand, what stands for it. reduction:
    what makes one operand of those of all work-items, which are combined in any order; neutral: what does not change
    a number of so many bits then.
    """

    name: str
    kinds: tuple[type[Type], ...] = (IntType,)
    operand: int | None = None
    reduction: str = ""
    neutral: Callable[[int], int] = lambda bits: 0


_ADD = Update("add", reduction="add")
UPDATES = {
    Op.AtomicExchange: Update("xchg", (IntType, FloatType)),
    Op.AtomicIIncrement: _ADD._replace(operand=1),
    Op.AtomicIDecrement: _ADD._replace(operand=-1),
    Op.AtomicIAdd: _ADD,
    Op.AtomicISub: Update("sub", reduction="add"),
    Op.AtomicSMin: Update("min", reduction="smin", neutral=lambda bits: (1 << bits - 1) - 1),
    Op.AtomicUMin: Update("umin", reduction="umin", neutral=lambda bits: -1),
    Op.AtomicSMax: Update("max", reduction="smax", neutral=lambda bits: -(1 << bits - 1)),
    Op.AtomicUMax: Update("umax", reduction="umax"),
    Op.AtomicAnd: Update("and", reduction="and", neutral=lambda bits: -1),
    Op.AtomicOr: Update("or", reduction="or"),
    Op.AtomicXor: Update("xor", reduction="xor"),
    Op.AtomicFAddEXT: Update("fadd", (FloatType,)),
    Op.AtomicFMinEXT: Update("fmin", (FloatType,)),
    Op.AtomicFMaxEXT: Update("fmax", (FloatType,)),
}
NARROW = {
    "fadd": lambda emitter, a, b: emitter.apply("fadd {t} {0}, {1}", a.type, a, b),
    "fmin": lambda emitter, a, b: emitter.intrinsic("minnum", a.type, a, b),
    "fmax": lambda emitter, a, b: emitter.intrinsic("maxnum", a.type, a, b),
}
"""The updates of bf16 numbers, which the processor does not have: a comparison and an exchange, until it succeeds."""


def _order(emitter: Emitter, word: int) -> str:
    semantics = emitter.constant_of(word)
    return "seq_cst" if semantics is None or semantics & ORDERED else "monotonic"


def _accessed(emitter: Emitter, row: Instruction, kinds: Sequence[type[Type]], *, writing: bool) -> tuple[Number, Type]:
    """The pointer of an instruction, and the type of what it points to."""
    kind = emitter.pointee(row.words[0])
    if not isinstance(kind, tuple(kinds)):
        wanted = " or ".join({IntType: "an integer", FloatType: "a floating-point number"}[one] for one in kinds)
        raise ValidationError("atomic-type", f"{row.name} needs a pointer to {wanted}, found one to {kind}", row.offset)
    pointer = emitter.number(row.words[0])
    checked(emitter, pointer, kind.size, writing=writing)
    return pointer, kind


def _operand(emitter: Emitter, row: Instruction, word: int, llvm: str) -> Number:
    number = emitter.number(word)
    if number.type != llvm:
        raise ValidationError("operand-type", f"{row.name} of a number of {bits_of(llvm)} bits has an operand of "
                              f"another type", row.offset)
    return number


# --------------------------------------------------------------------------------------
# Loads, stores, flags
# --------------------------------------------------------------------------------------


def _load(emitter: Emitter, row: Instruction) -> Value:
    pointer, kind = _accessed(emitter, row, (IntType, FloatType), writing=False)
    llvm, size = llvm_type(kind), kind.size
    order = _order(emitter, row.words[2])

    def load(address: str) -> str:
        return emitter.writer.let(f"load atomic {llvm}, ptr {address} {order}, align {size}")

    if pointer.is_uniform:
        return (Number(llvm, load(pointer.base)),)
    return (for_each_lane(emitter, f"atomic.load.{llvm}.{order}", (pointer,), llvm, load),)


def _put(emitter: Emitter, pointer: Number, value: Number, order: str) -> None:
    size = bits_of(value.type) // 8

    def store(address: str, text: str) -> None:
        emitter.writer.do(f"store atomic {value.type} {text}, ptr {address} {order}, align {size}")

    if pointer.is_uniform:
        store(pointer.base, value.base if value.is_uniform else emitter.lane_of(value, emitter.last_lane()))
    else:
        for_each_lane(emitter, f"atomic.store.{value.type}.{order}", (pointer, value), None, store)


def _store(emitter: Emitter, row: Instruction) -> None:
    pointer, kind = _accessed(emitter, row, (IntType, FloatType), writing=True)
    _put(emitter, pointer, _operand(emitter, row, row.words[3], llvm_type(kind)), _order(emitter, row.words[2]))


def _clear(emitter: Emitter, row: Instruction) -> None:
    pointer, kind = _accessed(emitter, row, (IntType,), writing=True)
    _put(emitter, pointer, emitter.constant(llvm_type(kind), 0), _order(emitter, row.words[2]))


def _test_and_set(emitter: Emitter, row: Instruction) -> Value:
    pointer, kind = _accessed(emitter, row, (IntType,), writing=True)
    llvm = llvm_type(kind)
    old = _each(emitter, UPDATES[Op.AtomicExchange], pointer, emitter.constant(llvm, 1), kind,
                _order(emitter, row.words[2]))
    return (emitter.apply("icmp ne {t} {0}, {1}", "i1", old, emitter.constant(llvm, 0)),)


# --------------------------------------------------------------------------------------
# Updates
# --------------------------------------------------------------------------------------


def _update(emitter: Emitter, row: Instruction) -> Value:
    update = UPDATES[Op(row.opcode)]
    pointer, kind = _accessed(emitter, row, update.kinds, writing=True)
    llvm, order = llvm_type(kind), _order(emitter, row.words[2])
    value = (emitter.constant(llvm, update.operand) if update.operand is not None
             else _operand(emitter, row, row.words[3], llvm))
    if pointer.is_uniform and update.reduction:
        if row.result_id not in users_of(emitter).users:
            return (_all_at_once(emitter, update, pointer, value, order),)
        if update.reduction == "add" and value.is_uniform:
            return (_counted(emitter, update, pointer, value, order),)
    return (_each(emitter, update, pointer, value, kind, order),)


def _all_at_once(emitter: Emitter, update: Update, pointer: Number, value: Number, order: str) -> Number:
    """One update with what all operands make together; the result is not used."""
    llvm, vector = value.type, emitter.vector(value.type)
    lanes = emitter.lanes(value)
    if emitter.mask is not None:
        neutral = emitter.splat(llvm, emitter.constant(llvm, update.neutral(bits_of(llvm))).base)
        lanes = emitter.writer.let(f"select {emitter.mask_type} {emitter.mask}, {vector} {lanes}, {vector} {neutral}")
    total = emitter.writer.call(llvm, f"llvm.vector.reduce.{update.reduction}.v{emitter.size}{llvm}", [(vector, lanes)])
    return Number(llvm, emitter.writer.let(f"atomicrmw {update.name} ptr {pointer.base}, {llvm} {total} {order}"))


def _counted(emitter: Emitter, update: Update, pointer: Number, value: Number, order: str) -> Number:
    """One sum of the same operand for all: each work-item finds what those before it have made of the number."""
    llvm, writer = value.type, emitter.writer
    if emitter.mask is None:
        count, rank = emitter.constant(llvm, emitter.size), Number(llvm, "0", 1)
    else:
        own, bits = f"i{emitter.size}", Number(f"i{emitter.size}", emitter.mask_bits())
        before = emitter.varying(own, "<" + ", ".join(
            f"{own} {emitter.constant(own, (1 << lane) - 1).base}" for lane in range(emitter.size)) + ">")
        earlier = emitter.apply("and {t} {0}, {1}", own, bits, before)
        count, rank = (resized(emitter, emitter.intrinsic("ctpop", own, one), llvm, signed=False)
                       for one in (bits, earlier))
    total = multiply(emitter, count, value)
    old = Number(llvm, writer.let(f"atomicrmw {update.name} ptr {pointer.base}, {llvm} {total.base} {order}"))
    change = multiply(emitter, rank, value)
    return add(emitter, old, change) if update.name == "add" else subtract(emitter, old, change)


def _each(emitter: Emitter, update: Update, pointer: Number, value: Number, kind: Type, order: str) -> Number:
    """One update after the other."""
    llvm = value.type

    def change(address: str, operand: str) -> str:
        return emitter.writer.let(f"atomicrmw {update.name} ptr {address}, {llvm} {operand} {order}")

    def change_narrow(address: str, operand: str) -> str:
        return _until_exchanged(emitter, NARROW[update.name], address, Number(llvm, operand), order)

    is_narrow = is_bf16(kind) and update.name in NARROW
    name = f"atomic.{update.name}.{'bf16' if is_narrow else llvm}.{order}"
    return for_each_lane(emitter, name, (pointer, value), llvm, change_narrow if is_narrow else change)


def _until_exchanged(emitter: Emitter, function: Callable[..., Number], address: str, operand: Number,
                     order: str) -> str:
    writer, llvm = emitter.writer, operand.type
    first = writer.let(f"load atomic {llvm}, ptr {address} monotonic, align {bits_of(llvm) // 8}")
    found = writer.slot(llvm)
    again, done = writer.fresh("again")[1:], writer.fresh("exchanged")[1:]
    writer.do(f"store {llvm} {first}, ptr {found}")
    writer.do(f"br label %{again}")
    writer.label(again)
    old = writer.let(f"load {llvm}, ptr {found}")
    new = through_float(function, True)(emitter, Number(llvm, old), operand)
    pair = writer.let(f"cmpxchg ptr {address}, {llvm} {old}, {llvm} {new.base} {order} monotonic")
    writer.do(f"store {llvm} {writer.let(f'extractvalue {{ {llvm}, i1 }} {pair}, 0')}, ptr {found}")
    is_done = writer.let(f"extractvalue {{ {llvm}, i1 }} {pair}, 1")
    writer.do(f"br i1 {is_done}, label %{done}, label %{again}")
    writer.label(done)
    return old


def _compare_exchange(emitter: Emitter, row: Instruction) -> Value:
    """The words: pointer, scope, semantics if it is exchanged and if not, new value, what it is compared with."""
    pointer, kind = _accessed(emitter, row, (IntType,), writing=True)
    llvm = llvm_type(kind)
    value, comparator = (_operand(emitter, row, word, llvm) for word in row.words[4:6])
    order, otherwise = (_order(emitter, word) for word in row.words[2:4])

    def exchange(address: str, new: str, old: str) -> str:
        pair = emitter.writer.let(f"cmpxchg ptr {address}, {llvm} {old}, {llvm} {new} {order} {otherwise}")
        return emitter.writer.let(f"extractvalue {{ {llvm}, i1 }} {pair}, 0")

    return (for_each_lane(emitter, f"atomic.cmpxchg.{llvm}.{order}.{otherwise}", (pointer, value, comparator), llvm,
                          exchange),)


OPERATIONS: dict[int, Handler] = {
    Op.AtomicLoad: _load,
    Op.AtomicStore: _store,
    Op.AtomicFlagTestAndSet: _test_and_set,
    Op.AtomicFlagClear: _clear,
    Op.AtomicCompareExchange: _compare_exchange,
    Op.AtomicCompareExchangeWeak: _compare_exchange,
    **dict.fromkeys(UPDATES, _update),
}
