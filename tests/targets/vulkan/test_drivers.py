"""Drivers are looked at in a process of their own, shaders and the driver's code are kept, and kernels compile for
GPUs that are not here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit.targets import on_vulkan

pytestmark = pytest.mark.oracle("lavapipe")
CRASHING = """
#include <stdlib.h>
__attribute__((constructor)) static void fail(void) { abort(); }
"""
LISTED = """
import coopmat as cm
from coopmat.targets.vulkan.host.enumeration import listing
found = listing()
print([one.name for one in found.devices], found.drivers, found.problems, sep="\\n")
"""


def crashing_driver(folder: Path) -> Path:
    """The manifest of a driver that ends its process when it is loaded."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler, cc, to make a driver that crashes")
    (folder / "fail.c").write_text(CRASHING)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "fail.so", folder / "fail.c"], check=True, timeout=60)
    path = folder / "fail.json"
    path.write_text(json.dumps({"file_format_version": "1.0.0",
                                "ICD": {"library_path": str(folder / "fail.so"), "api_version": "1.3.0"}}))
    return path


def test_a_driver_that_crashes_ends_nothing(tmp_path: Path) -> None:
    driver = crashing_driver(tmp_path)
    cache = str(tmp_path / "cache")
    child = on_vulkan.run("-c", LISTED, VK_DRIVER_FILES=str(driver), COOPMAT_CACHE_DIR=cache)
    assert child.returncode == 0, child.stderr
    assert child.stdout.startswith("[]\n")
    assert "fail.json" in child.stdout
    assert "SIGABRT" in child.stdout


def test_other_drivers_are_used_all_the_same(tmp_path: Path) -> None:
    driver = crashing_driver(tmp_path)
    drivers = os.pathsep.join([str(driver), *on_vulkan.tested().manifests])
    source = LISTED + """
import numpy as np
x = np.zeros(8, np.int32)
program = cm.build("kernel void k(global int *p) { p[get_global_id(0)] = 5; }")
cm.Queue("vulkan:0").enqueue(program.kernel("k"), 8, 8, x).wait()
print(x.tolist())
"""
    child = on_vulkan.run("-c", source, VK_DRIVER_FILES=drivers, COOPMAT_CACHE_DIR=str(tmp_path / "cache"))
    assert child.returncode == 0, child.stderr
    assert on_vulkan.tested().name in child.stdout
    assert "SIGABRT" in child.stdout
    assert child.stdout.endswith("[5, 5, 5, 5, 5, 5, 5, 5]\n")


def test_without_drivers(tmp_path: Path) -> None:
    child = on_vulkan.run("-c", "import coopmat as cm; cm.device('vulkan:0')", VK_DRIVER_FILES=str(tmp_path / "none"))
    assert "there is no device vulkan:0: Vulkan's drivers show no device" in child.stderr


