"""``opencl:0`` on Intel's runtime for CPUs: cases, examples, programs and random kernels, in child processes."""

from __future__ import annotations

import pytest

from tests.kit.cases import CASES
from tests.kit.oracles import opencl
from tests.kit.targets import opencl_cases
from tests.programs.test_programs import PROGRAMS

pytestmark = pytest.mark.oracle("intel-opencl")
JOBS = "tests.kit.targets.on_opencl:"
NAMES = tuple(opencl.names_of(opencl_cases))
EXAMPLES = tuple(case.name for case in CASES)
SHORT = ("cholesky", "example_attention", "example_quantized", "example_w4a16", "layer_norm", "lu", "mlp")
"""Programs that do not take the driver's compiler long."""
PROGRAM_NAMES = tuple(program.__name__.rpartition(".")[2] for program in PROGRAMS)
SEEDS, LONG_SEEDS = range(8), range(1000, 1300)


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str) -> None:
    found = opencl.outcomes(f"{JOBS}case", *NAMES)[name]
    assert not found, found


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_or_kernel(name: str) -> None:
    found = opencl.outcomes(f"{JOBS}example", *EXAMPLES)[name]
    assert not found, found


@pytest.mark.parametrize("name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.slow)
                                  for name in PROGRAM_NAMES])
def test_program(name: str, long_form: bool) -> None:
    found = opencl.outcomes(f"{JOBS}program", *(PROGRAM_NAMES if long_form else SHORT))[name]
    assert not found, found


@pytest.mark.parametrize("kind", ["random_kernel", "random_graph"])
def test_random_kernels_are_as_on_the_simulator(kind: str, long_form: bool) -> None:
    found = opencl.outcomes(f"{JOBS}{kind}", *(LONG_SEEDS if long_form else SEEDS))
    assert not any(found.values()), "\n".join(filter(None, found.values()))
