"""Rules for hints to the optimiser (SPV_KHR_expect_assume)."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule

SECTION = "SPV_KHR_expect_assume"


@rule("assume-condition", "What is assumed to be true is a boolean.", SECTION, Op.AssumeTrueKHR)
def assume_condition(group: Group) -> Findings:
    yield ~group.value(0).is_kind(Op.TypeBool), "the condition of {op} is a boolean, not {type0}"


@rule("expect-types", "A value and what it is expected to be are integers or booleans of the result type.", SECTION,
      Op.ExpectKHR)
def expect_types(group: Group) -> Findings:
    yield ~group.result.scalars_of(Op.TypeInt, Op.TypeBool), "{op} gives integers or booleans, not {type}"
    for place in (0, 1):
        yield group.value(place) != group.result, \
            f"operand {place + 1} of {{op}} has type {{type{place}}}; the result type {{type}} is needed"
