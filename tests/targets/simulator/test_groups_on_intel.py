"""Group and sub-group instructions: the same modules in the simulator and on Intel's CPU runtime."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from coopmat.spirv.analysis.requirements import Needs
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import make
from tests.kit.oracles import intel_runtime
from tests.kit.targets.short_kernels import DTYPES, module, run

COUNT, LOCAL = 192, 64  # three work-groups of four sub-groups of 16
SUB_GROUP, WORK_GROUP = "%i32_c3", "%i32_c2"
OPERATIONS = ("Reduce", "InclusiveScan", "ExclusiveScan")
INTEGERS = ("IAdd", "SMin", "SMax", "UMin", "UMax")
FLOATS = ("FAdd", "FMin", "FMax")
EXTENDED = ("IMul", "BitwiseAnd", "BitwiseOr", "BitwiseXor")
LOGICAL = ("LogicalAnd", "LogicalOr")  # of LogicalXor the runtime makes an or
RNG = np.random.default_rng(11)


def complete(source: Module) -> Module:
    """The module with the capabilities and extensions that it needs, and no others."""
    rest = [item for item in source.instructions if item.opcode not in (Op.Capability, Op.Extension)]
    used = {word for item in rest for word in item.ids()}
    rest = [item for item in rest if item.opcode != Op.ExtInstImport or item.result_id in used]
    needs = Needs((1, 4))
    for item in rest:
        needs.add(item)
    head = [make(Op.Capability, capability) for capability in needs.capabilities()]
    head += [make(Op.Extension, name) for name in needs.extensions()]
    return Module([*head, *rest], version=source.version, bound=source.bound)


def several(lines: Sequence[str], kind: str, result: str) -> Module:
    """A kernel whose work-items store the results of many instructions, each in its own part of ``out``.

    In a line ``%v`` is the work-item's value, ``%n`` its operand (a number below 16) and ``%b`` a boolean."""
    stored = result.replace("bool", "i32")
    width = int(result[1:].split("_")[0]) if result.startswith("v") else 1
    body = [f"""
        %pv = OpInBoundsPtrAccessChain %g_{kind} %in %gx
        %v = OpLoad %{kind} %pv
        %pn = OpInBoundsPtrAccessChain %g_i32 %operands %gx
        %n = OpLoad %i32 %pn
        %low = OpBitwiseAnd %i32 %n %i32_c1
        %b = OpINotEqual %bool %low %i32_c0"""]
    for number, line in enumerate(lines):
        value = f"%r{number}"
        body.append(f"{value} = {line}")
        if result == "bool":
            body.append(f"%s{number} = OpSelect %i32 {value} %i32_c1 %i32_c0")
            value = f"%s{number}"
        body.append(f"""
            %at{number} = OpIAdd %i64 %gx %i64_c{number * COUNT}
            %po{number} = OpInBoundsPtrAccessChain %g_{stored} %out %at{number}
            OpStore %po{number} {value} Aligned {DTYPES[stored.split('_')[-1]]().itemsize * width}""")
    return complete(module(f"g_{stored} out, g_{kind} in, g_i32 operands", "\n".join(body), modes=["SubgroupSize 16"]))


def compare(lines: Sequence[str], kind: str = "i32", result: str = "") -> None:
    result = result or kind
    source = several(lines, kind, result)
    scalar = DTYPES[kind.split("_")[-1]]
    parts = int(kind[1:].split("_")[0]) if kind.startswith("v") else 1
    if np.dtype(scalar).kind == "f":
        data = RNG.choice([-2, -1, -0.5, 0.5, 1, 2], COUNT * parts).astype(scalar)  # exact in any order
    else:
        data = RNG.integers(*(np.iinfo(scalar).min, np.iinfo(scalar).max), COUNT * parts, scalar)
    width = int(result[1:].split("_")[0]) if result.startswith("v") else 1
    dtype = DTYPES[result.replace("bool", "i32").split("_")[-1]]
    found = []
    for _ in range(2):
        out = np.zeros(len(lines) * COUNT * width, dtype)
        found.append([out, data.copy(), RNG.permutation(np.arange(COUNT, dtype=np.int32) % 16)])
    found[1][2] = found[0][2].copy()
    run(source, found[0], COUNT, LOCAL)
    theirs = intel_runtime.run(source.to_bytes(), "kernel", (COUNT,), (LOCAL,), found[1])[0]
    for line, one, other in zip(lines, np.split(found[0][0], len(lines)), np.split(theirs, len(lines)), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=line)


def arithmetic(prefix: str, names: Sequence[str], suffix: str, kind: str, scope: str, value: str = "%v") -> list[str]:
    return [f"{prefix}{name}{suffix} %{kind} {scope} {operation} {value}" for name in names
            for operation in OPERATIONS]


pytestmark = pytest.mark.oracle("intel-opencl")


@pytest.mark.parametrize("scope", [SUB_GROUP, WORK_GROUP], ids=["sub-group", "work-group"])
@pytest.mark.parametrize("kind", ["i32", "i64", "f32", "f64"])
def test_uniform_arithmetic(kind: str, scope: str) -> None:
    compare(arithmetic("OpGroup", FLOATS if kind[0] == "f" else INTEGERS, "", kind, scope), kind)


