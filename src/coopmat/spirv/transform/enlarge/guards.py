"""Branches that keep work-groups within the limits of matrices: ``if (row >= m) return;``.

Where a launch has more work-groups than there are tiles, those beyond a limit do nothing. Is the limit the same for all
work-groups of a launch, then it says how many of them take part along an axis, and the kernel that these run has no
such branch (:class:`Limit`). What else compares a position with a limit has one result in launches of which no
work-group is beyond it; that this is so is a condition of the launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import Body, FunctionEditor, replace_uses
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Computed, Condition, Limit, Placing
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.matrices import scope_of, taken_apart
from coopmat.spirv.transform.enlarge.order import has_effects
from coopmat.spirv.transform.facts import Facts
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal

_COMPARISONS = frozenset({Op.SLessThan, Op.ULessThan, Op.SLessThanEqual, Op.ULessThanEqual, Op.SGreaterThan,
                          Op.UGreaterThan, Op.SGreaterThanEqual, Op.UGreaterThanEqual})
_POSITIONS = frozenset({"group", "outer", "inner", "local"})
_KNOWN = _POSITIONS | {"argument", "groups"}
_OF_LAUNCH = frozenset({"argument", "groups"})
_DIVISIONS = frozenset({"truncated", "rounded down", "rest"})
_BEYOND = "work-groups of the launch are beyond a limit that the kernel compares their position with"
_PARTS = "a limit of positions parts the work-items of a group"
_MOST = (1 << ADDRESS_BITS - 1) - 1


_Ways = dict[bool, tuple[Polynomial, list[Condition]]]


class Guarded(NamedTuple):
    """A kernel for the work-groups within limits. everywhere: what must hold for all work-groups of a launch, so that
    the limits tell which these are; conditions: what must hold for these; computed: the values in all of them that
    are."""

    module: Module
    limits: tuple[Limit, ...] = ()
    everywhere: tuple[Condition, ...] = ()
    conditions: tuple[Condition, ...] = ()
    computed: Mapping[int, Computed] = MappingProxyType({})


def without_guards(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int,
                   placing: Placing | None = None, *, asks: bool = True) -> Guarded:
    """A kernel without branches that keep work-groups within limits. ``module`` has values instead of variables;
    ``asks``: whether a launch can be asked if all its work-groups are. NoMerge for matrices of several scopes."""
    return _Guards(module, kernel, local_size, sub_group_size, placing, asks=asks).done()


class _Guards:
    """The comparisons of a kernel."""

    def __init__(self, module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int,
                 placing: Placing | None, *, asks: bool) -> None:
        self.module, self.kernel, self.asks = module, kernel, asks
        self.editor, self.body = taken_apart(module, kernel)
        self.indices = Indices(self.editor, self.body, local_size, sub_group_size, scope_of(module), placing)
        self.limits: dict[Limit, None] = {}
        self.everywhere: dict[Condition, None] = {}
        self.conditions: dict[Condition, None] = {}
        self.compared = {row: ways for row in self.body.rows() if (ways := self._ways(row))}

    def done(self) -> Guarded:
        """The kernel without them."""
        found = {row.result_id or 0: inside for row in self.compared if (inside := self._inside(row)) is not None}
        if not found:
            return Guarded(self.module)
        _replace(self.editor, self.body, found)
        kept = (one for one in self.indices.conditions if self.indices.is_made_of(one.value, _KNOWN))
        return Guarded(fold(self.editor.done(), Goal(), lambda _: None), tuple(self.limits),
                       tuple(dict.fromkeys((*self.everywhere, *kept))), tuple(self.conditions), self.indices.computed)

    def _ways(self, row: Instruction) -> _Ways:
        """For each result of a comparison of a position, a number that is negative where it has that, and what must
        hold for this; empty for other instructions."""
        if row.opcode not in _COMPARISONS or not self.indices.is_integer(row.words[0]):
            return {}
        ways = {holds: found for holds in (True, False)
                if (found := self.indices.negative(row, holds=holds)) is not None}
        return ways if all(self._is_position(value) for value, _ in ways.values()) else {}

    def _inside(self, row: Instruction) -> bool | None:
        """What a comparison gives within its limit; None if it has none."""
        ways = self.compared[row]
        ends = [holds for holds in ways if self._ends(ways[not holds][0])]
        for holds in ends:
            if self._limit(row, *ways[holds]):
                return holds
        sides = map(self.indices.of, row.words)
        if not self.asks or not any(self.indices.is_made_of(side, ("argument",)) for side in sides):
            return None
        rising = [holds for holds, (value, _) in ways.items() if self._rises(value)]
        holds = next(iter((*ends, *rising)), True)
        value, fits = ways[holds]
        within = -value - Polynomial.constant(1)
        self.conditions |= dict.fromkeys((Condition(within, 0, _MOST, _BEYOND, where=self.indices.line(row)), *fits))
        return holds

    def _is_position(self, value: Polynomial) -> bool:
        """Whether a number is made of positions, and of what is known when a kernel is launched."""
        return any(atom.kind in _POSITIONS for atom in value.atoms) and self.indices.is_made_of(value, _KNOWN)

    def _rises(self, value: Polynomial) -> bool:
        """Whether a number rises with positions."""
        return any(factor > 0 for monomial, factor in value.terms if any(one.kind in _POSITIONS for one in monomial))

    def _ends(self, value: Polynomial) -> bool:
        """Whether the kernel does nothing where a number is negative."""
        editor, body = taken_apart(self.module, self.kernel)
        _replace(editor, body, {row.result_id or 0: holds for row, ways in self.compared.items()
                                for holds in ways if ways[holds][0] == value})
        editor, body = taken_apart(fold(editor.done(), Goal(), lambda _: None), self.kernel)
        facts = Facts(editor)
        return not any(has_effects(facts, one) for block in body.blocks for one in block.instructions[:-1])

    # --- limits -----------------------------------------------------------------------------

    def _limit(self, row: Instruction, value: Polynomial, fits: Sequence[Condition]) -> bool:
        """Note the limit of a number that is negative within it; whether it is one of the first groups along an axis.
        """
        found = [atom for atom in self.indices.atoms(value) if atom.kind in _POSITIONS and atom.kind != "local"]
        if len(found) != 1 or found[0].kind not in ("group", "outer"):
            return False
        (position,) = found
        factor = value.coefficient(position)
        step, from_last = (0 if factor is None else factor.known or 0), False
        if step < 0 and position.kind == "group":
            last = Polynomial.atom("groups", position.number) - Polynomial.constant(1)
            value = value.replaced({position: last - Polynomial.atom("group", position.number)})
            step, from_last = -step, True
        if step <= 0:
            return False
        rest = value - Polynomial.atom(position.kind, position.number).scaled(step)
        whole = self._of_first_item(rest, step)
        if whole is None or not self._is_of_launch(whole) or (
                from_last and Atom("groups", position.number) in self.indices.atoms(whole)):
            return False
        if whole != rest:
            self.everywhere[Condition(whole, -_MOST, _MOST, _PARTS, step, self.indices.line(row))] = None
        self.everywhere |= dict.fromkeys(fits)
        times = self.indices.positions.groups[position.number] if position.kind == "outer" else 1
        self.limits[Limit(position.number, -whole, step, times, from_last, self.indices.line(row))] = None
        return True

    def _is_of_launch(self, value: Polynomial) -> bool:
        """Whether a number is computed of what a launch has, without divisors that are never positive."""
        divisions = [one for atom in self.indices.atoms(value) if atom.kind == "value"
                     and (one := self.indices.computed.get(atom.number)) is not None and one.operation in _DIVISIONS]
        return self.indices.is_made_of(value, _OF_LAUNCH) and all(
            one.other.known is None or one.other.known > 0 for one in divisions)

    def _of_first_item(self, rest: Polynomial, step: int) -> Polynomial | None:
        """What a number is in the first work-item of a group, if it is less than a step more in the others."""
        locals_ = [atom for atom in self.indices.atoms(rest) if atom.kind == "local"]
        most = 0
        for atom in locals_:
            factor = rest.coefficient(atom)
            if factor is None or factor.known is None or factor.known < 0:
                return None
            most += factor.known * (self.indices.positions.size[atom.number] - 1)
        return rest.replaced({atom: Polynomial() for atom in locals_}) if most < step else None


def _replace(editor: FunctionEditor, body: Body, results: Mapping[int, bool]) -> None:
    """Put constants in the place of comparisons."""
    kind = editor.unique(Op.TypeBool)
    replace_uses(body, {one: editor.unique(Op.ConstantTrue if holds else Op.ConstantFalse, type_id=kind)
                        for one, holds in results.items()})
