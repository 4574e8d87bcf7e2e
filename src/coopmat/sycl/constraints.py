"""What the extension demands of types and calls: one message for each constraint (CM61xx).

A broken constraint is a :class:`BrokenConstraint` on the host; in a kernel the compiler makes it an error at the
user's line.
"""

from __future__ import annotations

from typing import Any

from coopmat.diagnostics import Error, Message, errc

# ------------------------------------------------------------------ CM610x: the joint_matrix type

GROUP = Message("CM6101", "error",
                "the Group of a joint_matrix must be sub_group, or work_group, which is not in the extension; "
                "found {found}")
ELEMENT_TYPE = Message("CM6102", "error",
                       "invalid element type {found} of a joint_matrix; expected one of {expected}")
USE = Message("CM6103", "error", "the Use of a joint_matrix must be use.a, use.b or use.accumulator; found {found}")
SHAPE = Message("CM6104", "error",
                "the number of {what} of a joint_matrix must be a positive integer known when the kernel is compiled; "
                "found {found}")
WORK_GROUP_SHAPE = Message("CM6138", "error",
                           "the number of {what} of a joint_matrix that a work_group shares must be a multiple of "
                           "{multiple}; found {found}")
NEEDS_WORK_GROUP_SIZE = Message("CM6140", "error",
                                "kernel '{name}' must require a work-group size, as it has a joint_matrix that a "
                                "work_group shares: @kernel(work_group_size=(…)), such as (1, 256)")
TOO_LARGE = Message("CM6105", "error",
                    "a joint_matrix of {rows} rows and {columns} columns is too large: at most {limit} elements")
LAYOUT_KIND = Message("CM6106", "error",
                      "the Layout of a joint_matrix must be layout.row_major, layout.col_major, "
                      "layout.ext_intel_packed or layout.dynamic; found {found}")
LAYOUT_MISSING = Message("CM6107", "error",
                         "a joint_matrix of {use} has no default Layout: specify layout.row_major or layout.col_major")
LAYOUT_DYNAMIC = Message("CM6108", "error",
                         "the Layout of a joint_matrix of {use} must be layout.row_major or layout.col_major, "
                         "not layout.dynamic")
LAYOUT_OF_ACCUMULATOR = Message("CM6109", "error",
                                "the Layout of a joint_matrix of use.accumulator must be layout.dynamic, not {found}: "
                                "leave it out, and give the layout to joint_matrix_load and joint_matrix_store")
LAYOUT_PACKED = Message("CM6100", "error",
                        "the Layout layout.ext_intel_packed is for use.a, and for matrices of use.b whose rows fill "
                        "words of 32 bits, such as 16 rows of half or 32 of int8; found {rows} rows of {element}")

# ------------------------------------------------------------------ CM619x: matrix_params

PARAMS_ARCHITECTURE = Message("CM6190", "error", "matrix_params: {reason}")
PARAMS_TYPE = Message("CM6191", "error",
                      "matrix_params: {argument} must be an element type, one of {expected}; found {found}")
PARAMS_SIZE = Message("CM6192", "error", "matrix_params: {dimension} must be a positive integer; found {found}")
PARAMS_SOME_SIZES = Message("CM6193", "error",
                            "matrix_params takes all of the sizes M, N and K, to validate them, or none, for the "
                            "default ones; found {found}")
PARAMS_UNSUPPORTED = Message("CM6194", "error", "matrix_params: {reason}")
PARAMS_NO_DEFAULT = Message("CM6195", "error",
                            "matrix_params: {architecture} takes matrices of every size and has no default ones: "
                            "give M, N and K")


class BrokenConstraint(Error):
    """Something that the extension does not allow; ``message`` is the row, ``values`` what fills it in. Where C++ does
    not compile, the code is ``build``."""

    _code = errc.build

    def __init__(self, message: Message, **values: Any) -> None:
        self.message = message
        self.values = values
        super().__init__(f"{message.template.format(**values)} [{message.code}]")


# ------------------------------------------------------------------ CM611x: operations on matrices

NOT_A_MATRIX = Message("CM6110", "error", "{name}: '{parameter}' must be a joint_matrix{kind}; found {found}")
NOT_A_GROUP = Message("CM6111", "error",
                      "{name}: the group must be the sub_group that item.get_sub_group() returns, or the group that "
                      "item.get_group() returns; found {found}")
NOT_ITS_GROUP = Message("CM6139", "error",
                        "{name}: the group must be the one that shares the matrix, {expected}; found {found}, and "
                        "{matrix}")
