"""Atomic instructions: one of the processor's for each work-item, in the order of the work-items, or one for all where
the machine has a better way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import FloatType, IntType, Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.memory_semantics import LOADING, STORING, order_of
from coopmat.targets.llvm.access import check
from coopmat.targets.llvm.arithmetic.floats import through_float
from coopmat.targets.llvm.arithmetic.integers import is_bf16
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.lanes import Ordering, Update
from coopmat.targets.llvm.values import Number, Value, bits_of, llvm_type


class Replacement(NamedTuple):
    """An instruction that replaces a number: what it does, the types that it has, and, where it has no operand, what
    stands for one."""

    update: Update
    kinds: tuple[type[Type], ...] = (IntType,)
    operand: int | None = None


_ADD, _EXCHANGE = Update("add", "add"), Replacement(Update("xchg"), (IntType, FloatType))
REPLACEMENTS = {
    Op.AtomicExchange: _EXCHANGE,
    Op.AtomicIIncrement: Replacement(_ADD, operand=1),
    Op.AtomicIDecrement: Replacement(_ADD, operand=-1),
    Op.AtomicIAdd: Replacement(_ADD),
    Op.AtomicISub: Replacement(Update("sub", "add")),
    Op.AtomicSMin: Replacement(Update("min", "smin", lambda bits: (1 << bits - 1) - 1)),
    Op.AtomicUMin: Replacement(Update("umin", "umin", lambda bits: -1)),
    Op.AtomicSMax: Replacement(Update("max", "smax", lambda bits: -(1 << bits - 1))),
    Op.AtomicUMax: Replacement(Update("umax", "umax")),
    Op.AtomicAnd: Replacement(Update("and", "and", lambda bits: -1)),
    Op.AtomicOr: Replacement(Update("or", "or")),
    Op.AtomicXor: Replacement(Update("xor", "xor")),
    Op.AtomicFAddEXT: Replacement(Update("fadd"), (FloatType,)),
    Op.AtomicFMinEXT: Replacement(Update("fmin"), (FloatType,)),
    Op.AtomicFMaxEXT: Replacement(Update("fmax"), (FloatType,)),
}
NARROW: dict[str, Callable[[Emitter, Number, Number], Number]] = {
    "fadd": lambda emitter, a, b: emitter.apply("fadd {t} {0}, {1}", a.type, a, b),
    "fmin": lambda emitter, a, b: emitter.intrinsic("minnum", a.type, a, b),
    "fmax": lambda emitter, a, b: emitter.intrinsic("maxnum", a.type, a, b),
}
"""The updates of bf16 numbers, which processors do not have: a comparison and an exchange, until it succeeds."""


def _ordering(emitter: Emitter, row: Instruction, left: Mapping[str, str] | None = None, semantics: int = 2
              ) -> Ordering:
    """By the words; ``left``: what is left of an order where another one makes no sense."""
    order = order_of(emitter.constant_of(row.words[semantics])) or "monotonic"
    return Ordering((left or {}).get(order, order), emitter.constant_of(row.words[1]))


def _accessed(emitter: Emitter, row: Instruction, kinds: Sequence[type[Type]], *, writing: bool) -> tuple[Number, Type]:
    """The pointer of an instruction, and the type of what it points to."""
    kind = emitter.pointee(row.words[0])
    if not isinstance(kind, tuple(kinds)):
        wanted = " or ".join({IntType: "an integer", FloatType: "a floating-point number"}[one] for one in kinds)
        raise ValidationError("atomic-type", f"{row.name} needs a pointer to {wanted}, found one to {kind}", row.offset)
    pointer = emitter.number(row.words[0])
    check(emitter, pointer, kind.size, writing=writing)
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
    order = emitter.execution.ordered(_ordering(emitter, row, LOADING))

    def load(address: str) -> str:
        return emitter.writer.let(f"load atomic {llvm}, ptr {address} {order}, align {size}")

    if pointer.is_single:
        return (Number(llvm, load(pointer.base)),)
    return (emitter.execution.each(f"atomic.load.{llvm}.{order}", (pointer,), llvm, load),)


def _put(emitter: Emitter, pointer: Number, value: Number, row: Instruction) -> None:
    size = bits_of(value.type) // 8
    order = emitter.execution.ordered(_ordering(emitter, row, STORING))

    def store(address: str, text: str) -> None:
        emitter.writer.do(f"store atomic {value.type} {text}, ptr {address} {order}, align {size}")

    if pointer.is_single:
        store(pointer.base, emitter.execution.last(value))
    else:
        emitter.execution.each(f"atomic.store.{value.type}.{order}", (pointer, value), None, store)


def _store(emitter: Emitter, row: Instruction) -> None:
    pointer, kind = _accessed(emitter, row, (IntType, FloatType), writing=True)
    _put(emitter, pointer, _operand(emitter, row, row.words[3], llvm_type(kind)), row)


def _clear(emitter: Emitter, row: Instruction) -> None:
    pointer, kind = _accessed(emitter, row, (IntType,), writing=True)
    _put(emitter, pointer, emitter.constant(llvm_type(kind), 0), row)


def _test_and_set(emitter: Emitter, row: Instruction) -> Value:
    pointer, kind = _accessed(emitter, row, (IntType,), writing=True)
    llvm = llvm_type(kind)
    old = _each(emitter, _EXCHANGE.update, pointer, emitter.constant(llvm, 1), kind,
                _ordering(emitter, row))
    return (emitter.apply("icmp ne {t} {0}, {1}", "i1", old, emitter.constant(llvm, 0)),)


# --------------------------------------------------------------------------------------
# Updates
# --------------------------------------------------------------------------------------


def _replace(emitter: Emitter, row: Instruction) -> Value:
    update, kinds, operand = REPLACEMENTS[Op(row.opcode)]
    pointer, kind = _accessed(emitter, row, kinds, writing=True)
    llvm, ordering = llvm_type(kind), _ordering(emitter, row)
    value = emitter.constant(llvm, operand) if operand is not None else _operand(emitter, row, row.words[3], llvm)
    found = emitter.execution.update_together(update, pointer, value, ordering,
                                              is_used=row.result_id in emitter.uses.users)
    return (found if found is not None else _each(emitter, update, pointer, value, kind, ordering),)


def _each(emitter: Emitter, update: Update, pointer: Number, value: Number, kind: Type,
          ordering: Ordering) -> Number:
    """One update after the other."""
    llvm = value.type

    def change(address: str, operand: str) -> str:
        return emitter.execution.updated(update.name, address, Number(llvm, operand), ordering)

    def change_narrow(address: str, operand: str) -> str:
        return _until_exchanged(emitter, update.name, address, Number(llvm, operand), order)

    order = emitter.execution.ordered(ordering)
    is_narrow = is_bf16(kind) and update.name in NARROW
    name = f"atomic.{update.name}.{'bf16' if is_narrow else llvm}.{order}"
    return emitter.execution.each(name, (pointer, value), llvm, change_narrow if is_narrow else change)


def _until_exchanged(emitter: Emitter, name: str, address: str, operand: Number, order: str) -> str:
    writer, llvm = emitter.writer, operand.type
    first = writer.let(f"load atomic {llvm}, ptr {address} monotonic, align {bits_of(llvm) // 8}")
    found = writer.slot(llvm)
    again, done = writer.fresh("again")[1:], writer.fresh("exchanged")[1:]
    writer.do(f"store {llvm} {first}, ptr {found}")
    writer.do(f"br label %{again}")
    writer.label(again)
    old = writer.let(f"load {llvm}, ptr {found}")
    new = through_float(NARROW[name], True)(emitter, Number(llvm, old), operand)
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
    order = emitter.execution.ordered(_ordering(emitter, row))
    otherwise = _ordering(emitter, row, LOADING, 3).order

    def exchange(address: str, new: str, old: str) -> str:
        pair = emitter.writer.let(f"cmpxchg ptr {address}, {llvm} {old}, {llvm} {new} {order} {otherwise}")
        return emitter.writer.let(f"extractvalue {{ {llvm}, i1 }} {pair}, 0")

    return (emitter.execution.each(f"atomic.cmpxchg.{llvm}.{order}.{otherwise}", (pointer, value, comparator), llvm,
                                   exchange),)


OPERATIONS: dict[int, Handler] = {
    Op.AtomicLoad: _load,
    Op.AtomicStore: _store,
    Op.AtomicFlagTestAndSet: _test_and_set,
    Op.AtomicFlagClear: _clear,
    Op.AtomicCompareExchange: _compare_exchange,
    Op.AtomicCompareExchangeWeak: _compare_exchange,
    **dict.fromkeys(REPLACEMENTS, _replace),
}
