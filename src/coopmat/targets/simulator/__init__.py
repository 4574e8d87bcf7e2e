"""The simulator: runs SPIR-V kernels with numpy, in lock-step over all sub-groups, with every access checked.

:func:`compile` takes a module and a device; the program that it returns launches kernels.
"""

from typing import TYPE_CHECKING, Any

from coopmat.targets.simulator.options import SimulatorOptions

if TYPE_CHECKING:
    from coopmat.targets.simulator.program import KernelInfo, SimulatedProgram, compile

__all__ = ["KernelInfo", "SimulatedProgram", "SimulatorOptions", "compile"]


def __getattr__(name: str) -> Any:
    """What needs all of the simulator, which is loaded when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from coopmat.targets.simulator import program

    return getattr(program, name)
