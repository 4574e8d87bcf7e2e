"""SPIR-V: grammar, module model, binary, text, builder, validator, linker.

:class:`Module` reads, writes and validates a module and is what passes work on; :class:`ModuleBuilder` writes one
from nothing.  docs/spirv.md shows both.
"""

from typing import TYPE_CHECKING, Any

from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Block, EntryPoint, Function, Instruction, Module, Operand, make

if TYPE_CHECKING:
    from coopmat.spirv.edit.linker import link
    from coopmat.spirv.edit.specialization import SpecConstant, spec_constants, specialize
    from coopmat.spirv.validate.rules import Violation

__all__ = ["Block", "EntryPoint", "Function", "Instruction", "Module", "ModuleBuilder", "Op", "Operand",
           "SpecConstant", "Violation", "link", "make", "spec_constants", "specialize"]

_LAZY = {"link": "edit.linker", "SpecConstant": "edit.specialization", "spec_constants": "edit.specialization",
         "specialize": "edit.specialization", "Violation": "validate.rules"}
"""Names whose modules are imported when they are asked for, as these need numpy or take long."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
