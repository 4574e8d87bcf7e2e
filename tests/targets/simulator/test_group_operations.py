"""OpGroup* and OpGroupNonUniform*, against loops over the work-items of each group."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from coopmat.diagnostics import DivergentGroupOperation, Error, UndefinedBehavior
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.targets import short_kernels
from tests.kit.targets.short_kernels import DTYPES, UNCHECKED, evaluate, module, run
from tests.kit.targets.values import floats, integers

RNG = np.random.default_rng(3)
LANES = 16  # of the generic device, where a kernel requires no size
SUB_GROUP, WORK_GROUP = "%i32_c3", "%i32_c2"
COUNT = 192  # three work-groups of 64
SOME = RNG.integers(0, 2, COUNT).astype(np.int32)
SOME[:LANES], SOME[LANES:2 * LANES], SOME[2 * LANES] = 0, 1, 1

Item = int | float


def wrap(width: int, signed: bool = True) -> Callable[[int], int]:
    """Integers modulo 2**width, as signed or unsigned ones."""
    half = 1 << width - 1 if signed else 0
    return lambda value: (value + half) % (1 << width) - half


def wrapping(operation: Callable[[int, int], int], width: int, signed: bool) -> Callable[[int, int], int]:
    """The operation with its result kept modulo 2**width."""
    keep = wrap(width, signed)
    return lambda a, b: keep(operation(a, b))


def fmin(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def fmax(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


# name: (operation on two items, identity for (width), whether the operands are unsigned)
INTEGER_OPERATIONS = {
    "IAdd": (lambda a, b: a + b, lambda w: 0, False),
    "IMul": (lambda a, b: a * b, lambda w: 1, False),
    "SMin": (min, lambda w: (1 << w - 1) - 1, False),
    "SMax": (max, lambda w: -(1 << w - 1), False),
    "UMin": (min, lambda w: (1 << w) - 1, True),
    "UMax": (max, lambda w: 0, True),
    "BitwiseAnd": (lambda a, b: a & b, lambda w: -1, False),
    "BitwiseOr": (lambda a, b: a | b, lambda w: 0, False),
    "BitwiseXor": (lambda a, b: a ^ b, lambda w: 0, False),
}
FLOAT_OPERATIONS = {
    "FAdd": (lambda a, b: a + b, 0.0), "FMul": (lambda a, b: a * b, 1.0),
    "FMin": (fmin, np.inf), "FMax": (fmax, -np.inf),
}
CORE = ("IAdd", "SMin", "SMax", "UMin", "UMax", "FAdd", "FMin", "FMax")  # without the suffix KHR


def fold(items: list[Item], operation: Callable[[Item, Item], Item], identity: Item) -> list[list[Item]]:
    """Reduction for every item, inclusive scan, exclusive scan."""
    inclusive: list[Item] = []
    for item in items:
        inclusive.append(operation(inclusive[-1], item) if inclusive else item)
    return [inclusive[-1:] * len(items), inclusive, [identity, *inclusive[:-1]]]


def grouped(values: np.ndarray, size: int, active: np.ndarray, operation: Callable[[Item, Item], Item],
            identity: Item, which: int, fill: Item) -> list[Item]:
    """The results of the active items of each group of ``size``; ``fill`` for the others."""
    result = [fill] * len(values)
    for start in range(0, len(values), size):
        members = [i for i in range(start, min(start + size, len(values))) if active[i]]
        if members:
            for member, item in zip(members, fold([values[i].item() for i in members], operation, identity)[which],
                                    strict=True):
                result[member] = item
    return result


@pytest.mark.parametrize("which", range(3), ids=["reduce", "inclusive", "exclusive"])
@pytest.mark.parametrize("scope", [SUB_GROUP, WORK_GROUP], ids=["sub-group", "work-group"])
@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
def test_uniform_integer_arithmetic(name: str, scope: str, which: int) -> None:
    operation, identity, is_unsigned = INTEGER_OPERATIONS[name]
    opcode = f"OpGroup{name}" + ("" if name in CORE else "KHR")
    for width in (8, 16, 32, 64):
        values = integers(RNG, width, COUNT)
        found = evaluate(f"{opcode} %i{width} {scope} {GROUP_OPERATIONS[which]} {{0}}", f"i{width}", values)
        numbers = values.view(f"u{width // 8}") if is_unsigned else values
        expected = grouped(numbers, LANES if scope == SUB_GROUP else 64, np.ones(COUNT),
                           wrapping(operation, width, not is_unsigned), identity(width), which, 0)
        assert found.tolist() == [wrap(width)(item) for item in expected]


GROUP_OPERATIONS = ("Reduce", "InclusiveScan", "ExclusiveScan")


@pytest.mark.parametrize("which", range(3), ids=["reduce", "inclusive", "exclusive"])
@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("name", FLOAT_OPERATIONS)
def test_uniform_and_non_uniform_float_arithmetic(name: str, kind: str, which: int) -> None:
    operation, identity = FLOAT_OPERATIONS[name]
    dtype = DTYPES[kind]

    def step(a: float, b: float) -> float:
        return float(dtype(operation(dtype(a), dtype(b))))

    values = floats(RNG, kind, COUNT)
    opcode = f"OpGroup{name}" + ("" if name in CORE else "KHR")
    with np.errstate(all="ignore"):
        for scope, size in ((SUB_GROUP, LANES), (WORK_GROUP, 64)):
            if scope == WORK_GROUP and short_kernels.TARGET == "cuda":
                continue  # sub-groups first, and then their sums
            found = evaluate(f"{opcode} %{kind} {scope} {GROUP_OPERATIONS[which]} {{0}}", kind, values)
            expected = grouped(values, size, np.ones(COUNT), step, identity, which, 0.0)
            np.testing.assert_array_equal(found, np.array(expected, dtype))
        found = evaluate(where(f"OpGroupNonUniform{name} %{kind} {SUB_GROUP} {GROUP_OPERATIONS[which]} {{0}}", kind),
                         kind, values, SOME)
        np.testing.assert_array_equal(found, np.array(
            grouped(values, LANES, SOME, step, identity, which, 7.0), dtype))


def test_negative_zero_is_kept() -> None:
    values = np.full(64, -0.0, np.float32)
    for operation, signs in (("Reduce", [True] * 16), ("ExclusiveScan", [False] + [True] * 15)):
        found = evaluate(f"OpGroupFAdd %f32 {SUB_GROUP} {operation} {{0}}", "f32", values)
        assert np.signbit(found).tolist() == signs * 4


def where(line: str, kind: str, operand: int = 1) -> str:
    """Lines that carry out an instruction where an operand is not zero; %r is 7 elsewhere."""
    seven = f"%{kind}_c7" if kind != "bool" else "%false"
    return f"""
        %some = OpINotEqual %bool {{{operand}}} %i32_c0
        OpBranchConditional %some %then %end
        %then = OpLabel
        %t = {line}
        OpBranch %end
        %end = OpLabel
        %r = OpPhi %{kind} %t %then {seven} %entry"""


@pytest.mark.parametrize("which", range(3), ids=["reduce", "inclusive", "exclusive"])
@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
def test_non_uniform_integer_arithmetic(name: str, which: int) -> None:
    operation, identity, is_unsigned = INTEGER_OPERATIONS[name]
    for width in (8, 32, 64):
        values = integers(RNG, width, COUNT)
        found = evaluate(where(f"OpGroupNonUniform{name} %i{width} {SUB_GROUP} {GROUP_OPERATIONS[which]} {{0}}",
                               f"i{width}"), f"i{width}", values, SOME)
        numbers = values.view(f"u{width // 8}") if is_unsigned else values
        expected = grouped(numbers, LANES, SOME, wrapping(operation, width, not is_unsigned), identity(width), which, 7)
        assert found.tolist() == [wrap(width)(item) for item in expected]


@pytest.mark.parametrize("size", [1, 2, 8, 16])
def test_clustered_reductions(size: int) -> None:
    values = integers(RNG, 32, COUNT)
    found = evaluate(where(f"OpGroupNonUniformIAdd %i32 {SUB_GROUP} ClusteredReduce {{0}} %i32_c{size}", "i32"),
                     "i32", values, SOME)
    assert found.tolist() == grouped(values, size, SOME, lambda a, b: wrap(32)(a + b), 0, 0, 7)


def test_cluster_sizes_are_checked() -> None:
    values = integers(RNG, 32, 64)
    with pytest.raises(Error, match="power of two"):
        evaluate(f"OpGroupNonUniformIAdd %i32 {SUB_GROUP} ClusteredReduce {{0}} %i32_c3", "i32", values)
    with pytest.raises(UndefinedBehavior, match="clusters of 32"):
        evaluate(f"OpGroupNonUniformIAdd %i32 {SUB_GROUP} ClusteredReduce {{0}} %i32_c32", "i32", values)


@pytest.mark.parametrize("name", ["LogicalAnd", "LogicalOr", "LogicalXor"])
@pytest.mark.parametrize("which", range(3))
def test_logical_arithmetic(name: str, which: int) -> None:
    bits = RNG.integers(0, 2, COUNT).astype(np.int32)
    operation = {"LogicalAnd": lambda a, b: a & b, "LogicalOr": lambda a, b: a | b, "LogicalXor": lambda a, b: a ^ b}
    for opcode in (f"OpGroup{name}KHR", f"OpGroupNonUniform{name}"):
        found = evaluate(f"""%p = OpINotEqual %bool {{0}} %i32_c0
            %r = {opcode} %bool {SUB_GROUP} {GROUP_OPERATIONS[which]} %p""", "bool", bits)
        assert found.tolist() == grouped(bits, LANES, np.ones(COUNT), operation[name], name == "LogicalAnd", which, 0)


def test_arithmetic_on_vectors() -> None:
    values = RNG.integers(-9, 9, (64, 4)).astype(np.int32)
    found = evaluate(f"OpGroupNonUniformIAdd %v4_i32 {SUB_GROUP} InclusiveScan {{0}}", "v4_i32", values)
    np.testing.assert_array_equal(found.reshape(4, 16, 4), values.reshape(4, 16, 4).cumsum(axis=1))


@pytest.mark.parametrize("scope", [SUB_GROUP, WORK_GROUP])
def test_a_sub_group_that_is_not_full(scope: str) -> None:
    values = np.arange(40, dtype=np.int32)
    found = evaluate(f"OpGroupIAdd %i32 {scope} Reduce {{0}}", "i32", values)  # work-groups of 8
    np.testing.assert_array_equal(found, np.repeat(values.reshape(-1, 8).sum(axis=1), 8))


@pytest.mark.parametrize("scope", [SUB_GROUP, WORK_GROUP])
def test_votes(scope: str) -> None:
    bits = np.zeros(COUNT, np.int32)
    bits[20:36] = bits[64:128] = 1
    size = LANES if scope == SUB_GROUP else 64
    for opcode, expect in (("OpGroupAll", np.all), ("OpGroupAny", np.any)):
        found = evaluate(f"%p = OpINotEqual %bool {{0}} %i32_c0\n%r = {opcode} %bool {scope} %p", "bool", bits)
        np.testing.assert_array_equal(found, np.repeat(expect(bits.reshape(-1, size), axis=1), size))


def test_non_uniform_votes() -> None:
    bits = RNG.integers(0, 2, COUNT).astype(np.int32)
    bits[16:32] = 1
    bits[48:64] = SOME[48:64]
    line = "OpGroupNonUniform{} %bool %i32_c3 %p"
    for name, expect in (("All", all), ("Any", any)):
        found = evaluate("%p = OpINotEqual %bool {0} %i32_c0" + where(line.format(name), "bool"), "bool", bits, SOME,
                         declarations="%false = OpConstantFalse %bool")
        for start in range(0, COUNT, LANES):
            here = [i for i in range(start, start + LANES) if SOME[i]]
            expected = expect(bits[i] for i in here)
            assert all(found[i] == (expected and i in here) for i in range(start, start + LANES))


def test_elect_and_broadcast_first() -> None:
    values = integers(RNG, 32, COUNT)
    elected = evaluate(where(f"OpGroupNonUniformElect %bool {SUB_GROUP}", "bool", 0), "bool", SOME,
                       declarations="%false = OpConstantFalse %bool")
    first = evaluate(where(f"OpGroupNonUniformBroadcastFirst %i32 {SUB_GROUP} {{0}}", "i32"), "i32", values, SOME)
    for start in range(0, COUNT, LANES):
        here = [i for i in range(start, start + LANES) if SOME[i]]
        for i in range(start, start + LANES):
            assert elected[i] == (i in here[:1])
            assert first[i] == (values[here[0]] if i in here else 7)


def test_all_equal() -> None:
    values = np.repeat(np.arange(4, dtype=np.int32), 16)
    values[20] = 9
    found = evaluate(f"OpGroupNonUniformAllEqual %bool {SUB_GROUP} {{0}}", "bool", values)
    np.testing.assert_array_equal(found, np.repeat([1, 0, 1, 1], 16))
    vectors = np.zeros((64, 2), np.float32)
    vectors[5], vectors[20], vectors[40] = -0.0, (0, 1), np.nan
    found = evaluate(f"OpGroupNonUniformAllEqual %bool {SUB_GROUP} {{0}}", "bool", vectors)
    np.testing.assert_array_equal(found, np.repeat([1, 0, 0, 1], 16))


# --------------------------------------------------------------------------------------
# Broadcasts
# --------------------------------------------------------------------------------------


def test_broadcasts() -> None:
    values = RNG.standard_normal((64, 2)).astype(np.float32)
    for opcode in ("OpGroupBroadcast", "OpGroupNonUniformBroadcast"):
        found = evaluate(f"{opcode} %v2_f32 {SUB_GROUP} {{0}} %i32_c5", "v2_f32", values)
        np.testing.assert_array_equal(found, np.repeat(values[5::16], 16, axis=0))
    found = evaluate(f"OpGroupBroadcast %v2_f32 {WORK_GROUP} {{0}} %i64_c37", "v2_f32", values)
    np.testing.assert_array_equal(found, np.repeat(values[37:38], 64, axis=0))


def test_a_broadcast_in_a_work_group_of_two_dimensions() -> None:
    source = module("g_i32 out, g_i32 a", """
        %line = OpIMul %i64 %gy %i64_c8
        %at = OpIAdd %i64 %line %gx
        %p = OpPtrAccessChain %g_i32 %a %at
        %v = OpLoad %i32 %p
        %b = OpGroupBroadcast %i32 %i32_c2 %v %id
        %q = OpPtrAccessChain %g_i32 %out %at
        OpStore %q %b""", declarations="%id = OpConstantComposite %v2_i64 %i64_c3 %i64_c5")
    a, out = integers(RNG, 32, 128).reshape(16, 8), np.zeros((16, 8), np.int32)
    run(source, [out, a], (8, 16), (4, 8))
    for y in (0, 8):
        for x in (0, 4):
            assert (out[y:y + 8, x:x + 4] == a[y + 5, x + 3]).all()


@pytest.mark.parametrize("opcode", ["OpGroupBroadcast", "OpGroupNonUniformBroadcast"])
def test_a_broadcast_from_nowhere_or_from_several_places(opcode: str) -> None:
    values, chosen = np.zeros(64, np.int32), np.full(64, 3, np.int32)
    line = f"{opcode} %i32 {SUB_GROUP} {{0}} {{1}}"
    chosen[21] = 4
    with pytest.raises(UndefinedBehavior, match="must be the same"):
        evaluate(line, "i32", values, chosen)
    chosen[:] = 16
    with pytest.raises(UndefinedBehavior, match="takes no part"):
        evaluate(line, "i32", values, chosen)


def test_a_broadcast_from_a_work_item_that_is_not_there() -> None:
    active = np.tile(np.arange(16, dtype=np.int32), 4)
    with pytest.raises(UndefinedBehavior, match="takes no part") as error:
        evaluate(where(f"OpGroupNonUniformBroadcast %i32 {SUB_GROUP} {{0}} %i32_c0", "i32", 0), "i32", active)
    assert error.value.where.lane == 1


@pytest.mark.parametrize("scope", [SUB_GROUP, WORK_GROUP])
@pytest.mark.parametrize("line", ["OpGroupIAdd %i32 {} Reduce {{0}}", "OpGroupBroadcast %i32 {} {{0}} %i32_c1"])
def test_group_operations_need_the_whole_group(scope: str, line: str) -> None:
    active = np.ones(64, np.int32)
    active[20] = 0
    with pytest.raises(DivergentGroupOperation, match="must be reached by the whole"):
        evaluate(where(line.format(scope), "i32", 0), "i32", active)


def test_the_convergence_check_can_be_turned_off() -> None:
    active = np.arange(64, dtype=np.int32)
    found = evaluate(where(f"OpGroupIAdd %i32 {SUB_GROUP} Reduce {{0}}", "i32", 0), "i32", active,
                     options=SimulatorOptions(convergence=False))
    assert found[0] == 7
    np.testing.assert_array_equal(found[1:], np.repeat(active.reshape(4, 16).sum(axis=1), 16)[1:])


def test_scopes_are_checked() -> None:
    values = np.zeros(64, np.int32)
    with pytest.raises(Error, match="scope Workgroup is not supported; possible: Subgroup"):
        evaluate(f"OpGroupNonUniformIAdd %i32 {WORK_GROUP} Reduce {{0}}", "i32", values)
    with pytest.raises(Error, match="scope Device is not supported; possible: Workgroup and Subgroup"):
        evaluate("OpGroupIAdd %i32 %i32_c1 Reduce {0}", "i32", values)


@pytest.mark.parametrize("line", [
    "OpGroupIAdd %i32 %i32_c3 ClusteredReduce {0}", "OpGroupNonUniformIAdd %i32 %i32_c3 PartitionedReduceEXT {0} {0}",
    "OpGroupNonUniformBallotBitCount %i32 %i32_c3 ClusteredReduce {1}"])
def test_group_operations_that_do_not_go_with_an_instruction(line: str) -> None:
    with pytest.raises(Error, match="is not supported; possible: Reduce, InclusiveScan, ExclusiveScan"):
        evaluate(line, "i32", np.zeros(64, np.int32), np.zeros((64, 4), np.int32))


def test_operands_of_the_wrong_kind_end_in_an_error() -> None:
    with pytest.raises(Error):
        evaluate("OpGroupBitwiseAndKHR %f32 %i32_c3 Reduce {0}", "f32", np.zeros(64, np.float32))


# --------------------------------------------------------------------------------------
# Ballots
# --------------------------------------------------------------------------------------


def ballots(bits: np.ndarray) -> np.ndarray:
    """The first word of each sub-group's ballot, for every work-item."""
    return np.repeat([sum(int(bit) << i for i, bit in enumerate(group)) for group in bits.reshape(-1, LANES)], LANES)


