"""Every example and test kernel, and the Python kernels of tests/sycl, on an NVIDIA GPU.

The examples in Python and tests/programs go through all devices, GPUs too: tests/whole/test_joint_matrix_examples.py
and tests/programs/test_programs.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

import coopmat as cm
from tests.kit.cases import CASES, OF_MATRICES, SUB_GROUP, Case, copies
from tests.kit.sycl import launches
from tests.kit.sycl.launching_tests import launching
from tests.kit.targets import gpu

SEED = 20


@cache
def built(case: Case) -> cm.Program:
    return cm.build(case.source, case.options)


def check(case: Case, device: cm.Device, capsys: pytest.CaptureFixture[str]) -> None:
    """The case's results, and what it prints."""
    arguments = case.arguments(np.random.default_rng(SEED))
    expected, printed = case.expected(copies(arguments)), case.printed(arguments)
    case.run(built(case), device, arguments)
    for index, result in expected.items():
        np.testing.assert_array_equal(arguments[index], result, err_msg=f"argument {index}")
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed)


@pytest.mark.oracle("cuda")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_examples_and_kernels(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """With sub-groups of 16, for which the launches are made."""
    check(case, gpu.NarrowGpu(0), capsys)


WHOLE_WARPS = [case.for_sub_groups_of(2 * SUB_GROUP) for case in CASES if case.source.stem in OF_MATRICES]


@pytest.mark.oracle("cuda")
@pytest.mark.parametrize("case", WHOLE_WARPS, ids=lambda case: case.name)
def test_matrices_of_whole_warps(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """Launched for sub-groups of 32, whose matrices the tensor cores multiply."""
    assert case.local_size[0] % (2 * SUB_GROUP) == 0
    check(case, cm.device(gpu.GPU), capsys)


@pytest.mark.parametrize("case", WHOLE_WARPS, ids=lambda case: case.name)
def test_launches_of_whole_warps_are_right(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """As the simulator says, of a device with such sub-groups."""
    check(case, gpu.WarpSimulator(), capsys)


# ------------------------------------------------------------------ Python kernels


@pytest.fixture(scope="module", autouse=True)
def _on_the_gpu() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launches, "DEVICE", gpu.GPU)
        yield


globals().update(launching())


NOT_ON_GPUS = {
    "test_groups__votes[": ("-64]", "sub-groups of 64"),
    "test_math__element_wise_functions_of_matrices[": ("amd_gpu_gfx90a]", "sub-groups of 64"),
    "test_math__native_and_half_precision[": ("native]", "native_tan is less exact on GPUs, as OpenCL leaves it"),
}
"""Tests that no GPU of NVIDIA's can pass: how their names begin and end, and why."""


@pytest.fixture(autouse=True)
def _possible(request: pytest.FixtureRequest) -> None:
    for name, (end, reason) in NOT_ON_GPUS.items():
        if request.node.name.startswith(name) and request.node.name.endswith(end):
            pytest.skip(reason)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The Python kernels need a GPU."""
    if metafunc.function.__module__ != __name__:
        metafunc.parametrize("_gpu", [pytest.param(None, marks=pytest.mark.oracle("cuda"), id="cuda")], indirect=True,
                             scope="module")


@pytest.fixture(scope="module", autouse=True)
def _gpu() -> None:
    """The tests of other modules are marked by way of it."""
