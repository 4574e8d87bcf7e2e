"""Messages of the Python front end (CM60xx); constraints of the extension have theirs in coopmat.sycl.constraints."""

from __future__ import annotations

from coopmat.diagnostics import Message

# ------------------------------------------------------------------ CM600x: what Python can say and a kernel cannot

UNSUPPORTED_STATEMENT = Message("CM6001", "error", "{what} cannot be compiled for a device; {advice}")
UNSUPPORTED_EXPRESSION = Message("CM6002", "error", "{what} cannot be compiled for a device; {advice}")
PARAMETER_KIND = Message("CM6003", "error",
                         "{what} parameters cannot be compiled for a device; give the function plain parameters")
FIRST_PARAMETER = Message("CM6004", "error",
                          "the first parameter of a kernel must be annotated with nd_item[1], nd_item[2] or "
                          "nd_item[3]; found {found}")
PARAMETER_TYPE = Message("CM6005", "error",
                         "parameter '{name}' of a kernel needs a type: a scalar (int32, float32, …), a vector "
                         "(float4, …), ptr[T], local_ptr[T], annotated_ptr[T, …], local_accessor[T] or layout; "
                         "found {found}")
NAME_TOO_LONG = Message("CM6009", "error",
                        "the name of a kernel has {length} characters; at most {limit} are supported")
KERNEL_RESULT = Message("CM6006", "error", "a kernel cannot return a value; store the result through a pointer")
BAD_ANNOTATION = Message("CM6007", "error", "the annotation '{text}' cannot be evaluated: {reason}")
NOT_A_TYPE = Message("CM6008", "error", "expected a type, such as int32 or ptr[float32]; found {found}")

# ------------------------------------------------------------------ CM602x: names

UNDEFINED_NAME = Message("CM6020", "error", "undefined name '{name}'{hint}")
UNASSIGNED = Message("CM6021", "error",
                     "'{name}' is read before it is assigned; give it a value before the first place that reads it")
MAYBE_UNASSIGNED = Message("CM6067", "warning",
                           "'{name}' may have no value here: not every way to this place assigns it; give it one "
                           "before",
                           "maybe-unassigned")
CONSTANT_UNASSIGNED = Message("CM6068", "error",
                              "'{name}' may have no value here: not every way to this place assigns it, and {found} is "
                              "no variable of the kernel; assign it before, or use it only where it is assigned")
CANNOT_CAPTURE = Message("CM6022", "error",
                         "'{name}' is {found}, which a kernel cannot capture; it can capture numbers, types, "
                         "functions, arrays, tuples and lists of them, and objects without arrays")
NO_ATTRIBUTE = Message("CM6023", "error", "{found} has no attribute '{name}'{hint}")
NONLOCAL = Message("CM6024", "error",
                   "'{name}' is assigned in this function and so is a variable of its own, which has no value here; "
                   "the '{name}' outside of it cannot be changed by a kernel")
REBOUND = Message("CM6025", "error",
                  "'{name}' is {before} and cannot be assigned again; use another name for {after}")
TYPE_CHANGES = Message("CM6026", "error",
                       "'{name}' has type {type} from its first assignment on; {found} cannot be assigned to it{hint}")
SHARED = Message("CM6069", "error",
                 "'{name}' would be a second name of {found}, {reason}")
MATRIX_COPY = Message("CM6027", "error",
                      "a joint_matrix cannot be copied by assignment; +{source} gives its elements, which make a new "
                      "one, and joint_matrix_copy(sg, {source}, …) stores them in another one")
MATRIX_SHARED = Message("CM6090", "error",
                        "the matrix '{name}' is a caller's, or has another name here, too; {name} += … and "
                        "joint_matrix_copy(sg, …, {name}) change it under all of them, r = +{name} makes another one")
CHOICE_DIFFERS = Message("CM6091", "error",
                         "a conditional expression chooses between values of one form; found {left} and {right}")
NO_VALUE = Message("CM6028", "error", "{what} has no value that could be used here")
PARAMETER_ASSIGNED = Message("CM6029", "error", "'{name}' is {found} and cannot be assigned")

# ------------------------------------------------------------------ CM603x: operators and conversions

INVALID_OPERANDS = Message("CM6030", "error", "'{operator}' cannot be applied to {left} and {right}{hint}")
INVALID_OPERAND = Message("CM6031", "error", "'{operator}' cannot be applied to {found}{hint}")
NOT_A_NUMBER = Message("CM6032", "error", "expected a number, found {found}")
NOT_AN_INTEGER = Message("CM6033", "error", "expected an integer, found {found}")
NOT_CONSTANT = Message("CM6034", "error",
                       "{what} must be known when the kernel is compiled; found {found}")
TOO_LARGE = Message("CM6035", "error", "the constant {value} does not fit in 64 bits")
CONSTANT_ERROR = Message("CM6036", "error", "this constant expression cannot be computed: {reason}")
OUT_OF_RANGE = Message("CM6037", "error", "the constant {value} is outside of the range of {type}")
NOT_CONVERTIBLE = Message("CM6038", "error", "{found} cannot be converted to {type}")
FLOAT_OPERATOR = Message("CM6039", "error", "'{operator}' is for integers only, here it has {left} and {right}; "
                                            "{advice}")

VECTORS_DIFFER = Message("CM6072", "error",
                         "{what} takes vectors of one type, found {left} and {right}; convert one, as {left}(v) "
                         "does")
