"""Blocks of work-groups instead of single ones: which a kernel of sub-groups is merged to, for one launch.

A kernel whose sub-groups have a tile each becomes one with matrices of as many rows and columns as several of them
have together (spirv/transform/enlarge/), and of as much of K as caches hold: what matrix/product/ is for. The order of
sums stays, and so do results, bit for bit.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from coopmat.devices import CPU
from coopmat.devices.subgroup_layout import SubGroupMatrixRow
from coopmat.diagnostics import Error
from coopmat.formats import format_of
from coopmat.spirv.analysis.matrix_uses import multiply_accumulate_of
from coopmat.spirv.analysis.types import FloatType, MatrixType, TypeTable
from coopmat.spirv.edit.processing import schedule_of
from coopmat.spirv.grammar import CooperativeMatrixOperands, ExecutionModel, Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.transform.alone import alone
from coopmat.spirv.transform.enlarge.conditions import Computed, Condition, Placing, placings
from coopmat.spirv.transform.enlarge.element_stores import stored_elements
from coopmat.spirv.transform.enlarge.grids import Grid, grid_of
from coopmat.spirv.transform.enlarge.guards import without_guards
from coopmat.spirv.transform.enlarge.matrices import no_merge_at
from coopmat.spirv.transform.enlarge.merge import Block, Merged, Neighbours, NoMerge
from coopmat.spirv.transform.enlarge.pack import packed
from coopmat.spirv.transform.enlarge.pipelines import in_turn
from coopmat.spirv.transform.raise_products import NotRaised, has_products, raised
from coopmat.spirv.transform.raising.kernel import AsItIs
from coopmat.spirv.transform.raising.spots import PRODUCT
from coopmat.spirv.transform.without_variables import with_values, without_variables
from coopmat.support.schedules import OPTION
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.matrix.body import Features, is_large
from coopmat.targets.cpu.matrix.product.unit import LINE, Unit, unit_of
from coopmat.targets.cpu.matrix.vnni import can_multiply
from coopmat.targets.cpu.options import HARDWARE
from coopmat.targets.cpu.worth import Costs, check_worth, costs_of
from coopmat.targets.llvm.values import bits_of

VARIABLE = "COOPMAT_MERGE"
@dataclass(frozen=True)
class _Depth:
    """Along K: the elements that the kernel's own products have; those that one instruction must take at most, so that
    sums stay what they are, 0 for any number. unit: what multiplies. rounds: whether a product rounds its sums to fewer
    bits than they are formed in."""

    unit: Unit
    own: int
    step: int
    rounds: bool

    def block(self, costs: Costs, columns: int) -> int:
        """The elements that a block takes, in a launch of so many columns; 0: as in those of most columns."""
        if self.rounds:
            return self.own
        words = costs.words(columns)
        return max(self.own, words * self.unit.together // self.own * self.own)


@dataclass(frozen=True)
class MergedForm:
    """A kernel of merged work-groups. step: see :class:`~.matrix.operation.Product`; is_raised: whether its products
    were those of Intel's sub-group functions."""

    merged: Merged
    step: int
    is_raised: bool = False


@dataclass(frozen=True)
class Launch:
    """What a merged form depends on, beside the kernel. wish: how many work-groups become one down and across; (0, 0)
    for none, None for as many as is best."""

    local_size: tuple[int, ...]
    group_counts: tuple[int, ...]
    threads: int
    wish: tuple[int, int] | None


class _Source(NamedTuple):
    """A kernel with cooperative matrices as values, and what must hold in its launches; see :class:`Merged`."""

    module: Module
    conditions: tuple[Condition, ...] = ()
    computed: Mapping[int, Computed] = MappingProxyType({})
    apart: tuple[tuple[int, int], ...] = ()


def _or_raised(found: _Source | NoMerge) -> _Source:
    """What was found, or why nothing was."""
    if isinstance(found, NoMerge):
        raise found
    return found


