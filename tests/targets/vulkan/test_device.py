"""``vulkan:0`` on lavapipe: kernels, arguments, memory, events and errors; Khronos's validation layer is silent."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.kit.oracles import vulkan
from tests.kit.paths import ROOT
from tests.kit.targets import on_vulkan
from tests.kit.targets.vulkan_cases import DISCRETE

MODULE = "tests.kit.targets.vulkan_cases"
CASES = tuple(on_vulkan.cases_of(MODULE))
pytestmark = pytest.mark.oracle("lavapipe")


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    found = on_vulkan.outcomes(MODULE, *CASES, validation=True)[case]
    assert not found, found


WITH_COPIES = ("products", "local_arguments", "arrays_that_overlap", "null_pointers_and_const_ones", "large_arguments",
               "large_grids", "variables_of_the_program", "printing", "memory_of_the_device", "memory_that_both_reach",
               "too_much_memory")


@pytest.mark.parametrize("case", WITH_COPIES)
def test_case_with_memory_of_its_own(case: str) -> None:
    """As on a graphics card: arrays are copied there and back."""
    found = on_vulkan.outcomes(MODULE, *WITH_COPIES, validation=True, switch=DISCRETE)[case]
    assert not found, found


ENDLESS = """
import signal, numpy as np, coopmat as cm
signal.signal(signal.SIGINT, signal.default_int_handler)  # which tests in the background of a shell ignore
device = cm.device("vulkan:0")
source = "kernel void k(global volatile int *o) { o[0] = 2; while (o[1] == 0) o[2]++; }"
queue, kernel = cm.Queue(device), cm.build(source, device=device).kernel("k")
print("here", flush=True)
event = queue.enqueue(kernel, 1, 1, np.zeros(4, np.int32))
"""


@pytest.mark.parametrize("behind", ["event.wait()", "import time; time.sleep(60)"])
def test_an_endless_launch_is_interrupted(behind: str) -> None:
    """And the process ends without it, whatever was interrupted behind it."""
    environment = {**vulkan.environment(), "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen([str(vulkan.python()), "-c", ENDLESS + behind], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "here\n"
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(timeout=3)
            child.send_signal(signal.SIGINT)
            assert "KeyboardInterrupt" in child.communicate(timeout=60)[1]
        finally:
            child.kill()
