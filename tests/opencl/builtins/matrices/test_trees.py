"""Cooperative matrices in OpenCL C: the kernel tree of correct programs (RFC 4.1, 4.4 to 4.6, and our additions)."""

from __future__ import annotations

import itertools

import pytest

from coopmat.devices import describe
from coopmat.diagnostics import Diagnostic
from coopmat.opencl import compile_source
from coopmat.tree import nodes as n
from coopmat.tree.types import (
    BFLOAT16,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    SCALARS,
    SIZE_T,
    UCHAR,
    UINT,
    VOID,
    AddressSpace,
    Array,
    ExecutionScope,
    Matrix,
    Pointer,
    Scalar,
    Type,
    Use,
    Vector,
)

SUBGROUP = "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP"


def compile_unit(source: str) -> tuple[n.Program, list[Diagnostic]]:
    return compile_source(source, device=describe("generic"))


def function(source: str, name: str = "k") -> n.Function:
    """A function of a source that compiles without a warning."""
    program, diagnostics = compile_unit(source)
    assert diagnostics == []
    return next(f for f in program.functions if f.name == name)


def statements(source: str, name: str = "k") -> list[n.Statement]:
    body = function(source, name).body
    assert body is not None
    return list(body.statements)


def declared(element: str, rows: int, columns: int, use: str, name: str) -> str:
    """A typedef in the RFC's form."""
    return (f"typedef {element} {name} __attribute__((coop_mat({SUBGROUP}, {rows}, {columns}, "
            f"CLK_COOPERATIVE_MATRIX_{use})));\n")


def last_value(source: str) -> n.Expression:
    """The expression of a kernel's last statement, or what it stores there."""
    statement = statements(source)[-1]
    assert isinstance(statement, n.Evaluate)
    if isinstance(statement.expression, n.Assign):
        return statement.expression.value
    return statement.expression


def matrix(element: Scalar, rows: int, columns: int, use: Use) -> Matrix:
    return Matrix(element, ExecutionScope.SUBGROUP, rows, columns, use)


# ------------------------------------------------------------------ RFC 4.1: types


def variable_type(declaration: str) -> Type:
    (statement,) = statements(f"kernel void k() {{ {declaration} }}")
    assert isinstance(statement, n.Declare)
    assert statement.initializer is None
    return statement.variable.type


def test_rfc_example_1() -> None:
    declaration = f"float vmat1 __attribute__((coop_mat({SUBGROUP}, 8, 8, CLK_COOPERATIVE_MATRIX_A)));"
    assert variable_type(declaration) == matrix(FLOAT, 8, 8, Use.A)


def test_rfc_example_2() -> None:
    source = declared("half", 4, 4, "B", "chmat44") + "kernel void k() { chmat44 vmat2; }"
    (statement,) = statements(source)
    assert isinstance(statement, n.Declare)
    assert statement.variable.type == matrix(HALF, 4, 4, Use.B)


@pytest.mark.parametrize("declaration", [
    "int __attribute__((coop_mat(3, 16, 2 * 4, 2))) m;",
    "__attribute__((coop_mat(memory_scope_sub_group, 16, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR))) int m;",
    "int m __attribute__((__coop_mat__(memory_scope_sub_group, sizeof(int4), 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));",
    "enum { ROWS = 16 }; int m __attribute__((coop_mat(3, ROWS, ROWS / 2, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));",
])
def test_spellings_of_one_type(declaration: str) -> None:
    assert variable_type(declaration) == matrix(INT, 16, 8, Use.ACCUMULATOR)


@pytest.mark.parametrize("element", [name for name in SCALARS if name != "bool"])
@pytest.mark.parametrize("use", list(Use))
def test_every_element_type_and_use(element: str, use: Use) -> None:
    declaration = f"{element} m __attribute__((coop_mat({SUBGROUP}, 3, 5, {use})));"
    assert variable_type(declaration) == matrix(SCALARS[element], 3, 5, use)


