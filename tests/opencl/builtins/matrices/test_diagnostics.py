"""Every diagnostic of the cooperative matrix extension: its whole text, line and column.

``@`` in a source marks the place that the message points at. The names D1 … D31 are those of the
list of situations that the extension's documents and its reference implementation report.
"""

from __future__ import annotations

import pytest

from coopmat.devices import describe
from coopmat.diagnostics import (
    CompileError,
    Diagnostic,
    DiagnosticSink,
    Message,
    SourceFile,
    SourceLocation,
)
from coopmat.opencl import compile_source
from coopmat.opencl.base.values import ERROR
from coopmat.opencl.builtins.matrices import matrix_type
from coopmat.opencl.messages import matrix as messages
from coopmat.opencl.sema.analyzer import Analyzer
from coopmat.tree.nodes import Constant, Expression
from coopmat.tree.types import FLOAT, INT

TYPES = """\
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_ ## use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define NONE CLK_COOPERATIVE_MATRIX_OPERAND_NONE
typedef float A_t MATRIX(16, 8, A);
typedef float B_t MATRIX(8, 16, B);
typedef float C_t MATRIX(16, 16, ACCUMULATOR);
typedef half hA_t MATRIX(16, 8, A);
typedef char sA_t MATRIX(16, 8, A);
typedef uchar uA_t MATRIX(16, 8, A);
typedef char sB_t MATRIX(8, 16, B);
typedef int iC_t MATRIX(16, 16, ACCUMULATOR);
typedef float A16_t MATRIX(16, 16, A);
typedef float wideB_t MATRIX(8, 32, B);
typedef float tallC_t MATRIX(32, 16, ACCUMULATOR);
"""
BODY = """\
struct pair { float first, second; };
float only_row(uint row, float x) { return x; }
float of_pair(float x, struct pair both) { return x + both.first; }
float stores(float x, global float *p) { return *p = x; }
kernel void k(global float *p, global const float *q, local float *l, global int *ip, int n, float x) {
    A_t a; B_t b; C_t c; hA_t ha; sA_t sa; uA_t ua; sB_t sb; iC_t ic; A16_t a16; wideB_t wide_b; tallC_t tall_c;
    %s
}
"""
COLUMN_LAYOUTS = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR or CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR"
PACKED_WORDS = "whose rows fill words of 32 bits, such as 16 rows of half or 32 of char"
SCOPE = "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP"
WORK_GROUP = "CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP"
BAD_SCOPE = (f"invalid 'scope' argument of cooperative matrix attribute; expected {SCOPE}, {WORK_GROUP}, "
             "memory_scope_sub_group or memory_scope_work_group")
USE_A = "CLK_COOPERATIVE_MATRIX_A"
FLAG = "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_"


def type_text(element: str, rows: int, columns: int, use: str) -> str:
    """A matrix type as messages show it."""
    return f"{element} __attribute__((coop_mat({SCOPE}, {rows}, {columns}, CLK_COOPERATIVE_MATRIX_{use})))"


def attribute(arguments: str) -> str:
    """A declaration at file scope with these arguments of the attribute."""
    return f"typedef float M __attribute__((coop_mat({arguments})));"


def split(source: str) -> tuple[str, int, int]:
    """A source without its mark, and the marked line and column."""
    before, mark, _ = source.partition("@")
    assert mark
    return source.replace("@", "", 1), before.count("\n") + 1, len(before) - before.rfind("\n")


def diagnose(source: str, device: str = "generic") -> list[Diagnostic]:
    """All diagnostics of a source, warnings included."""
    try:
        return compile_source(source, device=describe(device))[1]
    except CompileError as error:
        return error.diagnostics


