"""What the tests of device functions share: launching kernels, also on Intel's CPU runtime, the place of
an error, and spirv-val."""

from __future__ import annotations

import inspect
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import nd_range
from tests.kit.lenient import lenient
from tests.kit.oracles import intel_runtime

DEVICES = ("intel_gpu_pvc", "nvidia_gpu_sm_80", "amd_gpu_gfx90a", "intel_cpu_spr", "generic")


DEVICE: str | None = None
"""What :func:`launch` runs kernels on, instead of a simulated device (tests/targets/cpu/test_cases.py)."""


def launch(kernel, work_items, work_group, *arguments, device: str = "generic") -> None:
    """Run a kernel on a simulated device."""
    queue = cm.Queue(lenient(DEVICE or f"sim:{device}"))
    queue.parallel_for(nd_range(work_items, work_group), kernel, *arguments).wait()


def launch_on_intel(kernel, work_items: int, work_group: int, *given) -> dict[str, np.ndarray]:
    """Run a kernel of one dimension on Intel's CPU runtime; the arrays, captured ones included, as they are then."""
    program = cm.build(kernel, device=cm.device("sim:intel_cpu_spr"))
    names = [parameter.name for parameter in program.kernel(kernel.name).signature.parameters]
    arguments = [("local", argument.nbytes) if hasattr(argument, "__coopmat_local_bytes__") else np.asarray(argument)
                 for argument in kernel.arguments(given, {}, names)]
    found = intel_runtime.run(program.spirv, kernel.name, (work_items,), (work_group,), arguments)
    return dict(zip(names, found, strict=True))


def errors_of(kernel, device: str = "generic") -> list[tuple[str, str, str]]:
    """The errors of a kernel: code, message, and the source from the place that it points to on."""
    with pytest.raises(cm.CompileError) as caught:
        cm.build(kernel, device=cm.device(f"sim:{device}"))
    lines, _ = inspect.findsource(kernel.function)
    found = []
    for diagnostic in caught.value.diagnostics:
        if diagnostic.severity == "error":
            place = diagnostic.location
            found.append((diagnostic.code, diagnostic.message, lines[place.line - 1][place.column - 1:].strip()))
    return found


def error_of(kernel) -> tuple[str, str, str]:
    """The only error of a kernel."""
    (found,) = errors_of(kernel)
    return found


def validate(kernel, folder: Path, device: str = "generic") -> str:
    """The assembly of a kernel, which spirv-val accepts."""
    program = cm.build(kernel, device=cm.device(f"sim:{device}"))
    path = folder / "kernel.spv"
    path.write_bytes(program.spirv)
    tool = shutil.which("spirv-val")
    assert tool is not None
    run = subprocess.run([tool, "--target-env", "spv1.6", str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return program.spirv_asm