class Merging:
    """The merged forms of a module's kernels, on a processor with these features."""

    def __init__(self, module: Module, features: Features) -> None:
        self._given, self._features = module, features
        self._block = schedule_of(module).block
        self._own: dict[tuple[str, int], _Source | NoMerge] = {}
        self._raised: dict[tuple[object, ...], _Source | NoMerge] = {}

    def _kernel(self, kernel: str, sub_group_size: int) -> _Source:
        """A kernel by itself, with values instead of variables. NoMerge, with the reason, for one that stores elements
        otherwise than as matrices."""
        key = kernel, sub_group_size
        if key not in self._own:
            try:
                found = stored_elements(without_variables(alone(self._given, kernel)), kernel)
                module = with_values(found.module, element_loops=False, device=CPU, sub_group_size=sub_group_size)
                self._own[key] = _Source(module, found.conditions, apart=found.apart)
            except NoMerge as reason:
                self._own[key] = reason
        return _or_raised(self._own[key])

    def raises(self, kernel: str) -> bool:
        """Whether a kernel's products are of vectors that work-items hold, by Intel's sub-group functions."""
        entry = next(one for one in self._given.entry_points if one.name == kernel
                     and one.model == ExecutionModel.Kernel)
        return has_products(self._given, entry.function_id)

    def _source(self, kernel: str, variant: Variant, launch: Launch) -> _Source:
        """What is merged of a kernel: its products are those of cooperative matrices."""
        if not self.raises(kernel):
            return self._kernel(kernel, variant.sub_group_size)
        key = kernel, launch.local_size, variant.sub_group_size
        if key not in self._raised:
            try:
                found = raised(alone(self._given, kernel), kernel, launch.local_size, variant.sub_group_size,
                               self._form)
                self._raised[key] = _Source(found.module, found.conditions, found.computed)
            except NotRaised as reason:
                self._raised[key] = NoMerge("its products of Intel's sub-group functions do not become those of "
                                            f"cooperative matrices: {reason}")
        return _or_raised(self._raised[key])

    def _form(self, row: SubGroupMatrixRow) -> AsItIs:
        """How a product of work-items' vectors is one of matrices with the same bits: sums of floating-point numbers
        are formed in ascending k, by fused multiply-adds of floats."""
        a, b, c, d = row.formats
        if format_of(a).is_integer or unit_of((a, b, c, d), False, self._features).kind == "numbers":
            return "same"
        return "fp32" if c == "fp32" else "no"

    def step(self, kernel: str, variant: Variant) -> int:
        """How much of K an instruction takes at most, so that sums stay what they are; 0 for any number."""
        return 0 if self.raises(kernel) else _depth(alone(self._given, kernel), variant, self._features).step

    def of(self, kernel: str, variant: Variant, launch: Launch) -> Merged:
        """The fastest merged form of a kernel for a launch. NoMerge, with the reason, if there is none."""
        try:
            return self._placed(kernel, variant, launch, None)
        except NoMerge as reason:
            found = [form for one in placings(launch.local_size, variant.sub_group_size)
                     if (form := self._placed_or_none(kernel, variant, launch, one)) is not None]
            if not found:
                raise reason from None
        return max(found, key=lambda form: math.prod(form.factors))

    def is_wanted(self, variant: Variant, launch: Launch) -> bool:
        """Whether a launch might be merged if its kernel was another one."""
        try:
            self.check(variant, launch)
        except NoMerge:
            return False
        return True

    def grid(self, kernel: str, variant: Variant, launch: Launch) -> Grid | None:
        """A kernel that numbers its tiles as one of a grid of work-groups; None if it does not. NoMerge, with the
        reason, if it is none though it does."""
        if self.raises(kernel):
            return None
        module = with_values(alone(self._given, kernel), element_loops=False, device=CPU)
        return grid_of(module, kernel, launch.local_size, variant.sub_group_size, launch.group_counts)

    def _placed_or_none(self, kernel: str, variant: Variant, launch: Launch, placing: Placing) -> Merged | None:
        try:
            return self._placed(kernel, variant, launch, placing)
        except NoMerge:
            return None

    def _placed(self, kernel: str, variant: Variant, launch: Launch, placing: Placing | None) -> Merged:
        """The form with sub-groups that are placed in a way."""
        local_size = launch.local_size
        source = self._source(kernel, variant, launch)
        depth = _depth(source.module, variant, self._features)
        guarded = without_guards(source.module, kernel, local_size, variant.sub_group_size, placing)
        module, of_rounds, more = in_turn(guarded.module, kernel, local_size, variant.sub_group_size, placing)
        module, conditions, apart = packed(module, kernel, local_size, variant.sub_group_size, placing,
                                           chains=not depth.rounds)
        conditions = (*source.conditions, *guarded.conditions, *of_rounds, *conditions)
        apart = (*source.apart, *apart)
        found = Neighbours(module, kernel, local_size, variant.sub_group_size, conditions, apart, placing,
                           computed={**source.computed, **guarded.computed, **more}, limits=guarded.limits,
                           everywhere=guarded.everywhere, in_runs=not depth.rounds)
        own, extents = found.own_extents(), found.extents(launch.group_counts)
        if launch.wish is None and self._block is None:
            check_worth(found, depth.unit, self._features, extents, rounds=depth.rounds)
        costs = costs_of(found, depth.unit, self._features, extents)
        if launch.wish is not None:
            rows, columns = own[0] * launch.wish[0], own[1] * launch.wish[1]
        else:
            tiles = math.prod(-(-size // tile) for size, tile in zip(extents, own, strict=True))
            groups = math.prod(launch.group_counts) * math.prod(found.indices.positions.groups)
            threads = -(-launch.threads // max(1, groups // tiles))  # others have the C of other work-groups
            rows, columns = self._block or costs.shape(extents, own, threads)
        block = depth.block(costs, 0 if found.changes_sums() else extents[1])
        if (rows, columns) == own and block == depth.own and found.scope == Scope.Subgroup:
            raise NoMerge("a block of work-groups would be one work-group")
        return found.merged(Block(rows, columns, block, (variant.sub_group_size, 1, 1), Scope.Subgroup))

    def check(self, variant: Variant, launch: Launch) -> None:
        """Refuse, with NoMerge, what is not asked for, or not worth it."""
        if self._block == (0, 0):
            raise NoMerge(f"{OPTION}block:none")
        if launch.wish == (0, 0):
            raise NoMerge(f"{VARIABLE}=0")
        if variant.is_checked:
            raise NoMerge("accesses are checked one by one")
        if variant.pauses:
            raise NoMerge("races between sub-groups are looked for")
        if variant.numerics != HARDWARE:
            raise NoMerge(f"products have the numerics '{variant.numerics}'")
        if not any(True for _ in self._given.of_opcode(Op.CooperativeMatrixMulAddKHR, PRODUCT)):
            raise NoMerge("it multiplies no matrices")

def _depth(module: Module, variant: Variant, features: Features) -> _Depth:
    """How much of K a block takes."""
    units, depths, sums = set(), set(), set()
    types = TypeTable(module, variant.sub_group_size)
    for row in module.of_opcode(Op.CooperativeMatrixMulAddKHR):
        a, b, c, d = (_kind(types, module, word) for word in (*row.words[:3], row.result_id or 0))
        use = multiply_accumulate_of(a, b, c, d, CooperativeMatrixOperands(row.words[3] if len(row.words) > 3 else 0),
                                     row)
        unit = unit_of(use.formats, use.saturating, features)
        if unit.kind == "pairs" and not any(map(is_large, (a, b, c))) and not can_multiply(
                features, (a, b, c), [format_of(name) for name in use.formats]):
            raise no_merge_at(module, row, f"products of {a.rows}x{b.columns}x{a.columns} are rounded otherwise than "
                                           "those of blocks, whose instructions take two numbers along K at once")
        units.add(unit)
        depths.add(a.columns)
        sums.add(d.component)
        if len(units) > 1 or len(depths) > 1:
            raise no_merge_at(module, row, "its products are of different types or of different K, such as this one "
                                           "and one before")
    if not units:
        raise NoMerge("it multiplies no matrices")
    (unit,), (own,) = units, depths
    rounds = any(isinstance(one, FloatType) and 8 * one.size < bits_of(unit.total) for one in sums)
    is_checked = any(True for _ in module.of_opcode(Op.CooperativeMatrixLoadCheckedINTEL))
    try:
        return _Depth(unit, own, _step(unit, own, is_checked=is_checked), rounds)
    except NoMerge as reason:
        raise no_merge_at(module, row, str(reason)) from None


def _kind(types: TypeTable, module: Module, identifier: int) -> MatrixType:
    kind = types[module.definition(identifier).type_id or 0]
    assert isinstance(kind, MatrixType)
    return kind


def _step(unit: Unit, own: int, *, is_checked: bool) -> int:
    """Tiles of floating-point numbers add up the products of one instruction by themselves; vectors take lines of
    words, and what stands behind the last round in one must not even make 0 of -0. What is loaded and checked has
    zeros of its own there."""
    if not unit.is_float:
        return 0
    most = LINE // unit.word_bytes * unit.together
    if unit.kind != "tiles":
        return own if own % most and not is_checked else 0
    if own > most and own % most:
        raise NoMerge(f"of its K of {own} an instruction takes {most}, and at the end of each less")
    return min(own, most)


def wished(environment: Mapping[str, str] = os.environ) -> tuple[int, int] | None:
    """How many work-groups become one down and across, as COOPMAT_MERGE says; (0, 0) for none. Error for anything that
    it cannot be."""
    text = environment.get(VARIABLE, "").strip()
    if not text:
        return None
    if text == "0":
        return 0, 0
    found = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})", text)
    if found is None:
        raise Error(f"{VARIABLE}: expected 0, or how many work-groups become one down and across, such as 4x4; found "
                    f"'{text}'")
    return int(found[1]), int(found[2])
