"""What calls become: a handler for each device function, function of Python and method."""

from coopmat.sycl.compiler.builtins import matrices, matrix_memory, python, work_items

__all__ = ["matrices", "matrix_memory", "python", "work_items"]
