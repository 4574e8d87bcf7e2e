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

    @property
    def text(self) -> str:
        """With its article, as a message says it."""
        return _TEXTS[self]


_TEXTS = {
    Role.ANY: "anything", Role.VALUE: "a value", Role.TYPE: "a type", Role.LABEL: "a label",
    Role.FUNCTION: "a function", Role.INSTRUCTION_SET: "an extended instruction set",
    Role.STRING: "an OpString", Role.DECORATION_GROUP: "a decoration group", Role.CONSTANT: "a constant",
}

REST = -1
"""The place that stands for all others."""

_ANY_OPERANDS = (
    Op.Name, Op.MemberName, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.MemberDecorate,
    Op.MemberDecorateString, Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId, Op.GroupDecorate,
    Op.GroupMemberDecorate, Op.Source, Op.SpecConstantOp, Op.ExtInst, Op.ExtInstWithForwardRefsKHR,
)

ROLES: dict[Op, dict[int, Role]] = {
    **{op: {REST: Role.TYPE} for op in TYPES},
    **{op: {REST: Role.ANY} for op in _ANY_OPERANDS},
    Op.TypeArray: {0: Role.TYPE, 1: Role.CONSTANT},
    Op.TypeCooperativeMatrixKHR: {0: Role.TYPE, REST: Role.CONSTANT},
    Op.TypeForwardPointer: {0: Role.TYPE},
    Op.ConstantComposite: {REST: Role.CONSTANT},
    Op.SpecConstantComposite: {REST: Role.CONSTANT},
    Op.Function: {1: Role.TYPE},
    Op.FunctionCall: {0: Role.FUNCTION, REST: Role.VALUE},
    Op.Branch: {0: Role.LABEL},
    Op.BranchConditional: {0: Role.VALUE, 1: Role.LABEL, 2: Role.LABEL},
    Op.LoopMerge: {0: Role.LABEL, 1: Role.LABEL},
    Op.SelectionMerge: {0: Role.LABEL},
    Op.Line: {0: Role.STRING},
    Op.CooperativeMatrixLengthKHR: {0: Role.TYPE},
    Op.EntryPoint: {1: Role.FUNCTION, REST: Role.VALUE},
    Op.ExecutionMode: {0: Role.FUNCTION, REST: Role.ANY},
    Op.ExecutionModeId: {0: Role.FUNCTION, REST: Role.CONSTANT},
    Op.ExtInst: {0: Role.INSTRUCTION_SET, REST: Role.ANY},
    Op.GroupDecorate: {0: Role.DECORATION_GROUP, REST: Role.ANY},
    Op.GroupMemberDecorate: {0: Role.DECORATION_GROUP, REST: Role.ANY},
    Op.SizeOf: {REST: Role.VALUE},
}
"""Role of the id at each place; what is not listed is a value.  Phi and Switch are in :func:`role`."""

FORWARD = frozenset({
    Op.Name, Op.MemberName, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.MemberDecorate,
    Op.MemberDecorateString, Op.GroupDecorate, Op.GroupMemberDecorate, Op.EntryPoint, Op.ExecutionMode,
    Op.ExecutionModeId, Op.TypeForwardPointer, Op.TypeStruct, Op.Phi, Op.LoopMerge, Op.SelectionMerge, Op.Branch,
    Op.BranchConditional, Op.Switch, Op.FunctionCall, Op.EnqueueKernel, Op.GetKernelNDrangeSubGroupCount,
    Op.GetKernelNDrangeMaxSubGroupSize, Op.GetKernelWorkGroupSize,
    Op.GetKernelPreferredWorkGroupSizeMultiple, Op.ExtInstWithForwardRefsKHR,
})
"""Instructions that may use an id before it is defined."""


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
