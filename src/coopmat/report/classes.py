"""What each instruction counts as: a table of classes, and one of the instructions' names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coopmat.spirv.analysis.matrix_uses import MultiplyAccumulate, multiply_accumulate_of
from coopmat.spirv.analysis.sub_group_uses import multiply_of
from coopmat.spirv.analysis.types import FloatType, MatrixType, PointerType, Type, VoidType
from coopmat.spirv.grammar import CHAINS, OPENCL_STD_NAMES, CooperativeMatrixOperands, Op, StorageClass
from coopmat.spirv.module import Instruction

if TYPE_CHECKING:
    from coopmat.targets.simulator.compiler import FunctionCompiler

VECTOR_BYTES = 16
"""What a work-item loads or stores of a matrix in one issue slot."""


@dataclass(frozen=True)
class InstructionClass:
    """A class of instructions. ``slots``: issue slots of a sub-group that one operation of it takes in the model."""

    name: str
    words: str
    slots: int = 1


CLASSES = {row.name: row for row in (
    InstructionClass("integer", "integers and addresses"),
    InstructionClass("float", "floating point, 32 bits"),
    InstructionClass("half", "floating point, 16 bits"),
    InstructionClass("double", "floating point, 64 bits"),
    InstructionClass("conversion", "conversions"),
    InstructionClass("function", "divisions and functions", 4),
    InstructionClass("global", "global memory"),
    InstructionClass("constant", "constant memory"),
    InstructionClass("local", "local memory"),
    InstructionClass("private", "private memory"),
    InstructionClass("generic", "memory, by generic pointers"),
    InstructionClass("matrix", "matrix multiply-adds", 0),
    InstructionClass("group", "group operations"),
    InstructionClass("atomic", "atomics"),
    InstructionClass("barrier", "barriers"),
    InstructionClass("control", "branches"),
)}
"""By name, in the order of reports. Multiply-adds of matrices take the time of the matrix engine instead of slots.
Divisions and functions take four, the ratio of NVIDIA's throughputs (CUDA C++ Programming Guide, Arithmetic
Instructions: 16 to 64 results a cycle)."""

SPACES = {StorageClass.CrossWorkgroup: "global", StorageClass.UniformConstant: "constant",
          StorageClass.Workgroup: "local", StorageClass.Function: "private", StorageClass.Private: "private",
          StorageClass.Generic: "generic"}
"""Storage class → class of the accesses."""

ARITHMETIC = "arithmetic"
"""What has the class of the type that it computes with."""

_FREE = (r"Variable|Undef|Phi|Composite\w+|Vector(Shuffle|ExtractDynamic|InsertDynamic)|Copy(Object|Logical)|Bitcast"
         r"|Nop|Lifetime\w+|LoopMerge|LoopControlINTEL|SelectionMerge|Branch|Return|ReturnValue|Unreachable|FunctionCall"
         r"|PtrCastToGeneric|GenericCastToPtr\w*|GenericPtrMemSemantics|ExpectKHR|AssumeTrueKHR|Freeze\w+|PoisonKHR|SizeOf"
         r"|ArithmeticFenceEXT|CooperativeMatrix(Length|GetCoordinate|GetElementCoord|ConstructChecked)\w*|\w+Prefetch\w+")

RULES: tuple[tuple[str, str | None], ...] = (
    (_FREE, None),
    (r"Atomic\w+", "atomic"),
    (r"ControlBarrier\w*|MemoryBarrier|GroupWaitEvents", "barrier"),
    (r"CooperativeMatrixMulAddKHR|SubgroupMatrixMultiplyAccumulateINTEL", "matrix"),
    (r"CooperativeMatrix(Load|Store)\w+|Load|Store|CopyMemory\w*|Subgroup2DBlock\w+|SubgroupBlock\w+"
     r"|GroupAsyncCopy", "memory"),
    (r"CooperativeMatrix(PerElementOp|Reduce|Transpose|ConvertUse)\w+|Group\w+|Subgroup\w+", "group"),
    (r"BranchConditional|Switch", "control"),
    (r"(Sat)?Convert\w+|[FSU]Convert|QuantizeToF16|RoundFToTF32INTEL", "conversion"),
    (r"[FSU](Div|Rem|Mod)", "function"),
    (r"\w+", ARITHMETIC),
)
"""By the name of an instruction, the first row that fits: its class, None for one that costs nothing (what a compiler
removes, or does in registers)."""

SIMPLE = re.compile(r"f(abs|max|min|dim|ma|clamp)|mad|mix|sign|[su]_\w+|popcount|clz|ctz|rotate|shuffle2?|select"
                    r"|bitselect|degrees|radians|step|ceil|floor|trunc|rint|round|copysign|maxmag|minmag")
MEMORY_FUNCTION = re.compile(r"v(load|store)\w*|fract|modf|sincos|remquo|lgamma_r|frexp")
FUSED = ("fma", "mad", "FmaKHR")


@dataclass(frozen=True)
class Cost:
    """What an instruction counts, each time that a sub-group executes it. ``operations``: of its class, in each
    work-item (components of vectors one by one); ``flops``: floating-point operations in each work-item;
    ``products``: scalar multiply-adds among them; ``multiply``: what a group multiplies, if it does."""

    kind: str
    operations: int = 1
    flops: int = 0
    products: int = 0
    multiply: MultiplyAccumulate | None = None


def cost_of(compiler: FunctionCompiler, row: Instruction) -> Cost | None:
    """What an instruction of a function counts; None for one that costs nothing."""
    name = Op(row.opcode).name
    if row.opcode in CHAINS:
        return _chain(compiler, row)
    if row.opcode in (Op.ExtInst, Op.ExtInstWithForwardRefsKHR):
        return _function(compiler, row)
    kind = next(kind for pattern, kind in RULES if re.fullmatch(pattern, name))
    if kind is None:
        return None
    if kind == "memory":
        return _access(compiler, row)
    if kind == "matrix":
        return Cost("matrix", multiply=_multiply(compiler, row))
    if kind in ("atomic", "barrier", "control"):
        return Cost(kind)
    made = _type_of(compiler, row)
    if kind in ("group", "conversion"):
        return Cost(kind, _components(made))
    cost = _arithmetic(made, name, None if kind == ARITHMETIC else kind)
    return replace(cost, products=cost.flops) if name == "FMul" and _is_added(compiler, row) else cost


def _is_added(compiler: FunctionCompiler, row: Instruction) -> bool:
    """Whether a product of scalars or vectors is added to something, or subtracted from it."""
    return not isinstance(compiler.result_type(row), MatrixType) and any(
        user.opcode in (Op.FAdd, Op.FSub) for user in compiler.users.get(row.result_id, ()))


def _arithmetic(made: Type, name: str, kind: str | None) -> Cost:
    """An operation of numbers; ``kind`` where it is not the one of its type."""
    count, scalar = _components(made), made.scalar
    flops = 0
    if isinstance(scalar, FloatType):
        flops = count * (2 if name in FUSED else 1)
    own = _float_class(scalar) if isinstance(scalar, FloatType) else "integer"
    if "Dot" in name:
        return Cost(kind or own, count, 0 if own == "integer" else flops)
    return Cost(kind or own, count, flops, count if flops and name in FUSED else 0)


def _float_class(scalar: FloatType) -> str:
    return {16: "half", 32: "float", 64: "double"}[scalar.width]


def _type_of(compiler: FunctionCompiler, row: Instruction) -> Type:
    """The type that an operation computes with: of a comparison that of its operands."""
    if row.type_id is None:
        return VoidType()
    made = compiler.result_type(row)
    if row.words and made.scalar != made and not isinstance(made, MatrixType):
        return made
    if str(made.scalar) == "bool" and row.words:
        first = compiler.module.definition(row.words[0])
        return made if first.type_id is None else compiler.type_of(row.words[0])
    return made


def _components(kind: Type) -> int:
    """The components that each work-item has of a value."""
    return max(1, kind.slice_length if isinstance(kind, MatrixType) else kind.count)


def _chain(compiler: FunctionCompiler, row: Instruction) -> Cost | None:
    """An address that depends on what the kernel computes."""
    assert row.result_id is not None
    indices = [word for word in row.words[1:] if compiler.constant(word) is None]
    return Cost("integer", len(indices)) if indices and compiler.place(row.result_id) is None else None


def _function(compiler: FunctionCompiler, row: Instruction) -> Cost | None:
    """A function of OpenCL.std; others are calls of the host, as printf, or say nothing."""
    name = OPENCL_STD_NAMES.get(row.words[1], "")
    if not name or name == "printf" or row.type_id is None:
        return None
    if MEMORY_FUNCTION.fullmatch(name):
        return Cost("generic")
    made = compiler.result_type(row)
    if isinstance(made, VoidType):
        return None
    return _arithmetic(made, name, None if SIMPLE.fullmatch(name) else "function")


def _access(compiler: FunctionCompiler, row: Instruction) -> Cost | None:
    """A load or store; of a variable that lives in registers it costs nothing."""
    name = Op(row.opcode).name
    if name == "GroupAsyncCopy":
        return Cost("global")
    if "2DBlock" in name:
        return Cost("global")
    pointer = row.words[0]
    if compiler.place(pointer) is not None and (name != "CopyMemory" or compiler.place(row.words[1]) is not None):
        return None
    if name == "CopyMemory" and compiler.place(pointer) is not None:
        pointer = row.words[1]
    kind = compiler.type_of(pointer)
    space = SPACES.get(StorageClass(kind.storage), "generic") if isinstance(kind, PointerType) else "generic"
    moved = compiler.result_type(row) if row.type_id is not None else compiler.type_of(row.words[1])
    if isinstance(moved, MatrixType):
        return Cost(space, max(1, -(-moved.size // VECTOR_BYTES)))
    return Cost(space)


def _multiply(compiler: FunctionCompiler, row: Instruction) -> MultiplyAccumulate | None:
    """What a matrix instruction multiplies."""
    if row.opcode == Op.SubgroupMatrixMultiplyAccumulateINTEL:
        asked, size = multiply_of(compiler.module, compiler.types, row), compiler.types.sub_group_size
        known = asked.row_for(size)
        return None if known is None else MultiplyAccumulate(known.formats, asked.m, size, asked.k)
    a, b, c = (compiler.type_of(word) for word in row.words[:3])
    made = compiler.result_type(row)
    assert isinstance(a, MatrixType)
    assert isinstance(b, MatrixType)
    assert isinstance(c, MatrixType)
    assert isinstance(made, MatrixType)
    flags = CooperativeMatrixOperands(row.words[3] if len(row.words) > 3 else 0)
    return multiply_accumulate_of(a, b, c, made, flags, row)
