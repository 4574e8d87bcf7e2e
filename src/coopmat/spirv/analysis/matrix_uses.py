"""Which matrices the kernels of a module use, each with the instruction that uses it first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.analysis.sub_group_uses import SubGroupMultiply, multiply_of
from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType, Type, TypeTable
from coopmat.spirv.grammar import CONVERSIONS, Decoration, Op, Scope
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction

FLOAT_FORMATS = {FloatType(16): "fp16", FloatType(16, 0): "bf16", FloatType(32): "fp32", FloatType(64): "fp64"}
SIGNED_FLAGS = (Flags.MatrixASignedComponentsKHR, Flags.MatrixBSignedComponentsKHR,
                Flags.MatrixCSignedComponentsKHR, Flags.MatrixResultSignedComponentsKHR)
# Operands of SPV_INTEL_joint_matrix by which components of another type are read as bf16 or tf32.
INTERPRETATIONS: dict[Flags, tuple[str, tuple[int, ...]]] = {
    Flags.MatrixAAndBTF32ComponentsINTEL: ("tf32", (0, 1)),
    Flags.MatrixAAndBBFloat16ComponentsINTEL: ("bf16", (0, 1)),
    Flags.MatrixCBFloat16ComponentsINTEL: ("bf16", (2,)),
    Flags.MatrixResultBFloat16ComponentsINTEL: ("bf16", (3,)),
}
BLOCK_2D_INSTRUCTIONS = (
    Op.Subgroup2DBlockLoadINTEL, Op.Subgroup2DBlockLoadTransformINTEL, Op.Subgroup2DBlockLoadTransposeINTEL,
    Op.Subgroup2DBlockPrefetchINTEL, Op.Subgroup2DBlockStoreINTEL)
MATRIX_CONVERSIONS = frozenset({*CONVERSIONS, Op.Bitcast, Op.CooperativeMatrixConvertUseEXT})
CARRIERS: dict[str, Type] = {"tf32": FloatType(32), "bf16": IntType(16)}


@dataclass(frozen=True)
class MultiplyAccumulate:
    """One kind of ``D = A*B + C``: the formats of A, B, C and D, the sizes, and the scope of the group that does it."""

    formats: tuple[str, str, str, str]
    m: int
    n: int
    k: int
    saturating: bool = False
    scope: Scope = Scope.Subgroup

    def choices(self) -> Iterator[tuple[str, str, str, str]]:
        """The formats under which a table may list it.

        SPIR-V integers have no sign. A and B are as their operand bits say; accumulators without a
        bit may be meant as either.
        """
        a, b, *accumulators = self.formats
        signs = [(name, name.replace("uint", "sint")) if name.startswith("uint") else (name,)
                 for name in accumulators]
        for c, d in product(*signs):
            yield a, b, c, d


@dataclass(frozen=True)
class MatrixUses:
    """What the kernels of a module need of a device, each with the first instruction that needs it.

    operations and matrices: of cooperative matrices, the latter those that occur in no operation. What lies between
    two conversions is no matrix that a device must have: a change of A to B is by way of an accumulator.
    sub_group_operations: of Intel's sub-group matrix instruction. block_2d: the first 2D block read or write.
    """

    operations: dict[MultiplyAccumulate, Instruction]
    matrices: dict[MatrixType, Instruction]
    sub_group_operations: dict[SubGroupMultiply, Instruction]
    block_2d: Instruction | None = None


def multiply_accumulate_of(a: MatrixType, b: MatrixType, c: MatrixType, d: MatrixType, flags: Flags,
                           row: Instruction) -> MultiplyAccumulate:
    """The operation of an OpCooperativeMatrixMulAddKHR; ValidationError if its types do not go together."""
    for kind, use in zip((a, b, c, d), (0, 1, 2, 2), strict=True):
        if kind.use != use:
            raise ValidationError("matrix-multiply-types", f"{row.name} needs matrices of use A, B, accumulator, "
                                  "accumulator", row.offset)
    m, n, k = a.rows, b.columns, a.columns
    if b.rows != k or (c.rows, c.columns) != (m, n) or (d.rows, d.columns) != (m, n):
        raise ValidationError("matrix-multiply-shapes", f"{row.name}: the shapes {a.rows}x{a.columns}, "
                              f"{b.rows}x{b.columns}, {c.rows}x{c.columns} and {d.rows}x{d.columns} do not go together",
                              row.offset)
    if len({kind.scope for kind in (a, b, c, d)}) != 1:
        raise ValidationError("matrix-multiply-scope", f"{row.name} needs matrices of one scope", row.offset)
    names = [format_name(kind, bool(flags & bit))
             for kind, bit in zip((a, b, c, d), SIGNED_FLAGS, strict=True)]
    for flag, (name, positions) in INTERPRETATIONS.items():
        for position in positions:
            if flags & flag:
                if (a, b, c, d)[position].component != CARRIERS[name]:
                    raise ValidationError("joint-interpretation", f"{row.name}: {flag.name} needs components of type "
                                          f"{CARRIERS[name]}", row.offset)
                names[position] = name
    if len({name.startswith(("sint", "uint")) for name in names}) != 1:
        raise Error(f"{row.name} of {' * '.join(names[:2])} + {names[2]} -> {names[3]} is not supported: "
                    "the components must be all integers or all floating-point numbers")
    formats = (names[0], names[1], names[2], names[3])
    return MultiplyAccumulate(formats, m, n, k, bool(flags & Flags.SaturatingAccumulationKHR), a.scope)


def format_name(kind: MatrixType, signed: bool) -> str:
    """The contract's name of a matrix's component format."""
    component = kind.component
    if isinstance(component, IntType):
        return f"{'sint' if signed else 'uint'}{component.width}"
    assert isinstance(component, FloatType)
    return FLOAT_FORMATS[component]


def required_matrix_uses(module: Content, kernel: str | None = None) -> MatrixUses:
    """What the functions that a kernel (None: any kernel) can reach need of a device."""
    types = TypeTable(module, 1)
    matrix_types = {row.result_id for row in module.of_opcode(Op.TypeCooperativeMatrixKHR)}
    operations: dict[MultiplyAccumulate, Instruction] = {}
    matrices: dict[MatrixType, Instruction] = {}
    covered: set[MatrixType] = set()
    sub_group_operations: dict[SubGroupMultiply, Instruction] = {}
    block_2d = None
    rows = list(reachable_instructions(module, kernel))
    passing = _between_conversions(rows, matrix_types)
    for row in rows:
        if row.result_id in passing:
            continue
        kind = types[row.type_id] if row.type_id is not None and row.type_id in matrix_types else None
        if isinstance(kind, MatrixType):
            matrices.setdefault(kind, row)
        if row.opcode == Op.CooperativeMatrixMulAddKHR and isinstance(kind, MatrixType):
            list(row.ids())  # decodes the operands: ValidationError if one is missing
            kinds = [_operand_type(module, types, word, row) for word in row.words[:3]]
            flags = Flags(row.words[3] if len(row.words) > 3 else 0)
            operations.setdefault(multiply_accumulate_of(kinds[0], kinds[1], kinds[2], kind, flags, row), row)
            covered.update(kinds, [kind])
        elif row.opcode == Op.SubgroupMatrixMultiplyAccumulateINTEL:
            list(row.ids())
            sub_group_operations.setdefault(multiply_of(module, types, row), row)
        elif block_2d is None and row.opcode in BLOCK_2D_INSTRUCTIONS:
            block_2d = row
    alone = {kind: row for kind, row in matrices.items() if kind not in covered}
    return MatrixUses(operations, alone, sub_group_operations, block_2d)


def _between_conversions(rows: Sequence[Instruction], matrix_types: Collection[int | None]) -> set[int | None]:
    """The results of conversions of matrices that only further conversions use."""
    passing = {row.result_id for row in rows if row.opcode in MATRIX_CONVERSIONS and row.type_id in matrix_types}
    if not passing:
        return passing
    used = set[int | None]()
    for row in rows:
        if row.opcode in MATRIX_CONVERSIONS:
            used.update(row.words)
        else:
            passing.difference_update(row.ids())
    return passing & used


def _operand_type(module: Content, types: TypeTable, identifier: int, row: Instruction) -> MatrixType:
    type_id = module.definition(identifier).type_id
    kind = None if type_id is None else types[type_id]
    if not isinstance(kind, MatrixType):
        raise ValidationError("matrix-multiply-types", f"an operand of {row.name} is no cooperative matrix", row.offset)
    return kind


def possible_formats(kind: MatrixType) -> tuple[str, ...]:
    """The formats that a component type may stand for when no operation tells."""
    component = kind.component
    if isinstance(component, IntType):
        names = (f"sint{component.width}", f"uint{component.width}")
        return (*names, "bf16") if component == CARRIERS["bf16"] else names
    name = format_name(kind, signed=False)
    return (name, "tf32") if component == CARRIERS["tf32"] else (name,)


def has_work_groups(module: Content) -> bool:
    """Whether there are matrices of work-groups."""
    return any(module.constant_value(row.words[1]) == Scope.Workgroup
               for row in module.of_opcode(Op.TypeCooperativeMatrixKHR))


def transposes(module: Content, row: Instruction) -> bool:
    """Whether an instruction transposes a matrix."""
    return row.opcode == Op.CooperativeMatrixTransposeNV or any(
        decoration == Decoration.CooperativeMatrixTransposeEXT
        for decoration, _ in module.decorations(row.result_id or 0))
