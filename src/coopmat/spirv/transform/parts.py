"""Kernels that run a part of a launch: each gets six more parameters, and its built-in variables tell of the whole.

OpenCL's global offset moves get_global_id but not get_group_id, and not every machine has one. Behind a kernel's own
parameters come integers as wide as addresses: the position of the part's first work-group along each axis, and how many
work-groups the whole launch has along each axis. A launch of some work-groups with these is that part of the launch.
"""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.diagnostics import Error
from coopmat.spirv.edit.functions import (
    Body,
    FunctionEditor,
    add_parameters,
    first_place,
    input_variable,
    replace_uses,
)
from coopmat.spirv.grammar import AddressingModel, BuiltIn, Decoration, ExecutionModel, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.goal import Goal, Say, counted
from coopmat.spirv.transform.inline import inline

AXES = 3
PARAMETERS = 2 * AXES
"""How many parameters a kernel gets."""
_CHAINS = frozenset({Op.AccessChain, Op.InBoundsAccessChain})
_OF_PARTS = frozenset({BuiltIn.WorkgroupId, BuiltIn.GlobalInvocationId, BuiltIn.NumWorkgroups, BuiltIn.GlobalSize,
                       BuiltIn.GlobalLinearId})
"""The built-in variables that differ between a part and the whole."""


def parts(module: Module, goal: Goal, say: Say) -> Module:
    """The module whose kernels run parts of launches. Error for one whose built-in variables cannot be followed."""
    found = in_parts(module)
    kernels = sum(entry.model == ExecutionModel.Kernel for entry in found.entry_points)
    say(f"{counted(kernels, 'kernel')} with {PARAMETERS} more parameters: the first work-group of "
        "the part, and the work-groups of the whole launch, along each axis")
    return found


def in_parts(module: Module) -> Module:
    """See :func:`parts`."""
    module = inline(module, Goal(), lambda _: None)
    editor = FunctionEditor(module)
    kernels = {entry.function_id for entry in module.entry_points if entry.model == ExecutionModel.Kernel}
    builtins = _builtins(editor)
    for body in editor.bodies:
        if body.id in kernels:
            _Kernel(editor, body, builtins).rewrite()
        elif any(used in builtins for row in body.rows() for used in row.ids()):
            raise Error(f"function '{module.names.get(body.id, body.id)}' asks for the position of work-items and "
                        "cannot be put in the place of its calls, so its kernels cannot run in parts")
    return editor.done()


def _builtins(editor: FunctionEditor) -> dict[int, BuiltIn]:
    """Variable → which built-in variable it is, of those that differ between a part and the whole."""
    found = {}
    for row in editor.head:
        if row.opcode == Op.Decorate and row.words[1] == Decoration.BuiltIn and row.words[2] in _OF_PARTS:
            found[row.words[0]] = BuiltIn(row.words[2])
    return found


