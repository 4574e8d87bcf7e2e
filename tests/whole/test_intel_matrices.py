"""Our cooperative-matrix SPIR-V on Intel's CPU runtime, which computes it with AMX.

The runtime takes B only in packed (VNNI) order, a layout that the language does not have: the tests load B
with layout PackedINTEL instead and pack it on the host. All else of the module is as we wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.grammar import CooperativeMatrixLayout, CooperativeMatrixUse, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from tests.kit.oracles import intel_runtime
from tests.kit.paths import EXAMPLES

GEMM = EXAMPLES / "gemm.cl"


def with_packed_b(module: Module) -> Module:
    """The module with every load of a B matrix of bytes in PackedINTEL layout.

    A row of the packed matrix holds four rows of the matrix, so its stride is four times as long. The
    runtime refuses the layout's capability, though it has the layout: the module does not declare it.
    """
    loads = [item for item in module.of_opcode(Op.CooperativeMatrixLoadKHR)
             if module.constant_value(module.definition(item.type_id or 0).words[4]) == CooperativeMatrixUse.MatrixBKHR]
    stride_type = module.definition(loads[0].words[2]).type_id
    uint = module.definition(loads[0].words[1]).type_id
    layout, four, bound = module.bound, module.bound + 1, module.bound + 2
    constants = [make(Op.Constant, CooperativeMatrixLayout.PackedINTEL, type_id=uint, result_id=layout),
                 make(Op.Constant, 4, 0, type_id=stride_type, result_id=four)]

    def edit(item: Instruction) -> Iterator[Instruction]:
        nonlocal bound, constants
        if item.opcode == Op.Function:
            yield from constants
            constants = []
        if item in loads:
            pointer, _, stride = item.words
            yield make(Op.IMul, stride, four, type_id=stride_type, result_id=bound)
            item = make(Op.CooperativeMatrixLoadKHR, pointer, layout, bound, type_id=item.type_id,
                        result_id=item.result_id)
            bound += 1
        yield item

    instructions = [made for item in module.instructions for made in edit(item)]
    return Module(instructions, version=module.version, bound=bound)


def packed(b: np.ndarray, per_word: int) -> np.ndarray:
    """K×N in VNNI order: ``per_word`` rows interleaved, so that each 32-bit word holds one column's."""
    k, n = b.shape
    return np.ascontiguousarray(b.reshape(k // per_word, per_word, n).transpose(0, 2, 1)).reshape(k // per_word, -1)


@pytest.mark.oracle("intel-amx")
@pytest.mark.parametrize("k", [64, 192])
@pytest.mark.parametrize("sub_group_size", [8, 16, 32])
def test_int8_gemm_equals_the_simulator(k: int, sub_group_size: int) -> None:
    """16×16 tiles, K step 64: the whole AMX tile, in a loop over k."""
    m, n = 32, 16
    program = cm.build(GEMM, ("-DTM=16", "-DTN=16", "-DTK=64", f"-DSUB_GROUP_SIZE={sub_group_size}"))
    rng = np.random.default_rng(k)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    ours = np.zeros((m, n), np.int32)
    sizes = (n // 16 * sub_group_size, m // 16), (sub_group_size, 1)
    cm.Queue("sim:generic").enqueue(program.kernel("gemm"), *sizes, a, b, ours, n, k).wait()

    spirv = with_packed_b(program.module).to_bytes()
    results = intel_runtime.run(spirv, "gemm", *sizes, [a, packed(b, 4), np.zeros((m, n), np.int32), np.int32(n),
                                                        np.int32(k)])
    np.testing.assert_array_equal(ours, a.astype(np.int32) @ b.astype(np.int32))
    np.testing.assert_array_equal(results[2], ours)
