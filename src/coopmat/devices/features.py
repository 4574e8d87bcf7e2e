"""OpenCL C extension and feature macros, and which devices define them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

XMX_SIZES = (8, 16)
"""The sub-group sizes for which Intel's matrix engines have built-in functions: DG2's and PVC's."""


@dataclass(frozen=True, slots=True)
class FeatureMacro:
    """One predefined macro (its value is 1) and what a device needs in order to define it.

    ``xmx_sizes``: one of these must be a sub-group size of the device's Intel matrix engine; empty
    if the device needs none. ``since``: the first version of OpenCL C that has the macro, as the
    value of ``__OPENCL_C_VERSION__``; extensions are in all of them.
    """

    name: str
    needs_fp64: bool = False
    xmx_sizes: tuple[int, ...] = ()
    since: int = 100


def _float_atomics(bits: int) -> tuple[str, ...]:
    """What cl_ext_float_atomics has for one type."""
    return tuple(f"__opencl_c_ext_fp{bits}_{space}_atomic_{operation}"
                 for space in ("global", "local") for operation in ("add", "min_max"))


FEATURE_MACROS: tuple[FeatureMacro, ...] = (
    *(FeatureMacro(name, since=200) for name in (
        "__opencl_c_generic_address_space", "__opencl_c_work_group_collective_functions",
        "__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_order_seq_cst",
        "__opencl_c_atomic_scope_device", "__opencl_c_atomic_scope_all_devices",
        "__opencl_c_program_scope_global_variables")),
    FeatureMacro("__opencl_c_subgroups", since=300),
    *(FeatureMacro(name) for name in (
        "__opencl_c_ext_cooperative_matrix", "cl_khr_cooperative_matrix", "cl_khr_fp16",
        "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics", "cl_ext_float_atomics", *_float_atomics(32),
        "cl_khr_subgroups", "cl_khr_subgroup_extended_types", "cl_khr_subgroup_non_uniform_vote",
        "cl_khr_subgroup_ballot", "cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_shuffle",
        "cl_khr_subgroup_shuffle_relative", "cl_khr_subgroup_clustered_reduce", "cl_khr_subgroup_rotate",
        "cl_khr_integer_dot_product", "__opencl_c_integer_dot_product_input_4x8bit",
        "__opencl_c_integer_dot_product_input_4x8bit_packed")),
    *(FeatureMacro(name, needs_fp64=True) for name in ("cl_khr_fp64", *_float_atomics(64))),
    FeatureMacro("__opencl_c_fp64", needs_fp64=True, since=300),
    *(FeatureMacro(name, xmx_sizes=XMX_SIZES) for name in (
        "cl_intel_subgroups", "cl_intel_subgroups_char", "cl_intel_subgroups_short", "cl_intel_subgroups_long",
        "cl_intel_subgroup_local_block_io", "cl_intel_required_subgroup_size",
        "cl_intel_subgroup_matrix_multiply_accumulate", "cl_intel_bfloat16_conversions",
        "cl_intel_split_work_group_barrier")),
    *(FeatureMacro(name, xmx_sizes=(16,)) for name in (
        "cl_intel_subgroup_2d_block_io", "cl_intel_subgroup_matrix_multiply_accumulate_tf32")),
)


def feature_macros(has_fp64: bool, xmx_sub_group_sizes: Collection[int] = ()) -> tuple[str, ...]:
    """The names of the macros that a device with these properties defines."""
    return tuple(macro.name for macro in FEATURE_MACROS
                 if (has_fp64 or not macro.needs_fp64)
                 and (not macro.xmx_sizes or any(size in macro.xmx_sizes for size in xmx_sub_group_sizes)))


_SINCE = {macro.name: macro.since for macro in FEATURE_MACROS}


def macros_of_version(names: Iterable[str], number: int) -> frozenset[str]:
    """Those of these macros that a version of OpenCL C has."""
    return frozenset(name for name in names if _SINCE.get(name, 0) <= number)
