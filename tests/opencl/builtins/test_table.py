"""The table of built-in functions: every overload resolves to operations that exist, with the right operands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from coopmat.devices import describe
from coopmat.diagnostics import DiagnosticSink, SourceFile, SourceLocation
from coopmat.opencl.base.symbols import FunctionState
from coopmat.opencl.base.values import is_error
from coopmat.opencl.builtins import ROWS, TABLE, UNSUPPORTED, is_known, names, resolve_call
from coopmat.opencl.builtins.patterns import Overload, PointerPattern, expand
from coopmat.opencl.sema.analyzer import Analyzer
from coopmat.spirv import grammar
from coopmat.tree import nodes as n
from coopmat.tree.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SIZE_T,
    UCHAR,
    UINT,
    ULONG,
    VOID,
    AddressSpace,
    Pointer,
    Scalar,
    Type,
    Vector,
)

FILE = SourceFile("kernel.cl", "\n".join("x = function(first, second, third);" for _ in range(3)))
CALLEE = SourceLocation(FILE, 2, 5, 8)
ARGUMENTS = tuple(SourceLocation(FILE, 2, column, 5) for column in (14, 21, 29, 40, 50, 60))
CLOSE = SourceLocation(FILE, 2, 34)
FLOAT4, INT4 = Vector(FLOAT, 4), Vector(INT, 4)

ALL_FEATURES = describe("generic").extensions


def context_with(*features: str) -> Analyzer:
    context = Analyzer(DiagnosticSink(), features)
    context.function = FunctionState(n.Function("f", VOID, [], None))
    return context


def argument(value: Type | int, index: int) -> n.Expression:
    """A constant for an int, an unknown value for a type."""
    location = ARGUMENTS[index]
    return n.Constant(INT, location, value) if isinstance(value, int) else n.Undefined(value, location)


def call(name: str, *arguments: Type | int, features: tuple[str, ...] = ALL_FEATURES) -> n.Expression:
    """The node of a call that must be right."""
    context = context_with(*features)
    given = [argument(value, index) for index, value in enumerate(arguments)]
    result = resolve_call(context, name, given, CALLEE, CLOSE)
    assert context.sink.diagnostics == []
    return result


def report(name: str, *arguments: Type | int, features: tuple[str, ...] = ALL_FEATURES) -> tuple[str, str, list[str]]:
    """Text and place of the only diagnostic of a wrong call, and its notes."""
    context = context_with(*features)
    given = [argument(value, index) for index, value in enumerate(arguments)]
    assert is_error(resolve_call(context, name, given, CALLEE, CLOSE))
    (diagnostic,) = context.sink.diagnostics
    assert diagnostic.location is not None
    place = f"{diagnostic.location.line}:{diagnostic.location.column}"
    return f"{diagnostic.message} [{diagnostic.code}]", place, [note.message for note in diagnostic.notes]


def parts(node: object) -> Iterator[object]:
    """A node and everything below it."""
    yield node
    if is_dataclass(node) and not isinstance(node, (type, Type, n.Variable)):
        for field in fields(node):
            value = getattr(node, field.name)
            for part in value if isinstance(value, tuple) else (value,):
                yield from parts(part)


# ------------------------------------------------------------------ every overload


def overloads() -> Iterator[Overload]:
    for family in TABLE.values():
        for row, counts in family.members:
            yield from expand(row, family.name, counts)


def argument_lists(overload: Overload) -> Iterator[tuple[Type | int, ...]]:
    """Arguments of exactly the parameters' types, in every address space; constants where they must be."""
    choices: list[list[Type | int]] = []
    for index, parameter in enumerate(overload.parameters):
        if isinstance(parameter, PointerPattern):
            pointee = FLOAT if parameter.pointee == VOID else parameter.pointee
            choices.append([Pointer(pointee, space, parameter.const, parameter.volatile)
                            for space in sorted(parameter.spaces, key=lambda space: space.value)])
        elif wants_constant(overload, index):
            choices.append([4 if "_clustered_" in overload.name else 0])
        else:
            choices.append([parameter])
    return itertools.product(*choices)


def wants_constant(overload: Overload, index: int) -> bool:
    terms = overload.row.signature.partition("(")[2].rstrip(")").split(",")
    if "_clustered_" in overload.name:  # the cluster size
        return index == len(terms) - 1
    return terms[index].strip() in ("memory_order", "memory_scope", "cl_mem_fence_flags")


