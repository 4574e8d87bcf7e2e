"""Kernels that number their tiles, as kernels of a grid of work-groups, one for each tile.

Work-groups that take one tile after the other, and numbers that are taken apart into rows and columns, hide that tiles
lie beside each other. The kernel for a grid is the same one without that; which grid it is follows from the arguments
of a launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coopmat.spirv.grammar import BuiltIn
from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.conditions import Placing, placings
from coopmat.spirv.transform.enlarge.guards import without_guards
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.linear import split
from coopmat.spirv.transform.enlarge.matrices import AXES, NoMerge, scope_of, taken_apart
from coopmat.spirv.transform.enlarge.persistent import Sizes, without_loops
from coopmat.spirv.transform.enlarge.pipelines import InTurn, in_turn
from coopmat.spirv.transform.enlarge.requirements import Number, Requirements
from coopmat.spirv.transform.enlarge.rounds_apart import OVERLAP, Apart, apart

MOST = (1 << 31) - 1  # work-groups
_COUNTS = (BuiltIn.NumWorkgroups, BuiltIn.GlobalSize)


@dataclass(frozen=True)
class Grid:
    """A kernel for a grid. tiles: axis → how many work-groups there are instead of those that loop over tiles, at
    ``places``; limits: how many work-groups of a row take part at most; divisions: see :func:`~.linear.split`; apart:
    what must hold for rounds of these loops, one of them; requirements: what must hold besides, all of them."""

    module: Module
    local_size: Sizes
    tiles: Mapping[int, Number]
    places: tuple[str, ...]
    limits: tuple[Number, ...]
    divisions: tuple[Number, ...]
    apart: tuple[Apart, ...]
    requirements: tuple[Requirements, ...]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Positions of arguments that may not share memory."""
        return tuple(dict.fromkeys(pair for one in self.apart for pair in one.pairs))

    def counts(self, arguments: Sequence[int], given: Sizes) -> Sizes | str:
        """The grid for a launch of so many work-groups with these arguments (integers with their sign); why there is
        none, if there is something to say."""
        if not all(one.hold(arguments, given) for one in self.requirements):
            return ""
        found = [self.tiles[axis].at(arguments, given) if axis in self.tiles else given[axis] for axis in range(AXES)]
        most = [limit.at(arguments, given) for limit in self.limits]
        if any(one is None or not 0 < one <= MOST for one in (*found, *most)):
            return ""
        x, y, z = (one or 0 for one in found)
        x = min(x, *(one or 0 for one in most)) if most else x
        for division in self.divisions:
            size = division.at(arguments, (x, y, z))
            if size is None or size <= 0 or x % size:
                return ""
            x, y, z = size, x // size, y
        if self.apart and not any(one.holds(arguments, (x, y, z)) for one in self.apart):
            return OVERLAP + self._where()
        return x, y, z

    def said(self, counts: Sizes) -> str:
        """What it is, in messages."""
        what = f"the rounds of its loop over tiles{self._where()} are work-groups," if self.tiles else (
            "its work-groups in a row are taken as")
        return f"{what} a grid of {' x '.join(map(str, counts))}"

    def _where(self) -> str:
        """The lines of its loops over tiles."""
        return f" ({', '.join(dict.fromkeys(self.places))})" if self.places else ""


def grid_of(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int, group_counts: Sequence[int]
            ) -> Grid | None:
    """A kernel for a grid; None if it does not number its tiles. ``module`` has values instead of variables. NoMerge,
    with the reason, if it does so in a way that cannot be taken as a grid."""
    given, conditions = module, list[Requirements]()
    try:
        module, sizes, tiles, places = without_loops(given, kernel, local_size, sub_group_size)
    except NoMerge as reason:  # a loop that loads ahead may carry on, from tile to tile, what it does not need
        straight = in_turn(given, kernel, local_size, sub_group_size)
        if straight.module is given:
            raise
        try:
            module, sizes, tiles, places = without_loops(straight.module, kernel, local_size, sub_group_size)
        except NoMerge:
            raise reason from None
        conditions.append(_requirements(given, kernel, local_size, sub_group_size, straight))
    divisions, limits = tuple[Number, ...](), tuple[Number, ...]()
    if sizes[1:] == (1, 1) and not any(axis in tiles or group_counts[axis] != 1 for axis in (1, 2)):
        if not tiles:
            module, limits = _without_limits(module, kernel, sizes, sub_group_size)
        module, divisions = split(module, kernel, sizes, sub_group_size)
    if not tiles:
        return Grid(module, sizes, tiles, places, limits, divisions, (), ()) if divisions else None
    return Grid(module, sizes, tiles, places, limits, divisions,
                tuple(_apart(module, kernel, sizes, sub_group_size)), tuple(conditions))


def _without_limits(module: Module, kernel: str, local_size: Sizes, sub_group_size: int
                    ) -> tuple[Module, tuple[Number, ...]]:
    """A kernel of work-groups in a row without the branches that let only the first ones take part, and how many these
    are; the kernel as it is if these are no whole work-groups, or if it asks how many there are. NoMerge for matrices
    of several scopes."""
    guarded = without_guards(module, kernel, local_size, sub_group_size, asks=False)
    indices = _indices(guarded.module, kernel, local_size, sub_group_size)
    positions = indices.positions
    if any(limit.axis or limit.from_last or limit.times != positions.groups[0] for limit in guarded.limits) or any(
            indices.builtin(row) in _COUNTS for row in indices.body.rows()):
        return module, ()
    requirements = Requirements(guarded.everywhere, (), guarded.computed, positions.groups, positions.size)
    return guarded.module, tuple(Number(limit.value, requirements, limit.step) for limit in guarded.limits)


def _requirements(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int, straight: InTurn
                  ) -> Requirements:
    """What must hold in a launch of a kernel for another form of it. NoMerge for matrices of several scopes."""
    found = Requirements.of(_indices(module, kernel, local_size, sub_group_size), straight.conditions)
    return replace(found, computed={**found.computed, **straight.computed})


def _indices(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int,
             placing: Placing | None = None) -> Indices:
    """What the integers of a kernel are made of."""
    editor, body = taken_apart(module, kernel)
    return Indices(editor, body, local_size, sub_group_size, scope_of(module), placing)


def _apart(module: Module, kernel: str, local_size: Sizes, sub_group_size: int) -> list[Apart]:
    """What must hold for the work-groups of a kernel to be independent, for each way to place its sub-groups."""
    found, reasons = [], []
    for placing in (None, *placings(local_size, sub_group_size)):
        try:
            found.append(apart(_indices(module, kernel, local_size, sub_group_size, placing)))
        except NoMerge as reason:
            reasons.append(reason)
    if not found:
        raise reasons[0]
    return found
