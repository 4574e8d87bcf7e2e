"""What compiles SPIR-V by way of LLVM, for every machine."""
