"""Messages of the semantic analysis (CM3xxx). The wording follows clang's where clang has the message."""

from __future__ import annotations

from coopmat.diagnostics import Message

# ------------------------------------------------------------------ CM30xx: conversions

INCOMPATIBLE = Message("CM3001", "error", "{phrase}")
INTEGER_TO_POINTER = Message("CM3002", "error", "incompatible integer to pointer conversion {phrase}")
POINTER_TO_INTEGER = Message("CM3003", "error", "incompatible pointer to integer conversion {phrase}")
INCOMPATIBLE_POINTERS = Message("CM3004", "warning", "incompatible pointer types {phrase}",
                                "incompatible-pointer-types")
CHANGES_ADDRESS_SPACE = Message("CM3005", "error", "{phrase} changes address space of pointer")
DISCARDS_QUALIFIERS = Message("CM3006", "warning", "{phrase} discards qualifiers",
                              "incompatible-pointer-types-discards-qualifiers")
POINTER_SIGN = Message("CM3007", "warning",
                       "{phrase} converts between pointers to integer types with different sign", "pointer-sign")
LITERAL_CONVERSION = Message("CM3008", "warning",
                             "implicit conversion from '{source}' to '{target}' changes value from {old} to {new}",
                             "literal-conversion")
LITERAL_OUT_OF_RANGE = Message("CM3009", "warning",
                               "implicit conversion of out of range value {value} from '{source}' to '{target}' "
                               "is undefined", "literal-conversion")
INTEGER_TO_FLOAT = Message("CM3019", "warning",
                           "implicit conversion from '{source}' to '{target}' changes value from {old} to {new}",
                           "implicit-const-int-float-conversion")
CONSTANT_CONVERSION = Message("CM3010", "warning",
                              "implicit conversion from '{source}' to '{target}' changes value from {old} to {new}",
                              "constant-conversion")
MATRIX_MISMATCH = Message("CM3011", "error",
                          "incompatible cooperative matrix types: expected '{target}', found '{source}'")
SCALAR_CONDITION = Message("CM3012", "error", "statement requires expression of scalar type ('{type}' invalid)")
CAST_CHANGES_ADDRESS_SPACE = Message("CM3013", "error",
                                     "casting '{source}' to type '{target}' changes address space of pointer")
VECTOR_CAST = Message("CM3014", "error",
                      "invalid conversion between ext-vector type '{target}' and '{source}'; "
                      "convert_{target}() converts the components, as_{target}() keeps the bits")
VECTOR_TO_SCALAR_CAST = Message("CM3015", "error",
                                "invalid conversion between vector type '{source}' and scalar type '{target}'")
BAD_CAST_OPERAND = Message("CM3016", "error", "operand of type '{type}' where arithmetic or pointer type is required")
BAD_CAST_TYPE = Message("CM3017", "error", "used type '{type}' where arithmetic or pointer type is required")
POINTER_CAST = Message("CM3018", "error", "cannot cast from type '{source}' to '{target}'")

# ------------------------------------------------------------------ CM31xx: names, calls

UNDECLARED = Message("CM3101", "error", "use of undeclared identifier '{name}'{suggestion}")
UNDECLARED_FUNCTION = Message("CM3102", "error", "call to undeclared function '{name}'{suggestion}")
UNKNOWN_TYPE = Message("CM3103", "error", "unknown type name '{name}'{suggestion}")
FUNCTION_NOT_CALLED = Message("CM3104", "error",
                              "function '{name}' can only be called; OpenCL C has no function pointers")
NOT_A_FUNCTION = Message("CM3106", "error", "called object type '{type}' is not a function")
NOT_A_FUNCTION_NAME = Message("CM3107", "error", "called object is not a function; expected a function's name")
TOO_FEW_ARGUMENTS = Message("CM3108", "error",
                            "too few arguments to function call, expected {expected}, have {found}")
TOO_MANY_ARGUMENTS = Message("CM3109", "error",
                             "too many arguments to function call, expected {expected}, have {found}")
UNDEFINED_FUNCTION = Message("CM3110", "error", "function '{name}' is called but has no definition")
RECURSION = Message("CM3111", "error", "recursive call of '{name}'; recursion is not supported in OpenCL C")
INDIRECT_RECURSION = Message("CM3112", "error",
                             "indirect recursion ({path}); recursion is not supported in OpenCL C")
