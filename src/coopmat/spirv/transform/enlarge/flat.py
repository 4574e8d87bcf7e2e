"""Products in loops of which several rounds cannot be one: each round adds little to all sums of a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.cut.cutting import ELEMENTWISE
from coopmat.spirv.transform.enlarge.accesses import LOADS
from coopmat.spirv.transform.enlarge.growth import Growth
from coopmat.spirv.transform.enlarge.matrices import Matrices

Kinds = tuple[MatrixType, MatrixType, MatrixType]


@dataclass(frozen=True)
class FlatProduct:
    """A product. kinds: the types of A, B and C. only_adds: whether the loop has no other matrices than those that it
    loads and sums of products; moves_sums: whether it loads or stores accumulators; changes: its operations on elements
    of these; a function counts as several."""

    row: Instruction
    kinds: Kinds
    only_adds: bool
    moves_sums: bool
    changes: int


FUNCTION = 4  # operations
_OPERATIONS = ELEMENTWISE - {Op.Phi, Op.Undef, Op.CompositeConstruct, Op.CompositeConstructReplicateEXT, Op.CopyObject,
                             Op.CopyLogical, Op.FreezeKHR}


def flat_products(matrices: Matrices, growth: Growth) -> Iterator[FlatProduct]:
    """Those of a kernel whose work-groups are merged."""
    loops = _loops(matrices)
    for row in matrices.products:
        inside = [blocks for blocks in loops if any(row in block.instructions for block in blocks)]
        if inside and matrices.dimensions.find((row.words[0], 1)) not in growth.loops:
            rows = [one for block in min(inside, key=len) for one in block.instructions]
            only_adds = all(one.opcode in (*LOADS, Op.Phi, Op.CooperativeMatrixMulAddKHR) for one in rows
                            if one.result_id in matrices.declared)
            moves_sums = any(access.row in rows and _is_sum(matrices, access.matrix) for access in matrices.accesses)
            yield FlatProduct(row, kinds_of(matrices, row), only_adds, moves_sums,
                              sum(_change(matrices, one) for one in rows))


def kinds_of(matrices: Matrices, product: Instruction) -> Kinds:
    """The types of a product's A, B and C."""
    a, b, c = (matrices.kind(word) for word in (*product.words[:2], product.result_id or 0))
    assert a is not None
    assert b is not None
    assert c is not None
    return a, b, c


def _loops(matrices: Matrices) -> list[list[Block]]:
    """The blocks of each loop."""
    indices = matrices.indices
    return [indices.loops.blocks(block.label) for block in indices.body.blocks
            if any(row.opcode == Op.LoopMerge for row in block.instructions[-2:-1])]


def _change(matrices: Matrices, row: Instruction) -> int:
    """How many operations on elements of accumulators an instruction is."""
    if not _is_sum(matrices, row.result_id or 0):
        return 0
    return FUNCTION if row.opcode == Op.CooperativeMatrixPerElementOpEXT else int(row.opcode in _OPERATIONS)


def _is_sum(matrices: Matrices, identifier: int) -> bool:
    """Whether a value is an accumulator."""
    kind = matrices.kind(identifier)
    return kind is not None and kind.use == Use.MatrixAccumulatorKHR
