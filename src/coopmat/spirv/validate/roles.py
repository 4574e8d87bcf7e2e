"""What the ids of each instruction must be: a value, a type, a label, a function, …"""

from __future__ import annotations

from enum import IntEnum

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.types import TYPES


class Role(IntEnum):
    """What an id stands for."""

    ANY = 0
    VALUE = 1
    TYPE = 2
    LABEL = 3
    FUNCTION = 4
    INSTRUCTION_SET = 5
    STRING = 6
    DECORATION_GROUP = 7
    CONSTANT = 8
    NOTHING = 9

    @property
    def text(self) -> str:
        """With its article, as a message says it."""
        return _TEXTS[self]


_TEXTS = {
    Role.ANY: "anything", Role.VALUE: "a value", Role.TYPE: "a type", Role.LABEL: "a label",
    Role.FUNCTION: "a function", Role.INSTRUCTION_SET: "an extended instruction set",
    Role.STRING: "an OpString", Role.DECORATION_GROUP: "a decoration group", Role.CONSTANT: "a constant",
    Role.NOTHING: "nothing",
}

REST = -1
"""The place that stands for all others."""

_ANY_OPERANDS = (
    Op.Name, Op.MemberName, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.MemberDecorate,
    Op.MemberDecorateString, Op.MemberDecorateIdEXT, Op.Source, Op.SpecConstantOp, Op.AsmCallINTEL,
    Op.AliasDomainDeclINTEL, Op.AliasScopeDeclINTEL, Op.AliasScopeListDeclINTEL, Op.ConditionalCapabilityINTEL,
    Op.ConditionalEntryPointINTEL, Op.ConditionalExtensionINTEL, Op.SizeOf, Op.TypeStructContinuedINTEL,
)
_OF_TYPE = (Op.CooperativeMatrixLengthKHR, Op.CooperativeMatrixLengthNV, Op.ConstantSizeOfEXT,
            Op.UntypedAccessChainKHR, Op.UntypedInBoundsAccessChainKHR, Op.UntypedPtrAccessChainKHR,
            Op.UntypedInBoundsPtrAccessChainKHR, Op.UntypedArrayLengthKHR, Op.UntypedImageTexelPointerEXT)
"""Instructions whose first operand is a type."""
_OF_CONSTANTS = (Op.ConstantComposite, Op.SpecConstantComposite, Op.ConstantCompositeReplicateEXT,
                 Op.SpecConstantCompositeReplicateEXT, Op.TypeTensorLayoutNV, Op.TypeTensorViewNV,
                 Op.ConstantCompositeContinuedINTEL, Op.SpecConstantCompositeContinuedINTEL)
_MEMORY_ACCESS = {Op.Load: 1, Op.Store: 2, Op.CopyMemory: 2, Op.CopyMemorySized: 3, Op.CooperativeMatrixLoadKHR: 3,
                  Op.CooperativeMatrixStoreKHR: 4, Op.CooperativeMatrixLoadTensorNV: 3,
                  Op.CooperativeMatrixStoreTensorNV: 3, Op.PredicatedLoadINTEL: 3, Op.PredicatedStoreINTEL: 3}
"""Instruction → the number of values before its memory operands, whose ids may be lists of alias scopes."""
_CALLS = {Op.FunctionCall: 0, Op.EnqueueKernel: 6, Op.GetKernelNDrangeSubGroupCount: 1,
          Op.GetKernelNDrangeMaxSubGroupSize: 1, Op.GetKernelWorkGroupSize: 0,
          Op.GetKernelPreferredWorkGroupSizeMultiple: 0, Op.GetKernelLocalSizeForSubgroupCount: 1,
          Op.GetKernelMaxNumSubgroups: 0, Op.CooperativeMatrixReduceEXT: 2, Op.CooperativeMatrixPerElementOpEXT: 1,
          Op.CooperativeMatrixApplyFunctionINTEL: 0, Op.ConstantFunctionPointerINTEL: 0}