CALLS_TOO_DEEP = Message("CM3118", "error",
                         "calls are nested too deeply: at most {limit} functions can be active at once, "
                         "'{name}' included")
UNDECLARED_LABEL = Message("CM3113", "error", "use of undeclared label '{name}'")
ONE_ARGUMENT = Message("CM3114", "error", "'{name}' takes 1 argument, have {found}")
BAD_CONVERSION_ARGUMENT = Message("CM3115", "error",
                                  "cannot convert '{source}' to '{target}': expected a scalar or vector with "
                                  "as many components")
BAD_REINTERPRETATION = Message("CM3116", "error",
                               "invalid reinterpretation: sizes of '{target}' and '{source}' must match")
TYPE_NEEDS_FEATURE = Message("CM3117", "error", "use of '{name}' requires {feature} support")

# ------------------------------------------------------------------ CM32xx: operators, places

INVALID_OPERANDS = Message("CM3201", "error", "invalid operands to binary expression ('{left}' and '{right}')")
INVALID_ARGUMENT = Message("CM3202", "error", "invalid argument type '{type}' to unary expression")
VECTOR_TYPES_DIFFER = Message("CM3203", "error",
                              "implicit conversions between vector types ('{left}' and '{right}') are not permitted")
SCALAR_RANK = Message("CM3204", "error",
                      "scalar operand type has greater rank than the type of the vector element "
                      "('{vector}' and '{scalar}')")
SHIFT_OF_SCALAR = Message("CM3205", "error",
                          "requested shift is a vector of type '{right}' but the first operand is not a vector "
                          "('{left}')")
SHIFT_COUNT = Message("CM3206", "warning",
                      "shift count {count} is not less than the width of type '{type}' ({bits} bits); "
                      "OpenCL C shifts by {used}", "shift-count-overflow")
DIVISION_BY_ZERO = Message("CM3207", "warning", "{what} by zero is undefined", "division-by-zero")
SCALAR_REQUIRED = Message("CM3208", "error", "used type '{type}' where arithmetic or pointer type is required")
INCOMPATIBLE_ARMS = Message("CM3209", "error", "incompatible operand types ('{left}' and '{right}')")
VECTOR_CONDITION_FLOAT = Message("CM3210", "error", "vector condition of type '{type}'; expected a vector of integers")
VECTOR_CONDITION_SIZE = Message("CM3211", "error",
                                "vector condition type '{condition}' and result type '{result}' do not have the "
                                "same number of elements of the same size")
FLOAT_CONDITION = Message("CM3245", "error",
                          "used type '{type}' where floating point type is not allowed; compare it with 0")
POINTER_ARMS = Message("CM3246", "warning", "pointer type mismatch ('{left}' and '{right}')", "pointer-type-mismatch")
INDIRECTION = Message("CM3212", "error", "indirection requires pointer operand ('{type}' invalid)")
VOID_ACCESS = Message("CM3213", "error", "a pointer to '{type}' cannot be dereferenced; cast it to what it points to")
VOID_ARITHMETIC = Message("CM3214", "error", "arithmetic on a pointer to {type}")
INCOMPLETE_POINTEE = Message("CM3215", "error", "arithmetic on a pointer to an incomplete type '{type}'")
INCOMPLETE_TYPE = Message("CM3216", "error", "incomplete type '{type}' where a complete type is required")
ADDRESS_OF_VALUE = Message("CM3217", "error", "cannot take the address of an rvalue of type '{type}'")
ADDRESS_OF_COMPONENT = Message("CM3218", "error", "address of vector element requested")
POINTER_DIFFERENCE = Message("CM3219", "error", "'{left}' and '{right}' are not pointers to compatible types")
POINTER_INTEGER_COMPARE = Message("CM3220", "warning",
                                  "comparison between pointer and integer ('{left}' and '{right}')",
                                  "pointer-integer-compare")
DISTINCT_POINTERS = Message("CM3221", "warning", "comparison of distinct pointer types ('{left}' and '{right}')",
                            "compare-distinct-pointer-types")
