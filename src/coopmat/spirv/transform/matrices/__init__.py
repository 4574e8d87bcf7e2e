"""Matrices brought down to what a driver has: its own, cut into its own, or plain sub-group code."""

from coopmat.spirv.transform.matrices.passing import matrices

__all__ = ["matrices"]
