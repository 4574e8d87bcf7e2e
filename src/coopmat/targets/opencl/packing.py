"""Loads of B for drivers that want it packed: lanes bring it into VNNI order, by way of local memory.

Intel's runtime for CPUs has AMX's tiles, and takes B only as they do: rows of words of 32 bits that hold elements of
one column. A kernel gets one more argument, local memory of a part for each sub-group, and calls a function for each
load that is not packed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import BuiltIn, FunctionControl, LoopControl, MemorySemantics, Op, Scope, StorageClass
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.matrices.lanes import input_variable

ARGUMENT_STRINGS = "kernel_arg_type."
_ORDER = MemorySemantics.AcquireRelease | MemorySemantics.WorkgroupMemory
_STORAGES = (StorageClass.CrossWorkgroup, StorageClass.Workgroup)


@dataclass(frozen=True)
class Packed:
    """A module whose loads of B are packed. local_bytes: of each kernel that got the argument, for a sub-group."""

    module: Module
    local_bytes: dict[str, int]


@dataclass(frozen=True)
class _Kind:
    """What one function brings into order: a matrix type, from memory of a storage class and in a layout."""

    type_id: int
    pointer: int
    layout: int
    stride: int  # its type


def why_not(module: Module) -> str | None:
    """Why loads of B cannot be packed; None if they can."""
    kernels = {entry.function_id for entry in module.entry_points}
    types = TypeTable(module, 1)
    for function in module.functions:
        for block in function.blocks:
            for row in block.instructions:
                if not _is_load_of_b(types, row):
                    continue
                if function.id not in kernels:
                    return "a function that is called loads B"
                layout = module.constant_value(row.words[1])
                pointer = module.definition(module.definition(row.words[0]).type_id or 0)
                if layout not in (Layout.RowMajorKHR, Layout.ColumnMajorKHR) or len(row.words) < 3:
                    return "B is loaded in another layout than by rows or columns"
                if pointer.words[0] not in _STORAGES:
                    return "B is loaded through a pointer that may lead anywhere"
    return None


def with_packed_b(module: Module, sub_group_size: int) -> Packed:
    """The module with packed loads of B; :func:`why_not` knows no reason against it. ``sub_group_size``: that of all
    its kernels."""
    return _Packing(module, sub_group_size).done()


def _is_load_of_b(types: TypeTable, row: Instruction) -> bool:
    if row.opcode != Op.CooperativeMatrixLoadKHR:
        return False
    kind = types[row.type_id or 0]
    return isinstance(kind, MatrixType) and kind.use == Use.MatrixBKHR


class _Packing:
    def __init__(self, module: Module, sub_group_size: int) -> None:
        self.module, self.size = module, sub_group_size
        self.editor = editor = FunctionEditor(module)
        self.types = TypeTable(module, 1)
        self.word, self.long = editor.unique(Op.TypeInt, 32, 0), editor.unique(Op.TypeInt, 64, 0)
        self.bytes = editor.type_pointer(StorageClass.Workgroup, editor.unique(Op.TypeInt, 8, 0))
        self.packed = editor.constant(int(Layout.PackedINTEL))
        self.functions: dict[_Kind, int] = {}
        self.added: list[Body] = []

    def done(self) -> Packed:
        editor, local_bytes = self.editor, dict[str, int]()
        self.lane = input_variable(editor, BuiltIn.SubgroupLocalInvocationId)
        self.number = input_variable(editor, BuiltIn.SubgroupId)
        names = {entry.function_id: entry.name for entry in self.module.entry_points}
        for body in editor.bodies:
            loads = [row for row in body.rows() if _is_load_of_b(self.types, row)]
            if loads:
                local_bytes[names[body.id]] = self._change(body, loads)
        editor.bodies = [*self.added, *editor.bodies]
        editor.head = [row for row in editor.head if row.opcode != Op.String
                       or not str(row.operands[0].value).startswith(ARGUMENT_STRINGS)]
        return Packed(editor.done(), local_bytes)

    def _change(self, body: Body, loads: list[Instruction]) -> int:
        """Give a kernel its argument, and have its loads packed; the bytes of a sub-group's part."""
        editor = self.editor
        nbytes = max(map(self._nbytes, loads))
        kinds = [*(parameter.type_id or 0 for parameter in body.parameters), self.bytes]
        void = editor.unique(Op.TypeVoid)
        signature = editor.unique(Op.TypeFunction, void, *kinds)
        parameter = editor.row(Op.FunctionParameter, self.bytes)
        body.head = [make(Op.Function, row.words[0], signature, type_id=row.type_id, result_id=row.result_id)
                     if row.opcode == Op.Function else row for row in body.head]
        body.head.append(parameter)
        start = body.blocks[0]
        place = next(i for i, row in enumerate(start.instructions) if row.opcode != Op.Variable)
        number = editor.row(Op.Load, self.word, self.number)
        offset = editor.row(Op.IMul, self.long, self._result(wide := editor.row(Op.UConvert, self.long,
                                                                               self._result(number))),
                            editor.constant(nbytes, 64))
        part = editor.row(Op.PtrAccessChain, self.bytes, self._result(parameter), self._result(offset))
        start.instructions[place:place] = [number, wide, offset, part]
        for block in body.blocks:
            block.instructions[:] = [made for row in block.instructions
                                     for made in (self._loaded(row, self._result(part)) if row in loads else (row,))]
        return nbytes

    def _loaded(self, row: Instruction, part: int) -> Iterator[Instruction]:
        """A call that brings the matrix into order, and the load of that."""
        editor, kind = self.editor, self._matrix(row)
        pointer, layout, stride = row.words[:3]
        what = _Kind(row.type_id or 0, editor.definition(pointer).type_id or 0,
                     int(self.module.constant_value(layout) or 0), editor.definition(stride).type_id or 0)
        element = editor.definition(what.pointer).words[1]
        own = editor.type_pointer(StorageClass.Workgroup, element)
        cast = part
        if own != self.bytes:
            made = editor.row(Op.Bitcast, own, part)
            yield made
            cast = self._result(made)
        if what not in self.functions:
            self.functions[what] = self._function(what, own)
        yield editor.row(Op.FunctionCall, editor.unique(Op.TypeVoid), self.functions[what], pointer, stride, cast)
        per_word = 32 // self._bits(kind)
        yield editor.add(make(Op.CooperativeMatrixLoadKHR, cast, self.packed,
                              editor.constant(kind.columns * per_word, 64), type_id=row.type_id,
                              result_id=row.result_id))

    def _function(self, what: _Kind, own: int) -> int:
        """A function of a pointer, a stride and a place in local memory."""
        editor = self.editor
        kind = self.types[what.type_id]
        assert isinstance(kind, MatrixType)
        per_word = 32 // self._bits(kind)
        words = kind.rows // per_word * kind.columns
        void, truth = editor.unique(Op.TypeVoid), editor.unique(Op.TypeBool)
        element = editor.definition(what.pointer).words[1]
        function = editor.row(Op.Function, void, FunctionControl.None_,
                              editor.unique(Op.TypeFunction, void, what.pointer, what.stride, own))
        source, given, target = (editor.row(Op.FunctionParameter, one) for one in (what.pointer, what.stride, own))
        entry, head, inside, again, end = (editor.new_id() for _ in range(5))
        rows: list[Instruction] = []

        def value(op: Op, type_id: int, *operands: int) -> int:
            rows.append(editor.row(op, type_id, *operands))
            return self._result(rows[-1])

        def number(count: int) -> int:
            return editor.constant(count, 64)

        scopes = (Scope.Subgroup, Scope.Subgroup, _ORDER)
        barrier = make(Op.ControlBarrier, *(editor.constant(int(one)) for one in scopes))
        lane = value(Op.UConvert, self.long, value(Op.Load, self.word, self.lane))
        stride = self._result(given) if what.stride == self.long else value(Op.SConvert, self.long,
                                                                            self._result(given))
        blocks = [Block(entry, [*rows, barrier, make(Op.Branch, head)])]
        following = editor.new_id()
        place = editor.row(Op.Phi, self.long, lane, entry, following, again)
        rows = [place]
        is_left = value(Op.ULessThan, truth, self._result(place), number(words))
        rows += [make(Op.LoopMerge, end, again, LoopControl.None_), make(Op.BranchConditional, is_left, inside, end)]
        blocks.append(Block(head, rows))
        rows = []
        line = value(Op.UDiv, self.long, self._result(place), number(kind.columns))
        column = value(Op.UMod, self.long, self._result(place), number(kind.columns))
        first = value(Op.IMul, self.long, line, number(per_word))
        to = value(Op.IMul, self.long, self._result(place), number(per_word))
        for step in range(per_word):
            row = value(Op.IAdd, self.long, first, number(step))
            major, minor = (row, column) if what.layout == Layout.RowMajorKHR else (column, row)
            at = value(Op.IAdd, self.long, value(Op.IMul, self.long, major, stride), minor)
            found = value(Op.Load, element, value(Op.PtrAccessChain, what.pointer, self._result(source), at))
            rows.append(make(Op.Store, value(Op.PtrAccessChain, own, self._result(target),
                                             value(Op.IAdd, self.long, to, number(step))), found))
        rows.append(make(Op.Branch, again))
        blocks.append(Block(inside, rows))
        blocks.append(Block(again, [editor.row(Op.IAdd, self.long, self._result(place), number(self.size),
                                               result=following), make(Op.Branch, head)]))
        blocks.append(Block(end, [barrier, make(Op.Return)]))
        for block in blocks:
            editor.add(make(Op.Label, result_id=block.label))
        self.added.append(Body([function, source, given, target], blocks))
        return self._result(function)

    def _matrix(self, row: Instruction) -> MatrixType:
        kind = self.types[row.type_id or 0]
        assert isinstance(kind, MatrixType)
        return kind

    def _bits(self, kind: MatrixType) -> int:
        return 8 * kind.component.size

    def _nbytes(self, row: Instruction) -> int:
        kind = self._matrix(row)
        return math.prod((kind.rows, kind.columns, kind.component.size))

    @staticmethod
    def _result(row: Instruction) -> int:
        return row.result_id or 0
