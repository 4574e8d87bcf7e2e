"""Every type combination of every simulated device, through kernels: what is found is what the model claims."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import pytest

import coopmat as cm
from coopmat.command_line.probe import DEFAULTS
from coopmat.numerics.xmx import XmxArithmetic
from coopmat.probing import Multiply, Property, claims, compare, names, probe, setup_of
from coopmat.probing.kernels import multiplier
from tests.kit.probing.arithmetics import BF16, FP16, FP16_ONLY, TF32, Types, compared, model


class Case(NamedTuple):
    """A device with types and a shape."""

    device: str
    types: Types
    shape: tuple[int, int, int]

    def __str__(self) -> str:
        return f"{self.device}-{'-'.join(self.types)}-{'x'.join(map(str, self.shape))}"


def cases_of(device: cm.Device) -> list[Case]:
    """All types with all shapes, those with the largest K first."""
    found = [Case(device.name, row.types, row.largest) for row in device.matrix_combinations]
    return sorted(found, key=lambda case: (-case.shape[2], case.shape[0] * case.shape[1]))


ALL = [case for device in cm.devices() if device.name.startswith("sim:") for case in cases_of(device)]
SHORT = list({(case.device, case.types): case for case in reversed(ALL)}.values())
LONG = [case for case in ALL if case not in SHORT]


def assert_as_claimed(properties: list[Property]) -> None:
    assert [each for each in properties if not each.agrees] == []
    assert [each for each in properties if not each.claimed] == []
    assert len(properties) > 4


def run(case: Case, options: cm.SimulatorOptions | None = None) -> tuple[Multiply, list[Property]]:
    device = cm.device(case.device, options=options)
    m, n, k = case.shape
    setup, multiply = setup_of(case.types, k), multiplier(device, case.types, case.shape)
    return multiply, compare(probe(multiply, setup, m, n), claims(device.architecture, setup))


@pytest.mark.parametrize("case", SHORT, ids=str)
def test_devices_are_as_claimed(case: Case) -> None:
    assert_as_claimed(run(case)[1])


@pytest.mark.slow
@pytest.mark.parametrize("case", LONG, ids=str)
def test_other_shapes_are_as_claimed(case: Case) -> None:
    assert_as_claimed(run(case)[1])


@pytest.mark.parametrize("case", [Case("sim:generic", *default) for default in DEFAULTS], ids=str)
def test_the_device_without_a_table_is_exact(case: Case) -> None:
    assert_as_claimed(run(case)[1])


def test_a_device_that_computes_exactly_instead_is_found_out() -> None:
    case = Case("sim:nvidia_gpu_sm_90", FP16, (16, 16, 16))
    _, properties = run(case, cm.SimulatorOptions(numerics="exact"))
    assert {each.name for each in properties if not each.agrees} == {
        names.KEPT, names.RESULT, names.NEGATIVE_ZEROS, names.ZERO_TIMES_INFINITY, names.INFINITIES,
        *names.QUIET.values(), *names.SIGNALLING.values(), *names.WINS.values()}


@pytest.mark.parametrize("k", [1, 2, 3, 5, 31])
@pytest.mark.parametrize("architecture", ["intel_cpu_gnr", "generic"])
def test_other_numbers_of_products(architecture: str, k: int) -> None:
    setup = setup_of(BF16, k)
    multiply = multiplier(cm.device(f"sim:{architecture}"), BF16, (2, 3, k))
    assert_as_claimed(compare(probe(multiply, setup, 2, 3), claims(architecture, setup)))


@pytest.mark.parametrize("types", [BF16, TF32, FP16_ONLY],
                         ids=lambda types: f"{types[0]}-{types[3]}")
@pytest.mark.parametrize(("choice", "value"), [
    (choice.name, value) for choice in fields(XmxArithmetic) for value in choice.metadata["meanings"]])
def test_every_choice_of_xmx_is_found(types: Types, choice: str, value: str) -> None:
    xmx = XmxArithmetic(**{choice: value})
    properties = compared(model("intel_gpu_pvc", types, xmx=xmx), "intel_gpu_pvc", types, 16, xmx=xmx)
    if xmx.conversion == "each_stage":  # nothing is claimed of overflow on the way
        properties = [each for each in properties if each.claimed]
    assert_as_claimed(properties)


def test_types_without_a_model() -> None:
    assert claims("nvidia_gpu_sm_70", setup_of(BF16, 16)) is None
