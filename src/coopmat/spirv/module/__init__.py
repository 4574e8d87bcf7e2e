"""Modules: instructions, the words they are made of, and what they declare."""

from coopmat.spirv.module.content import BUILT_IN_STORAGE, Block, Content, EntryPoint, Function
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.module import Module
from coopmat.spirv.module.operands import Operand

__all__ = ["BUILT_IN_STORAGE", "Block", "Content", "EntryPoint", "Function", "Instruction", "Module", "Operand",
           "make"]
