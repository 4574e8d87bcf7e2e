"""SPIR-V's instructions as LLVM IR, a module for each family."""
