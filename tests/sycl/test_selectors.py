"""Device selectors: what each chooses, what the environment says, and errors."""

from __future__ import annotations

import pytest

import coopmat as cm
from coopmat.runtime.information import aspect
from coopmat.sycl.selectors import (
    accelerator_selector_v,
    aspect_selector,
    cpu_selector_v,
    default_selector_v,
    gpu_selector_v,
)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COOPMAT_DEVICE", raising=False)


@pytest.mark.parametrize(("selector", "expected"), [
    (default_selector_v, "cpu"), (gpu_selector_v, "sim:intel_gpu_pvc"), (cpu_selector_v, "cpu"),
    (aspect_selector(), "cpu"), (aspect_selector(aspect.gpu, aspect.fp64), "sim:intel_gpu_pvc")])
def test_what_is_chosen(selector, expected: str) -> None:
    assert cm.device(selector).name == expected
    assert cm.Queue(selector).get_device().name == expected


@pytest.mark.parametrize(("name", "gpu", "cpu"), [
    ("sim:nvidia_gpu_sm_80", "sim:nvidia_gpu_sm_80", "cpu"),
    ("sim:intel_cpu_gnr", "sim:intel_gpu_pvc", "sim:intel_cpu_gnr")])
def test_the_environment_decides_among_those_that_fit(monkeypatch, name: str, gpu: str, cpu: str) -> None:
    monkeypatch.setenv("COOPMAT_DEVICE", name)
    found = [cm.device(selector).name for selector in (default_selector_v, gpu_selector_v, cpu_selector_v)]
    assert found == [name, gpu, cpu]


def test_the_highest_score_wins_and_the_first_of_equal_ones() -> None:
    scores = {"sim:intel_gpu_dg2_g11": 2, "sim:intel_gpu_dg2_g10": 3, "sim:amd_gpu_gfx90a": 3}
    assert cm.device(lambda one: scores.get(one.name, -1)).name == "sim:intel_gpu_dg2_g10"
    assert cm.device(lambda one: 0).name == cm.devices()[0].name


def test_a_device_and_a_name() -> None:
    device = cm.device("sim:intel_gpu_pvc")
    assert cm.device(device) is device
    assert cm.Queue(device).device is device
    assert cm.Queue("sim:intel_gpu_pvc").device.name == device.name


def test_options_hold_for_what_was_chosen() -> None:
    options = cm.SimulatorOptions(step_limit=77)
    assert cm.device(gpu_selector_v, options=options).options == options
    assert cm.device(cm.device("sim:generic"), options=options).options == options


def test_none_is_chosen() -> None:
    with pytest.raises(cm.Error, match=r"accelerator_selector_v selects none of the devices that are here: "
                                       r"cpu, sim:intel_cpu_spr, .*sim:generic"):
        cm.device(accelerator_selector_v)
    with pytest.raises(cm.Error, match=r"aspect_selector\(aspect.cpu, aspect.gpu\) selects none"):
        cm.Queue(aspect_selector(aspect.cpu, aspect.gpu))


@pytest.mark.parametrize(("make", "message"), [
    (lambda: cm.device(lambda one: "high"), "returns a score, an int; found 'high' for cpu"),
    (lambda: cm.device(lambda one: None), "found None"),
    (lambda: cm.device(5), "by its name, .* or by a selector, not int"),
    (lambda: cm.Queue(cm.Device), "not type"),
    (lambda: aspect_selector("fp64"), "aspect_selector takes aspects, such as aspect.fp64; found 'fp64'")])
def test_errors(make, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        make()
