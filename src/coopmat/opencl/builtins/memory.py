"""Built-in functions that move data: vector loads and stores, half in memory, prefetch, shuffles, address spaces.

OpenCL C 6.15.7, 6.15.11 (prefetch), 6.15.13 (shuffle) and 6.15.10 (address space qualifiers).
"""

from __future__ import annotations

from dataclasses import replace

from coopmat.opencl.builtins.patterns import NUMBERS, Build, BuiltinCall, Row
from coopmat.tree.nodes import Binary, BinaryOperator, CastAddressSpace, Expression, Select, Zero
from coopmat.tree.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    UINT,
    VECTOR_COUNTS,
    AddressSpace,
    Pointer,
)

ROUNDING_MODES = {"rte": 0, "rtz": 1, "rtp": 2, "rtn": 3}
"""SPIR-V's FP Rounding Mode."""


def counted(operation: str) -> Build:
    """An operation followed by the literal number of components."""
    return lambda call: call.operation(operation, *call.arguments, literals=(call.overload.count,))


def rounded(operation: str, mode: str) -> Build:
    """An operation followed by a literal rounding mode; without a mode the default, to nearest even."""
    if not mode:
        return lambda call: call.operation(operation, *call.arguments)
    return lambda call: call.operation(f"{operation}_r", *call.arguments, literals=(ROUNDING_MODES[mode],))


STORAGE_CLASSES = {AddressSpace.LOCAL: 4, AddressSpace.GLOBAL: 5, AddressSpace.PRIVATE: 7}
"""SPIR-V's Workgroup, CrossWorkgroup and Function."""


def to_address_space(space: AddressSpace) -> Build:
    """to_global and its like: the pointer in that space, or null if it points elsewhere."""
    def build(call: BuiltinCall) -> Expression:
        (pointer,) = call.arguments
        assert isinstance(pointer.type, Pointer)
        type_ = replace(pointer.type, address_space=space)
        return call.operation("core.GenericCastToPtrExplicit", _generic(pointer), type_=type_,
                              literals=(STORAGE_CLASSES[space],))
    return build


def _generic(pointer: Expression) -> Expression:
    """The pointer in the generic address space."""
    assert isinstance(pointer.type, Pointer)
    if pointer.type.address_space is AddressSpace.GENERIC:
        return pointer
    return CastAddressSpace(replace(pointer.type, address_space=AddressSpace.GENERIC), pointer.location, pointer)


def get_fence(call: BuiltinCall) -> Expression:
    """CLK_LOCAL_MEM_FENCE for a pointer to local memory, else CLK_GLOBAL_MEM_FENCE."""
    local = to_address_space(AddressSpace.LOCAL)(call)
    is_local = Binary(BOOL, call.location, BinaryOperator.NOT_EQUAL, local, Zero(local.type, call.location))
    return Select(UINT, call.location, is_local, call.constant(1), call.constant(2))


def _half_stores() -> tuple[Row, ...]:
    """vstore_half and vstorea_half with each suffix."""
    rows: list[Row] = []
    for mode in ("", *ROUNDING_MODES):
        suffix = f"_{mode}" if mode else ""
        one, many, aligned = (rounded(operation, mode) for operation in
                              ("std.vstore_half", "std.vstore_halfn", "std.vstorea_halfn"))
        signature = "void(gen, size_t, any half*)"
        rows += [Row(f"vstore_half{suffix}", signature, one, (FLOAT, DOUBLE), (1,)),
                 Row(f"vstore_half{{n}}{suffix}", signature, many, (FLOAT, DOUBLE), VECTOR_COUNTS),
                 Row(f"vstorea_half{{n}}{suffix}", signature, aligned, (FLOAT, DOUBLE), VECTOR_COUNTS)]
    return tuple(rows)


VECTOR_DATA = (
    Row("vload{n}", "gen(size_t, readable const scalar*)", counted("std.vloadn"), NUMBERS, VECTOR_COUNTS),
    Row("vstore{n}", "void(gen, size_t, any scalar*)", "std.vstoren", NUMBERS, VECTOR_COUNTS),
    Row("vload_half", "float(size_t, readable const half*)", "std.vload_half"),
    Row("vload_half{n}", "gen(size_t, readable const half*)", counted("std.vload_halfn"), (FLOAT,), VECTOR_COUNTS),
    Row("vloada_half{n}", "gen(size_t, readable const half*)", counted("std.vloada_halfn"), (FLOAT,), VECTOR_COUNTS),
    *_half_stores(),
)
"""OpenCL C 6.15.7."""

SHUFFLE_COUNTS = (2, 4, 8, 16)

SHUFFLES = tuple(
    row for count in SHUFFLE_COUNTS for row in (
        Row("shuffle", f"gen(gen{count}, ugen)", "std.shuffle", NUMBERS, SHUFFLE_COUNTS),
        Row("shuffle2", f"gen(gen{count}, gen{count}, ugen)", "std.shuffle2", NUMBERS, SHUFFLE_COUNTS)))
"""OpenCL C 6.15.13."""

ADDRESS_SPACES = (
    Row("prefetch", "void(global const gen*, size_t)", "std.prefetch", NUMBERS),
    Row("to_global", "void*(any const volatile void*)", to_address_space(AddressSpace.GLOBAL)),
    Row("to_local", "void*(any const volatile void*)", to_address_space(AddressSpace.LOCAL)),
    Row("to_private", "void*(any const volatile void*)", to_address_space(AddressSpace.PRIVATE)),
    Row("get_fence", "cl_mem_fence_flags(any const volatile void*)", get_fence),
)
"""OpenCL C 6.15.10 and 6.15.11 (prefetch)."""

ROWS = (*VECTOR_DATA, *SHUFFLES, *ADDRESS_SPACES)