def test_matrices_in_arrays_structures_and_pointers() -> None:
    source = declared("float", 8, 8, "A", "M") + """
        struct pair { M first, second; };
        void swap(M *a, M *b) { M t = *a; *a = *b; *b = t; }
        M first(struct pair p, M unused) { return p.first; }
        kernel void k() {
            M tiles[2]; struct pair p;
            swap(&tiles[0], &tiles[1]); p.first = tiles[1]; tiles[0] = first(p, p.second);
        }
    """
    type_ = matrix(FLOAT, 8, 8, Use.A)
    declare = statements(source)[0]
    assert isinstance(declare, n.Declare)
    assert declare.variable.type == Array(type_, 2)
    swap = function(source, "swap")
    assert isinstance(swap.parameters[0].type, Pointer)
    assert swap.parameters[0].type.pointee == type_
    assert function(source, "first").result == type_


# RFC 4.1 and 4.4 name them; the values are SPIR-V's, the draft asserts 3, 0, 1, 2 and NONE == 0.
ENUMERATORS = {
    "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP": 3,
    "CLK_COOPERATIVE_MATRIX_A": 0, "CLK_COOPERATIVE_MATRIX_B": 1, "CLK_COOPERATIVE_MATRIX_ACCUMULATOR": 2,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR": 0, "CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR": 1,
    "CLK_COOPERATIVE_MATRIX_OPERAND_NONE": 0, "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED": 1,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED": 2, "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED": 4,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED": 8,
    "CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION": 16,
}


def test_enumerators() -> None:
    checks = "".join(f'_Static_assert({name} == {value}, "{name}");\n' for name, value in ENUMERATORS.items())
    assert compile_unit(checks)[1] == []


def test_enumeration_types() -> None:
    source = """kernel void k() {
        coop_matrix_scope_t scope = CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP;
        coop_matrix_use_t use = CLK_COOPERATIVE_MATRIX_B;
        coop_matrix_layout_t layout = CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR;
        coop_matrix_operands_t operands = CLK_COOPERATIVE_MATRIX_OPERAND_NONE;
    }"""
    assert [str(s.variable.type) for s in statements(source) if isinstance(s, n.Declare)] == [
        "coop_matrix_scope_t", "coop_matrix_use_t", "coop_matrix_layout_t", "coop_matrix_operands_t"]


@pytest.mark.parametrize("name", ["__opencl_c_ext_cooperative_matrix", "cl_khr_cooperative_matrix"])
def test_feature_macros(name: str) -> None:
    assert compile_unit(f"#if !{name}\n#error missing\n#endif\n")[1] == []


def test_the_pragma_is_accepted() -> None:
    source = "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable\n" + declared("float", 8, 8, "A", "M")
    assert compile_unit(source)[1] == []


# ------------------------------------------------------------------ RFC 4.5: load, store, multiply-add


def test_rfc_load() -> None:
    source = declared("float", 8, 4, "A", "matA") + """kernel void k(global float *A) {
        matA m;
        m = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 3);
    }"""
    load = last_value(source)
    assert isinstance(load, n.MatrixLoad)
    assert load.type == matrix(FLOAT, 8, 4, Use.A)
    assert (load.layout, load.pointer.type) == (0, Pointer(FLOAT, AddressSpace.GLOBAL))
    assert isinstance(load.stride, n.Constant)
    assert load.stride.value == 3


def test_rfc_store() -> None:
    source = declared("half", 2, 4, "A", "matA") + """kernel void k(local half *A) {
        matA m;
        coop_mat_store(A, m, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 3);
    }"""
    store = last_value(source)
    assert isinstance(store, n.MatrixStore)
    assert (store.type, store.layout) == (VOID, 1)
    assert isinstance(store.matrix, n.Load)
    assert store.matrix.type == matrix(HALF, 2, 4, Use.A)


RFC_MULTIPLY = (declared("float", 4, 8, "A", "matA") + declared("float", 8, 2, "B", "matB")
                + declared("float", 4, 2, "ACCUMULATOR", "matC"))


