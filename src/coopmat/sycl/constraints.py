"""What the extension demands of types and calls: one message for each constraint (CM61xx).

A broken constraint is a :class:`BrokenConstraint` on the host; in a kernel the compiler makes it an error at the
user's line.
"""

from __future__ import annotations

from typing import Any

from coopmat.diagnostics import Error, Message

# ------------------------------------------------------------------ CM610x: the joint_matrix type

GROUP = Message("CM6101", "error",
                "the Group of a joint_matrix must be sub_group, the only scope that the extension supports; "
                "found {found}")
ELEMENT_TYPE = Message("CM6102", "error",
                       "invalid element type {found} of a joint_matrix; expected one of {expected}")
USE = Message("CM6103", "error", "the Use of a joint_matrix must be use.a, use.b or use.accumulator; found {found}")
SHAPE = Message("CM6104", "error",
                "the number of {what} of a joint_matrix must be a positive integer known when the kernel is compiled; "
                "found {found}")
TOO_LARGE = Message("CM6105", "error",
                    "a joint_matrix of {rows} rows and {columns} columns is too large: at most {limit} elements")
LAYOUT_KIND = Message("CM6106", "error",
                      "the Layout of a joint_matrix must be layout.row_major, layout.col_major or layout.dynamic; "
                      "found {found}")
LAYOUT_MISSING = Message("CM6107", "error",
                         "a joint_matrix of {use} has no default Layout: specify layout.row_major or layout.col_major")
LAYOUT_DYNAMIC = Message("CM6108", "error",
                         "the Layout of a joint_matrix of {use} must be layout.row_major or layout.col_major, "
                         "not layout.dynamic")
LAYOUT_OF_ACCUMULATOR = Message("CM6109", "error",
                                "the Layout of a joint_matrix of use.accumulator must be layout.dynamic, not {found}: "
                                "leave it out, and give the layout to joint_matrix_load and joint_matrix_store")

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
    """Something that the extension does not allow; ``message`` is the row, ``values`` what fills it in."""

    def __init__(self, message: Message, **values: Any) -> None:
        self.message = message
        self.values = values
        super().__init__(f"{message.template.format(**values)} [{message.code}]")
