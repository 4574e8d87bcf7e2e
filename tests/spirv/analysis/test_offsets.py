"""What divides an index, as modules tell that count in bytes."""

from __future__ import annotations

import pytest

from coopmat.spirv import Module
from coopmat.spirv.analysis.offsets import MOST_FACTOR, factor_of
from tests.kit.spirv.case import kernel

BODY = """%shifted = OpShiftLeftLogical %ulong %p0 %ulong_3
%wide = OpSConvert %ulong %p1
%scaled = OpIMul %ulong %wide %ulong_12
%sum = OpIAdd %ulong %shifted %scaled
%masked = OpBitwiseAnd %ulong %sum %ulong_48
%odd = OpIAdd %ulong %shifted %ulong_3
%quotient = OpUDiv %ulong %shifted %ulong_8
OpBranch %loop
%loop = OpLabel
%turn = OpPhi %ulong %ulong_16 %entry %next %loop
%next = OpIAdd %ulong %turn %shifted
%more = OpULessThan %bool %next %p0
OpBranchConditional %more %loop %end
%end = OpLabel"""


@pytest.mark.parametrize(("name", "factor"), [
    ("p0", 1), ("shifted", 8), ("scaled", 4), ("sum", 4), ("masked", 16), ("odd", 1), ("quotient", 1), ("turn", 8),
    ("next", 8), ("ulong_48", 16)])
def test_factors(name: str, factor: int) -> None:
    module = Module.from_text(kernel(BODY, parameters="%ulong %uint"))
    number = next(identifier for identifier, text in module.names_in_text.items() if text == name)
    assert factor_of(module, number) == min(factor, MOST_FACTOR)
