"""The cooperative matrix extension, as the rest of the semantic analysis uses it.

RFC "Clang frontend changes for OpenCL C Cooperative Matrix Extension", the newer draft's spelling of
it, and this project's additions: names and types in :mod:`.matrix_types`, the built-in functions in
:mod:`.matrix_calls`, functions of elements in :mod:`.matrix_functions`, operators and component access in
:mod:`.matrix_operators`.
"""

from coopmat.opencl.sema.matrix_calls import FUNCTION_NAMES, call
from coopmat.opencl.sema.matrix_functions import APPLY, apply, builtin, check_applied
from coopmat.opencl.sema.matrix_operators import binary, component, unary
from coopmat.opencl.sema.matrix_types import FEATURES, TYPE_NAMES, check_object, declare_predefined, matrix_type

__all__ = ["APPLY", "FEATURES", "FUNCTION_NAMES", "TYPE_NAMES", "apply", "binary", "builtin", "call", "check_applied",
           "check_object", "component", "declare_predefined", "matrix_type", "unary"]
