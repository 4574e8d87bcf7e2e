"""The simulator: runs SPIR-V kernels with numpy, in lock-step over all sub-groups, with every access checked.

:func:`compile` takes a module and a device; the program that it returns launches kernels.
"""

from coopmat.targets.simulator.launch import LocalMemory
from coopmat.targets.simulator.options import SimulatorOptions
from coopmat.targets.simulator.program import KernelInfo, SimulatedProgram, check, compile
from coopmat.targets.simulator.support import (
    MatrixUses,
    MultiplyAccumulate,
    check_supported,
    required_matrix_uses,
)

__all__ = ["KernelInfo", "LocalMemory", "MatrixUses", "MultiplyAccumulate", "SimulatedProgram", "SimulatorOptions",
           "check", "check_supported", "compile", "required_matrix_uses"]