def test_ballot() -> None:
    bits = RNG.integers(0, 2, COUNT).astype(np.int32)
    found = evaluate("%p = OpINotEqual %bool {0} %i32_c0" + where(
        f"OpGroupNonUniformBallot %v4_i32 {SUB_GROUP} %p", "v4_i32"), "v4_i32", bits, SOME,
        declarations="%v4_i32_c7 = OpConstantComposite %v4_i32 %i32_c7 %i32_c7 %i32_c7 %i32_c7")
    expected = np.zeros((COUNT, 4), np.int32)
    expected[:, 0] = ballots(bits & SOME)
    expected[SOME == 0] = 7
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [8, 64])
def test_ballots_of_other_sub_group_sizes(size: int) -> None:
    source = module("g_v4_i32 out, g_i32 a", f"""
        %p = OpPtrAccessChain %g_i32 %a %gx
        %v = OpLoad %i32 %p
        %c = OpINotEqual %bool %v %i32_c0
        %b = OpGroupNonUniformBallot %v4_i32 {SUB_GROUP} %c
        %q = OpPtrAccessChain %g_v4_i32 %out %gx
        OpStore %q %b""", modes=[f"SubgroupSize {size}"])
    bits = RNG.integers(0, 2, 128).astype(np.int32)
    out = np.zeros((128, 4), np.uint32)
    run(source, [out, bits], 128, 64)
    for start in range(0, 128, size):
        number = sum(int(bit) << i for i, bit in enumerate(bits[start:start + size]))
        assert out[start:start + size].tolist() == [[number & 0xFFFFFFFF, number >> 32, 0, 0]] * size