@pytest.mark.parametrize("scope", [SUB_GROUP, WORK_GROUP], ids=["sub-group", "work-group"])
def test_uniform_arithmetic_of_the_extension(scope: str) -> None:
    compare(arithmetic("OpGroup", EXTENDED, "KHR", "i32", scope))
    compare(arithmetic("OpGroup", ["FMul"], "KHR", "f32", scope), "f32")
    if scope == SUB_GROUP:  # the runtime lacks these functions of a work-group
        compare(arithmetic("OpGroup", LOGICAL, "KHR", "bool", scope, "%b"), result="bool")


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "f32", "f64"])
def test_non_uniform_arithmetic(kind: str) -> None:
    names = ["FAdd", "FMul", "FMin", "FMax"] if kind[0] == "f" else [*INTEGERS, *EXTENDED]
    lines = arithmetic("OpGroupNonUniform", names, "", kind, SUB_GROUP)
    clustered = [f"OpGroupNonUniform{name} %{kind} {SUB_GROUP} ClusteredReduce %v %i32_c{size}" for name in names
                 for size in (1, 4, 16)]
    compare([*lines, *clustered], kind)


def test_logical_arithmetic() -> None:
    lines = arithmetic("OpGroupNonUniform", LOGICAL, "", "bool", SUB_GROUP, "%b")
    compare([*lines, *(f"OpGroupNonUniform{name} %bool {SUB_GROUP} ClusteredReduce %b %i32_c8" for name in LOGICAL)],
            result="bool")


def test_votes() -> None:
    compare([f"OpGroup{vote} %bool {scope} %b" for vote in ("All", "Any") for scope in (SUB_GROUP, WORK_GROUP)]
            + [f"OpGroupNonUniform{vote} %bool {SUB_GROUP} %b" for vote in ("All", "Any")]
            + [f"OpGroupNonUniformElect %bool {SUB_GROUP}"], result="bool")
    compare([f"OpGroupNonUniformAllEqual %bool {SUB_GROUP} {value}" for value in ("%v", "%n", "%i32_c3")],
            result="bool")


@pytest.mark.parametrize("kind", ["i8", "i32", "f32", "f64", "v4_f32"])
def test_broadcasts(kind: str) -> None:
    lines = [f"OpGroupNonUniformBroadcast %{kind} {SUB_GROUP} %v %i32_c5"]
    if not kind.startswith("v"):
        lines.append(f"OpGroupNonUniformBroadcastFirst %{kind} {SUB_GROUP} %v")
    if kind in ("i32", "f32", "f64"):
        lines += [f"OpGroupBroadcast %{kind} {SUB_GROUP} %v %i32_c9",
                  f"OpGroupBroadcast %{kind} {WORK_GROUP} %v %i64_c33"]
    compare(lines, kind)


def test_ballots() -> None:
    compare([f"OpGroupNonUniformBallot %v4_i32 {SUB_GROUP} %b"], result="v4_i32")
    compare([f"OpGroupNonUniformInverseBallot %bool {SUB_GROUP} %v",
             f"OpGroupNonUniformBallotBitExtract %bool {SUB_GROUP} %v %n"], "v4_i32", "bool")
    compare([*(f"OpGroupNonUniformBallotBitCount %i32 {SUB_GROUP} {operation} %v" for operation in OPERATIONS),
             f"OpGroupNonUniformBallotFindLSB %i32 {SUB_GROUP} %v",
             f"OpGroupNonUniformBallotFindMSB %i32 {SUB_GROUP} %v"], "v4_i32", "i32")


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "f32", "f64"])
def test_shuffles(kind: str) -> None:
    compare([f"OpGroupNonUniformShuffle %{kind} {SUB_GROUP} %v %n",
             *(f"OpGroupNonUniformShuffleXor %{kind} {SUB_GROUP} %v %i32_c{mask}" for mask in (1, 6, 15)),
             *(f"OpGroupNonUniformRotateKHR %{kind} {SUB_GROUP} %v %i32_c{delta}" for delta in (0, 3, 15)),
             f"OpGroupNonUniformRotateKHR %{kind} {SUB_GROUP} %v %i32_c3 %i32_c4"], kind)


@pytest.mark.parametrize("kind", ["i32", "f32", "i64", "v2_f32", "v8_i32"])
def test_intel_shuffles(kind: str) -> None:
    compare([f"OpSubgroupShuffleINTEL %{kind} %v %n", f"OpSubgroupShuffleXorINTEL %{kind} %v %i32_c5",
             f"OpSubgroupShuffleDownINTEL %{kind} %v %v %n", f"OpSubgroupShuffleUpINTEL %{kind} %v %v %n"], kind)


@pytest.mark.parametrize("scalar", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_block_reads_and_writes(scalar: str, count: int) -> None:
    kind = scalar if count == 1 else f"v{count}_{scalar}"
    source = complete(module(f"g_{scalar} out, g_{scalar} in", f"""
        %lane_id = OpSConvert %i64 %lane
        %start = OpISub %i64 %gx %lane_id
        %element = OpIMul %i64 %start %i64_c{count}
        %from = OpInBoundsPtrAccessChain %g_{scalar} %in %element
        %to = OpInBoundsPtrAccessChain %g_{scalar} %out %element
        %v = OpSubgroupBlockReadINTEL %{kind} %from
        %twice = OpIAdd %{kind} %v %v
        OpSubgroupBlockWriteINTEL %to %twice""", modes=["SubgroupSize 16"]))
    data = RNG.integers(0, 100, COUNT * count, DTYPES[scalar])
    out = np.zeros_like(data)
    run(source, [out, data], COUNT, LOCAL)
    theirs = intel_runtime.run(source.to_bytes(), "kernel", (COUNT,), (LOCAL,), [np.zeros_like(data), data])[0]
    np.testing.assert_array_equal(out, theirs)
