"""The memory that instructions of a whole sub-group access, for bounds checks: rows of bytes, a stride apart."""

from __future__ import annotations

from coopmat.targets.llvm.checks import Extent
from coopmat.targets.llvm.emitter import Emitter

FARTHEST = 1 << 46  # bytes: no memory reaches as far


def rows_of_bytes(emitter: Emitter, address: str, rows: tuple[str, str], stride: str, row: tuple[str, str],
                  is_far: str = "false") -> Extent:
    """What lies in some rows, each given as the first one and the one behind the last: ``rows``, and of each of these
    the bytes ``row``. All are i64; ``stride``: bytes from row to row. ``is_far``: an i1, that it is too far anyway.
    There must be some rows."""
    writer = emitter.writer
    last = writer.let(f"sub i64 {rows[1]}, 1")
    ends = []
    for number in (rows[0], last):
        end, overflows = product(emitter, number, stride)
        is_far = writer.let(f"or i1 {is_far}, {overflows}")
        ends.append(end)
    for distance in (*ends, *row):
        biased = writer.let(f"add i64 {distance}, {FARTHEST}")
        is_far = writer.let(f"or i1 {is_far}, {writer.let(f'icmp ugt i64 {biased}, {2 * FARTHEST}')}")
    lowest, highest = (writer.call("i64", f"llvm.{name}.i64", [("i64", end) for end in ends])
                       for name in ("smin", "smax"))
    start = writer.let(f"add i64 {address}, {lowest}")
    low = writer.let(f"add i64 {start}, {row[0]}")
    between = writer.let(f"sub i64 {highest}, {lowest}")
    width = writer.let(f"sub i64 {row[1]}, {row[0]}")
    return Extent(low, writer.let(f"add i64 {between}, {width}"), is_far)


def product(emitter: Emitter, a: str, b: str) -> tuple[str, str]:
    """The product of two i64, and whether it has no room in one."""
    writer = emitter.writer
    pair = writer.call("{ i64, i1 }", "llvm.smul.with.overflow.i64", [("i64", a), ("i64", b)])
    first, second = (writer.let(f"extractvalue {{ i64, i1 }} {pair}, {place}") for place in (0, 1))
    return first, second


def overlap(emitter: Emitter, first: str, count: int, size: str) -> tuple[str, str, str]:
    """Which of ``count`` numbers from the first one on are from 0 to ``size`` - 1: the first, the one behind the last,
    whether there is none."""
    writer = emitter.writer
    low = writer.call("i64", "llvm.smax.i64", [("i64", first), ("i64", "0")])
    behind = writer.let(f"add i64 {first}, {count}")
    high = writer.call("i64", "llvm.smin.i64", [("i64", behind), ("i64", size)])
    return low, high, writer.let(f"icmp sge i64 {low}, {high}")
