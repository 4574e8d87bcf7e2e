"""Probing an arithmetic: dot products that show in which order and how exactly a device adds."""

from coopmat.probing.claims import claims
from coopmat.probing.report import Multiply, Property, compare, experiments, found, matrices, probe, setup_of
from coopmat.probing.setup import Setup

__all__ = ["Multiply", "Property", "Setup", "claims", "compare", "experiments", "found", "matrices", "probe",
           "setup_of"]
