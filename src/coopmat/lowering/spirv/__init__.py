"""The builder that writes SPIR-V."""
