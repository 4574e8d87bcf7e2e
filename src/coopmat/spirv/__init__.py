"""SPIR-V: grammar, module model, binary, text, builder."""

from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Block, EntryPoint, Function, Instruction, Module, Operand, make

__all__ = ["Block", "EntryPoint", "Function", "Instruction", "Module", "Op", "Operand", "make"]
