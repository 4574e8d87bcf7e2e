"""What all tests share: the long form of sweeps, and independent implementations that may be absent."""

from __future__ import annotations

import gc
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Examples are the same in every run, and a busy machine is no failure.
settings.register_profile("coopmat", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("coopmat")

# Tools that `make oracles` has installed beside the interpreter are found by their names.
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.prefix) / "bin")])
os.environ["COOPMAT_DEVICE"] = "cpu"  # whatever GPU is here
os.environ["COOPMAT_CACHE_DIR"] = "off"  # every test compiles what it tests, and no user's cache is touched


def _ziglang() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def _intel_runtime() -> bool:
    from tests.kit.oracles import intel_runtime

    return intel_runtime.library() is not None


def _chromium() -> bool:
    from tests.kit.oracles import browser

    return browser.executable() is not None


def _ptxas() -> bool:
    from tests.kit.oracles import ptxas

    return bool(ptxas.executables())


def _nvdisasm() -> bool:
    from coopmat.targets.cuda.assembler import find_disassembler

    return find_disassembler() is not None


def _compute_sanitizer() -> bool:
    from tests.kit.oracles import compute_sanitizer

    return compute_sanitizer.executable() is not None


def _llvm_objdump() -> bool:
    """Whether it is here, and knows AMD's GPUs."""
    found = shutil.which("llvm-objdump")
    return found is not None and "amdgcn" in subprocess.run([found, "--version"], capture_output=True, text=True,
                                                            check=False).stdout


def _vulkan_driver(name: str) -> bool:
    from tests.kit.oracles import vulkan

    return vulkan.python(name) is not None


def _vulkan_registry() -> bool:
    from tests.kit.oracles import vulkan_registry

    return vulkan_registry.path() is not None


def _opencl_driver(name: str) -> bool:
    from tests.kit.oracles import opencl

    return opencl.is_here(name)


def _intel_amx() -> bool:
    from tests.kit.oracles import intel_runtime

    return intel_runtime.has_matrices()


def _processor_has(*features: str) -> bool:
    """Whether this is Linux, on a processor with features as the kernel calls them."""
    try:
        known = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
    return set(features) <= set(known)


def _cuda() -> bool:
    from coopmat.targets.cuda.host.driver import device_count

    return device_count() > 0


def _matrix_perf() -> bool:
    from tests.kit.oracles import matrix_perf

    return matrix_perf.folder() is not None


def _oclgrind_tests() -> bool:
    from tests.kit.oracles import oclgrind_tests

    return oclgrind_tests.folder() is not None