def check_operation(node: n.Operation) -> None:
    """An operation's name is an instruction, and its operands are as many as the instruction takes."""
    family, _, name = node.name.partition(".")
    count = len(node.arguments) + len(node.literals)
    if family == "std":
        operands = grammar.extended_operands("OpenCL.std", grammar.OPENCL_STD[name])
    else:
        row = grammar.instruction(grammar.Op[name])
        assert row is not None
        operands = row.operands
        assert row.has_result == (node.type != VOID)
    assert operands is not None
    required = sum(not quantifier for _, quantifier in operands)
    assert required <= count <= len(operands), node.name
    assert all(argument.type != VOID for argument in node.arguments)


COMPONENTWISE_EXCEPTIONS = ("std.vload", "std.vstore", "std.shuffle", "std.prefetch")


def check_componentwise(node: n.Operation) -> None:
    """OpenCL.std instructions want vectors of one length; a scalar beside them is not allowed."""
    if not node.name.startswith("std.") or node.name.startswith(COMPONENTWISE_EXCEPTIONS):
        return
    pointees = [a.type.pointee if isinstance(a.type, Pointer) else a.type for a in node.arguments]
    assert len({type_.count if isinstance(type_, Vector) else 1 for type_ in pointees}) == 1, node.name


def test_every_overload_resolves_to_instructions_that_exist() -> None:
    count = 0
    for overload in overloads():
        for arguments in argument_lists(overload):
            result = call(overload.name, *arguments)
            expected = overload.result if "*" not in overload.row.signature.partition("(")[0] else None
            assert expected in (result.type, None), overload
            operations = [part for part in parts(result) if isinstance(part, n.Operation)]
            for operation in operations:
                check_operation(operation)
                check_componentwise(operation)
            count += 1
    assert count > 6000


def test_signed_and_unsigned_instructions_match_the_element_type() -> None:
    for overload in overloads():
        if overload.element is None or overload.element.is_float:
            continue
        for node in parts(call(overload.name, *next(argument_lists(overload)))):
            prefix = node.name[4:6] if isinstance(node, n.Operation) and node.name.startswith("std.") else ""
            if prefix in ("s_", "u_"):
                assert prefix[0] == overload.element.kind[0], overload


def test_no_function_has_the_same_parameters_twice() -> None:
    for name, family in TABLE.items():
        seen = [overload.parameters for row, counts in family.members for overload in expand(row, name, counts)]
        assert len(seen) == len(set(seen)), name


def test_each_row_describes_itself() -> None:
    row, counts = TABLE["fmax"].members[1]
    assert row.describe("fmax", counts) == ("gentype fmax(gentype, sgentype) with gentype vectors "
                                            "(of 2 or 3 or 4 or 8 or 16) of float, double, half")
    assert all(row.describe(name, counts) for row in ROWS for name, counts in row.functions())


def test_names() -> None:
    assert {"sqrt", "vload4", "vstore_half16_rtz", "atomic_fetch_max_explicit", "get_sub_group_id", "printf"} <= names()
    assert not names() & UNSUPPORTED.keys()
    assert is_known("printf")
    assert not is_known("sqrtf")


# ------------------------------------------------------------------ work-item functions

# OpenCL C 6.15.1: the value for a dimension outside of 0 … get_work_dim() - 1.
OUT_OF_RANGE = {
    "get_global_size": 1, "get_global_id": 0, "get_local_size": 1, "get_enqueued_local_size": 1, "get_local_id": 0,
    "get_num_groups": 1, "get_group_id": 0, "get_global_offset": 0,
}


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE.items())
def test_work_item_function_of_a_dimension(name: str, value: int) -> None:
    query = call(name, 1)
    assert isinstance(query, n.WorkItemQuery)
    assert query.type == SIZE_T
    assert query.out_of_range == value
    assert query.dimension == n.Constant(UINT, ARGUMENTS[0], 1)
    assert query.builtin in grammar.BuiltIn.__members__


@pytest.mark.parametrize("name", [name for name in sorted(names()) if name.startswith("get_")
                                  and name not in OUT_OF_RANGE and name != "get_fence"
                                  and not name.endswith("_mask")])
def test_work_item_function_without_argument(name: str) -> None:
    query = call(name)
    assert isinstance(query, n.WorkItemQuery)
    assert query.type == (SIZE_T if "linear" in name else UINT)
    assert query.dimension is None
    assert query.builtin in grammar.BuiltIn.__members__


