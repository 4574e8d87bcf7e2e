"""The functions of real numbers as vector code: the same bits whatever the vectors' width and the processor's features.

Every function is computed for all work-items at once, by fused multiply-adds in its own precision (remainders, and the
gamma functions of floats, in double). Those of floats and doubles share formulas; fp16 and bf16 are computed as floats
and rounded. What is rare and costs much, such as the sine of 1e30, is left to the C library, for vectors in which it
occurs (``parts.guarded``).
"""
