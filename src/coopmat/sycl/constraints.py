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


class BrokenConstraint(Error):
    """Something that the extension does not allow; ``message`` is the row, ``values`` what fills it in."""

    def __init__(self, message: Message, **values: Any) -> None:
        self.message = message
        self.values = values
        super().__init__(f"{message.template.format(**values)} [{message.code}]")