def test_rfc_multiply_add() -> None:
    source = RFC_MULTIPLY + """kernel void k() {
        matA a;
        matB b;
        matC c, d;
        d = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED);
    }"""
    program, diagnostics = compile_unit(source)
    assert [d.message for d in diagnostics] == [
        "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED has no meaning for a matrix of 'float' and is ignored"]
    body = program.kernels[0].body
    assert body is not None
    statement = body.statements[-1]
    assert isinstance(statement, n.Evaluate)
    assert isinstance(statement.expression, n.Assign)
    multiply = statement.expression.value
    assert isinstance(multiply, n.MatrixMultiplyAdd)
    assert multiply.type == matrix(FLOAT, 4, 2, Use.ACCUMULATOR)
    assert multiply.operands == 0
    assert [operand.type for operand in (multiply.a, multiply.b, multiply.c)] == [
        matrix(FLOAT, 4, 8, Use.A), matrix(FLOAT, 8, 2, Use.B), matrix(FLOAT, 4, 2, Use.ACCUMULATOR)]


SIGNS = list(itertools.product((False, True), repeat=3))


@pytest.mark.parametrize(("a", "b", "c"), SIGNS)
def test_three_argument_form_takes_the_flags_from_the_types(a: bool, b: bool, c: bool) -> None:
    source = (declared("char" if a else "uchar", 8, 32, "A", "A_t")
              + declared("char" if b else "uchar", 32, 16, "B", "B_t")
              + declared("int" if c else "uint", 8, 16, "ACCUMULATOR", "C_t")
              + "kernel void k() { A_t a; B_t b; C_t c; c = coop_mat_mulAdd(a, b, c); }")
    multiply = last_value(source)
    assert isinstance(multiply, n.MatrixMultiplyAdd)
    assert multiply.operands == a * 1 + b * 2 + c * (4 + 8)


@pytest.mark.parametrize("function_name", ["coop_matmul_add", "coop_mat_mulAdd"])
@pytest.mark.parametrize("flags", [3, 15, 31])
def test_given_flags_are_kept(function_name: str, flags: int) -> None:
    source = (declared("char", 8, 32, "A", "A_t") + declared("char", 32, 16, "B", "B_t")
              + declared("int", 8, 16, "ACCUMULATOR", "C_t")
              + f"kernel void k() {{ A_t a; B_t b; C_t c; c = {function_name}(a, b, c, {flags}); }}")
    multiply = last_value(source)
    assert isinstance(multiply, n.MatrixMultiplyAdd)
    assert multiply.operands == flags


def test_result_takes_the_element_type_of_its_target() -> None:
    source = (declared("half", 8, 16, "A", "A_t") + declared("half", 16, 8, "B", "B_t")
              + declared("half", 8, 8, "ACCUMULATOR", "C_t") + declared("float", 8, 8, "ACCUMULATOR", "D_t")
              + "kernel void k() { A_t a; B_t b; C_t c; D_t d; d = coop_mat_mulAdd(a, b, c); }")
    assert last_value(source).type == matrix(FLOAT, 8, 8, Use.ACCUMULATOR)


TARGETS = {
    "assignment": "void f(P p) { M m; m = LOAD; }",
    "initializer": "void f(P p) { M m = LOAD; }",
    "parentheses": "void f(P p) { M m = (LOAD); m = ((LOAD)); }",
    "argument": "void g(int, M, int); void g(int a, M m, int b) { } void f(P p) { g(1, LOAD, 2); }",
    "return": "M f(P p) { return LOAD; }",
    "element of an array": "void f(P p) { M m[2]; m[1] = LOAD; }",
    "initializer of an array": "void f(P p) { M m[2] = {LOAD, LOAD}; }",
    "member": "struct s { M m; }; void f(P p) { struct s v; v.m = LOAD; struct s w = {LOAD}; }",
    "comma": "void f(P p) { M m = (0, LOAD); }",
    "conditional": "void f(P p, int n) { M m = n ? LOAD : LOAD; }",
    "chain": "void f(P p) { M m, l; m = l = LOAD; }",
    "through a pointer": "void f(P p, M *m) { *m = LOAD; }",
}


@pytest.mark.parametrize("call", ["coop_mat_load(p, 0, 8)", "coop_mat_init(2)", "coop_mat_convert(other())"])
@pytest.mark.parametrize("target", TARGETS)
def test_result_type_comes_from_the_target(target: str, call: str) -> None:
    source = (declared("float", 8, 8, "A", "M") + declared("half", 8, 8, "A", "H")
              + "typedef global const float *P; H other() { H h; return h; }\n"
              + TARGETS[target].replace("LOAD", call))
    diagnostics = compile_unit(source)[1]
    assert [d for d in diagnostics if d.option not in ("unused-value", "comma")] == []