# Name of an oracle → whether it is here, and how to get it.
ORACLES = {
    "cuda": (_cuda, "an NVIDIA GPU with its driver: pip install 'coopmat[cuda]'; --emulate 80 runs such tests "
             "without one"),
    "compute-sanitizer": (_compute_sanitizer, "NVIDIA's compute-sanitizer: pip install nvidia-cuda-sanitizer-api, or a "
                          "CUDA toolkit"),
    "torch": (lambda: importlib.util.find_spec("torch") is not None, "PyTorch: pip install torch"),
    "spirv-val": (lambda: shutil.which("spirv-val") is not None, "SPIRV-Tools: the package spirv-tools"),
    "spirv-opt": (lambda: shutil.which("spirv-opt") is not None, "SPIRV-Tools: the package spirv-tools"),
    "spirv-link": (lambda: shutil.which("spirv-link") is not None, "SPIRV-Tools: the package spirv-tools"),
    "glslangValidator": (lambda: shutil.which("glslangValidator") is not None,
                         "Khronos' compiler of GLSL: the package glslang-tools, or make oracles"),
    "clang": (_ziglang, "a clang with a SPIR-V back end: pip install ziglang"),
    "intel-opencl": (_intel_runtime, "Intel's CPU runtime: pip install pyopencl intel-opencl-rt intel-cmplr-lib-rt"),
    "intel-amx": (_intel_amx, "Intel's CPU runtime, as above, on a processor with AMX"),
    "amx": (lambda: _processor_has("amx_tile", "amx_int8", "amx_bf16"),
            "Linux on a processor with AMX, whose tile instructions the models are compared with: Sapphire Rapids"),
    "amx-fp16": (lambda: _processor_has("amx_tile", "amx_fp16"),
                 "Linux on a processor with AMX-FP16, whose instruction the model is compared with: Granite Rapids"),
    "ocloc": (lambda: shutil.which("ocloc") is not None, "Intel's offline compiler: the package intel-ocloc"),
    "nvdisasm": (_nvdisasm, "NVIDIA's disassembler: pip install nvidia-cuda-nvdisasm"),
    "ptxas": (_ptxas, "NVIDIA's assembler of PTX: pip install nvidia-cuda-nvcc"),
    "llvm-objdump": (_llvm_objdump, "LLVM's disassembler, with AMD's GPUs: the package llvm"),
    "glibc": (lambda: platform.libc_ver()[0] == "glibc", "the GNU C library, whose printf is the reference"),
    "chromium": (_chromium, "a browser that can be driven: the package chromium"),
    "dap-python": (lambda: importlib.util.find_spec("dap") is not None, "a client of the Debug Adapter Protocol: pip "
                   "install dap-python; with debugpy and jsonschema, messages are checked by the protocol's schema"),
    "loky": (lambda: importlib.util.find_spec("loky") is not None, "processes that sweeps use: pip install "
             "'coopmat[farm]'"),
    "distributed": (lambda: importlib.util.find_spec("distributed") is not None, "Dask.distributed, for farms: pip "
                    "install 'coopmat[farm]'"),
    "lavapipe": (lambda: _vulkan_driver(""), "Mesa's Vulkan drivers, from Debian's sid: make oracles, on Debian"),
    "mesa-vulkan": (lambda: _vulkan_driver("lavapipe"), "Mesa's Vulkan drivers, from Debian's sid, whichever other one "
                    "is tested: make oracles, on Debian"),
    "pocl-opencl": (lambda: _opencl_driver("pocl"), "PoCL, from Debian's sid: make oracles, on Debian, where name "
                    "spaces of users are allowed"),
    "rusticl-opencl": (lambda: _opencl_driver("rusticl"), "Mesa's rusticl, from Debian's trixie: as PoCL"),
    "vulkan-registry": (_vulkan_registry, "Khronos's vk.xml: the package libvulkan-dev, which make oracles unpacks"),
    "oclgrind-tests": (_oclgrind_tests, "a checkout of github.com/jrprice/Oclgrind, named by COOPMAT_OCLGRIND"),
    "matrix-perf": (_matrix_perf, "a checkout of github.com/jeffbolznv/vk_cooperative_matrix_perf, named by "
                    "COOPMAT_MATRIX_PERF"),
    "oclgrind": (lambda: shutil.which("oclgrind") is not None, "Oclgrind: the package oclgrind"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the long form of the sweeps")
    parser.addoption("--emulate", type=int, metavar="CAPABILITY", help="run all tests of GPUs by an emulated one of "
                     "a compute capability, such as 80")



def pytest_runtest_setup(item: pytest.Item) -> None:
    """Every test draws the same numbers, whichever tests ran before it in its process."""
    generator = getattr(getattr(item, "function", None), "__globals__", {}).get("RNG")
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = np.random.default_rng(zlib.crc32(item.nodeid.encode())).bit_generator.state


EMULATED = {"test_matrix_rows": 3, "test_cases": 3, "test_shared": 24, "test_programs": 3, "test_blocks": 1,
            "test_copies_and_barriers": 1, "test_random_work_groups": 4}
"""Modules of tests of GPUs that an emulated one runs where there is none: one in how many tests."""
USUAL_CAPABILITY = 80
_CAPABILITY = pytest.StashKey[int]()


def _emulated_capability(item: pytest.Item) -> int | None:
    """Of the emulated GPU that runs a test of GPUs; None if none does."""
    wanted, every = item.config.getoption("--emulate"), EMULATED.get(item.path.stem)
    if wanted is None and every is not None and (
            item.config.getoption("--long") or not zlib.crc32(item.nodeid.encode()) % every):
        return USUAL_CAPABILITY
    return wanted  # type: ignore[no-any-return]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Emulate a GPU around a test that needs one."""
    capability = item.stash.get(_CAPABILITY, None)
    if capability is None:
        return (yield)
    from tests.kit.targets.emulated_gpu.driver import emulated

    with emulated(capability):
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    present = {name: found() for name, (found, _) in ORACLES.items()}
    if not config.getoption("--long"):
        slow = [item for item in items if "slow" in item.keywords]
        _leave_out(config, items, [*slow, *_thinned_out(items)])
    for item in items:
        for marker in item.iter_markers("oracle"):
            name = marker.args[0]
            capability = None if present[name] or name != "cuda" else _emulated_capability(item)
            if capability is not None:
                item.stash[_CAPABILITY] = capability
            elif not present[name]:
                item.add_marker(pytest.mark.skip(reason=f"{name} is not here ({ORACLES[name][1]})"))


def _leave_out(config: pytest.Config, items: list[pytest.Item], left_out: list[pytest.Item]) -> None:
    """Deselect the long forms of sweeps: there are many thousands, and to skip each takes its time."""
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in gone]


def _thinned_out(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """What the marker ``thinned`` leaves to the long form. Of the combinations of a test's parameters those stay whose
    places add up to a multiple, so that every value of every parameter stays somewhere."""
    places: dict[tuple[str, ...], dict[tuple[int, ...], int]] = {}
    for item in items:
        every = max((marker.args[0] for marker in item.iter_markers("thinned")), default=1)
        if every == 1 or not hasattr(item, "callspec"):
            continue
        lists = [marker.args[0] for marker in item.iter_markers("parametrize")]
        groups = [[one.strip() for one in given.split(",")] if isinstance(given, str) else list(given)
                  for given in lists]
        params, total = item.callspec.params, 0
        groups += [[name] for name in params.keys() - {name for group in groups for name in group}]
        for group in groups:
            known = places.setdefault((item.nodeid.partition("[")[0], *group), {})
            total += known.setdefault(tuple(id(params[name]) for name in group if name in params), len(known))
        if total % every:
            yield item


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """What is collected stays to the end: no search for garbage need look at these millions of objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def long_form(request: pytest.FixtureRequest) -> bool:
    """Whether --long was given."""
    return bool(request.config.getoption("--long"))
