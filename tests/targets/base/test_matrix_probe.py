"""The products that drivers are tried with: right on the simulator, and no accident is right."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.base.matrix_probe import KERNEL, MatrixProbe

PROBES = [
    MatrixProbe(("sint8", "uint8", "sint32", "sint32"), (8, 8, 32)),
    MatrixProbe(("fp16", "fp16", "fp32", "fp32"), (16, 16, 16), (1, 1, 1, 1)),
    MatrixProbe(("fp16", "fp16", "fp16", "fp16"), (8, 8, 8), sub_group_size=8),
    MatrixProbe(("bf16", "bf16", "fp32", "bf16"), (4, 8, 16), (0, 1, 0, 1)),
    MatrixProbe(("fp64", "fp64", "fp64", "fp64"), (8, 8, 4)),
    MatrixProbe(("uint8", "uint8", "uint32", "uint32"), (16, 16, 64), (0, 2, 0, 0)),
    MatrixProbe(("fp16", "fp16", "fp32", "fp32"), (3, 5, 6), (0, 2, 1, 0), requires_size=False),
    MatrixProbe(("sint8", "sint8", "sint32", "sint32"), (16, 16, 64), saturating=True),
]


@pytest.mark.parametrize("probe", PROBES, ids=str)
def test_simulator_computes_it(probe: MatrixProbe) -> None:
    assert probe.is_possible
    arguments = probe.arguments()
    assert not probe.is_right(arguments)
    program = cm.build(probe.module().to_bytes(), device="sim:generic")
    cm.Queue("sim:generic").enqueue(program.kernel(KERNEL), probe.sub_group_size, probe.sub_group_size,
                                    *arguments).wait()
    assert probe.is_right(arguments)
    arguments[3][probe.stride(3) - 1] += 1  # a gap
    assert not probe.is_right(arguments)


def test_sums_differ_from_single_products() -> None:
    probe = PROBES[0]
    a, b, (c,) = probe._values()
    for wrong in (c, a[0] @ b[0] + c, a[1] @ b[1] + c, a[0] @ b[0] + a[1] @ b[1]):
        assert np.any(wrong != probe.expected())


def test_types_without_probe() -> None:
    assert not MatrixProbe(("tf32", "tf32", "fp32", "fp32"), (8, 8, 8)).is_possible
    assert not MatrixProbe(("sint4", "sint4", "sint32", "sint32"), (8, 8, 64)).is_possible
