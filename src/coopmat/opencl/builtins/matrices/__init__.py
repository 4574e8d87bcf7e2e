"""The cooperative matrix extension: names, types and functions.

RFC "Clang frontend changes for OpenCL C Cooperative Matrix Extension", the newer draft's spelling of
it, and this project's additions: names and types in :mod:`.types`, the functions in :mod:`.calls`, those that are
applied to each element in :mod:`.element_functions`. The operators are :mod:`coopmat.opencl.sema.matrix_operators`.
"""

from coopmat.opencl.builtins.matrices.calls import FUNCTION_NAMES, call
from coopmat.opencl.builtins.matrices.element_functions import APPLY, apply, builtin, check_applied
from coopmat.opencl.builtins.matrices.types import (
    FEATURES,
    TYPE_NAMES,
    check_object,
    check_work_groups,
    declare_predefined,
    matrix_type,
)

__all__ = ["APPLY", "FEATURES", "FUNCTION_NAMES", "TYPE_NAMES", "apply", "builtin", "call", "check_applied",
           "check_object", "check_work_groups", "declare_predefined", "matrix_type"]