DISJOINT_POINTERS = Message("CM3222", "error",
                            "'{left}' and '{right}' are pointers to non-overlapping address spaces")
NOT_ASSIGNABLE = Message("CM3223", "error", "expression is not assignable")
REPEATED_COMPONENTS = Message("CM3224", "error", "vector is not assignable (contains duplicate components)")
ARRAY_NOT_ASSIGNABLE = Message("CM3225", "error", "array type '{type}' is not assignable")
ASSIGNMENT_TO_CAST = Message("CM3226", "error", "assignment to cast is illegal, lvalue casts are not supported")
CONST_VARIABLE = Message("CM3227", "error",
                         "cannot assign to variable '{name}' with const-qualified type 'const {type}'")
READ_ONLY = Message("CM3228", "error", "read-only variable is not assignable")
CANNOT_INCREMENT = Message("CM3229", "error", "cannot {word} value of type '{type}'")
NOT_SUBSCRIPTABLE = Message("CM3230", "error", "subscripted value is not an array, pointer, or vector")
SUBSCRIPT_NOT_INTEGER = Message("CM3231", "error", "array subscript is not an integer")
INDEX_PAST_END = Message("CM3232", "warning", "index {index} is past the end of '{type}'", "array-bounds")
INDEX_BEFORE_BEGIN = Message("CM3233", "warning", "index {index} is before the beginning of '{type}'", "array-bounds")
MEMBER_NOT_POINTER = Message("CM3234", "error",
                             "member reference type '{type}' is not a pointer; did you mean to use '.'?")
MEMBER_OF_POINTER = Message("CM3235", "error",
                            "member reference type '{type}' is a pointer; did you mean to use '->'?")
NO_MEMBERS = Message("CM3236", "error", "member reference base type '{type}' is not a structure or union")
NO_MEMBER = Message("CM3237", "error", "no member named '{name}' in '{type}'{suggestion}")
BAD_COMPONENT = Message("CM3238", "error", "illegal vector component name '{name}' of '{type}'")
COMPONENT_RANGE = Message("CM3239", "error", "vector component access '{name}' exceeds type '{type}'")
COMPONENT_COUNT = Message("CM3240", "error",
                          "{count} vector components selected; expected 1, 2, 3, 4, 8 or 16")
BAD_SIZEOF = Message("CM3241", "error", "invalid application of '{operator}' to '{type}'")
DOUBLE_LITERAL = Message("CM3242", "warning",
                         "double precision constant requires cl_khr_fp64, casting to single precision",
                         "double-constant")
EXPRESSION_TOO_DEEP = Message("CM3243", "error",
                              "expression is too deep; at most {limit} operators inside one another are supported")
TOO_DEEP_FOR_PYTHON = Message("CM3244", "error", "the source nests too deeply to be compiled")

# ------------------------------------------------------------------ CM33xx: types and declarations

BAD_TYPE_WORDS = Message("CM3301", "error", "'{words}' is no type")
LONG_LONG = Message("CM3302", "warning", "'long long' is reserved in OpenCL C; here it is 'long', which has 64 bits",
                    "long-long")
NEEDS_FP64 = Message("CM3303", "error", "use of type '{type}' requires cl_khr_fp64 and __opencl_c_fp64 support")
NEEDS_FP16 = Message("CM3304", "error", "use of type '{type}' requires cl_khr_fp16 support")
TWO_ADDRESS_SPACES = Message("CM3305", "error", "multiple address spaces specified for type")
RESTRICT_NEEDS_POINTER = Message("CM3306", "error", "restrict requires a pointer ('{type}' is invalid)")
FUNCTION_POINTER = Message("CM3307", "error", "pointers to functions are not allowed")
BAD_FUNCTION_DECLARATOR = Message("CM3308", "error", "a function cannot be declared here")
INCOMPLETE_ELEMENT = Message("CM3309", "error", "array has incomplete element type '{type}'")
SIZE_NOT_INTEGER = Message("CM3310", "error", "size of array has non-integer type '{type}'")
VARIABLE_LENGTH_ARRAY = Message("CM3311", "error", "variable length arrays are not supported in OpenCL")
SIZE_NOT_POSITIVE = Message("CM3312", "error", "array size must not be negative, is {count}")
ARRAY_TOO_LARGE = Message("CM3313", "error", "array is too large ({count} elements)")
OBJECT_TOO_LARGE = Message("CM3314", "error", "type '{type}' is too large")
TYPE_TOO_DEEP = Message("CM3356", "error",
                        "type is nested too deeply; at most {limit} arrays, pointers and structures inside one "
                        "another are supported")
