"""Messages of the lexer and of literals (CM10xx), and of the preprocessor (CM11xx)."""

from __future__ import annotations

from coopmat.diagnostics import Message

# ------------------------------------------------------------------ CM10xx: characters and tokens

SOURCE_TOO_LARGE = Message("CM1001", "error",
                           "source has {size} characters; at most {limit} are supported")
UNTERMINATED_COMMENT = Message("CM1002", "error", "unterminated /* comment; expected '*/'")
UNEXPECTED_CHARACTER = Message("CM1003", "error", "unexpected character {character}")
UNTERMINATED_LITERAL = Message("CM1004", "error",
                               "missing terminating {quote} character before the end of the line")
SPACE_AFTER_BACKSLASH = Message("CM1005", "warning",
                                "backslash and line end are separated by space; the lines are joined",
                                "backslash-newline-escape")
INVALID_IDENTIFIER = Message("CM1006", "error", "'{text}' is not a valid identifier")
IDENTIFIER_TOO_LONG = Message("CM1007", "error",
                              "an identifier of {length} characters is too long; at most {limit} are supported")

# ------------------------------------------------------------------ CM10xx: numbers

INVALID_INTEGER_SUFFIX = Message("CM1010", "error",
                                 "invalid suffix '{suffix}' on integer constant; "
                                 "expected one of u, l, ul")
LONG_LONG_SUFFIX = Message("CM1011", "warning",
                           "suffix '{suffix}' means long long, which OpenCL C reserves; "
                           "the constant is read as '{type_name}' (64 bits)",
                           "long-long")
INVALID_DIGIT = Message("CM1012", "error", "invalid digit '{digit}' in {base} constant")
MISSING_DIGITS = Message("CM1013", "error", "{base} constant '{text}' has no digits")
INTEGER_TOO_LARGE = Message("CM1014", "error",
                            "integer constant {token} is too large: it does not fit in 64 bits")
INTEGER_BECOMES_UNSIGNED = Message("CM1015", "warning",
                                   "integer constant {token} is too large for 'long'; it is read as 'ulong'",
                                   "implicitly-unsigned-literal")
INVALID_FLOATING_SUFFIX = Message("CM1016", "error",
                                  "invalid suffix '{suffix}' on floating constant; "
                                  "expected f (float), h (half) or none (double)")
MISSING_EXPONENT = Message("CM1017", "error", "exponent of floating constant '{text}' has no digits")
HEXADECIMAL_NEEDS_EXPONENT = Message("CM1018", "error",
                                     "hexadecimal floating constant '{text}' requires an exponent "
                                     "(such as p0)")
FLOATING_TOO_LARGE = Message("CM1019", "warning",
                             "magnitude of floating constant {token} is too large for '{type_name}'; "
                             "it becomes infinity (the maximum is {limit})",
                             "literal-range")
FLOATING_TOO_SMALL = Message("CM1020", "warning",
                             "magnitude of floating constant {token} is too small for '{type_name}'; "
                             "it becomes zero (the minimum is {limit})",
                             "literal-range")

# ------------------------------------------------------------------ CM10xx: characters and strings

EMPTY_CHARACTER = Message("CM1030", "error", "empty character constant")
MULTIPLE_CHARACTERS = Message("CM1031", "warning",
                              "character constant has more than one character", "multichar")
CHARACTERS_TOO_LONG = Message("CM1032", "error",
                              "character constant is too long; at most 4 characters fit in an int")
CHARACTER_TOO_LARGE = Message("CM1033", "error",
                              "character '{character}' does not fit in a char (8 bits)")
UNKNOWN_ESCAPE = Message("CM1034", "warning",
                         "unknown escape sequence '\\{escape}'; it means '{escape}'",
                         "unknown-escape-sequence")
EMPTY_ESCAPE = Message("CM1035", "error", "'{escape}' is used with no following hexadecimal digits")
ESCAPE_OUT_OF_RANGE = Message("CM1036", "error", "escape sequence '{escape}' does not fit in 8 bits")
INVALID_UNIVERSAL_CHARACTER = Message("CM1037", "error",
                                      "'{escape}' is not a valid universal character name")