def test_layout_may_be_any_constant_expression_and_stride_any_integer() -> None:
    source = declared("float", 8, 8, "A", "M") + """
        void f(global float *p, uchar s, int i, uint u, long l, size_t z) {
            M m;
            m = coop_mat_load(p + 3, 2 - 1, s);
            m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, i);
            m = coop_mat_load(p, 1, u); m = coop_mat_load(p, 0, l); m = coop_mat_load(p, sizeof(int) == 4, z + 8);
            m = coop_mat_load(p, 0, 0);
        }"""
    loads = [s.expression.value for s in statements(source, "f") if isinstance(s, n.Evaluate)
             and isinstance(s.expression, n.Assign) and isinstance(s.expression.value, n.MatrixLoad)]
    assert [load.layout for load in loads] == [1, 0, 1, 0, 1, 0]
    assert [load.stride.type for load in loads] == [SIZE_T] * 6


# ------------------------------------------------------------------ RFC 4.6: operators


def test_rfc_operators_with_strings_in_the_attribute() -> None:
    source = """
        typedef float matA __attribute__((coop_mat("CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP", 4, 8,
                                                   "CLK_COOPERATIVE_MATRIX_A")));
        kernel void k() { matA a; matA c = a * 4; c = -c; c = c + c; }
    """
    program, diagnostics = compile_unit(source)
    assert [d.option for d in diagnostics] == ["coop-mat-string"] * 2
    assert program.globals == []
    body = program.kernels[0].body
    assert body is not None
    _, scaled, negated, added = body.statements
    type_ = matrix(FLOAT, 4, 8, Use.A)
    assert isinstance(scaled, n.Declare)
    product = scaled.initializer
    assert isinstance(product, n.MatrixTimesScalar)
    assert product.type == type_
    assert isinstance(product.scalar, n.Constant)
    assert (product.scalar.type, product.scalar.value) == (FLOAT, 4.0)
    assert isinstance(negated, n.Evaluate)
    assert isinstance(negated.expression, n.Assign)
    assert isinstance(negated.expression.value, n.Unary)
    assert isinstance(added, n.Evaluate)
    assert isinstance(added.expression, n.Assign)
    assert isinstance(added.expression.value, n.Binary)
    assert added.expression.value.operator is n.BinaryOperator.ADD


@pytest.mark.parametrize("operator", "+-*/")
@pytest.mark.parametrize("element", ["char", "ushort", "int", "ulong", "half", "float", "double"])
def test_binary_operators(operator: str, element: str) -> None:
    source = declared(element, 4, 4, "B", "M") + f"kernel void k() {{ M a, b, c; c = a {operator} b; }}"
    result = last_value(source)
    assert isinstance(result, n.Binary)
    assert (result.operator.value, result.type) == (operator, matrix(SCALARS[element], 4, 4, Use.B))


@pytest.mark.parametrize("operator", "+-*/")
def test_compound_assignment(operator: str) -> None:
    source = declared("int", 4, 4, "ACCUMULATOR", "M") + f"kernel void k() {{ M a, b; a {operator}= b; }}"
    update = last_value(source)
    assert isinstance(update, n.Update)
    assert isinstance(update.value, n.Binary)
    assert update.value.operator.value == operator
    assert update.value.left == update.current


@pytest.mark.parametrize("expression", ["m * s", "s * m"])
@pytest.mark.parametrize(("element", "scalar"), [
    ("float", "int"), ("float", "double"), ("char", "int"), ("half", "float"), ("int", "float"), ("uint", "uint")])
def test_scalar_factor_converts_to_the_element_type(expression: str, element: str, scalar: str) -> None:
    source = declared(element, 4, 4, "A", "M") + f"void f({scalar} s) {{ M m, r; r = {expression}; }}"
    (result,) = [s.expression.value for s in statements(source, "f") if isinstance(s, n.Evaluate)
                 and isinstance(s.expression, n.Assign)]
    assert isinstance(result, n.MatrixTimesScalar)
    assert result.scalar.type == SCALARS[element]
    assert result.type == matrix(SCALARS[element], 4, 4, Use.A)