UNSIZED_ARRAY = Message("CM3315", "error",
                        "definition of '{name}' with array type needs an explicit size or an initializer")
REDEFINITION = Message("CM3316", "error", "redefinition of '{name}'")
REDEFINITION_TYPE = Message("CM3959", "error", "redefinition of '{name}' with a different type: '{type}' vs "
                                               "'{previous}'")
TYPEDEF_REDEFINITION = Message("CM3317", "error", "typedef redefinition of '{name}' with a different type")
REDEFINITION_OF_PARAMETER = Message("CM3318", "error", "redefinition of parameter '{name}'")
CONFLICTING_TYPES = Message("CM3319", "error", "conflicting types for '{name}'")
WRONG_TAG_KIND = Message("CM3320", "error", "use of '{name}' with tag type that does not match previous declaration")
DECLARES_NOTHING = Message("CM3321", "warning", "declaration does not declare anything", "missing-declarations")
DUPLICATE_MEMBER = Message("CM3322", "error", "duplicate member '{name}'")
BIT_FIELD = Message("CM3323", "error", "bit-fields are not supported in OpenCL")
FUNCTION_MEMBER = Message("CM3324", "error", "field '{name}' declared as a function")
INCOMPLETE_MEMBER = Message("CM3325", "error", "field has incomplete type '{type}'")
MEMBER_ADDRESS_SPACE = Message("CM3326", "error", "field may not be qualified with an address space ({space})")
UNDEFINED_ENUM = Message("CM3328", "error", "'enum {name}' has not been defined")
EMPTY_ENUM = Message("CM3329", "error", "use of empty enum")
NOT_INTEGER_CONSTANT = Message("CM3331", "error", "expression is not an integer constant expression")
INCOMPLETE_VARIABLE = Message("CM3332", "error", "variable has incomplete type '{type}'")
INCOMPLETE_PARAMETER = Message("CM3333", "error", "argument may not have '{type}' type")
ILLEGAL_INITIALIZER = Message("CM3334", "error", "illegal initializer (only variables can be initialized)")
PROGRAM_SCOPE_VARIABLE = Message("CM3335", "error",
                                 "program scope variable '{name}' must reside in global or constant address space: "
                                 "declare it {advice}")
CONSTANT_NEEDS_VALUE = Message("CM3336", "error", "variable '{name}' in constant address space must be initialized")
STATIC_LOCAL = Message("CM3338", "error",
                       "static local variable '{name}' must reside in global or constant address space: declare it "
                       "{advice}")
FUNCTION_VARIABLE_SPACE = Message("CM3339", "error",
                                  "function scope variable cannot be declared in {space} address space")
LOCAL_OUTSIDE_KERNEL = Message("CM3340", "error",
                               "non-kernel function variable cannot be declared in {space} address space")
LOCAL_IN_INNER_SCOPE = Message("CM3341", "error",
                               "variables in the {space} address space can only be declared in the outermost scope "
                               "of a kernel function")
LOCAL_INITIALIZER = Message("CM3342", "error", "'__local' variable cannot have an initializer")
DEFINED_TYPE = Message("CM3343", "error", "a function definition declared 'typedef'")
VARIADIC = Message("CM3344", "error", "invalid prototype, variadic arguments are not allowed in OpenCL")
BAD_RESULT = Message("CM3345", "error", "function cannot return type '{type}'")
INCOMPLETE_RESULT = Message("CM3355", "error", "incomplete result type '{type}' in function definition")
KERNEL_RESULT = Message("CM3346", "error", "kernel must have void return type")
KERNEL_NEEDS_FUNCTION = Message("CM3347", "error", "'kernel' attribute only applies to functions")
INLINE_NEEDS_FUNCTION = Message("CM3348", "error", "'inline' can only appear on functions")
PARAMETER_ADDRESS_SPACE = Message("CM3349", "error", "parameter may not be qualified with an address space ({space})")
KERNEL_POINTER_SPACE = Message("CM3350", "error",
                               "pointer arguments to kernel functions must reside in '__global', '__constant' or "
                               "'__local' address space")
