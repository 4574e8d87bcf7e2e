"""Asynchronous copies: every type in both directions, the checks of the simulator, the messages of the compiler."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat import llvm
from coopmat.diagnostics import DivergentGroupOperation, Misaligned, OutOfBounds, SimulationError, UndefinedBehavior
from coopmat.tree.types import SCALARS, VECTOR_COUNTS
from tests.kit.oracles import intel_runtime

ELEMENTS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
TYPES = tuple(f"{element}{count}" for element in ELEMENTS for count in ("", *VECTOR_COUNTS))
COUNT, STRIDE, GROUP = 5, 3, 8
MOST_BYTES = 128  # of one element


def size_of(name: str) -> int:
    """The bytes from one element to the next: three components take the room of four."""
    element = name.rstrip("0123456789")
    count = int(name.removeprefix(element) or 1)
    return SCALARS[element].bits // 8 * (4 if count == 3 else count)


# ------------------------------------------------------------------ every type


def source_of(types: Sequence[str]) -> str:
    """A kernel that copies elements of each type in, picked by a stride, and out, spread by one."""
    steps = []
    for index, name in enumerate(types):
        start = index * COUNT * STRIDE * MOST_BYTES
        steps.append(f"""{{
        local {name} *mine = (local {name} *)tile;
        global {name} *to = (global {name} *)(out + {start});
        event_t e = async_work_group_strided_copy(mine, (global const {name} *)in, {COUNT}, {STRIDE}, 0);
        e = async_work_group_copy(mine + {COUNT}, (global const {name} *)in, {COUNT}, e);
        wait_group_events(1, &e);
        e = async_work_group_strided_copy(to, mine, {COUNT}, 2, 0);
        e = async_work_group_copy(to + {2 * COUNT}, mine + {COUNT}, {COUNT}, e);
        wait_group_events(1, &e);
        barrier(CLK_LOCAL_MEM_FENCE);
    }}""")
    return ("kernel void k(global const uchar *in, global uchar *out) {\n"
            f"local long16 tile[{2 * COUNT}];\n" + "\n".join(steps) + "\n}")


def expected_of(types: Sequence[str], data: np.ndarray) -> np.ndarray:
    """The bytes that it writes; of three components the fourth, which is padding, is copied as well."""
    out = np.zeros((len(types), COUNT * STRIDE * MOST_BYTES), np.uint8)
    for row, name in zip(out, types, strict=True):
        size = size_of(name)
        elements = data[:COUNT * STRIDE * size].reshape(-1, size)
        spread = row[:COUNT * STRIDE * size].reshape(-1, size)
        spread[:2 * COUNT:2] = elements[::STRIDE]
        spread[2 * COUNT:] = elements[:COUNT]
    return out.ravel()


def arguments_of(types: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    data = np.random.default_rng(3).integers(0, 256, COUNT * STRIDE * MOST_BYTES, np.uint8)
    return data, np.zeros(len(types) * data.size, np.uint8)


@pytest.mark.parametrize("through_llvm", [False, True], ids=["ours", "llvm"])
def test_every_type_in_both_directions(through_llvm: bool) -> None:
    program = cm.build(source_of(TYPES))
    if through_llvm:
        program = cm.build(llvm.to_spirv(program.llvm_ir))
    data, out = arguments_of(TYPES)
    cm.Queue("sim:generic").enqueue(program.kernel("k"), 8, 8, data, out).wait()
    np.testing.assert_array_equal(out, expected_of(TYPES, data))


@pytest.mark.oracle("intel-opencl")
def test_every_type_on_a_driver() -> None:
    data, out = arguments_of(TYPES)
    _, found = intel_runtime.run(cm.build(source_of(TYPES)).spirv, "k", (8,), (8,), [data, out])
    np.testing.assert_array_equal(found, expected_of(TYPES, data))


def test_arrays_of_events_may_begin_with_null_events() -> None:
    source = """
    event_t none(void) { return 0; }
    kernel void k(global int *out, global const int *in, int n) {
        local int a[16];
        event_t events[3] = {0, none()}, other = (event_t)0;
        other = n > 3 ? async_work_group_copy(a, in, 16, events[0]) : (event_t)0;
        events[n % 3] = other;
        wait_group_events(3, events);
        out[get_global_id(0)] = a[get_local_id(0)];
    }"""
    for program in (cm.build(source), cm.build(llvm.to_spirv(cm.build(source).llvm_ir))):
        out = np.zeros(32, np.int32)
        cm.Queue("sim:generic").enqueue(program.kernel("k"), 32, 16, out, np.arange(16, dtype=np.int32), 7).wait()
        assert out.tolist() == [*range(16)] * 2


# ------------------------------------------------------------------ the simulator


def run(body: str, *arrays: Any, lanes: int = 2 * GROUP, options: cm.SimulatorOptions | None = None) -> None:
    """Run a kernel in groups of two sub-groups of four: ``l`` is the local id, ``g`` the work-group's number."""
    source = f"""kernel __attribute__((intel_reqd_sub_group_size(4)))
    void k(global int *out, global int *in, local int *t) {{
        size_t l = get_local_id(0), g = get_group_id(0); event_t e;
        {body}
    }}"""
    device = cm.device("sim:generic", options=options)
    given = arrays or (np.zeros(lanes, np.int32), np.arange(100, 164, dtype=np.int32))
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), lanes, GROUP, *given, cm.local(64)).wait()


