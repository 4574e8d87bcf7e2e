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
SHORT = ("cholesky", "example_quantized", "layer_norm", "lu")
"""Programs that do not take the driver's compiler long."""
PROGRAM_NAMES = tuple(program.__name__.rpartition(".")[2] for program in PROGRAMS)
EVERY = 4
"""One in how many of the examples and test kernels the short form has: most of the time is the driver's compiler's."""
SEEDS = {"random_kernel": range(1, 6), "random_graph": (1, 2, 3, 5, 6)}
LONG_SEEDS = range(1000, 1300)
"""Of the short forms those of which the runtime makes what the simulator does: for kernel 0 it does not find a function
of its own (convert_char32_sat), and operations of sub-groups where work-items part (graphs 0 and 4) see others."""
REFUSED = {"matrix_int8-shared_m8_n16": "does not take the SPIR-V capability SplitBarrier"}
"""What the driver does not have, and what is said of it."""


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str) -> None:
    found = opencl.outcomes(f"{JOBS}case", *NAMES)[name]
    assert not found, found


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if place % EVERY else [])
                                  for place, name in enumerate(EXAMPLES)])
def test_example_or_kernel(name: str, long_form: bool) -> None:
    found = opencl.outcomes(f"{JOBS}example", *(EXAMPLES if long_form else EXAMPLES[::EVERY]))[name]
    assert REFUSED[name] in found if name in REFUSED else not found, found


@pytest.mark.parametrize("name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.slow)
                                  for name in PROGRAM_NAMES])
def test_program(name: str, long_form: bool) -> None:
    found = opencl.outcomes(f"{JOBS}program", *(PROGRAM_NAMES if long_form else SHORT))[name]
    assert not found, found


@pytest.mark.parametrize("kind", ["random_kernel", "random_graph"])
def test_random_kernels_are_as_on_the_simulator(kind: str, long_form: bool) -> None:
    found = opencl.outcomes(f"{JOBS}{kind}", *(LONG_SEEDS if long_form else SEEDS[kind]))
    assert not any(found.values()), "\n".join(filter(None, found.values()))
