"""Type names and constants of OpenCL C that every program can use without declaring them.

The global scope of the semantic analysis declares them; the parser knows the names of the types.
"""

from __future__ import annotations

from coopmat.opencl.parse import keywords
from coopmat.support.build_options import Language
from coopmat.tree.types import (
    DOUBLE,
    EVENT,
    FLOAT,
    INT,
    LONG,
    PTRDIFF_T,
    SCALARS,
    SIZE_T,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_COUNTS,
    Enumeration,
    Type,
    Vector,
)

MEMORY_ORDER = Enumeration("memory_order")
MEMORY_SCOPE = Enumeration("memory_scope")

NUMBER_TYPES: dict[str, Type] = {
    "uchar": UCHAR, "ushort": USHORT, "uint": UINT, "ulong": ULONG, "size_t": SIZE_T, "ptrdiff_t": PTRDIFF_T,
    "intptr_t": LONG, "uintptr_t": ULONG,
    **{f"{element}{count}": Vector(SCALARS[element], count)
       for element in keywords.VECTOR_ELEMENTS for count in VECTOR_COUNTS},
}
"""Types of numbers and vectors whose names are no keywords (OpenCL C 6.3.1, 6.3.2)."""

# The C11 atomic types have the representation of the plain types (OpenCL C 6.15.12.6): the
# difference lies in the functions that access them.
TYPEDEFS: dict[str, Type] = {
    "size_t": SIZE_T,
    "ptrdiff_t": PTRDIFF_T,
    "intptr_t": LONG,
    "uintptr_t": ULONG,
    "cl_mem_fence_flags": UINT,
    "memory_order": MEMORY_ORDER,
    "memory_scope": MEMORY_SCOPE,
    "atomic_int": INT,
    "atomic_uint": UINT,
    "atomic_long": LONG,
    "atomic_ulong": ULONG,
    "atomic_float": FLOAT,
    "atomic_double": DOUBLE,
    "atomic_size_t": SIZE_T,
    "atomic_ptrdiff_t": PTRDIFF_T,
    "atomic_intptr_t": LONG,
    "atomic_uintptr_t": ULONG,
    "atomic_flag": INT,
    "event_t": EVENT,
}
"""The other type names, and those that the table of functions needs (OpenCL C 6.3.1, 6.3.3, 6.15.8, 6.15.12)."""

ENUM_CONSTANTS: dict[str, tuple[Enumeration, int]] = {
    "memory_order_relaxed": (MEMORY_ORDER, 0),
    "memory_order_acquire": (MEMORY_ORDER, 2),
    "memory_order_release": (MEMORY_ORDER, 3),
    "memory_order_acq_rel": (MEMORY_ORDER, 4),
    "memory_order_seq_cst": (MEMORY_ORDER, 5),
    "memory_scope_work_item": (MEMORY_SCOPE, 0),
    "memory_scope_work_group": (MEMORY_SCOPE, 1),
    "memory_scope_device": (MEMORY_SCOPE, 2),
    "memory_scope_all_svm_devices": (MEMORY_SCOPE, 3),
    "memory_scope_all_devices": (MEMORY_SCOPE, 3),
    "memory_scope_sub_group": (MEMORY_SCOPE, 4),
}
"""Predefined enumerators with their enumeration and value; the other predefined constants are macros."""


def typedefs(language: Language) -> dict[str, Type]:
    """The type names that a version of OpenCL C has."""
    if language.has_memory_model:
        return TYPEDEFS
    return {name: type_ for name, type_ in TYPEDEFS.items() if not name.startswith(("atomic_", "memory_"))}