# Name → (message, its row of the table, what stands at file scope or, with a blank before it, in the kernel).
FILE_SCOPE: dict[str, tuple[Message, str, str]] = {
    "D2 scope 0": (
        messages.INVALID_SCOPE,
        f"{BAD_SCOPE}, found 0",
        attribute(f"@0, 8, 8, {USE_A}")),
    "D2 scope string": (
        messages.INVALID_SCOPE,
        f'{BAD_SCOPE}, found the string "workgroup"',
        attribute(f'@"workgroup", 8, 8, {USE_A}')),
    "rows at work-group scope": (
        messages.NOT_OF_WORK_GROUP,
        "'rows' argument of cooperative matrix attribute must be a multiple of 16 at work-group scope, but is 24",
        attribute(f"{WORK_GROUP}, @24, 16, {USE_A}")),
    "columns at work-group scope": (
        messages.NOT_OF_WORK_GROUP,
        "'columns' argument of cooperative matrix attribute must be a multiple of 16 at work-group scope, but is 8",
        attribute(f"memory_scope_work_group, 16, @8, {USE_A}")),
    "work-groups of any size": (
        messages.NEEDS_WORK_GROUP_SIZE,
        "kernel 'k' must require a work-group size, as the program has cooperative matrices at work-group scope: add "
        "__attribute__((reqd_work_group_size(X, Y, Z)))",
        f"kernel void @k(void) {{ float __attribute__((coop_mat({WORK_GROUP}, 16, 16, {USE_A}))) m; }}"),
    "D3 use 99": (
        messages.INVALID_USE,
        "invalid 'use' argument of cooperative matrix attribute; expected CLK_COOPERATIVE_MATRIX_A (0), _B (1) or "
        "_ACCUMULATOR (2), found 99",
        attribute(f"{SCOPE}, 8, 8, @99")),
    "D3 use not constant": (
        messages.INVALID_USE,
        "invalid 'use' argument of cooperative matrix attribute; expected CLK_COOPERATIVE_MATRIX_A (0), _B (1) or "
        "_ACCUMULATOR (2), found an expression of type 'float' that is no integer constant",
        attribute(f"{SCOPE}, 8, 8, @1.5f")),
    "argument count": (
        messages.ATTRIBUTE_COUNT,
        "'coop_mat' attribute takes 4 arguments (scope, rows, columns, use), but has 3",
        f"typedef float M __attribute__((@coop_mat({SCOPE}, 8, 8)));"),
    "D24 rows not constant": (
        messages.DIMENSION_NOT_CONSTANT,
        "'rows' argument of cooperative matrix attribute must be an integer constant expression",
        f"void f(int n) {{ float m __attribute__((coop_mat({SCOPE}, @n, 8, {USE_A}))); }}"),
    "D24 columns of floating type": (
        messages.DIMENSION_NOT_CONSTANT,
        "'columns' argument of cooperative matrix attribute must be an integer constant expression",
        attribute(f"{SCOPE}, 8, @8.0f, {USE_A}")),
    "D25 rows 0": (
        messages.DIMENSION_NOT_POSITIVE,
        "'rows' argument of cooperative matrix attribute must be positive, but is 0",
        attribute(f"{SCOPE}, @0, 8, {USE_A}")),
    "D25 columns -4": (
        messages.DIMENSION_NOT_POSITIVE,
        "'columns' argument of cooperative matrix attribute must be positive, but is -4",
        attribute(f"{SCOPE}, 8, @-4, {USE_A}")),
    "too large": (
        messages.TOO_MANY_ELEMENTS,
        "a cooperative matrix of 65536 rows and 65536 columns is too large: at most 1048576 elements are supported",
        attribute(f"{SCOPE}, @65536, 65536, {USE_A}")),
    "D17 bool": (
        messages.INVALID_ELEMENT_TYPE,
        "'bool' is invalid cooperative matrix element type; expected an integer type, half, float, double or __bf16",
        "typedef bool M __attribute__((@coop_mat(3, 8, 8, 0)));"),
    "element vector": (
        messages.INVALID_ELEMENT_TYPE,
        "'float4' is invalid cooperative matrix element type; expected an integer type, half, float, double or __bf16",
        "typedef float4 M __attribute__((@coop_mat(3, 8, 8, 0)));"),
    "string argument": (
        messages.STRING_ARGUMENT,
        "'use' argument of cooperative matrix attribute is a string; expected the constant CLK_COOPERATIVE_MATRIX_A "
        "without quotation marks",
        attribute(f'{SCOPE}, 4, 8, @"{USE_A}"')),
    "D6 kernel parameter": (
        messages.KERNEL_PARAMETER,
        f"'{type_text('float', 16, 8, 'A')}' cannot be used as the type of a kernel parameter",
        "kernel void k(A_t @a) { }"),
    "D27 constant variable": (
        messages.WRONG_STORAGE,
        f"cooperative matrix type '{type_text('float', 16, 8, 'A')}' cannot be used for a variable in the __constant "
        "address space; a cooperative matrix lives in private variables only",
        "constant A_t @m = {0};"),
    "D27 program-scope variable": (
        messages.WRONG_STORAGE,
        f"cooperative matrix type '{type_text('float', 16, 8, 'A')}' cannot be used for a variable in the __global "
        "address space; a cooperative matrix lives in private variables only",
        "A_t @m;"),
    "D27 local variable": (
        messages.WRONG_STORAGE,
        f"cooperative matrix type '{type_text('float', 16, 8, 'A')}' cannot be used for a variable in the __local "
        "address space; a cooperative matrix lives in private variables only",
        "kernel void k() { local A_t @m; }"),
    "D27 local array of structures": (
        messages.WRONG_STORAGE,
        "cooperative matrix type 'struct pair[2]' cannot be used for a variable in the __local "
        "address space; a cooperative matrix lives in private variables only",
        "struct pair { A_t first, second; }; kernel void k() { local struct pair @m[2]; }"),
    "D27 buffer element": (
        messages.MATRIX_IN_MEMORY,
        f"'__global {type_text('float', 16, 8, 'A')} *' points to a cooperative matrix in the __global address space; "
        "a buffer holds elements ('float'), which coop_mat_load and coop_mat_store move",
        "kernel void k(global A_t *@m) { }"),
}

