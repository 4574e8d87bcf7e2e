"""Warnings about programs that are allowed and rarely meant (CM39xx). Wording, names and defaults are clang's."""

from __future__ import annotations

from coopmat.diagnostics import Message


def _on(code: str, template: str, option: str) -> Message:
    """A warning that is shown unless it is turned off."""
    return Message(code, "warning", template, option)


def _off(code: str, template: str, option: str) -> Message:
    """A warning that is shown only if it, or a group that it is in, is turned on."""
    return Message(code, "warning", template, option, is_on=False)


# ------------------------------------------------------------------ conditions and precedence

ASSIGNMENT_AS_CONDITION = _on("CM3901", "using the result of an assignment as a condition without parentheses",
                              "parentheses")
EXTRA_PARENTHESES = _on("CM3902", "equality comparison with extraneous parentheses", "parentheses-equality")
NOT_OF_LEFT_SIDE = _on("CM3903", "logical not is only applied to the left hand side of this {what}",
                       "logical-not-parentheses")
COMPARISON_FIRST = _on("CM3904", "{outer} has lower precedence than {inner}; {inner} will be evaluated first",
                       "parentheses")
AND_WITHIN_OR = _off("CM3905", "'&&' within '||'", "logical-op-parentheses")
BITWISE_WITHIN = _off("CM3906", "'{inner}' within '{outer}'", "bitwise-op-parentheses")
SUM_IN_SHIFT = _on("CM3907", "operator '{outer}' has lower precedence than '{inner}'; '{inner}' will be evaluated "
                             "first", "shift-op-parentheses")
SUM_AS_CONDITION = _on("CM3908", "operator '?:' has lower precedence than '{inner}'; '{inner}' will be evaluated "
                                 "first", "parentheses")
SHIFT_AS_CONDITION = _off("CM3950", "converting the result of '<<' to a boolean; compare it with 0 if that is meant",
                          "int-in-bool-context")
ADDRESS_AS_CONDITION = _on("CM3947", "address of {what} will always evaluate to 'true'", "pointer-bool-conversion")
CONSTANT_LOGICAL_OPERAND = _on("CM3917", "use of logical '{operator}' with constant operand",
                               "constant-logical-operand")
SIZE_OF_POINTER = _on("CM3948", "'sizeof ({name})' will return the size of the pointer, not the array itself",
                      "sizeof-pointer-div")

# ------------------------------------------------------------------ comparisons that are decided

SELF_COMPARISON = _on("CM3913", "self-comparison always evaluates to {result}", "tautological-compare")
OUT_OF_RANGE_COMPARISON = _on("CM3914", "result of comparison of constant {constant} with {what} is always {result}",
                              "tautological-constant-out-of-range-compare")
BOOLEAN_COMPARISON = _on("CM3949", "result of comparison of constant {constant} with {what} is always {result}",
                         "tautological-constant-compare")
UNSIGNED_WITH_ZERO = _off("CM3915", "result of comparison of unsigned expression {comparison} is always {result}",
                          "tautological-unsigned-zero-compare")
SIGN_COMPARE = _off("CM3916", "comparison of integers of different signs: '{left}' and '{right}'", "sign-compare")
SELF_ASSIGNMENT = _off("CM3912", "explicitly assigning value of variable of type '{type}' to itself", "self-assign")

# ------------------------------------------------------------------ statements

DANGLING_ELSE = _on("CM3909", "add explicit braces to avoid dangling else", "dangling-else")
EMPTY_BODY = _on("CM3910", "{keyword} {what} has empty body", "empty-body")
MISLEADING_INDENTATION = _off("CM3911", "misleading indentation; statement is not part of the previous '{keyword}'",
                              "misleading-indentation")
