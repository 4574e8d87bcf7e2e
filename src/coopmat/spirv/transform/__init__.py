"""Transformations from SPIR-V to SPIR-V, for every target and driver."""
