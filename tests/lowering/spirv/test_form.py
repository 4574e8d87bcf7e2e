"""The modules themselves: declarations, decorations, source lines, validity, golden texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coopmat.diagnostics import CompileError, Error, SourceFile, SourceLocation
from coopmat.lowering import to_spirv
from coopmat.spirv.grammar import Capability, Decoration, ExecutionMode, FunctionParameterAttribute, Op
from coopmat.spirv.module import Module
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import (
    assign,
    at,
    binary,
    block,
    convert,
    declare,
    element,
    function,
    gid,
    kernel,
    load,
    num,
    place,
    pointer,
    run,
    update,
    validate,
    variable,
    while_,
)

GOLDEN = Path(__file__).parent / "golden"
SOURCE = SourceFile("kernel.cl", "")


def here(line: int, column: int = 1) -> SourceLocation:
    return SourceLocation(SOURCE, line, column)


def opcodes(module: Module) -> list[str]:
    return [item.name for item in module.instructions]


def count(module: Module, op: Op) -> int:
    return sum(item.opcode == op for item in module.instructions)


# -- Declarations --------------------------------------------------------------------------


def test_an_empty_program_is_a_module(tmp_path: Path) -> None:
    module = to_spirv(n.Program())
    assert set(module.capabilities) == {Capability.Addresses, Capability.Kernel, Capability.Linkage}
    validate(module, tmp_path)


def test_parameters_are_named_and_decorated(tmp_path: Path) -> None:
    record = t.Record("Pair", fields=(t.Field("a", t.INT), t.Field("b", t.LONG)))
    parameters = [variable("source", pointer(t.FLOAT, const=True), restrict=True),
                  variable("target", pointer(t.Vector(t.FLOAT, 4), volatile=True)), variable("pair", record),
                  variable("scale", t.HALF), variable("flag", t.BOOL),
                  variable("anything", pointer(t.VOID, t.AddressSpace.LOCAL))]
    module = to_spirv(n.Program([kernel("k", parameters)]))
    found = {module.names[p.result_id or 0]: set(module.decorations(p.result_id or 0))
             for p in module.functions[0].parameters}
    attribute, kind = Decoration.FuncParamAttr, FunctionParameterAttribute
    assert found == {
        "source": {(attribute, (kind.NoWrite,)), (attribute, (kind.NoAlias,)), (Decoration.Alignment, (4,))},
        "target": {(Decoration.Volatile, ()), (Decoration.Alignment, (16,))},
        "pair": {(attribute, (kind.ByVal,)), (Decoration.Alignment, (8,))},
        "scale": set(), "flag": set(), "anything": set()}
    assert "kernel_arg_type.k.float*,float4*,struct Pair,half,bool,void*," in module.to_text()
    validate(module, tmp_path)


def test_a_record_argument_by_value() -> None:
    record = t.Record("Pair", fields=(t.Field("a", t.INT), t.Field("b", t.LONG)))
    pair, out = variable("pair", record), variable("out", pointer(t.LONG))
    result = np.zeros(1, np.int64)
    value = n.ExtractField(t.LONG, None, load(pair), 1)
    argument = np.zeros((), np.dtype([("a", "i4"), ("b", "i8")], align=True))
    argument["b"] = 77
    run(n.Program([kernel("k", [out, pair], assign(at(out), value))]), "k", 1, result, argument)
    assert result[0] == 77


def test_execution_modes() -> None:
    plain = kernel("plain", [])
    required = kernel("required", [], required_work_group_size=(8, 2, 1), work_group_size_hint=(4, 1, 1),
                      required_sub_group_size=16)
    module = to_spirv(n.Program([plain, required], contract_floating_point=False))
    modes = {entry.name: dict(module.execution_modes(entry.function_id)) for entry in module.entry_points}
    assert modes == {"plain": {ExecutionMode.ContractionOff: ()}, "required": {
        ExecutionMode.ContractionOff: (), ExecutionMode.LocalSize: (8, 2, 1),
        ExecutionMode.LocalSizeHint: (4, 1, 1), ExecutionMode.SubgroupSize: (16,)}}
    assert Capability.SubgroupDispatch in module.capabilities
    assert to_spirv(n.Program([plain])).execution_modes(0) == []


@pytest.mark.parametrize(("type_", "capabilities"), [
    (t.INT, set()), (t.CHAR, {Capability.Int8}), (t.USHORT, {Capability.Int16}),
    (t.DOUBLE, {Capability.Float64}), (t.Vector(t.FLOAT, 16), {Capability.Vector16})], ids=str)
def test_exactly_the_capabilities_that_are_used(type_: t.Type, capabilities: set[Capability]) -> None:
    p, q = variable("p", pointer(type_)), variable("q", pointer(type_, const=True))
    zero = n.Constant(t.INT, None, 0)
    module = to_spirv(n.Program([kernel("k", [p, q], assign(at(p, zero), load(at(q, zero))))]))
    basic = {Capability.Kernel, Capability.Addresses, Capability.Int64}  # Int64: the index
    assert set(module.capabilities) == basic | capabilities
    assert module.extensions == ()


def test_bfloat16_names_its_extension() -> None:
    p = variable("p", pointer(t.BFLOAT16))
    module = to_spirv(n.Program([kernel("k", [p], assign(at(p, num(0)), num(1.5, t.BFLOAT16)))]))
    assert Capability.BFloat16TypeKHR in module.capabilities
    assert module.extensions == ("SPV_KHR_bfloat16",)


def test_a_called_kernel_becomes_a_wrapper_around_its_body(tmp_path: Path) -> None:
    p, q = variable("p", pointer(t.INT)), variable("q", pointer(t.INT))
    inner = kernel("inner", [p], assign(at(p), num(5)))
    outer = kernel("outer", [q], n.Call(t.VOID, None, inner, (load(q),)), update(at(q), "+", num(1)))
    program = n.Program([inner, outer])
    module = to_spirv(program)
    entries = {entry.function_id for entry in module.entry_points}
    assert len(entries) == 2
    assert not entries & {item.words[0] for item in module.instructions if item.opcode == Op.FunctionCall}
    validate(module, tmp_path)
    for name, expected in (("inner", 5), ("outer", 6)):
        result = np.zeros(3, np.int32)
        run(program, name, 3, result)
        assert result.tolist() == [expected] * 3


def test_a_helper_may_be_defined_after_its_caller(tmp_path: Path) -> None:
    x, out = variable("x", t.INT), variable("out", pointer(t.INT))
    helper = function("helper", t.INT, [x], n.Return(None, binary("+", load(x), num(1))))
    caller = kernel("k", [out], assign(at(out), n.Call(t.INT, None, helper, (num(4),))))
    validate(to_spirv(n.Program([caller, helper])), tmp_path)


# -- Source lines --------------------------------------------------------------------------


def test_a_memory_access_has_its_own_column_and_arithmetic_only_a_line() -> None:
    out = variable("out", pointer(t.INT))

    def read(column: int) -> n.Load:
        found = at(out, num(0))
        return n.Load(t.INT, here(3, column), found)

    total = n.Binary(t.INT, here(3, 20), n.BinaryOperator.ADD, read(10), read(30))
    module = to_spirv(n.Program([kernel("k", [out], n.Assign(t.INT, here(3, 5), at(out, num(0)), total))]))
    text = module.to_text().splitlines()
    lines = [line.split("OpLine")[1].split()[1:] for line in text if "OpLine" in line]
    assert lines == [["3", "10"], ["3", "30"], ["3", "5"]]
    assert 'OpString "kernel.cl"' in module.to_text()


def test_a_line_is_not_repeated_within_a_block() -> None:
    v = variable("v", t.INT)
    spot = here(4, 2)
    stores = [n.Evaluate(spot, n.Assign(t.INT, spot, n.VariablePlace(t.INT, spot, v), n.Constant(t.INT, spot, i)))
              for i in range(5)]
    module = to_spirv(n.Program([kernel("k", [], declare(v), *stores)]))
    assert count(module, Op.Store) == 5
    assert count(module, Op.Line) == 1


# -- Errors --------------------------------------------------------------------------------


def test_a_call_of_a_function_without_body_is_an_error() -> None:
    missing = n.Function("missing", t.VOID, [], None)
    call = n.Call(t.VOID, here(7, 3), missing, ())
    with pytest.raises(CompileError, match=r"kernel\.cl:7:3: error: function 'missing' is called"):
        to_spirv(n.Program([kernel("k", [], call)]))


def test_an_initialiser_that_is_no_constant_is_an_error() -> None:
    value = variable("value", t.INT, t.AddressSpace.CONSTANT)
    value.initializer = n.Load(t.INT, here(2, 4), place(variable("other", t.INT)))
    with pytest.raises(CompileError, match=r"kernel\.cl:2:4: error: the initialiser of 'value'"):
        to_spirv(n.Program([], [value]))


def test_deep_nesting_ends_in_a_message() -> None:
    value: n.Expression = num(1)
    out = variable("out", pointer(t.INT))
    for _ in range(100_000):
        value = n.Unary(t.INT, None, n.UnaryOperator.NEGATE, value)
    with pytest.raises(Error, match="nested too deeply"):
        to_spirv(n.Program([kernel("k", [out], assign(at(out, num(0)), value))]))


def test_a_long_sum_is_not_too_deep() -> None:
    value: n.Expression = num(1)
    for _ in range(3000):
        value = binary("+", value, num(1))
    out = variable("out", pointer(t.INT))
    result = np.zeros(1, np.int32)
    run(n.Program([kernel("k", [out], assign(at(out), value))]), "k", 1, result)
    assert result[0] == 3001


# -- Golden texts --------------------------------------------------------------------------


def scaled_sum() -> n.Program:
    """A loop, a guard and a constant table."""
    table = variable("weights", t.Array(t.FLOAT, 4), t.AddressSpace.CONSTANT, const=True)
    table.initializer = n.Aggregate(table.type, None, tuple(num(w, t.FLOAT) for w in (1.0, 0.5, 0.25, 0.125)))
    x, y = variable("x", pointer(t.FLOAT, const=True), restrict=True), variable("y", pointer(t.FLOAT))
    size = variable("n", t.INT)
    i, total = variable("i", t.INT), variable("total", t.FLOAT)
    offset = binary("+", convert(gid(), t.INT), load(i))
    guard = n.Logical(t.BOOL, None, True, binary("<", load(i), num(4)), binary("<", offset, load(size)))
    term = binary("*", load(at(x, offset)), load(element(place(table), load(i))))
    loop = while_(guard, block(update(total, "+", term)), step=update(i, "+", num(1)))
    body = (declare(i, num(0)), declare(total, num(0.0, t.FLOAT)), loop, assign(at(y), load(total)))
    return n.Program([kernel("scaled_sum", [x, y, size], *body)], [table])


def gemm_tile() -> n.Program:
    """One tile of an integer matrix product."""
    def matrix(scalar: t.Scalar, rows: int, columns: int, use: t.Use) -> t.Matrix:
        return t.Matrix(scalar, t.ExecutionScope.SUBGROUP, rows, columns, use)

    a_type, b_type, c_type = (matrix(t.CHAR, 8, 32, t.Use.A), matrix(t.CHAR, 32, 16, t.Use.B),
                              matrix(t.INT, 8, 16, t.Use.ACCUMULATOR))
    a, b = (variable(name, pointer(t.CHAR, const=True)) for name in "ab")
    c, tile, k = variable("c", pointer(t.INT)), variable("tile", c_type), variable("k", t.ULONG)
    loads = [n.MatrixLoad(type_, None, load(p), layout, num(stride, t.ULONG))
             for type_, p, layout, stride in ((a_type, a, 0, 32), (b_type, b, 1, 32))]
    product = n.MatrixMultiplyAdd(c_type, None, loads[0], loads[1], load(tile), 0xF)
    body = (declare(tile, n.MatrixFill(c_type, None, num(0))), assign(tile, product),
            assign(tile, n.MatrixTimesScalar(c_type, None, load(tile), num(3))),
            n.MatrixStore(t.VOID, None, load(c), load(tile), 0, load(k)))
    return n.Program([kernel("gemm_tile", [a, b, c, k], *body, required_sub_group_size=16)])


@pytest.mark.parametrize("program", [scaled_sum, gemm_tile])
def test_golden(program: object) -> None:
    assert callable(program)
    found = to_spirv(program()).to_text(friendly_names=True)
    assert found == (GOLDEN / f"{program.__name__}.spvasm").read_text()


def test_the_golden_loop_is_valid_and_right(tmp_path: Path) -> None:
    program = scaled_sum()
    validate(to_spirv(program), tmp_path)
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    run(program, "scaled_sum", 8, x, y, np.int32(8))
    padded = np.concatenate([x, np.zeros(4, np.float32)])
    expected = sum(w * padded[i:i + 8] for i, w in enumerate((1.0, 0.5, 0.25, 0.125)))
    np.testing.assert_array_equal(y, expected)
