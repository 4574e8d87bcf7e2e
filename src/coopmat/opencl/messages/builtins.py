"""Messages about calls of built-in functions (CM37xx)."""

from __future__ import annotations

from coopmat.diagnostics import Message

NO_MATCH = Message("CM3701", "error", "no matching function for call to '{name}' with arguments of type ({types})")
AMBIGUOUS = Message("CM3702", "error", "call to '{name}' with arguments of type ({types}) is ambiguous; "
                                       "cast the arguments to the types that are meant")
TOO_FEW = Message("CM3703", "error", "too few arguments to '{name}': expected {expected}, have {found}")
TOO_MANY = Message("CM3704", "error", "too many arguments to '{name}': expected {expected}, have {found}")
WRONG_ADDRESS_SPACE = Message("CM3705", "error", "argument {index} of '{name}' points to the {found} address space; "
                                                 "expected a pointer to {expected}{advice}")
DISCARDS_QUALIFIER = Message("CM3706", "error", "argument {index} of '{name}' is a pointer to '{found}', "
                                                "{reason}; expected a pointer to '{expected}'")
NOT_CONSTANT = Message("CM3707", "error", "{what} argument of '{name}' must be an integer constant expression")
INVALID_ENUM_VALUE = Message("CM3708", "error", "{value} is not a value of '{what}'")
INVALID_ORDER = Message("CM3709", "error", "this memory order is not allowed for '{name}'; expected one of {allowed}")
INVALID_FENCE = Message("CM3710", "error", "{value} is not a combination of CLK_LOCAL_MEM_FENCE (1), "
                                           "CLK_GLOBAL_MEM_FENCE (2) and CLK_IMAGE_MEM_FENCE (4)")
NOT_AT_FILE_SCOPE = Message("CM3711", "error", "'{name}' cannot be called outside of a function")
UNSUPPORTED = Message("CM3712", "error", "built-in function '{name}' is not supported; {advice}")
MISSING_EXTENSION = Message("CM3713", "error", "built-in function '{name}' needs {extension}, which the device "
                                               "does not have")
WRONG_DEVICE = Message("CM3714", "error", "'{name}' with these types works on sub-groups of {needed}; {device} has it "
                                          "for sub-groups of {available} only")
WRONG_SUB_GROUP_SIZE = Message("CM3715", "error", "'{name}' with these types works on sub-groups of {needed}, but "
                                                  "kernel '{kernel}' requires {found}")
NO_SUB_GROUP_SIZE = Message("CM3716", "warning", "'{name}' with these types works on sub-groups of {needed}, but "
                                                 "kernel '{kernel}' requires no size; add "
                                                 "__attribute__((intel_reqd_sub_group_size({needed})))",
                            "sub-group-size")
MISSING_ADDRESS = Message("CM3777", "error", "argument {index} of '{name}' must be a pointer to '{type}'; take the "
                                             "address with &")
INVALID_CLUSTER = Message("CM3717", "error", "the cluster size of '{name}' must be a power of two, found {value}")

# ------------------------------------------------------------------ CM374x: the compiler's own functions

ASSUMPTION_DROPPED = Message("CM3740", "warning",
                             "the argument to '__builtin_assume' has side effects that will be discarded", "assume")
ASSUMED_ALIGNMENT = Message("CM3741", "error", "requested alignment {found} is not a power of 2")
NOT_A_POINTER = Message("CM3742", "error", "'{name}' takes a pointer, found '{type}'")
PROBABILITY = Message("CM3743", "error", "the probability of '__builtin_expect_with_probability' must be a constant in "
                                         "the range [0.0, 1.0]")
NOT_A_STRING = Message("CM3744", "error", "'{name}' takes a string literal")
NOT_VECTORS = Message("CM3745", "error", "first two arguments to '{name}' must be vectors")
VECTORS_DIFFER = Message("CM3746", "error", "first two arguments to '{name}' must have the same type, found '{left}' "
                                            "and '{right}'")
SHUFFLE_INDEX = Message("CM3747", "error", "index {index} for __builtin_shufflevector must be -1 or less than the "
                                           "total number of vector elements ({count})")
SHUFFLE_COUNT = Message("CM3748", "error", "__builtin_shufflevector with {count} indices gives no vector of OpenCL C; "
                                           "expected 2, 3, 4, 8 or 16 indices")
OFFSET_OF_NO_RECORD = Message("CM3749", "error", "offsetof requires struct or union, '{type}' invalid")
OFFSET_OF_ELEMENT = Message("CM3778", "error", "offsetof requires array type, '{type}' invalid")
UNSUPPORTED_COMPILER_BUILTIN = Message("CM3779", "error", "the compiler's built-in function '{name}' is not supported")
