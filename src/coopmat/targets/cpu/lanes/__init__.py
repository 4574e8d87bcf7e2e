"""The execution model of the CPU: a sub-group is a SIMD vector."""
