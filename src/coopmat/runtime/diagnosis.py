"""Why a launch on a GPU has ended in an illegal access: it is run again in the simulator, which knows the place.

The memory of the launch is copied before it, so this is for finding errors (``CudaOptions(diagnose=True)``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coopmat.devices import describe
from coopmat.diagnostics import Error, SimulationError
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.runtime.streams import Kernel, Sizes
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.cuda.host.driver import TO_DIAGNOSE, ContextLost
from coopmat.targets.cuda.program import SUB_GROUP_SIZES
from coopmat.targets.simulator import SimulatorOptions

MOST_BYTES = 1 << 30  # of all memory of a launch
SECONDS = 60.0  # for the simulation


class Diagnosis:
    """A launch as it was before it ran. ``to_host`` copies memory of the GPU."""

    def __init__(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any],
                 to_host: Callable[[DeviceArray], np.ndarray]) -> None:
        self.kernel, self.sizes = kernel, sizes
        self.nbytes = sum(one.nbytes for one in arguments if isinstance(one, DeviceArray | np.ndarray))
        self.arguments: list[Any] | None = None
        if self.nbytes <= MOST_BYTES:
            copies: dict[tuple[int, int], np.ndarray] = {}
            self.arguments = [_copied(one, copies, to_host) for one in arguments]

    def explained(self, error: ContextLost) -> Error:
        """What the simulator finds in the launch; the error itself, with a note, if it finds nothing."""
        if error.status not in TO_DIAGNOSE:
            return error
        if self.arguments is None:
            return _noted(error, f"its arguments have {self.nbytes} bytes, more than the {MOST_BYTES} with which a "
                                 "launch is run again in the simulator: make it smaller")
        device = SimulatedDevice(replace(describe("generic"), sub_group_sizes=SUB_GROUP_SIZES),
                                 SimulatorOptions(time_limit=SECONDS))
        try:
            launcher = self.kernel.program.load(device).launcher(self.kernel.name, *self.sizes, self.arguments)
            launcher(self.arguments)
        except SimulationError as found:
            found.add_note(f"found by the simulator, which ran the launch again: {error}")
            return found
        except Error as refused:
            return _noted(error, f"the simulator cannot run the launch again: {refused}")
        return _noted(error, "the simulator, which ran the launch again, finds no access outside of a buffer; the "
                             "wrong one may come from an earlier launch, or from a race")


def _copied(argument: Any, copies: dict[tuple[int, int], np.ndarray],
            to_host: Callable[[DeviceArray], np.ndarray]) -> Any:
    """An argument with the content of now; memory that is given twice stays one."""
    if isinstance(argument, DeviceArray):
        place = argument.address, argument.nbytes
        if place not in copies:
            copies[place] = to_host(argument)
        return copies[place]
    if isinstance(argument, np.ndarray):
        place = int(argument.ctypes.data), argument.nbytes
        if place not in copies:
            copies[place] = argument.copy()
            copies[place].flags.writeable = argument.flags.writeable
        return copies[place]
    return argument


def _noted(error: Error, note: str) -> Error:
    error.add_note(note)
    return error
