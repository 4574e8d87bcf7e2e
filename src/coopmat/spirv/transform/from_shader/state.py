"""The translation of one function: ids of the shader and of the kernel, and what instructions are added with."""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.diagnostics import Error
from coopmat.spirv.edit.builder import ModuleBuilder, Word
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.from_shader.types import Types


class Translation:
    """A shader's module and the kernels' that is being built; ``ids``: those of the second for those of the first."""

    def __init__(self, module: Module, builder: ModuleBuilder) -> None:
        self.module = module
        self.builder = builder
        self.types = Types(module, builder)
        self.ids: dict[int, int] = {}
        self._add_constants()

    def _add_constants(self) -> None:
        for row in self.module.instructions:
            if row.opcode == Op.Function:
                return
            if row.type_id is not None and row.result_id is not None and row.opcode != Op.Variable:
                try:
                    found = self.types.constant(row, self.ids)
                except (KeyError, Error):
                    continue  # a constant that nobody uses may have a type that kernels do not have
                if found is not None:
                    self.ids[row.result_id] = found

    # --- ids ----------------------------------------------------------------------------

    def id(self, old: int) -> int:
        """The kernel's id; a new one for what comes later."""
        if old not in self.ids:
            row = self.module.definition(old)
            if row.name.startswith("OpType"):
                return self.types[old]
            if "Constant" in row.name:
                raise Error(f"{row.name} %{old} has no counterpart in kernels")
            if row.opcode == Op.Variable:
                raise Error(f"the variable '{self.types.layout.name(old)}' is used in a way that kernels cannot")
            self.ids[old] = self.builder.new_id()
        return self.ids[old]

    def define(self, row: Instruction, new: int) -> None:
        """Say what stands for an instruction's result."""
        assert row.result_id is not None
        if row.result_id in self.ids:  # it is used already, by a phi
            self.builder.append(make(Op.CopyObject, new, type_id=self.types[row.type_id or 0],
                                     result_id=self.ids[row.result_id]))
        else:
            self.ids[row.result_id] = new

    def result_type(self, row: Instruction) -> int:
        """The kernel's type of an instruction's result."""
        return self.types[row.type_id or 0]

    def type_of(self, old: int) -> Instruction:
        """The shader's type of a value."""
        return self.module.definition(self.module.definition(old).type_id or 0)

    def number(self, old: int) -> int | None:
        """The value of an integer constant; None for anything else."""
        value = self.module.constant_value(old)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    # --- adding instructions ------------------------------------------------------------

    def value(self, op: Op, type_id: int, *words: Word) -> int:
        """A new instruction with a result; its id."""
        return self.builder.value(op, type_id, *words)

    def compute(self, name: str, type_id: int, *operands: int) -> int:
        """A function of OpenCL.std; the id of its result."""
        return self.builder.extended(type_id, name, *operands)

    def pointer_to(self, pointer_type: int, old_pointer: int) -> int:
        """A pointer of the kernel with another type."""
        return self.value(Op.Bitcast, pointer_type, old_pointer)

    def uint(self, value: int, bits: int = 32) -> int:
        """An integer constant."""
        return self.builder.constant(self.builder.type_int(bits), value)

    def composite(self, type_id: int, parts: Iterable[int]) -> int:
        """A composite of its parts."""
        return self.value(Op.CompositeConstruct, type_id, *parts)
