"""Which kernels work with sub-groups."""

from __future__ import annotations

from functools import cache

from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.grammar import BuiltIn, Capability, Decoration, Op, requirements
from coopmat.spirv.module import Module

_OF_GROUPS = ("CooperativeMatrix", "Group", "Subgroup")
"""How the names of capabilities begin that are for what work-items do together."""
_BUILT_INS = frozenset(one for one in BuiltIn if "Subgroup" in one.name)


def uses_sub_groups(module: Module, kernel: str) -> bool:
    """Whether a kernel notices sub-groups, or requires a size of them."""
    signature = module.kernel_signatures.get(kernel)
    return (signature is not None and signature.sub_group_size is not None) or notices_sub_groups(module, kernel)


def notices_sub_groups(module: Module, kernel: str) -> bool:
    """Whether a kernel, or a function that it calls, has matrices or functions of sub-groups, or asks for numbers and
    sizes of them. To one that does not, the size of sub-groups makes no difference, even if it requires one."""
    variables = [row.words[0] for row in module.of_opcode(Op.Decorate)
                 if row.words[1] == Decoration.BuiltIn and row.words[2] in _BUILT_INS]
    if not variables and not any(isinstance(one, Capability) and _is_of_groups(one) for one in module.capabilities):
        return False
    reads = {id(row) for variable in variables for row in module.uses(variable)}
    together = _instructions()
    types = {row.result_id for row in module.of_opcode(*together)}
    return any(row.opcode in together or row.type_id in types or id(row) in reads
               for row in reachable_instructions(module, kernel))


@cache
def _instructions() -> frozenset[Op]:
    """What work-items do together, and the types of matrices."""
    return frozenset(op for op in Op if any(map(_is_of_groups, requirements(op).capabilities)))


def _is_of_groups(capability: Capability) -> bool:
    return capability.name.startswith(_OF_GROUPS)
