"""``D = A*B + C`` from memory to memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.formats import format_of
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.cpu.matrix.body import RESULT, Body, Made, plain_type
from coopmat.targets.cpu.matrix.memory import is_whole, window_start
from coopmat.targets.cpu.matrix.operation import Product, Source
from coopmat.targets.cpu.matrix.product.ahead import Ahead
from coopmat.targets.cpu.matrix.product.blocks import Blocks, Panel, Sums
from coopmat.targets.cpu.matrix.product.filling import fill, fill_part
from coopmat.targets.cpu.matrix.product.panels import Share, Shares, kept
from coopmat.targets.cpu.matrix.product.source import Lines, in_matrix, in_memory
from coopmat.targets.cpu.matrix.product.strips import Strips
from coopmat.targets.cpu.matrix.product.tile_blocks import STRIPS, TileBlocks
from coopmat.targets.cpu.matrix.product.unit import LINE, Unit, unit_of
from coopmat.targets.cpu.matrix.product.vector_blocks import ThinBlocks, VectorBlocks, block_rows

WINDOW = 4  # parameters of a window: first row, first column, height and width


@dataclass(frozen=True)
class _Operand:
    """Where A or B comes from: its parameters' types and names. keeper: the names of those by which it may be kept."""

    kind: MatrixType
    source: Source | None
    types: list[str]
    names: list[str]

    @property
    def keeper(self) -> list[str]:
        return self.names[-2:] if self.source is not None and self.source.is_kept else []

    def lines(self, body: Body, name: str) -> Lines:
        """Its lines in memory; ``name``: of the format of its elements."""
        fmt = format_of(name)
        if self.source is None:
            return in_matrix(body, self.kind, fmt, self.names[0])
        return in_memory(body, self.kind, fmt, self.source, self.names)


def _operands(operation: Product) -> list[_Operand]:
    """A and B."""
    found, count = [], 0
    for kind, source in zip((operation.a, operation.b), operation.sources, strict=True):
        types = [plain_type(kind)] if source is None else [
            "ptr", "i64", *["i64"] * (WINDOW * source.is_window), *(["ptr", "i64"] if source.is_kept else [])]
        found.append(_Operand(kind, source, types, [f"%{count + place}" for place in range(len(types))]))
        count += len(types)
    return found


def panel_bytes(operation: Product, features: frozenset[str]) -> tuple[int, int]:
    """The bytes of the panels of A and B that may be kept; 0 if none may."""
    body = Body(features)
    a, b = ((place, one.lines(body, operation.formats[place])) if one.keeper else None
            for place, one in enumerate(_operands(operation)))
    return (_strips(operation, body, *a).nbytes if a and _unit(operation, body).kind == "tiles" else 0,
            _strips(operation, body, *b).nbytes if b else 0)


def copies_lines(operation: Product, body: Body) -> tuple[bool, bool]:
    """Whether A and B are copied as they are, wherever all of them is there."""
    if _unit(operation, body).kind != "tiles":
        return False, False
    a, b = (_strips(operation, body, place, one.lines(body, operation.formats[place])).are_lines
            for place, one in enumerate(_operands(operation)))
    return a, b


def stays(operation: Product, body: Body) -> tuple[bool, bool]:
    """Whether A and B are multiplied where they lie, wherever all of each is there."""
    a, b = (_strips(operation, body, place, one.lines(body, operation.formats[place]))
            for place, one in enumerate(_operands(operation)))
    return _stay(operation, body, a, b)


def _stay(operation: Product, body: Body, a: Strips, b: Strips) -> tuple[bool, bool]:
    """The same of their strips."""
    return a.may_stay, b.may_stay and _takes_once(operation, body)


def _takes_once(operation: Product, body: Body) -> bool:
    """Whether a product takes each part of B once: of so few rows, and with strips that are not kept. Its sums, all of
    one format, may lie in D meanwhile."""
    unit, source = _unit(operation, body), operation.sources[1]
    return (operation.result.rows <= block_rows(unit, body.features) and not (source and source.is_kept)
            and len(set(operation.formats)) == 1)


