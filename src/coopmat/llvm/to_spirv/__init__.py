"""LLVM's IR made ready for its SPIR-V back end, and the modules that come out of it mended."""
