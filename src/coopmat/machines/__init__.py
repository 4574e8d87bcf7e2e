"""Many machines: devices of others as devices here, and many runs of a function at once (docs/farm.md)."""

from coopmat.machines.farms import Farm, farm
from coopmat.machines.sweeps import Outcome, sweep

__all__ = ["Farm", "Outcome", "farm", "sweep"]