UNENCODABLE_STRING = Message("CM1038", "error", "string literal has text that UTF-8 cannot encode")

# ------------------------------------------------------------------ CM11xx: directives

UNKNOWN_DIRECTIVE = Message("CM1101", "error", "invalid preprocessing directive '#{name}'{hint}")
EXTRA_TOKENS = Message("CM1102", "warning", "extra tokens at end of #{name} directive", "extra-tokens")
USER_ERROR = Message("CM1103", "error", "#error{text}")
USER_WARNING = Message("CM1104", "warning", "#warning{text}", "#warnings")
INVALID_LINE_NUMBER = Message("CM1105", "error",
                              "#line requires a line number from 1 to 2147483647, found '{text}'")
INVALID_LINE_NAME = Message("CM1106", "error", "invalid file name '{text}' for #line; expected a string")
DIRECTIVE_IN_ARGUMENTS = Message("CM1107", "error", "#{name} is not supported within macro arguments")

# ------------------------------------------------------------------ CM11xx: conditions

UNTERMINATED_CONDITIONAL = Message("CM1110", "error", "unterminated conditional directive; expected #endif")
WITHOUT_IF = Message("CM1111", "error", "#{name} without #if")
AFTER_ELSE = Message("CM1112", "error", "#{name} after #else")
EMPTY_CONDITION = Message("CM1113", "error", "#{name} has no expression")
EXPECTED_OPERAND = Message("CM1114", "error",
                           "expected a value in preprocessor expression, found {found}")
EXPECTED_IN_CONDITION = Message("CM1115", "error",
                                "expected {expected} in preprocessor expression, found {found}")
FLOATING_IN_CONDITION = Message("CM1116", "error",
                                "floating constant {token} in preprocessor expression; "
                                "only integers are allowed")
STRING_IN_CONDITION = Message("CM1117", "error",
                              "string literal in preprocessor expression; only integers are allowed")
UNDEFINED_FUNCTION_MACRO = Message("CM1118", "error", "function-like macro '{name}' is not defined")
DIVISION_BY_ZERO = Message("CM1119", "error", "division by zero in preprocessor expression")
CONDITION_OVERFLOW = Message("CM1120", "warning", "integer overflow in preprocessor expression",
                             "integer-overflow")
CONDITION_TOO_DEEP = Message("CM1121", "error",
                             "preprocessor expression is nested too deeply (limit {limit})")
EXPECTED_MACRO_NAME = Message("CM1122", "error", "#{name} requires a macro name, found {found}")
OPERATOR_SYNTAX = Message("CM1123", "error", "expected {expected} after '{name}', found {found}")
NEGATIVE_TO_UNSIGNED = Message("CM1124", "warning",
                               "operand {value} of '{operator}' is converted to unsigned",
                               "sign-compare")

# ------------------------------------------------------------------ CM11xx: #include

EXPECTED_FILE_NAME = Message("CM1130", "error",
                             "#{name} requires \"file\" or <file>, found {found}")
FILE_NOT_FOUND = Message("CM1131", "error", "'{file}' file not found{searched}")
FILE_NOT_READABLE = Message("CM1132", "error", "cannot read '{file}': {reason}")
INCLUDE_TOO_DEEP = Message("CM1133", "error", "#include is nested too deeply (limit {limit} files)")
EMPTY_FILE_NAME = Message("CM1134", "error", "empty file name in #{name}")

# ------------------------------------------------------------------ CM11xx: macro definitions

RESERVED_MACRO_NAME = Message("CM1140", "error", "'{name}' cannot be used as a macro name")
EXPECTED_PARAMETER = Message("CM1141", "error",
                             "expected a parameter name in the macro's parameter list, found {found}")
EXPECTED_COMMA = Message("CM1142", "error",
                         "expected ',' or ')' in the macro's parameter list, found {found}")