VECTOR_TRUTH = Message("CM6073", "error",
                       "{found} is no condition; all(v) and any(v) say whether all its components are true, or any")

# ------------------------------------------------------------------ CM604x: lists, indices, loops

NOT_SUBSCRIPTABLE = Message("CM6040", "error", "{found} cannot be indexed")
INDEX_NOT_CONSTANT = Message("CM6041", "error",
                             "the elements of {base} are no numbers, so the index must be known when the kernel is "
                             "compiled; found {found}; a loop over range(…) of constants makes its variable known")
ARRAY_ELEMENTS = Message("CM6074", "error",
                         "the kernel computes an index of this list, so its elements lie in memory and are numbers of "
                         "one type; found {left} and {right}")
INDEX_OUT_OF_RANGE = Message("CM6042", "error", "index {index} is outside of {found}")
NOT_ITERABLE = Message("CM6043", "error",
                       "a for loop runs over range(…), a list, a tuple, zip or enumerate of them; found {found}")
UNPACK = Message("CM6044", "error", "expected {expected} values to unpack, found {found}")
STEP_ZERO = Message("CM6045", "error", "range() needs a step other than 0")
UNSIGNED_RANGE = Message("CM6046", "error",
                         "the loop variable has the unsigned type {type}, which cannot hold the constant {value}; "
                         "convert the bounds, for example with int64(…)")
LOOP_TOO_LONG = Message("CM6047", "error",
                        "this loop is unrolled, because its variable indexes a list, and would be repeated {count} "
                        "times; at most {limit} are possible")
LIST_TOO_LONG = Message("CM6063", "error",
                        "a list of {count} elements is too long, at most {limit} are possible; use local memory or an "
                        "array")
TOO_MANY_COPIES = Message("CM6064", "error",
                          "the unrolled loops and comprehensions of this kernel have more than {limit} steps in all")
INDEX_COUNT = Message("CM6049", "error", "{found} takes {expected}, found {count}")

# ------------------------------------------------------------------ CM605x: calls

NOT_CALLABLE = Message("CM6050", "error", "{found} cannot be called in a kernel{hint}")
BAD_ARGUMENTS = Message("CM6051", "error", "{name}{signature}: {reason}")
RECURSION = Message("CM6052", "error", "'{name}' calls itself; a device function cannot be recursive")
SOURCE_MISSING = Message("CM6053", "error", "'{name}' cannot be compiled: {reason}")
MISSING_RETURN = Message("CM6061", "error", "'{name}' returns a value in some cases, and in others ends without one")
RESULT_DIFFERS = Message("CM6054", "error",
                         "'{name}' returns {found} here and {before} elsewhere; all its results must be numbers, "
                         "pointers of one type, or tuples or structures of one form")
RESULT_SHARED = Message("CM6048", "error",
                        "'{name}' cannot return {found} that it got from where it is called; functions get lists and "
                        "structures by reference, so there is no need to")
RESULT_KIND = Message("CM6066", "error",
                      "'{name}' cannot return {found}; a function returns numbers, pointers, tuples and structures of "
                      "them, or nothing")
ARGUMENT_TYPE = Message("CM6055", "error", "{name}: argument '{parameter}' must be {expected}; found {found}")
TEMPLATE_ARGUMENTS = Message("CM6056", "error", "{name}[…] takes {expected}; found {found}")
UNUSED_RESULT = Message("CM6057", "warning",
                        "the value of this call is not used; a function gets numbers by value, so write x = {name}(x)",
                        "unused-value")
UNUSED_EXPRESSION = Message("CM6058", "warning", "the value of this expression is not used", "unused-value")
NO_FUNCTION_FOR = Message("CM6059", "error", "no {name} for arguments of type {types}; {expected}")
TOO_MANY_SPECIALIZATIONS = Message(
    "CM6062", "error", "'{name}' and the other helpers of this kernel are called in more than {limit} ways that differ "
                       "in types or constants; pass values that the kernel computes")
HOST_ERROR = Message("CM6060", "error", "{text}")

# ------------------------------------------------------------------ CM608x: texts

NOT_PRINTABLE = Message("CM6080", "error",
                        "{found} cannot be printed; print shows numbers, bools, vectors, pointers, texts, and tuples, "
                        "lists and objects of them; of a matrix, joint_matrix_apply(sg, m, f) gives f the elements")
FORMAT_SPECIFICATION = Message("CM6081", "error",
                               "the format '{spec}' cannot be applied to {found} in a kernel: printf has "
                               "[<>][+][#][0][width] and d, x, X, o, c for integers; [.precision] and e, f, g and "
                               "their capitals for numbers; s for texts")
CONVERSION = Message("CM6082", "error", "the format of printf has '{text}': {reason}")
NOT_A_STRING = Message("CM6083", "error",
                       "the text {found} cannot be printed: it has a zero, or half of a character, in it")
TEXT_TOO_LONG = Message("CM6084", "error",
                        "a text of {length} bytes is too long for a kernel; at most {limit} are supported")

# ------------------------------------------------------------------ CM607x: built-in functions

ATOMIC_ASSIGNED = Message("CM6070", "error",
                          "'{name}' is {found}: write {name}.store(…) to store to its element, or use another name")
LOCAL_TOO_LARGE = Message("CM6071", "error",
                          "{octets} bytes of local memory are too many; no device has {limit} or more")
