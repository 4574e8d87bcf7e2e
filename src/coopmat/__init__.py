"""coopmat: compile, check, simulate and run cooperative (joint) matrix kernels.

    import coopmat as cm
    device = cm.device("sim:intel_gpu_pvc")
    program = cm.build(source, device=device)
    cm.Queue(device).enqueue(program.kernel("gemm"), global_size, local_size, a, b, c).wait()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coopmat import layout as layout
from coopmat.devices import Combination
from coopmat.diagnostics import (
    CompileError,
    CompileWarning,
    DataRace,
    Deadlock,
    Diagnostic,
    DivergentGroupOperation,
    Error,
    KernelAssertion,
    KernelNotSupported,
    LaunchError,
    LayoutWarning,
    Misaligned,
    OutOfBounds,
    SignedOverflowWarning,
    SimulationError,
    SourceLocation,
    UndefinedBehavior,
    UninitializedRead,
    ValidationError,
)
from coopmat.numerics import XmxArithmetic, matrix_multiply_accumulate
from coopmat.runtime import Device, Event, Kernel, LocalMemory, Program, Queue, build, device, devices, local
from coopmat.runtime.split_options import SplitOptions
from coopmat.support import forks as forks  # from now on children of this process are whole
from coopmat.support.version import __version__ as __version__
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cuda.options import CudaOptions
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.simulator import SimulatorOptions
from coopmat.targets.vulkan.options import VulkanOptions

__all__ = [
    "Combination",
    "Comparison",
    "CompileError",
    "CompileWarning",
    "Config",
    "CpuOptions",
    "CudaOptions",
    "DataRace",
    "Deadlock",
    "Device",
    "Diagnostic",
    "DivergentGroupOperation",
    "Error",
    "Event",
    "Farm",
    "Kernel",
    "KernelAssertion",
    "KernelNotSupported",
    "LaunchError",
    "LayoutWarning",
    "LocalMemory",
    "Misaligned",
    "OpenCLOptions",
    "OutOfBounds",
    "Outcome",
    "Program",
    "Queue",
    "SignedOverflowWarning",
    "SimulationError",
    "SimulatorOptions",
    "SourceLocation",
    "SplitOptions",
    "UndefinedBehavior",
    "UninitializedRead",
    "ValidationError",
    "VulkanOptions",
    "XmxArithmetic",
    "autotune",
    "build",
    "compare",
    "device",
    "devices",
    "do_bench",
    "farm",
    "free",
    "layout",
    "local",
    "malloc_device",
    "malloc_host",
    "malloc_shared",
    "matrix_multiply_accumulate",
    "sweep",
]

if TYPE_CHECKING:
    from coopmat import sycl as sycl
    from coopmat import torch as torch
    from coopmat.comparison import Comparison, compare
    from coopmat.machines import Farm, Outcome, farm, sweep
    from coopmat.runtime.memory import free, malloc_device, malloc_host, malloc_shared
    from coopmat.tuning import Config, autotune, do_bench
else:
    _LATE = {**dict.fromkeys(("Comparison", "compare"), "coopmat.comparison"),
             **dict.fromkeys(("Farm", "Outcome", "farm", "sweep"), "coopmat.machines"),
             **dict.fromkeys(("Config", "autotune", "do_bench"), "coopmat.tuning"),
             **dict.fromkeys(("free", "malloc_device", "malloc_host", "malloc_shared"), "coopmat.runtime.memory")}

    def __getattr__(name: str) -> Any:
        """``coopmat.sycl``, ``coopmat.torch`` and whatever most processes never need: imported when first asked for."""
        if name in ("sycl", "torch"):
            return import_module(f"coopmat.{name}")
        if name in _LATE:
            return getattr(import_module(_LATE[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
