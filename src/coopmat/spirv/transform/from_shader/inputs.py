"""The built-in inputs of shaders: 32 bits wide there, as wide as addresses in kernels (OpenCL SPIR-V environment)."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import BuiltIn, Decoration, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.from_shader.state import Translation

_WIDE = frozenset({BuiltIn.NumWorkgroups, BuiltIn.WorkgroupSize, BuiltIn.WorkgroupId, BuiltIn.LocalInvocationId,
                   BuiltIn.GlobalInvocationId, BuiltIn.LocalInvocationIndex})
_AS_THEY_ARE = frozenset({BuiltIn.SubgroupSize, BuiltIn.NumSubgroups, BuiltIn.SubgroupId,
                          BuiltIn.SubgroupLocalInvocationId, BuiltIn.SubgroupEqMask, BuiltIn.SubgroupGeMask,
                          BuiltIn.SubgroupGtMask, BuiltIn.SubgroupLeMask, BuiltIn.SubgroupLtMask})
_ZERO = frozenset({BuiltIn.DeviceIndex})
_LONG = 64


class Inputs:
    """The input variables of a module, and their values in a function being translated."""

    def __init__(self, translation: Translation) -> None:
        self.to = translation
        self.variables = {row.result_id: self._built_in(row) for row in translation.module.of_opcode(Op.Variable)
                          if row.words[0] == StorageClass.Input}
        self.parts: dict[int, int] = {}
        """Components that access chains lead to: the shader's pointer → the kernel's value."""

    def _built_in(self, row: Instruction) -> int | None:
        return next((words[0] for one, words in self.to.module.decorations(row.result_id or 0)
                     if one == Decoration.BuiltIn), None)

    def chain(self, row: Instruction) -> None:
        """An access chain to a component of an input."""
        variable, index = row.words
        kind = self.to.types[self.to.module.definition(row.type_id or 0).words[1]]
        number = self.to.number(index)
        value = self.load(variable)
        self.parts[row.result_id or 0] = (
            self.to.value(Op.VectorExtractDynamic, kind, value, self.to.id(index)) if number is None
            else self.to.value(Op.CompositeExtract, kind, value, number))

    def load(self, old: int) -> int:
        """The value of an input, or of a component of one."""
        if old in self.parts:
            return self.parts[old]
        built_in = self.variables[old]
        kind = self.to.types[self.to.type_of(old).words[1]]
        if built_in in _ZERO:
            return self.to.builder.constant_null(kind)
        if built_in in _AS_THEY_ARE:
            return self.to.value(Op.Load, kind, self.to.builder.builtin(BuiltIn(built_in), kind))
        if built_in not in _WIDE:
            name = BuiltIn(built_in).name if built_in in set(BuiltIn) else built_in
            raise Error(f"the input variable {name} of shaders has no counterpart in kernels")
        wide = self.to.builder.type_int(_LONG)
        if self.to.module.definition(self.to.type_of(old).words[1]).opcode == Op.TypeVector:
            wide = self.to.builder.type_vector(wide, 3)
        value = self.to.value(Op.Load, wide, self.to.builder.builtin(BuiltIn(built_in), wide))
        return self.to.value(Op.UConvert, kind, value)
