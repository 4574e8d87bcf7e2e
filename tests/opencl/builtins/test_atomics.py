"""Atomic functions, fences and pointers between address spaces, on the simulator, through LLVM and on a driver."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import coopmat as cm
from coopmat import llvm
from coopmat.spirv.grammar import Op
from tests.kit.oracles import intel_runtime

DTYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "float": np.float32,
          "double": np.float64}
INTEGERS = ("int", "uint", "long", "ulong")
ELEMENTS = ["int", "ulong", "float", "double",
            *(pytest.param(name, marks=pytest.mark.slow) for name in ("uint", "long"))]
SPACES = ("global", "local", "private", "generic")
ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
SCOPES = ("work_item", "sub_group", "work_group", "device", "all_svm_devices", "all_devices")

Run = Callable[[str, int, list[np.ndarray]], list[np.ndarray]]


def on_the_simulator(source: str, lanes: int, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """One work-group of kernel ``k``."""
    return _simulate(cm.build(source), lanes, arrays)


def through_llvm(source: str, lanes: int, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The same for the module that LLVM makes from our IR."""
    return _simulate(cm.build(llvm.to_spirv(cm.build(source).llvm_ir)), lanes, arrays)


def _simulate(program: cm.Program, lanes: int, arrays: list[np.ndarray]) -> list[np.ndarray]:
    copies = [array.copy() for array in arrays]
    cm.Queue("sim:generic").enqueue(program.kernel("k"), lanes, lanes, *copies).wait()
    return copies