def out_and_in() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(2 * GROUP, np.int32), np.arange(100, 164, dtype=np.int32)


READ_BACK = "out[get_global_id(0)] = t[l];"
WAIT = "wait_group_events(1, &e);"


def test_the_data_arrives_with_the_wait() -> None:
    """The copy may be made at any time until then; this simulator makes it last, so that a missing wait shows."""
    out, data = out_and_in()
    options = cm.SimulatorOptions(races=False)
    run(f"t[l] = -1; e = async_work_group_copy(t, in, {GROUP}, 0); {READ_BACK} {WAIT}", out, data, options=options)
    assert out.tolist() == [-1] * 2 * GROUP


def test_a_second_wait_for_an_event_changes_nothing() -> None:
    out, data = out_and_in()
    run(f"e = async_work_group_copy(t, in, {GROUP}, 0); {WAIT} t[l] += 1; {WAIT} {READ_BACK}", out, data)
    assert out.tolist() == [*range(101, 101 + GROUP)] * 2


@pytest.mark.parametrize("copy", ["async_work_group_copy(t, in, l - l, 0)",
                                  "async_work_group_strided_copy(t, in, 0, 5, 0)",
                                  "async_work_group_copy(t + 1000, in - 9, 0, 0)"])
def test_nothing_is_copied(copy: str) -> None:
    out, data = out_and_in()
    run(f"t[l] = -1; e = {copy}; {WAIT} {READ_BACK}", out, data)
    assert out.tolist() == [-1] * 2 * GROUP


def test_a_stride_of_zero_reads_one_element() -> None:
    out, data = out_and_in()
    run(f"e = async_work_group_strided_copy(t, in + 4, {GROUP}, 0, 0); {WAIT} {READ_BACK}", out, data)
    assert out.tolist() == [104] * 2 * GROUP


def test_groups_may_go_their_own_ways() -> None:
    out, data = out_and_in()
    run(f"""t[l] = -1; barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t i = 0; i < g + 1; ++i) {{
            if (g) e = async_work_group_copy(t + i, in + 10 * i, {GROUP} - i, 0);
            else e = async_work_group_strided_copy(t, in, 4, 2, 0);
            {WAIT}
        }}
        {READ_BACK}""", out, data)
    assert out.tolist() == [100, 102, 104, 106, -1, -1, -1, -1, 100, *range(110, 117)]


def test_different_numbers_of_events() -> None:
    out, data = out_and_in()
    run(f"""event_t events[2]; t[l] = -1; barrier(CLK_LOCAL_MEM_FENCE);
        events[0] = async_work_group_copy(t, in, 4, 0);
        events[1] = async_work_group_copy(t + 4, in + 4, 4, 0);
        wait_group_events(g + 1, events);
        {READ_BACK}
        wait_group_events(2, events);""", out, data, options=cm.SimulatorOptions(races=False))
    assert out.tolist() == [100, 101, 102, 103, -1, -1, -1, -1, *range(100, 108)]


def test_a_group_of_many_batches() -> None:
    """More sub-groups than run at once."""
    lanes = 1 << 17
    out = np.zeros(lanes, np.int32)
    run(f"e = async_work_group_copy(t, in + g * {GROUP}, {GROUP}, 0); {WAIT} {READ_BACK}", out,
        np.arange(lanes, dtype=np.int32), lanes=lanes)
    np.testing.assert_array_equal(out, np.arange(lanes))


