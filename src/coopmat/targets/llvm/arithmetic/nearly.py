"""Numbers of which is mostly known how they rise: quotients and remainders of those that rise steadily.

Of 16 neighbouring numbers that begin at a multiple of 16 the quotients by 16, 32, 64, … are all the same, and the
remainders rise as the numbers do. Whether they begin well is found when the kernel runs: one test of the first one.
"""

from __future__ import annotations

from dataclasses import replace

from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Near, Number, bits_of
from coopmat.targets.llvm.writer import Writer


def all_of(writer: Writer, first: str, second: str) -> str:
    """Both of two conditions; an empty one always holds."""
    return writer.let(f"and i1 {first}, {second}") if first and second and first != second else first or second


def in_block(emitter: NumberWriter, found: Number, operation: str, number: Number, operand: Number,
             size: int | Number, *, rises: bool = False) -> Number:
    """``found``, the result of an operation on numbers that rise, with what it is if these are all in one block: from
    one multiple of ``size`` to the next one. ``operand``: the operation's second one; of a size that is known when the
    kernel runs only, where that is more than 0. ``rises``: whether it rises as they do, or is the same for all."""
    near = number.nearly
    if near is None or near.stride < 0:
        return found
    llvm, reach = number.type, near.stride * (emitter.size - 1)
    is_power = isinstance(size, int) and not size & size - 1
    if number.lanes and not near.condition and not (reach and is_power):
        return found  # it might wrap in a block
    if reach >= (size if isinstance(size, int) else 1 << bits_of(llvm) - 2):
        return found
    if isinstance(size, int) and is_power:
        condition = _in_power(emitter, operation, near, llvm, size, reach) if reach else ""
    else:
        divisor = emitter.constant(llvm, size) if isinstance(size, int) else operand
        condition = _in_any(emitter, operation, near, llvm, divisor, reach)
    if not isinstance(size, int):  # the operand is no less than 1
        condition = all_of(emitter.writer, condition, emitter.writer.let(f"icmp eq {llvm} {size.base}, {operand.base}"))
    base = emitter.writer.let(f"{operation} {llvm} {near.base}, {operand.base}")
    condition = all_of(emitter.writer, near.condition, condition)
    return replace(found, near=Near(base, near.stride if rises else 0, condition))


def _in_power(emitter: NumberWriter, operation: str, near: Near, llvm: str, size: int, reach: int) -> str:
    """Whether numbers stay in a block of a power of two; for quotients that are truncated, of no negative ones."""
    kept = size - 1 | (1 << bits_of(llvm) - 1 if operation == "sdiv" else 0)
    place = emitter.writer.let(f"and {llvm} {near.base}, {emitter.constant(llvm, kept).base}")
    return emitter.writer.let(f"icmp ule {llvm} {place}, {emitter.constant(llvm, size - 1 - reach).base}")


def _in_any(emitter: NumberWriter, operation: str, near: Near, llvm: str, size: Number, reach: int) -> str:
    """Whether numbers stay in a block of any size, and do not wrap there; no negative ones, if there are."""
    writer, signed = emitter.writer, operation == "sdiv"
    highest = (1 << bits_of(llvm) - signed) - 1 - reach
    quotient = writer.let(f"{operation} {llvm} {near.base}, {size.base}")
    place = writer.let(f"sub {llvm} {near.base}, {writer.let(f'mul {llvm} {quotient}, {size.base}')}")
    last = emitter.intrinsic("usub.sat", llvm, size, emitter.constant(llvm, reach))
    fits = writer.let(f"icmp ult {llvm} {place}, {last.base}")
    below = writer.let(f"icmp ule {llvm} {near.base}, {emitter.constant(llvm, highest).base}")
    return all_of(writer, fits, below)