def on_a_driver(source: str, lanes: int, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The same on Intel's runtime."""
    return intel_runtime.run(cm.build(source).spirv, "k", (lanes,), (lanes,), arrays)


RUNS = [pytest.param(on_the_simulator, id="simulator"), pytest.param(through_llvm, id="llvm"),
        pytest.param(on_a_driver, id="driver", marks=pytest.mark.oracle("intel-opencl"))]



def spaces_of(run: Run) -> tuple[str, ...]:
    """Where atomic objects may lie: the driver's library has global and local memory only."""
    return SPACES[:2] if run is on_a_driver else SPACES


UPDATES: dict[str, Callable[[np.generic, np.generic], np.generic]] = {
    "add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}


def operands(element: str) -> list[tuple[np.generic, np.generic]]:
    """Pairs that show signedness, wrapping and every bit."""
    dtype = np.dtype(DTYPES[element])
    if dtype.kind == "f":
        pairs = [(1.5, 2.25), (-3.0, 1e10), (0.0, -7.5)]
    else:
        info = np.iinfo(dtype)
        pairs = [(info.max, 1), (info.min, 3), (0x5A, 0x0F), (7, info.max - 2)]
    return [(dtype.type(a), dtype.type(b)) for a, b in pairs]


def updated(name: str, old: np.generic, value: np.generic) -> np.generic:
    with np.errstate(over="ignore"):
        return value if name in ("exchange", "xchg") else UPDATES[name](old, value)


def object_in(space: str, element: str) -> str:
    """Declarations of ``p``, a pointer to an object of its own in an address space."""
    held = {"global": "&work[0]", "local": "&shared", "private": "&own", "generic": "&own"}[space]
    return f"{space} {element} *p = {held};"


def kernel(element: str, statements: list[str]) -> str:
    return (f"kernel void k(global {element} *work, global {element} *out) {{ local {element} shared; {element} own;\n"
            + "\n".join(statements) + "\n}")


# ------------------------------------------------------------------ the older functions


def legacy_functions() -> list[tuple[str, str]]:
    """Name and type of each function of OpenCL 1.x with one operand."""
    names = (*UPDATES, "xchg")
    found = [(f"atomic_{name}", element) for name in names for element in ("int", "uint")]
    found += [(f"atom_{name}", element) for name in names for element in INTEGERS]
    return [*found, ("atomic_xchg", "float")]


@pytest.mark.parametrize("element", [*INTEGERS, "float"])
@pytest.mark.parametrize("run", RUNS)
def test_older_functions(run: Run, element: str) -> None:
    """Each returns what was there, and leaves the new value."""
    statements, expected = [], []

    def add(space: str, call: str, start: np.generic, result: np.generic) -> None:
        index = 2 * len(statements)
        statements.append(f"{{ {object_in(space, element)} *p = as_{element}({literal(start)}); "
                          f"out[{index}] = {call}; out[{index + 1}] = *p; }}")
        expected.append((start, result))

    for (name, type_), space in itertools.product(legacy_functions(), ("global", "local")):
        for old, value in operands(element) if type_ == element else ():
            add(space, f"{name}(p, as_{element}({literal(value)}))", old, updated(name.partition("_")[2], old, value))
    for prefix, space in itertools.product(("atomic", "atom"), ("global", "local")):
        if element == "float" or (prefix == "atomic" and element not in ("int", "uint")):
            continue
        one = DTYPES[element](1)
        for old, value in operands(element):
            add(space, f"{prefix}_inc(p)", old, updated("add", old, one))
            add(space, f"{prefix}_dec(p)", old, updated("sub", old, one))
            for comparand in (old, value):
                call = f"{prefix}_cmpxchg(p, as_{element}({literal(comparand)}), as_{element}({literal(value)}))"
                add(space, call, old, value if comparand == old else old)
    out = np.zeros((len(statements), 2), DTYPES[element])
    _, out = run(kernel(element, statements), 1, [np.zeros(1, DTYPES[element]), out])
    assert [tuple(row) for row in out.tolist()] == [(a.item(), b.item()) for a, b in expected]


def literal(value: np.generic) -> str:
    """The bits of a number as an unsigned constant."""
    bits = np.asarray(value).view(f"u{value.itemsize}")
    return f"{bits}u{'l' * (value.itemsize == 8)}"


# ------------------------------------------------------------------ C11's functions


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("run", RUNS)
def test_c11_functions(run: Run, element: str) -> None:
    """In each address space, with each order that the function allows, and each scope."""
    if run is on_a_driver and element == "double":
        pytest.skip("the driver has no atomic stores of double")
    names = [f"fetch_{name}" for name in (UPDATES if element in INTEGERS else ("add", "sub", "min", "max"))]
    names.append("exchange")
    statements, expected = [], []

    def add(space: str, before: str, call: str, start: np.generic, *results: np.generic) -> None:
        index = 2 * len(statements)
        type_ = f"atomic_{element}"
        statements.append(f"{{ {object_in(space, type_).replace('= &', f'= ({space} {type_} *)&')} "
                          f"atomic_init(p, as_{element}({literal(start)})); {before} "
                          f"out[{index}] = {call}; out[{index + 1}] = *({space} {element} *)p; }}")
        expected.append(results)

    orders = itertools.cycle(ORDERS)
    scopes = itertools.cycle(SCOPES)
    for space, (old, value) in itertools.product(spaces_of(run), operands(element)[:2]):
        given = f"as_{element}({literal(value)})"
        for name in names:
            new = updated(name.removeprefix("fetch_"), old, value)
            add(space, "", f"atomic_{name}(p, {given})", old, old, new)
            for scope in ("", f", memory_scope_{next(scopes)}"):
                arguments = f"memory_order_{next(orders)}{scope}"
                add(space, "", f"atomic_{name}_explicit(p, {given}, {arguments})", old, old, new)
        for order, form in itertools.product(("relaxed", "acquire", "seq_cst"), ("", ", memory_scope_")):
            tail = f"memory_order_{order}{form}{next(scopes) if form else ''}"
            add(space, "", f"atomic_load_explicit(p, {tail})", old, old, old)
            tail = tail.replace("acquire", "release")
            add(space, f"atomic_store_explicit(p, {given}, {tail});", "atomic_load(p)", old, value, value)
        add(space, f"atomic_store(p, {given});", "atomic_load(p)", old, value, value)
    out = np.zeros((len(statements), 2), DTYPES[element])
    _, out = run(kernel(element, statements), 1, [np.zeros(1, DTYPES[element]), out])
    assert [tuple(row) for row in out.tolist()] == [(a.item(), b.item()) for a, b in expected]


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("run", RUNS)
def test_compare_exchange(run: Run, element: str) -> None:
    """Both strengths, success and failure, the expected value in each address space, all pairs of orders."""
    (old, value), *_ = operands(element)
    other = operands(element)[1][1]
    statements, expected = [], []
    forms = ["", *(f", memory_order_{success}, memory_order_{failure}"
                   for success in ORDERS for failure in ("relaxed", "acquire", "seq_cst"))]
    scopes = itertools.cycle(("", *(f", memory_scope_{scope}" for scope in SCOPES)))
    spaces = itertools.cycle(itertools.product(spaces_of(run), SPACES))
    for strength, comparand, form in itertools.product(("weak", "strong"), (old, other), forms):
        (space, beside), index = next(spaces), 3 * len(statements)
        held = {"global": "&work[1]", "local": "&shared2", "private": "&own2", "generic": "&own2"}[beside]
        tail = form + next(scopes) if form else ""
        call = (f"atomic_compare_exchange_{strength}{'_explicit' * bool(form)}(p, e, as_{element}({literal(value)})"
                f"{tail})")
        statements.append(f"{{ {space} {element} *held = {object_in(space, element).partition('= ')[2]} "
                          f"{space} atomic_{element} *p = ({space} atomic_{element} *)held;"
                          f"{beside} {element} *e = {held};"
                          f"*held = as_{element}({literal(old)}); *e = as_{element}({literal(comparand)});"
                          f"out[{index}] = {call}; out[{index + 1}] = *held; out[{index + 2}] = *e; }}")
        expected.append((1, value.item(), old.item()) if comparand == old else (0, old.item(), old.item()))
    source = kernel(element, [f"local {element} shared2; {element} own2;", *statements])
    out = np.zeros((len(statements), 3), DTYPES[element])
    _, out = run(source, 1, [np.zeros(2, DTYPES[element]), out])
    assert [tuple(row) for row in out.tolist()] == expected
    assert len(statements) == 64


@pytest.mark.parametrize("run", RUNS[:2])
def test_flags_and_initial_values(run: Run) -> None:
    source = """
    kernel void k(global int *out, global atomic_flag *flag) {
        atomic_int one = ATOMIC_VAR_INIT(41);
        atomic_flag own = ATOMIC_FLAG_INIT;
        local atomic_flag shared; local atomic_uint counter;
        atomic_flag_clear(&shared); atomic_init(&counter, 5u);
        out[0] = atomic_fetch_add(&one, 1); out[1] = atomic_load(&one);
        out[2] = atomic_flag_test_and_set(&own); out[3] = atomic_flag_test_and_set_explicit(&own, memory_order_acquire);
        atomic_flag_clear_explicit(&own, memory_order_release);
        out[4] = atomic_flag_test_and_set_explicit(&own, memory_order_seq_cst, memory_scope_work_group);
        out[5] = atomic_flag_test_and_set(&shared); out[6] = atomic_flag_test_and_set(&shared);
        atomic_flag_clear_explicit(&shared, memory_order_seq_cst, memory_scope_device);
        out[7] = atomic_flag_test_and_set(&shared); out[8] = atomic_load(&counter);
        out[9] = atomic_flag_test_and_set(flag); out[10] = atomic_flag_test_and_set(flag);
        atomic_flag_clear(flag);
    }"""
    out, flag = run(source, 1, [np.full(11, -1, np.int32), np.zeros(1, np.int32)])
    assert out.tolist() == [41, 42, 0, 1, 0, 0, 1, 0, 5, 0, 1]
    assert flag.tolist() == [0]


@pytest.mark.parametrize("run", RUNS)
def test_many_work_items_at_once(run: Run) -> None:
    """What they leave behind does not depend on their order, and no two see the same value."""
    source = """
    kernel void k(global int *seen, global int *total, global float *sums, global ulong *wide) {
        local atomic_int counter; local float most; local atomic_flag taken; local int first;
        int i = get_local_id(0);
        if (i == 0) { atomic_init(&counter, 0); most = -1.0f; first = 0; atomic_flag_clear(&taken); }
        barrier(CLK_LOCAL_MEM_FENCE);
        seen[atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed, memory_scope_work_group)] = i;
        atomic_fetch_max((local atomic_float *)&most, i * 0.5f);
        atomic_add(total, i); atomic_fetch_add((global atomic_float *)sums, i * 0.25f);
        atomic_fetch_sub((global atomic_float *)(sums + 1), 0.5f);
        atom_add(wide, (ulong)i << 33); atom_max(wide + 1, (ulong)i << 40);
        if (!atomic_flag_test_and_set(&taken)) atomic_add(&first, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == 0) { sums[2] = most; total[1] = atomic_load(&counter); total[2] = first; }
    }"""
    lanes = 64
    seen, total, sums, wide = run(source, lanes, [np.full(lanes, -1, np.int32), np.zeros(3, np.int32),
                                                  np.zeros(3, np.float32), np.zeros(2, np.uint64)])
    assert sorted(seen.tolist()) == list(range(lanes))
    assert total.tolist() == [2016, 64, 1]
    assert sums.tolist() == [504.0, -32.0, 31.5]
    assert wide.tolist() == [2016 << 33, 63 << 40]


# ------------------------------------------------------------------ fences and barriers


@pytest.mark.parametrize("run", RUNS)
def test_fences_and_barriers_of_every_kind(run: Run) -> None:
    """Each is passed, and what was written before is there after it."""
    flags = ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"]
    statements = [f"{name}({flag});" for name in ("mem_fence", "read_mem_fence", "write_mem_fence") for flag in flags]
    statements += [f"atomic_work_item_fence({flag}, memory_order_{order}, memory_scope_{scope});"
                   for flag, order, scope in itertools.product(flags, ORDERS, SCOPES)]
    statements += [f"{name}({flag}{scope});" for name in ("work_group_barrier", "sub_group_barrier") for flag in flags
                   for scope in ("", *(f", memory_scope_{scope}" for scope in SCOPES[1:]))]
    statements += [f"barrier({flag});" for flag in (*flags, "0")]
    source = ("kernel void k(global int *out) { local int tile[32]; int i = get_local_id(0); tile[i] = i * i;\n"
              + "\n".join(statements) + "\nout[i] = tile[31 - i]; }")
    out, = run(source, 32, [np.zeros(32, np.int32)])
    assert out.tolist() == [(31 - i) ** 2 for i in range(32)]


def test_semantics_in_the_module() -> None:
    """Failure is never stronger than success, which SPIR-V demands; a relaxed access orders no memory."""
    source = """kernel void k(global atomic_int *p, int e) {
        atomic_compare_exchange_weak_explicit(p, &e, 2, memory_order_relaxed, memory_order_relaxed);
        atomic_compare_exchange_weak_explicit(p, &e, 2, memory_order_relaxed, memory_order_acquire);
        atomic_compare_exchange_weak_explicit(p, &e, 2, memory_order_release, memory_order_acquire);
        atomic_compare_exchange_weak_explicit(p, &e, 2, memory_order_release, memory_order_seq_cst);
        atomic_compare_exchange_weak_explicit(p, &e, 2, memory_order_acq_rel, memory_order_relaxed); }"""
    module = cm.build(source).module
    found = [(module.constant_value(row.words[2]), module.constant_value(row.words[3]))
             for row in module.of_opcode(Op.AtomicCompareExchange)]
    assert found == [(0, 0), (0x202, 0x202), (0x208, 0x202), (0x210, 0x210), (0x208, 0)]


# ------------------------------------------------------------------ address spaces


@pytest.mark.parametrize("run", RUNS)
def test_generic_pointers_through_functions(run: Run) -> None:
    source = """
    int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }
    int *pick(int which, global int *g, local int *l, private int *p) {
        if (which == 0) return g;
        return which == 1 ? (int *)l : p;
    }
    void set(generic int *p, int value) { *p = value; }
    int kind(generic const void *p) {
        return (to_global((void *)p) != NULL) + 2 * (to_local((void *)p) != NULL) + 4 * (to_private((void *)p) != NULL);
    }
    kernel void k(global int *out, global int *in) {
        local int l[4]; int own[4];
        for (int i = 0; i < 4; ++i) { l[i] = 10 * in[i]; own[i] = 100 * in[i]; }
        out[0] = sum(in, 4); out[1] = sum(l, 4); out[2] = sum(own, 4);
        for (int i = 0; i < 3; ++i) {
            int *p = pick(i, in, l, own);
            out[3 + i] = kind(p); set(p + 1, 7 + i); out[6 + i] = sum(p, 2);
            out[9 + i] = get_fence(p) == CLK_LOCAL_MEM_FENCE;
            atomic_fetch_add((atomic_int *)p, 1000); out[12 + i] = p[0];
        }
        global int *back = to_global(pick(0, in, l, own)); out[15] = back[1];
        local int *shared = to_local(pick(1, in, l, own)); out[16] = shared[1];
        private int *mine = to_private(pick(2, in, l, own)); out[17] = mine[1];
    }"""
    expected = np.array([10, 100, 1000, 1, 2, 4, 8, 18, 109, 0, 1, 0, 1001, 1010, 1100, 7, 8, 9])
    is_answer = np.zeros(18, np.bool_)
    is_answer[[3, 4, 5, 9, 10, 11]] = True
    if run is on_a_driver:  # to which all memory is one, and which has no atomics on generic pointers
        source = source.replace("atomic_fetch_add((atomic_int *)p, 1000);", "*p += 1000;")
    out, _ = run(source, 1, [np.zeros(18, np.int32), np.array([1, 2, 3, 4], np.int32)])
    compared = ~is_answer if run is on_a_driver else slice(None)
    assert out[compared].tolist() == expected[compared].tolist()


@pytest.mark.parametrize("run", RUNS)
def test_prefetch_changes_nothing(run: Run) -> None:
    elements = ("char", "ushort", "int", "ulong", "half", "float", "double")
    calls = "".join(f"prefetch((global {element}{width} *)in, 1000000);"
                    for element in elements for width in ("", 2, 3, 4, 8, 16))
    out, = run(f"kernel void k(global int *in) {{ {calls} in[1] = in[0]; }}", 1, [np.array([3, 4], np.int32)])
    assert out.tolist() == [3, 3]