"""Instruction → the place of the function that it names."""

ROLES: dict[Op, dict[int, Role]] = {
    **{op: {REST: Role.TYPE} for op in TYPES},
    **{op: {REST: Role.ANY} for op in _ANY_OPERANDS},
    **{op: {0: Role.TYPE} for op in _OF_TYPE},
    **{op: {REST: Role.CONSTANT} for op in _OF_CONSTANTS},
    **{op: {place: Role.FUNCTION} for op, place in _CALLS.items()},
    **{op: {**dict.fromkeys(range(values), Role.VALUE), REST: Role.ANY} for op, values in _MEMORY_ACCESS.items()},
    Op.TypeArray: {0: Role.TYPE, 1: Role.CONSTANT},
    Op.TypeCooperativeMatrixKHR: {0: Role.TYPE, REST: Role.CONSTANT},
    Op.TypeCooperativeMatrixNV: {0: Role.TYPE, REST: Role.CONSTANT},
    Op.TypeVectorIdEXT: {0: Role.TYPE, 1: Role.CONSTANT},
    Op.TypeForwardPointer: {0: Role.TYPE},
    Op.TypeTensorARM: {0: Role.TYPE, REST: Role.CONSTANT},
    Op.AsmINTEL: {0: Role.TYPE, REST: Role.ANY},
    Op.Function: {1: Role.TYPE},
    Op.UntypedVariableKHR: {1: Role.TYPE},
    Op.Branch: {0: Role.LABEL},
    Op.BranchConditional: {0: Role.VALUE, 1: Role.LABEL, 2: Role.LABEL},
    Op.LoopMerge: {0: Role.LABEL, 1: Role.LABEL},
    Op.SelectionMerge: {0: Role.LABEL},
    Op.Line: {0: Role.STRING},
    Op.EntryPoint: {1: Role.FUNCTION, REST: Role.VALUE},
    Op.ExecutionMode: {0: Role.FUNCTION, REST: Role.ANY},
    Op.ExecutionModeId: {0: Role.FUNCTION, REST: Role.ANY},
    Op.ExtInst: {0: Role.INSTRUCTION_SET, REST: Role.ANY},
    Op.ExtInstWithForwardRefsKHR: {0: Role.INSTRUCTION_SET, REST: Role.ANY},
    Op.GroupDecorate: {0: Role.DECORATION_GROUP, REST: Role.ANY},
    Op.GroupMemberDecorate: {0: Role.DECORATION_GROUP, REST: Role.TYPE},
    Op.AbortKHR: {0: Role.TYPE},
}
"""Role of the id at each place; what is not listed is a value.  Phi and Switch are in :func:`role`."""

FORWARD = frozenset({
    Op.Name, Op.MemberName, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.MemberDecorate,
    Op.MemberDecorateString, Op.MemberDecorateIdEXT, Op.GroupDecorate, Op.GroupMemberDecorate, Op.EntryPoint,
    Op.ConditionalEntryPointINTEL, Op.ConditionalCapabilityINTEL, Op.ConditionalExtensionINTEL, Op.ExecutionMode,
    Op.ExecutionModeId, Op.TypeForwardPointer, Op.TypeStruct, Op.ExtInstWithForwardRefsKHR,
    Op.CooperativeMatrixLoadTensorNV,
})
"""Instructions that may use any id before it is defined; labels and functions all may."""


def role(opcode: int, place: int) -> Role:
    """What the id at this place of an instruction's operand words must be."""
    if opcode == Op.Phi:
        return Role.VALUE if place % 2 == 0 else Role.LABEL
    if opcode == Op.Switch:
        return Role.VALUE if place == 0 else Role.LABEL
    places = ROLES.get(opcode)  # type: ignore[call-overload]
    if places is None:
        return Role.VALUE
    return places.get(place, places.get(REST, Role.VALUE))
