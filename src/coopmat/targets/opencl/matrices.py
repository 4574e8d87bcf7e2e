"""Which matrices a driver computes itself."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.devices import Combination
from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.grammar import Capability, CooperativeMatrixUse, Op
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.goal import EXTENSIONS, MatrixSupport, Moves
from coopmat.targets.base.matrix_probe import ROW_MAJOR, Layouts, MatrixProbe
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.packing import Packed, why_not, with_packed_b
from coopmat.targets.opencl.support import Support, candidates
from coopmat.targets.opencl.verdicts import Verdict

PACKED_B: Layouts = (0, 2, 0, 0)
LAYOUTS: tuple[Layouts, ...] = (PACKED_B, ROW_MAJOR)
"""Of A, B, C and D, that a product is tried with: B in VNNI order, as Intel's runtime for CPUs wants it, and all by
rows."""
_PLAIN = frozenset({Op.Load, Op.Store, Op.Phi, Op.Undef, Op.Variable, Op.CopyObject})
"""What drivers do with matrices as with any value."""
_FILLS = frozenset({Op.CompositeConstruct, Op.ConstantComposite})


def matrix_support(support: Support, rows: Sequence[Combination]) -> MatrixSupport:
    """What the driver has for matrices, as the pass that replaces the others takes it: ``rows`` are its own."""
    device = support.device
    return MatrixSupport(f"the driver {device}", tuple(rows),
                         extensions=EXTENSIONS & (device.spirv_extensions or frozenset()),
                         sub_group_size=support.sub_group_sizes[0], moves=_moves(device))


def native_module(module: Module, support: Support, layouts: Layouts, sub_group_size: int) -> Packed:
    """A module whose matrices the driver computes if they are loaded and stored in these layouts. KernelNotSupported,
    with the reason, for one that does other things with them."""
    types = TypeTable(module, 1)
    constants = module.of_opcode(Op.ConstantComposite)
    for rows in (constants, *(block.instructions for function in module.functions for block in function.blocks)):
        for row in rows:
            reason = _reason_against(module, types, row)
            if reason is not None:
                raise KernelNotSupported(reason)
    if layouts != PACKED_B:
        return Packed(module, {})
    reason = why_not(module)
    if reason is not None:
        raise KernelNotSupported(reason)
    return with_packed_b(module, sub_group_size)


def _reason_against(module: Module, types: TypeTable, row: Instruction) -> str | None:
    """Why the driver may not do what an instruction does with a matrix."""
    if row.opcode == Op.CooperativeMatrixMulAddKHR or row.opcode in _PLAIN:
        return None
    if row.opcode in _FILLS and isinstance(types[row.type_id or 0], MatrixType):
        # Intel's runtime fills with zeros whatever it is told.
        return None if _is_zero(module, row.words[0]) else f"{row.name} of a matrix with other numbers than 0"
    place = {Op.CooperativeMatrixLoadKHR: 1, Op.CooperativeMatrixStoreKHR: 2}.get(Op(row.opcode))
    if place is not None:
        matrix = types[row.type_id or module.definition(row.words[1]).type_id or 0]
        is_b = isinstance(matrix, MatrixType) and matrix.use == CooperativeMatrixUse.MatrixBKHR
        layout = module.constant_value(row.words[place])
        return None if is_b or layout == Layout.RowMajorKHR else f"{row.name} of a matrix that does not lie by rows"
    operands = [module.definition(word).type_id for word in row.ids() if module.defines(word)]
    for type_id in filter(None, [row.type_id, *operands]):
        if module.definition(type_id).opcode == Op.TypeCooperativeMatrixKHR:
            return f"{row.name} on a matrix"
    return None


def _is_zero(module: Module, identifier: int) -> bool:
    """Whether a constant has no bit that is 1."""
    row = module.definition(identifier)
    return row.opcode == Op.ConstantNull or (row.opcode == Op.Constant and not any(row.words))


def _moves(device: DriverDevice) -> Moves:
    """How data go from one work-item of a sub-group to another."""
    for moves, capabilities, extensions in _MOVES:
        if device.spirv_capabilities is None:
            if extensions <= device.extensions:
                return moves
        elif not any(map(device.lacks, capabilities)):
            return moves
    return "local"


_MOVES: tuple[tuple[Moves, tuple[Capability, ...], set[str]], ...] = (
    ("khr", (Capability.GroupNonUniformShuffle, Capability.GroupNonUniformBallot),
     {"cl_khr_subgroup_shuffle", "cl_khr_subgroup_ballot"}),
    ("intel", (Capability.SubgroupShuffleINTEL,), {"cl_intel_subgroups"}),
)
"""Ways, best first, each with the capabilities that a driver lists, or the extensions of one that lists none."""


def native_combinations(support: Support, options: OpenCLOptions) -> dict[Combination, Layouts]:
    """The combinations of the tables that the driver computes, and in which layouts."""
    return {row: layouts for row, verdict, layouts in trials_of(support, options) if verdict.works}


def trials_of(support: Support, options: OpenCLOptions) -> list[tuple[Combination, Verdict, Layouts]]:
    """What came of the combinations that the driver may have; none of them is tried if none is wanted."""
    if not options.native_matrices or not support.sub_group_sizes:
        return []
    rows = candidates(support.device)
    found: dict[Combination, tuple[Verdict, Layouts]] = {}
    for layouts in LAYOUTS:
        waiting = [row for row in rows if row not in found or not found[row][0].works]
        verdicts = support.matrices([_probe(support, row, layouts) for row in waiting])
        found.update((row, (verdict, layouts)) for row, verdict in zip(waiting, verdicts, strict=True)
                     if verdict.works or row not in found)
    return [(row, *found[row]) for row in rows]


def _probe(support: Support, row: Combination, layouts: Layouts) -> MatrixProbe:
    a, b, c, d = row.types
    return MatrixProbe((a, b, c, d), row.largest, layouts, support.sub_group_sizes[0],
                       requires_size=support.requires_sizes)
