"""Messages about calls of printf (CM375x, CM376x). The wording follows clang's where clang has the message."""

from __future__ import annotations

from coopmat.diagnostics import Message

ARGUMENT_TYPE = Message("CM3750", "error", "cannot pass an argument of type '{type}' to 'printf'; expected a number, "
                                           "a vector, a pointer or a string literal")
TYPE_MISMATCH = Message("CM3751", "warning", "format specifies type '{expected}' but the argument has type "
                                             "'{found}'{advice}", "format")
INSUFFICIENT_ARGUMENTS = Message("CM3752", "warning", "more '%' conversions than data arguments",
                                 "format-insufficient-args")
EXTRA_ARGUMENT = Message("CM3753", "warning", "data argument not used by format string", "format-extra-args")
INCOMPLETE = Message("CM3754", "warning", "incomplete format specifier", "format")
INVALID_LETTER = Message("CM3755", "warning", "invalid conversion specifier '{letter}'{reason}",
                         "format-invalid-specifier")
STAR = Message("CM3756", "warning", "'*' as field width or precision is not supported in OpenCL C; expected a decimal "
                                    "number", "format")
VECTOR_COUNT = Message("CM3757", "warning", "invalid vector length in format specifier; expected 2, 3, 4, 8 or 16",
                       "format")
NEEDS_LENGTH = Message("CM3758", "warning", "vector specifier without a length modifier results in undefined "
                                            "behavior{advice}", "format")
LENGTH_MODIFIER = Message("CM3759", "warning", "length modifier '{length}' results in undefined behavior or no effect "
                                               "with '{letter}' conversion specifier{advice}", "format")
FOREIGN_LENGTH = Message("CM3760", "warning", "length modifier '{length}' is not supported in OpenCL C{advice}",
                         "format")
FLAG = Message("CM3761", "warning", "flag '{flag}' results in undefined behavior with '{letter}' conversion specifier",
               "format")
IGNORED_FLAG = Message("CM3762", "warning", "flag '{flag}' is ignored when flag '{other}' is present", "format")
PRECISION = Message("CM3763", "warning", "precision used with '{letter}' conversion specifier, resulting in undefined "
                                         "behavior", "format")
EMBEDDED_ZERO = Message("CM3764", "warning", "format string contains '\\0' within the string body", "format")
NOT_A_LITERAL = Message("CM3765", "warning", "format string is not a string literal, as OpenCL C requires; its "
                                             "arguments cannot be checked", "format-nonliteral")
INSECURE = Message("CM3766", "warning", "format string is not a string literal (potentially insecure)",
                   "format-security")
STRING_ARGUMENT = Message("CM3767", "warning", "'%s' prints string literals only in OpenCL C, but the argument "
                                               "points to the {space} address space", "format")
