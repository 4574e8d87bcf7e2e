"""``opencl:0`` on OpenCL's drivers: cases, examples, programs and random kernels, in child processes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from tests.kit.cases import CASES
from tests.kit.oracles import opencl
from tests.kit.targets import opencl_cases
from tests.programs.test_programs import PROGRAMS

JOBS = "tests.kit.targets.on_opencl:"
EXAMPLES = tuple(case.name for case in CASES)
PROGRAM_NAMES = tuple(program.__name__.rpartition(".")[2] for program in PROGRAMS)
EVERY = 8
"""One in how many of the examples and test kernels the short form has: most of the time is the driver's compiler's."""
SHORT = {"intel": ("cholesky", "example_quantized", "layer_norm", "lu"), "rusticl": ("cholesky",), "pocl": ()}
"""Programs that do not take the driver's compiler long."""
SEEDS = {"random_kernel": range(1, 6), "random_graph": (1, 2, 3, 5, 6)}
LONG_SEEDS = range(1000, 1300)
"""Of the short forms those of which Intel's runtime makes what the simulator does: for kernel 0 it does not find a
function of its own (convert_char32_sat), and operations of sub-groups where work-items part (graphs 0 and 4) see
others. Other drivers have not what random kernels use: PoCL no sub-groups, rusticl no ballots and reductions."""
NO_VARIABLES = "a variable at program scope that kernels may change"
WRONG = {
    "intel": {},
    "pocl": {f"async_copies-{name}": "does not survive the program: the process of its compiler was ended by SIGSEGV"
             for name in ("transpose", "reverse", "pipeline", "shared_event")},
    "rusticl": {
        **dict.fromkeys(("printing-choices", "printing-scalars", "printing-components"),
                        "does not survive the program"),
        "memory-private_array": "Arrays are not equal",  # it goes far outside an array, and pointers have 32 bits there
    },
}
"""What drivers cannot do, and what is said of it. Rusticl takes a format of printf that is constant."""
LACKING = {"intel": {"SplitBarrierEXT"}, "pocl": {"DotProduct", "DotProductInput4x8Bit", "DotProductInput4x8BitPacked"},
           "rusticl": {"SplitBarrierEXT"}}
"""Capabilities of SPIR-V that drivers say that they do not have."""
REFUSED = {"intel": (), "pocl": ("has no sub-groups, which kernel", NO_VARIABLES),
           "rusticl": ("has no sub-groups of 16", NO_VARIABLES)}
"""What else is said of what they do not have."""
DRIVERS = [pytest.param(driver, marks=pytest.mark.oracle(f"{driver}-opencl")) for driver in opencl.DRIVERS]


def is_lacking(driver: str, found: str) -> bool:
    """Whether a kernel is refused for what the driver is known not to have."""
    capabilities = re.search(r"does not take the SPIR-V capabilit(?:y|ies) (.*), which the program needs", found)
    if capabilities is not None:
        return set(capabilities[1].split(", ")) <= LACKING[driver]
    return any(words in found for words in REFUSED[driver])


def check(driver: str, name: str, found: str) -> None:
    """A case that is right, or that goes wrong as it should."""
    if "KernelNotSupported" in found and is_lacking(driver, found):
        return
    expected = WRONG[driver].get(name)
    assert expected in found if expected is not None else not found, f"{name}: {found}"


def check_all(driver: str, job: str, names: Sequence[str]) -> None:
    """All of the names, of which not all may be refused."""
    outcomes = opencl.outcomes(driver, f"{JOBS}{job}", *names)
    for name, found in outcomes.items():
        check(driver, name, found)
    assert sum(not found for found in outcomes.values()) >= len(names) // 4


@pytest.mark.parametrize("driver", DRIVERS)
def test_cases(driver: str, long_form: bool) -> None:
    """In the short form, PoCL and rusticl, whose compilers take long, take a third of the cases each."""
    names, place = opencl.names_of(opencl_cases), opencl.DRIVERS.index(driver)
    check_all(driver, "case", names if long_form or driver == "intel" else names[place % 3::3])


@pytest.mark.parametrize("driver", DRIVERS)
def test_examples_and_kernels(driver: str, long_form: bool) -> None:
    check_all(driver, "example", EXAMPLES if long_form else EXAMPLES[::EVERY])


@pytest.mark.parametrize("driver", DRIVERS)
def test_programs(driver: str, long_form: bool) -> None:
    names = PROGRAM_NAMES if long_form and driver != "pocl" else SHORT[driver]
    for name, found in opencl.outcomes(driver, f"{JOBS}program", *names).items():
        check(driver, name, found)


@pytest.mark.oracle("intel-opencl")
@pytest.mark.parametrize("kind", ["random_kernel", "random_graph"])
def test_random_kernels_are_as_on_the_simulator(kind: str, long_form: bool) -> None:
    found = opencl.outcomes("intel", f"{JOBS}{kind}", *(LONG_SEEDS if long_form else SEEDS[kind]))
    assert not any(found.values()), "\n".join(filter(None, found.values()))
