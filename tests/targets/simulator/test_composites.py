"""Composites: construction, extraction, insertion, shuffles, constants."""

import numpy as np
import pytest

from coopmat.diagnostics import ValidationError
from tests.kit.targets.short_kernels import evaluate, module, run

RNG = np.random.default_rng(19)
A, B = RNG.integers(-99, 99, (2, 32, 4)).astype(np.int32)


def test_vector_from_scalars_and_vectors() -> None:
    x, y = RNG.standard_normal((2, 32)).astype(np.float32)
    np.testing.assert_array_equal(evaluate("OpCompositeConstruct %v2_f32 {0} {1}", "v2_f32", x, y), np.stack([x, y], 1))
    code = "%two = OpCompositeConstruct %v2_f32 {0} {1}\n%r = OpCompositeConstruct %v4_f32 {1} %two {0}"
    np.testing.assert_array_equal(evaluate(code, "v4_f32", x, y), np.stack([y, x, y, x], 1))


def test_extract_and_insert_a_component() -> None:
    np.testing.assert_array_equal(evaluate("OpCompositeExtract %i32 {0} 2", "i32", A), A[:, 2])
    scalar = RNG.integers(0, 9, 32).astype(np.int32)
    expected = A.copy()
    expected[:, 1] = scalar
    np.testing.assert_array_equal(evaluate("OpCompositeInsert %v4_i32 {0} {1} 1", "v4_i32", scalar, A), expected)


def test_extract_and_insert_with_run_time_index() -> None:
    index = RNG.integers(0, 4, 32).astype(np.int32)
    scalar = RNG.integers(0, 9, 32).astype(np.int32)
    rows = np.arange(32)
    found = evaluate("OpVectorExtractDynamic %i32 {0} {1}", "i32", A, index)
    np.testing.assert_array_equal(found, A[rows, index])
    expected = A.copy()
    expected[rows, index] = scalar
    found = evaluate("OpVectorInsertDynamic %v4_i32 {0} {1} {2}", "v4_i32", A, scalar, index)
    np.testing.assert_array_equal(found, expected)


def test_shuffle_takes_components_of_both_vectors() -> None:
    found = evaluate("OpVectorShuffle %v3_i32 {0} {1} 7 0 5", "v3_i32", A, B)
    np.testing.assert_array_equal(found, np.stack([B[:, 3], A[:, 0], B[:, 1]], 1))
    found = evaluate("OpVectorShuffle %v2_i32 {0} {1} 1 4294967295", "v2_i32", A, B)  # an undefined component
    np.testing.assert_array_equal(found[:, 0], A[:, 1])


def test_shuffle_of_a_component_that_does_not_exist() -> None:
    with pytest.raises(ValidationError, match="not below 8"):
        evaluate("OpVectorShuffle %v2_i32 {0} {1} 8 0", "v2_i32", A, B)


def test_nested_aggregates_as_values() -> None:
    declarations = """
        %inner = OpTypeStruct %i32 %v2_f32
        %outer = OpTypeStruct %a3_inner %i64"""
    x = RNG.standard_normal(32).astype(np.float32)
    code = """
        %pair = OpCompositeConstruct %v2_f32 {0} {0}
        %in = OpCompositeConstruct %inner %i32_c4 %pair
        %none = OpUndef %inner
        %three = OpCompositeConstruct %a3_inner %none %in %none
        %whole = OpCompositeConstruct %outer %three %i64_c1
        %changed = OpCompositeInsert %outer {1} %whole 0 1 1 0
        %copy = OpCopyLogical %outer %changed
        %got = OpCompositeExtract %inner %copy 0 1
        %r = OpCompositeExtract %v2_f32 %got 1"""
    y = RNG.standard_normal(32).astype(np.float32)
    np.testing.assert_array_equal(evaluate(code, "v2_f32", x, y, declarations=declarations), np.stack([y, x], 1))


def test_a_choice_between_aggregates() -> None:
    x = RNG.integers(-9, 9, 32).astype(np.int32)
    code = """
        %is_less = OpSLessThan %bool {0} %i32_c0
        %one = OpCompositeConstruct %pair {0} %i32_c1
        %other = OpCompositeConstruct %pair %i32_c2 {0}
        %chosen = OpSelect %pair %is_less %one %other
        %a = OpCompositeExtract %i32 %chosen 0
        %b = OpCompositeExtract %i32 %chosen 1
        %r = OpCompositeConstruct %v2_i32 %a %b"""
    found = evaluate(code, "v2_i32", x, declarations="%pair = OpTypeStruct %i32 %i32")
    np.testing.assert_array_equal(found, np.where(x[:, None] < 0, np.stack([x, 0 * x + 1], 1),
                                                  np.stack([0 * x + 2, x], 1)))


def test_extracting_past_the_end_is_refused() -> None:
    with pytest.raises(ValidationError, match="outside"):
        evaluate("OpCompositeExtract %i32 {0} 4", "i32", A)


def test_constants_of_all_kinds() -> None:
    """Scalars, composites, null, specialisation constants with their defaults, constant expressions."""
    declarations = """
        %spec = OpSpecConstant %i32 20
        %sum = OpSpecConstantOp %i32 IAdd %spec %i32_c3
        %vector = OpConstantComposite %v4_i32 %i32_c1 %i32_cm2 %sum %spec
        %null = OpConstantNull %v4_i32
        %yes = OpSpecConstantTrue %bool
        %choice = OpSpecConstantOp %v4_i32 Select %yes %vector %null
        %turned = OpSpecConstantOp %v4_i32 VectorShuffle %choice %null 3 2 1 0"""
    source = module("g_v4_i32 out", "OpStore %out %turned", declarations=declarations)
    out = np.zeros(4, np.int32)
    run(source, [out])
    assert out.tolist() == [20, 23, -2, 1]
    assert evaluate("OpCopyObject %i32 {0}", "i32", A[:, 0].copy()).tolist() == A[:, 0].tolist()


def test_constant_composite_fills_by_members() -> None:
    declarations = """
        %record = OpTypeStruct %i32 %f32
        %one = OpConstantComposite %record %i32_c5 %f32_c2p5
        %both = OpConstantComposite %a2_record %one %one"""
    source = module("g_f32 out", """
        %x = OpCompositeExtract %f32 %both 1 1
        OpStore %out %x""", declarations=declarations)
    out = np.zeros(1, np.float32)
    run(source, [out])
    assert out.tolist() == [2.5]
