"""OpSubgroupMatrixMultiplyAccumulateINTEL: SPV_INTEL_subgroup_matrix_multiply_accumulate.

The operands are vectors of each work-item; devices/subgroup_layout.py says which elements they hold.
"""

from __future__ import annotations

import numpy as np

from coopmat.devices import USES
from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.subgroup_layout import SubGroupMatrixRow
from coopmat.diagnostics import UndefinedBehavior
from coopmat.formats import storage_from_bits
from coopmat.numerics import Model
from coopmat.spirv.analysis.sub_group_uses import multiply_of
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import require_full_sub_groups
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array


def gather(value: Array, layout: LaneLayout, name: str) -> Array:
    """The matrix ``[S, rows, columns]`` of a format, in its storage type, that the lanes' vectors hold."""
    vectors = value if value.ndim == 3 else value[..., None]
    vectors = np.broadcast_to(vectors, (len(vectors), layout.sub_group_size, vectors.shape[-1]))
    places = layout.of_elements
    words = vectors.view(f"u{vectors.dtype.itemsize}")[:, places.lane, places.register]
    return storage_from_bits(words >> places.bit.astype(words.dtype), name)


def scatter(matrix: Array, layout: LaneLayout, kind: Type) -> Array:
    """The lanes' vectors of an accumulator ``[S, M, N]``, whose elements fill the vectors' components."""
    places = layout.of_elements
    vectors = np.empty((len(matrix), layout.sub_group_size, layout.components), kind.dtype)
    vectors[:, places.lane, places.register] = matrix.view(kind.dtype)
    return vectors if kind.scalar is not kind else vectors[..., 0]


def multiply_accumulate(row: SubGroupMatrixRow, kind: Type, model: Model, a: Array, b: Array, c: Array) -> Array:
    """The lanes' result vectors, of type ``kind``, for one combination, with the arithmetic of ``model``."""
    layout_a, layout_b, layout_c = (row.layout(use, kind.count) for use in USES)
    result = model(
        gather(a, layout_a, row.a), gather(b, layout_b, row.b), gather(c, layout_c, row.accumulator),
        a_format=row.a, b_format=row.b, c_format=row.accumulator, d_format=row.accumulator)
    return scatter(result, layout_c, kind)


def _multiply(compiler: FunctionCompiler, instruction: Instruction) -> Step:
    use = multiply_of(compiler.module, compiler.types, instruction)
    site, size = compiler.site(instruction), compiler.types.sub_group_size
    row = use.row_for(size)
    if row is None:
        sizes = " or ".join(map(str, use.sub_group_sizes))

        def refuse(frame: Frame) -> None:
            raise UndefinedBehavior(
                f"{site.instruction} with {use} needs sub-groups of {sizes} work-items, but this kernel has "
                f"sub-groups of {size}: require the size with intel_reqd_sub_group_size",
                site.where(frame, *frame.mask.first))

        return refuse
    known = row
    model = compiler.kernel.arithmetic
    result, slots = compiler.result(instruction), [compiler.slot(word) for word in instruction.words[1:4]]

    def execute(frame: Frame) -> None:
        require_full_sub_groups(frame, site)
        a, b, c = (frame.slots[slot] for slot in slots)
        frame.slots[result] = multiply_accumulate(known, use.result, model, a, b, c)

    return execute


OPERATIONS: dict[int, Handler] = {Op.SubgroupMatrixMultiplyAccumulateINTEL: _multiply}
