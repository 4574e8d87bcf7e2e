"""How each instruction of kernels is translated, family by family."""
