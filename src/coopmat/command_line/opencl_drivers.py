"""OpenCL's drivers in ``coopmat doctor`` and ``coopmat devices``: what they say, and what they have proven to do."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Capability
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.discovery import discovery, pyopencl_version
from coopmat.targets.opencl.matrices import PACKED_B, trials_of
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.support import Support, support_of
from coopmat.targets.opencl.verdicts import Verdict

EXTENSIONS = ("cl_khr_il_program", "cl_khr_spirv_queries", "cl_khr_fp16", "cl_khr_fp64", "cl_khr_integer_dot_product",
              "cl_khr_subgroup_shuffle", "cl_khr_subgroup_ballot", "cl_intel_subgroups",
              "cl_intel_required_subgroup_size", "cl_intel_unified_shared_memory")
"""Those that matter to kernels and to us."""
CAPABILITIES = (Capability.DotProductInput4x8Bit, Capability.GroupNonUniformShuffle, Capability.GroupNonUniformBallot,
                Capability.CooperativeMatrixKHR, Capability.PackedCooperativeMatrixINTEL, Capability.BFloat16TypeKHR)

Line = tuple[str, bool | None, str]
"""What is looked at; whether it works, None if that is optional; and what is found."""


def lines() -> Iterator[Line]:
    """What is known of all drivers."""
    found = discovery()
    if found.devices:
        yield "pyopencl", True, pyopencl_version()
    elif found.failure is not None:
        yield "OpenCL's drivers", None, found.failure
        return
    for number, device in enumerate(found.devices):
        yield from _lines_of(f"opencl:{number}", number, device)


def unusable() -> list[tuple[str, str]]:
    """The devices that no kernel can be built for, and why."""
    return [(f"opencl:{number}", device.why_unusable) for number, device in enumerate(discovery().devices)
            if device.why_unusable is not None]


def _lines_of(name: str, number: int, device: DriverDevice) -> Iterator[Line]:
    versions = ", ".join(f"{major}.{minor}" for major, minor in device.ils)
    yield name, device.why_unusable is None, (f"{device.name}, {device.units} units, {device.memory / 2**30:.0f} GiB; "
                                              f"driver {device.platform_name} {device.driver_version}, "
                                              f"{device.version}; SPIR-V {versions or 'none'}")
    if device.why_unusable is not None:
        yield f"{name} use", None, device.why_unusable
        return
    has = [one for one in EXTENSIONS if one in device.extensions]
    yield f"{name} extensions", True, f"{len(device.extensions)}, of them {' '.join(has)}"
    if device.spirv_capabilities is None:
        yield f"{name} SPIR-V", None, "the driver does not tell its capabilities (cl_khr_spirv_queries)"
    else:
        lists = [one.spelling for one in CAPABILITIES if not device.lacks(one)]
        lacks = [one.spelling for one in CAPABILITIES if device.lacks(one)]
        yield f"{name} SPIR-V", True, (f"{len(device.spirv_capabilities)} capabilities, of them "
                                       f"{' '.join(lists) or 'none of ours'}; not {' '.join(lacks) or 'lacking any'}")
    try:
        yield from _proven(name, support_of(number))
    except Error as error:
        yield f"{name} trials", False, str(error)


def _proven(name: str, support: Support) -> Iterator[Line]:
    """What was tried in child processes."""
    for variable, value in support.settings.items():
        yield f"{name} setting", True, f"{variable}={value}, with which the driver does more, is set"
    sizes = ", ".join(map(str, support.sub_group_sizes))
    yield f"{name} sub-groups", True if sizes else None, (
        f"sizes {sizes}" if sizes else f"none: {support.why_no_sub_groups or 'those of the driver do not work'}")
    for size, verdict in support.sub_group_verdicts.items():
        if not verdict.works:
            yield f"{name} sub-groups", False, f"size {size}, which the driver says it has: {verdict}"
    yield _verdict(f"{name} host memory", "kernels work on arrays of the host in place", support.in_place_verdict)
    yield _verdict(f"{name} pointers", "loads through generic pointers", support.generic_pointers_verdict)
    yield _verdict(f"{name} work-groups", "reductions, scans, votes and broadcasts",
                   support.work_group_functions_verdict)
    if sizes:
        yield _verdict(f"{name} barriers", "sub-groups wait for their own work-items only", support.barrier_verdict)
        yield _verdict(f"{name} barriers", "work-items of a sub-group are never apart", support.order_verdict)
    for row, verdict, layouts in trials_of(support, OpenCLOptions()):
        how = ", B packed" if verdict.works and layouts == PACKED_B else ""
        yield _verdict(f"{name} matrix", f"{row}{how}", verdict)


def _verdict(name: str, what: str, verdict: Verdict) -> Line:
    return name, True if verdict.works else None, f"{what}{'' if verdict.works else f': no, {verdict}'}"
