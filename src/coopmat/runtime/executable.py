"""A module as devices run it."""

from __future__ import annotations

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.imports import is_assertion
from coopmat.spirv.analysis.matrix_addresses import counted_in_bytes
from coopmat.spirv.analysis.shader_interface import is_shader
from coopmat.spirv.edit.specialization import frozen
from coopmat.spirv.grammar import Decoration, LinkageType, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.malformed import well_formed

_LISTS = "entry-point-uses"
"""The rule that an entry point lists its variables: nobody reads the lists here."""


def executable(module: Module) -> Module:
    """The module with every specialisation constant at its default, and with instructions instead of calls of
    OpenCL C's built-in functions, which clang leaves as imports where LLVM's back end does not know them, and instead
    of counts of bytes that lead LLVM to matrices. Of compute shaders, the kernels that they are here.
    ValidationError for shaders that are not valid."""
    if is_shader(module):
        from coopmat.spirv.transform.from_shader.kernels import to_kernels

        with well_formed("the module"):
            made = to_kernels(module)
        broken = next((one for one in module.validate() if one.severity == "error" and one.rule != _LISTS), None)
        if broken is not None:  # the kernels may be valid all the same
            raise ValidationError(broken.rule, broken.message, broken.offset)
        return made
    if _imports_functions(module) or counted_in_bytes(module):
        from coopmat.llvm.to_spirv.imports import resolve_known

        with well_formed("the module"):
            module = resolve_known(module)
    with well_formed("the module"):
        return frozen(module)


def _imports_functions(module: Module) -> bool:
    functions = {item.result_id for item in module.of_opcode(Op.Function)}
    return any(item.words[0] in functions and item.words[1] == Decoration.LinkageAttributes
               and item.words[-1] == LinkageType.Import and not is_assertion(module, item.words[0])
               for item in module.of_opcode(Op.Decorate))
