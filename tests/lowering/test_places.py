"""Reading and writing every kind of place, in the simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coopmat.lowering import to_spirv
from coopmat.spirv.grammar import MemoryAccess, Op
from coopmat.spirv.module import Module
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import (
    assign,
    at,
    binary,
    convert,
    declare,
    element,
    function,
    gid,
    kernel,
    load,
    member,
    num,
    place,
    pointer,
    run,
    update,
    validate,
    variable,
)

INT4, FLOAT3, FLOAT4 = t.Vector(t.INT, 4), t.Vector(t.FLOAT, 3), t.Vector(t.FLOAT, 4)


def launch(body: list[n.Statement | n.Expression], parameters: list[n.Variable], items: int, *arguments: np.ndarray,
           helpers: tuple[n.Function, ...] = (), variables: tuple[n.Variable, ...] = ()) -> Module:
    program = n.Program([*helpers, kernel("k", parameters, *body)], list(variables))
    run(program, "k", items, *arguments)
    return to_spirv(program)


def swizzle(base: n.Place, *components: int) -> n.SwizzlePlace:
    scalar = base.type.element
    assert isinstance(scalar, t.Scalar)
    return n.SwizzlePlace(t.Vector(scalar, len(components)), None, base, components)


def vector(type_: t.Vector, *values: float) -> n.VectorOf:
    return n.VectorOf(type_, None, tuple(num(value, type_.scalar) for value in values))


def test_an_array_of_records_with_vectors_inside() -> None:
    """``items[i].colour[c] = ...`` with run-time indices, in one access chain."""
    record = t.Record("Item", fields=(t.Field("key", t.CHAR), t.Field("colour", INT4),
                                      t.Field("tail", t.Array(t.SHORT, 3))))
    items, out = variable("items", t.Array(record, 4)), variable("out", pointer(t.INT))
    index = convert(gid(), t.INT)
    component = element(member(element(place(items), index), "colour"), binary("&", index, num(3)))
    body = [declare(items, n.Zero(items.type, None)), assign(component, binary("*", index, num(7))),
            assign(element(member(element(place(items), index), "tail"), 2), num(5, t.SHORT)),
            update(component, "+", convert(load(element(member(element(place(items), index), "tail"), 2)), t.INT)),
            assign(at(out), load(component))]
    result = np.zeros(4, np.int32)
    module = launch(body, [out], 4, result)
    assert result.tolist() == [5, 12, 19, 26]
    assert max(len(item.words) for item in module.instructions if item.opcode == Op.AccessChain) == 4


def test_records_in_global_memory_have_c_layout() -> None:
    record = t.Record("R", fields=(t.Field("a", t.CHAR), t.Field("b", t.DOUBLE), t.Field("c", t.Array(t.SHORT, 3)),
                                   t.Field("d", FLOAT3), t.Field("flag", t.BOOL)))
    dtype = np.dtype({"names": ["a", "b", "c", "d", "flag"], "formats": ["i1", "f8", ("i2", 3), ("f4", 3), "u1"],
                      "offsets": list(t.layout_of(record).offsets), "itemsize": t.size_of(record)})
    p, q = variable("p", pointer(record)), variable("q", pointer(record))
    body = [assign(at(q), load(at(p))), update(member(at(q), "b"), "*", num(2.0, t.DOUBLE)),
            assign(member(at(q), "flag"), binary("==", load(member(at(q), "a")), num(2, t.CHAR)))]
    source, target = np.zeros(3, dtype), np.zeros(3, dtype)
    source["a"], source["b"], source["c"], source["d"] = [1, 2, 3], [1.5, 2.5, 3.5], [[1, 2, 3]] * 3, [[4, 5, 6]] * 3
    held = target.view(np.uint8)
    launch(body, [p, q], 3, source.view(np.uint8), held)
    assert target["b"].tolist() == [3.0, 5.0, 7.0]
    assert target["flag"].tolist() == [0, 1, 0]
    np.testing.assert_array_equal(target["c"], source["c"])
    np.testing.assert_array_equal(target["d"], source["d"])


def test_a_packed_record_is_read_at_odd_addresses() -> None:
    record = t.Record("P", fields=(t.Field("a", t.CHAR), t.Field("b", t.INT), t.Field("c", t.LONG)), packed=True)
    p, out = variable("p", pointer(record)), variable("out", pointer(t.LONG))
    body = [assign(at(out), binary("+", convert(load(member(at(p), "b")), t.LONG), load(member(at(p), "c"))))]
    data = np.zeros(2, np.dtype([("a", "i1"), ("b", "i4"), ("c", "i8")]))
    data["b"], data["c"] = [10, -20], [1 << 40, 7]
    result = np.zeros(2, np.int64)
    module = launch(body, [p, out], 2, data.view(np.uint8), result)
    assert result.tolist() == [(1 << 40) + 10, -13]
    aligned = {item.words[-1] for item in module.instructions if item.opcode == Op.Load and item.type_id is not None
               and module.definition(item.type_id).opcode == Op.TypeInt and len(item.words) == 3}
    assert 1 in aligned


def test_a_union_shows_the_same_bytes_as_each_member() -> None:
    union = t.Record("U", is_union=True, fields=(t.Field("f", t.FLOAT), t.Field("i", t.INT),
                                                 t.Field("b", t.Array(t.UCHAR, 6))))
    outer = t.Record("O", fields=(t.Field("tag", t.INT), t.Field("u", t.Array(union, 2))))
    o, out = variable("o", outer), variable("out", pointer(t.INT))
    inner = element(member(place(o), "u"), 1)
    body = [declare(o, n.Zero(outer, None)), assign(member(inner, "f"), num(1.0, t.FLOAT)),
            assign(element(member(inner, "b"), 0), num(3, t.UCHAR)), assign(at(out), load(member(inner, "i"))),
            update(at(out), "+", load(member(element(member(place(o), "u"), 0), "i")))]
    result = np.zeros(1, np.int32)
    launch(body, [out], 1, result)
    assert result[0] == 0x3F800003


def test_a_member_of_a_returned_union() -> None:
    union = t.Record("U", is_union=True, fields=(t.Field("f", t.FLOAT), t.Field("i", t.INT)))
    local = variable("local", union)
    make = function("make", union, [], declare(local), assign(member(place(local), "f"), num(2.0, t.FLOAT)),
                    n.Return(None, load(local)))
    out = variable("out", pointer(t.INT))
    taken = n.ExtractField(t.INT, None, n.Call(union, None, make, ()), 1)
    result = np.zeros(1, np.int32)
    launch([assign(at(out), taken)], [out], 1, result, helpers=(make,))
    assert result[0] == 0x40000000


def test_records_go_into_and_out_of_functions_by_value() -> None:
    record = t.Record("R", fields=(t.Field("x", t.INT), t.Field("flag", t.BOOL)))
    r = variable("r", record)
    flag = member(place(r), "flag")
    flip = function("flip", record, [r], update(member(place(r), "x"), "+", num(1)),
                    assign(flag, n.Unary(t.BOOL, None, n.UnaryOperator.NOT, load(flag))), n.Return(None, load(r)))
    out, start = variable("out", pointer(t.INT)), variable("start", record)
    made = n.Aggregate(record, None, (convert(gid(), t.INT), binary("<", convert(gid(), t.INT), num(2))))
    flipped = n.Call(record, None, flip, (load(start),))
    body = [declare(start, made), assign(at(out), n.ExtractField(t.INT, None, flipped, 0)),
            update(at(out), "+", binary("*", convert(n.ExtractField(t.BOOL, None, flipped, 1), t.INT), num(100))),
            update(at(out), "+", binary("*", load(member(place(start), "x")), num(1000)))]
    result = np.zeros(4, np.int32)
    launch(body, [out], 4, result, helpers=(flip,))
    assert result.tolist() == [1, 1002, 2103, 3104]


def test_swizzles_read_and_write_only_their_components() -> None:
    p, q = variable("p", pointer(INT4)), variable("q", pointer(INT4))
    body = [assign(swizzle(at(p), 2, 0), load(swizzle(at(q), 3, 1))),
            update(swizzle(at(p), 1, 3), "*", n.Splat(t.Vector(t.INT, 2), None, num(10))),
            assign(element(swizzle(at(q), 1, 0), 1), num(-1)),
            assign(n.SwizzlePlace(t.INT, None, swizzle(at(q), 3, 2), (1,)), num(-2))]
    a, b = np.arange(8, dtype=np.int32), np.arange(100, 108, dtype=np.int32)
    module = launch(body, [p, q], 2, a, b)
    assert a.reshape(2, 4).tolist() == [[101, 10, 103, 30], [105, 50, 107, 70]]
    assert b.reshape(2, 4).tolist() == [[-1, 101, -2, 103], [-1, 105, -2, 107]]
    stored = [module.definition(module.definition(item.words[1]).type_id or 0)
              for item in module.instructions if item.opcode == Op.Store]
    assert all(type_.opcode == Op.TypeInt for type_ in stored)


def test_a_run_time_component_of_a_swizzle_and_of_a_value() -> None:
    p, out = variable("p", pointer(INT4)), variable("out", pointer(t.INT))
    index = convert(gid(), t.INT)
    twice = n.ExtractComponent(t.INT, None, binary("*", load(at(p, num(0))), n.Splat(INT4, None, num(2))), index)
    body = [assign(at(out), load(element(swizzle(at(p, num(0)), 3, 1, 2, 0), index))), update(at(out), "+", twice)]
    result = np.zeros(4, np.int32)
    launch(body, [p, out], 4, np.array([10, 20, 30, 40], np.int32), result)
    assert result.tolist() == [40 + 20, 20 + 40, 30 + 60, 10 + 80]


def test_vectors_of_three_take_the_room_of_four() -> None:
    p, out = variable("p", pointer(FLOAT3)), variable("out", pointer(INT4))
    bits = n.Bitcast(INT4, None, load(at(p)))
    back = n.Bitcast(FLOAT3, None, load(at(out)))
    body = [assign(at(out), bits), assign(at(p), binary("+", back, n.Splat(FLOAT3, None, num(1.0, t.FLOAT))))]
    data, result = np.arange(8, dtype=np.float32), np.zeros(8, np.int32)
    launch(body, [p, out], 2, data, result)
    given = np.arange(8, dtype=np.float32).reshape(2, 4)
    assert result.view(np.float32).reshape(2, 4)[:, :3].tolist() == given[:, :3].tolist()
    assert data.reshape(2, 4)[:, :3].tolist() == [[1, 2, 3], [5, 6, 7]]


def test_an_update_evaluates_its_place_once() -> None:
    p, i = variable("p", pointer(t.INT)), variable("i", t.INT)
    step = update(i, "+", num(1), returns_old=True)
    body = [declare(i, num(0)), update(at(p, step), "+", num(10)), update(at(p, step), "*", num(3)),
            assign(at(p, num(3)), load(i))]
    data = np.array([1, 2, 3, 0], np.int32)
    launch(body, [p], 1, data)
    assert data.tolist() == [11, 6, 3, 2]


def test_increment_before_and_after() -> None:
    p, i = variable("p", pointer(t.INT)), variable("i", t.INT)
    body = [declare(i, num(5)), assign(at(p, num(0)), update(i, "+", num(1), returns_old=True)),
            assign(at(p, num(1)), update(i, "+", num(1)))]
    data = np.zeros(2, np.int32)
    launch(body, [p], 1, data)
    assert data.tolist() == [5, 7]


@pytest.mark.parametrize("type_", [t.UCHAR, t.CHAR, t.USHORT, t.UINT, t.ULONG], ids=str)
def test_an_index_is_extended_by_its_own_sign(type_: t.Scalar) -> None:
    table, out = variable("table", t.Array(t.INT, 256)), variable("out", pointer(t.INT))
    index = 200 if not type_.is_signed else 100
    body = [declare(table, n.Zero(table.type, None)), assign(element(place(table), index), num(42)),
            assign(at(out), load(element(place(table), convert(binary("+", gid(), num(index, t.ULONG)), type_))))]
    result = np.zeros(1, np.int32)
    launch(body, [out], 1, result)
    assert result[0] == 42


def test_shifts_take_their_amount_modulo_the_width() -> None:
    p, out = variable("p", pointer(t.INT)), variable("out", pointer(t.INT))
    body = [assign(at(out), n.Binary(t.INT, None, n.BinaryOperator.SHIFT_RIGHT, num(-256), load(at(p)))),
            update(at(out), "^", n.Binary(t.INT, None, n.BinaryOperator.SHIFT_LEFT, load(at(p)), num(33)))]
    amounts, result = np.array([0, 4, 32, 36, -1], np.int32), np.zeros(5, np.int32)
    launch(body, [p, out], 5, amounts, result)
    assert result.tolist() == [(-256 >> (a & 31)) ^ (a << 1) for a in amounts.tolist()]


def test_pointers_compare_and_subtract() -> None:
    p, out = variable("p", pointer(FLOAT4)), variable("out", pointer(t.LONG))
    here = n.AddressOf(pointer(FLOAT4), None, at(p))
    start = load(p)
    difference = n.PointerDifference(t.LONG, None, here, start)
    equal = n.Binary(t.BOOL, None, n.BinaryOperator.EQUAL, here, start)
    is_null = convert(n.Zero(pointer(t.INT), None), t.BOOL)
    body = [assign(at(out), binary("+", difference, binary("*", convert(equal, t.LONG), num(100, t.LONG)))),
            update(at(out), "+", convert(is_null, t.LONG))]
    result = np.zeros(3, np.int64)
    launch(body, [p, out], 3, np.zeros(12, np.float32), result)
    assert result.tolist() == [100, 1, 2]


def test_program_scope_constants() -> None:
    constant = t.AddressSpace.CONSTANT
    table = variable("table", t.Array(t.Array(t.SHORT, 2), 2), constant, const=True)
    table.initializer = n.Aggregate(table.type, None, tuple(
        n.Aggregate(t.Array(t.SHORT, 2), None, (num(a, t.SHORT), num(a + 1, t.SHORT))) for a in (10, 20)))
    flags = variable("flags", t.Array(t.BOOL, 2), constant, const=True)
    flags.initializer = n.Aggregate(flags.type, None, (num(False, t.BOOL), num(True, t.BOOL)))
    inside = variable("inside", FLOAT3, constant, const=True)
    out, index = variable("out", pointer(t.INT)), convert(gid(), t.INT)
    body = [declare(inside, vector(FLOAT3, 1.0, 2.0, 4.0)),
            assign(at(out), convert(load(element(element(place(table), index), 1)), t.INT)),
            update(at(out), "+", convert(load(element(place(flags), index)), t.INT)),
            update(at(out), "+", convert(load(element(place(inside), index)), t.INT))]
    result = np.zeros(2, np.int32)
    launch(body, [out], 2, result, variables=(table, flags))
    assert result.tolist() == [11 + 0 + 1, 21 + 1 + 2]


def test_a_program_scope_pointer_to_a_constant(tmp_path: Path) -> None:
    constant = t.AddressSpace.CONSTANT
    target = variable("target", t.INT, constant, const=True)
    target.initializer = num(23)
    p = variable("p", pointer(t.INT, constant, const=True), constant, const=True)
    p.initializer = n.AddressOf(p.type, None, place(target))
    out, result = variable("out", pointer(t.INT)), np.zeros(1, np.int32)
    body = [assign(at(out), load(at(p, num(0))))]
    validate(launch(body, [out], 1, result, variables=(target, p)), tmp_path)
    assert result[0] == 23


def test_local_memory_is_one_per_work_group() -> None:
    shared = variable("shared", t.Array(t.INT, 8), t.AddressSpace.LOCAL)
    out, index = variable("out", pointer(t.INT)), convert(gid(), t.INT)
    barrier = n.Operation(t.VOID, None, "core.ControlBarrier", (num(2, t.UINT), num(2, t.UINT), num(0x110, t.UINT)))
    body = [declare(shared), assign(element(place(shared), index), binary("*", index, index)), barrier,
            assign(at(out), load(element(place(shared), binary("-", num(7), index))))]
    result = np.zeros(8, np.int32)
    module = launch(body, [out], 8, result)
    assert result.tolist() == [(7 - i) ** 2 for i in range(8)]
    assert len(module.entry_points[0].interface) == 2  # the variable and GlobalInvocationId


def test_a_generic_pointer() -> None:
    p = variable("p", pointer(t.INT, t.AddressSpace.GENERIC))
    store = function("store", t.VOID, [p], assign(at(p, num(0)), num(9)))
    out, private = variable("out", pointer(t.INT)), variable("private", t.INT)
    generic = pointer(t.INT, t.AddressSpace.GENERIC)

    def call(target: n.Place, space: t.AddressSpace) -> n.Call:
        address = n.AddressOf(pointer(t.INT, space), None, target)
        return n.Call(t.VOID, None, store, (n.CastAddressSpace(generic, None, address),))

    body = [declare(private, num(0)), call(place(private), t.AddressSpace.PRIVATE),
            call(at(out), t.AddressSpace.GLOBAL), update(at(out), "+", load(private))]
    result = np.zeros(2, np.int32)
    launch(body, [out], 2, result, helpers=(store,))
    assert result.tolist() == [18, 18]


def test_volatile_and_alignment_reach_the_module(tmp_path: Path) -> None:
    p = variable("p", pointer(FLOAT3, volatile=True))
    module = to_spirv(n.Program([kernel("k", [p], assign(at(p), load(at(p))))]))
    accesses = [item.words[-2:] for item in module.instructions if item.opcode in (Op.Load, Op.Store)]
    assert accesses.count((MemoryAccess.Volatile | MemoryAccess.Aligned, 16)) == 2
    validate(module, tmp_path)


def test_a_work_item_query_outside_of_the_dimensions() -> None:
    out = variable("out", pointer(t.ULONG))
    dimension = convert(gid(), t.UINT)
    size = n.WorkItemQuery(t.ULONG, None, "GlobalSize", dimension, out_of_range=1)
    group = n.WorkItemQuery(t.ULONG, None, "WorkgroupId", num(7, t.UINT))
    result = np.full(5, 99, np.uint64)
    launch([assign(at(out), binary("+", size, group))], [out], 5, result)
    assert result.tolist() == [5, 1, 1, 1, 1]
