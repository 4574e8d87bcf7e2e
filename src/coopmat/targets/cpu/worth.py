"""What blocks of work-groups cost, as it was measured: which of them cost least, and where work-groups cost less."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.transform.enlarge.flat import FlatProduct
from coopmat.spirv.transform.enlarge.merge import Neighbours
from coopmat.targets.cpu.matrix.amx import tile_shape
from coopmat.targets.cpu.matrix.body import Features
from coopmat.targets.cpu.matrix.multiply import is_unrolled
from coopmat.targets.cpu.matrix.product.unit import Unit
from coopmat.targets.cpu.matrix.product.vector_blocks import block_rows
from coopmat.targets.cpu.matrix.sums import register_bytes

Sizes = tuple[int, int]
"""Rows and columns."""
EXACT = 18  # tiles
SHARE, FLOAT_SHARE = 128 * 128, 64 * 64
"""Elements of C, or as much of B, that a thread has at least: for less, it is done before another one has begun.
Multiply-adds of floats take longer than the others."""


@dataclass(frozen=True)
class Shape:
    """A block. speed: of its products, beside the fastest ones. most: the rows and columns of C for which it is, at
    most; 0: any number."""

    rows: int
    columns: int
    speed: float
    most: Sizes = (0, 0)

    def suits(self, extents: Sizes) -> bool:
        """Whether it is for a C of such extents."""
        return all(not most or extent <= most for most, extent in zip(self.most, extents, strict=True))

    def sizes(self, own: Sizes, extents: Sizes) -> Sizes:
        """Rows and columns that are whole numbers of tiles, and of which as many blocks have little too much."""
        rows, columns = (_even(-(-extent // tile), max(1, size // tile)) * tile
                         for size, tile, extent in zip((self.rows, self.columns), own, extents, strict=True))
        return rows, columns


def _even(count: int, most: int) -> int:
    """The tiles of each block if so many are shared out to as few blocks as there must be; of many an even number, so
    that launches of more sizes share blocks."""
    found = -(-count // -(-count // most))
    return found if found <= EXACT else min(most, found + found % 2)


_USUAL = (
    Shape(128, 256, 1.0),
    Shape(256, 128, 1.0),
    Shape(128, 128, 0.95),
    Shape(64, 128, 0.87),
    Shape(64, 64, 0.8),
    Shape(32, 64, 0.7),
    Shape(32, 32, 0.6),
    Shape(160, 160, 1.0, (160, 160)),
)


@dataclass(frozen=True)
class Costs:
    """What a unit's blocks take. packing: the rows of A whose products take as long as to pack B; copying: the columns
    of B whose products take as long as to put A into strips; begin: the products of a row and a column that take as
    long as to begin a block. depths: the words along K that a block takes at once, in launches of at most so many
    columns, or of more than all (0): two strips of each operand stay in the first-level cache, or A, B and C of a
    block, or all of B for that much of K, in the second-level one. share: what a thread has of C and B at least."""

    packing: int
    copying: int = 0
    begin: int = 4000
    share: int = SHARE
    depths: tuple[tuple[int, int], ...] = ((0, 256),)
    shapes: tuple[Shape, ...] = _USUAL

    def limited(self, most: int) -> Costs:
        """Those of blocks of so many rows times columns at most."""
        return replace(self, shapes=tuple(one for one in self.shapes if one.rows * one.columns <= most)
                       or (min(self.shapes, key=lambda one: one.rows * one.columns),))

    def words(self, columns: int) -> int:
        """The words along K that a block takes at once, in a launch of so many columns; 0: as in those of most."""
        return next(words for most, words in self.depths if not most or 0 < columns <= most)

    def shape(self, extents: Sizes, own: Sizes, threads: int) -> Sizes:
        """The rows and columns of the blocks that take the least time. extents: of C; own: of a work-group's tile;
        threads: that share one C."""
        threads = min(threads, max(1, (extents[0] + self.packing) * extents[1] // self.share))

        def time(found: tuple[Sizes, float]) -> float:
            """In that of a product of a row and a column."""
            (rows, columns), speed = found
            down, across = -(-extents[0] // rows), -(-extents[1] // columns)
            each = -(-down * across // threads)  # blocks of a thread, one below the other
            return (each * (rows * (columns / speed + self.copying) + self.begin)
                    + -(-each // down) * columns * self.packing)

        fitting = [(one.sizes(own, extents), one.speed) for one in self.shapes if one.suits(extents)]
        return min(fitting, key=time)[0]


COSTS = {
    "tiles": Costs(100, 85, depths=((1024, 256), (0, 128)), shapes=(
        Shape(128, 512, 1.0),
        Shape(128, 256, 1.0),
        Shape(256, 256, 0.95),
        Shape(64, 256, 0.95),
        Shape(128, 128, 1.0),
        Shape(64, 128, 0.95),
        Shape(64, 64, 0.95),
        Shape(32, 128, 0.6),
        Shape(32, 64, 0.6),
        Shape(32, 32, 0.5),
        Shape(288, 288, 0.95, (288, 288)),
    )),
    "bytes": Costs(50),
    "pairs": Costs(50),
    "shorts": Costs(30),
    "numbers": Costs(32, share=FLOAT_SHARE),
}
"""By the kind of a unit."""
FLAT = replace(COSTS["tiles"], shapes=(
    Shape(512, 128, 0.5),
    Shape(256, 256, 0.4),
    Shape(256, 128, 0.35),
    Shape(128, 128, 0.3),
    Shape(64, 64, 0.2),
    Shape(64, 512, 1.0, (64, 0)),
    Shape(384, 384, 0.5, (384, 384)),
))
"""Tiles whose sums are loaded and stored in each round, as several rounds cannot be one: what little of A and B a round
takes has to be used often."""
_CHANGED = (
    Shape(128, 64, 0.95, (0, 64)),
    Shape(64, 128, 0.95, (64, 0)),
    Shape(16, 256, 1.0, (16, 0)),
)
CHANGED = Costs(0, depths=COSTS["tiles"].depths, shapes=(
    Shape(32, 128, 0.9), Shape(256, 256, 1.0, (256, 256)), *_CHANGED))
"""Tiles whose sums each round of a loop changes by itself, too: they stay in the first-level cache, or all of C in the
second-level one, so that no part of A or B is put into order twice."""
CHANGED_VECTORS = Costs(0, shapes=(Shape(64, 128, 0.9), Shape(160, 160, 1.0, (160, 160)), *_CHANGED))
"""The same for vectors."""
IN_PLACE = Costs(32, share=FLOAT_SHARE, shapes=(
    Shape(128, 256, 1.0),
    Shape(256, 128, 1.0),
    Shape(128, 128, 1.0),
    Shape(64, 128, 1.0),
    Shape(64, 64, 0.9),
    Shape(32, 64, 0.8),
    Shape(32, 32, 0.7),
    Shape(160, 160, 1.0, (160, 160)),
))
"""Floats and doubles whose A is multiplied where it lies: there is no copy that has to be used often."""
IN_PLACE_BYTES = 4096
"""Of each of their rows of A at once, so that sums go to memory less often: a block's B fills half of the second-level
cache."""
THIN = Costs(32, depths=((0, 128),), share=FLOAT_SHARE, shapes=(
    Shape(8, 2048, 1.0),
    Shape(8, 1024, 0.9),
    Shape(8, 512, 0.8),
    Shape(8, 256, 0.7),
    Shape(8, 128, 0.6),
))
"""The same of so few rows that each part of B is taken once, where it lies: long lines are read fastest."""
NARROW = 16
"""The columns of B that are multiplied at once at most: to put A into order pays if there are more."""
MOST = 128 * 512
"""The most sums of a block of several: they stay in the second-level cache, beside what is multiplied."""
FAR = 512 * 1024
"""The rows times columns of C from which A and B do not lie in the second-level cache any more, so that each work-group
by itself loads them from farther away."""
NARROW_TILES, TALL = 64, 8
"""The columns of C, of so many times as many rows, for which AMX takes tiles of A from memory in less time than they
are put into order in."""
NARROW_ROUND, TALL_ROUND = 64, 4
"""The same if several rounds cannot be one, and a round does little else than products."""


def costs_of(found: Neighbours, unit: Unit, features: Features, extents: Sizes) -> Costs:
    """What blocks of a kernel's work-groups take. extents: of C."""
    is_tiles = unit.kind == "tiles"
    if found.changes_sums():
        return CHANGED if is_tiles else CHANGED_VECTORS
    costs = FLAT if is_tiles and found.flat_products() else COSTS[unit.kind]
    if unit.kind == "numbers" and unit.is_float:
        rows = max(extents[0], found.kinds(found.matrices.products[0])[0].rows)
        if rows <= block_rows(unit, features) and found.lies_by_rows(Use.MatrixBKHR, unit.word_bytes):
            costs = THIN
        elif found.lies_by_rows(Use.MatrixAKHR, unit.word_bytes):
            costs = replace(IN_PLACE, depths=((0, IN_PLACE_BYTES // unit.word_bytes),))
    return costs if found.sums() < 2 else costs.limited(MOST // found.sums())


def check_worth(found: Neighbours, unit: Unit, features: Features, extents: Sizes, *, rounds: bool) -> None:
    """Refuse, with NoMerge, what takes longer in blocks than as it is. extents: of C; rounds: whether each product
    rounds its sums, which are loaded and stored for each then."""
    reasons, flats = [found.packed_otherwise(unit.takes_packed)], found.flat_products()
    flat = next((one for one in flats if _is_fast(one, found, unit, features, extents)), None)
    if flat is not None:
        reasons.append(found.refused(flat.row, "its loop along K does not only add up products of tiles that follow "
                                               "each other, so that several rounds cannot be one"))
    first = found.matrices.products[0]
    if rounds and math.prod(extents) < FAR // 4 and _in_registers(found.kinds(first), found, unit, features):
        reasons.append(found.refused(first, "each product rounds its sums, so that several rounds cannot be one"))
    if extents[1] > 1 and not found.lies_by_columns(Use.MatrixAKHR):
        if found.own_extents()[1] == extents[1] <= NARROW:
            reasons.append(found.refused(first, "C is one tile wide, and so narrow that no part of A is multiplied "
                                                "more than once"))
        if unit.kind == "tiles" and not flats and _is_narrow(extents, NARROW_TILES, TALL):
            reasons.append(found.refused(first, f"C has only {extents[1]} columns, so that parts of A are multiplied "
                                                "few times"))
    for reason in filter(None, reasons):
        raise reason


def _is_fast(flat: FlatProduct, found: Neighbours, unit: Unit, features: Features, extents: Sizes) -> bool:
    """Whether a round takes no longer for each work-group by itself: where sums stay in registers then, while those of
    a block go to memory and back in each round."""
    is_narrow = flat.changes < 2 and _is_narrow(extents, NARROW_ROUND, TALL_ROUND)
    if unit.kind == "tiles":
        is_tile = all(tile_shape(kind) is not None for kind in flat.kinds)
        return is_tile and (is_narrow or flat.moves_sums or (flat.only_adds and math.prod(extents) < FAR))
    if math.prod(extents) >= FAR or not _in_registers(flat.kinds, found, unit, features):
        return False
    return is_narrow or (not found.lies_by_columns(Use.MatrixAKHR) and (
        unit.kind in ("numbers", "pairs") or (unit.kind == "bytes" and flat.changes > 1)))


def _is_narrow(extents: Sizes, columns: int, times: int) -> bool:
    """Whether C has so few columns at most, and so many times as many rows."""
    return extents[1] <= min(columns, extents[0] // times)


def _in_registers(kinds: Sequence[MatrixType], found: Neighbours, unit: Unit, features: Features) -> bool:
    """Whether a work-group's own product stands in the code, with sums in whole vector registers."""
    a, b, _ = kinds
    return b.columns * unit.word_bytes % register_bytes(features) == 0 and is_unrolled(
        features, a.rows * a.columns // unit.together, b.columns, unit.word, len(found.matrices.products))