FAULTS = {
    "a part of the group": (
        f"if (l < 5) e = async_work_group_copy(t, in, {GROUP}, 0);", DivergentGroupOperation,
        "the asynchronous copy (OpGroupAsyncCopy) must be reached by the whole work-group; 5 of its 8 work-items are "
        "here, the first one missing is lane 1 of sub-group 1"),
    "a part of the group waits": (
        f"e = async_work_group_copy(t, in, {GROUP}, 0); if (l != 2) {WAIT}", DivergentGroupOperation,
        "the wait for events (OpGroupWaitEvents) must be reached by the whole work-group"),
    "different counts": (
        "e = async_work_group_copy(t, in, 1 + l / 7, 0);", UndefinedBehavior,
        "the number of elements of the asynchronous copy (OpGroupAsyncCopy) must be the same in the whole work-group; "
        "lane 0 of sub-group 0 has 1 and lane 3 of sub-group 1 has 2"),
    "different sources": (f"e = async_work_group_copy(t, in + l, {GROUP}, 0);", UndefinedBehavior, "the source of"),
    "different destinations": (f"e = async_work_group_copy(t + l, in, {GROUP}, 0);", UndefinedBehavior,
                               "the destination of"),
    "different strides": (f"e = async_work_group_strided_copy(t, in, {GROUP}, l, 0);", UndefinedBehavior,
                          "the stride of"),
    "different events": (
        f"event_t two[2] = {{0, async_work_group_copy(t, in, {GROUP}, 0)}};"
        f"e = async_work_group_copy(t, in, {GROUP}, two[l & 1]);", UndefinedBehavior, "the event of"),
    "different numbers of events": ("event_t n = 0; wait_group_events(l, &n);", UndefinedBehavior,
                                    "the number of events of"),
    "waits for different events": (
        f"event_t two[2] = {{0, async_work_group_copy(t, in, {GROUP}, 0)}}; wait_group_events(1, two + (l & 1));",
        UndefinedBehavior, "the event 0 of the wait for events"),
    "a negative number of events": ("event_t n = 0; wait_group_events(-1, &n);", UndefinedBehavior, "is negative: -1"),
    "more events than there are": ("event_t n = 0; wait_group_events(2, &n);", OutOfBounds,
                                   "read of 8 bytes at byte 8"),
    "no event": ("long bits = 77; wait_group_events(1, (event_t *)&bits);", UndefinedBehavior,
                 "is none that an asynchronous copy has returned"),
    "no wait": (f"e = async_work_group_copy(t, in, {GROUP}, 0);", UndefinedBehavior,
                "the kernel ends, but has never waited for the asynchronous copy (OpGroupAsyncCopy) that begins here"),
    "past the end of the source": (
        f"e = async_work_group_strided_copy(t, in + 50, {GROUP}, 3, 0);", OutOfBounds,
        "the asynchronous copy (OpGroupAsyncCopy) of 8 elements reads 4 bytes at byte 260 for its element 5; the "
        "buffer has 256 bytes, 64 elements of this size"),
    "past the end of the destination": (f"e = async_work_group_copy(t + 9, in, {GROUP}, 0);", OutOfBounds,
                                        "writes 4 bytes at byte 64 for its element 7; the buffer has 64 bytes"),
    "before the start": (f"e = async_work_group_copy(out + {GROUP} * g, t, {GROUP}, 0); {WAIT}"
                         f"e = async_work_group_copy(out - 1, t, {GROUP}, 0);", OutOfBounds,
                         "writes 4 bytes at byte -4 for its element 0"),
    "far away": ("e = async_work_group_copy(t, in, (size_t)-1, 0);", OutOfBounds,
                 "of 18446744073709551615 elements writes 4 bytes at byte 64 for its element 16"),
    "a stride that wraps around": (
        f"e = async_work_group_strided_copy(t, in, {GROUP}, ((size_t)1 << 62) + 1, 0);", OutOfBounds,
        "reads 4 bytes at byte 18446744073709551620 for its element 1"),
    "a null pointer": (f"e = async_work_group_copy(t, (global int *)0, {GROUP}, 0);", OutOfBounds,
                       "reads 4 bytes through a null pointer"),
    "between elements": (
        "e = async_work_group_copy((local int4 *)t, (global int4 *)(in + 1), 2, 0);", Misaligned,
        "must be a multiple of 16 bytes; it is byte 4 of its buffer"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    body, kind, text = FAULTS[name]
    with pytest.raises(kind) as caught:
        run(body)
    assert text in str(caught.value)
    assert caught.value.where.kernel == "k"
    assert caught.value.where.location.startswith("<source>:4:")


def test_a_fault_names_buffer_and_element() -> None:
    with pytest.raises(OutOfBounds) as caught:
        run(f"e = async_work_group_copy(t, in + 60, g ? {GROUP} : 4, 0);")
    where = caught.value.where
    assert (where.work_group, where.buffer, where.element) == ((1, 0, 0), "argument 1 'in'", 64)


def test_read_only_destination() -> None:
    program = cm.build("""kernel void k(global const int *out, local int *t) {
        event_t e = async_work_group_copy((global int *)out, t, 8, 0); wait_group_events(1, &e); }""")
    out = np.zeros(GROUP, np.int32)
    out.flags.writeable = False
    with pytest.raises(SimulationError, match="a write to read-only memory"):
        cm.Queue("sim:generic").enqueue(program.kernel("k"), GROUP, GROUP, out, cm.local(64)).wait()


def test_checks_can_be_turned_off() -> None:
    """Elements that are not there are left out, and the first work-item's arguments count."""
    out, data = out_and_in()
    options = cm.SimulatorOptions(bounds=False, convergence=False, races=False)
    run(f"t[l] = -1; e = async_work_group_copy(t, in + 60 + l, {GROUP}, 0); {WAIT} {READ_BACK}", out, data,
        options=options)
    assert out.tolist() == [160, 161, 162, 163, -1, -1, -1, -1] * 2


# ------------------------------------------------------------------ messages

MESSAGES = {
    "kernel void k(event_t e) { }": (
        "'event_t' cannot be used as the type of a kernel parameter: an event belongs to the work-group whose copy it "
        "stands for [CM3770]"),
    "struct s { int a; event_t e; };": (
        "the 'event_t' type cannot be used to declare a structure or union field; keep the event in a variable of its "
        "own [CM3771]"),
    "kernel void k(void) { local event_t e; }": (
        "the event_t type can only be used with the __private address space, found __local: declare the event in a "
        "function, without an address space [CM3772]"),
    "void f(int n) { event_t e = n; }": (
        "initializing 'event_t' with an expression of incompatible type 'int'; an event_t is the result of an "
        "asynchronous copy, or the constant 0 [CM3773]"),
    "void f(local int *a, global int *b) { async_work_group_copy(a, b, 4, 1); }": (
        "passing 'int' to parameter of incompatible type 'event_t'; an event_t is the result of an asynchronous copy, "
        "or the constant 0 [CM3773]"),
    "void f(int n) { event_t e = (event_t)n; }": "cannot cast 'int' to 'event_t'; only the constant 0 can be [CM3774]",
    "void f(void) { event_t e = {0}; }": (
        "an event_t cannot be initialized by a list in braces; use '= 0' [CM3775]"),
    "void f(event_t e) { e = 0; }": (
        "assigning to 'event_t' from incompatible type 'int'; the null event is '(event_t)0' [CM3776]"),
    "void f(event_t e) { wait_group_events(1, e); }": (
        "argument 2 of 'wait_group_events' must be a pointer to 'event_t'; take the address with & [CM3777]"),
    "void f(global int *a, global int *b) { async_work_group_copy(a, b, 4, 0); }": (
        "argument 1 of 'async_work_group_copy' points to the __global address space; expected a pointer to __local "
        "[CM3705]"),
    "void f(local int *a, global long *b) { async_work_group_copy(a, b, 4, 0); }": (
        "no matching function for call to 'async_work_group_copy' with arguments of type ('__local int *', '__global "
        "long *', 'int', 'int') [CM3701]"),
    "void f(local char *a, global char *b) { async_work_group_copy_2D2D(a, 0, b, 0, 1, 4, 4, 4, 4, 0); }": (
        "built-in function 'async_work_group_copy_2D2D' is not supported; copy each line with async_work_group_copy, "
        "all with one event [CM3712]"),
}


@pytest.mark.parametrize("source", MESSAGES)
def test_message(source: str) -> None:
    with pytest.raises(cm.CompileError) as caught:
        cm.build(source)
    assert [diagnostic.header.partition(": error: ")[2] for diagnostic in caught.value.diagnostics] == [
        MESSAGES[source]]


def test_a_null_event_among_overloads() -> None:
    """A constant 0 is an event before it is a null pointer, as in clang."""
    source = """
    __attribute__((overloadable)) int f(event_t e) { return 1; }
    __attribute__((overloadable)) int f(global int *p) { return 2; }
    kernel void k(global int *out, local int *t) {
        const int zero = 0;
        event_t e = async_work_group_copy(t, out, 1, zero);
        wait_group_events(1, &e);
        out[0] = 100 * f(0) + 10 * f(e) + f(out);
    }"""
    out = np.zeros(1, np.int32)
    cm.Queue("sim:generic").enqueue(cm.build(source).kernel("k"), 1, 1, out, cm.local(4)).wait()
    assert out.tolist() == [112]


def test_every_overload_is_there() -> None:
    """Both functions, both directions, all types: the count of the specification's table."""
    overloads = itertools.product(("async_work_group_copy", "async_work_group_strided_copy"), TYPES,
                                  (("local", "global"), ("global", "local")))
    calls = [f"{name}(({to} {type_} *)0, ({source} const {type_} *)0, 0, {'1, ' * ('strided' in name)}e);"
             for name, type_, (to, source) in overloads]
    assert len(calls) == 2 * 66 * 2
    assert cm.build("kernel void k(void) { event_t e = 0;\n" + "\n".join(calls) + "\n}").kernels