def product(body: Body, operation: Product, shares: Shares = (None, None)) -> Made:
    """The body of a product. ``shares``: its parts of what is kept."""
    a, b = _operands(operation)
    a_strips = _strips(operation, body, 0, a.lines(body, operation.formats[0]))
    b_strips = _strips(operation, body, 1, b.lines(body, operation.formats[1]))
    types = [*a.types, *b.types, *_sum_types(operation)]
    names = [f"%{place}" for place in range(len(a.types) + len(b.types), len(types) + 1)]
    c, d = _c(body, operation, names), _d(body, operation, names)
    tiles = _tiles(body, a_strips, b_strips)
    stay = _stay(operation, body, a_strips, b_strips)
    panels = (_panel(body, replace(a_strips, filled=tiles), a.keeper, shares[0], d if stay[0] else None),
              _panel(body, replace(b_strips, filled=tiles), b.keeper, shares[1], d if stay[1] else None))
    unit = b_strips.unit
    blocks: type[Blocks] = TileBlocks if unit.kind == "tiles" else ThinBlocks if stay[1] else VectorBlocks
    blocks(body, unit, b_strips.words, b_strips.signs, *panels, c, d, tiles, a_strips.tiles,
           operation.saturates).write()
    returned = RESULT if operation.target else body.from_buffer(d.base, operation.result)
    return [*types, plain_type(operation.c)], plain_type(operation.result), returned


# --------------------------------------------------------------------------------------
# Sums
# --------------------------------------------------------------------------------------


def _sum_types(operation: Product) -> list[str]:
    """The types of the parameters between those of A and B and C: whether C is zeros; whether D goes to memory, where
    that begins, the bytes from row to row there, and the window."""
    target = operation.target
    return ["i1"] * operation.asks_for_zeros + (
        [] if target is None else ["i1", "ptr", "i64", *["i64"] * (WINDOW * target.is_window)])


def _row_bytes(kind: MatrixType) -> int:
    return kind.columns * kind.component.size


def _c(body: Body, operation: Product, names: Sequence[str]) -> Sums:
    """C; zeros are one row for all."""
    kind, nbytes = operation.c, _row_bytes(operation.c)
    base, pitch = body.to_buffer(names[-1], kind), str(nbytes)
    if operation.asks_for_zeros:
        zeros = body.writer.slot(f"[{nbytes} x i8]", align=LINE)
        body.clear(zeros, nbytes)
        base = body.writer.let(f"select i1 {names[0]}, ptr {zeros}, ptr {base}")
        pitch = body.writer.let(f"select i1 {names[0]}, i64 0, i64 {pitch}")
    return Sums(kind, format_of(operation.formats[2]), base, pitch)


def _d(body: Body, operation: Product, names: Sequence[str]) -> Sums:
    """D: in a buffer, or where the kernel stores it."""
    kind, target = operation.result, operation.target
    base, pitch = body.result(kind), str(_row_bytes(kind))
    if target is not None:
        is_due, there, stride, *window = names[operation.asks_for_zeros:-1]
        if target.is_window:
            is_due = body.writer.all_of(is_due, is_whole(body, kind, Layout.RowMajorKHR, window)[0])
            there = window_start(body, kind, there, stride, window)
        base = body.writer.let(f"select i1 {is_due}, ptr {there}, ptr {base}")
        pitch = body.writer.let(f"select i1 {is_due}, i64 {stride}, i64 {pitch}")
    return Sums(kind, format_of(operation.formats[3]), base, pitch)


# --------------------------------------------------------------------------------------
# A and B
# --------------------------------------------------------------------------------------


def _unit(operation: Product, body: Body) -> Unit:
    return unit_of(operation.formats, operation.saturates, body.features)


