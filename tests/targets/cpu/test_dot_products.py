"""Dot products on the CPU where an operand is the same for all work-items, in sub-groups of every size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kit.targets import short_kernels
from tests.kit.targets.short_kernels import module, run
from tests.targets.simulator.test_sub_group_matrix import (
    INTEGER_ROWS,
    INTEGERS,
    integer_types,
    operand_names,
    vector,
)

RNG = np.random.default_rng(31)


@pytest.mark.parametrize("form", ["S", "U", "SU"])
@pytest.mark.parametrize("size", [4, 8, 16, 32, 64])
def test_one_vector_for_all(monkeypatch: pytest.MonkeyPatch, size: int, form: str) -> None:
    """On either side, in a branch that not all work-items take."""
    source = module("g_i32 out, g_i32 a, i32 b", f"""
        %p = OpPtrAccessChain %g_i32 %a %gx
        %va = OpLoad %i32 %p
        %some = OpSGreaterThan %bool %va %i32_c0
        OpBranchConditional %some %then %end
        %then = OpLabel
        %x = Op{form}Dot %i32 %va %b PackedVectorFormat4x8Bit
        %y = Op{form}DotAccSat %i32 %b %va %x PackedVectorFormat4x8Bit
        %q = OpPtrAccessChain %g_i32 %out %gx
        OpStore %q %y
        OpBranch %end
        %end = OpLabel""", modes=[f"SubgroupSize {size}"])
    a = np.frombuffer(RNG.bytes(4 * 128), np.int32)
    found = []
    for target in ("cpu", "simulator"):
        monkeypatch.setattr(short_kernels, "TARGET", target)
        found.append(np.zeros_like(a))
        run(source, [found[-1], a, np.int32(-0x7F80FF02)], 128, 64)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(("size", "a_name", "b_name"), INTEGER_ROWS)
def test_rows_of_a_matrix_alike_in_all_lanes(monkeypatch: pytest.MonkeyPatch, size: int, a_name: str,
                                             b_name: str) -> None:
    m, a_bits = 2, INTEGERS[a_name]
    a_type, b_type, c_type = integer_types(size, a_name, m)
    c_type = vector(c_type, m)
    source = module(f"g_{c_type} out, {a_type} a, g_{b_type} b", f"""
        %pb = OpPtrAccessChain %g_{b_type} %b %gx
        %vb = OpLoad %{b_type} %pb
        %pc = OpPtrAccessChain %g_{c_type} %out %gx
        %vc = OpLoad %{c_type} %pc
        %d = OpSubgroupMatrixMultiplyAccumulateINTEL %{c_type} %i32_c{256 // a_bits[0]} %a %vb %vc {operand_names(
            a_bits[1] | INTEGERS[b_name][2])}
        OpStore %pc %d""", modes=[f"SubgroupSize {size}"])
    a = np.frombuffer(RNG.bytes(8), np.int32 if size == 8 else np.int16)[:m]
    b = np.frombuffer(RNG.bytes(size * 64), np.int32).reshape(-1, 8)
    found = []
    for target in ("cpu", "simulator"):
        monkeypatch.setattr(short_kernels, "TARGET", target)
        found.append(np.zeros((2 * size, m), np.int32))
        run(source, [found[-1], a, b], 2 * size, 2 * size)
    np.testing.assert_array_equal(*found)
