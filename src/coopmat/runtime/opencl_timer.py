"""The timer of OpenCL's drivers, by their own clocks."""

from __future__ import annotations

import numpy as np

from coopmat.runtime.timing import HostTimer, last_level_cache
from coopmat.support.cached import cached_property
from coopmat.targets.opencl.host.description import DriverDevice


class OpenCLTimer(HostTimer):
    """See :class:`~coopmat.runtime.timing.Timer`. Launches are timed by the driver, other work by this machine's clock.
    """

    def __init__(self, name: str, driver: DriverDevice) -> None:
        super().__init__(last_level_cache() * 5 // 4 if driver.kind == "cpu" else 0,
                         f"launches are timed by the driver of {name} ({driver}), whose clock and frequencies nothing "
                         "is known of: compare only times of one run, as ratios")
        self._driver = driver

    @cached_property
    def hardware(self) -> str:
        """The device's name, its units, and the driver's version."""
        driver = self._driver
        return f"{driver.name}, {driver.units} units, {driver.platform_name} {driver.driver_version}"

    @cached_property
    def _buffer(self) -> np.ndarray:
        return np.zeros(self._flush_bytes, np.uint8)