def test_queries_of_ballots() -> None:
    """Bits past the sub-group's size do not count."""
    count = 64
    ballot = RNG.integers(0, 1 << 16, (count, 4)).astype(np.int32)
    ballot[:, 0] |= RNG.integers(0, 1 << 15, count).astype(np.int32) << 16
    ballot[3, 0], ballot[4, 0] = 1 << 15, 1
    lane = np.arange(count) % LANES
    bits = np.array([[value >> i & 1 for i in range(LANES)] for value in ballot[:, 0].tolist()])
    index = RNG.integers(0, LANES, count).astype(np.int32)
    ones = (ballot[:, 0] & 0xFFFF) != 0

    def query(line: str, result: str = "i32") -> np.ndarray:
        return evaluate(line, result, ballot, index)

    np.testing.assert_array_equal(query(f"OpGroupNonUniformInverseBallot %bool {SUB_GROUP} {{0}}", "bool"),
                                  bits[range(count), lane])
    np.testing.assert_array_equal(query(f"OpGroupNonUniformBallotBitExtract %bool {SUB_GROUP} {{0}} {{1}}", "bool"),
                                  bits[range(count), index])
    for operation, counts in (("Reduce", lambda i: bits[i].sum()),
                              ("InclusiveScan", lambda i: bits[i, :lane[i] + 1].sum()),
                              ("ExclusiveScan", lambda i: bits[i, :lane[i]].sum())):
        found = query(f"OpGroupNonUniformBallotBitCount %i32 {SUB_GROUP} {operation} {{0}}")
        assert found.tolist() == [counts(i) for i in range(count)]
    lowest = query(f"OpGroupNonUniformBallotFindLSB %i32 {SUB_GROUP} {{0}}")
    highest = query(f"OpGroupNonUniformBallotFindMSB %i32 {SUB_GROUP} {{0}}")
    for i in np.flatnonzero(ones):
        value = int(ballot[i, 0]) & 0xFFFF
        assert (lowest[i], highest[i]) == ((value & -value).bit_length() - 1, value.bit_length() - 1)