def test_scalar_compound_assignment() -> None:
    source = declared("float", 4, 4, "A", "M") + "kernel void k() { M a; a *= 3; }"
    update = last_value(source)
    assert isinstance(update, n.Update)
    assert isinstance(update.value, n.MatrixTimesScalar)
    assert update.value.matrix == update.current


@pytest.mark.parametrize(("expression", "kind"), [
    ("a + b", n.Binary), ("a / b", n.Binary), ("-a", n.Unary), ("a * 2", n.MatrixTimesScalar),
    ("2.0f * a", n.MatrixTimesScalar)])
def test_bfloat16_computes_in_float(expression: str, kind: type[n.Expression]) -> None:
    source = declared("__bf16", 8, 8, "ACCUMULATOR", "M") + f"kernel void k() {{ M a, b, c; c = {expression}; }}"
    result = last_value(source)
    assert isinstance(result, n.Convert)
    assert result.type == matrix(BFLOAT16, 8, 8, Use.ACCUMULATOR)
    assert isinstance(result.operand, kind)
    assert result.operand.type == matrix(FLOAT, 8, 8, Use.ACCUMULATOR)


# ------------------------------------------------------------------ fill, conversion, length, components


def test_init() -> None:
    fill = last_value(declared("half", 8, 8, "A", "M") + "kernel void k() { M m; m = coop_mat_init(1); }")
    assert isinstance(fill, n.MatrixFill)
    assert isinstance(fill.value, n.Constant)
    assert (fill.value.type, fill.value.value) == (HALF, 1.0)


@pytest.mark.parametrize(("source_element", "target_element"), [
    ("float", "half"), ("int", "float"), ("uchar", "int"), ("__bf16", "double"), ("double", "char")])
def test_convert(source_element: str, target_element: str) -> None:
    source = (declared(source_element, 8, 8, "A", "S") + declared(target_element, 8, 8, "A", "T")
              + "kernel void k() { S s; T t; t = coop_mat_convert(s); }")
    convert = last_value(source)
    assert isinstance(convert, n.Convert)
    assert convert.type == matrix(SCALARS[target_element], 8, 8, Use.A)
    assert convert.operand.type == matrix(SCALARS[source_element], 8, 8, Use.A)


def test_length_of_a_variable_and_of_a_call() -> None:
    prelude = declared("float", 8, 8, "A", "M") + "M f() { M m; return m; }"
    length = last_value(prelude + "kernel void k() { M m; uint i; i = coop_mat_length(m); }")
    assert length == n.MatrixLength(UINT, length.location, matrix(FLOAT, 8, 8, Use.A))
    called = last_value(prelude + "kernel void k() { uint i; i = coop_mat_length(f()); }")
    assert isinstance(called, n.Comma)
    assert isinstance(called.first, n.Call)


def test_components() -> None:
    prelude = declared("char", 8, 8, "A", "M") + "M f() { M m; return m; }"
    (loop,) = [s for s in statements(prelude + """kernel void k() {
        M m; for (uint i = 0; i < coop_mat_length(m); ++i) m[i] = m[i] + 1; }""") if not isinstance(s, n.Declare)]
    assert isinstance(loop, n.Block | n.Loop)
    read = last_value(prelude + "kernel void k() { char c; c = f()[1]; }")
    assert isinstance(read, n.ExtractComponent)
    assert read.type == CHAR
    statement = statements(prelude + "kernel void k() { M m; m[2] = 7; }")[-1]
    assert isinstance(statement, n.Evaluate)
    assert isinstance(statement.expression, n.Assign)
    assert isinstance(statement.expression.place, n.ElementPlace)
    assert statement.expression.place.type == CHAR


def test_coordinates() -> None:
    coordinates = last_value(declared("uchar", 8, 8, "B", "M")
                             + "kernel void k() { M m; int2 at; at = coop_mat_get_coord(m, 3); }")
    assert isinstance(coordinates, n.MatrixCoordinates)
    assert coordinates.type == Vector(INT, 2)
    assert coordinates.matrix.type == matrix(UCHAR, 8, 8, Use.B)


def test_double_matrices() -> None:
    source = (declared("double", 16, 4, "A", "M")
              + "kernel void k(global double *p) { M m; m = coop_mat_load(p, 0, 4); }")
    assert last_value(source).type == matrix(DOUBLE, 16, 4, Use.A)
