"""Messages of the cooperative matrix extension (CM4xxx).

A message that the RFC lists begins with the RFC's text, others with that of the reference implementation
where it is known; what was expected and what was found follows.
"""

from __future__ import annotations

from coopmat.diagnostics import Message

# ------------------------------------------------------------------ CM400x: the type attribute

EXTENSION_DISABLED = Message("CM4001", "error",
                             "cooperative matrix types require OpenCL extension 'cl_khr_cooperative_matrix' "
                             "to be enabled via pragma; {reason}")
ATTRIBUTE_COUNT = Message("CM4002", "error",
                          "'coop_mat' attribute takes 4 arguments (scope, rows, columns, use), but has {found}")
INVALID_SCOPE = Message("CM4003", "error",
                        "invalid 'scope' argument of cooperative matrix attribute; expected "
                        "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, "
                        "memory_scope_sub_group or memory_scope_work_group, found {found}")
INVALID_USE = Message("CM4004", "error",
                      "invalid 'use' argument of cooperative matrix attribute; expected CLK_COOPERATIVE_MATRIX_A (0), "
                      "_B (1) or _ACCUMULATOR (2), found {found}")
DIMENSION_NOT_CONSTANT = Message("CM4005", "error",
                                 "'{what}' argument of cooperative matrix attribute must be an integer constant "
                                 "expression")
DIMENSION_NOT_POSITIVE = Message("CM4006", "error",
                                 "'{what}' argument of cooperative matrix attribute must be positive, but is {value}")
TOO_MANY_ELEMENTS = Message("CM4007", "error",
                            "a cooperative matrix of {rows} rows and {columns} columns is too large: "
                            "at most {limit} elements are supported")
INVALID_ELEMENT_TYPE = Message("CM4008", "error",
                               "'{type}' is invalid cooperative matrix element type; expected an integer type, "
                               "half, float, double or __bf16")
STRING_ARGUMENT = Message("CM4009", "warning",
                          "'{what}' argument of cooperative matrix attribute is a string; "
                          "expected the constant {name} without quotation marks", "coop-mat-string")

NOT_OF_WORK_GROUP = Message("CM4013", "error",
                            "'{what}' argument of cooperative matrix attribute must be a multiple of {multiple} at "
                            "work-group scope, but is {value}")
NEEDS_WORK_GROUP_SIZE = Message("CM4014", "error",
                                "kernel '{name}' must require a work-group size, as the program has cooperative "
                                "matrices at work-group scope: add __attribute__((reqd_work_group_size(X, Y, Z)))")

# ------------------------------------------------------------------ CM401x: where matrices may live

KERNEL_PARAMETER = Message("CM4010", "error", "'{type}' cannot be used as the type of a kernel parameter")
WRONG_STORAGE = Message("CM4011", "error",
                        "cooperative matrix type '{type}' cannot be used for a {what} in the {space} address space; "
                        "a cooperative matrix lives in private variables only")
MATRIX_IN_MEMORY = Message("CM4012", "error",
                           "'{type}' points to a cooperative matrix in the {space} address space; a buffer holds "
                           "elements ('{element}'), which coop_mat_load and coop_mat_store move")

# ------------------------------------------------------------------ CM402x: calls in general

TOO_FEW_ARGUMENTS = Message("CM4020", "error",
                            "too few arguments to '{name}': expected {expected}, have {found}{hint}")
TOO_MANY_ARGUMENTS = Message("CM4021", "error", "too many arguments to '{name}': expected {expected}, have {found}")
NO_MATRIX_TARGET = Message("CM4022", "error",
                           "builtin return value should be assigned to cooperative matrix type variable; "
                           "'{name}' takes its result type from there, but {found}")
NOT_A_MATRIX = Message("CM4023", "error",
                       "argument must be a valid cooperative matrix type; "
                       "argument {index} of '{name}' has type '{type}'")
NOT_AN_INDEX = Message("CM4024", "error",
                       "component index of a cooperative matrix must have integer type, but has type '{type}'")
NEGATIVE_INDEX = Message("CM4025", "error", "component index of a cooperative matrix is negative ({value})")
INVALID_FILL = Message("CM4026", "error",
                       "argument of '{name}' must be a scalar that converts to the element type '{element}', "
                       "but has type '{type}'")

# ------------------------------------------------------------------ CM403x: load and store

NOT_A_POINTER = Message("CM4030", "error",
                        "first argument of '{name}' must be a pointer to the matrix elements, but has type '{type}'")
ELEMENT_POINTER_MISMATCH = Message("CM4031", "error",
                                   "inconsistent between cooperative matrix element type and buffer pointer type: "
                                   "the elements are '{element}', the pointer is '{pointer}'")
POINTER_SPACE = Message("CM4032", "error",
                        "pointer argument of '{name}' is in the {space} address space; expected __global or __local")
STORE_TO_CONST = Message("CM4033", "error", "'{name}' writes through its pointer, which is '{pointer}'")
INVALID_LAYOUT = Message("CM4034", "error",
                         "memory layout for cooperative matrix load/store should be "
                         "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR or CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR"
                         "; found {found}")
