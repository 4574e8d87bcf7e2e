"""Cases of the family enumerants."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, valid
from tests.kit.spirv.cases.declarations import declare


def load(operands: str) -> str:
    return kernel(f"%r = OpLoad %uint %p0 {operands}", parameters="%ptr_global_uint")


SELECTION = "OpSelectionMerge %m {}\nOpBranchConditional %true %a %m\n%a = OpLabel\nOpBranch %m\n%m = OpLabel"

CASES = [
    valid("known bits", load("!0x7 !0x8")),
    broken("enumerant-unknown", "memory operands without a meaning", load("!0x200000")),
    broken("enumerant-unknown", "a known bit of memory operands beside one without a meaning", load("!0x80000001")),
    broken("enumerant-unknown", "a function control without a meaning",
           kernel("").replace("%void None", "%void !0x4000")),
    valid("a flattened selection", kernel(SELECTION.format("Flatten"))),
    broken("enumerant-unknown", "a selection control without a meaning", kernel(SELECTION.format("!0x40"))),
    broken("enumerant-unknown", "a storage class that does not exist", declare("%t = OpTypePointer !0x270f %uint")),
    broken("enumerant-unknown", "a decoration that does not exist",
           declare("%v = OpVariable %ptr_global_uint CrossWorkgroup", annotations="OpDecorate %v !0x270f")),
    broken("enumerant-unknown", "an execution mode that does not exist",
           kernel("", modes="OpExecutionMode %main !0x270f")),
]
