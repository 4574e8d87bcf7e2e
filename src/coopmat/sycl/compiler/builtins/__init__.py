"""What calls become: a handler for each device function, function of Python and method."""

from coopmat.sycl.compiler.builtins import mathematics, matrices, matrix_memory, pointers, python, work_items

__all__ = ["mathematics", "matrices", "matrix_memory", "pointers", "python", "work_items"]
