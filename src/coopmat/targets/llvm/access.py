"""Loads and stores of numbers through pointers: one for all, vectors, or gathered and scattered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coopmat.spirv.analysis.types import BoolType, MatrixType, Type
from coopmat.targets.cpu.loops import for_each_lane
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Leaf, LeafType, Matrix, Number, Value, bits_of, leaves_of, llvm_type, suffix

if TYPE_CHECKING:
    from coopmat.targets.cpu.checks.bounds import Bounds


def offset_pointer(emitter: Emitter, pointer: Number, index: Number, scale: int, constant: int = 0) -> Number:
    """``pointer + index * scale + constant``, in bytes; the index is an i64."""
    writer = emitter.writer
    if index.near is not None and pointer.is_linear:
        index = Number("i64", index.near[0], index.near[1])
    if pointer.is_linear and index.is_linear:
        if index.base.lstrip("-").isdigit():
            return Number("ptr", _moved(emitter, pointer.base, int(index.base) * scale + constant),
                          pointer.stride + index.stride * scale)
        bytes_ = index.base if scale == 1 else writer.let(f"mul i64 {index.base}, {scale}")
        base = writer.let(f"getelementptr i8, ptr {pointer.base}, i64 {bytes_}")
        return Number("ptr", _moved(emitter, base, constant), pointer.stride + index.stride * scale)
    scaled = emitter.apply("mul {t} {0}, {1}", "i64", index, emitter.constant("i64", scale))
    if constant:
        scaled = emitter.apply("add {t} {0}, {1}", "i64", scaled, emitter.constant("i64", constant))
    if pointer.is_uniform:
        text = writer.let(f"getelementptr i8, ptr {pointer.base}, {emitter.vector('i64')} {emitter.lanes(scaled)}")
    else:
        text = writer.let(f"getelementptr i8, {emitter.vector('ptr')} {emitter.lanes(pointer)}, "
                          f"{emitter.vector('i64')} {emitter.lanes(scaled)}")
    return emitter.varying("ptr", text)


def addresses(emitter: Emitter, pointer: Number) -> Number:
    """Pointers as i64."""
    if pointer.is_linear:
        return Number("i64", emitter.writer.let(f"ptrtoint ptr {pointer.base} to i64"), pointer.stride)
    return emitter.apply("ptrtoint {t} {0} to {r}", "i64", pointer)


def _moved(emitter: Emitter, base: str, constant: int) -> str:
    return emitter.writer.let(f"getelementptr i8, ptr {base}, i64 {constant}") if constant else base


def moved(emitter: Emitter, pointer: Number, constant: int) -> Number:
    """A pointer so many bytes further."""
    return offset_pointer(emitter, pointer, Number("i64", "0"), 1, constant) if constant else pointer


def in_memory(kind: Type) -> str:
    """LLVM's type of a number in memory: truth values take a byte."""
    return "i8" if isinstance(kind, BoolType) else llvm_type(kind)


def load_value(emitter: Emitter, pointer: Number, kind: Type, alignment: int, *, volatile: bool = False) -> Value:
    """What a pointer points to."""
    checked_parts(emitter, pointer, kind, writing=False)
    return tuple(_load_leaf(emitter, moved(emitter, pointer, leaf.offset), leaf.kind,
                            _alignment(alignment, leaf), volatile) for leaf in leaves_of(kind))


def store_value(emitter: Emitter, pointer: Number, value: Value, kind: Type, alignment: int, *,
                volatile: bool = False) -> None:
    """Write a value to where a pointer points, for the work-items that are here."""
    checked_parts(emitter, pointer, kind, writing=True)
    for leaf, one in zip(leaves_of(kind), value, strict=True):
        _store_leaf(emitter, moved(emitter, pointer, leaf.offset), one, leaf.kind, _alignment(alignment, leaf),
                    volatile)


def _alignment(alignment: int, leaf: LeafType) -> int:
    """What is known of a number's address in a value that is aligned so far: no more than its own size, as the host's
    arrays are not aligned to what vectors need. The processor does not mind."""
    known = min(alignment, leaf.kind.scalar.size)
    return min(known, leaf.offset & -leaf.offset) if leaf.offset else known


def _load_leaf(emitter: Emitter, pointer: Number, kind: Type, alignment: int, volatile: bool) -> Leaf:
    if isinstance(kind, MatrixType):
        from coopmat.targets.cpu.matrix.slices import load_slices

        return load_slices(emitter, pointer, kind, alignment)
    number = load_number(emitter, pointer, in_memory(kind), alignment, volatile=volatile, is_checked=True)
    if isinstance(kind, BoolType):
        return emitter.apply("icmp ne {t} {0}, {1}", "i1", number, emitter.constant("i8", 0))
    return number


def _store_leaf(emitter: Emitter, pointer: Number, value: Leaf, kind: Type, alignment: int, volatile: bool) -> None:
    if isinstance(value, Matrix):
        from coopmat.targets.cpu.matrix.slices import store_slices

        store_slices(emitter, pointer, value, alignment)
        return
    if isinstance(kind, BoolType):
        value = emitter.apply("zext {t} {0} to {r}", "i8", value)
    store_number(emitter, pointer, value, alignment, volatile=volatile, is_checked=True)