# ------------------------------------------------------------------ what calls become


def test_scalar_argument_is_repeated_beside_a_vector() -> None:
    result = call("clamp", FLOAT4, 0, FLOAT)
    assert isinstance(result, n.Operation)
    assert result.name == "std.fclamp"
    low, high = result.arguments[1:]
    assert low == n.Splat(FLOAT4, ARGUMENTS[1], n.Constant(FLOAT, ARGUMENTS[1], 0.0))
    assert high == n.Splat(FLOAT4, ARGUMENTS[2], n.Undefined(FLOAT, ARGUMENTS[2]))


@pytest.mark.parametrize(("arguments", "operation"), [
    ((FLOAT, FLOAT), "std.fmax_common"), ((INT, INT), "std.s_max"), ((Vector(UCHAR, 8), UCHAR), "std.u_max"),
])
def test_max_is_chosen_by_type(arguments: tuple[Type, ...], operation: str) -> None:
    result = call("max", *arguments)
    assert isinstance(result, n.Operation)
    assert result.name == operation
    assert result.type == arguments[0]


@pytest.mark.parametrize(("type_", "result"), [
    (FLOAT, INT), (DOUBLE, INT), (HALF, INT), (FLOAT4, INT4), (Vector(DOUBLE, 2), Vector(LONG, 2)),
    (Vector(HALF, 3), Vector(Scalar("sint", 16), 3)),
])
def test_classification_gives_int_or_integers_of_the_operand_width(type_: Type, result: Type) -> None:
    node = call("isnan", type_)
    assert isinstance(node, n.Convert)
    assert node.type == result
    assert isinstance(node.operand, n.Operation)
    assert node.operand.name == "core.IsNan"
    assert node.operand.type == (Vector(BOOL, type_.count) if isinstance(type_, Vector) else BOOL)


def test_any_looks_at_the_most_significant_bits() -> None:
    node = call("any", INT4)
    assert isinstance(node, n.Convert)
    assert isinstance(node.operand, n.Operation)
    assert (node.operand.name, node.operand.type) == ("core.Any", BOOL)
    (test,) = node.operand.arguments
    assert isinstance(test, n.Binary)
    assert test.operator is n.BinaryOperator.LESS
    scalar = call("all", CHAR)
    assert isinstance(scalar, n.Convert)
    assert isinstance(scalar.operand, n.Binary)


def test_dot_of_scalars_is_a_product() -> None:
    product = call("dot", FLOAT, FLOAT)
    assert isinstance(product, n.Binary)
    assert product.operator is n.BinaryOperator.MULTIPLY
    assert call("dot", FLOAT4, FLOAT4).type == FLOAT


def test_vector_loads_and_stores_carry_their_literals() -> None:
    load = call("vload3", 5, Pointer(HALF, AddressSpace.CONSTANT, const=True))
    assert isinstance(load, n.Operation)
    assert (load.name, load.type, load.literals) == ("std.vloadn", Vector(HALF, 3), (3,))
    assert load.arguments[0] == n.Constant(SIZE_T, ARGUMENTS[0], 5)
    for mode, number in (("rte", 0), ("rtz", 1), ("rtp", 2), ("rtn", 3)):
        store = call(f"vstore_half4_{mode}", FLOAT4, 0, Pointer(HALF, AddressSpace.GLOBAL))
        assert isinstance(store, n.Operation)
        assert (store.name, store.type, store.literals) == ("std.vstore_halfn_r", VOID, (number,))


def test_address_space_functions() -> None:
    pointer = call("to_local", Pointer(FLOAT, AddressSpace.GENERIC, const=True))
    assert pointer.type == Pointer(FLOAT, AddressSpace.LOCAL, const=True)
    assert isinstance(pointer, n.Operation)
    assert (pointer.name, pointer.literals) == ("core.GenericCastToPtrExplicit", (grammar.StorageClass.Workgroup,))
    assert call("get_fence", Pointer(INT, AddressSpace.GENERIC)).type == UINT


def constants(node: n.Expression) -> list[int]:
    """The values of an operation's constant operands."""
    assert isinstance(node, n.Operation)
    return [int(argument.value) for argument in node.arguments if isinstance(argument, n.Constant)]