def _strips(operation: Product, body: Body, place: int, lines: Lines) -> Strips:
    unit = _unit(operation, body)
    words = unit.lanes
    if unit.kind == "tiles" and operation.step:
        words = min(words, -(-operation.step // unit.together))
    if operation.runs.length:
        words = math.gcd(words, operation.runs.length // unit.together)
    a, b = (format_of(name).is_signed for name in operation.formats[:2])
    source = operation.sources[place]
    is_window = source is not None and source.is_window
    adds_nothing = unit.kind != "tiles" and unit.is_float and (operation.step > 0 or not is_window)
    return Strips(unit, lines, words, (a, b), operation.runs, adds_nothing)


def _buffer(body: Body, strips: Strips) -> str:
    return body.writer.slot(f"[{strips.nbytes} x i8]", align=LINE)


def _panel(body: Body, strips: Strips, keeper: Sequence[str], share: Share | None, d: Sums | None) -> Panel:
    """The strips of an operand. d: where sums are written meanwhile, if the operand may be multiplied where it lies."""
    if keeper and share is not None:
        lines = strips.lines
        address = body.writer.let(f"ptrtoint ptr {lines.base} to i64")
        along, across = (lines.elements, lines.lines) if lines.order == "along" else (lines.lines, lines.elements)
        end = body.writer.let(f"or i64 {along[1]}, {body.writer.let(f'shl i64 {strips.filled}, 32')}")
        key = [address, lines.stride, keeper[1], *across, along[0], end]  # both ends fit into one word
        base, later = kept(body, share, keeper[0], key, strips.parts,
                           lambda place, part: fill_part(body, strips, place, part), lambda: _buffer(body, strips))
        # Of A the strips of the next blocks are asked for, of which some are used at once.
        first = body.address(base, "i8", STRIPS * strips.strip_bytes) if strips.is_a else later
        ahead = Ahead(first, "0", 1, strips.nbytes // LINE)
    else:
        base, ahead = _buffer(body, strips), _along(body, strips.lines)
        if d is not None:
            return _there(body, strips, base, d)
        fill(body, strips, base)
    excess = strips.tiles * strips.tile_bytes if strips.has_excess else -1
    return Panel(base, str(LINE), str(strips.tile_bytes), str(strips.strip_bytes), excess, ahead, strips.by_words)


def _there(body: Body, strips: Strips, buffer: str, d: Sums) -> Panel:
    """The strips of an operand where they lie in memory, if all of it is there and no sums are written to it; otherwise
    in a buffer."""
    writer, lines = body.writer, strips.lines
    starts = [writer.let(f"ptrtoint ptr {one} to i64") for one in (lines.base, d.base)]
    ends = [writer.let(f"add i64 {start}, {writer.let(f'mul i64 {count}, {pitch}')}") for start, count, pitch in zip(
        starts, (lines.extents[0], d.kind.rows), (lines.stride, d.pitch), strict=True)]
    before = [writer.let(f"icmp ule i64 {end}, {start}") for end, start in zip(ends, reversed(starts), strict=True)]
    apart = writer.let(f"or i1 {before[0]}, {before[1]}")
    stays = writer.all_of(strips.is_whole(body), apart)
    writer.when(writer.let(f"xor i1 {stays}, true"), lambda: fill(body, strips, buffer))
    along, across = str(strips.elements * lines.size), str(strips.unit.lanes * lines.size)  # bytes of a tile's lines
    tile, strip = ((along, writer.let(f"mul i64 {lines.stride}, {strips.unit.lanes}")) if strips.is_a
                   else (writer.let(f"mul i64 {lines.stride}, {strips.words}"), across))
    base = writer.let(f"select i1 {stays}, ptr {lines.base}, ptr {buffer}")
    line, tile, strip = (writer.let(f"select i1 {stays}, i64 {there}, i64 {own}") for there, own in (
        (lines.stride, LINE), (tile, strips.tile_bytes), (strip, strips.strip_bytes)))
    return Panel(base, line, tile, strip, by_words=strips.by_words, is_aligned=False)


def _along(body: Body, lines: Lines) -> Ahead:
    """What follows an operand along K in memory."""
    count, length = lines.extents
    nbytes = length * lines.size
    step = str(nbytes) if lines.order == "along" else body.writer.let(f"mul i64 {lines.stride}, {count}")
    return Ahead(body.address(lines.base, "i8", step), lines.stride, count, -(-nbytes // LINE))


def _tiles(body: Body, a: Strips, b: Strips) -> str:
    """How many tiles along K there is something in, at least one."""
    writer = body.writer
    ends = [strips.lines.elements[1] if strips.lines.order == "along" else strips.lines.lines[1] for strips in (a, b)]
    scale = [1, b.lines.together]
    counts = [end if factor == 1 else writer.let(f"mul i64 {end}, {factor}")
              for end, factor in zip(ends, scale, strict=True)]
    most = writer.call("i64", "llvm.smax.i64", [("i64", one) for one in counts])
    if a.runs.gap:  # as many as there are in all runs that begin before the end
        whole, rest = (writer.let(f"{part} i64 {most}, {a.runs.period}") for part in ("udiv", "urem"))
        rest = writer.call("i64", "llvm.umin.i64", [("i64", rest), ("i64", str(a.runs.length))])
        most = writer.let(f"add i64 {writer.let(f'mul i64 {whole}, {a.runs.length}')}, {rest}")
    up = writer.let(f"add i64 {most}, {a.elements - 1}")
    tiles = writer.let(f"sdiv i64 {up}, {a.elements}")
    return writer.call("i64", "llvm.smax.i64", [("i64", tiles), ("i64", "1")])
