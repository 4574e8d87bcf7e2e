"""Which matrices of a kernel grow, and along what, when work-groups are merged."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coopmat.spirv.analysis.matrix_uses import transposes
from coopmat.spirv.analysis.places import in_line, place_of
from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import CONVERSIONS, CooperativeMatrixOperands, ExecutionModel, Op, Scope, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.cut.cutting import ELEMENTWISE
from coopmat.spirv.transform.enlarge.accesses import LOADS, STORES, Access, NotRegular, access_of
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS
from coopmat.spirv.transform.enlarge.dimensions import Dimension, Dimensions
from coopmat.spirv.transform.enlarge.effects import access_to, holds_matrix, said_of
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.runs import ALL, Runs
from coopmat.spirv.transform.facts import Facts

AXES = 3
PREFETCH = Op.CooperativeMatrixPrefetchINTEL
_FUNCTION = Op.CooperativeMatrixPerElementOpEXT
CONSTANTS = frozenset({Op.ConstantNull, Op.ConstantComposite, Op.Undef})
"""What makes a matrix of any extent."""


class NoMerge(Exception):
    """Why work-groups cannot be merged."""


def no_merge(editor: FunctionEditor, row: Instruction, reason: str) -> NoMerge:
    """Why they cannot, and the line of the source where it stands, if the module tells."""
    return no_merge_at(editor.module, row, reason)


def no_merge_at(module: Module, row: Instruction, reason: str) -> NoMerge:
    """The same for an instruction of a module."""
    return NoMerge(reason + line_of(module, row))


def line_of(module: Module, row: Instruction) -> str:
    """The line where an instruction stands, as messages end, if the module tells."""
    place = place_of(module, row)
    return "" if place is None else in_line(place)


def taken_apart(module: Module, kernel: str) -> tuple[FunctionEditor, Body]:
    """An editor of a module, and the body of a kernel in it."""
    editor = FunctionEditor(module)
    entry = next(one for one in module.entry_points if one.name == kernel and one.model == ExecutionModel.Kernel)
    return editor, next(one for one in editor.bodies if one.id == entry.function_id)


def no_merge_of_variable(editor: FunctionEditor, body: Body, row: Instruction) -> NoMerge:
    """Why a function with a variable in memory cannot be merged."""
    return no_merge(editor, access_to(body, row), "components of a matrix are taken one by one"
                    if holds_matrix(editor, row) else "it has variables in memory")


class Matrices:
    """The matrices of a function: their types, how their extents hang together, and where they lie."""

    def __init__(self, indices: Indices, types: TypeTable, *, places_elements: bool = True, packed: bool = True,
                 converted: bool = True, in_runs: bool = False) -> None:
        """``places_elements``: whether functions of elements may ask for row and column; ``packed``: whether B may lie
        packed in memory; ``converted``: whether loops take several rounds at once whose A and B are converted,
        or changed by functions of elements;
        ``in_runs``: whether those that have several products, each of which may take runs of K."""
        self.indices, self.editor, self.types = indices, indices.editor, types
        self.facts = Facts(indices.editor)
        self.dimensions = Dimensions()
        self.places_elements, self.packed = places_elements, packed
        self.converted, self.in_runs = converted, in_runs
        self.operands: dict[int, tuple[int, Polynomial]] = {}
        self.accesses: list[Access] = []
        self.products: list[Instruction] = []
        self.declared = {row.result_id or 0: self.editor.definition(row.type_id)
                         for row in (*self.editor.head, *indices.body.rows()) if row.type_id is not None
                         and self.editor.definition(row.type_id).opcode == Op.TypeCooperativeMatrixKHR}
        for row in indices.body.rows():
            self._note(row)

    def kind(self, identifier: int) -> MatrixType | None:
        """The type of a matrix, as it was; None of what is none."""
        declared = self.declared.get(identifier)
        if declared is None:
            return None
        kind = self.types[declared.result_id or 0]
        assert isinstance(kind, MatrixType)
        return kind

    def extent(self, dimension: Dimension) -> int:
        """The rows or columns of a matrix, as they were."""
        matrix, place = dimension
        kind = self.kind(matrix)
        assert kind is not None
        return (kind.rows, kind.columns)[place]

    def is_constant(self, identifier: int) -> bool:
        """Whether a matrix is a constant, which has the extents that are needed where it is used."""
        return self.editor.definition(identifier).opcode in CONSTANTS

    def _note(self, row: Instruction) -> None:
        result = row.result_id or 0
        used = [word for word in row.ids() if self.kind(word) is not None and not self.is_constant(word)]
        if row.opcode in LOADS + STORES:
            try:
                self.accesses.append(access_of(self.indices, row))
            except NotRegular as reason:
                raise no_merge(self.editor, row, str(reason)) from None
            if self.accesses[-1].together > 1 and not self.packed:
                raise no_merge(self.editor, row, "a matrix is packed in memory")
        elif row.opcode == Op.CooperativeMatrixMulAddKHR:
            a, b, c = row.words[:3]
            if self.is_constant(a) or self.is_constant(b):
                raise no_merge(self.editor, row, "a product is of a constant matrix")
            self.dimensions.product(result, a, b, None if self.is_constant(c) else c)
            self.products.append(row)
        elif self.kind(result) is None and not used:
            self._check_other(row)
        elif row.opcode == _FUNCTION:
            if not self.facts.only_computes(row.words[1]):
                raise no_merge(self.editor, row, "a function of elements has other effects than to compute them")
            if not self.places_elements and uses_position(self.editor, row.words[1]):
                raise no_merge(self.editor, row, "a function of elements depends on their row or column")
            self._note_operands(row)
            for word in used:
                self.dimensions.alike(result, word)
        elif self.kind(result) is not None and row.opcode in ELEMENTWISE and not transposes(self.editor.module, row):
            for word in used:
                self.dimensions.alike(result, word)
        else:
            raise no_merge(self.editor, row, f"a matrix is used by {row.name}")

    def _note_operands(self, row: Instruction) -> None:
        """Remember what the further operands of a function of elements are made of, with what must hold for that."""
        for word in row.words[2:]:
            kind = self.editor.type_of(word)
            if kind.opcode == Op.TypePointer:
                self.operands[word] = self.indices.pointer(word)
            elif kind.opcode == Op.TypeInt:
                self.operands[word] = (0, self.indices.of(word))

    def _check_other(self, row: Instruction) -> None:
        """Refuse what has other effects than on matrices, or takes the work-items of a group together."""
        name = row.name.removeprefix("Op")
        if row.opcode in (Op.Store, Op.FunctionCall, Op.CopyMemory, Op.CopyMemorySized, Op.Switch) or (
                row.opcode == Op.ExtInst and self.editor.module.instruction_sets.get(row.words[0]) == "OpenCL.std"
                and any(self._is_pointer(word) for word in row.words[2:])) or name.startswith((
                    "Atomic", "Group", "Subgroup", "ControlBarrier", "MemoryBarrier")):
            raise no_merge(self.editor, row, f"it has other effects than on matrices ({row.name})")
        if row.opcode == Op.Variable and row.words[0] != StorageClass.Input:
            raise no_merge_of_variable(self.editor, self.indices.body, row)

    def _is_pointer(self, identifier: int) -> bool:
        return self.editor.component(self.editor.type_of(identifier)).opcode == Op.TypePointer



def scope_of(module: Module) -> Scope:
    """The scope of the matrices in a module's functions. NoMerge if there are several."""
    scopes = {row.result_id: module.constant_value(row.words[1])
              for row in module.of_opcode(Op.TypeCooperativeMatrixKHR)}
    found: dict[int | float | None, Instruction] = {}
    for row in (row for function in module.functions for block in function.blocks for row in block.instructions):
        if row.type_id in scopes:
            found.setdefault(scopes[row.type_id], row)
    for scope in (Scope.Subgroup, Scope.Workgroup):
        if (found.keys() or set(scopes.values())) == {scope}:
            return scope
    reason = "its matrices are not all of one scope, sub-group or work-group"
    raise no_merge_at(module, list(found.values())[-1], reason) if found else NoMerge(reason)


