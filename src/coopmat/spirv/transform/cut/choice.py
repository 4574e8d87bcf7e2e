"""Which matrices are cut, and into what: the types that operations connect are cut together.

A multiply-accumulate decides the tiles of its A, B and accumulators; a conversion gives its result the tiles of its
operand, a reduction those rows or columns that it keeps. Of the combinations that a device has for a
multiply-accumulate the one with the largest M·N·K that divides the shape is taken, unless its neighbours need another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coopmat.devices import USES
from coopmat.devices.lane_layout import can_be_packed
from coopmat.devices.operands import shape_of, types_text
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.matrix_uses import (
    MATRIX_CONVERSIONS,
    MultiplyAccumulate,
    multiply_accumulate_of,
    possible_formats,
)
from coopmat.spirv.analysis.types import IntType, MatrixType, TypeTable
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.grammar import CooperativeMatrixReduce as Reduce
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.goal import Goal, Say

Tile = tuple[int, int]
"""Rows and columns."""
Sizes = tuple[int, int, int]
"""M, N and K."""

LOADS = {Op.CooperativeMatrixLoadKHR: (0, 1), Op.CooperativeMatrixStoreKHR: (0, 2),
         Op.CooperativeMatrixLoadCheckedINTEL: (0, 3), Op.CooperativeMatrixStoreCheckedINTEL: (0, 4)}
"""Loads and stores → the places of pointer and layout among their words."""
STORED = {Op.CooperativeMatrixStoreKHR: 1, Op.CooperativeMatrixStoreCheckedINTEL: 3}
"""Stores → the place of the matrix among their words."""
CHECKED = frozenset({Op.CooperativeMatrixLoadCheckedINTEL, Op.CooperativeMatrixStoreCheckedINTEL})
_ALIKE = MATRIX_CONVERSIONS | {Op.CooperativeMatrixTransposeNV, Op.CooperativeMatrixPerElementOpEXT}
_REFUSED = frozenset({Op.CooperativeMatrixLoadTensorNV, Op.CooperativeMatrixStoreTensorNV,
                      Op.CooperativeMatrixApplyFunctionINTEL})
MOST_TRIED = 10000
"""Choices of combinations before a set of matrices is given up."""


@dataclass
class Product:
    """A multiply-accumulate: its types A, B, C and D, and what it needs of a device."""

    types: tuple[int, int, int, int]
    use: MultiplyAccumulate

    def tiles(self, sizes: Sizes) -> dict[int, Tile]:
        """The tiles of its types, if it is cut to M, N and K."""
        uses = (USES[0], USES[1], USES[2], USES[2])
        return {type_id: shape_of(use, *sizes) for type_id, use in zip(self.types, uses, strict=True)}


@dataclass
class Link:
    """Two types of which the tiles of one follow from those of the other: both sizes, or only one of them."""

    first: int
    second: int
    follow: Callable[[Tile, Tile | None], Tile | None]
    back: Callable[[Tile, Tile | None], Tile | None]


@dataclass
class Set_:
    """Types that operations connect."""

    types: list[int] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


class Unfit(Exception):
    """Why a set of matrices stays as it is."""


def chosen_tiles(module: Module, goal: Goal, say: Say) -> dict[int, Tile]:
    """Type → tile of all matrices that are to be cut."""
    matrices = Matrices(module, goal)
    found: dict[int, Tile] = {}
    for one in matrices.sets():
        if goal.driver is not None and any(matrices.types[type_id].is_of_work_group for type_id in one.types):
            continue  # drivers have them as they are, or refuse them
        try:
            tiles = matrices.solved(one)
        except Unfit as reason:
            say(f"{matrices.text(one.types)} left: {reason}")
            continue
        cut = {type_id: tile for type_id, tile in tiles.items() if tile != matrices.shape(type_id)}
        found |= cut
        for type_id, tile in cut.items():
            say(f"{matrices.text([type_id])} cut into {tile[0]}x{tile[1]}")
    return found


class Matrices:
    """The matrix types of a module, and what connects them."""

    def __init__(self, module: Module, goal: Goal) -> None:
        self.module = module
        self.goal = goal
        self.table = TypeTable(module, 1)
        self.types: dict[int, MatrixType] = {}
        for row in module.of_opcode(Op.TypeCooperativeMatrixKHR):
            try:
                kind = self.table[row.result_id or 0]
            except Error:
                continue  # of another scope: its matrices are not a sub-group's
            if isinstance(kind, MatrixType):
                self.types[row.result_id or 0] = kind
        self.products: list[Product] = []
        self.links: list[Link] = []
        self.refused: dict[int, str] = {}
        self.unknown: set[int] = set()  # of those that are refused, those of instructions that no pass knows
        self.accesses: dict[int, list[tuple[int, int]]] = {}
        for row in module.instructions:
            self._note(row)

    def shape(self, type_id: int) -> Tile:
        kind = self.types[type_id]
        return kind.rows, kind.columns

    def text(self, types: Sequence[int]) -> str:
        """The matrices in words."""
        return ", ".join(f"{self.types[one]} of use {USES[self.types[one].use]}" for one in types)

    def _type(self, value: int) -> int:
        """The type of a value, 0 if it is no matrix of a sub-group."""
        type_id = self.module.definition(value).type_id if self.module.defines(value) else None
        return type_id if type_id in self.types else 0

    # --- what connects them ------------------------------------------------------------

    def _note(self, row: Instruction) -> None:
        result = row.type_id if row.type_id in self.types else 0
        if row.opcode == Op.CooperativeMatrixMulAddKHR and result:
            self._note_product(row, result)
        elif row.opcode in _ALIKE and result:
            turned = row.opcode == Op.CooperativeMatrixTransposeNV or self._is_transposed(row.result_id or 0)
            for value in row.words[:1] if row.opcode != Op.CooperativeMatrixPerElementOpEXT else (
                    row.words[0], *row.words[2:]):
                if self._type(value) not in (0, result):
                    follow = _turned if turned else _same
                    self.links.append(Link(self._type(value), result, follow, follow))
        elif row.opcode == Op.CooperativeMatrixReduceEXT and result:
            self._note_reduction(row, result)
        elif row.opcode in LOADS:
            self._note_access(row)
        elif row.opcode in _REFUSED:
            for type_id in {result, *map(self._type, row.words)} - {0}:
                self.refused[type_id] = f"{row.name} cannot be cut"
                self.unknown.add(type_id)

    def _note_product(self, row: Instruction, result: int) -> None:
        types = (*map(self._type, row.words[:3]), result)
        a, b, c, d = types
        flags = Flags(row.words[3] if len(row.words) > 3 else 0)
        try:
            if not all(types):
                raise Error(f"{row.name} has a matrix that is no sub-group's, or of numbers that are not known here")
            use = multiply_accumulate_of(self.types[a], self.types[b], self.types[c], self.types[d], flags, row)
        except Error as error:
            self.refused |= {one: str(error) for one in types if one}
            return
        product = Product((a, b, c, d), use)
        if product not in self.products:
            self.products.append(product)

    def _is_transposed(self, identifier: int) -> bool:
        return any(decoration == Decoration.CooperativeMatrixTransposeEXT
                   for decoration, _ in self.module.decorations(identifier))

    def _note_reduction(self, row: Instruction, result: int) -> None:
        given, axes = self._type(row.words[0]), row.words[1]
        if axes == Reduce._2x2:
            self.links.append(Link(given, result, _halved, _doubled))
        elif axes == Reduce.Row:
            self.links.append(Link(given, result, _same_rows, _same_rows))
        elif axes == Reduce.Column:
            self.links.append(Link(given, result, _same_columns, _same_columns))
        else:
            self.links.append(Link(given, result, _any, _any))

    def _note_access(self, row: Instruction) -> None:
        pointer, layout = (row.words[place] for place in LOADS[Op(row.opcode)])
        type_id = self._type(row.words[STORED[Op(row.opcode)]]) if row.opcode in STORED else row.type_id or 0
        if type_id not in self.types:
            return
        order = self.module.constant_value(layout)
        if not isinstance(order, int) or order not in (Layout.RowMajorKHR, Layout.ColumnMajorKHR, Layout.PackedINTEL):
            self.refused[type_id] = f"the layout of {row.name} is not known"
            return
        unit = 0 if row.opcode in CHECKED else 8 * self.table.pointee(
            self.table[self.module.definition(pointer).type_id or 0]).size
        self.accesses.setdefault(type_id, []).append((order, unit))

    def sets(self) -> Iterator[Set_]:
        """The connected sets."""
        of: dict[int, Set_] = {type_id: Set_([type_id]) for type_id in self.types}

        def unite(types: Sequence[int]) -> None:
            for type_id in types[1:]:
                one, other = of[types[0]], of[type_id]
                if one is not other:
                    one.types += other.types
                    of.update((member, one) for member in other.types)

        for product in self.products:
            unite(product.types)
        for link in self.links:
            unite((link.first, link.second))
        for product in self.products:
            of[product.types[0]].products.append(product)
        for link in self.links:
            of[link.first].links.append(link)
        return iter({id(one): one for one in of.values()}.values())

    # --- tiles -------------------------------------------------------------------------

    def solved(self, one: Set_) -> dict[int, Tile]:
        """The tiles of a set. Unfit, with the reason, if there are none."""
        for type_id in one.types:
            if type_id in self.refused:
                raise Unfit(self.refused[type_id])
        choices = [list(self._sizes(product)) for product in one.products]
        for product, sizes in zip(one.products, choices, strict=True):
            if not sizes:
                raise Unfit(self._reason(product))
        order = sorted(range(len(choices)), key=lambda place: len(choices[place]))
        tried = [0]
        tiles = self._search(one, [(one.products[place], choices[place]) for place in order], {}, tried)
        if tiles is None:
            raise Unfit("no combinations fit that agree on the tiles of what conversions and other products connect")
        return tiles

    def _search(self, one: Set_, rest: Sequence[tuple[Product, Sequence[Sizes]]], known: Mapping[int, Tile],
                tried: list[int]) -> dict[int, Tile] | None:
        if not rest:
            return self._completed(one, known)
        product, sizes = rest[0]
        for choice in sizes:
            tried[0] += 1
            if tried[0] > MOST_TRIED:
                return None
            tiles = product.tiles(choice)
            if any(known.get(type_id, tile) != tile for type_id, tile in tiles.items()):
                continue
            followed = self._followed(one, {**known, **tiles})
            found = None if followed is None else self._search(one, rest[1:], followed, tried)
            if found is not None:
                return found
        return None

    def _followed(self, one: Set_, known: Mapping[int, Tile]) -> dict[int, Tile] | None:
        """What follows by links; None if it contradicts."""
        tiles, changed = dict(known), True
        while changed:
            changed = False
            for link in one.links:
                for source, target, follow in ((link.first, link.second, link.follow),
                                               (link.second, link.first, link.back)):
                    if source not in tiles:
                        continue
                    wanted = follow(tiles[source], tiles.get(target))
                    if wanted is not None and tiles.get(target, wanted) != wanted:
                        return None
                    if wanted is not None and target not in tiles:
                        if not self._divides(target, wanted):
                            return None
                        tiles[target] = wanted
                        changed = True
        return tiles

    def _completed(self, one: Set_, known: Mapping[int, Tile]) -> dict[int, Tile] | None:
        """The tiles of those, too, that no product decides."""
        tiles = self._followed(one, known)
        for type_id in one.types:
            if tiles is not None and type_id not in tiles:
                tiles = next((found for tile in self._tiles_alone(type_id)
                              if (found := self._followed(one, {**tiles, type_id: tile})) is not None), None)
        return tiles

    def _tiles_alone(self, type_id: int) -> Iterator[Tile]:
        """The tiles that a matrix may have for itself, large ones first."""
        kind, use = self.types[type_id], USES[self.types[type_id].use]
        shape = (kind.rows, kind.columns)
        formats = possible_formats(kind)
        device = self.goal.matrices
        if self.goal.tile is not None:
            sizes = [self.goal.tile]
        elif device is None or device.any_combination:
            sizes = []
        else:
            if any(device.supports_matrix(name, use, *shape) for name in formats):
                yield shape
            sizes = [tuple_of(largest_below((row.msize or row.max_msize, row.nsize or row.max_nsize,
                                             row.ksize or row.max_ksize), use, shape))
                     for row in device.combinations if set(row.types_of(use)) & set(formats)]
        tiles = {shape_of(use, *one) for one in sizes}
        if self.goal.tile is None and device is not None:
            tiles = {tile for tile in tiles if any(device.supports_matrix(name, use, *tile) for name in formats)}
        yield from sorted((tile for tile in tiles if self._divides(type_id, tile)), key=lambda tile: -tile[0] * tile[1])
        yield shape

    def _sizes(self, product: Product) -> Iterator[Sizes]:
        """M, N and K that a product may be cut to, large ones first; as they are, if the device has that."""
        use, device = product.use, self.goal.matrices
        whole = (use.m, use.n, use.k)
        if self.goal.tile is not None:
            found = {self.goal.tile}
        elif device is None or device.any_combination:
            found = {whole}
        else:
            found = {whole} if any(device.supports(*formats, *whole) for formats in use.choices()) else set()
            for row in device.combinations:
                if row.types in set(use.choices()):
                    found.add(_fitting(row.msize, row.max_msize, use.m, row.nsize, row.max_nsize, use.n, row.ksize,
                                       row.max_ksize, use.k))
        for sizes in sorted(found, key=lambda one: (-one[0] * one[1] * one[2], -min(one))):
            if all(self._divides(type_id, tile) for type_id, tile in product.tiles(sizes).items()) and (
                    sizes[2] == use.k or (self._is_chained(product, sizes) and not use.saturating)):
                yield sizes

    def _is_chained(self, product: Product, sizes: Sizes) -> bool:
        """Whether partial sums can be handed on: the accumulators are alike, or the device has the step between."""
        use, device = product.use, self.goal.matrices
        a, b, c, d = use.formats
        between = wider(c, d)
        return c == d or device is None or device.any_combination or device.supports(a, b, between, between, *sizes)

    def _divides(self, type_id: int, tile: Tile) -> bool:
        """Whether a matrix can be cut into tiles, and each of them be loaded and stored where it lies."""
        kind = self.types[type_id]
        if kind.rows % tile[0] or kind.columns % tile[1]:
            return False
        if tile == (kind.rows, kind.columns):
            return True
        bits = kind.component.width if isinstance(kind.component, IntType) else 8 * kind.component.size
        for order, unit in self.accesses.get(type_id, ()):
            step = tile[0] if order == Layout.ColumnMajorKHR else tile[1]
            if order == Layout.PackedINTEL and kind.use == Use.MatrixBKHR:
                if not can_be_packed(tile[0], bits):
                    return False
                step = tile[1] * 32 // bits
            if unit and step * bits % unit:
                return False
        return True

    def _reason(self, product: Product) -> str:
        """Why a product cannot be cut."""
        use, device = product.use, self.goal.matrices
        what = f"{types_text(*use.formats)}, M={use.m} N={use.n} K={use.k}"
        along = replace(product, use=replace(use, saturating=False))
        if use.saturating and any(self._sizes(along)):
            return f"{what} accumulates with saturation: sums of parts of K would be others"
        if self.goal.tile is not None:
            return f"{what} is no multiple of the tile {', '.join(map(str, self.goal.tile))}"
        assert device is not None
        rows = [row for row in device.combinations if row.types in set(use.choices())]
        if not rows:
            return f"{device.name} has no combination of these types for {what}"
        return f"{what} is no multiple of a combination that {device.name} has: {'; '.join(map(str, rows))}"


def wider(c: str, d: str) -> str:
    """Of two formats of accumulators the one in which partial sums are handed on."""
    return c if int("".join(filter(str.isdigit, c))) > int("".join(filter(str.isdigit, d))) else d


def _fitting(*parts: int) -> Sizes:
    """For M, N and K each the exact size, or the largest one up to the limit that divides."""
    found = [exact or next(size for size in range(min(limit, wanted), 0, -1) if wanted % size == 0)
             for exact, limit, wanted in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]
    return found[0], found[1], found[2]


def tuple_of(sizes: Sequence[int]) -> Sizes:
    """Three sizes."""
    m, n, k = sizes
    return m, n, k


def largest_below(sizes: Sequence[int], use: str, shape: Tile) -> list[int]:
    """The sizes, each brought down to a divisor of what a matrix of this use has."""
    places = {"a": (0, 2), "b": (2, 1), "accumulator": (0, 1)}[use]
    found = list(sizes)
    for place, wanted in zip(places, shape, strict=True):
        found[place] = next(size for size in range(min(found[place], wanted), 0, -1) if wanted % size == 0)
    return found


def _same(tile: Tile, _: Tile | None) -> Tile:
    return tile


def _turned(tile: Tile, _: Tile | None) -> Tile:
    return tile[1], tile[0]


def _any(tile: Tile, other: Tile | None) -> None:
    return None


def _halved(tile: Tile, _: Tile | None) -> Tile:
    return max(tile[0] // 2, 1), max(tile[1] // 2, 1)


def _doubled(tile: Tile, _: Tile | None) -> Tile:
    return 2 * tile[0], 2 * tile[1]


def _same_rows(tile: Tile, other: Tile | None) -> Tile | None:
    return None if other is None else (tile[0], other[1])


def _same_columns(tile: Tile, other: Tile | None) -> Tile | None:
    return None if other is None else (other[0], tile[1])
