"""What the extension forbids: each constraint's message at its place, in kernels and on the host, and what a device
does not support or cannot do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES
from coopmat.sycl import constraints, errc, exception, nd_range
from coopmat.sycl.constraints import BrokenConstraint
from tests.kit.lenient import lenient
from tests.kit.sycl.divergent_kernels import DIVERGENT, ORDERLY
from tests.kit.sycl.refused import CLOSE, OPEN, Case, check, codes, codes_of, loaded, read_cases
from tests.kit.sycl.unsupported_kernels import MATRICES, UNSUPPORTED, chosen, declared, filled, in_helpers, product_of

CASES = read_cases("constraints.txt")
ON_THE_HOST = [case for case in CASES if case.code.startswith(("CM610", "CM619"))
               and case.text.startswith(("m = ⟦", "p = ⟦")) and "item" not in case.text]

# ------------------------------------------------------------------ messages


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}: {case.text.splitlines()[-1]}")
def test_a_broken_constraint_in_a_kernel(case: Case) -> None:
    check(case)


def test_every_constraint_is_broken_by_a_case() -> None:
    assert codes_of(constraints) <= codes(CASES)


@pytest.mark.parametrize("case", ON_THE_HOST, ids=lambda case: f"{case.code}: {case.text}")
def test_a_broken_constraint_on_the_host(case: Case) -> None:
    with pytest.raises(BrokenConstraint) as caught:
        loaded("from coopmat.sycl import *\n" + case.text.replace(OPEN, "").replace(CLOSE, ""))
    assert str(caught.value) == case.message
    assert caught.value.code() is errc.build


def test_every_constraint_of_types_and_queries_is_broken_on_the_host() -> None:
    of_the_host = {code for code in codes_of(constraints) if code.startswith(("CM610", "CM619"))}
    assert codes(ON_THE_HOST) == of_the_host


# ------------------------------------------------------------------ what a device does not support


@pytest.mark.parametrize("given", UNSUPPORTED, ids=str)
def test_an_unsupported_combination_is_refused_before_anything_runs(given) -> None:
    array, queue = np.full(4096, 7, np.int32), cm.Queue(f"sim:{given.architecture}")
    size = ARCHITECTURES[given.architecture].sub_group_sizes[0]
    with pytest.raises(cm.KernelNotSupported, match=given.message) as caught:
        queue.parallel_for(nd_range(size, size), product_of(*given.matrices), array)
    assert given.architecture in str(caught.value)
    assert (array == 7).all()
    assert caught.value.code() is errc.kernel_not_supported
    assert isinstance(caught.value, exception)


@pytest.mark.parametrize("given", MATRICES, ids=lambda given: " ".join(map(str, given)))
def test_an_unsupported_matrix_is_refused_before_anything_runs(given: tuple) -> None:
    architecture, element, _, rows, columns = given
    array, size = np.full(64, 7, np.int32), ARCHITECTURES[architecture].sub_group_sizes[0]
    shown = f":[0-9]+:13: error: {architecture} does not support a {rows}x{columns} {element.format} matrix with use '"
    with pytest.raises(cm.KernelNotSupported, match=shown):
        cm.Queue(lenient(f"sim:{architecture}")).parallel_for(nd_range(size, size), filled(*given[1:]), array)
    assert (array == 7).all()


@pytest.mark.parametrize(("kernel", "line"), [(declared, "m = joint_matrix("), (in_helpers, "m = joint_matrix(")])
def test_every_matrix_of_a_kernel_must_be_supported(kernel, line: str) -> None:
    array = np.full(64, 7, np.int32)
    for submit in (lambda: cm.build(kernel, device=cm.device("sim:intel_gpu_pvc")),
                   lambda: cm.Queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), kernel, array)):
        with pytest.raises(cm.KernelNotSupported, match="intel_gpu_pvc does not support a ") as caught:
            submit()
        file, number, *_ = str(caught.value).split(":")
        assert line in Path(file).read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert (array == 7).all()
    cm.Queue("sim:generic").parallel_for(nd_range(16, 16), kernel, array)
    assert array[0] == 1


def test_what_is_not_compiled_need_not_be_supported() -> None:
    array = np.full(64, 7, np.int32)
    cm.Queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), chosen, array)
    assert array[0] == 1


def test_the_same_combinations_run_where_everything_is_supported() -> None:
    for given in UNSUPPORTED:
        array = np.full(4096, 7, np.int32)
        cm.Queue("sim:generic").parallel_for(nd_range(16, 16), product_of(*given.matrices), array).wait()
        assert array[0] == 1


# ------------------------------------------------------------------ group functions


@pytest.mark.parametrize("kernel", DIVERGENT, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("architecture", ["intel_cpu_spr", "nvidia_gpu_sm_80"])
def test_a_group_function_in_divergent_control_flow(kernel, architecture: str) -> None:
    array, size = np.zeros(4096, np.int32), ARCHITECTURES[architecture].sub_group_sizes[0]
    with pytest.raises(cm.DivergentGroupOperation) as caught:
        cm.Queue(lenient(f"sim:{architecture}")).parallel_for(nd_range(size, size), kernel, array, size // 2)
    file, line, *_ = str(caught.value.where.location).split(":")
    assert Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1].endswith("# here")


@pytest.mark.parametrize("kernel", [*DIVERGENT, *ORDERLY], ids=lambda kernel: kernel.name)
def test_a_group_function_in_control_flow_that_is_the_same_for_all(kernel) -> None:
    array = np.zeros(4096, np.int32)
    cm.Queue(lenient("sim:intel_cpu_spr")).parallel_for(nd_range(16, 16), kernel, array, 16).wait()
    assert array[0] == 1
