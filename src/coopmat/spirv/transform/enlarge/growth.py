"""Which matrices of a kernel grow, and along what, when work-groups are merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.polynomials import Atom
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.accesses import Access
from coopmat.spirv.transform.enlarge.dimensions import Dimension
from coopmat.spirv.transform.enlarge.effects import said_of
from coopmat.spirv.transform.enlarge.matrices import AXES, Matrices, no_merge
from coopmat.spirv.transform.enlarge.rounds import loops_along_k
from coopmat.spirv.transform.enlarge.runs import ALL, Runs


@dataclass(frozen=True)
class Growth:
    """axes: the axis of the grid along which a class of dimensions grows. steps: what one work-group is along an axis.
    loops: the loop, by its header, along which a class grows; extents: what one round is; periods: where the next one
    begins; most: of how many rounds a divisor may become one, 0 for any number."""

    axes: Mapping[Dimension, int]
    steps: Mapping[int, int]
    loops: Mapping[Dimension, int]
    extents: Mapping[int, int]
    periods: Mapping[int, int]
    most: Mapping[int, int]

    def rounds(self, header: int, depth: int) -> int:
        """How many rounds of a loop become one, for products that take so much of K."""
        wanted, most = depth // self.extents[header], self.most[header]
        return max((one for one in range(1, wanted + 1) if most % one == 0), default=1) if most else wanted

    def runs(self, headers: Iterable[int]) -> Runs:
        """What products take along K if several rounds of loops become one."""
        found = [Runs(self.extents[one], self.periods[one]) for one in headers]
        return next((one for one in found if one.gap), ALL)


def growth_of(matrices: Matrices, fixed: Mapping[int, Instruction]) -> Growth:
    """What grows, along axes that are not fixed (each with what depends on the position along it). NoMerge if nothing
    can."""
    found = [_along(matrices, axis) for axis in range(AXES)]
    if any(found) and not any(classes for axis, classes in enumerate(found) if axis not in fixed):
        row = fixed[next(axis for axis, classes in enumerate(found) if classes)]
        raise no_merge(matrices.editor, row, f"{said_of(matrices.editor, row)} depends on the work-group's position")
    found = [set() if axis in fixed else classes for axis, classes in enumerate(found)]
    axes: dict[Dimension, int] = {}
    for axis, classes in enumerate(found):
        for one in classes:
            if one in axes:
                access = next(access for access in matrices.accesses for place in range(2)
                              if matrices.dimensions.find((access.matrix, place)) == one)
                raise no_merge(matrices.editor, access.row,
                               f"axes {axes[one]} and {axis} lead along the same extent of a matrix")
            axes[one] = axis
    if not axes:
        reason = "no matrix lies beside the one of a neighbouring work-group"
        stored = next((access for access in matrices.accesses if not access.is_load), None)
        raise no_merge(matrices.editor, *((matrices.products[0], reason) if stored is None else (
            stored.row, f"{reason}, such as what is stored")))
    steps: dict[int, int] = {}
    for (matrix, place), axis in axes.items():
        kind = matrices.kind(matrix)
        assert kind is not None
        steps[axis] = (kind.rows, kind.columns)[place]
    found_loops = loops_along_k(matrices, axes)
    return Growth(axes, steps, {one: header for header, loop in found_loops.items() for one in loop.classes},
                  {header: loop.extent for header, loop in found_loops.items()},
                  {header: loop.period for header, loop in found_loops.items()},
                  {header: loop.most for header, loop in found_loops.items()})


def falling(matrices: Matrices) -> frozenset[int]:
    """The axes along which a matrix lies one extent before that of the work-group before, as where work-groups are
    counted from the last one."""
    found = set()
    for access in matrices.accesses:
        kind = matrices.kind(access.matrix)
        assert kind is not None
        for axis in range(AXES):
            for place, extent in enumerate((kind.rows, kind.columns)):
                step = access.start(place).coefficient(Atom("group", axis))
                if step is not None and step.known == -extent:
                    found.add(axis)
    return frozenset(found)


def _along(matrices: Matrices, axis: int) -> set[Dimension]:
    """The classes of dimensions that grow along an axis of the grid; none if something speaks against it."""
    atom = Atom("group", axis)
    grow: set[Dimension] = set()
    for access in matrices.accesses:
        stepped = _stepped(matrices, access, atom)
        if stepped is None:
            return set()
        grow |= {matrices.dimensions.find((access.matrix, place)) for place in stepped}
    for access in matrices.accesses:
        for place in range(2):
            stays = place not in (_stepped(matrices, access, atom) or ()) and not repeats(matrices, access, place)
            if stays and matrices.dimensions.find((access.matrix, place)) in grow:
                return set()
    return grow


def _stepped(matrices: Matrices, access: Access, atom: Atom) -> tuple[int, ...] | None:
    """The dimension in which a matrix lies one extent further for each step of an atom; none if it lies at the same
    place, and None if it lies elsewhere."""
    kind = matrices.kind(access.matrix)
    assert kind is not None
    factors = [access.start(place).coefficient(atom) for place in range(2)]
    known = [None if factor is None else factor.known for factor in factors]
    if known == [0, 0]:
        return ()
    if known == [kind.rows, 0]:
        return (0,)
    return (1,) if known == [0, kind.columns] else None


def repeats(matrices: Matrices, access: Access, place: int) -> bool:
    """Whether all lines of a load are the same, so that there may be any number."""
    return (access.is_load and access.by_rows == (place == 0)
            and matrices.indices.of(access.stride).known == 0)


def grown(matrices: Matrices, growth: Growth, factors: Sequence[int], rounds: Mapping[int, int], identifier: int
          ) -> Iterator[int]:
    """Rows and columns of a matrix after merging."""
    kind = matrices.kind(identifier)
    assert kind is not None
    for place, extent in enumerate((kind.rows, kind.columns)):
        one = matrices.dimensions.find((identifier, place))
        if one in growth.axes:
            extent *= factors[growth.axes[one]]
        elif one in growth.loops:
            header = growth.loops[one]
            if header in rounds:
                extent = growth.periods[header] * rounds[header]
        yield extent
