"""What compilers and the simulator find out about a kernel, of SPIR-V alone."""
