"""The cooperative matrix extension, as the rest of the semantic analysis uses it.

RFC "Clang frontend changes for OpenCL C Cooperative Matrix Extension", the newer draft's spelling of
it, and this project's additions: names and types in :mod:`.matrix_types`, the built-in functions in
:mod:`.matrix_calls`, operators and component access in :mod:`.matrix_operators`.
"""

from coopmat.opencl.sema.matrix_calls import FUNCTION_NAMES, call
from coopmat.opencl.sema.matrix_operators import binary, component, unary
from coopmat.opencl.sema.matrix_types import FEATURES, TYPE_NAMES, check_object, declare_predefined, matrix_type

__all__ = ["FEATURES", "FUNCTION_NAMES", "TYPE_NAMES", "binary", "call", "check_object", "component",
           "declare_predefined", "matrix_type", "unary"]
