"""Dot products of integers: cl_khr_integer_dot_product, and dot of 16-bit integers."""

from __future__ import annotations

from coopmat.opencl.builtins.patterns import Build, BuiltinCall, Row
from coopmat.tree.nodes import Expression

VECTORS = ("__opencl_c_integer_dot_product_input_4x8bit", "cl_khr_integer_dot_product")
PACKED = ("__opencl_c_integer_dot_product_input_4x8bit_packed",)

PACKED_VECTOR_FORMAT_4X8BIT = 0
"""SPIR-V's Packed Vector Format: component 0 is in the least significant byte."""


def integer_dot(signs: str, *, accumulates: bool, literals: tuple[int, ...] = ()) -> Build:
    """A dot product of operands with these signs (``s`` or ``u``), the instruction's signed operand first."""
    instruction = {"ss": "SDot", "uu": "UDot"}.get(signs, "SUDot") + ("AccSat" if accumulates else "")

    def build(call: BuiltinCall) -> Expression:
        left, right, *accumulator = call.arguments
        if signs == "us":
            left, right = right, left
        return call.operation(f"core.{instruction}", left, right, *accumulator, literals=literals)
    return build


def _rows() -> tuple[Row, ...]:
    rows: list[Row] = []
    for signs in ("uu", "ss", "us", "su"):
        result = "uint" if signs == "uu" else "int"
        for accumulates, name, more in ((False, "dot", ""), (True, "dot_acc_sat", f", {result}")):
            build = integer_dot(signs, accumulates=accumulates)
            for scalar, count in (("char", 4), ("short", 2)):
                left, right = (f"u{scalar}{count}" if sign == "u" else f"{scalar}{count}" for sign in signs)
                rows.append(Row(name, f"{result}({left}, {right}{more})", build, needs=VECTORS))
            packed = integer_dot(signs, accumulates=accumulates, literals=(PACKED_VECTOR_FORMAT_4X8BIT,))
            rows.append(Row(f"{name}_4x8packed_{signs}_{result}", f"{result}(uint, uint{more})", packed, needs=PACKED))
    return tuple(rows)


ROWS = _rows()
"""All combinations of signs, for char4 and short2 vectors and for four 8-bit integers packed in a uint."""
