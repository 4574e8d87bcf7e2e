"""Modules: instructions, the words they are made of, and what they declare."""

from coopmat.spirv.module.instruction import Instruction, Operand, make
from coopmat.spirv.module.module import BUILT_IN_STORAGE, Block, EntryPoint, Function, Module

__all__ = ["BUILT_IN_STORAGE", "Block", "EntryPoint", "Function", "Instruction", "Module", "Operand", "make"]
