"""What a launch does and why it is slow: counted on a simulated device (docs/report.md)."""

from coopmat.report.building import report_of
from coopmat.report.report import Report

__all__ = ["Report", "report_of"]
