"""Values in memory: addresses, loads and stores of all numbers and matrices that a value consists of."""

from __future__ import annotations

from coopmat.spirv.analysis.types import BoolType, MatrixType, Type, VectorType
from coopmat.targets.analysis.leaves import LeafType, leaves_of
from coopmat.targets.llvm.arithmetic.integers import add, multiply
from coopmat.targets.llvm.arithmetic.nearly import all_of
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Leaf, Matrix, Near, Number, Value, bits_of, llvm_type


def offset_pointer(emitter: NumberWriter, pointer: Number, index: Number, scale: int, constant: int = 0) -> Number:
    """``pointer + index * scale + constant``, in bytes; the index is an i64."""
    writer = emitter.writer
    if index.near is not None and not index.near.condition and pointer.is_linear:
        index = Number("i64", index.near.base, index.near.stride)
    if pointer.is_linear and index.is_linear:
        if index.base.lstrip("-").isdigit():
            return Number("ptr", _moved(emitter, pointer.base, int(index.base) * scale + constant),
                          pointer.stride + index.stride * scale)
        bytes_ = index.base if scale == 1 else writer.let(f"mul i64 {index.base}, {scale}")
        base = writer.let(f"getelementptr i8, ptr {pointer.base}, i64 {bytes_}")
        return Number("ptr", _moved(emitter, base, constant), pointer.stride + index.stride * scale)
    scaled = multiply(emitter, index, emitter.constant("i64", scale))
    if constant:
        scaled = add(emitter, scaled, emitter.constant("i64", constant))
    if pointer.is_single:
        text = writer.let(f"getelementptr i8, ptr {pointer.base}, {emitter.vector('i64')} {emitter.lanes(scaled)}")
    else:
        text = writer.let(f"getelementptr i8, {emitter.vector('ptr')} {emitter.lanes(pointer)}, "
                          f"{emitter.vector('i64')} {emitter.lanes(scaled)}")
    start, offset = pointer.nearly, scaled.nearly
    if start is None or offset is None:
        return emitter.varying("ptr", text)
    base = writer.let(f"getelementptr i8, ptr {start.base}, i64 {offset.base}")
    condition = all_of(writer, start.condition, offset.condition)
    return Number("ptr", lanes=text, near=Near(base, start.stride + offset.stride, condition))


def addresses(emitter: NumberWriter, pointer: Number) -> Number:
    """Pointers as i64."""
    if pointer.is_linear:
        return Number("i64", emitter.writer.let(f"ptrtoint ptr {pointer.base} to i64"), pointer.stride)
    return emitter.apply("ptrtoint {t} {0} to {r}", "i64", pointer)


def _moved(emitter: NumberWriter, base: str, constant: int) -> str:
    return emitter.writer.let(f"getelementptr i8, ptr {base}, i64 {constant}") if constant else base


def moved(emitter: NumberWriter, pointer: Number, constant: int) -> Number:
    """A pointer so many bytes further."""
    return offset_pointer(emitter, pointer, Number("i64", "0"), 1, constant) if constant else pointer


def in_memory(kind: Type) -> str:
    """LLVM's type of a number in memory: truth values take a byte."""
    return "i8" if isinstance(kind, BoolType) else llvm_type(kind)


def load_value(emitter: Emitter, pointer: Number, kind: Type, alignment: int, *, volatile: bool = False) -> Value:
    """What a pointer points to."""
    if emitter.checks is not None:
        emitter.checks.parts(pointer, kind, writing=False)
    together = _together(emitter, kind, alignment)
    if together and isinstance(kind, VectorType):
        return _load_together(emitter, pointer, kind, together, volatile)
    return tuple(_load_leaf(emitter, moved(emitter, pointer, leaf.offset), leaf.kind,
                            _alignment(emitter, alignment, leaf), volatile) for leaf in leaves_of(kind))


