"""Variables of the environment with which a driver does more than by itself: tried in a child process, one by one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from coopmat.targets.base.matrix_probe import MatrixProbe
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.verdicts import matrix_verdicts

_PACKED_B = (0, 2, 0, 0)


@dataclass(frozen=True)
class Setting:
    """A variable, and values in order of preference, each with the product that works with it and not without."""

    variable: str
    values: tuple[tuple[str, MatrixProbe], ...]


SETTINGS: dict[str, Setting] = {
    # Intel's runtime for CPUs does not find AMX by itself.
    "Intel(R) OpenCL": Setting("CL_CONFIG_CPU_TARGET_ARCH", (
        ("graniterapids", MatrixProbe(("fp16", "fp16", "fp32", "fp32"), (16, 16, 32), _PACKED_B)),
        ("sapphirerapids", MatrixProbe(("sint8", "sint8", "sint32", "sint32"), (16, 16, 64), _PACKED_B)),
    )),
}
"""By the name of the platform."""


def settings_for(device: DriverDevice, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables to set for a driver; none if nothing helps, or the user has set them."""
    setting = SETTINGS.get(device.platform_name)
    if setting is None or device.kind != "cpu" or environment.get(setting.variable):
        return {}
    for value, probe in setting.values:
        chosen = {setting.variable: value}
        if matrix_verdicts(device, [probe], chosen)[0].works:
            return chosen
    return {}