KERNEL_POINTER_TO_POINTER = Message("CM3351", "error", "kernel parameter cannot be declared as a pointer to a pointer")
KERNEL_PARAMETER_TYPE = Message("CM3352", "error", "'{type}' cannot be used as the type of a kernel parameter")
KERNEL_PARAMETER_MEMBER = Message("CM3353", "error",
                                  "'{type}' cannot be used as the type of a kernel parameter: it holds '{inner}'")

STATEMENT_EXPRESSION_AT_FILE_SCOPE = Message("CM3360", "error", "statement expression not allowed at file scope")
JUMP_INTO_EXPRESSION = Message("CM3361", "error", "cannot jump from {what} into a statement expression")
OUTSIDE_FUNCTION = Message("CM3362", "warning", "predefined identifier is only valid inside function",
                           "predefined-identifier-outside-function")
NO_ASSOCIATION = Message("CM3363", "error",
                         "controlling expression type '{type}' not compatible with any generic association type")
DUPLICATE_ASSOCIATION = Message("CM3364", "error", "duplicate generic association for {what}")
ENUM_OVERFLOW = Message("CM3366", "warning", "overflow in enumeration value", "enum-too-large")
ELEMENT_ALIGNMENT = Message("CM3367", "error",
                            "size of array element of type '{type}' ({size} bytes) isn't a multiple of its alignment "
                            "({alignment} bytes)")
FLEXIBLE_NOT_LAST = Message("CM3368", "error",
                            "flexible array member '{name}' with type '{item}[]' is not at the end of struct")
FLEXIBLE_INITIALIZER = Message("CM3370", "error", "initialization of flexible array member '{name}' is not allowed")
UNDEFINED_VARIABLE = Message("CM3371", "error",
                             "variable '{name}' is declared 'extern' and used, but has no definition; a program is one "
                             "translation unit")
STATIC_KERNEL = Message("CM3372", "error", "kernel functions cannot be declared static")
AUTO_NEEDS_VALUE = Message("CM3373", "error", "declaration of variable '{name}' with deduced type '__auto_type' "
                                              "requires an initializer")
AUTO_ALONE = Message("CM3374", "error", "'__auto_type' is only allowed as the whole type of a variable")
CALLED_MAIN = Message("CM3375", "error", "{what} cannot be called 'main'")
KERNEL_DEVICE_SIZE = Message("CM3376", "error",
                             "'{name}' cannot be used as the type of a kernel parameter: the device decides its size; "
                             "take a ulong or a long")
KERNEL_DEVICE_MEMBER = Message("CM3377", "error",
                               "'{type}' cannot be used as the type of a kernel parameter: the device decides the size "
                               "of its member '{name}'")

# ------------------------------------------------------------------ CM34xx: initialisers

NOT_CONSTANT_INITIALIZER = Message("CM3401", "error", "initializer element is not a compile-time constant")
EXCESS_ELEMENTS = Message("CM3403", "warning", "excess elements in {what} initializer", "excess-initializers")
ARRAY_NEEDS_LIST = Message("CM3404", "error", "array initializer must be an initializer list or string literal")
STRING_TOO_LONG = Message("CM3405", "warning",
                          "initializer-string for char array is too long, array size is {count} but initializer "
                          "has size {found} (excluding the null terminator)", "excess-initializers")
VECTOR_TOO_FEW = Message("CM3406", "error",
                         "too few elements in vector initialization of '{type}' (expected {expected} elements, "
                         "have {found})")
VECTOR_TOO_MANY = Message("CM3407", "error",
                          "excess elements in vector initializer of '{type}' (expected {expected} elements, "
                          "have {found})")
DESIGNATOR_FOR_SCALAR = Message("CM3408", "error", "designator in initializer for scalar type '{type}'")
FIELD_DESIGNATOR = Message("CM3410", "error",
                           "field designator cannot initialize a non-struct, non-union type '{type}'")
