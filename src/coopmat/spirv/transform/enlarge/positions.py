"""Where a group stands in a launch: built-in values as numbers of groups, and of work-items in one."""

from __future__ import annotations

import math
from collections.abc import Collection

from coopmat.spirv.analysis.polynomials import Atom, Polynomial, Range
from coopmat.spirv.grammar import BuiltIn, Scope
from coopmat.spirv.transform.enlarge.conditions import Placing


class Positions:
    """Those of a kernel with work-groups of a size. Each sub-group counts as a group of its own, unless the matrices
    are those of work-groups (``scope``): ``groups`` are those of a work-group along each axis, ``size`` the work-items
    of one. ``placing``: how sub-groups in one row are taken otherwise; ``turned``: the axes along which they are
    counted from the last one.
    """

    def __init__(self, local_size: tuple[int, int, int], sub_group_size: int, scope: Scope, placing: Placing | None,
                 turned: Collection[int] = ()) -> None:
        x, y, z = local_size
        is_split = scope == Scope.Subgroup and x % sub_group_size == 0
        self.scope, self.local_size, self.sub_group_size = scope, local_size, sub_group_size
        self.groups = (x // sub_group_size, y, z) if is_split else (1, 1, 1)
        self.size = (sub_group_size, 1, 1) if is_split else local_size
        self.placing = placing if is_split else None
        if self.placing is not None:
            self.groups = (self.placing.across, self.placing.down, 1)
        self._turned = {Atom(kind, axis): self._last(kind, axis) - Polynomial.atom(kind, axis)
                        for axis in turned for kind in ("group", "outer")}

    def _last(self, kind: str, axis: int) -> Polynomial:
        """The number of the last group, or work-group, along an axis."""
        return Polynomial.atom("outers" if kind == "outer" and self.groups[axis] > 1 else "groups",
                               axis) - Polynomial.constant(1)

    def component(self, builtin: BuiltIn, axis: int) -> Polynomial | None:
        """What a component of a built-in value is; None if nothing is known of it."""
        found = self._component(builtin, axis)
        return None if found is None else found.replaced(self._turned)

    def _component(self, builtin: BuiltIn, axis: int) -> Polynomial | None:
        """The same, counted from the first group."""
        own, size = self._inner(axis), self.size[axis]
        lane = Polynomial.atom("local", axis) if size > 1 else Polynomial()
        groups = Polynomial.atom("groups", axis)
        whole = Polynomial.constant(self.local_size[axis])
        if self.placing is not None:
            return self._component_of_row(builtin, axis)
        found = {BuiltIn.WorkgroupId: self._outer(axis), BuiltIn.LocalInvocationId: own.scaled(size) + lane,
                 BuiltIn.GlobalInvocationId: Polynomial.atom("group", axis).scaled(size) + lane,
                 BuiltIn.GlobalSize: groups.scaled(size), BuiltIn.GlobalOffset: Polynomial(),
                 BuiltIn.WorkgroupSize: whole, BuiltIn.EnqueuedWorkgroupSize: whole,
                 BuiltIn.NumWorkgroups: groups if self.groups[axis] == 1 else Polynomial.atom("outers", axis)}
        return found.get(builtin)

    def _component_of_row(self, builtin: BuiltIn, axis: int) -> Polynomial | None:
        """The same where a row of sub-groups is taken as a grid."""
        size = self.local_size[axis]
        own = self._number.scaled(self.size[0]) + Polynomial.atom("local", 0) if axis == 0 else Polynomial()
        return {BuiltIn.WorkgroupId: self._outer(axis), BuiltIn.LocalInvocationId: own,
                BuiltIn.GlobalInvocationId: self._outer(axis).scaled(size) + own,
                BuiltIn.GlobalOffset: Polynomial(), BuiltIn.WorkgroupSize: Polynomial.constant(size),
                BuiltIn.EnqueuedWorkgroupSize: Polynomial.constant(size)}.get(builtin)

    def number(self, builtin: BuiltIn) -> Polynomial | None:
        """What a built-in value is that is a number; None if nothing is known of it."""
        found = self._linear() if builtin == BuiltIn.GlobalLinearId else self._number_of(builtin)
        return None if found is None else found.replaced(self._turned)

    def _linear(self) -> Polynomial | None:
        """The number of a work-item in the whole launch."""
        total = Polynomial()
        for axis in reversed(range(len(self.groups))):
            size, own = (self._component(one, axis) for one in (BuiltIn.GlobalSize, BuiltIn.GlobalInvocationId))
            if size is None or own is None:
                return None
            total = total * size + own
        return total

    def _number_of(self, builtin: BuiltIn) -> Polynomial | None:
        """The same of other built-in values, counted from the first group."""
        size = Polynomial.constant(self.sub_group_size)
        found = {BuiltIn.SubgroupSize: size, BuiltIn.SubgroupId: self._number, BuiltIn.SubgroupMaxSize: size,
                 BuiltIn.NumSubgroups: Polynomial.constant(math.prod(self.groups))}
        if self.size == (self.sub_group_size, 1, 1):
            found[BuiltIn.SubgroupLocalInvocationId] = Polynomial.atom("local", 0)
        return found.get(builtin)

    def divided(self, value: Polynomial, divisor: int) -> tuple[Polynomial, Polynomial] | None:
        """A number as a multiple of a divisor, and a rest that lies below it; None if that is not seen."""
        axes = [axis for axis, own in enumerate(self.groups) if own > 1]
        split = {Atom("group", axis): self._outer(axis).scaled(self.groups[axis]) + Polynomial.atom("inner", axis)
                 for axis in axes}
        whole, rest = value.replaced(split).divided(Polynomial.constant(divisor))
        bounds = rest.range(self._inner_ranges)
        if bounds is None or bounds[0] < 0 or bounds[1] >= divisor:
            return None
        back = {Atom("inner", axis): self._inner(axis) for axis in axes}
        return whole.replaced(back), rest.replaced(back)

    @property
    def _inner_ranges(self) -> dict[Atom, Range]:
        """Those of positions in the work-group."""
        return {Atom(kind, axis): (0, size - 1) for kind, sizes in (("local", self.size), ("inner", self.groups))
                for axis, size in enumerate(sizes)}

    @property
    def _number(self) -> Polynomial:
        """That of a sub-group in its work-group."""
        x, y, _ = self.groups
        steps = (y, 1, x * y) if self.placing is not None and self.placing.by_columns else (1, x, x * y)
        return Polynomial().plus(self._inner(axis).scaled(step) for axis, step in enumerate(steps))

    def _outer(self, axis: int) -> Polynomial:
        """The position of the work-group."""
        return Polynomial.atom("outer" if self.groups[axis] > 1 else "group", axis)

    def _inner(self, axis: int) -> Polynomial:
        """The position of the group in its work-group."""
        return Polynomial.atom("group", axis) - self._outer(axis).scaled(self.groups[axis])
