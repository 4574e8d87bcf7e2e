"""OpenCL C extension and feature macros, and which devices define them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeatureMacro:
    """One predefined macro (its value is 1) and what a device needs in order to define it."""

    name: str
    needs_fp64: bool = False


FEATURE_MACROS: tuple[FeatureMacro, ...] = (
    FeatureMacro("__opencl_c_ext_cooperative_matrix"),
    FeatureMacro("cl_khr_cooperative_matrix"),
    FeatureMacro("cl_khr_fp16"),
    FeatureMacro("cl_khr_fp64", needs_fp64=True),
    FeatureMacro("__opencl_c_fp64", needs_fp64=True),
)


def feature_macros(has_fp64: bool) -> tuple[str, ...]:
    """The names of the macros that a device with these properties defines."""
    return tuple(macro.name for macro in FEATURE_MACROS if has_fp64 or not macro.needs_fp64)