INVALID_PACKED = Message("CM4037", "error",
                         "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL is for matrices A, and for matrices B whose rows "
                         "fill words of 32 bits, such as 16 rows of half or 32 of char; found {found}")
INVALID_STRIDE_TYPE = Message("CM4035", "error",
                              "stride argument for load/store of cooperative matrix must have type 'size_t' "
                              "or another integer type, but has type '{type}'")
STRIDE_OUT_OF_RANGE = Message("CM4036", "error",
                              "stride argument of '{name}' must {rule}, but is {value}")

# ------------------------------------------------------------------ CM404x: multiply-add

WRONG_USE = Message("CM4040", "error",
                    "argument of cooperative matrix must be {expected}, but argument {index} of '{name}' "
                    "is {found}")
INCONSISTENT_ELEMENTS = Message("CM4041", "error",
                                "inconsistent cooperative matrix element types: {left} '{left_type}' and "
                                "{right} '{right_type}', but {rule}")
INCOMPATIBLE_SHAPES = Message("CM4042", "error",
                              "mismatch of cooperative matrix row or column: {left} {left_shape} and "
                              "{right} {right_shape}, but {rule}")
INCONSISTENT_USE = Message("CM4043", "error",
                           "inconsistent cooperative matrix use type: expected '{expected}', found '{found}'")
OPERANDS_TYPE = Message("CM4044", "error",
                        "fourth argument of '{name}' must have enum type 'coop_matrix_operands_t', "
                        "but has type '{type}'")
OPERANDS_NOT_CONSTANT = Message("CM4045", "error", "fourth argument of '{name}' must be a constant expression")
INVALID_OPERANDS = Message("CM4046", "error",
                           "fourth argument of '{name}' has bits without a meaning: {value:#x}; "
                           "expected a combination of the CLK_COOPERATIVE_MATRIX_OPERAND constants (at most 0x1f)")
FLAG_ON_FLOAT = Message("CM4047", "warning",
                        "{flag} has no meaning for a matrix of '{element}' and is ignored", "coop-mat-operands")
SIGNED_AS_UNSIGNED = Message("CM4048", "warning",
                             "signed elements of {matrices} are used as unsigned; give {flags} to use them as signed",
                             "coop-mat-operands")
UNSIGNED_AS_SIGNED = Message("CM4056", "warning",
                             "unsigned elements of {matrices} are used as signed, because of {flags}",
                             "coop-mat-operands")
RESULT_MISMATCH = Message("CM4049", "error",
                          "incompatible cooperative matrix types: the result of '{name}' is an accumulator of "
                          "{shape} {kind} elements, but is assigned to '{target}'")

# ------------------------------------------------------------------ CM405x: operators and assignment

UNSUPPORTED_BINARY = Message("CM4050", "error",
                             "unsupported cooperative matrix binary operator '{operator}'; "
                             "matrices have + - * and /")
UNSUPPORTED_SCALAR = Message("CM4051", "error",
                             "unsupported cooperative matrix scalar operator '{operator}' ('{left}' and '{right}'); "
                             "a matrix and a scalar have * only; coop_mat_init makes a matrix of a scalar")
UNSUPPORTED_UNARY = Message("CM4052", "error",
                            "unsupported cooperative matrix unary operator '{operator}'; a matrix has - only")
INVALID_OPERANDS_OF_BINARY = Message("CM4053", "error",
                                     "invalid operands to binary expression ('{left}' and '{right}'); "
                                     "a matrix combines with a matrix of its own type, or with a scalar by *")
CONVERT_MISMATCH = Message("CM4054", "error",
                           "incompatible cooperative matrix types: '{name}' keeps the shape, which '{source}' and "
                           "'{target}' do not share")
TRANSPOSE_MISMATCH = Message("CM4055", "error",
                             "incompatible cooperative matrix types: '{name}' makes {shape} elements of '{source}', "
                             "not '{target}'")

# ------------------------------------------------------------------ CM406x: functions of elements, reductions

NO_ENUMERANT = Message("CM4060", "error",
                       "argument {index} of '{name}' must be {expected}; found {found}")
NOT_A_FUNCTION_NAME = Message("CM4061", "error", "second argument of '{name}' must be the name of a function")
CONVERTS_ELEMENTS = Message("CM4066", "error",
                            "'{name}' changes the type of elements, which '{apply}' keeps; coop_mat_convert converts a "
                            "matrix, a function of the program can convert back and forth")
NOT_APPLICABLE = Message("CM4062", "error",
                         "'{name}' cannot be applied to the elements of a cooperative matrix: it must take arguments "
                         "of type ({types}), or two integers, row and column, before them, and return a number")
APPLIED_ARGUMENT = Message("CM4063", "error",
                           "argument {index} of '{name}' cannot be passed to a function of elements: expected a "
                           "scalar, a vector, a pointer to other than private memory, or a matrix of the first one's "
                           "type; found '{type}'")
APPLIED_EFFECT = Message("CM4064", "error",
                         "'{name}' cannot be applied to the elements of a cooperative matrix: it {effect}, and would "
                         "be called in any order, and perhaps more than once for an element")
NO_ELEMENT_FUNCTION = Message("CM4065", "error",
                              "no function '{name}' of scalars makes a '{element}', an element, of those of ({types})")
