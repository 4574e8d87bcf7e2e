"""The prototypes of Intel's sub-group matrix functions, written down once more from "New OpenCL C Functions" of the two
documents."""

from __future__ import annotations

import itertools

# (name, K, sub-group size, scalar of a, scalar of b, scalar of acc and result).
INTEGERS = [
    (f"{x}_{y}", k, size, f"{sign_a}{a}", f"{sign_b}int", "int")
    for size, a in ((8, "int"), (16, "short"))
    for k, bits in ((32, 8), (64, 4))
    for (x, sign_a), (y, sign_b) in itertools.product(((f"i{bits}", ""), (f"u{bits}", "u")), repeat=2)]
FLOATS = [
    *((f"{x}_{x}", 16, 8, "int", "int", "float") for x in ("bf16", "f16")),
    *((f"{x}_{x}", 16, 16, "short", "int", acc) for x, acc in (
        ("bf16", "float"), ("f16", "float"), ("bf16", "short"), ("f16", "half"))),
]
A_OF_TF32 = {1: "float", 2: "float", 4: "float2", 8: "float4"}


def vector(scalar: str, count: int) -> str:
    """A vector type, which is the scalar for one component."""
    return scalar if count == 1 else f"{scalar}{count}"


def prototypes() -> dict[tuple[str, ...], tuple[int, int]]:
    """(name, a, b, acc) → (K, sub-group size) of all 92 functions."""
    found = {}
    for m in (1, 2, 4, 8):
        for name, k, size, a, b, acc in INTEGERS + FLOATS:
            found[f"intel_sub_group_{name}_matrix_mad_k{k}", vector(a, m), f"{b}8", vector(acc, m)] = k, size
        found["intel_sub_group_tf32_tf32_matrix_mad_k8", A_OF_TF32[m], "float8", vector("float", m)] = 8, 16
    return found


PROTOTYPES = prototypes()
