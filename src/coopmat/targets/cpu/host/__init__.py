"""The host's side of kernels on the CPU: native code, launches, threads, stacks, memory of variables."""
