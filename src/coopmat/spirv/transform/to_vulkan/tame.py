"""Tame launches: no checked access of a matrix of a work-group leaves its window, and every matrix begins at a multiple
of 16 bytes. Drivers make better code for these, so they have a shader of their own."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.spirv.analysis.matrix_uses import has_work_groups
from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import CooperativeMatrixLayout, Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Condition
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.requirements import Requirements
from coopmat.spirv.transform.to_vulkan.shader import TAME_MULTIPLE, Tame, VulkanTarget

_LARGEST = (1 << ADDRESS_BITS - 1) - 1
_PLAIN = {Op.CooperativeMatrixLoadKHR: 0, Op.CooperativeMatrixStoreKHR: 1}
_CHECKED = {Op.CooperativeMatrixLoadCheckedINTEL: 0, Op.CooperativeMatrixStoreCheckedINTEL: 1}
"""Loads and stores → how many words a matrix is."""


def tame_of(module: Module, target: VulkanTarget) -> Tame | None:
    """For a module of one kernel in SSA form. None if it has no matrices of work-groups, or if nothing can be told."""
    return _Finding(module, target).found() if has_work_groups(module) else None


class _Finding:
    def __init__(self, module: Module, target: VulkanTarget) -> None:
        self.editor = FunctionEditor(module)
        self.body = next(one for one in self.editor.bodies if one.id == module.entry_points[0].function_id)
        assert target.work_group is not None
        self.indices = Indices(self.editor, self.body, target.work_group, target.sub_group_size, Scope.Workgroup)
        self.table = TypeTable(module, target.sub_group_size)
        self.aligned: set[int] = set()
        self.parameters = [row.result_id for row in self.body.parameters]

    def found(self) -> Tame | None:
        """What must hold, of all accesses."""
        conditions: list[Condition] = []
        for row in self.body.rows():
            kind = self._matrix(row)
            if kind is None:
                continue
            if not self._is_aligned(row, kind):
                return None
            if row.opcode in _CHECKED:
                conditions += self._inside(row, kind)
        requirements = Requirements.of(self.indices, (*conditions, *self.indices.conditions))
        return Tame(requirements, tuple(sorted(self.aligned)))

    def _matrix(self, row: Instruction) -> MatrixType | None:
        """The matrix of a work-group that an instruction loads or stores."""
        if row.opcode not in _PLAIN and row.opcode not in _CHECKED:
            return None
        value = row.words[3 if row.opcode in _CHECKED else 1]
        kind = self.table[row.type_id or self.editor.definition(value).type_id or 0]
        return kind if isinstance(kind, MatrixType) and kind.is_of_work_group else None

    def _is_aligned(self, row: Instruction, kind: MatrixType) -> bool:
        """Whether a matrix begins at a multiple of 16 bytes, if some arguments are such; these are noted."""
        base, offset = self.indices.pointer(row.words[0])
        size = self.table.pointee(self.table[self.editor.definition(row.words[0]).type_id or 0]).size
        offset = offset.scaled(size)
        if row.opcode in _CHECKED:
            line, column = map(self.indices.of, row.words[1:3])
            offset += (line * self._stride(row) + column).scaled(kind.component.size)
        if base not in self.parameters:
            return False
        self.aligned.add(self.parameters.index(base))
        return all(self._divides(monomial, factor) for monomial, factor in offset.terms)

    def _stride(self, row: Instruction) -> Polynomial:
        """Of a checked access: from one line to the next; the width of the window, if nothing is said."""
        first = 1 + 2 + _CHECKED[Op(row.opcode)] + 1
        _, width, *stride = row.words[first:first + 3]
        return self.indices.of(stride[0] if stride else width)

    def _divides(self, monomial: tuple[Atom, ...], factor: int) -> bool:
        """Whether a term is a multiple of 16: by its factor, or as one of the arguments in it is."""
        if factor % TAME_MULTIPLE == 0:
            return True
        arguments = [atom.number for atom in monomial if atom.kind == "argument"]
        self.aligned.update(arguments[:1])
        return bool(arguments)

    def _inside(self, row: Instruction, kind: MatrixType) -> Iterator[Condition]:
        """A checked access begins in its window, and ends there."""
        first = 1 + 2 + _CHECKED[Op(row.opcode)]
        layout, *window = row.words[first:first + 3]
        sizes = [kind.rows, kind.columns]
        if self.editor.integer(layout) == CooperativeMatrixLayout.ColumnMajorKHR:
            sizes.reverse()
        for start, size, limit in zip(map(self.indices.of, row.words[1:3]), sizes, map(self.indices.of, window),
                                      strict=True):
            yield Condition(start, 0, _LARGEST)
            yield Condition(limit - start - Polynomial.constant(size), 0, _LARGEST)
