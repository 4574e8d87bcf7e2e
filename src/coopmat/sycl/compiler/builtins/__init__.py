"""What calls become: a handler for each device function, function of Python and method.

Each module has tables of what it knows; these put them together.
"""

from __future__ import annotations

from typing import Any

from coopmat.sycl.compiler.builtins import (
    atomics,
    groups,
    local_memory,
    mathematics,
    matrices,
    matrix_memory,
    objects,
    pointers,
    printing,
    python,
    vector_math,
    vectors,
    work_items,
)
from coopmat.sycl.compiler.context import CallHandler
from coopmat.sycl.compiler.values import Value

DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    **atomics.DEVICE_FUNCTIONS, **groups.DEVICE_FUNCTIONS, **local_memory.DEVICE_FUNCTIONS,
    **mathematics.DEVICE_FUNCTIONS, **matrices.DEVICE_FUNCTIONS, **matrix_memory.DEVICE_FUNCTIONS,
    **pointers.DEVICE_FUNCTIONS, **printing.DEVICE_FUNCTIONS, **vectors.DEVICE_FUNCTIONS,
}
"""By the function's name."""
PYTHON_FUNCTIONS: dict[Any, CallHandler] = {
    **vector_math.PYTHON_FUNCTIONS, **python.PYTHON_FUNCTIONS, **mathematics.PYTHON_FUNCTIONS,
    **objects.PYTHON_FUNCTIONS, **pointers.PYTHON_FUNCTIONS, **printing.PYTHON_FUNCTIONS,
}
"""Functions of Python, ``math`` and ``numpy`` (``min``, ``range``, ``math.sqrt``, …)."""
METHODS: dict[type[Value], CallHandler] = {
    **atomics.METHODS, **objects.METHODS, **vectors.METHODS, **work_items.METHODS,
}
"""By the class of the receiver."""