ARRAY_DESIGNATOR = Message("CM3411", "error", "array designator cannot initialize non-array type '{type}'")
DESIGNATOR_RANGE = Message("CM3412", "error", "array designator index ({index}) exceeds array bounds ({limit})")
EMPTY_DESIGNATOR_RANGE = Message("CM3415", "error", "array designator range [{first}, {last}] is empty")
ARRAY_TOO_LONG = Message("CM3414", "error",
                         "an array of {count} elements cannot have an initializer; at most {limit} are supported")
LITERAL_TOO_LONG = Message("CM3419", "error",
                           "a string literal of {length} characters is too long; at most {limit} are supported")
STRAY_INITIALIZER = Message("CM3413", "error", "expected expression, found an initializer list")

# ------------------------------------------------------------------ CM35xx: statements

STRAY_BREAK = Message("CM3501", "error", "'break' statement not in loop or switch statement")
STRAY_CONTINUE = Message("CM3502", "error", "'continue' statement not in loop statement")
SWITCH_VALUE = Message("CM3503", "error", "statement requires expression of integer type ('{type}' invalid)")
CASE_OUTSIDE_SWITCH = Message("CM3504", "error", "'{word}' statement not in switch statement")
DUPLICATE_CASE = Message("CM3505", "error", "duplicate case value '{value}'")
DUPLICATE_DEFAULT = Message("CM3506", "error", "multiple default labels in one switch")
EMPTY_CASE_RANGE = Message("CM3507", "warning", "empty case range specified", "empty-case-range")
LONG_CASE_RANGE = Message("CM3508", "error", "case range has more than {limit} values")
RETURN_NEEDS_VALUE = Message("CM3509", "error", "non-void function '{name}' should return a value")
RETURN_IN_VOID = Message("CM3510", "error", "void function '{name}' should not return a value")
MISSING_RETURN = Message("CM3511", "warning", "non-void function '{name}' does not return a value in all control paths",
                         "return-type")
LABEL_REDEFINITION = Message("CM3512", "error", "redefinition of label '{name}'")
STACK_ADDRESS = Message("CM3515", "warning", "address of stack memory associated with {what} returned",
                        "return-stack-address")
STATIC_ASSERT_FAILED = Message("CM3513", "error", "static assertion failed{text}")
STATIC_ASSERT_NOT_CONSTANT = Message("CM3514", "error", "static assertion expression is not an integral constant "
                                                        "expression")

# ------------------------------------------------------------------ CM36xx: attributes

UNKNOWN_ATTRIBUTE = Message("CM3601", "warning", "unknown attribute '{name}' ignored{suggestion}",
                            "unknown-attributes")
MISPLACED_ATTRIBUTE = Message("CM3602", "warning", "attribute '{name}' means nothing here and is ignored",
                              "ignored-attributes")
ATTRIBUTE_NEEDS_KERNEL = Message("CM3604", "error", "attribute '{name}' can only be applied to an OpenCL kernel")
ATTRIBUTE_ARGUMENT_COUNT = Message("CM3605", "error", "'{name}' attribute requires {expected} arguments, have {found}")
ATTRIBUTE_NEEDS_POSITIVE = Message("CM3606", "error",
                                   "'{name}' attribute requires positive integer constants as arguments")
BAD_ALIGNMENT = Message("CM3607", "error", "requested alignment is not a power of 2 up to {limit}")
BAD_VECTOR_TYPE = Message("CM3608", "error",
                          "invalid vector of '{type}': expected an element type other than bool and a count of "
                          "{counts}")
REFUSED_ATTRIBUTE = Message("CM3609", "error",
                            "attribute '{name}' is not supported, and without it the program would mean something "
                            "else; {advice}")
UNROLL_NEEDS_LOOP = Message("CM3610", "error", "'{name}' attribute only applies to 'for', 'while', and 'do' statements")
ALIGN_VALUE = Message("CM3611", "warning", "'align_value' attribute only applies to a pointer ('{type}' is invalid)",
                      "ignored-attributes")
TYPE_HINT = Message("CM3612", "error", "a type that is no number and no vector ('{type}') is an invalid argument to "
                                       "attribute 'vec_type_hint'")
