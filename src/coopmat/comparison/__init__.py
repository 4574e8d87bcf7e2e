"""The same launch on several devices: results element by element, and why they differ."""

from coopmat.comparison.launches import compare
from coopmat.comparison.result import Comparison

__all__ = ["Comparison", "compare"]
