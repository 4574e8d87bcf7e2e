"""What calls become: a handler for each device function, function of Python and method."""

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

__all__ = ["atomics", "groups", "local_memory", "mathematics", "matrices", "matrix_memory", "objects",
           "pointers", "printing", "python", "vector_math", "vectors", "work_items"]
