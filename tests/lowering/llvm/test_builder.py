"""The text of our LLVM IR: the RFC's examples, declarations, constants, metadata."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat import llvm
from coopmat.diagnostics import SourceFile, SourceLocation
from coopmat.lowering import to_llvm_ir
from coopmat.lowering.llvm.types import quoted, scalar_constant
from coopmat.opencl import compile_source
from coopmat.spirv.grammar import Decoration, ExecutionMode, Op
from coopmat.spirv.module import Module
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.llvm.modules import code, describe
from tests.kit.lowering.trees import (
    assign,
    at,
    binary,
    block,
    declare,
    element,
    function,
    kernel,
    load,
    num,
    place,
    pointer,
    statement,
    update,
    variable,
    while_,
)

GOLDEN = Path(__file__).parent / "golden"


def ir_of(*functions: n.Function, **facts: Any) -> str:
    """The verified IR of a program."""
    text = to_llvm_ir(n.Program(list(functions), **facts))
    llvm.verify(text)
    return text


def module_of(*functions: n.Function) -> Module:
    return Module.from_bytes(llvm.to_spirv(ir_of(*functions)))


# --------------------------------------------------------------------------------------
# The RFC's examples
# --------------------------------------------------------------------------------------


def golden_ir(name: str) -> str:
    source = (GOLDEN / f"{name}.cl").read_text()
    program, _ = compile_source(source, name=f"{name}.cl")
    return to_llvm_ir(program, source_name=f"{name}.cl")


EXAMPLES = ["rfc_4_1", "rfc_4_5", "rfc_4_6"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_rfc_s_examples(name: str) -> None:
    found = golden_ir(name)
    assert found == (GOLDEN / f"{name}.ll").read_text()
    llvm.verify(found)


DOCUMENTED = {
    "rfc_4_1": ['alloca target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 0)',
                'alloca target("spirv.CooperativeMatrixKHR", half, 3, 4, 4, 1)'],
    "rfc_4_5": [
        r'call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 4, 0) '
        r"@_Z32__spirv_CooperativeMatrixLoadKHR\S*(ptr addrspace(1) %A, i32 0, i64 3)",
        r"call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHR\S*(ptr addrspace(1) %A, "
        r'target("spirv.CooperativeMatrixKHR", half, 3, 2, 4, 0) %\w+, i32 0, i64 3)',
        *(rf'call spir_func target("spirv.CooperativeMatrixKHR", {c}, 3, 4, 2, 2) '
          rf'@_Z34__spirv_CooperativeMatrixMulAddKHR\S*(target("spirv.CooperativeMatrixKHR", {a}, 3, 4, 8, 0) %\w+, '
          rf'target("spirv.CooperativeMatrixKHR", {a}, 3, 8, 2, 1) %\w+, '
          rf'target("spirv.CooperativeMatrixKHR", {c}, 3, 4, 2, 2) %\w+, i32 {flags})'
          for a, c, flags in (("float", "float", 0), ("i8", "i32", 8)))],
    "rfc_4_6": [
        rf'call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) '
        rf"@_Z34__spirv_CooperativeMatrix{operation}\S*("
        for operation in ("ScalarMul", "ScalarNeg", "BinaryAdd", "BinarySub", "BinaryMul", "BinaryDiv")],
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_documented_calls_stand_in_this_order(name: str) -> None:
    found = golden_ir(name)
    position = 0
    for text in DOCUMENTED[name]:
        pattern = re.sub(r"([().\"])", r"\\\1", text)
        match = re.compile(pattern).search(found, position)
        assert match is not None, text
        position = match.end()


KERNELS = {"rfc_4_1": ["types"], "rfc_4_5": ["load", "store", "multiply_add", "multiply_add_integers"],
           "rfc_4_6": ["operators"]}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_become_modules(name: str) -> None:
    module = Module.from_bytes(llvm.to_spirv((GOLDEN / f"{name}.ll").read_text(), source_name=f"{name}.ll"))
    assert [entry.name for entry in module.entry_points] == KERNELS[name]
    if name == "rfc_4_6":
        names = [line.split()[0] for line in code(module) if line.split()[0] not in ("Load", "Store")]
        assert names == ["CooperativeMatrixLoadKHR", "CompositeConstruct", "FMul", "FNegate", "FAdd", "FSub", "FMul",
                         "FDiv", "CooperativeMatrixStoreKHR"]


# --------------------------------------------------------------------------------------
# Kernels, functions, variables
# --------------------------------------------------------------------------------------


def test_a_kernel_s_attributes_become_execution_modes() -> None:
    made = kernel("k", [], required_work_group_size=(16, 2, 1), work_group_size_hint=(8, 1, 1),
                  required_sub_group_size=16)
    module = module_of(made)
    assert module.execution_modes(module.entry_points[0].function_id) == [
        (ExecutionMode.LocalSize, (16, 2, 1)), (ExecutionMode.LocalSizeHint, (8, 1, 1)),
        (ExecutionMode.SubgroupSize, (16,))]


def test_contraction_is_off_where_the_program_says_so() -> None:
    for contract in (True, False):
        module = Module.from_bytes(llvm.to_spirv(ir_of(kernel("k", []), contract_floating_point=contract)))
        modes = [mode for mode, _ in module.execution_modes(module.entry_points[0].function_id)]
        assert (ExecutionMode.ContractionOff in modes) is not contract


def test_parameters() -> None:
    record = t.Record("pair", fields=(t.Field("x", t.INT), t.Field("v", t.Vector(t.FLOAT, 4))))
    parameters = [variable("in", pointer(t.FLOAT, const=True), restrict=True),
                  variable("flags", pointer(t.BOOL, volatile=True)), variable("pair", record),
                  variable("on", t.BOOL), variable("shared", pointer(t.HALF, t.AddressSpace.LOCAL)),
                  variable("anything", pointer(t.VOID))]
    text = ir_of(kernel("k", parameters))
    assert ("define spir_kernel void @k(ptr addrspace(1) noundef noalias readonly align 4 %in, "
            "ptr addrspace(1) noundef align 1 %flags, ptr noundef byval(%struct.pair) align 16 %pair, "
            "i8 noundef %on, ptr addrspace(3) noundef align 2 %shared, ptr addrspace(1) noundef %anything) #0") in text
    assert '{!"float*", !"bool*", !"struct pair", !"bool", !"half*", !"void*"}' in text
    assert '{!"restrict const", !"volatile", !"", !"", !"", !""}' in text
    assert "!{i32 1, i32 1, i32 0, i32 0, i32 3, i32 1}" in text
    module = module_of(kernel("k", parameters))
    decorations = [module.decorations(p.result_id or 0) for p in module.functions[0].parameters]
    assert (Decoration.FuncParamAttr, (6,)) in decorations[0]  # NoWrite
    assert (Decoration.FuncParamAttr, (4,)) in decorations[0]  # NoAlias
    assert (Decoration.Volatile, ()) in decorations[1]
    assert (Decoration.FuncParamAttr, (2,)) in decorations[2]  # ByVal


def test_names_stay_apart() -> None:
    """A function, a program-scope variable and the locals of one name; a block that is named like a variable."""
    shared = variable("x", t.INT, t.AddressSpace.LOCAL)
    x, entry = variable("x", t.INT), variable("entry", t.INT)
    helper = function("x", t.INT, [variable("x", t.INT)], n.Return(None, num(1)))
    body = [declare(shared), declare(x, n.Call(t.INT, None, helper, (num(1),))), declare(entry, load(x)),
            assign(shared, load(entry))]
    text = ir_of(helper, kernel("k", [], *body))
    assert "define internal spir_func i32 @x(i32 %x)" in text
    assert "@x1 = internal addrspace(3) global i32 poison, align 4" in text
    assert "%entry1 = alloca i32" in text


def test_a_function_may_have_the_name_of_a_built_in_one() -> None:
    helper = function("dot", t.INT, [variable("a", t.INT)], n.Return(None, num(7)))
    out = variable("out", pointer(t.INT))
    module = module_of(helper, kernel("k", [out], assign(at(out), n.Call(t.INT, None, helper, (num(1),)))))
    assert [item.opcode for item in module.of_opcode(Op.FunctionCall, Op.Dot)] == [Op.FunctionCall]


@pytest.mark.parametrize("name", ["a b", 'q"uote', "back\\slash", "0", "naïve", "new\nline"])
def test_any_name_is_written_so_that_llvm_reads_it(name: str) -> None:
    assert [entry.name for entry in module_of(kernel(name, [])).entry_points] == [name]


def test_quoted_text() -> None:
    assert quoted('a"b\\c\n') == '"a\\22b\\5Cc\\0A"'


def test_the_source_place_is_a_comment_that_cannot_break_out() -> None:
    location = SourceLocation(SourceFile("a\nret i32 7", "x"), 3, 1)
    out = variable("out", pointer(t.INT))
    made = n.Function("k", t.VOID, [out], location, is_kernel=True, body=n.Block(location, (
        n.Evaluate(location, n.Assign(t.INT, location, at(out, num(0)), n.Constant(t.INT, location, 5))),)))
    text = ir_of(made)
    assert "\n  ; a?ret i32 7:3\n" in text


def test_program_scope_variables() -> None:
    table = variable("table", t.Array(t.SHORT, 2), t.AddressSpace.CONSTANT, const=True, alignment=16)
    table.initializer = n.Aggregate(table.type, None, (num(-1, t.SHORT), num(2, t.SHORT)))
    counter = variable("counter", t.Vector(t.INT, 4), t.AddressSpace.GLOBAL)
    text = ir_of(kernel("k", []), globals=[table, counter])
    assert "@table = internal addrspace(2) constant [2 x i16] [i16 -1, i16 2], align 16" in text
    assert "@counter = internal addrspace(1) global <4 x i32> zeroinitializer, align 16" in text


def test_records_of_one_name() -> None:
    first, second = (t.Record("r", fields=(t.Field("x", type_),)) for type_ in (t.INT, t.Array(t.HALF, 3)))
    packed = t.Record("p", packed=True, fields=(t.Field("c", t.CHAR), t.Field("d", t.DOUBLE)))
    union = t.Record("u", is_union=True, fields=(t.Field("a", t.Array(t.UCHAR, 5)), t.Field("i", t.INT)))
    variables = [variable(name, type_) for name, type_ in
                 (("a", first), ("b", second), ("c", packed), ("d", union))]
    text = ir_of(kernel("k", [], *(declare(v) for v in variables)))
    for line in ("%struct.r = type { i32 }", "%struct.r.1 = type { [3 x half] }", "%struct.p = type <{ i8, double }>",
                 "%union.u = type { [2 x i32] }"):
        assert line in text


@pytest.mark.parametrize(("unroll", "hint"), [
    (0, '!"llvm.loop.unroll.full"'), (1, '!"llvm.loop.unroll.disable"'), (4, '!"llvm.loop.unroll.count", i32 4')])
def test_unroll_hints(unroll: int, hint: str) -> None:
    i = variable("i", t.INT)
    loop = while_(binary("<", load(i), num(9)), statement(update(i, "+", num(1))), unroll=unroll)
    text = ir_of(kernel("k", [], declare(i, num(0)), block(loop, loop)))
    nodes = re.findall(r"br label %loop\.header\d*, !llvm\.loop (!\d+)", text)
    assert len(set(nodes)) == 2
    node = re.search(rf"^(!\d+) = !{{{hint}}}$", text, re.MULTILINE)
    assert node is not None
    for loop_node in nodes:
        assert f"{loop_node} = distinct !{{{loop_node}, {node.group(1)}}}" in text


def test_functions_that_differ_in_their_result_only() -> None:
    out = variable("out", pointer(t.INT))
    wide = variable("wide", pointer(t.LONG))
    vectors = tuple(n.Splat(t.Vector(t.INT, 4), None, load(at(out))) for _ in range(2))
    text = ir_of(kernel("k", [out, wide],
                        assign(at(out), n.Operation(t.INT, None, "core.SDot", vectors)),
                        assign(at(wide), n.Operation(t.LONG, None, "core.SDot", vectors))))
    assert "declare spir_func i32 @_Z12__spirv_SDotDv4_iS_(<4 x i32>, <4 x i32>)" in text
    assert "declare spir_func i64 @_Z12__spirv_SDotDv4_iS_.1(<4 x i32>, <4 x i32>)" in text


def test_the_stride_of_a_matrix_load_is_a_size() -> None:
    matrix = t.Matrix(t.FLOAT, t.ExecutionScope.SUBGROUP, 8, 8, t.Use.A)
    p = variable("p", pointer(t.FLOAT))
    for stride, conversion in ((t.INT, "sext i32"), (t.UINT, "zext i32"), (t.CHAR, "sext i8")):
        s = variable("s", stride)
        read = n.MatrixLoad(matrix, None, load(p), 0, load(s))
        assert f"%convert = {conversion} %s to i64" in ir_of(kernel("k", [p, s], read))


def test_choice_between_records() -> None:
    record = t.Record("r", fields=(t.Field("x", t.INT), t.Field("y", t.FLOAT)))
    a, b, flag = variable("a", record), variable("b", record), variable("flag", t.BOOL)
    chosen = n.Select(record, None, load(flag), load(a), load(b))
    ir_of(kernel("k", [a, b, flag], declare(variable("c", record), chosen)))
    module = module_of(kernel("k", [a, b, flag], declare(variable("c", record), chosen)))
    assert "Select" in " ".join(code(module))


# --------------------------------------------------------------------------------------
# Constants
# --------------------------------------------------------------------------------------


def emitted_constant(scalar: t.Scalar, value: float) -> int:
    """The bits of a constant in the module that LLVM makes."""
    out = variable("out", pointer(scalar))
    module = module_of(kernel("k", [out], assign(at(out, num(0)), num(value, scalar))))
    store, = (item for item in module.of_opcode(Op.Store) if len(item.words) == 4)
    constant = module.definition(store.words[1])
    if constant.opcode == Op.ConstantNull:
        return 0
    return sum(word << 32 * position for position, word in enumerate(constant.words))


FLOATING = {t.HALF: np.dtype(np.float16), t.BFLOAT16: np.dtype(ml_dtypes.bfloat16), t.FLOAT: np.dtype(np.float32),
            t.DOUBLE: np.dtype(np.float64)}
SPECIAL = [0.0, -0.0, 1.0, -1.5, 0.1, 1 / 3, 65504.0, 3.0e38, 1e300, 5e-324, 1e-45, 6e-8, float("inf"), float("-inf")]


@pytest.mark.parametrize("scalar", FLOATING, ids=str)
def test_floating_constants(scalar: t.Scalar) -> None:
    dtype = FLOATING[scalar]
    with np.errstate(over="ignore"):
        for value in SPECIAL:
            expected = int.from_bytes(np.array(value).astype(dtype).tobytes(), "little")
            assert emitted_constant(scalar, value) == expected, value
    nan = emitted_constant(scalar, float("nan")).to_bytes(dtype.itemsize, "little")
    assert np.isnan(np.frombuffer(nan, dtype).astype(np.float64)).all()


@given(st.floats(width=32), st.floats())
@settings(max_examples=300, derandomize=True)
def test_decimal_texts_are_exact(single: float, double: float) -> None:
    for scalar, value in ((t.FLOAT, single), (t.DOUBLE, double)):
        text = scalar_constant(scalar, value)
        bits = struct.pack("<d", float(text)) if not text.startswith("0x") else int(text, 16).to_bytes(8, "little")
        assert bits == struct.pack("<d", value) or value != value


@pytest.mark.parametrize(("scalar", "value", "bits"), [
    (t.CHAR, -128, 0x80), (t.UCHAR, 255, 0xFF), (t.SHORT, -2, 0xFFFE), (t.INT, -1, 0xFFFFFFFF),
    (t.UINT, 0xFFFFFFFF, 0xFFFFFFFF), (t.LONG, -(1 << 63), 1 << 63), (t.ULONG, (1 << 64) - 1, (1 << 64) - 1)])
def test_integer_constants(scalar: t.Scalar, value: int, bits: int) -> None:
    assert emitted_constant(scalar, value) & (1 << scalar.bits) - 1 == bits


def test_element_addresses() -> None:
    """Padding members are counted, and a matrix component is reached by a call."""
    matrix = t.Matrix(t.FLOAT, t.ExecutionScope.SUBGROUP, 16, 16, t.Use.ACCUMULATOR)
    v = variable("v", t.Array(matrix, 3))
    module = module_of(kernel("k", [], declare(v),
                              assign(element(element(place(v), 1), 2), num(1.0, t.FLOAT))))
    chain, = module.of_opcode(Op.AccessChain)
    assert describe(module, chain) == "AccessChain :f32*7 f32[16x16]2*7 2"
