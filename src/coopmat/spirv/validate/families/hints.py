"""Rules about hints and prefetches: assumptions, expectations and block prefetches."""

from __future__ import annotations

from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group

EXPECT_ASSUME = "SPV_KHR_expect_assume"


@rule("assume-condition", "What is assumed to be true is a boolean.", f"{EXPECT_ASSUME}, OpAssumeTrueKHR",
      Op.AssumeTrueKHR)
def assume_condition(group: Group) -> Findings:
    yield ~group.value(0).is_kind(Op.TypeBool), "{op} takes a boolean, not {type0}"


@rule("expect-types", "A value and what it is expected to be are integers or booleans of the result type.",
      f"{EXPECT_ASSUME}, OpExpectKHR", Op.ExpectKHR)
def expect_types(group: Group) -> Findings:
    yield ~group.result.scalars_of(Op.TypeInt, Op.TypeBool), \
        "the result of {op} must be an integer, a boolean, or a vector of them, not {type}"
    for place, what in ((0, "value"), (1, "expected value")):
        yield group.value(place) != group.result, \
            f"the {what} of {{op}} has type {{type{place}}}; the result type {{type}} is needed"


@rule("block-prefetch", "A block prefetch takes a pointer to integers in global memory and a constant number of bytes.",
      "SPV_INTEL_subgroup_buffer_prefetch, OpSubgroupBlockPrefetchINTEL", Op.SubgroupBlockPrefetchINTEL)
def block_prefetch(group: Group) -> Findings:
    address = group.value(0)
    yield ~(address.is_pointer & address.in_storage(StorageClass.CrossWorkgroup)), \
        "{op} needs a pointer to CrossWorkgroup memory, not {type0}"
    yield address.is_kind(Op.TypePointer) & ~address.element.is_kind(Op.TypeInt), \
        "{op} needs a pointer to an integer, not to {pointee0}"
    yield ~group.value(1).is_int(32) | ~group.is_constant(1), \
        "the number of bytes of {op} is a constant 32-bit integer, not {def1} of type {type1}"
