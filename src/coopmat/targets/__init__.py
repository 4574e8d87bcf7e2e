"""What runs SPIR-V modules: one package per target."""
