"""The SPIR-V grammar: what every instruction and enumerant is made of, from the project's own tables.

``Op`` and the other enumerations are the tables' classes (:mod:`coopmat.spirv.tables`); the functions here
turn a row's text into typed facts, once per row and on demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from coopmat.spirv.tables import debug_info, decorations, glsl_std_450, identifier_sets, opencl_std, operands
from coopmat.spirv.tables.base import Mask, Row
from coopmat.spirv.tables.capabilities import Capability
from coopmat.spirv.tables.decorations import (
    AccessQualifier,
    BuiltIn,
    Decoration,
    ExecutionMode,
    FPDenormMode,
    FPOperationMode,
    FPRoundingMode,
    FunctionParameterAttribute,
    HostAccessQualifier,
    LinkageType,
    LoadCacheControl,
    StoreCacheControl,
)
from coopmat.spirv.tables.opcodes import Op
from coopmat.spirv.tables.operands import (
    AddressingModel,
    CooperativeMatrixLayout,
    CooperativeMatrixOperands,
    CooperativeMatrixReduce,
    CooperativeMatrixUse,
    Dim,
    ExecutionModel,
    FPEncoding,
    FPFastMathMode,
    FunctionControl,
    GroupOperation,
    ImageFormat,
    ImageOperands,
    KernelProfilingInfo,
    LoopControl,
    MatrixMultiplyAccumulateOperands,
    MemoryAccess,
    MemoryModel,
    MemorySemantics,
    PackedVectorFormat,
    Scope,
    SelectionControl,
    SourceLanguage,
    StorageClass,
    TensorAddressingOperands,
    TensorClampMode,
)

__all__ = [
    "ANY_IDS", "CHAINS", "CONVERSIONS", "ENUMERATIONS", "EXTENDED_INSTRUCTIONS", "ID_KINDS", "LIFETIMES", "MAGIC",
    "OPENCL_STD", "OPENCL_STD_NAMES", "PAIRS", "POINTER_CASTS", "TERMINATORS",
    "AccessQualifier", "AddressingModel", "BuiltIn", "Capability", "CooperativeMatrixLayout",
    "CooperativeMatrixOperands", "CooperativeMatrixReduce", "CooperativeMatrixUse", "Decoration", "Dim",
    "ExecutionMode", "ExecutionModel", "FPDenormMode", "FPEncoding", "FPFastMathMode", "FPOperationMode",
    "FPRoundingMode", "FunctionControl", "FunctionParameterAttribute", "GroupOperation",
    "HostAccessQualifier", "ImageFormat", "ImageOperands", "InstructionRow", "KernelProfilingInfo",
    "LinkageType", "LoadCacheControl", "LoopControl", "Mask", "MatrixMultiplyAccumulateOperands",
    "MemoryAccess", "MemoryModel", "MemorySemantics", "Op", "OperandSpec", "PackedVectorFormat",
    "Requirements", "Row", "Scope", "SelectionControl", "SourceLanguage", "StorageClass",
    "StoreCacheControl", "TensorAddressingOperands", "TensorClampMode", "extended_names", "extended_numbers",
    "extended_operands", "instruction", "operands_of", "parameters", "requirements",
]

MAGIC = 0x07230203

ID_KINDS = frozenset({"IdRef", "IdScope", "IdMemorySemantics", "IdResult", "IdResultType"})

PAIRS: dict[str, tuple[str, str]] = {
    "PairIdRefIdRef": ("IdRef", "IdRef"),
    "PairIdRefLiteralInteger": ("IdRef", "LiteralInteger"),
    "PairLiteralIntegerIdRef": ("LiteralInteger", "IdRef"),
}
"""Kinds that stand for two operands."""

TERMINATORS = frozenset({
    Op.Branch, Op.BranchConditional, Op.Switch, Op.Return, Op.ReturnValue, Op.Kill, Op.Unreachable,
    Op.TerminateInvocation, Op.AbortKHR, Op.IgnoreIntersectionKHR, Op.TerminateRayKHR, Op.EmitMeshTasksEXT,
})
"""The instructions that end a block."""

CHAINS = {Op.AccessChain: 1, Op.InBoundsAccessChain: 1, Op.PtrAccessChain: 2, Op.InBoundsPtrAccessChain: 2}
"""Access chains of kernels, and the place of the first index into what the pointer points to among their words."""

POINTER_CASTS = frozenset({Op.Bitcast, Op.CopyObject, Op.PtrCastToGeneric, Op.GenericCastToPtr})
"""Instructions that make of a pointer another one to the same place."""

CONVERSIONS = frozenset({Op.ConvertFToU, Op.ConvertFToS, Op.ConvertSToF, Op.ConvertUToF, Op.UConvert, Op.SConvert,
                         Op.FConvert})
"""Conversions of numbers, vectors and cooperative matrices."""

LIFETIMES = frozenset({Op.LifetimeStart, Op.LifetimeStop})
"""What tells where a variable is in use, and nothing else."""


def _enumerations() -> dict[str, type[Row] | type[Mask]]:
    found: dict[str, type[Row] | type[Mask]] = {"Capability": Capability}
    for table in (decorations, operands, debug_info):
        for name, value in vars(table).items():
            if isinstance(value, type) and issubclass(value, Row | Mask) and value not in (Row, Mask):
                found[name] = value
    return found


ENUMERATIONS = _enumerations()
"""Operand kind → its enumeration."""

OPENCL_STD: dict[str, int] = {name: number for name, (number, _) in opencl_std.INSTRUCTIONS.items()}
"""Number of each instruction of the extended set ``OpenCL.std``."""

OPENCL_STD_NAMES: dict[int, str] = {number: name for name, number in OPENCL_STD.items()}
"""Name of each instruction of the extended set ``OpenCL.std``."""

EXTENDED_INSTRUCTIONS: dict[str, dict[str, int]] = {
    "OpenCL.std": OPENCL_STD,
    "GLSL.std.450": glsl_std_450.NUMBERS,
}
"""Name and number of the instructions of the extended sets that compute."""

_SIGNATURES: dict[str, dict[str, tuple[int, str]]] = {
    "OpenCL.std": opencl_std.INSTRUCTIONS,
    "OpenCL.DebugInfo.100": debug_info.OPENCL_DEBUG_INFO,
    "DebugInfo": debug_info.DEBUG_INFO,
}
"""Sets whose instructions take more than ids."""


class OperandSpec(NamedTuple):
    """One operand of a row: its kind, and ``""`` (once), ``"?"`` (optional) or ``"*"`` (any number)."""

    kind: str
    quantifier: str


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a module must declare to use an instruction or an enumerant.

    Any one of ``capabilities`` is enough, any one of ``extensions`` too; ``version`` is the first core
    version that has it (None: only an extension does) and ``last_version`` the last one.
    """

    capabilities: tuple[Capability, ...]
    extensions: tuple[str, ...]
    version: tuple[int, int] | None
    last_version: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """One instruction of the grammar; ``operands`` leaves out the result type and the result id."""

    name: str
    opcode: Op
    has_type: bool
    has_result: bool
    operands: tuple[OperandSpec, ...]
    capabilities: tuple[Capability, ...]
    extensions: tuple[str, ...]
    version: tuple[int, int] | None
    last_version: tuple[int, int] | None


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