UNHANDLED_ENUMERATORS = _on("CM3931", "{what}", "switch")
NOT_IN_ENUMERATION = _on("CM3958", "case value not in enumerated type '{type}'", "switch")
SWITCH_OVER_BOOLEAN = _on("CM3955", "switch condition has boolean value", "switch-bool")
FALLTHROUGH = _off("CM3932", "unannotated fall-through between switch labels", "implicit-fallthrough")
UNCHANGED_LOOP_VARIABLES = _off("CM3933", "variable{plural} {names} used in loop condition not modified in loop body",
                                "for-loop-analysis")

# ------------------------------------------------------------------ what is not used

UNUSED_VALUE = _on("CM3918", "expression result unused", "unused-value")
UNUSED_COMPARISON = _on("CM3919", "{kind} comparison result unused", "unused-comparison")
UNUSED_CALL = _on("CM3920", "ignoring the result of a function that does nothing else", "unused-value")
USELESS_LEFT_OPERAND = _on("CM3956", "left operand of comma operator has no effect", "unused-value")
UNUSED_VARIABLE = _off("CM3921", "unused variable '{name}'", "unused-variable")
SET_VARIABLE = _off("CM3922", "variable '{name}' set but not used", "unused-but-set-variable")
UNUSED_PARAMETER = _off("CM3923", "unused parameter '{name}'", "unused-parameter")
SET_PARAMETER = _off("CM3957", "parameter '{name}' set but not used", "unused-but-set-parameter")
UNUSED_FUNCTION = _off("CM3924", "unused function '{name}'", "unused-function")
UNUSED_LABEL = _off("CM3925", "unused label '{name}'", "unused-label")
UNUSED_TYPEDEF = _off("CM3926", "unused typedef '{name}'", "unused-local-typedef")
SHADOW = _off("CM3930", "declaration shadows a {what}", "shadow")

# ------------------------------------------------------------------ values

UNINITIALIZED = _off("CM3927", "variable '{name}' is uninitialized when used here", "uninitialized")
SOMETIMES_UNINITIALIZED = _off("CM3928", "variable '{name}' is used uninitialized whenever {when}",
                               "sometimes-uninitialized")
OWN_INITIALIZER = _off("CM3929", "variable '{name}' is uninitialized when used within its own initialization",
                       "uninitialized")
SEVERAL_MODIFICATIONS = _on("CM3934", "multiple unsequenced modifications to '{name}'", "unsequenced")
MODIFICATION_AND_ACCESS = _on("CM3935", "unsequenced modification and access to '{name}'", "unsequenced")
INTEGER_OVERFLOW = _on("CM3939", "overflow in expression; result is {value} with type '{type}'", "integer-overflow")
MISSING_BRACES = _off("CM3936", "suggest braces around initialization of subobject", "missing-braces")
MISSING_FIELD = _off("CM3937", "missing field '{name}' initializer", "missing-field-initializers")
OVERRIDDEN_INITIALIZER = _on("CM3938", "initializer overrides prior initialization of this subobject",
                             "initializer-overrides")

# ------------------------------------------------------------------ implicit conversions

LOSES_BITS = _off("CM3940", "implicit conversion loses integer precision: '{source}' to '{target}'",
                  "implicit-int-conversion")
LONG_TO_INT = _off("CM3941", "implicit conversion loses integer precision: '{source}' to '{target}'",
                   "shorten-64-to-32")
CHANGES_SIGN = _off("CM3942", "implicit conversion changes signedness: '{source}' to '{target}'", "sign-conversion")
FLOAT_TO_INTEGER = _off("CM3943", "implicit conversion turns floating-point number into integer: '{source}' to "
                                  "'{target}'", "float-conversion")
LOSES_PRECISION = _off("CM3944", "implicit conversion loses floating-point precision: '{source}' to '{target}'",
                       "implicit-float-conversion")
INTEGER_MAY_LOSE_PRECISION = _off("CM3945", "implicit conversion from '{source}' to '{target}' may lose precision",
                                  "implicit-int-float-conversion")
DOUBLE_PROMOTION = _off("CM3946", "implicit conversion increases floating-point precision: '{source}' to '{target}'",
                        "double-promotion")