class _Kernel:
    """A kernel being rewritten."""

    def __init__(self, editor: FunctionEditor, body: Body, builtins: dict[int, BuiltIn]) -> None:
        self.editor = editor
        self.body = body
        self.builtins = builtins
        model = next(iter(editor.module.of_opcode(Op.MemoryModel))).words[0]
        self.bits = 32 if model == AddressingModel.Physical32 else 64
        self.integer = editor.unique(Op.TypeInt, self.bits, 0)
        self.vector = editor.unique(Op.TypeVector, self.integer, AXES)
        self.rows: list[Instruction] = []  # at the kernel's beginning
        self.known: dict[BuiltIn, int] = {}
        self.loaded: dict[BuiltIn, int] = {}

    def rewrite(self) -> None:
        """Give the kernel its parameters, and what it reads of the whole launch its values."""
        parameters = add_parameters(self.editor, self.body, [self.integer] * PARAMETERS)
        self.first, self.counts = parameters[:AXES], parameters[AXES:]
        same: dict[int, int] = {}
        chains: dict[int, Instruction] = {}
        for block in self.body.blocks:
            kept: list[Instruction] = []
            for row in block.instructions:
                kept += self._replaced(row, chains, same)
            block.instructions = kept
        entry = self.body.blocks[0]
        place = first_place(entry)
        entry.instructions[place:place] = self.rows
        replace_uses(self.body, same)

    def _replaced(self, row: Instruction, chains: dict[int, Instruction],
                  same: dict[int, int]) -> Sequence[Instruction]:
        """What takes an instruction's place. ``chains``: pointers to components; ``same``: results that others are."""
        read = row.words[0] if row.words else 0
        if row.opcode in _CHAINS and read in self.builtins:
            chains[row.result_id or 0] = row
            return ()
        if row.opcode == Op.Load and read in self.builtins:
            return self._load(row, self._value(self.builtins[read], row.type_id or 0), same)
        if row.opcode == Op.Load and read in chains:
            chain = chains[read]
            vector = self._value(self.builtins[chain.words[0]], self.vector)
            return [make(Op.VectorExtractDynamic, vector, chain.words[1], type_id=self.integer,
                         result_id=row.result_id)]
        if any(used in self.builtins or used in chains for used in row.ids()):
            raise Error(f"{row.name} uses a pointer to a built-in variable, so the kernel cannot run in parts")
        return [row]

    def _load(self, row: Instruction, value: int, same: dict[int, int]) -> Sequence[Instruction]:
        same[row.result_id or 0] = value
        return ()

    def _value(self, builtin: BuiltIn, type_id: int) -> int:
        """The value of a built-in variable of the whole launch. Error for one of an unusual type."""
        wanted = self.integer if builtin == BuiltIn.GlobalLinearId else self.vector
        if type_id != wanted:
            raise Error(f"{builtin.name} has a type that OpenCL's environment does not give it")
        if builtin not in self.known:
            self.known[builtin] = self._made(builtin)
        return self.known[builtin]

    def _made(self, builtin: BuiltIn) -> int:
        if builtin == BuiltIn.GlobalLinearId:
            return self._linear()
        return self._row(Op.CompositeConstruct, *(self._along(builtin, axis) for axis in range(AXES)),
                         type_id=self.vector)

    def _along(self, builtin: BuiltIn, axis: int) -> int:
        """A component of a vector, by numbers alone: so analyses see what is added to what."""
        if builtin == BuiltIn.NumWorkgroups:
            return self.counts[axis]
        if builtin == BuiltIn.WorkgroupId:
            return self._row(Op.IAdd, self._read(builtin, axis), self.first[axis])
        size = self._read(BuiltIn.WorkgroupSize, axis)
        if builtin == BuiltIn.GlobalSize:
            return self._row(Op.IMul, self.counts[axis], size)
        assert builtin == BuiltIn.GlobalInvocationId
        return self._row(Op.IAdd, self._read(builtin, axis), self._row(Op.IMul, self.first[axis], size))

    def _linear(self) -> int:
        """GlobalLinearId, which knows no global offset."""
        found = self.editor.constant(0, self.bits)
        for axis in reversed(range(AXES)):
            size = self._read(BuiltIn.WorkgroupSize, axis)
            group = self._row(Op.IMul, self._along(BuiltIn.WorkgroupId, axis), size)
            position = self._row(Op.IAdd, group, self._read(BuiltIn.LocalInvocationId, axis))
            whole = self._row(Op.IMul, self.counts[axis], size)
            found = self._row(Op.IAdd, self._row(Op.IMul, found, whole), position)
        return found

    # --- instructions at the kernel's beginning ---------------------------------------

    def _row(self, op: Op, *words: int, type_id: int | None = None) -> int:
        row = self.editor.row(op, self.integer if type_id is None else type_id, *words)
        self.rows.append(row)
        return row.result_id or 0

    def _read(self, builtin: BuiltIn, axis: int) -> int:
        """What the machine says of a part."""
        if builtin not in self.loaded:
            variable = input_variable(self.editor, self.body.id, builtin, self.vector)
            self.loaded[builtin] = self._row(Op.Load, variable, type_id=self.vector)
        return self._row(Op.CompositeExtract, self.loaded[builtin], axis)
