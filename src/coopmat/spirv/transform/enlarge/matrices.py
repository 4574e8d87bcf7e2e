"""The matrices of a kernel: their types, how their extents hang together, and where they lie; why work-groups cannot be
merged."""

from __future__ import annotations

from coopmat.devices import CPU
from coopmat.spirv.analysis.matrix_uses import transposes
from coopmat.spirv.analysis.places import in_line, place_of
from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import ExecutionModel, Op, Scope, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.cut.cutting import ELEMENTWISE
from coopmat.spirv.transform.element_functions import refusal_of
from coopmat.spirv.transform.enlarge.accesses import LOADS, STORES, Access, NotRegular, access_of
from coopmat.spirv.transform.enlarge.dimensions import Dimension, Dimensions
from coopmat.spirv.transform.enlarge.effects import access_to, holds_matrix
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.facts import Facts
from coopmat.spirv.transform.goal import Goal

AXES = 3
PREFETCH = Op.CooperativeMatrixPrefetchINTEL
FUNCTION = Op.CooperativeMatrixPerElementOpEXT
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
    access = access_to(body, row)
    if not holds_matrix(editor, row):
        return no_merge(editor, access, "it has variables in memory")
    reason = refusal_of(editor, body, access, Goal(CPU))
    return no_merge(editor, access, "components of a matrix are taken one by one" + (
        f", in a loop {reason}" if reason else ""))


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
        elif row.opcode == FUNCTION:
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
