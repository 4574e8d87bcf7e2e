"""Lines whose elements share words: rows of the packed layout of B, and lines turned by shuffles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.writer import Writer


def interleaved(body: Body, rows: list[str], kind: MatrixType, together: int) -> list[str]:
    """Lines of the packed layout: rows that belong together, element by element, as vectors of 32-bit integers."""
    return [mixed(body.writer, rows[first:first + together], element_type(kind), kind.columns)
            for first in range(0, kind.rows, together)]


def mixed(writer: Writer, lines: Sequence[str], element: str, count: int) -> str:
    """Lines of ``count`` elements, element by element, as a vector of 32-bit integers."""
    vectors, length = list(lines), count
    while len(vectors) > 1:  # concatenate, two at a time
        vectors = [shuffled(writer, element, length, x, y, range(2 * length))
                   for x, y in zip(vectors[::2], vectors[1::2], strict=True)]
        length *= 2
    if len(lines) > 1:
        order = (line * count + place for place in range(count) for line in range(len(lines)))
        vectors = [shuffled(writer, element, length, vectors[0], "poison", order)]
    return writer.let(f"bitcast <{length} x {element}> {vectors[0]} to <{count} x i32>")


def separated(body: Body, lines: list[str], kind: MatrixType, together: int) -> list[str]:
    """The rows of a matrix whose packed lines are given."""
    element, wide, rows = element_type(kind), kind.columns * together, []
    for line in lines:
        whole = body.writer.let(f"bitcast <{kind.columns} x i32> {line} to <{wide} x {element}>")
        rows += [shuffled(body.writer, element, wide, whole, "poison", range(part, wide, together))
                 for part in range(together)]
    return rows


def turned(writer: Writer, lines: Sequence[str], word: str) -> list[str]:
    """As many lines as each has words, a power of two: line i has word i of each."""
    found, count = list(lines), len(lines)
    distance = count // 2
    while distance:
        for first in range(count):
            if first & distance:
                continue
            pair = found[first], found[first + distance]
            low = (lane if not lane & distance else count + lane - distance for lane in range(count))
            high = (lane + distance if not lane & distance else count + lane for lane in range(count))
            found[first], found[first + distance] = (shuffled(writer, word, count, *pair, order)
                                                     for order in (low, high))
        distance //= 2
    return found


def mixed_bytes(writer: Writer, lines: Sequence[str]) -> list[str]:
    """Four lines of 64 bytes, byte by byte, as four vectors of 16 32-bit integers: columns that follow each other."""
    pairs = [_mixed_in_parts(writer, "i8", 64, lines[first], lines[first + 1]) for first in (0, 2)]
    wide = [[writer.let(f"bitcast <64 x i8> {one} to <32 x i16>") for one in pair] for pair in pairs]
    words = [writer.let(f"bitcast <32 x i16> {one} to <16 x i32>") for low, high in zip(*wide, strict=True)
             for one in _mixed_in_parts(writer, "i16", 32, low, high)]
    found = []
    for part in range(0, 16, 4):  # 16 bytes of each
        order = [*range(part, part + 4), *range(16 + part, 16 + part + 4)]
        low, high = (shuffled(writer, "i32", 16, words[first], words[first + 1], order) for first in (0, 2))
        found.append(shuffled(writer, "i32", 8, low, high, range(16)))
    return found


def _mixed_in_parts(writer: Writer, element: str, count: int, x: str, y: str) -> tuple[str, str]:
    """Two vectors, element by element, in parts of 16 bytes: of the lower half of each part, and of the upper one."""
    part = count // 4
    low = [place + start for start in range(0, count, part) for one in range(part // 2)
           for place in (one, count + one)]
    return (shuffled(writer, element, count, x, y, low),
            shuffled(writer, element, count, x, y, [place + part // 2 for place in low]))


def transposed(writer: Writer, lines: Sequence[str], length: int, element: str) -> list[str]:
    """Lines of a length turned, in squares: line i of the result has element i of each."""
    side = 1 << max(0, min(len(lines), length) - 1).bit_length()
    found: list[str] = []
    for first in range(0, length, side):
        part = min(side, length - first)
        order = [*range(first, first + part), *[None] * (side - part)]
        pieces = [shuffled(writer, element, length, line, "poison", order) for line in lines]
        pieces += ["poison"] * (-len(lines) % side)
        squares = [turned(writer, pieces[start:start + side], element) for start in range(0, len(pieces), side)]
        found += [joined(writer, [square[number] for square in squares], element, side, len(lines))
                  for number in range(part)]
    return found


def joined(writer: Writer, parts: Sequence[str], element: str, length: int, count: int) -> str:
    """The first ``count`` elements of vectors of a length, one behind the other."""
    found = parts[0]
    for number, part in enumerate(parts[1:], 1):
        wide = shuffled(writer, element, length, part, "poison", [*range(length), *[None] * (number - 1) * length])
        known = number * length
        found = shuffled(writer, element, known, found, wide, range(known + length))
    return found if count == len(parts) * length else shuffled(
        writer, element, len(parts) * length, found, "poison", range(count))


def shuffled(writer: Writer, element: str, length: int, x: str, y: str, order: Iterable[int | None]) -> str:
    """A vector of elements of two vectors of a length, by their numbers; None for any."""
    places = ["i32 poison" if place is None else f"i32 {place}" for place in order]
    whole = f"<{length} x {element}>"
    return writer.let(f"shufflevector {whole} {x}, {whole} {y}, <{len(places)} x i32> <{', '.join(places)}>")