# --------------------------------------------------------------------------------------
# Shuffles
# --------------------------------------------------------------------------------------

SOURCES = {  # the lane that a work-item reads from
    "Shuffle": lambda lane, x: x, "ShuffleXor": lambda lane, x: lane ^ x, "ShuffleUp": lambda lane, x: lane - x,
    "ShuffleDown": lambda lane, x: lane + x,
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("kind", ["i8", "f64", "v3_f16"])
def test_non_uniform_shuffles(name: str, kind: str) -> None:
    """What comes from a lane that is not active or does not exist is undefined; here it is zero."""
    data = RNG.integers(-99, 99, (COUNT, 3) if kind[0] == "v" else COUNT).astype(DTYPES[kind.split("_")[-1]])
    operand = RNG.integers(0, 18, COUNT).astype(np.int32)
    seven = "%v3_f16_c7 = OpConstantComposite %v3_f16 %f16_c7 %f16_c7 %f16_c7"
    found = evaluate(where(f"OpGroupNonUniform{name} %{kind} {SUB_GROUP} {{0}} {{1}}", kind, 2), kind, data, operand,
                     SOME, declarations=seven if kind == "v3_f16" else "", options=UNCHECKED)
    for i in range(COUNT):
        source = SOURCES[name](i % LANES, int(operand[i]))
        other = i // LANES * LANES + source
        valid = 0 <= source < LANES and SOME[min(other, COUNT - 1)]
        expected = np.full_like(data[0], 7) if not SOME[i] else data[other] if valid else 0 * data[0]
        np.testing.assert_array_equal(found[i], expected)


@pytest.mark.parametrize("delta", [0, 1, 5, 15, 16, -1])
@pytest.mark.parametrize("cluster", [None, 4, 16])
def test_rotate(delta: int, cluster: int | None) -> None:
    values = integers(RNG, 32, 64)
    amount = f"%i32_c{delta}" if delta >= 0 else f"%i32_cm{-delta}"
    found = evaluate(f"OpGroupNonUniformRotateKHR %i32 {SUB_GROUP} {{0}} {amount} " + (
        f"%i32_c{cluster}" if cluster else ""), "i32", values)
    np.testing.assert_array_equal(found.reshape(-1, cluster or 16), np.roll(
        values.reshape(-1, cluster or 16), -delta, axis=1))
