"""The numbers of a sub-group's work-items in another order."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.instructions.integers import resized
from coopmat.targets.llvm.values import Number, bits_of, suffix, zero_of

FAR = 1 << 20  # stands for every number of a work-item that is further away

Lanes = Sequence["int | None"]


def known_lanes(emitter: Emitter, number: Number) -> list[int] | None:
    """The number of each work-item, if the compiler knows them."""
    if not number.is_linear or not number.base.lstrip("-").isdigit():
        return None
    wrap = 1 << bits_of(number.type)
    return [(int(number.base) + lane * number.stride) % wrap for lane in range(emitter.size)]


def bounded(emitter: Emitter, number: Number) -> Number:
    """An unsigned integer as an i32; large ones become :data:`FAR`."""
    if bits_of(number.type) >= 32:
        number = emitter.intrinsic("umin", number.type, number, emitter.constant(number.type, FAR))
    return resized(emitter, number, "i32", signed=False)


def present(emitter: Emitter, number: Number, instead: Number) -> Number:
    """The number in the work-items that are here, another one elsewhere."""
    if emitter.mask is None:
        return number
    return emitter.select(Number("i1", lanes=emitter.mask), number, instead)


def rearranged(emitter: Emitter, number: Number, sources: Lanes, other: Number) -> Number:
    """For each work-item the number of another one; where that is None, ``other``. Both may be vectors: lane
    ``size + i`` is lane i of ``other``."""
    vector, size = emitter.vector(number.type), emitter.size
    places = ", ".join(f"i32 {size if source is None else source}" for source in sources)
    return emitter.varying(number.type, emitter.writer.let(
        f"shufflevector {vector} {emitter.lanes(number)}, {vector} {emitter.lanes(other)}, <{size} x i32> <{places}>"))


def taken(emitter: Emitter, number: Number, source: Number) -> Number:
    """For each work-item the number of work-item ``source``; zero where that is not here."""
    zero = Number(number.type, zero_of(number.type))
    here = present(emitter, number, zero)
    known = known_lanes(emitter, source)
    if known is not None and source.stride:
        return taken_from(emitter, number, known)
    index = bounded(emitter, source)
    exists = emitter.apply("icmp ult {t} {0}, {1}", "i1", index, emitter.constant("i32", emitter.size))
    return emitter.select(exists, _chosen(emitter, here, index), zero)


def taken_from(emitter: Emitter, number: Number, sources: Sequence[int]) -> Number:
    """As ``taken``, where the sources are known."""
    zero = Number(number.type, zero_of(number.type))
    here = present(emitter, number, zero)
    lanes = [source if 0 <= source < emitter.size else None for source in sources]
    if here.is_uniform and None not in lanes:
        return here
    return rearranged(emitter, here, lanes, zero)


def _chosen(emitter: Emitter, number: Number, index: Number) -> Number:
    """The number of another work-item, by its number modulo the sub-group's size."""
    within = emitter.apply("and {t} {0}, {1}", "i32", index, emitter.constant("i32", emitter.size - 1))
    if number.is_uniform:
        return number
    if within.is_uniform:
        return Number(number.type, emitter.lane_of(number, within.base))
    if number.type == "i1":
        wide = emitter.apply("zext {t} {0} to {r}", "i8", number)
        return emitter.apply("trunc {t} {0} to {r}", "i1", _permuted(emitter, wide, within))
    return _permuted(emitter, number, within)


def _permuted(emitter: Emitter, number: Number, index: Number) -> Number:
    """Written as the extractions and insertions of which LLVM makes the processor's permutations, if it has them."""
    vector, indices = emitter.vector(number.type), emitter.vector("i32")
    name = f"permute.{suffix(vector)}"
    lines, result = [], "poison"
    for lane in range(emitter.size):
        lines += [f"  %i{lane} = extractelement {indices} %index, i32 {lane}",
                  f"  %n{lane} = extractelement {vector} %number, i32 %i{lane}",
                  f"  %r{lane} = insertelement {vector} {result}, {number.type} %n{lane}, i32 {lane}"]
        result = f"%r{lane}"
    inlining = "noinline" if number.type == "i16" else "alwaysinline"  # LLVM 22 fails where i16 then becomes i64
    emitter.writer.helper(name, "\n".join([
        f"define internal {vector} @{name}({vector} %number, {indices} %index) {inlining} nounwind {{", *lines,
        f"  ret {vector} {result}", "}"]))
    return emitter.varying(number.type, emitter.writer.call(vector, name, [
        (vector, emitter.lanes(number)), (indices, emitter.lanes(index))]))