def test_shaders_and_the_drivers_code_are_kept(tmp_path: Path) -> None:
    source = """
import numpy as np, coopmat as cm
import coopmat.targets.vulkan.host.pipelines as pipelines, coopmat.targets.vulkan.program as programs
sizes, make = [], pipelines.make
def noted(kind, **members):
    if kind == "PipelineCacheCreateInfo":
        sizes.append(members["initialDataSize"])
    return make(kind, **members)
translations, translate = [], programs.to_vulkan
def counted(*given):
    translations.append(1)
    return translate(*given)
pipelines.make, programs.to_vulkan = noted, counted
x = np.zeros(8, np.int32)
program = cm.build("kernel void k(global int *p) { p[get_global_id(0)] = 5; }", device="vulkan:0")
cm.Queue("vulkan:0").enqueue(program.kernel("k"), 8, 8, x).wait()
assert (x == 5).all()
print(len(translations), *sizes)
"""
    first, second = (on_vulkan.run("-c", source, COOPMAT_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.stdout == "1 0\n", first.stderr
    assert re.fullmatch(r"0 [1-9]\d*\n", second.stdout), second.stdout + second.stderr


def test_a_launch_that_takes_too_long() -> None:
    source = """
import os, numpy as np, coopmat as cm
device = cm.device("vulkan:0", options=cm.VulkanOptions(timeout=0.5))
program = cm.build('''kernel void k(global volatile int *p, long n) {
    for (long i = 0; i < n; i++) p[get_global_id(0)] += 1; }''', device=device)
x = np.zeros(64, np.int32)
queue = cm.Queue(device)
queue.enqueue(program.kernel("k"), 64, 8, x, 1).wait()
for n in (1 << 40, 1):
    try:
        queue.enqueue(program.kernel("k"), 64, 8, x, n).wait()
    except cm.LaunchError as error:
        print(error)
os._exit(0)
"""
    child = on_vulkan.run("-c", source)
    first, second = child.stdout.splitlines()
    assert "the launch of kernel 'k'" in first
    assert "did not end within 0.5 s" in first
    assert second.startswith("vulkan:0 cannot be used any more in this process, since")


def test_a_forked_process_is_told_so() -> None:
    source = """
import os, numpy as np, coopmat as cm
x = np.zeros(8, np.int32)
program = cm.build("kernel void k(global int *p) { p[get_global_id(0)] = 5; }", device="vulkan:0")
queue = cm.Queue("vulkan:0")
queue.enqueue(program.kernel("k"), 8, 8, x).wait()
if os.fork() == 0:
    try:
        queue.enqueue(program.kernel("k"), 8, 8, x).wait()
    except cm.Error as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""
    assert "before this process was forked" in on_vulkan.run("-c", source).stdout


CRASHES = 2180
"""The random kernel at whose shader lavapipe 26.2's compiler crashes."""


@pytest.mark.oracle("mesa-vulkan")
def test_a_shader_that_the_driver_does_not_survive() -> None:
    source = f"""
import coopmat as cm
from tests.kit.fuzz import vulkan_child
made = vulkan_child.source({CRASHES})
device = cm.device("vulkan:0", options=cm.VulkanOptions(tries_shaders=True))
kernel = cm.build(made.program, ("-w",), device).kernel("k")
try:
    cm.Queue(device).enqueue(kernel, *made.sizes, *made.arguments()).wait()
    print("it runs")
except cm.Error as error:
    print(error)
"""
    child = on_vulkan.run("-c", source, driver="lavapipe")
    assert child.returncode == 0, child.stderr
    assert child.stdout == "it runs\n" or "does not survive the shader: the process that tried it was ended by SIG" in \
        child.stdout


# --------------------------------------------------------------------------- GPUs that are not here

COMPILED = """
import sys
from pathlib import Path
import numpy as np, coopmat as cm
device = cm.device("vulkan:0", options=cm.VulkanOptions(probes=False))
assert cm.device().name == "vulkan:0"  # a GPU is the default
HALVES = ("-DIN=half", "-DOUT=float", "-DFLAGS=CLK_COOPERATIVE_MATRIX_OPERAND_NONE")
size = device.sub_group_sizes[0]
for options, types in (((), ("sint8", "sint8", "sint32", "sint32")), (HALVES, ("fp16", "fp16", "fp32", "fp32"))):
    m, n, k = next(row.largest for row in device.own_matrices if row.types == types)
    program = cm.build(Path("examples/gemm.cl"), (f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", *options), device)
    a, b = (np.zeros((64, 64), np.float16 if options else np.int8) for _ in range(2))
    c = np.zeros((64, 64), np.float32 if options else np.int32)
    cm.Queue(device).enqueue(program.kernel("gemm"), (size, 1), (size, 1), a, b, c, 64, 64).wait()
"""


@pytest.mark.oracle("mesa-vulkan")
@pytest.mark.parametrize(("driver", "chip", "instructions"), [
    ("radv", "navi31", ("v_wmma_i32_16x16x16_iu8", "v_wmma_f32_16x16x16_f16")),
    ("radv", "gfx1201", ("v_wmma_i32_16x16x16_iu8", "v_wmma_f32_16x16x16_f16")),
    ("nvk", "164", ("imma.m8n8k16.i8.i8", "hmma.m16n8k16.f32")),
    ("nvk", "174", ("imma.m16n8k32.i8.i8", "hmma.m16n8k16.f32")),
    ("nvk", "194", ("imma.m16n8k32.i8.i8", "hmma.m16n8k16.f32")),
    ("nvk", "1b2", ("imma.m16n8k32.i8.i8", "hmma.m16n8k16.f32"))])
def test_matrix_instructions_of_gpus(driver: str, chip: str, instructions: tuple[str, ...]) -> None:
    child = on_vulkan.run("-c", COMPILED, driver=driver, chip=chip, COOPMAT_CACHE_DIR="off", COOPMAT_DEVICE="",
                          RADV_DEBUG="asm,nocache", NAK_DEBUG="print", MESA_SHADER_CACHE_DISABLE="true")
    assert child.returncode == 0, child.stderr[-2000:]
    for instruction in instructions:
        assert instruction in child.stdout + child.stderr, instruction


REFUSED = {
    "gemm_tuned.cl gemm": "requires sub-groups of 16",
    "gemm_tuned_fp32.cl gemm": "requires sub-groups of 16",
    "gemm_tuned_gpu.cl gemm": "bytes of local memory",
}
"""Examples for other devices, and why: they are for CPUs, and for GPUs with much local memory."""
SLOW = pytest.mark.slow


@pytest.mark.oracle("mesa-vulkan")
@pytest.mark.parametrize(("driver", "chip"), [
    ("radv", "navi31"), pytest.param("radv", "gfx1201", marks=SLOW), pytest.param("nvk", "164", marks=SLOW),
    ("nvk", "174"), pytest.param("nvk", "194", marks=SLOW), pytest.param("nvk", "1b2", marks=SLOW)])
def test_every_example_compiles(driver: str, chip: str) -> None:
    child = on_vulkan.run("-m", "tests.kit.targets.vulkan_compiled", driver=driver, chip=chip)
    assert child.returncode == 0, child.stderr[-2000:]
    refused = dict(line.split(": ", 1) for line in child.stdout.splitlines())
    assert refused.keys() == REFUSED.keys(), child.stdout
    for name, reason in REFUSED.items():
        assert reason in refused[name]
