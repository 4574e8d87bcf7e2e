"""Functions of OpenCL.std become SPIR-V of core arithmetic: the pass ``opencl-std``.

For drivers that have only GLSL.std.450, and for those whose functions are missing or wrong. Functions are calls of a
library (``library``: OpenCL C, compiled by this project's front end), component by component, of which only those that
are called are linked; choices, accesses of memory and what is one core instruction are written where they stand.
Results are within the bounds of OpenCL's full profile (OpenCL C specification, "Relative error as ULPs").
"""

from coopmat.spirv.transform.opencl_std.replacing import opencl_std, without_opencl_std

__all__ = ["opencl_std", "without_opencl_std"]
