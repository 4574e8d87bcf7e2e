"""Which matrices a module uses, and whether a device has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from coopmat.devices import ARCHITECTURES, USES, DeviceDescription
from coopmat.devices.subgroup_layout import SubGroupMatrixRow, has_2d_block_io, matrix_rows_of
from coopmat.diagnostics import Error, KernelNotSupported, ValidationError
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.grammar import ExecutionModel, Op
from coopmat.spirv.module import Function, Instruction, Module
from coopmat.targets.simulator.sub_group_uses import SubGroupMultiply, flags_of, multiply_of
from coopmat.targets.simulator.types import FloatType, IntType, MatrixType, Type, TypeTable

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
BLOCK_2D_INSTRUCTIONS = frozenset({
    Op.Subgroup2DBlockLoadINTEL, Op.Subgroup2DBlockLoadTransformINTEL, Op.Subgroup2DBlockLoadTransposeINTEL,
    Op.Subgroup2DBlockPrefetchINTEL, Op.Subgroup2DBlockStoreINTEL})
CARRIERS: dict[str, Type] = {"tf32": FloatType(32), "bf16": IntType(16)}


@dataclass(frozen=True)
class MultiplyAccumulate:
    """One kind of ``D = A*B + C``: the formats of A, B, C and D, and the sizes."""

    formats: tuple[str, str, str, str]
    m: int
    n: int
    k: int
    saturating: bool = False

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
    """What the kernels of a module need of a device.

    operations and matrices: of cooperative matrices, the latter those that occur in no operation.
    sub_group_operations: of Intel's sub-group matrix instruction. blocks_2d: whether there are
    2D block reads or writes.
    """

    operations: tuple[MultiplyAccumulate, ...]
    matrices: tuple[MatrixType, ...]
    sub_group_operations: tuple[SubGroupMultiply, ...] = ()
    blocks_2d: bool = False


def multiply_accumulate_of(a: MatrixType, b: MatrixType, c: MatrixType, d: MatrixType, flags: Flags,
                           row: Instruction) -> MultiplyAccumulate:
    """The operation of an OpCooperativeMatrixMulAddKHR; ValidationError if its types do not go together."""
    for kind, use in zip((a, b, c, d), (0, 1, 2, 2), strict=True):
        if kind.use != use:
            raise ValidationError("CM-20", f"{row.name} needs matrices of use A, B, accumulator, accumulator",
                                  row.offset)
    m, n, k = a.rows, b.columns, a.columns
    if b.rows != k or (c.rows, c.columns) != (m, n) or (d.rows, d.columns) != (m, n):
        raise ValidationError("CM-21", f"{row.name}: the shapes {a.rows}x{a.columns}, {b.rows}x{b.columns}, "
                              f"{c.rows}x{c.columns} and {d.rows}x{d.columns} do not go together", row.offset)
    names = [format_name(kind, bool(flags & bit))
             for kind, bit in zip((a, b, c, d), SIGNED_FLAGS, strict=True)]
    for flag, (name, positions) in INTERPRETATIONS.items():
        for position in positions:
            if flags & flag:
                if (a, b, c, d)[position].component != CARRIERS[name]:
                    raise ValidationError("JM-2", f"{row.name}: {flag.name} needs components of type "
                                          f"{CARRIERS[name]}", row.offset)
                names[position] = name
    if len({name.startswith(("sint", "uint")) for name in names}) != 1:
        raise Error(f"{row.name} of {' * '.join(names[:2])} + {names[2]} -> {names[3]} is not supported: "
                    "the components must be all integers or all floating-point numbers")
    formats = (names[0], names[1], names[2], names[3])
    return MultiplyAccumulate(formats, m, n, k, bool(flags & Flags.SaturatingAccumulationKHR))


def format_name(kind: MatrixType, signed: bool) -> str:
    """The contract's name of a matrix's component format."""
    component = kind.component
    if isinstance(component, IntType):
        return f"{'sint' if signed else 'uint'}{component.width}"
    assert isinstance(component, FloatType)
    return FLOAT_FORMATS[component]


def required_matrix_uses(module: Module, kernel: str | None = None) -> MatrixUses:
    """What the functions that a kernel (None: any kernel) can reach need of a device."""
    types = TypeTable(module, 1)
    operations: dict[MultiplyAccumulate, None] = {}
    matrices: dict[MatrixType, None] = {}
    covered: set[MatrixType] = set()
    sub_group_operations: dict[SubGroupMultiply, None] = {}
    blocks_2d = False
    for function in _reachable(module, kernel):
        for row in (*function.parameters, *(row for block in function.blocks for row in block.instructions)):
            kind = None if row.type_id is None else types[row.type_id]
            if isinstance(kind, MatrixType):
                matrices[kind] = None
            if row.opcode == Op.CooperativeMatrixMulAddKHR and isinstance(kind, MatrixType):
                list(row.ids())  # decodes the operands: ValidationError if one is missing
                kinds = [_operand_type(module, types, word, row) for word in row.words[:3]]
                flags = Flags(row.words[3] if len(row.words) > 3 else 0)
                operations[multiply_accumulate_of(kinds[0], kinds[1], kinds[2], kind, flags, row)] = None
                covered.update(kinds, [kind])
            elif row.opcode == Op.SubgroupMatrixMultiplyAccumulateINTEL:
                list(row.ids())
                sub_group_operations[multiply_of(module, types, row)] = None
            blocks_2d = blocks_2d or row.opcode in BLOCK_2D_INSTRUCTIONS
    return MatrixUses(tuple(operations), tuple(kind for kind in matrices if kind not in covered),
                      tuple(sub_group_operations), blocks_2d)


def _operand_type(module: Module, types: TypeTable, identifier: int, row: Instruction) -> MatrixType:
    type_id = module.definition(identifier).type_id
    kind = None if type_id is None else types[type_id]
    if not isinstance(kind, MatrixType):
        raise ValidationError("CM-20", f"an operand of {row.name} is no cooperative matrix", row.offset)
    return kind


def _reachable(module: Module, kernel: str | None) -> list[Function]:
    functions = {function.id: function for function in module.functions}
    waiting = [entry.function_id for entry in module.entry_points
               if entry.model == ExecutionModel.Kernel and kernel in (None, entry.name)]
    found: dict[int, Function] = {}
    while waiting:
        identifier = waiting.pop()
        if identifier in found or identifier not in functions:
            continue
        function = found[identifier] = functions[identifier]
        waiting += [row.words[0] for block in function.blocks for row in block.instructions
                    if row.opcode == Op.FunctionCall]
    return list(found.values())


def check_supported(module: Module, description: DeviceDescription, kernel: str | None = None) -> None:
    """Raise KernelNotSupported if a kernel (None: any kernel) needs matrices that the device does not have.

    The same goes for Intel's sub-group matrix instruction and for 2D blocks.
    """
    uses = required_matrix_uses(module, kernel)
    for operation in uses.operations:
        sizes = (operation.m, operation.n, operation.k)
        if not any(description.supports(*formats, *sizes) for formats in operation.choices()):
            description.require(*_likely(description, operation), *sizes)
    for kind in uses.matrices:
        names = _possible_formats(kind)
        if not any(description.supports_matrix(name, USES[kind.use], kind.rows, kind.columns) for name in names):
            description.require_matrix(names[0], USES[kind.use], kind.rows, kind.columns)
    for use in uses.sub_group_operations:
        _require_sub_group_operation(description, use)
    if uses.blocks_2d and not has_2d_block_io(description):
        raise KernelNotSupported(f"{description.name} has no 2D block reads and writes; devices that have them: "
                                 f"{_devices_with(has_2d_block_io)}")


def _require_sub_group_operation(description: DeviceDescription, use: SubGroupMultiply) -> None:
    rows = matrix_rows_of(description)
    if any(map(use.is_row, rows)):
        return
    if rows:
        shown = sorted(rows, key=lambda row: _difference(row, use))[:3]
        legal = f"nearest supported, for M = 1, 2, 4 and 8: {'; '.join(map(str, shown))}"
    else:
        legal = f"devices that have this instruction: {_devices_with(lambda other: bool(matrix_rows_of(other)))}"
    raise KernelNotSupported(f"{description.name} does not support the sub-group matrix multiply-accumulate {use}; "
                             f"{legal}")


def _difference(row: SubGroupMatrixRow, use: SubGroupMultiply) -> tuple[bool, bool]:
    return flags_of(row) != use.flags, row.k != use.k


def _devices_with(has: Callable[[DeviceDescription], bool]) -> str:
    return ", ".join(name for name, description in ARCHITECTURES.items() if has(description))


def _likely(description: DeviceDescription, operation: MultiplyAccumulate) -> tuple[str, str, str, str]:
    """The reading of the formats to name in a message: one that the device has in another shape, if any."""
    listed = {row.types for row in description.combinations}
    return next((formats for formats in operation.choices() if formats in listed), operation.formats)


def _possible_formats(kind: MatrixType) -> tuple[str, ...]:
    """The formats that a component type may stand for when no operation tells."""
    component = kind.component
    if isinstance(component, IntType):
        names = (f"sint{component.width}", f"uint{component.width}")
        return (*names, "bf16") if component == CARRIERS["bf16"] else names
    name = format_name(kind, signed=False)
    return (name, "tf32") if component == CARRIERS["tf32"] else (name,)


