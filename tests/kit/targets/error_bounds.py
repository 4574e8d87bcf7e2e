"""The errors that OpenCL C allows in single precision, in units in the last place.

OpenCL C specification, "Relative error as ULPs" (full profile); for ``half_`` functions it allows 8192, for ``native_``
ones anything, and for ``lgamma`` no bound is given: those below are what implementations keep.
"""

SINGLE: dict[str, float] = {
    **dict.fromkeys(("degrees", "radians", "sqrt"), 2), "mix": 64,
    **dict.fromkeys(("cbrt", "log1p", "rsqrt"), 2),
    **dict.fromkeys(("exp", "exp2", "exp10", "expm1", "log", "log2", "log10"), 3),
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "cos", "cosh", "cospi", "hypot", "sin", "sinh", "sinpi"), 4),
    **dict.fromkeys(("acospi", "asinpi", "atan", "atanh", "atanpi", "tan", "tanh"), 5),
    **dict.fromkeys(("atan2", "atan2pi", "tanpi"), 6),
    **dict.fromkeys(("erf", "erfc", "lgamma", "pow", "pown", "powr", "rootn", "tgamma"), 16),
}
RELAXED: dict[str, float] = {
    **dict.fromkeys(("acos", "asin", "atan", "cos", "sin"), 4096),
    **dict.fromkeys(("acosh", "asinh", "atanh", "cbrt", "cosh", "expm1", "log1p", "pow", "pown", "powr", "rootn",
                     "sinh", "tan", "tanh"), 8192),
}
"""Those of the functions that have faster forms with -cl-unsafe-math-optimizations (OpenCL SPIR-V environment
specification, "ULP values for single precision math instructions with -cl-unsafe-math-optimizations"); of ``cos`` and
``sin`` an error of 2**-11 from -pi to pi counts instead. What may be derived from others has the bound of forms that
are not."""
HALF = 0.51
"""Of fp16, which is computed in single precision and rounded."""


def bound(name: str, kind: str) -> float | None:
    """The bound of a function for a type; None for double precision."""
    if kind == "f64":
        return None
    is_rough = name.startswith(("half_", "native_"))
    if kind == "f16":
        return HALF + is_rough  # as many units of single precision are one of fp16
    return 8192 if is_rough else SINGLE.get(name, 16)
