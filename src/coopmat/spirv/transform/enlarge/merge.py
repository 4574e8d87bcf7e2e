"""Neighbouring work-groups become one, whose matrices are as large as all of theirs together.

A kernel whose work-groups are single sub-groups, each with tiles of its own, says for every tile where it lies: so many
rows and columns further for each work-group along an axis. Where that is just the tile's own extent, the tiles of
neighbours are one larger matrix in memory, and the kernel of a block of work-groups is the same kernel with larger
matrices (unroll and jam of the grid). A loop along K whose tiles follow each other takes several of them at once.

What is loaded and stored is checked (SPV_INTEL_joint_matrix), so that the last work-groups, and the last round of a
loop, touch nothing else than before. The kernel gets three more parameters: how many work-groups there were along each
axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from coopmat.spirv.analysis.control_flow import successors_of
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.analysis.polynomials import Atom
from coopmat.spirv.analysis.types import TypeTable
from coopmat.spirv.edit.functions import FunctionEditor, add_parameters, input_variable
from coopmat.spirv.grammar import BuiltIn, ExecutionModel, Op, Scope, StorageClass
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import Computed, Condition, Counter, Limit, Placing
from coopmat.spirv.transform.enlarge.effects import effect_of, said_of
from coopmat.spirv.transform.enlarge.fixed import fixed_of
from coopmat.spirv.transform.enlarge.flat import FlatProduct, Kinds, flat_products, kinds_of
from coopmat.spirv.transform.enlarge.growth import falling, growth_of
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.matrices import AXES, Matrices, NoMerge, no_merge, scope_of
from coopmat.spirv.transform.enlarge.requirements import Requirements
from coopmat.spirv.transform.enlarge.rewriting import Rewriting
from coopmat.spirv.transform.enlarge.runs import ALL, Runs
from coopmat.spirv.transform.enlarge.sizes import require_sizes
from coopmat.spirv.transform.facts import Facts
from coopmat.spirv.transform.fold import fold, remove_unused
from coopmat.spirv.transform.goal import Goal

_UNCHANGED = (StorageClass.Input, StorageClass.UniformConstant)
"""Of variables of a module that are the same for merged kernels and for all others."""


@dataclass(frozen=True)
class Block:
    """What is wanted. rows, columns: of an accumulator; None: as many as it has. depth: columns of A that a product in
    a loop takes at once. local_size: the work-items of a work-group; scope: of its matrices."""

    rows: int | None
    columns: int | None
    depth: int
    local_size: tuple[int, int, int]
    scope: Scope


@dataclass(frozen=True)
class Merged:
    """A kernel of merged work-groups. factors: how many groups are one along each axis, and groups: how many a
    work-group had; size: the work-items of one. conditions: what must hold in a launch; counters: the loops on whose
    rounds they depend, outer ones first; computed: the values in them that are. apart: pairs of arguments that may not
    share memory. row_axis: the axis along which rows follow each other. operand_axes: those along which each work-group
    has A, and B, of its own. runs: what its products take along K; the module by itself says nothing of them. limits:
    of the groups that take part, for which the conditions must hold; everywhere: what must hold for all."""

    module: Module
    factors: tuple[int, int, int]
    groups: tuple[int, int, int]
    size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    conditions: tuple[Condition, ...]
    counters: tuple[Counter, ...]
    computed: Mapping[int, Computed]
    apart: tuple[tuple[int, int], ...]
    row_axis: int
    operand_axes: tuple[tuple[int, ...], tuple[int, ...]]
    runs: Runs = ALL
    limits: tuple[Limit, ...] = ()
    everywhere: tuple[Condition, ...] = ()

    def shared(self, group_counts: Sequence[int]) -> tuple[bool, bool]:
        """Whether several of so many work-groups of this kernel take the same of A, and of B."""
        a, b = (any(count > 1 for axis, count in enumerate(group_counts) if axis not in own)
                for own in self.operand_axes)
        return a, b

    @property
    def repeats(self) -> bool:
        """Whether loops run as often in all launches with the same numbers: its own do, as it loads only matrices;
        those in functions of elements may ask for these."""
        own = {entry.function_id for entry in self.module.entry_points}
        return not any(target <= number for function in self.module.functions if function.id not in own
                       for number, found in enumerate(successors_of(function.blocks)) for target in found)

    def group_counts(self, before: Sequence[int]) -> tuple[int, int, int]:
        """The work-groups of a launch that had so many."""
        x, y, z = (-(-count // factor) for count, factor in zip(self.given(before), self.factors, strict=True))
        return x, y, z

    def given(self, group_counts: Sequence[int]) -> tuple[int, int, int]:
        """The arguments behind the kernel's own for so many work-groups: how many groups there are along each axis."""
        x, y, z = (count * own for count, own in zip(group_counts, self.groups, strict=True))
        return x, y, z

    def takes(self, arguments: Sequence[int], group_counts: Sequence[int]) -> bool:
        """Whether a launch with these arguments (integers with their sign) and so many work-groups may be merged."""
        return not self.refusal(arguments, group_counts)

    def refusal(self, arguments: Sequence[int], group_counts: Sequence[int]) -> str:
        """Why it may not; nothing if it may."""
        of_all = Requirements(self.everywhere, (), self.computed, self.groups, self.size)
        found = Requirements(self.conditions, self.counters, self.computed, self.groups, self.size, self.limits)
        return of_all.refusal(arguments, group_counts) or found.refusal(arguments, group_counts)


