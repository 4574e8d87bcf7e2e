"""Measuring how long work takes, and finding the fastest configuration of a kernel (docs/tuning.md)."""

from coopmat.tuning.benchmark import do_bench
from coopmat.tuning.config import Config
from coopmat.tuning.report import Report, Trial
from coopmat.tuning.tuned import Tuned, autotune

__all__ = ["Config", "Report", "Trial", "Tuned", "autotune", "do_bench"]
