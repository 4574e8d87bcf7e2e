"""The simulator: runs SPIR-V kernels with numpy, in lock-step over all sub-groups, with every access checked.

:func:`compile` takes a module and a device; the program that it returns launches kernels.
"""

from coopmat.targets.simulator.options import SimulatorOptions
from coopmat.targets.simulator.program import KernelInfo, SimulatedProgram, compile

__all__ = ["KernelInfo", "SimulatedProgram", "SimulatorOptions", "compile"]