NOT_A_POINTER = Message("CM6112", "error",
                        "{name}: '{parameter}' must be a pointer (multi_ptr or annotated_ptr); found {found}")
ELEMENT_MISMATCH = Message("CM6113", "error",
                           "{name}: the pointer must be to the element type of the matrix, {expected}; the matrix has "
                           "{element}, and the pointer is a {found}")
NEEDS_LAYOUT = Message("CM6114", "error",
                       "{name}: a joint_matrix of use.accumulator has layout.dynamic, so the call must say "
                       "layout.row_major or layout.col_major after the stride")
HAS_LAYOUT = Message("CM6115", "error",
                     "{name}: the layout of this matrix is part of its type ({layout}); leave the argument out")
MEMORY_LAYOUT = Message("CM6116", "error",
                        "{name}: the layout in memory must be layout.row_major or layout.col_major; found {found}")
STRIDE = Message("CM6117", "error", "{name}: the stride must be {expected} number of elements; found {found}")
STORE_ACCUMULATOR = Message("CM6118", "error",
                            "joint_matrix_store with a layout is for matrices of use.accumulator; this one is a "
                            "{found}, which is stored without one, with the layout of its type")
CONST_DESTINATION = Message("CM6119", "error", "{name}: nothing can be stored through a {found}")
MAD_USE = Message("CM6120", "error", "joint_matrix_mad: {role} must have {expected}; found a {found}")
MAD_SHAPE = Message("CM6121", "error",
                    "joint_matrix_mad: D is M x N, A is M x K, B is K x N and C is M x N; found D {d}, A {a}, B {b}, "
                    "C {c}: {rule}")
MAD_TYPES = Message("CM6122", "error",
                    "joint_matrix_mad: the element types must be all integers or all floating-point numbers, and those "
                    "of A and B both precision.tf32 or neither; found A {a}, B {b}, C {c}, D {d}")
FILL_VALUE = Message("CM6123", "error",
                     "{name}: the value must be convertible to the element type {element}; found {found}")
COPY_SHAPE = Message("CM6124", "error",
                     "joint_matrix_copy: the matrices must have the same shape; found {source} and {target}")
APPLY_CALLABLE = Message("CM6125", "error",
                         "joint_matrix_apply: the last argument must be a function that can be called with {expected}; "
                         "found {found}")
APPLY_SHAPE = Message("CM6126", "error",
                      "joint_matrix_apply: two matrices must have the same use and shape; found {first} and {second}")
PREFETCH_SHAPE = Message("CM6127", "error",
                         "joint_matrix_prefetch needs its shape in square brackets, two positive integers known when "
                         "the kernel is compiled: joint_matrix_prefetch[Rows, Cols](…); found {found}")
PREFETCH_PROPERTIES = Message("CM6128", "error",
                              "joint_matrix_prefetch: expected properties(prefetch_hint_L1), _L2, _L3 or _L4; found "
                              "{found}")
CHECKED_SIZE = Message("CM6129", "error", "{name}: '{parameter}' must be an integer; found {found}")
ABSTRACT_VALUE = Message("CM6130", "error",
                         "{type} is the element type of a joint_matrix; variables and memory have its storage type "
                         "{storage}")
MATRICES_DIFFER = Message("CM6131", "error",
                          "{name}: matrices that are combined element by element must have one type; found {first} and "
                          "{second}")
NO_ELEMENT = Message("CM6132", "error",
                     "{name}: what it gives for an element of a joint_matrix must be a number of the same kind as its "
                     "elements, {element}; found {found}")
REDUCE_USE = Message("CM6134", "error", "joint_matrix_reduce: 'm' must be an accumulator; found {found}")
REDUCE_AXIS = Message("CM6135", "error",
                      "joint_matrix_reduce: the axis must be 'row', 'column' or 'all', known when the kernel is "
                      "compiled; found {found}")
REDUCE_OPERATION = Message("CM6136", "error",
                           "joint_matrix_reduce: the operation must be 'add', 'min', 'max' or 'mul' (or plus(), "
                           "minimum(), maximum(), multiplies()); found {found}")
REDUCE_SIZE = Message("CM6133", "error",
                      "joint_matrix_reduce: a size is that of the result along the axis, 'row' or 'column'; all "
                      "elements together give a matrix of m's type")
TRANSPOSE_SHAPE = Message("CM6137", "error",
                          "joint_matrix_transpose: dest must have the shape of src with rows and columns exchanged; "
                          "found {source} and {target}")