def load_number(emitter: Emitter, pointer: Number, llvm: str, alignment: int, *, volatile: bool = False,
                is_checked: bool = False) -> Number:
    """A number of each work-item that is here. ``is_checked``: the access has been checked, or needs no check."""
    writer, vector = emitter.writer, emitter.vector(llvm)
    size = bits_of(llvm) // 8
    kind = "load volatile" if volatile else "load"
    if not is_checked:
        checked(emitter, pointer, size, writing=False)
    if pointer.is_uniform:
        return Number(llvm, writer.let(f"{kind} {llvm}, ptr {pointer.base}, align {alignment}"))
    if pointer.is_linear and pointer.stride == size:
        if emitter.mask is None:
            return emitter.varying(llvm, writer.let(f"{kind} {vector}, ptr {pointer.base}, align {alignment}"))
        if not _has(emitter, MASKED, size):
            return _one_by_one(emitter, pointer, None, llvm, alignment)
        return emitter.varying(llvm, writer.call(vector, f"llvm.masked.load.{suffix(vector)}.p0", [
            ("ptr", f"align {alignment} {pointer.base}"), (emitter.mask_type, emitter.mask_text),
            (vector, "zeroinitializer")]))
    if _needs_loop(emitter, GATHERED, size):
        return _one_by_one(emitter, pointer, None, llvm, alignment)
    pointers = emitter.vector("ptr")
    return emitter.varying(llvm, writer.call(vector, f"llvm.masked.gather.{suffix(vector)}.{suffix(pointers)}", [
        (pointers, f"align {alignment} {emitter.lanes(pointer)}"), (emitter.mask_type, emitter.mask_text),
        (vector, "zeroinitializer")]))


def store_number(emitter: Emitter, pointer: Number, value: Number, alignment: int, *, volatile: bool = False,
                 is_checked: bool = False) -> None:
    """Write a number of each work-item that is here; of several at one place, the last one's. ``is_checked``: as of
    load_number."""
    writer, vector = emitter.writer, emitter.vector(value.type)
    size = bits_of(value.type) // 8
    kind = "store volatile" if volatile else "store"
    if not is_checked:
        checked(emitter, pointer, size, writing=True)
    if pointer.is_uniform:
        text = value.base if value.is_uniform else emitter.lane_of(value, emitter.last_lane())
        writer.do(f"{kind} {value.type} {text}, ptr {pointer.base}, align {alignment}")
        return
    lanes = emitter.lanes(value)
    if pointer.is_linear and pointer.stride == size:
        if emitter.mask is None:
            writer.do(f"{kind} {vector} {lanes}, ptr {pointer.base}, align {alignment}")
            return
        if not _has(emitter, MASKED, size):
            _one_by_one(emitter, pointer, value, value.type, alignment)
            return
        writer.call("void", f"llvm.masked.store.{suffix(vector)}.p0", [
            (vector, lanes), ("ptr", f"align {alignment} {pointer.base}"), (emitter.mask_type, emitter.mask_text)])
        return
    if _needs_loop(emitter, SCATTERED, size):
        _one_by_one(emitter, pointer, value, value.type, alignment)
        return
    pointers = emitter.vector("ptr")
    writer.call("void", f"llvm.masked.scatter.{suffix(vector)}.{suffix(pointers)}", [
        (vector, lanes), (pointers, f"align {alignment} {emitter.lanes(pointer)}"),
        (emitter.mask_type, emitter.mask_text)])


MASKED = {1: "avx512bw", 2: "avx512bw", 4: "avx", 8: "avx"}
GATHERED = {4: "avx2", 8: "avx2"}
SCATTERED = {4: "avx512f", 8: "avx512f"}
"""The features that have these accesses for some work-items only, by the bytes of a number. Without them LLVM makes a
branch for each work-item of every access, which takes it very long where there are many."""


MOST_SPELT_OUT = 32  # accesses that LLVM spells out for each work-item, in one kernel


def _needs_loop(emitter: Emitter, needed: Mapping[int, str], size: int) -> bool:
    """Whether one more gather or scatter is written as a loop, because LLVM would spell it out and that is too long:
    with a branch for each access, or after many others, which are counted here."""
    if _has(emitter, needed, size):
        return False
    emitter.extra["spelt out"] = emitter.extra.get("spelt out", 0) + 1
    return emitter.mask is not None or emitter.extra["spelt out"] > MOST_SPELT_OUT


def _has(emitter: Emitter, needed: Mapping[int, str], size: int) -> bool:
    return needed.get(size) in emitter.variant.features


def _one_by_one(emitter: Emitter, pointer: Number, value: Number | None, llvm: str, alignment: int) -> Number:
    """A load, or a store of a value, for one work-item after the other."""
    writer = emitter.writer
    varying = emitter.varying("ptr", emitter.lanes(pointer))
    if value is None:
        return for_each_lane(emitter, f"load.{suffix(llvm)}.{alignment}", [varying], llvm,
                             lambda address: writer.let(f"load {llvm}, ptr {address}, align {alignment}"))

    def store(address: str, text: str) -> None:
        writer.do(f"store {llvm} {text}, ptr {address}, align {alignment}")

    return for_each_lane(emitter, f"store.{suffix(llvm)}.{alignment}", [varying, value], None, store)


def checked(emitter: Emitter, pointer: Number, size: int, *, writing: bool) -> None:
    """Where accesses are checked, have this one of ``size`` bytes checked."""
    bounds: Bounds | None = emitter.extra.get("bounds")
    if bounds is not None:
        bounds.access(pointer, size, writing)


def checked_parts(emitter: Emitter, pointer: Number, kind: Type, *, writing: bool) -> None:
    """Where accesses are checked, have one to a value of a type checked."""
    bounds: Bounds | None = emitter.extra.get("bounds")
    if bounds is not None:
        bounds.parts(pointer, kind, writing)