def store_value(emitter: Emitter, pointer: Number, value: Value, kind: Type, alignment: int, *,
                volatile: bool = False) -> None:
    """Write a value to where a pointer points, for the work-items that are here."""
    if emitter.checks is not None:
        emitter.checks.parts(pointer, kind, writing=True)
    together = _together(emitter, kind, alignment)
    if together:
        _store_together(emitter, pointer, value, together, volatile)
        return
    for leaf, one in zip(leaves_of(kind), value, strict=True):
        _store_leaf(emitter, moved(emitter, pointer, leaf.offset), one, leaf.kind, _alignment(emitter, alignment, leaf),
                    volatile)


def _together(emitter: Emitter, kind: Type, alignment: int) -> int:
    """How many components of a vector a thread moves at once; 0 where it moves one after the other."""
    if not isinstance(kind, VectorType) or isinstance(kind.scalar, BoolType):
        return 0
    nbytes = min(kind.scalar.size * kind.length, emitter.execution.most_aligned)
    count = nbytes // kind.scalar.size
    return count if count > 1 and nbytes <= alignment and not kind.length % count and not count & count - 1 else 0


def _load_together(emitter: Emitter, pointer: Number, kind: VectorType, count: int, volatile: bool) -> Value:
    llvm, size, found = llvm_type(kind.scalar), kind.scalar.size, []
    vector = f"<{count} x {llvm}>"
    for first in range(0, kind.length, count):
        whole = emitter.execution.load(moved(emitter, pointer, first * size), vector, count * size, volatile=volatile)
        found += [Number(llvm, emitter.writer.let(f"extractelement {vector} {whole.base}, i32 {place}"))
                  for place in range(count)]
    return tuple(found)


def _store_together(emitter: Emitter, pointer: Number, value: Value, count: int, volatile: bool) -> None:
    numbers = [one for one in value if isinstance(one, Number)]
    llvm, size = numbers[0].type, bits_of(numbers[0].type) // 8
    vector = f"<{count} x {llvm}>"
    for first in range(0, len(numbers), count):
        whole = "poison"
        for place, number in enumerate(numbers[first:first + count]):
            whole = emitter.writer.let(f"insertelement {vector} {whole}, {llvm} {number.base}, i32 {place}")
        emitter.execution.store(moved(emitter, pointer, first * size), Number(vector, whole), count * size,
                                volatile=volatile)


def _alignment(emitter: Emitter, alignment: int, leaf: LeafType) -> int:
    """What is known of a number's address in a value that is aligned so far."""
    known = min(alignment, emitter.execution.most_aligned or leaf.kind.scalar.size)
    return min(known, leaf.offset & -leaf.offset) if leaf.offset else known


def _load_leaf(emitter: Emitter, pointer: Number, kind: Type, alignment: int, volatile: bool) -> Leaf:
    if isinstance(kind, MatrixType):
        return emitter.matrices.load_private(pointer, kind, alignment)
    number = emitter.execution.load(pointer, in_memory(kind), alignment, volatile=volatile)
    if isinstance(kind, BoolType):
        return emitter.apply("icmp ne {t} {0}, {1}", "i1", number, emitter.constant("i8", 0))
    return number


def _store_leaf(emitter: Emitter, pointer: Number, value: Leaf, kind: Type, alignment: int, volatile: bool) -> None:
    if isinstance(value, Matrix):
        emitter.matrices.store_private(pointer, value, alignment)
        return
    if isinstance(kind, BoolType):
        value = emitter.apply("zext {t} {0} to {r}", "i8", value)
    emitter.execution.store(pointer, value, alignment, volatile=volatile)


def load_checked(emitter: Emitter, pointer: Number, llvm: str, alignment: int) -> Number:
    """A number of each work-item that is here, each access checked where accesses are."""
    check(emitter, pointer, bits_of(llvm) // 8, writing=False)
    return emitter.execution.load(pointer, llvm, alignment)


def store_checked(emitter: Emitter, pointer: Number, value: Number, alignment: int) -> None:
    """Write a number of each work-item that is here, each access checked where accesses are."""
    check(emitter, pointer, bits_of(value.type) // 8, writing=True)
    emitter.execution.store(pointer, value, alignment)


def check(emitter: Emitter, pointer: Number, size: int, *, writing: bool) -> None:
    """Where accesses are checked, have this one of ``size`` bytes checked."""
    if emitter.checks is not None:
        emitter.checks.access(pointer, size, writing)