# Scope: Device 1, Workgroup 2, Subgroup 3, Invocation 4. Semantics: Acquire 2, Release 4, AcquireRelease 8,
# SequentiallyConsistent 0x10, WorkgroupMemory 0x100, CrossWorkgroupMemory 0x200 (SPIR-V 3.25, 3.27).
@pytest.mark.parametrize(("name", "arguments", "operation", "expected"), [
    ("barrier", (1,), "core.ControlBarrier", [2, 2, 0x110]),
    ("barrier", (0,), "core.ControlBarrier", [2, 2, 0]),
    ("work_group_barrier", (3, 2), "core.ControlBarrier", [2, 1, 0x310]),
    ("sub_group_barrier", (1,), "core.ControlBarrier", [3, 3, 0x110]),
    ("mem_fence", (2,), "core.MemoryBarrier", [2, 0x208]),
    ("read_mem_fence", (1,), "core.MemoryBarrier", [2, 0x102]),
    ("write_mem_fence", (1,), "core.MemoryBarrier", [2, 0x104]),
    ("atomic_work_item_fence", (2, 4, 2), "core.MemoryBarrier", [1, 0x208]),
])
def test_barriers_and_fences(name: str, arguments: tuple[int, ...], operation: str, expected: list[int]) -> None:
    node = call(name, *arguments)
    assert isinstance(node, n.Operation)
    assert node.name == operation
    assert constants(node) == expected


GLOBAL_INT = Pointer(INT, AddressSpace.GLOBAL, volatile=True)
LOCAL_UINT = Pointer(UINT, AddressSpace.LOCAL)


@pytest.mark.parametrize(("name", "arguments", "operation", "expected"), [
    ("atomic_add", (GLOBAL_INT, 7), "core.AtomicIAdd", [1, 0, 7]),
    ("atomic_min", (LOCAL_UINT, UINT), "core.AtomicUMin", [2, 0]),
    ("atomic_max", (GLOBAL_INT, INT), "core.AtomicSMax", [1, 0]),
    ("atomic_cmpxchg", (GLOBAL_INT, 5, 6), "core.AtomicCompareExchange", [1, 0, 0, 6, 5]),
    ("atom_inc", (Pointer(ULONG, AddressSpace.GLOBAL),), "core.AtomicIIncrement", [1, 0]),
    ("atomic_xchg", (Pointer(FLOAT, AddressSpace.GLOBAL), FLOAT), "core.AtomicExchange", [1, 0]),
    ("atomic_init", (GLOBAL_INT, 3), "core.AtomicStore", [4, 0, 3]),
    ("atomic_store", (GLOBAL_INT, 3), "core.AtomicStore", [1, 0x210, 3]),
    ("atomic_load_explicit", (LOCAL_UINT, 2), "core.AtomicLoad", [1, 0x102]),
    ("atomic_fetch_min_explicit", (LOCAL_UINT, 9, 0, 1), "core.AtomicUMin", [2, 0, 9]),
    ("atomic_fetch_xor_explicit", (Pointer(INT, AddressSpace.GENERIC), 1, 4, 4), "core.AtomicXor", [3, 0x308, 1]),
    ("atomic_flag_test_and_set", (GLOBAL_INT,), "core.AtomicFlagTestAndSet", [1, 0x210]),
    ("atomic_flag_clear_explicit", (GLOBAL_INT, 3, 3), "core.AtomicFlagClear", [0, 0x204]),
])
def test_atomics(name: str, arguments: tuple[Type | int, ...], operation: str, expected: list[int]) -> None:
    node = call(name, *arguments)
    assert isinstance(node, n.Operation)
    assert node.name == operation
    assert constants(node) == expected


def test_compare_exchange_of_floats_compares_bits() -> None:
    pointer = Pointer(FLOAT, AddressSpace.GLOBAL)
    node = call("atomic_compare_exchange_strong", pointer, Pointer(FLOAT, AddressSpace.PRIVATE), FLOAT)
    assert node.type == BOOL
    (exchange,) = [part for part in parts(node) if isinstance(part, n.Operation)]
    assert exchange.type == UINT
    assert exchange.arguments[0].type == Pointer(UINT, AddressSpace.GLOBAL)


def test_compare_exchange_needs_a_function() -> None:
    context = Analyzer(DiagnosticSink(), ALL_FEATURES)
    pointer = Pointer(INT, AddressSpace.GLOBAL)
    given = [argument(value, index) for index, value in enumerate((pointer, pointer, INT))]
    assert is_error(resolve_call(context, "atomic_compare_exchange_weak", given, CALLEE, CLOSE))
    assert [d.code for d in context.sink.diagnostics] == ["CM3711"]