def uses_position(editor: FunctionEditor, function: int) -> bool:
    """Whether a function of elements looks at their row or column."""
    body = next(one for one in editor.bodies if one.id == function)
    places = {one.result_id for one in body.parameters[:2]}
    return any(places.intersection(row.ids()) for row in body.rows())


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
    found_loops = _loops(matrices, axes)
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


class _Loop(NamedTuple):
    """What grows when a loop takes several rounds at once: the K of its products. extent: what of it a round takes;
    period: where the next one begins. most: of how many rounds a divisor may become one; 0 for any number."""

    classes: frozenset[Dimension]
    extent: int
    period: int
    most: int = 0


def _loops(matrices: Matrices, axes: Collection[Dimension]) -> dict[int, _Loop]:
    """The loops that can take several rounds at once, by their headers. Runs are those of a kernel: they must be alike
    in all loops, and no product elsewhere may have more of K than one."""
    found = {header: loop for header in matrices.indices.counters
             if (loop := _K(matrices, header).found()) is not None and loop.classes.isdisjoint(axes)}
    in_runs = {(loop.extent, loop.period) for loop in found.values() if loop.period != loop.extent}
    if not in_runs:
        return found
    length, _ = next(iter(in_runs))
    own = {one for loop in found.values() for one in loop.classes}
    elsewhere = [matrices.extent(k) for row in matrices.products
                 if (k := matrices.dimensions.find((row.words[0], 1))) not in own]
    if len({(loop.extent, loop.period) for loop in found.values()}) == 1 and max(elsewhere, default=0) <= length:
        return found
    return {header: loop for header, loop in found.items() if loop.period == loop.extent}


