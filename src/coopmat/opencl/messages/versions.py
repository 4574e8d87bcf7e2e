"""Messages about what a version of OpenCL C does not have (CM395x)."""

from __future__ import annotations

from coopmat.diagnostics import Message

FUNCTION_NEEDS_VERSION = Message("CM3951", "error", "built-in function '{name}' does not exist in OpenCL C {version}; "
                                                    "compile with -cl-std={needed} or later")
QUALIFIER_NEEDS_VERSION = Message("CM3952", "error",
                                  "OpenCL C version {version} does not support the '{name}' type qualifier")
STORAGE_CLASS_NEEDS_VERSION = Message("CM3953", "error",
                                      "OpenCL C version {version} does not support the '{name}' storage class "
                                      "specifier")
STATIC_VARIABLE = Message("CM3954", "error", "variables in function scope cannot be declared static in OpenCL C "
                                             "{version}")
