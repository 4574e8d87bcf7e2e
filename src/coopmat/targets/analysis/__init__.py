"""What targets find out about a kernel, of SPIR-V alone."""