IN_KERNEL: dict[str, tuple[Message, str, str]] = {
    "D4 A and B": (
        messages.INCONSISTENT_ELEMENTS,
        "inconsistent cooperative matrix element types: A 'half' and B 'float', but A and B must have one element "
        "type, apart from its sign",
        "c = coop_mat_mulAdd(ha, @b, c);"),
    "D4 accumulator": (
        messages.INCONSISTENT_ELEMENTS,
        "inconsistent cooperative matrix element types: A 'float' and C 'int', but the accumulator must be of the "
        "same kind, integer or floating-point",
        "ic = coop_matmul_add(a, b, @ic, NONE);"),
    "D5 load to a scalar": (
        messages.NO_MATRIX_TARGET,
        "builtin return value should be assigned to cooperative matrix type variable; 'coop_mat_load' takes its "
        "result type from there, but here it goes to 'float'",
        "x = @coop_mat_load(p, ROW, 8);"),
    "D5 load without a target": (
        messages.NO_MATRIX_TARGET,
        "builtin return value should be assigned to cooperative matrix type variable; 'coop_mat_load' takes its "
        "result type from there, but here is no such variable",
        "@coop_mat_load(p, ROW, 8);"),
    "D5 load as an operand": (
        messages.NO_MATRIX_TARGET,
        "builtin return value should be assigned to cooperative matrix type variable; 'coop_mat_load' takes its "
        "result type from there, but here is no such variable",
        "a = a + @coop_mat_load(p, ROW, 8);"),
    "D5 init": (
        messages.NO_MATRIX_TARGET,
        "builtin return value should be assigned to cooperative matrix type variable; 'coop_mat_init' takes its "
        "result type from there, but here it goes to 'int'",
        "int i = @coop_mat_init(1);"),
    "D7 load layout": (
        messages.INVALID_LAYOUT,
        f"memory layout for cooperative matrix load/store should be {COLUMN_LAYOUTS}; found 99",
        "a = coop_mat_load(p, @99, 8);"),
    "D7 load layout not constant": (
        messages.INVALID_LAYOUT,
        f"memory layout for cooperative matrix load/store should be {COLUMN_LAYOUTS}; found an expression of type "
        "'int' that is no integer constant",
        "a = coop_mat_load(p, @n, 8);"),
    "D8 store layout": (
        messages.INVALID_LAYOUT,
        f"memory layout for cooperative matrix load/store should be {COLUMN_LAYOUTS}; found 3",
        "coop_mat_store(p, a, @3, 8);"),
    "packed load of floats": (
        messages.INVALID_PACKED,
        f"CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL is for matrices A, and for matrices B {PACKED_WORDS}; found "
        f"{type_text('float', 8, 16, 'B')}",
        "b = coop_mat_load(p, @CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL, 8);"),
    "packed store of an accumulator": (
        messages.INVALID_PACKED,
        f"CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL is for matrices A, and for matrices B {PACKED_WORDS}; found "
        f"{type_text('int', 16, 16, 'ACCUMULATOR')}",
        "coop_mat_store(ip, ic, @CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL, 8);"),
    "D9 load stride": (
        messages.INVALID_STRIDE_TYPE,
        "stride argument for load/store of cooperative matrix must have type 'size_t' or another integer type, "
        "but has type 'float'",
        "a = coop_mat_load(p, ROW, @x);"),
    "D10 store stride": (
        messages.INVALID_STRIDE_TYPE,
        "stride argument for load/store of cooperative matrix must have type 'size_t' or another integer type, "
        "but has type '__global float *'",
        "coop_mat_store(p, a, ROW, @p);"),
    "D11 load pointer": (
        messages.ELEMENT_POINTER_MISMATCH,
        "inconsistent between cooperative matrix element type and buffer pointer type: the elements are 'float', "
        "the pointer is '__global int *'",
        "a = coop_mat_load(@ip, ROW, 8);"),
    "D12 fourth argument": (
        messages.OPERANDS_TYPE,
        "fourth argument of 'coop_mat_mulAdd' must have enum type 'coop_matrix_operands_t', but has type 'float'",
        "c = coop_mat_mulAdd(a, b, c, @16.2f);"),
    "D13 scalar": (
        messages.NOT_A_MATRIX,
        "argument must be a valid cooperative matrix type; argument 2 of 'coop_matmul_add' has type 'float'",
        "c = coop_matmul_add(a, @x, c, NONE);"),
    "D13 store": (
        messages.NOT_A_MATRIX,
        "argument must be a valid cooperative matrix type; argument 2 of 'coop_mat_store' has type 'int'",
        "coop_mat_store(p, @n, ROW, 8);"),
    "D14 use A": (
        messages.WRONG_USE,
        "argument of cooperative matrix must be CLK_COOPERATIVE_MATRIX_A, but argument 1 of 'coop_matmul_add' "
        "is CLK_COOPERATIVE_MATRIX_B",
        "c = coop_matmul_add(@b, b, c, NONE);"),
    "D15 use B": (
        messages.WRONG_USE,
        "argument of cooperative matrix must be CLK_COOPERATIVE_MATRIX_B, but argument 2 of 'coop_matmul_add' "
        "is CLK_COOPERATIVE_MATRIX_A",
        "c = coop_matmul_add(a, @a, c, NONE);"),
    "D16 use accumulator": (
        messages.WRONG_USE,
        "argument of cooperative matrix must be CLK_COOPERATIVE_MATRIX_ACCUMULATOR, but argument 3 of "
        "'coop_mat_mulAdd' is CLK_COOPERATIVE_MATRIX_B",
        "c = coop_mat_mulAdd(a, b, @b);"),
    "D18 K": (
        messages.INCOMPATIBLE_SHAPES,
        "mismatch of cooperative matrix row or column: A 16x16 and B 8x16, but the columns of A must be the "
        "rows of B (K)",
        "c = coop_matmul_add(a16, @b, c, NONE);"),
    "D18 M": (
        messages.INCOMPATIBLE_SHAPES,
        "mismatch of cooperative matrix row or column: A 16x8 and C 32x16, but A and C must have the same rows "
        "(M)",
        "tall_c = coop_matmul_add(a, b, @tall_c, NONE);"),
    "D18 N": (
        messages.INCOMPATIBLE_SHAPES,
        "mismatch of cooperative matrix row or column: B 8x32 and C 16x16, but B and C must have the same "
        "columns (N)",
        "c = coop_matmul_add(a, wide_b, @c, NONE);"),
    **{f"D19 {operator}": (
        messages.UNSUPPORTED_BINARY,
        f"unsupported cooperative matrix binary operator '{operator}'; matrices have + - * and /",
        f"a @{operator} a;")
       for operator in ("&", "|", "^", "%", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||")},
    "D19 compound": (
        messages.UNSUPPORTED_BINARY,
        "unsupported cooperative matrix binary operator '&'; matrices have + - * and /",
        "a @&= a;"),
    **{f"D20 {operator}": (
        messages.UNSUPPORTED_SCALAR,
        f"unsupported cooperative matrix scalar operator '{operator}' ('{type_text('float', 16, 8, 'A')}' and "
        "'float'); a matrix and a scalar have * only; coop_mat_init makes a matrix of a scalar",
        f"a = a @{operator} 2.0f;")
       for operator in "+-/"},
    "D20 scalar first": (
        messages.UNSUPPORTED_SCALAR,
        f"unsupported cooperative matrix scalar operator '/' ('int' and '{type_text('float', 16, 8, 'A')}'); "
        "a matrix and a scalar have * only; coop_mat_init makes a matrix of a scalar",
        "a = 1 @/ a;"),
    "unary ~": (
        messages.UNSUPPORTED_UNARY,
        "unsupported cooperative matrix unary operator '~'; a matrix has - only",
        "a = @~a;"),
    "unary !": (
        messages.UNSUPPORTED_UNARY,
        "unsupported cooperative matrix unary operator '!'; a matrix has - only",
        "a = @!a;"),
    "unary +": (
        messages.UNSUPPORTED_UNARY,
        "unsupported cooperative matrix unary operator '+'; a matrix has - only",
        "a = @+a;"),
    "operator with a pointer": (
        messages.INVALID_OPERANDS_OF_BINARY,
        f"invalid operands to binary expression ('{type_text('float', 16, 8, 'A')}' and '__global float *'); "
        "a matrix combines with a matrix of its own type, or with a scalar by *",
        "a = a @* p;"),
    "operands of different element types": (
        messages.INCONSISTENT_ELEMENTS,
        "inconsistent cooperative matrix element types: left operand 'float' and right operand 'half', but the "
        "operands must have one type",
        "a = a @+ ha;"),
    "operands of different shapes": (
        messages.INCOMPATIBLE_SHAPES,
        "mismatch of cooperative matrix row or column: left operand 16x8 and right operand 16x16, but the "
        "operands must have one type",
        "a = a @- a16;"),
    "D22 operands of different use": (
        messages.INCONSISTENT_USE,
        "inconsistent cooperative matrix use type: expected 'CLK_COOPERATIVE_MATRIX_A', found "
        "'CLK_COOPERATIVE_MATRIX_ACCUMULATOR'",
        "a16 = a16 @* c;"),
    "conversion of shape": (
        messages.CONVERT_MISMATCH,
        "incompatible cooperative matrix types: 'coop_mat_convert' keeps the shape, which "
        f"'{type_text('float', 16, 16, 'A')}' and '{type_text('float', 16, 8, 'A')}' do not share",
        "a = coop_mat_convert(@a16);"),
    "transposition that keeps the shape": (
        messages.TRANSPOSE_MISMATCH,
        "incompatible cooperative matrix types: 'coop_mat_transpose' makes 8x16 elements of "
        f"'{type_text('float', 16, 8, 'A')}', not '{type_text('half', 16, 8, 'A')}'",
        "ha = coop_mat_transpose(@a);"),
    "reduction of A": (
        messages.WRONG_USE,
        "argument of cooperative matrix must be CLK_COOPERATIVE_MATRIX_ACCUMULATOR, but argument 1 of "
        "'coop_mat_reduce' is CLK_COOPERATIVE_MATRIX_A",
        "a = coop_mat_reduce(@a, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_ADD);"),
    "reduction of nothing": (
        messages.NO_ENUMERANT,
        "argument 2 of 'coop_mat_reduce' must be CLK_COOPERATIVE_MATRIX_REDUCE_ROW or "
        "CLK_COOPERATIVE_MATRIX_REDUCE_COLUMN or CLK_COOPERATIVE_MATRIX_REDUCE_ALL; found 4",
        "c = coop_mat_reduce(c, @4, CLK_COOPERATIVE_MATRIX_COMBINE_ADD);"),
    "function that is an expression": (
        messages.NOT_A_FUNCTION_NAME, "second argument of 'coop_mat_apply' must be the name of a function",
        "c = coop_mat_apply(c, @2 * x);"),
    "function that is a variable": (
        messages.NOT_A_FUNCTION_NAME, "second argument of 'coop_mat_apply' must be the name of a function",
        "c = coop_mat_apply(c, @x);"),
    "function of other arguments": (
        messages.NOT_APPLICABLE,
        "'only_row' cannot be applied to the elements of a cooperative matrix: it must take arguments of type "
        "('float'), or two integers, row and column, before them, and return a number",
        "c = @coop_mat_apply(c, only_row);"),
    "structure for a function of elements": (
        messages.APPLIED_ARGUMENT,
        "argument 3 of 'coop_mat_apply' cannot be passed to a function of elements: expected a scalar, a vector, a "
        "pointer to other than private memory, or a matrix of the first one's type; found 'struct pair'",
        "struct pair both = {1, 2}; c = coop_mat_apply(c, of_pair, @both);"),
    "function that stores": (
        messages.APPLIED_EFFECT,
        "'stores' cannot be applied to the elements of a cooperative matrix: it changes memory that other work-items "
        "may see, and would be called in any order, and perhaps more than once for an element",
        "c = @coop_mat_apply(c, stores, p);"),
    "function of a sub-group": (
        messages.APPLIED_EFFECT,
        "'sub_group_reduce_add' cannot be applied to the elements of a cooperative matrix: it works together with "
        "other work-items, and would be called in any order, and perhaps more than once for an element",
        "c = @sub_group_reduce_add(c);"),
    "function whose result is no element": (
        messages.NO_ELEMENT_FUNCTION,
        "no function 'isnan' of scalars makes a 'float', an element, of those of "
        f"('{type_text('float', 16, 16, 'ACCUMULATOR')}')",
        "c = @isnan(c);"),
    "D23 too few": (
        messages.TOO_FEW_ARGUMENTS,
        "too few arguments to 'coop_mat_init': expected 1, have 0",
        "a = coop_mat_init(@);"),
    "D23 too many": (
        messages.TOO_MANY_ARGUMENTS,
        "too many arguments to 'coop_mat_length': expected 1, have 2",
        "uint i = coop_mat_length(a, @a);"),
    "D23 too few of mulAdd": (
        messages.TOO_FEW_ARGUMENTS,
        "too few arguments to 'coop_mat_mulAdd': expected 3 or 4, have 2",
        "c = coop_mat_mulAdd(a, b@);"),
    "three arguments in the RFC's spelling": (
        messages.TOO_FEW_ARGUMENTS,
        "too few arguments to 'coop_matmul_add': expected 4, have 3; the last is CLK_COOPERATIVE_MATRIX_OPERAND_NONE, "
        "or call coop_mat_mulAdd, which needs none",
        "c = coop_matmul_add(a, b, c@);"),
    "a conversion of elements": (
        messages.CONVERTS_ELEMENTS,
        "'convert_int_rte' changes the type of elements, which 'coop_mat_apply' keeps; coop_mat_convert converts a "
        "matrix, a function of the program can convert back and forth",
        "c = coop_mat_apply(c, @convert_int_rte);"),
    "D23 length of a scalar": (
        messages.NOT_A_MATRIX,
        "argument must be a valid cooperative matrix type; argument 1 of 'coop_mat_length' has type 'float'",
        "uint i = coop_mat_length(@x);"),
    "D23 init with a pointer": (
        messages.INVALID_FILL,
        "argument of 'coop_mat_init' must be a scalar that converts to the element type 'float', but has type "
        "'__global float *'",
        "a = coop_mat_init(@p);"),
    "D26 result of another use": (
        messages.RESULT_MISMATCH,
        "incompatible cooperative matrix types: the result of 'coop_mat_mulAdd' is an accumulator of 16x16 "
        f"floating-point elements, but is assigned to '{type_text('float', 16, 16, 'A')}'",
        "a16 = @coop_mat_mulAdd(a, b, c);"),
    "D26 result of another kind": (
        messages.RESULT_MISMATCH,
        "incompatible cooperative matrix types: the result of 'coop_mat_mulAdd' is an accumulator of 16x16 "
        f"floating-point elements, but is assigned to '{type_text('int', 16, 16, 'ACCUMULATOR')}'",
        "ic = @coop_mat_mulAdd(a, b, c);"),
    "D28 signed flag on float": (
        messages.FLAG_ON_FLOAT,
        f"{FLAG}RESULT_SIGNED has no meaning for a matrix of 'float' and is ignored",
        f"c = coop_matmul_add(a, b, c, @{FLAG}RESULT_SIGNED);"),
    "D28 saturation on float": (
        messages.FLAG_ON_FLOAT,
        "CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION has no meaning for a matrix of 'float' and is ignored",
        "c = coop_matmul_add(a, b, c, @CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION);"),
    "signed elements without flags": (
        messages.SIGNED_AS_UNSIGNED,
        f"signed elements of A ('char'), B ('char') are used as unsigned; give {FLAG}A_SIGNED | {FLAG}B_SIGNED to use "
        "them as signed",
        "ic = coop_matmul_add(sa, sb, ic, @NONE);"),
    "unsigned elements with a flag": (
        messages.UNSIGNED_AS_SIGNED,
        f"unsigned elements of A ('uchar') are used as signed, because of {FLAG}A_SIGNED",
        f"ic = coop_matmul_add(ua, sb, ic, {FLAG}A_SIGNED @| {FLAG}B_SIGNED);"),
    "operands not constant": (
        messages.OPERANDS_NOT_CONSTANT,
        "fourth argument of 'coop_matmul_add' must be a constant expression",
        "c = coop_matmul_add(a, b, c, @n);"),
    "unknown operands": (
        messages.INVALID_OPERANDS,
        "fourth argument of 'coop_matmul_add' has bits without a meaning: 0x20; expected a combination of the "
        "CLK_COOPERATIVE_MATRIX_OPERAND constants (at most 0x1f)",
        "c = coop_matmul_add(a, b, c, @32);"),
    "D29 store pointer": (
        messages.ELEMENT_POINTER_MISMATCH,
        "inconsistent between cooperative matrix element type and buffer pointer type: the elements are 'float', "
        "the pointer is '__global int *'",
        "coop_mat_store(@ip, a, ROW, 8);"),
    "store to const": (
        messages.STORE_TO_CONST,
        "'coop_mat_store' writes through its pointer, which is '__global const float *'",
        "coop_mat_store(@q, a, ROW, 8);"),
    "not a pointer": (
        messages.NOT_A_POINTER,
        "first argument of 'coop_mat_load' must be a pointer to the matrix elements, but has type 'float'",
        "a = coop_mat_load(@x, ROW, 8);"),
    "D30 store stride 0": (
        messages.STRIDE_OUT_OF_RANGE,
        "stride argument of 'coop_mat_store' must be positive, but is 0",
        "coop_mat_store(p, a, ROW, @0);"),
    "D30 load stride -1": (
        messages.STRIDE_OUT_OF_RANGE,
        "stride argument of 'coop_mat_load' must not be negative, but is -1",
        "a = coop_mat_load(p, ROW, @-1);"),
    "D31 private pointer": (
        messages.POINTER_SPACE,
        "pointer argument of 'coop_mat_load' is in the __private address space; expected __global or __local",
        "float t[128]; a = coop_mat_load(@t, ROW, 8);"),
    "component index": (
        messages.NOT_AN_INDEX,
        "component index of a cooperative matrix must have integer type, but has type 'float'",
        "x = a[@x];"),
    "negative component index": (
        messages.NEGATIVE_INDEX,
        "component index of a cooperative matrix is negative (-1)",
        "a[@-1] = x;"),
    "coordinate index": (
        messages.NOT_AN_INDEX,
        "component index of a cooperative matrix must have integer type, but has type 'float'",
        "int2 at = coop_mat_get_coord(a, @x);"),
}

CASES = {
    **{name: (message, text, TYPES + source) for name, (message, text, source) in FILE_SCOPE.items()},
    **{name: (message, text, TYPES + BODY % source) for name, (message, text, source) in IN_KERNEL.items()},
}


@pytest.mark.parametrize("name", CASES)
def test_diagnostic(name: str) -> None:
    message, text, marked = CASES[name]
    source, line, column = split(marked)
    (diagnostic,) = diagnose(source)
    assert (diagnostic.message, diagnostic.code, diagnostic.severity) == (text, message.code, message.severity)
    assert diagnostic.location is not None
    assert (diagnostic.location.line, diagnostic.location.column) == (line, column)


def test_every_message_has_a_case() -> None:
    declared = {value.code for value in vars(messages).values() if isinstance(value, Message)}
    assert declared == {message.code for message, _, _ in CASES.values()} | {messages.EXTENSION_DISABLED.code}


# ------------------------------------------------------------------ D1, D21: reported elsewhere, or in two ways

DISABLED = ("cooperative matrix types require OpenCL extension 'cl_khr_cooperative_matrix' to be enabled via pragma; "
            "'#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : disable' is in effect")


def only(source: str) -> tuple[str, str, tuple[int, int]]:
    """Code, text and place of the only diagnostic of a source."""
    (diagnostic,) = diagnose(source)
    assert diagnostic.location is not None
    return diagnostic.code or "", diagnostic.message, (diagnostic.location.line, diagnostic.location.column)


def test_d1_extension_disabled() -> None:
    source = "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : disable\n" + attribute(f"{SCOPE}, 8, 8, {USE_A}")
    assert only(source) == ("CM4001", DISABLED, (2, 32))


def test_d1_device_without_the_feature() -> None:
    sink, file = DiagnosticSink(), SourceFile("k.cl", "typedef float M;")
    arguments: list[Expression] = [Constant(INT, None, value) for value in (3, 8, 8, 0)]
    assert matrix_type(Analyzer(sink), FLOAT, arguments, SourceLocation(file, 1, 9)) is ERROR
    assert [d.header for d in sink.diagnostics] == [
        "k.cl:1:9: error: cooperative matrix types require OpenCL extension 'cl_khr_cooperative_matrix' to be enabled "
        "via pragma; the device does not define __opencl_c_ext_cooperative_matrix [CM4001]"]


def test_extension_enabled_again() -> None:
    pragma = "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : {}\n"
    source = pragma.format("disable") + pragma.format("enable") + attribute(f"{SCOPE}, 8, 8, {USE_A}")
    assert diagnose(source) == []


@pytest.mark.parametrize(("statement", "source_type", "target_type"), [
    ("a @= a16;", ("float", 16, 16, "A"), ("float", 16, 8, "A")),
    ("a @= ha;", ("half", 16, 8, "A"), ("float", 16, 8, "A")),
    ("c @= a16;", ("float", 16, 16, "A"), ("float", 16, 16, "ACCUMULATOR")),
])
def test_d21_assignment(statement: str, source_type: tuple[str, int, int, str],
                        target_type: tuple[str, int, int, str]) -> None:
    source, line, column = split(TYPES + BODY % statement)
    expected = (f"incompatible cooperative matrix types: expected '{type_text(*target_type)}', "
                f"found '{type_text(*source_type)}'")
    assert only(source) == ("CM3011", expected, (line, column))


def test_d6_has_a_note() -> None:
    (diagnostic,) = diagnose(TYPES + "kernel void k(A_t a) { }")
    assert [note.message for note in diagnostic.notes] == [
        "pass a pointer to the elements and use coop_mat_load in the kernel"]


def test_one_error_is_reported_once() -> None:
    source = TYPES + BODY % "A_t m = coop_mat_load(unknown, ROW, 8); m = m + m; a = undeclared * a; c = c * m[0];"
    assert [d.message.split(";")[0] for d in diagnose(source)] == [
        "use of undeclared identifier 'unknown'", "use of undeclared identifier 'undeclared'"]


def test_several_wrong_arguments_are_all_reported() -> None:
    codes = [d.code for d in diagnose("typedef float M __attribute__((coop_mat(7, 0, 8, 9)));")]
    assert codes == ["CM4003", "CM4006", "CM4004"]