@cache
def _requirements(text: str) -> Requirements:
    """Parse a row's requirements (see :mod:`coopmat.spirv.tables.base`)."""
    capabilities: list[Capability] = []
    extensions: list[str] = []
    version: tuple[int, int] | None = (1, 0)
    last_version = None
    for word in text.split():
        if word.startswith("SPV_"):
            extensions.append(word)
        elif word == "ext":
            version = None
        elif word.startswith("<="):
            last_version = _version(word[2:])
        elif word[0].isdigit():
            version = _version(word)
        else:
            capabilities.append(Capability[word])
    return Requirements(tuple(capabilities), tuple(extensions), version, last_version)


@cache
def _operands(signature: str) -> tuple[OperandSpec, ...]:
    specs = []
    for word in signature.split():
        kind = word.rstrip("?*")
        specs.append(OperandSpec(kind, word[len(kind):]))
    return tuple(specs)


def requirements(member: Row | Mask) -> Requirements:
    """What the instruction, enumerant or single mask bit ``member`` requires."""
    return _requirements(member.requires)


def parameters(member: Row | Mask) -> tuple[OperandSpec, ...]:
    """The operands that an enumerant or a single mask bit brings along."""
    return _operands(member.signature)


_ROWS: dict[int, InstructionRow | None] = {}


def instruction(opcode: int) -> InstructionRow | None:
    """The grammar row of an opcode; None when the tables do not know it."""
    if opcode not in _ROWS:
        _ROWS[opcode] = _row(opcode)
    return _ROWS[opcode]


def _row(opcode: int) -> InstructionRow | None:
    op = Op._value2member_map_.get(opcode)
    if not isinstance(op, Op):
        return None
    specs = _operands(op.signature)
    kinds = [spec.kind for spec in specs]
    needs = requirements(op)
    return InstructionRow(
        "Op" + op.spelling, op, "type" in kinds, "result" in kinds,
        tuple(spec for spec in specs if spec.kind not in ("type", "result")),
        needs.capabilities, needs.extensions, needs.version, needs.last_version)


ANY_IDS = (OperandSpec("IdRef", "*"),)
"""The operands of most extended instructions."""

_SHORT_FORMS: dict[Op, str] = {
    Op.CooperativeMatrixPrefetchINTEL: "IdRef IdRef IdRef LiteralInteger IdRef IdRef?",
}
"""Operands of a form with fewer words that producers write, too: LLVM's prefetch has no offsets."""


def operands_of(row: InstructionRow, words: int) -> tuple[OperandSpec, ...]:
    """The operands of an instruction that has this number of operand words."""
    short = _SHORT_FORMS.get(row.opcode)
    if short is not None and words < sum(not spec.quantifier for spec in row.operands):
        return _operands(short)
    return row.operands


@cache
def extended_numbers(instruction_set: str) -> dict[str, int]:
    """Name and number of the instructions of an extended set; empty when the tables do not know it."""
    if instruction_set in _SIGNATURES:
        return {name: number for name, (number, _) in _SIGNATURES[instruction_set].items()}
    for beginning, numbers in identifier_sets.FAMILIES.items():
        if instruction_set.startswith(beginning):
            return numbers
    return EXTENDED_INSTRUCTIONS.get(instruction_set) or identifier_sets.SETS.get(instruction_set, {})


@cache
def extended_names(instruction_set: str) -> dict[int, str]:
    """Number and name of the instructions of an extended set; empty when the tables do not know it."""
    return {number: name for name, number in extended_numbers(instruction_set).items()}


@cache
def extended_operands(instruction_set: str, number: int) -> tuple[OperandSpec, ...] | None:
    """The operands of an extended instruction; None when the tables do not know it.

    Sets without signatures take ids only.
    """
    name = extended_names(instruction_set).get(number)
    if name is None:
        return None
    signatures = _SIGNATURES.get(instruction_set)
    return _operands(signatures[name][1]) if signatures is not None else ANY_IDS