class _K:
    """A loop that does nothing but to add up products of tiles that follow each other."""

    def __init__(self, matrices: Matrices, header: int) -> None:
        self.matrices, self.header = matrices, header
        self.body = matrices.indices.loops.blocks(header)
        self.computed = {row.result_id for block in self.body for row in block.instructions}

    def found(self) -> _Loop | None:
        """The classes of its products' K; None if there is anything else."""
        dimensions = self.matrices.dimensions
        rows = [row for block in self.body for row in block.instructions if self._concerns(row)]
        products = [row for row in rows if row.opcode == Op.CooperativeMatrixMulAddKHR]
        classes = {dimensions.find((row.words[0], 1)) for row in products}
        if not products or any(one.opcode == Op.LoopMerge and block.label != self.header
                               for block in self.body for one in block.instructions[-2:-1]):
            return None
        if not self.matrices.indices.loops.leaves_at_header(self.header) or self._is_asked_later():
            return None
        allowed = (Op.CooperativeMatrixMulAddKHR, *LOADS, *(CONVERSIONS if self.matrices.converted else ()), Op.Phi)
        functions = [row for row in rows if self.matrices.converted and row.opcode == _FUNCTION]
        if any(row.opcode not in allowed for row in rows if row not in functions):
            return None
        most = math.gcd(*(self._most(row, classes) for row in functions))
        if most == 1 or not all(self._adds_up(row) for row in products):
            return None
        if len([row for row in rows if row.opcode == Op.Phi]) != len(products):
            return None
        loads = [access for access in self.matrices.accesses if access.row in rows]
        along = {access.matrix for access in self.matrices.accesses for place in range(2)
                 if dimensions.find((access.matrix, place)) in classes}
        others = [row for row in self.matrices.products if row not in products]
        if along != {access.matrix for access in loads} or any(
                dimensions.find((row.words[0], 1)) in classes for row in others):
            return None
        if any(self._own(access.start(place)) for access in loads for place in range(2)):
            return None
        loop = self._loop(frozenset(classes), loads, in_runs=self.matrices.in_runs and not functions)
        return None if loop is None else loop._replace(most=most)

    def _loop(self, classes: frozenset[Dimension], loads: Sequence[Access], *, in_runs: bool) -> _Loop | None:
        """The loop, if in each round all tiles lie equally far along K, one extent further, or ``in_runs`` some."""
        found = {(self.matrices.extent(one), self._times(access, classes)) for one in classes for access in loads}
        extent, times = next(iter(found), (0, 0))
        is_simple = len(classes) == times == 1
        if len(found) != 1 or times < 1 or not (is_simple or in_runs):
            return None
        return _Loop(classes, extent, extent * times)

    def _is_asked_later(self) -> bool:
        """Whether something behind the loop depends on how often it has run."""
        atom = Atom("round", self.header)
        indices = self.matrices.indices
        inside = {id(row) for block in self.body for row in block.instructions}
        asked = [value for access in self.matrices.accesses if id(access.row) not in inside
                 for value in (access.line, access.along)]
        asked += [value for counter in indices.counters.values() for value in (counter.start, counter.limit)]
        asked += [self.matrices.operands[word][1] for row in indices.body.rows()
                  if row.opcode == _FUNCTION and id(row) not in inside
                  for word in row.words[2:] if word in self.matrices.operands]
        return any(atom in value.atoms for value in asked)

    def _most(self, function: Instruction, classes: Collection[Dimension]) -> int:
        """In how many rounds, or a divisor of that, numbers that a function of elements of A or B gets rise by as much
        in each, or do not change; 0 for any number. 1 if the loop computes others of them."""
        if not any(self.matrices.dimensions.find((function.result_id or 0, place)) in classes for place in range(2)):
            return 1
        most = 0
        for word in function.words[2:]:
            if self.matrices.kind(word) is None:
                base, value = self.matrices.operands.get(word, (word, Polynomial()))
                is_known = base not in self.computed and value.coefficient(Atom("round", self.header)) is not None
                most = math.gcd(most, *map(self._steady, self._own(value))) if is_known else 1
        return most

    def _own(self, value: Polynomial) -> list[Atom]:
        """What in a number the loop computes, of which nothing else is known."""
        return [atom for atom in value.atoms if atom.kind == "value" and atom.number in self.computed]

    def _steady(self, atom: Atom) -> int:
        """In how many rounds a number that is computed by a division stays the same, if they begin at a multiple of
        that; 1 where that is not known."""
        one, this = self.matrices.indices.computed.get(atom.number), Atom("round", self.header)
        step, other = (None, None) if one is None else (one.value.coefficient(this), one.other.known)
        if one is None or step is None or step.known is None or step.known < 1 or other is None or other < 1:
            return 1
        start = (one.value - step * Polynomial.atom(this.kind, this.number)).known
        size = {"truncated": other, "rounded down": other, "shifted": 1 << min(other, ADDRESS_BITS)}.get(one.operation)
        if start is None or start < 0 or size is None or size % step.known or start % step.known:
            return 1
        return math.gcd(size, start) // step.known

    def _concerns(self, row: Instruction) -> bool:
        return row.opcode in STORES or (row.result_id is not None and self.matrices.kind(row.result_id) is not None)

    def _adds_up(self, product: Instruction) -> bool:
        """Whether a product is added to a phi of the loop, and is that in the next round; it does not saturate."""
        phi = self.matrices.editor.definition(product.words[2])
        flags = product.words[3] if len(product.words) > 3 else 0
        header = self.matrices.indices.body.block(self.header)
        return (phi.opcode == Op.Phi and phi in header.instructions and product.result_id in phi.words[::2]
                and not flags & CooperativeMatrixOperands.SaturatingAccumulationKHR)

    def _times(self, access: Access, classes: Collection[Dimension]) -> int:
        """How many extents further a tile lies in each round, along K; 0 if it lies elsewhere."""
        places = [place for place in range(2) if self.matrices.dimensions.find((access.matrix, place)) in classes]
        factors = [access.start(place).coefficient(Atom("round", self.header)) for place in range(2)]
        known = [None if factor is None else factor.known for factor in factors]
        if len(places) != 1 or known[1 - places[0]] != 0:
            return 0
        times, rest = divmod(known[places[0]] or 0, self.matrices.extent((access.matrix, places[0])))
        return 0 if rest else times


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
