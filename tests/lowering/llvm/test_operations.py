"""Every instruction that built-in functions lower to: the same from LLVM's back end as from our SPIR-V builder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from coopmat import llvm
from coopmat.lowering import to_llvm_ir, to_spirv
from coopmat.spirv.grammar import OPENCL_STD, OPENCL_STD_NAMES, Op
from coopmat.spirv.module import Module
from coopmat.spirv.tables.opencl_std import INSTRUCTIONS
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.llvm.modules import describe
from tests.kit.lowering.trees import (
    assign,
    at,
    binary,
    convert,
    declare,
    element,
    kernel,
    load,
    num,
    place,
    pointer,
    variable,
)

PRIVATE, LOCAL, GENERIC = t.AddressSpace.PRIVATE, t.AddressSpace.LOCAL, t.AddressSpace.GENERIC
BOOL4, INT4, FLOAT4, FLOAT8 = (t.Vector(s, c) for s, c in ((t.BOOL, 4), (t.INT, 4), (t.FLOAT, 4), (t.FLOAT, 8)))
CHAR4, UCHAR4, UINT4, INT2 = t.Vector(t.CHAR, 4), t.Vector(t.UCHAR, 4), t.Vector(t.UINT, 4), t.Vector(t.INT, 2)
INTS, FLOATS, HALVES = pointer(t.INT), pointer(t.FLOAT), pointer(t.HALF)

Argument = t.Type | int


@dataclass(frozen=True)
class Row:
    """An operation: a type stands for an argument of that type, an int for a uint constant."""

    name: str
    result: t.Type
    arguments: tuple[Argument, ...]
    literals: tuple[int, ...] = ()

    def kernel(self, name: str) -> n.Function:
        """A kernel that does nothing else."""
        inputs = [_Input(f"a{position}", argument) for position, argument in enumerate(self.arguments)]
        operation = n.Operation(self.result, None, self.name, tuple(i.expression for i in inputs), self.literals)
        parameters = [i.parameter for i in inputs if i.parameter is not None]
        body = [declare(i.local) for i in inputs if i.local is not None]
        if isinstance(self.result, t.Void):
            return kernel(name, parameters, *body, operation)
        if isinstance(self.result, t.Pointer):
            return kernel(name, parameters, *body,
                          assign(n.Dereference(self.result.pointee, None, operation), num(1)))
        value: n.Expression = operation
        if self.result in (t.BOOL, BOOL4):
            value = convert(value, t.INT if self.result == t.BOOL else INT4)
        out = variable("out", pointer(value.type))
        return kernel(name, [out, *parameters], *body, assign(at(out, num(0)), value))


class _Input:
    """Where an argument comes from."""

    def __init__(self, name: str, argument: Argument) -> None:
        self.parameter: n.Variable | None = None
        self.local: n.Variable | None = None
        if isinstance(argument, int):
            self.expression: n.Expression = num(argument, t.UINT)
        elif isinstance(argument, t.Pointer) and argument.address_space is PRIVATE:
            self.local = variable(name, t.Array(argument.pointee, 64))
            self.expression = n.AddressOf(argument, None, element(place(self.local), 0))
        elif isinstance(argument, t.Pointer) and argument.address_space is GENERIC:
            self.parameter = variable(name, pointer(argument.pointee))
            self.expression = n.CastAddressSpace(argument, None, load(self.parameter))
        elif argument in (t.BOOL, BOOL4):
            self.parameter = variable(name, t.INT if argument == t.BOOL else INT4)
            self.expression = binary("==", load(self.parameter), n.Zero(self.parameter.type, None))
        else:
            self.parameter = variable(name, argument)
            self.expression = load(self.parameter)


# --------------------------------------------------------------------------------------
# OpenCL.std
# --------------------------------------------------------------------------------------

STD_SIGNATURES: dict[str, tuple[t.Type, tuple[Argument, ...], tuple[int, ...]]] = {
    **dict.fromkeys(("fract", "modf", "sincos"), (t.FLOAT, (t.FLOAT, FLOATS), ())),
    **dict.fromkeys(("frexp", "lgamma_r"), (t.FLOAT, (t.FLOAT, INTS), ())),
    "remquo": (t.FLOAT, (t.FLOAT, t.FLOAT, INTS), ()),
    "ilogb": (t.INT, (t.FLOAT,), ()),
    **dict.fromkeys(("ldexp", "pown", "rootn"), (t.FLOAT, (t.FLOAT, t.INT), ())),
    "nan": (t.FLOAT, (t.UINT,), ()),
    "cross": (FLOAT4, (FLOAT4, FLOAT4), ()),
    **dict.fromkeys(("distance", "fast_distance"), (t.FLOAT, (FLOAT4, FLOAT4), ())),
    **dict.fromkeys(("length", "fast_length"), (t.FLOAT, (FLOAT4,), ())),
    **dict.fromkeys(("normalize", "fast_normalize"), (FLOAT4, (FLOAT4,), ())),
    **dict.fromkeys(("clz", "ctz", "popcount"), (t.INT, (t.INT,), ())),
    "rotate": (t.UINT, (t.UINT, t.UINT), ()),
    "u_upsample": (t.UINT, (t.USHORT, t.USHORT), ()),
    "s_upsample": (t.INT, (t.SHORT, t.USHORT), ()),
    "s_abs": (t.UINT, (t.INT,), ()),
    "s_abs_diff": (t.UINT, (t.INT, t.INT), ()),
    "vloadn": (FLOAT4, (t.ULONG, FLOATS), (4,)),
    "vstoren": (t.VOID, (FLOAT4, t.ULONG, FLOATS), ()),
    "vload_half": (t.FLOAT, (t.ULONG, HALVES), ()),
    **dict.fromkeys(("vload_halfn", "vloada_halfn"), (FLOAT4, (t.ULONG, HALVES), (4,))),
    "vstore_half": (t.VOID, (t.FLOAT, t.ULONG, HALVES), ()),
    "vstore_half_r": (t.VOID, (t.FLOAT, t.ULONG, HALVES), (1,)),
    **dict.fromkeys(("vstore_halfn", "vstorea_halfn"), (t.VOID, (FLOAT4, t.ULONG, HALVES), ())),
    **dict.fromkeys(("vstore_halfn_r", "vstorea_halfn_r"), (t.VOID, (FLOAT4, t.ULONG, HALVES), (2,))),
    "shuffle": (FLOAT4, (FLOAT4, UINT4), ()),
    "shuffle2": (FLOAT4, (FLOAT4, FLOAT4, UINT4), ()),
    "prefetch": (t.VOID, (FLOATS, t.ULONG), ()),
    "select": (t.FLOAT, (t.FLOAT, t.FLOAT, t.INT), ()),
}
# The common functions differ from the math ones for NaN only, which they leave undefined.
STD_EQUIVALENTS = {"fmax_common": "fmax", "fmin_common": "fmin"}
STD = [name for name in OPENCL_STD if name != "printf"]


def std_row(name: str) -> Row:
    if name not in STD_SIGNATURES:
        kind = {"s": t.INT, "u": t.UINT}.get(name.partition("_")[0], t.FLOAT)
        return Row(f"std.{name}", kind, (kind,) * len(INSTRUCTIONS[name][1].split()))
    return Row(f"std.{name}", *STD_SIGNATURES[name])


# --------------------------------------------------------------------------------------
# Core instructions
# --------------------------------------------------------------------------------------

SCOPE = 3  # the sub-group
DEVICE, ORDER = 1, 0x10
NUMBERS = {"I": t.INT, "S": t.INT, "U": t.INT, "F": t.FLOAT}


def atomics(memory: t.Pointer) -> list[Row]:
    number = memory.pointee
    two = [f"core.Atomic{name}" for name in ("IAdd", "ISub", "SMin", "UMin", "SMax", "UMax", "And", "Or", "Xor",
                                             "Exchange")]
    one = [f"core.Atomic{name}" for name in ("IIncrement", "IDecrement", "Load")]
    return [*(Row(name, number, (memory, DEVICE, ORDER, number)) for name in two),
            *(Row(name, number, (memory, DEVICE, ORDER)) for name in one),
            Row("core.AtomicCompareExchange", number, (memory, DEVICE, ORDER, 0, number, number)),
            Row("core.AtomicStore", t.VOID, (memory, DEVICE, ORDER, number))]


def group_arithmetic() -> list[Row]:
    rows = []
    for name in ("IAdd", "SMin", "UMin", "SMax", "UMax", "FAdd", "FMin", "FMax"):
        number = NUMBERS[name[0]]
        rows += [Row(f"core.Group{name}", number, (SCOPE, number), (operation,)) for operation in (0, 1, 2)]
        rows.append(Row(f"core.GroupNonUniform{name}", number, (SCOPE, number), (0,)))
    rows += [Row(f"core.GroupNonUniformBitwise{name}", t.INT, (SCOPE, t.INT), (0,)) for name in ("And", "Or", "Xor")]
    rows += [Row(f"core.GroupNonUniformLogical{name}", t.BOOL, (SCOPE, t.BOOL), (0,)) for name in ("And", "Or", "Xor")]
    return [*rows, Row("core.GroupIMulKHR", t.INT, (SCOPE, t.INT), (0,)),
            Row("core.GroupNonUniformIMul", t.INT, (SCOPE, t.INT), (0,)),
            Row("core.GroupNonUniformIAdd", t.INT, (SCOPE, t.INT, t.UINT), (3,))]


BLOCK_2D = (2, 16, 8, 1)
SHORTS = t.Pointer(t.USHORT, PRIVATE)
CORE = [
    *(Row(f"core.{name}", result, (argument,)) for name in ("IsFinite", "IsInf", "IsNan", "IsNormal", "SignBitSet")
      for result, argument in ((t.BOOL, t.FLOAT), (BOOL4, FLOAT4))),
    *(Row(f"core.{name}", result, (argument, argument))
      for name in ("FOrdNotEqual", "Ordered", "Unordered", "LessOrGreater")
      for result, argument in ((t.BOOL, t.FLOAT), (BOOL4, FLOAT4))),
    Row("core.Any", t.BOOL, (BOOL4,)), Row("core.All", t.BOOL, (BOOL4,)),
    Row("core.Dot", t.FLOAT, (FLOAT4, FLOAT4)), Row("core.FMod", t.FLOAT, (t.FLOAT, t.FLOAT)),
    Row("core.SMod", t.INT, (t.INT, t.INT)), Row("core.BitCount", t.INT, (t.INT,)),
    Row("core.BitReverse", t.UINT, (t.UINT,)), Row("core.BitFieldInsert", t.INT, (t.INT, t.INT, t.UINT, t.UINT)),
    Row("core.BitFieldSExtract", t.INT, (t.INT, t.UINT, t.UINT)),
    Row("core.BitFieldUExtract", t.INT, (t.INT, t.UINT, t.UINT)),
    Row("core.ControlBarrier", t.VOID, (2, 2, 0x110)), Row("core.ControlBarrier", t.VOID, (SCOPE, SCOPE, 0x110)),
    Row("core.MemoryBarrier", t.VOID, (2, 0x208)),
    *atomics(INTS), *atomics(pointer(t.INT, LOCAL)), *atomics(pointer(t.INT, GENERIC)), *atomics(pointer(t.LONG)),
    Row("core.AtomicExchange", t.FLOAT, (FLOATS, DEVICE, ORDER, t.FLOAT)),
    *(Row(f"core.Atomic{name}EXT", t.FLOAT, (FLOATS, DEVICE, 0, t.FLOAT)) for name in ("FAdd", "FMin", "FMax")),
    Row("core.AtomicFlagTestAndSet", t.BOOL, (INTS, DEVICE, ORDER)),
    Row("core.AtomicFlagClear", t.VOID, (INTS, DEVICE, ORDER)),
    Row("core.GenericCastToPtrExplicit", INTS, (pointer(t.INT, GENERIC),), (5,)),
    Row("core.GenericPtrMemSemantics", t.UINT, (pointer(t.INT, GENERIC),)),
    Row("core.PtrDiff", t.LONG, (INTS, INTS)), Row("core.PtrEqual", t.BOOL, (INTS, INTS)),
    *group_arithmetic(),
    Row("core.GroupAll", t.BOOL, (SCOPE, t.BOOL)), Row("core.GroupAny", t.BOOL, (SCOPE, t.BOOL)),
    Row("core.GroupBroadcast", t.INT, (SCOPE, t.INT, t.UINT)),
    Row("core.GroupNonUniformElect", t.BOOL, (SCOPE,)), Row("core.GroupNonUniformAll", t.BOOL, (SCOPE, t.BOOL)),
    Row("core.GroupNonUniformAny", t.BOOL, (SCOPE, t.BOOL)),
    Row("core.GroupNonUniformAllEqual", t.BOOL, (SCOPE, t.INT)),
    Row("core.GroupNonUniformBroadcast", t.INT, (SCOPE, t.INT, 2)),
    Row("core.GroupNonUniformBroadcastFirst", t.INT, (SCOPE, t.INT)),
    Row("core.GroupNonUniformBallot", UINT4, (SCOPE, t.BOOL)),
    Row("core.GroupNonUniformInverseBallot", t.BOOL, (SCOPE, UINT4)),
    Row("core.GroupNonUniformBallotBitExtract", t.BOOL, (SCOPE, UINT4, t.UINT)),
    Row("core.GroupNonUniformBallotBitCount", t.UINT, (SCOPE, UINT4), (0,)),
    Row("core.GroupNonUniformBallotFindLSB", t.UINT, (SCOPE, UINT4)),
    Row("core.GroupNonUniformBallotFindMSB", t.UINT, (SCOPE, UINT4)),
    *(Row(f"core.GroupNonUniformShuffle{name}", t.INT, (SCOPE, t.INT, t.UINT)) for name in ("", "Xor", "Up", "Down")),
    Row("core.GroupNonUniformRotateKHR", t.INT, (SCOPE, t.INT, t.UINT)),
    *(Row(f"core.SubgroupShuffle{name}INTEL", t.FLOAT, (t.FLOAT, t.UINT)) for name in ("", "Xor")),
    *(Row(f"core.SubgroupShuffle{name}INTEL", t.FLOAT, (t.FLOAT, t.FLOAT, t.UINT)) for name in ("Up", "Down")),
    Row("core.SubgroupBlockReadINTEL", INT4, (INTS,)), Row("core.SubgroupBlockWriteINTEL", t.VOID, (INTS, INT4)),
    Row("core.SubgroupBlockReadINTEL", t.Vector(t.USHORT, 8), (pointer(t.USHORT),)),
    *(Row(f"core.{name}", t.INT, arguments) for name, arguments in (
        ("SDot", (CHAR4, CHAR4)), ("UDot", (UCHAR4, UCHAR4)), ("SUDot", (CHAR4, UCHAR4)),
        ("SDotAccSat", (CHAR4, CHAR4, t.INT)), ("UDotAccSat", (UCHAR4, UCHAR4, t.INT)),
        ("SUDotAccSat", (CHAR4, UCHAR4, t.INT)))),
    Row("core.SDot", t.INT, (t.UINT, t.UINT), (0,)), Row("core.SDotAccSat", t.INT, (t.UINT, t.UINT, t.INT), (0,)),
    Row("core.SDot", t.LONG, (INT4, INT4)),
    Row("core.ConvertFToBF16INTEL", t.USHORT, (t.FLOAT,)), Row("core.ConvertBF16ToFINTEL", t.FLOAT, (t.USHORT,)),
    Row("core.RoundFToTF32INTEL", t.FLOAT, (t.FLOAT,)), Row("core.RoundFToTF32INTEL", FLOAT8, (FLOAT8,)),
    Row("core.SubgroupMatrixMultiplyAccumulateINTEL", FLOAT8,
        (16, t.Vector(t.SHORT, 8), t.Vector(t.INT, 8), FLOAT8), (12288,)),
    Row("core.SubgroupMatrixMultiplyAccumulateINTEL", t.FLOAT, (16, t.SHORT, t.Vector(t.INT, 8), t.FLOAT), (0xC00,)),
    Row("core.SubgroupMatrixMultiplyAccumulateINTEL", t.Vector(t.INT, 8),
        (32, t.Vector(t.SHORT, 8), t.Vector(t.INT, 8), t.Vector(t.INT, 8))),
    Row("core.ControlBarrierArriveINTEL", t.VOID, (2, 2, 0x110)),
    Row("core.ControlBarrierWaitINTEL", t.VOID, (2, 2, 0x110)),
    Row("core.Subgroup2DBlockLoadINTEL", t.VOID, (*BLOCK_2D, INTS, t.INT, t.INT, t.INT, INT2, SHORTS)),
    Row("core.Subgroup2DBlockStoreINTEL", t.VOID, (*BLOCK_2D, SHORTS, INTS, t.INT, t.INT, t.INT, INT2)),
    Row("core.Subgroup2DBlockPrefetchINTEL", t.VOID, (*BLOCK_2D, INTS, t.INT, t.INT, t.INT, INT2)),
]


# --------------------------------------------------------------------------------------
# The comparison
# --------------------------------------------------------------------------------------


def both_modules(rows: Sequence[Row]) -> tuple[Module, Module]:
    """The rows' kernels in one module each: ours, and LLVM's."""
    program = n.Program([row.kernel(f"k{position}") for position, row in enumerate(rows)])
    return to_spirv(program), Module.from_bytes(llvm.to_spirv(to_llvm_ir(program)))


def described(module: Module, kernel_name: str, op: Op) -> list[str]:
    entry = next(entry for entry in module.entry_points if entry.name == kernel_name)
    return [describe(module, item) for block in module.function(entry.function_id).blocks
            for item in block.instructions if item.opcode == op]


def test_every_extended_instruction() -> None:
    ours, theirs = both_modules([std_row(name) for name in STD])
    for position, name in enumerate(STD):
        expected = described(ours, f"k{position}", Op.ExtInst)
        number, other = OPENCL_STD[name], OPENCL_STD[STD_EQUIVALENTS.get(name, name)]
        assert f" #{number} " in expected[0]
        assert described(theirs, f"k{position}", Op.ExtInst) == [
            line.replace(f" #{number} ", f" #{other} ") for line in expected], name
    assert set(STD) | {"printf"} == set(OPENCL_STD_NAMES.values())


def test_core_instructions() -> None:
    ours, theirs = both_modules(CORE)
    for position, row in enumerate(CORE):
        op = Op[row.name.removeprefix("core.")]
        expected = described(ours, f"k{position}", op)
        assert len(expected) == 1, row.name
        assert described(theirs, f"k{position}", op) == expected, row.name


def test_capabilities_and_extensions_agree() -> None:
    ours, theirs = both_modules(CORE)
    assert set(theirs.capabilities) == set(ours.capabilities)
    assert set(theirs.extensions) == set(ours.extensions)


@pytest.mark.parametrize("name", ["vload_halfn", "vloada_halfn"])
def test_loads_of_three_halves(name: str) -> None:
    """vloada_half3 skips a half after each vector, vload_half3 does not."""
    ours, theirs = both_modules([Row(f"std.{name}", t.Vector(t.FLOAT, 3), (t.ULONG, HALVES), (3,))])
    assert described(theirs, "k0", Op.ExtInst) == described(ours, "k0", Op.ExtInst)
