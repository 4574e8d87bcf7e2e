"""Messages about overloadable functions (CM312x). The wording follows clang's where clang has the message."""

from __future__ import annotations

from coopmat.diagnostics import Message

NO_MATCH = Message("CM3120", "error", "no matching function for call to '{name}' with arguments of type ({types})")
AMBIGUOUS = Message("CM3121", "error", "call to '{name}' with arguments of type ({types}) is ambiguous; "
                                       "cast the arguments to the types that are meant")
MISSING_ATTRIBUTE = Message("CM3122", "error", "redeclaration of '{name}' must have the 'overloadable' attribute")
EXTRA_ATTRIBUTE = Message("CM3123", "error", "redeclaration of '{name}' must not have the 'overloadable' attribute")
SECOND_UNMARKED = Message("CM3124", "error",
                          "at most one overload for a given name may lack the 'overloadable' attribute")
RESULT_DIFFERS = Message("CM3125", "error",
                         "conflicting types for '{name}': overloads must differ in their parameters, not only in "
                         "the result ('{found}' and '{previous}')")
ONLY_FUNCTIONS = Message("CM3126", "error", "'overloadable' attribute only applies to functions")
TAKES_NO_ARGUMENTS = Message("CM3127", "error", "'overloadable' attribute takes no arguments")
SECOND_KERNEL = Message("CM3128", "error",
                        "kernel '{name}' cannot be overloaded with another kernel; the host finds kernels by their "
                        "names")
OVERLOADABLE_KERNEL = Message("CM3129", "warning",
                              "kernel '{name}' is overloadable: here the host finds it as '{name}', with other "
                              "compilers by a mangled name; leave the attribute out", "overloadable-kernel")
