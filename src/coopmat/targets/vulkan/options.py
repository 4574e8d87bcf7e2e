"""The options of Vulkan's devices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.targets.base.output import DEFAULT_PRINTF_LIMIT


@dataclass(frozen=True, kw_only=True)
class VulkanOptions:
    """How kernels run on a device of Vulkan (docs/vulkan.md).

    ``probes``: matrices of a driver are used when a small product has been right, in a process of its own; False
    believes the driver's table.
    ``tries_shaders``: a shader that is not in the cache is compiled in a process of its own first, so that a driver
    that does not survive it is an error; shaders with descriptors are not.
    ``validation``: Khronos's validation layer looks at everything, and what it finds is an error. It must be installed.
    ``timeout``: the seconds that a launch may take; a LaunchError says that it took longer, and the device cannot be
    used any more in the process. None: as long as the system allows.
    ``printf_limit``: the bytes that printf may write in one launch; what does not fit is dropped.

    Raises :class:`~coopmat.diagnostics.Error` for a value of another type or out of range.
    """

    probes: bool = True
    tries_shaders: bool = False
    validation: bool = False
    timeout: float | None = None
    printf_limit: int = DEFAULT_PRINTF_LIMIT

    def __post_init__(self) -> None:
        for name in ("probes", "tries_shaders", "validation"):
            self._expect(name, isinstance(getattr(self, name), bool | np.bool_), "True or False")
        limit, seconds = self.printf_limit, self.timeout
        self._expect("printf_limit", isinstance(limit, int | np.integer) and not isinstance(limit, bool) and limit >= 0,
                     "an integer of at least 0")
        self._expect("timeout", seconds is None or (isinstance(seconds, int | float | np.number)
                                                    and not isinstance(seconds, bool) and 0 < seconds < 1e9),
                     "a positive number of seconds, or None")

    def _expect(self, name: str, is_right: object, wanted: str) -> None:
        if not is_right:
            value = getattr(self, name)
            raise Error(f"a Vulkan device's option {name} must be {wanted}; found {value_text(value)} of type "
                        f"{type(value).__name__}")
