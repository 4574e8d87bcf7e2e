"""Variables of the environment with which a driver does more than by itself: tried in a child process, one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from coopmat.targets.base.matrix_probe import MatrixProbe
from coopmat.targets.opencl import work_groups
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.verdicts import matrix_verdicts, verdicts

_PACKED_B = (0, 2, 0, 0)
Test = Callable[[DriverDevice, Mapping[str, str]], bool]
"""Whether something works on a driver with variables of the environment."""


@dataclass(frozen=True)
class Setting:
    """A variable, and values in order of preference, each with what works with it. is_default: what works is tried
    without the variable first, which is then not set."""

    variable: str
    values: tuple[tuple[str, Test], ...]
    is_default: bool = False


def _computes(probe: MatrixProbe, device: DriverDevice, environment: Mapping[str, str]) -> bool:
    return matrix_verdicts(device, [probe], environment)[0].works


def _keeps_values(device: DriverDevice, environment: Mapping[str, str]) -> bool:
    """Whether what was loaded before a barrier is what it was behind it."""
    return verdicts(device, [work_groups.exchange(device)], [work_groups.is_exchanged], environment)[0].works


SETTINGS: dict[str, Setting] = {
    # Intel's runtime for CPUs does not find AMX by itself.
    "Intel(R) OpenCL": Setting("CL_CONFIG_CPU_TARGET_ARCH", (
        ("graniterapids", partial(_computes, MatrixProbe(("fp16", "fp16", "fp32", "fp32"), (16, 16, 32), _PACKED_B))),
        ("sapphirerapids", partial(_computes, MatrixProbe(("sint8", "sint8", "sint32", "sint32"), (16, 16, 64),
                                                          _PACKED_B))),
    )),
    # What PoCL 7 takes by itself, loopvec, loads again behind a barrier what was loaded before it.
    "Portable Computing Language": Setting("POCL_WORK_GROUP_METHOD", (("cbs", _keeps_values),), is_default=True),
}
"""By the name of the platform."""


def settings_for(device: DriverDevice, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables to set for a driver; none if nothing helps, or the user has set them."""
    setting = SETTINGS.get(device.platform_name)
    if setting is None or device.kind != "cpu" or environment.get(setting.variable):
        return {}
    for value, works in setting.values:
        if setting.is_default and works(device, {}):
            return {}
        chosen = {setting.variable: value}
        if works(device, chosen):
            return chosen
    return {}
