"""The functions on numbers with what they compute, and a kernel that calls many of them."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

import coopmat.sycl as sycl
from coopmat.sycl import kernel, nd_item
from coopmat.sycl.math_functions import FUNCTIONS, Domain
from tests.kit.builtin_references import FLOATING, assert_close, clamp_to, wrap

POSITIVE, SMALL = (0.05, 6.0), (-4.0, 4.0)

# Function → (reference in double precision, range of the arguments), where OpenCL's table has another call.
REFERENCES: dict[str, tuple[Callable[..., np.ndarray], tuple[float, float]]] = {
    "acosh": (np.arccosh, (1.05, 6.0)), "ilogb": (lambda a: np.floor(np.log2(a)), POSITIVE),
    "step": (lambda a, b: np.where(b < a, 0.0, 1.0), SMALL),
}
for call, row in FLOATING.items():
    REFERENCES.setdefault(call.partition("(")[0], row)
ELSEWHERE = ("ldexp", "pown", "rootn", "smoothstep")
FLOATING_NAMES = [name for name, function in FUNCTIONS.items() if function.domain is Domain.FLOATING
                  and function.result is not sycl.boolean and name not in ELSEWHERE]
TYPES = {"half": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}


# SYCL 4.17.7 on Python's integers: (a, b, c, bits, signed).
INTEGERS: dict[str, Callable[[int, int, int, int, bool], int]] = {
    "abs_diff": lambda a, b, c, n, s: wrap(abs(a - b), n, s),
    "add_sat": lambda a, b, c, n, s: clamp_to(a + b, n, s),
    "sub_sat": lambda a, b, c, n, s: clamp_to(a - b, n, s),
    "hadd": lambda a, b, c, n, s: (a + b) >> 1, "rhadd": lambda a, b, c, n, s: (a + b + 1) >> 1,
    "clz": lambda a, b, c, n, s: n - (a % (1 << n)).bit_length(),
    "ctz": lambda a, b, c, n, s: ((a & -a) % (1 << n)).bit_length() - 1 if a else n,
    "popcount": lambda a, b, c, n, s: (a % (1 << n)).bit_count(),
    "mul_hi": lambda a, b, c, n, s: a * b >> n, "mad_hi": lambda a, b, c, n, s: wrap((a * b >> n) + c, n, s),
    "mad_sat": lambda a, b, c, n, s: clamp_to(a * b + c, n, s),
    "rotate": lambda a, b, c, n, s: wrap((a % (1 << n)) << (b % n) | (a % (1 << n)) >> (n - b % n), n, s),
    "bitselect": lambda a, b, c, n, s: a & ~c | b & c,
}


def table_kernel(functions, columns, out):
    """Each function of the columns, as many as it takes."""
    counts = [len(function.signature.parameters) for function in functions]
    a, b, c = columns
    size = len(a)

    @kernel
    def table(item: nd_item[1]):
        i = item.get_global_id(0)
        for index, (function, count) in enumerate(zip(functions, counts)):  # noqa: B905
            if count == 1:
                out[index * size + i] = function(a[i])
            elif count == 2:
                out[index * size + i] = function(a[i], b[i])
            else:
                out[index * size + i] = function(a[i], b[i], c[i])
    return table


def assert_near(name: str, found: np.ndarray, expected: np.ndarray) -> None:
    if found.dtype == ml_dtypes.bfloat16:  # computed in float32 and rounded once
        wide = found.astype(np.float64)
        error = np.abs(wide - expected) / np.maximum(np.abs(expected), 1e-30)
        assert float(np.max(error)) <= 2**-8 * 1.01, name
    else:
        assert_close(name, found, expected)
