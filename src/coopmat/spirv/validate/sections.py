"""The sections of a module, and which instructions belong into each (SPIR-V 2.4)."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.types import TYPES

SECTIONS: dict[int, tuple[str, tuple[Op, ...]]] = {
    1: ("capabilities", (Op.Capability, Op.ConditionalCapabilityINTEL)),
    2: ("extensions", (Op.Extension, Op.ConditionalExtensionINTEL)),
    3: ("imports of instruction sets", (Op.ExtInstImport,)),
    4: ("the memory model", (Op.MemoryModel, Op.SamplerImageAddressingModeNV)),
    5: ("entry points", (Op.EntryPoint, Op.ConditionalEntryPointINTEL)),
    6: ("execution modes", (Op.ExecutionMode, Op.ExecutionModeId)),
    7: ("strings and sources", (Op.String, Op.SourceExtension, Op.Source, Op.SourceContinued)),
    8: ("names", (Op.Name, Op.MemberName)),
    9: ("processing notes", (Op.ModuleProcessed,)),
    10: ("annotations", (Op.Decorate, Op.MemberDecorate, Op.DecorationGroup, Op.GroupDecorate,
                         Op.GroupMemberDecorate, Op.DecorateId, Op.DecorateString, Op.MemberDecorateString,
                         Op.MemberDecorateIdEXT)),
}
"""Number of each section before the declarations → its name and its instructions."""

BEFORE_DECLARATIONS = frozenset(int(op) for _, ops in SECTIONS.values() for op in ops)
DECLARATIONS = 11
"""Types, constants and global variables."""

CONSTANTS = frozenset({
    Op.ConstantTrue, Op.ConstantFalse, Op.Constant, Op.ConstantComposite, Op.ConstantSampler, Op.ConstantNull,
    Op.SpecConstantTrue, Op.SpecConstantFalse, Op.SpecConstant, Op.SpecConstantComposite, Op.SpecConstantOp,
    Op.ConstantPipeStorage, Op.ConstantCompositeReplicateEXT, Op.SpecConstantCompositeReplicateEXT,
    Op.ConstantSizeOfEXT, Op.ConstantDataKHR, Op.SpecConstantDataKHR, Op.ConstantFunctionPointerINTEL,
    Op.SpecConstantTargetINTEL, Op.SpecConstantArchitectureINTEL, Op.SpecConstantCapabilitiesINTEL,
})
"""The instructions whose results are constants; OpUndef may stand in for one."""

INSIDE_FUNCTIONS = frozenset({Op.Variable, Op.UntypedVariableKHR, Op.Undef, Op.PoisonKHR, Op.Line, Op.NoLine,
                              Op.ExtInst, Op.ExtInstWithForwardRefsKHR, Op.ConstantPipeStorage,
                              Op.AliasDomainDeclINTEL, Op.AliasScopeDeclINTEL, Op.AliasScopeListDeclINTEL})
"""Instructions that may stand among the declarations and in functions."""

_OTHER_DECLARATIONS = frozenset({
    Op.TypeForwardPointer, Op.TypeStructContinuedINTEL, Op.ConstantCompositeContinuedINTEL,
    Op.SpecConstantCompositeContinuedINTEL, Op.AsmTargetINTEL, Op.AsmINTEL,
})
SECTION_OF: dict[int, int] = {int(op): number for number, (_, ops) in SECTIONS.items() for op in ops}
SECTION_OF |= {int(op): DECLARATIONS for op in TYPES | CONSTANTS | INSIDE_FUNCTIONS | _OTHER_DECLARATIONS}
"""Opcode → number of its section; what is missing stands in functions only."""

FLOATING = frozenset({Op.AliasDomainDeclINTEL, Op.AliasScopeDeclINTEL, Op.AliasScopeListDeclINTEL})
"""Instructions that may stand among the annotations, too."""


def section_name(number: int) -> str:
    """What a message calls a section."""
    return SECTIONS[number][0] if number in SECTIONS else "types, constants and variables"