# ------------------------------------------------------------------ diagnostics

SQRT = "gentype sqrt(gentype) with gentype scalars or vectors (of 2 or 3 or 4 or 8 or 16) of float, double, half"


def test_no_match() -> None:
    assert report("sqrt", INT4) == (
        "no matching function for call to 'sqrt' with arguments of type ('int4') [CM3701]", "2:5",
        [f"candidate: {SQRT}"])


def test_ambiguous() -> None:
    assert report("sqrt", 2) == (
        "call to 'sqrt' with arguments of type ('int') is ambiguous; cast the arguments to the types that are meant "
        "[CM3702]", "2:5", ["candidate: float sqrt(float)", "candidate: double sqrt(double)",
                            "candidate: half sqrt(half)"])


def test_too_few_arguments() -> None:
    assert report("sqrt") == ("too few arguments to 'sqrt': expected 1, have 0 [CM3703]", "2:34",
                              [f"candidate: {SQRT}"])


def test_too_many_arguments() -> None:
    text, place, _ = report("sqrt", FLOAT, INT, INT)
    assert (text, place) == ("too many arguments to 'sqrt': expected 1, have 3 [CM3704]", "2:21")


def test_several_argument_counts() -> None:
    text, _, notes = report("work_group_barrier")
    assert text == "too few arguments to 'work_group_barrier': expected 1 or 2, have 0 [CM3703]"
    assert notes == ["candidate: void work_group_barrier(cl_mem_fence_flags)",
                     "candidate: void work_group_barrier(cl_mem_fence_flags, memory_scope)"]


@pytest.mark.parametrize(("name", "arguments", "text", "place"), [
    ("vstore4", (FLOAT4, 0, Pointer(FLOAT, AddressSpace.CONSTANT)),
     "argument 3 of 'vstore4' points to the __constant address space; expected a pointer to a writable address space "
     "[CM3705]", "2:29"),
    ("atomic_add", (Pointer(INT, AddressSpace.PRIVATE), 1),
     "argument 1 of 'atomic_add' points to the __private address space; expected a pointer to __global or __local "
     "[CM3705]", "2:14"),
    ("prefetch", (Pointer(INT, AddressSpace.LOCAL), 1),
     "argument 1 of 'prefetch' points to the __local address space; expected a pointer to __global [CM3705]", "2:14"),
    ("sincos", (FLOAT, Pointer(FLOAT, AddressSpace.GLOBAL, const=True)),
     "argument 2 of 'sincos' is a pointer to 'const float', which the function would write; expected a pointer to "
     "'float' [CM3706]", "2:21"),
    ("barrier", (INT,), "cl_mem_fence_flags argument of 'barrier' must be an integer constant expression [CM3707]",
     "2:14"),
    ("atomic_work_item_fence", (1, 1, 1), "1 is not a value of 'memory_order' [CM3708]", "2:21"),
    ("work_group_barrier", (1, 9), "9 is not a value of 'memory_scope' [CM3708]", "2:21"),
    ("atomic_load_explicit", (GLOBAL_INT, 3),
     "this memory order is not allowed for 'atomic_load_explicit'; expected one of memory_order_relaxed, "
     "memory_order_acquire, memory_order_seq_cst [CM3709]", "2:21"),
    ("barrier", (8,),
     "8 is not a combination of CLK_LOCAL_MEM_FENCE (1), CLK_GLOBAL_MEM_FENCE (2) and CLK_IMAGE_MEM_FENCE (4) [CM3710]",
     "2:14"),
    ("async_work_group_copy_2D2D", (INT,),
     "built-in function 'async_work_group_copy_2D2D' is not supported; copy each line with async_work_group_copy, all "
     "with one event [CM3712]", "2:5"),
])
def test_wrong_argument(name: str, arguments: tuple[Type | int, ...], text: str, place: str) -> None:
    assert report(name, *arguments)[:2] == (text, place)


def test_types_that_the_device_lacks_have_no_overloads() -> None:
    assert call("sqrt", FLOAT, features=()).type == FLOAT
    assert call("sqrt", 2, features=()).type == FLOAT
    text, _, _ = report("sqrt", Vector(DOUBLE, 2), features=())
    assert text.startswith("no matching function")


def test_a_reported_argument_makes_no_second_report() -> None:
    context = context_with()
    assert is_error(resolve_call(context, "sqrt", [context.error_expression(CALLEE)], CALLEE, CLOSE))
    assert context.sink.diagnostics == []
