"""Device selectors (SYCL 4.6.1.1): callables that score a device; the highest score wins, a negative one never does.

``queue(gpu_selector_v)``, ``device(gpu_selector_v)``. Of the devices that a selector wants, it prefers the default
one: the one that COOPMAT_DEVICE names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.device import Device
from coopmat.runtime.information import aspect
from coopmat.runtime.selection import device as find_device

_NEVER, _POSSIBLE, _PREFERRED = -1, 0, 1


class DeviceSelector:
    """A selector with a name that takes the devices that a condition holds for."""

    def __init__(self, name: str, wants: Callable[[Device], bool]) -> None:
        self.__name__ = name
        self.wants = wants

    def __call__(self, device: Device) -> int:
        """The score of a device."""
        if not self.wants(device):
            return _NEVER
        return _PREFERRED if device.name == find_device().name else _POSSIBLE

    def __repr__(self) -> str:
        return self.__name__


default_selector_v = DeviceSelector("default_selector_v", lambda _: True)
cpu_selector_v = DeviceSelector("cpu_selector_v", Device.is_cpu)
gpu_selector_v = DeviceSelector("gpu_selector_v", Device.is_gpu)
accelerator_selector_v = DeviceSelector("accelerator_selector_v", Device.is_accelerator)


def aspect_selector(*wanted: Any) -> DeviceSelector:
    """A selector of devices that have all of these aspects."""
    for one in wanted:
        if not isinstance(one, aspect):
            raise Error(f"aspect_selector takes aspects, such as aspect.fp64; found {value_text(one)}")
    name = f"aspect_selector({', '.join(map(str, wanted))})"
    return DeviceSelector(name, lambda device: all(device.has(one) for one in wanted))
