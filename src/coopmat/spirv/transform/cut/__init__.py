"""Large cooperative matrices cut into those that a device has."""

from coopmat.spirv.transform.cut.cutting import cut

__all__ = ["cut"]