DUPLICATE_PARAMETER = Message("CM1143", "error", "duplicate macro parameter name '{name}'")
NOTHING_AFTER_VARIADIC = Message("CM1144", "error", "expected ')' after '...' in the macro's parameter list")
MISSING_SPACE_AFTER_NAME = Message("CM1145", "warning", "whitespace is required after the macro name",
                                   "c99-compat")
HASH_WITHOUT_PARAMETER = Message("CM1146", "error", "'#' is not followed by a macro parameter")
PASTE_AT_END = Message("CM1147", "error", "'##' cannot be at the {end} of a macro's replacement")
MISPLACED_VA_ARGS = Message("CM1148", "error",
                            "__VA_ARGS__ can only be used in the replacement of a variadic macro")
MACRO_REDEFINED = Message("CM1149", "warning", "'{name}' macro redefined", "macro-redefined")
BUILTIN_REDEFINED = Message("CM1150", "warning", "{action} built-in macro '{name}'",
                            "builtin-macro-redefined")

# ------------------------------------------------------------------ CM11xx: macro expansion

UNTERMINATED_CALL = Message("CM1160", "error",
                            "unterminated call of macro '{name}'; expected ')' before the end of the {end}")
WRONG_ARGUMENT_COUNT = Message("CM1161", "error",
                               "macro '{name}' requires {expected} argument{plural}, but {found} given")
INVALID_PASTE = Message("CM1162", "error",
                        "pasting formed '{text}', an invalid preprocessing token")
STRAY_BACKSLASH_IN_STRING = Message("CM1163", "warning",
                                    "'#' made an invalid string literal; the final '\\' is dropped",
                                    "invalid-pp-token")
EXPANSION_TOO_LARGE = Message("CM1164", "error",
                              "preprocessing makes more than {limit} tokens; "
                              "is a macro or an #include expanding without end?")
EXPANSION_TOO_DEEP = Message("CM1165", "error", "macro calls are nested too deeply (limit {limit})")

# ------------------------------------------------------------------ CM11xx: pragmas and options

UNKNOWN_PRAGMA = Message("CM1170", "warning", "unknown pragma '{text}' is ignored", "unknown-pragmas")
MALFORMED_PRAGMA = Message("CM1171", "warning",
                           "malformed '#pragma {pragma}' is ignored: expected {expected}, found {found}",
                           "ignored-pragmas")
UNSUPPORTED_EXTENSION = Message("CM1172", "warning",
                                "extension '{name}' is not supported by this device; the {what} is ignored",
                                "ignored-pragmas")
INVALID_PRAGMA_OPERATOR = Message("CM1173", "error", "_Pragma takes a parenthesized string literal")
INVALID_UNROLL_COUNT = Message("CM1174", "error",
                               "#pragma unroll requires a positive integer constant, found {found}")
UNKNOWN_WARNING_OPTION = Message("CM1151", "warning", "unknown warning option '{option}'{suggestion}",
                                 "unknown-warning-option")
UNUSED_OPTION = Message("CM1152", "warning", "argument unused during compilation: '{option}'",
                        "unused-command-line-argument")
COMMENT_IN_COMMENT = Message("CM1155", "warning", "'/*' within block comment", "comment", is_on=False)
MULTILINE_COMMENT = Message("CM1156", "warning", "multi-line // comment", "comment", is_on=False)
UNDEFINED_IN_CONDITION = Message("CM1157", "warning", "'{name}' is not defined, evaluates to 0", "undef", is_on=False)
ONCE_IN_MAIN_FILE = Message("CM1158", "warning", "#pragma once in main file", "pragma-once-outside-header")
BAD_DIAGNOSTIC_PRAGMA = Message("CM1153", "warning", "pragma diagnostic expected {expected}", "unknown-pragmas")
POP_WITHOUT_PUSH = Message("CM1154", "warning", "pragma diagnostic pop could not pop, no matching push",
                           "unknown-pragmas")
PRAGMA_MESSAGE = Message("CM1176", "warning", "{text}", "#pragma-messages")
INVALID_OPTION = Message("CM1175", "error", "option -{option} '{text}': {reason}")
