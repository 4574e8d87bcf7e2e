"""Variables at program scope, which not every driver has: whether kernels only read them.

PoCL says that it has none, and takes them; but each kernel, in work-groups of each size, has variables of its own.
"""

from __future__ import annotations

from coopmat.spirv.grammar import CHAINS, Op
from coopmat.spirv.module import Module

_POINTERS = frozenset({*CHAINS, Op.PtrCastToGeneric, Op.GenericCastToPtr, Op.Bitcast, Op.CopyObject, Op.Phi, Op.Select})
"""What makes pointers of a pointer."""
_HARMLESS = frozenset({Op.Load, Op.Name, Op.Decorate, Op.EntryPoint, Op.CooperativeMatrixLoadKHR, Op.PtrEqual,
                       Op.PtrNotEqual, Op.PtrDiff})


def is_changed(module: Module, variable: int) -> bool:
    """Whether kernels may do something else to a variable than read it."""
    waiting, seen = [variable], {variable}
    while waiting:
        pointer = waiting.pop()
        for row in module.uses(pointer):
            if row.opcode in _POINTERS:
                made = [row.result_id or 0]
            elif row.opcode == Op.FunctionCall:
                parameters = module.function(row.words[0]).parameters
                made = [parameter.result_id or 0 for parameter, given in zip(parameters, row.words[1:], strict=True)
                        if given == pointer]
            elif row.opcode in _HARMLESS:
                continue
            else:
                return True
            waiting += [one for one in made if one not in seen]
            seen.update(made)
    return False