class Neighbours:
    """A kernel whose work-groups can be merged. ``module`` has values instead of variables, and no calls.

    Raises NoMerge, with the reason, where they cannot.
    """

    def __init__(self, module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int,
                 conditions: Sequence[Condition] = (), apart: Sequence[tuple[int, int]] = (),
                 placing: Placing | None = None, *, computed: Mapping[int, Computed] = MappingProxyType({}),
                 limits: Sequence[Limit] = (), everywhere: Sequence[Condition] = (), places_elements: bool = True,
                 packed: bool = True, converted: bool = True, in_runs: bool = False) -> None:
        """``conditions``: what must hold besides; ``apart``: pairs of arguments that may not share memory; ``placing``:
        of sub-groups that stand in one row; ``limits``: of the groups that take part; ``everywhere``: what must hold
        for all others, too; ``computed``: the values in all of these that are; ``places_elements``, ``packed``,
        ``converted``, ``in_runs``: see :class:`Matrices`."""
        scope = scope_of(module)
        if scope == Scope.Subgroup and local_size[0] % sub_group_size and math.prod(local_size) != sub_group_size:
            raise NoMerge(f"a work-group of {' x '.join(map(str, local_size))} work-items is not made of sub-groups of "
                          f"{sub_group_size} along its first axis")
        self.editor = FunctionEditor(module)
        self.entry = next(one for one in module.entry_points if one.name == kernel
                          and one.model == ExecutionModel.Kernel)
        self.body = next(one for one in self.editor.bodies if one.id == self.entry.function_id)
        self._check_variables(kernel)
        self.conditions, self.apart, self.computed = conditions, tuple(apart), computed
        self.limits, self.everywhere = limits, everywhere
        types, turned = TypeTable(module, sub_group_size), frozenset[int]()
        for _ in range(2):  # work-groups may be counted from the last one
            self.indices = Indices(self.editor, self.body, local_size, sub_group_size, scope, placing, turned)
            self.matrices = Matrices(self.indices, types, places_elements=places_elements, packed=packed,
                                     converted=converted, in_runs=in_runs)
            counted, turned = turned, falling(self.matrices)
            if not turned:
                break
        if not self.matrices.products:
            raise NoMerge("it multiplies no matrices")
        for limit in limits:
            if limit.from_last != (limit.axis in counted):
                raise NoMerge(f"a limit keeps the first groups from their matrices, not the last ones{limit.where}")
        self.fixed = fixed_of(self.matrices)
        self.growth = growth_of(self.matrices, self.fixed.axes)

    def _check_variables(self, kernel: str) -> None:
        """Refuse a kernel that uses variables of the module: merged kernels would not share them with others."""
        variables = {row.result_id: row for row in self.editor.head
                     if row.opcode == Op.Variable and row.words[0] not in _UNCHANGED}
        if not variables:
            return
        for row in reachable_instructions(self.editor.module, kernel):
            for word in row.ids():
                if word in variables:
                    is_local = variables[word].words[0] == StorageClass.Workgroup
                    what = "local memory" if is_local else "a variable of the program"
                    name = self.editor.module.names.get(word)
                    raise no_merge(self.editor, row, f"it uses {what}" + (f", '{name}'" if name else ""))

    @property
    def scope(self) -> Scope:
        """Of its matrices."""
        return self.indices.positions.scope

    def packed_otherwise(self, takes: Callable[[int], bool]) -> NoMerge | None:
        """A load of B that lies packed in memory, of which so many rows share a word as nobody takes. None if there is
        none."""
        for access in self.matrices.accesses:
            if access.together != 1 and not takes(access.together):
                return no_merge(self.editor, access.row, "B is packed in another order than the processor's "
                                                         "instructions take")
        return None

    @property
    def element_bytes(self) -> int:
        """Of an element of A, of the first product."""
        kind = self.matrices.kind(self.matrices.products[0].words[0])
        assert kind is not None
        return kind.component.size

    def flat_products(self) -> list[FlatProduct]:
        """The products in loops of which several rounds cannot be one: matrices of sums that are larger than registers
        are loaded and stored in each round."""
        return list(flat_products(self.matrices, self.growth))

    def kinds(self, product: Instruction) -> Kinds:
        """The types of a product's A, B and C."""
        return kinds_of(self.matrices, product)

    def refused(self, row: Instruction, reason: str) -> NoMerge:
        """A reason against merging, with the line where an instruction stands."""
        return no_merge(self.editor, row, reason)

    def changes_sums(self) -> bool:
        """Whether a loop changes sums by something else than products, so that it has all of them in each round."""
        added = {row.words[2] for row in self.matrices.products}
        phis = [row for header in self.indices.counters.keys() - self.growth.extents.keys()
                for row in self.body.block(header).instructions
                if row.opcode == Op.Phi and row.result_id in self.matrices.declared]
        return any(row.result_id not in added or not any(
            self.editor.definition(word).opcode in (Op.CooperativeMatrixMulAddKHR, Op.Phi) for word in row.words[::2])
            for row in phis)

    def sums(self) -> int:
        """How many matrices of sums a loop carries on, of those that take several rounds at once."""
        return max((sum(row.words[2] == phi.result_id for phi in self.body.block(header).instructions
                        if phi.opcode == Op.Phi for row in self.matrices.products)
                    for header in self.growth.extents), default=1)

    def lies_by_columns(self, use: Use) -> bool:
        """Whether a matrix of a use lies in memory by columns."""
        return any(not access.by_rows for access in self.matrices.accesses
                   if (kind := self.matrices.kind(access.matrix)) is not None and kind.use == use)

    def lies_by_rows(self, use: Use, nbytes: int) -> bool:
        """Whether all matrices of a use are loaded by rows, of elements of so many bytes."""
        found = [(access.by_rows, kind.component.size) for access in self.matrices.accesses
                 if (kind := self.matrices.kind(access.matrix)) is not None and kind.use == use]
        return bool(found) and set(found) == {(True, nbytes)}

    def extents(self, group_counts: Sequence[int]) -> tuple[int, int]:
        """Rows and columns of what all work-groups compute together."""
        found = [1, 1]
        for place, axis, step in self._sums():
            found[place] = max(found[place], group_counts[axis] * self.indices.positions.groups[axis] * step)
        rows, columns = found
        return rows, columns

    def own_extents(self) -> tuple[int, int]:
        """Rows and columns of the accumulators of one group; 1 where they do not grow."""
        found = [1, 1]
        for place, _, step in self._sums():
            found[place] = max(found[place], step)
        rows, columns = found
        return rows, columns

    def axis_of(self, place: int) -> int:
        """The axis of the grid along which rows (0) or columns (1) of accumulators grow; the other one's neighbour
        where they do not."""
        axes = {one: axis for one, axis, _ in self._sums()}
        return axes.get(place, 1 - min(axes.get(1 - place, 0), 1))

    def _sums(self) -> Iterator[tuple[int, int, int]]:
        """For rows (0) and columns (1) of accumulators: the axis along which they grow, and what a work-group has."""
        for row in self.matrices.products:
            for place in range(2):
                axis = self.growth.axes.get(self.matrices.dimensions.find((row.result_id or 0, place)))
                if axis is not None:
                    yield place, axis, self.growth.steps[axis]

    def merged(self, block: Block) -> Merged:
        """The kernel of merged work-groups; only once. NoMerge if such blocks are no whole number of them."""
        growth, factors = self.growth, self._factors(block)
        rounds = {header: count for header in growth.extents
                  if (count := growth.rounds(header, block.depth)) > 1 and self._is_alike(header, factors)}
        if factors == (1, 1, 1) and block.scope == self.scope and all(one.sizes for one in self.matrices.accesses):
            raise NoMerge("its matrices are as large as those of a block of work-groups would be")
        writer = Rewriting(self.matrices, growth, factors, rounds, block.scope, self._position(), self.fixed.numbers,
                           self.limits, self.computed)
        writer.done()
        self._take_counts(writer.counts)
        require_sizes(self.editor, self.entry.function_id, block.local_size,
                      sub_groups=block.scope == Scope.Subgroup)
        remove_unused(Facts(self.editor), self.body)
        self._check(writer, rounds)
        module = fold(self.editor.done(), Goal(), lambda _: None)
        return Merged(module, factors, self.indices.positions.groups, self.indices.positions.size, block.local_size,
                      (*writer.conditions, *self.conditions), tuple(self.indices.counters.values()),
                      {**self.computed, **self.indices.computed}, self.apart, self.axis_of(0),
                      (self._axes_of(Use.MatrixAKHR), self._axes_of(Use.MatrixBKHR)), growth.runs(rounds),
                      tuple(self.limits), tuple(self.everywhere))

    def _axes_of(self, use: Use) -> tuple[int, ...]:
        """The axes of the grid on which it depends where all matrices of a use are loaded."""
        found = [{atom.number for value in (access.line, access.along) for atom in self.indices.atoms(value)
                  if atom.kind in ("group", "outer", "inner")}
                 for access in self.matrices.accesses if access.is_load
                 and (kind := self.matrices.kind(access.matrix)) is not None and kind.use == use]
        return tuple(sorted(set.intersection(*found))) if found else ()

    def _is_alike(self, header: int, factors: Sequence[int]) -> bool:
        """Whether all groups that become one run a loop equally often."""
        counter = self.indices.counters[header]
        own = {Atom("group", axis) for axis, factor in enumerate(factors) if factor > 1}
        return own.isdisjoint(counter.start.atoms | counter.limit.atoms)

    def _factors(self, block: Block) -> tuple[int, int, int]:
        """How many work-groups are one along each axis."""
        found = [1] * AXES
        for place, axis, step in self._sums():
            wanted = (block.rows, block.columns)[place] or step
            if wanted % step:
                raise NoMerge(f"blocks of {wanted} rows or columns are no whole tiles of {step}")
            found[axis] = wanted // step
        x, y, z = found
        return x, y, z

    # --- the module -------------------------------------------------------------------------

    def _position(self) -> int:
        """The variable with the position of the work-group."""
        editor = self.editor
        vector = editor.unique(Op.TypeVector, editor.unique(Op.TypeInt, 64, 0), AXES)
        return input_variable(editor, self.entry.function_id, BuiltIn.WorkgroupId, vector)

    def _take_counts(self, counts: Sequence[int]) -> None:
        """Give the kernel its new parameters."""
        long = self.editor.unique(Op.TypeInt, 64, 0)
        add_parameters(self.editor, self.body, [long] * len(counts), counts)

    def _check(self, writer: Rewriting, rounds: Iterable[int]) -> None:
        """Refuse a kernel of which something else than where its matrices lie depends on the position of the work-group
        or work-item, or on how often a loop whose rounds were put together has run."""
        for row in self.body.rows():
            builtin = self.indices.builtin(row)
            if builtin is not None and row.result_id not in writer.own:
                effect = effect_of(self.editor, self.body, row.result_id or 0)
                raise no_merge(self.editor, effect or row, f"{said_of(self.editor, effect or row)} depends on "
                                                           f"{builtin.name}")
        for header in rounds:
            for row in self.body.block(header).instructions:
                if row.opcode == Op.Phi and row.result_id not in writer.own and row.result_id not in (
                        self.matrices.declared):
                    effect = effect_of(self.editor, self.body, row.result_id or 0) or row
                    raise no_merge(self.editor, effect, f"{said_of(self.editor, effect)} depends on how often a loop "
                                                        "has run")
