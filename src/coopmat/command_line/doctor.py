"""``coopmat doctor``: what works on this machine, and why not what does not."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from coopmat.diagnostics import Error
from coopmat.support.cache import CACHE_VARIABLE, find_cache
from coopmat.support.version import __version__

if TYPE_CHECKING:
    from coopmat.runtime import Device

State = Literal["ok", "no", "absent"]
"""Whether something works; what is optional may be absent."""

MARKS: dict[State, str] = {"ok": "ok", "no": "NO", "absent": "-"}
NAME_WIDTH = 20
SHOWN_FEATURES = ("amx-", "avx", "fma", "f16c", "sse4.2", "neon", "sve", "dotprod", "i8mm", "bf16", "fullfp16")
"""Beginnings of the names of the features that matter to kernels."""

PACKAGES: dict[str, str] = {
    "pyopencl": "devices of OpenCL's drivers (pip install coopmat[opencl])",
    "torch": "kernels as operators of PyTorch (pip install coopmat[torch])",
    "pytest": "the tests (pip install coopmat[test])",
}
PROGRAMS: dict[str, str] = {
    "spirv-val": "a second opinion on SPIR-V, in the tests",
    "ocloc": "Intel's own compiler, in the tests",
    "clang": "modules by another front end",
}


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    state: State
    text: str


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
           report: Annotated[Path | None, typer.Option(
               metavar="FILE.json", help="Write down the machine, its drivers, what they compute and how fast: for bug "
               "reports. Takes a minute.")] = None) -> None:
    """Say what works on this machine, and why not what does not."""
    if report is not None:
        from coopmat.command_line.machine_report import write

        write(report, findings())
        return
    found = list(findings())
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=1))
        return
    for one in found:
        start = f"{MARKS[one.state]:<3} {one.name:<{NAME_WIDTH}} "
        print(textwrap.fill(one.text, max(60, shutil.get_terminal_size().columns), initial_indent=start,
                            subsequent_indent=" " * len(start), break_long_words=False, break_on_hyphens=False))


def findings() -> Iterator[Finding]:
    """The report, line by line."""
    for name, check in CHECKS.items():
        try:
            yield from check(name)
        except Exception as error:  # whatever is broken is what the report is about
            yield Finding(name, "no", f"{error}" if str(error) else type(error).__name__)


def _python(name: str) -> Iterator[Finding]:
    yield Finding(name, "ok", f"{platform.python_version()} ({platform.python_implementation()}) on "
                              f"{platform.system()} {platform.machine()}")


def _package(name: str) -> Iterator[Finding]:
    yield Finding(name, "ok", importlib.metadata.version(name))


def _coopmat(name: str) -> Iterator[Finding]:
    yield Finding(name, "ok", __version__)


def _llvm(name: str) -> Iterator[Finding]:
    import llvmlite
    import llvmlite.binding as binding

    version = ".".join(map(str, binding.llvm_version_info))
    yield Finding(name, "ok", f"llvmlite {llvmlite.__version__} with LLVM {version}")


def _helper_process(name: str) -> Iterator[Finding]:
    from coopmat.llvm.process import client

    start = time.perf_counter()
    client.printed("define void @f() {\n  ret void\n}\n")
    seconds = time.perf_counter() - start
    yield Finding(name, "ok", f"LLVM answers in a process of its own, after {seconds * 1e3:.0f} ms")


def _kernels(name: str) -> Iterator[Finding]:
    import numpy as np

    from coopmat.runtime import Queue, build, device

    target = device("cpu")
    program = build("kernel void twice(global int* p) { p[get_global_id(0)] *= 2; }", device=target, cache_dir="off")
    data = np.arange(64, dtype=np.int32)
    start = time.perf_counter()
    Queue(target).enqueue(program.kernel("twice"), 64, 16, data).wait()
    is_right = bool((data == 2 * np.arange(64)).all())
    text = f"compiled and run in {(time.perf_counter() - start) * 1e3:.0f} ms" if is_right else "a result is wrong"
    yield Finding(name, "ok" if is_right else "no", text)


def _processor(name: str) -> Iterator[Finding]:
    from coopmat.runtime import device
    from coopmat.targets.cpu.features import VARIABLE, cpu_features

    features = cpu_features()
    yield Finding(name, "ok", f"{features.cpu}, architecture {device('cpu').architecture}")
    yield Finding("features", "ok", _names(features.used) or "none that kernels make use of")
    unusable = dict(features.unusable)
    for feature, reason in unusable.items():
        yield Finding(feature, "no", f"the processor has it, but {reason}")
    lost = _names(features.found - features.used - set(unusable))
    if lost:
        yield Finding("not used", "absent", f"{lost} ({VARIABLE}={os.environ.get(VARIABLE, '')})")
    if "amx-tile" not in features.found:
        yield Finding("AMX", "absent", "the processor has no matrix tiles")
    elif "amx-tile" in features.used:
        yield Finding("AMX", "ok", "the system permits the use of tiles")
    elif not unusable:
        yield Finding("AMX", "absent", f"{VARIABLE} takes it away")


def _names(features: frozenset[str]) -> str:
    return " ".join(sorted(one for one in features if one.startswith(SHOWN_FEATURES)))


def _threads(name: str) -> Iterator[Finding]:
    from coopmat.targets.cpu.options import THREADS_VARIABLE, available_cores, default_threads

    why = f"from {THREADS_VARIABLE}; " if os.environ.get(THREADS_VARIABLE) else ""
    yield Finding(name, "ok", f"{default_threads()} ({why}this process may use {available_cores()} cores)")


def _devices(name: str) -> Iterator[Finding]:
    from coopmat.runtime import device, devices
    from coopmat.runtime.selection import DEVICE_VARIABLE

    known = [one.name for one in devices()]
    why = f"from {DEVICE_VARIABLE}" if os.environ.get(DEVICE_VARIABLE) else "by default"
    yield Finding(name, "ok", f"{len(known)}, of which {sum(one.startswith('sim:') for one in known)} are simulated; "
                              f"{device().name} is used {why}")


def _gpus(name: str) -> Iterator[Finding]:
    from coopmat.runtime import device
    from coopmat.targets.cuda import assembler, library
    from coopmat.targets.cuda.host import driver

    try:
        count = int(driver.call("cuDeviceGetCount", error=Error))
        version = driver.driver_version()
        known = f"a driver for CUDA {version // 1000}.{version % 1000 // 10}"
        yield Finding(name, "ok" if count else "absent", known if count else f"{known}, and no GPU")
        for ordinal in range(count):
            yield _gpu(device(f"cuda:{ordinal}"))
    except Error as error:
        yield Finding(name, "absent", str(error))
    try:
        yield Finding("libdevice", "ok", str(library.path()))
    except Error as error:
        yield Finding("libdevice", "absent", str(error))
    made_by = assembler.found()
    yield Finding("cubins", "ok" if made_by else "absent", f"by {made_by}" if made_by else assembler.MISSING)
    reader = assembler.find_disassembler()
    yield Finding("SASS", "ok" if reader else "absent", reader or assembler.TO_DISASSEMBLE)


def _gpu(found: Device) -> Finding:
    from coopmat.runtime.cuda_device import CudaDevice

    assert isinstance(found, CudaDevice)
    gpu = found.gpu
    return Finding(found.name, "ok", f"{gpu.name}, {gpu.chip.name}, {gpu.multiprocessors} multiprocessors, "
                                     f"{gpu.memory / 2**30:.0f} GiB")


def _opencl(_: str) -> Iterator[Finding]:
    from coopmat.command_line.opencl_drivers import lines

    return _found(lines())


def _vulkan(_: str) -> Iterator[Finding]:
    from coopmat.command_line.vulkan_drivers import lines

    return _found(lines())


def _found(lines: Iterator[tuple[str, bool | None, str]]) -> Iterator[Finding]:
    """Lines about drivers: what each is about, whether it works, None where it is absent, and the text."""
    states: dict[bool | None, State] = {True: "ok", False: "no", None: "absent"}
    for what, works, text in lines:
        yield Finding(what, states[works], text)


def _cache(name: str) -> Iterator[Finding]:
    found = find_cache()
    if found.folder is None:
        why = f"turned off by {CACHE_VARIABLE}" if os.environ.get(CACHE_VARIABLE) else "this user has no folder for it"
        yield Finding(name, "absent", f"{why}: programs are compiled anew in each process")
        return
    reason = found.unusable()
    usage = f"{found.folder}: {found.usage()} of at most {found.max_bytes // 2**20} MiB"
    yield Finding(name, "no" if reason else "ok", f"{found.folder}: {reason}" if reason else usage)


def _optional_packages(_: str) -> Iterator[Finding]:
    for package, purpose in PACKAGES.items():
        try:
            yield Finding(package, "ok", importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(package, "absent", f"for {purpose}")


def _programs(_: str) -> Iterator[Finding]:
    for program, purpose in PROGRAMS.items():
        path = shutil.which(program)
        yield Finding(program, "ok" if path else "absent", path or f"for {purpose}")


CHECKS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "Python": _python,
    "coopmat": _coopmat,
    "numpy": _package,
    "ml_dtypes": _package,
    "LLVM": _llvm,
    "helper process": _helper_process,
    "processor": _processor,
    "threads": _threads,
    "kernels on the CPU": _kernels,
    "devices": _devices,
    "NVIDIA's GPUs": _gpus,
    "Vulkan": _vulkan,
    "OpenCL's drivers": _opencl,
    "cache": _cache,
    "optional packages": _optional_packages,
    "optional programs": _programs,
}
"""What is looked at, in the order of the report; a check that fails is reported under its name."""
