"""coopmat: compile, check, simulate and run cooperative (joint) matrix kernels."""
