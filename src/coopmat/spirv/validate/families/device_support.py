"""Rules about devices: whether one has what a valid module uses."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.device_support import (
    Finding,
    simulated_capabilities,
    unsupported_capabilities,
    unsupported_matrices,
    unsupported_sub_group_sizes,
)
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView


@rule("device-capability", "The device has the OpenCL extension that a declared capability belongs to.",
      "the extension's document; with a device only")
def device_capability(view: ModuleView) -> Findings:
    if view.device is not None:
        yield from _places(view, unsupported_capabilities(view.module, view.device))


@rule("device-simulated", "The device has the OpenCL extension of a capability that the simulator runs on any device.",
      "the extension's document; with a device only", severity="warning")
def device_simulated(view: ModuleView) -> Findings:
    if view.device is not None:
        yield from _places(view, simulated_capabilities(view.module, view.device))


@rule("device-sub-group-size", "The device has the sub-group size that a kernel requires.",
      "cl_intel_required_subgroup_size; with a device only")
def device_sub_group_size(view: ModuleView) -> Findings:
    if view.device is not None:
        yield from _places(view, unsupported_sub_group_sizes(view.module, view.device))


@rule("device-matrix", "The device has the matrix combinations, matrices and 2D blocks that kernels use.",
      "sycl_ext_oneapi_matrix, Supported Combinations Per Hardware; with a device only")
def device_matrix(view: ModuleView) -> Findings:
    if view.device is not None:
        try:
            yield from _places(view, unsupported_matrices(view.module, view.device))
        except Error as error:  # matrices that no device has
            yield None, str(error)


def _places(view: ModuleView, findings: Iterator[Finding]) -> Findings:
    for row, message in findings:
        yield view.items.index(row), message
