"""Bounds checks on the CPU: accesses inside give what the simulator gives, those outside its error, word for word."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import describe
from coopmat.diagnostics import OutOfBounds, SimulationError
from coopmat.spirv.grammar import CooperativeMatrixLayout
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.targets import simulator
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.program import CpuProgram
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.cases import CASES, Case, copies
from tests.kit.targets import short_kernels

CHECKED = CpuOptions(bounds=True, threads=1)
BOUNDS_ALONE = SimulatorOptions(races=False, uninitialized=False, undefined=False)
ITEMS, GROUP = 64, 32
PRELUDE = """
#define I ((int)get_global_id(0))
#define L ((int)get_local_id(0))
typedef struct { char c; int n; } pair;
constant int table[64] = {7, 8, 9};
__attribute__((noinline)) int sum_of(private int *p, int d) { return p[0] + p[d]; }
"""
# Statements; ``in`` and ``out`` have as many elements as there are work-items times the number given, and ``d`` moves
# an access by so many elements.
ACCESSES: dict[str, tuple[str, int]] = {
    "load": ("out[I] = in[I + d];", 1),
    "store": ("out[I + d] = in[I];", 1),
    "load of a vector": ("out[I] = ((global int4 *)in)[I + d].w;", 4),
    "store of a vector": ("((global int4 *)out)[I + d] = (int4)(I);", 4),
    "load in some work-items": ("if ((I & 1) == (d > 0)) out[I] = in[I + d];", 1),
    "backwards": (f"out[I] = in[{ITEMS - 1} - I + d];", 1),
    "every other element": ("out[I] = in[2 * I + (d > 0 ? 1 + d : d)];", 2),
    "gather": ("out[I] = in[((I * 7) & 63) + d];", 1),
    "scatter": ("out[((I * 7) & 63) + d] = I;", 1),
    "same element": (f"out[I] = in[d > 0 ? {ITEMS - 1} + d : d];", 1),
    "structure": ("out[I] = ((global pair *)in)[I + d].n;", 2),
    "vload3": ("out[I] = vload3(I + d, in).z;", 3),
    "vstore4": ("vstore4((int4)(I), I + d, out);", 4),
    "vload_half": ("out[I] = vload_half(2 * I + (d > 0 ? 1 + d : d), (global half *)in) > 0;", 1),
    "atomic": ("atomic_add(&out[I + d], in[I]);", 1),
    "atomic on one place": (f"atomic_inc(&out[d > 0 ? {ITEMS - 1} + d : d]);", 1),
    "local variable": (f"local int t[{GROUP}]; t[L] = in[I]; barrier(CLK_LOCAL_MEM_FENCE); out[I] = t[L + d];", 1),
    "local argument": ("w[L + d] = in[I]; barrier(CLK_LOCAL_MEM_FENCE); out[I] = w[L];", 1),
    "constant memory": ("out[I] = table[I + d];", 1),
    "private array": ("int t[4]; for (int j = 0; j < 4; ++j) t[j] = in[I] + j; out[I] = t[(I & 3) + d];", 1),
    "private array in memory": ("int t[4] = {1, 2, 3, I}; out[I] = sum_of(t, d > 0 ? 3 + d : d);", 1),
    "pointer that a loop moves": ("global const int *p = in + (d > 0 ? 1 + d : d); for (int j = 0; j < 2; ++j) p += I; "
                                  "out[I] = *p;", 2),
    "block read": ("out[I] = intel_sub_group_block_read((global const uint *)in + (I & ~15) + d);", 1),
    "block write": ("intel_sub_group_block_write((global uint *)out + (I & ~15) + 4 * d, in[I]);", 1),
    "asynchronous copy": (f"event_t e = async_work_group_copy(w, in + (I - L) + d, {GROUP}, 0); "
                          "wait_group_events(1, &e); out[I] = w[L];", 1),
}

def source(statement: str) -> str:
    return f"{PRELUDE}kernel void k(global int *out, global const int *in, int d, local int *w)\n{{\n{statement}\n}}\n"


def arguments(count: int, d: int) -> list[object]:
    values = np.random.default_rng(5).integers(-99, 99, ITEMS * count).astype(np.int32)
    return [np.zeros(ITEMS * count, np.int32), values, np.int32(d), LocalMemory(4 * GROUP)]


def run_both(module: Module, given: Sequence[object], sizes: tuple[int, int] = (ITEMS, GROUP),
             name: str = "k") -> list[object]:
    """What the simulator and the CPU make of a launch: the first argument afterwards, or the error's text."""
    found: list[object] = []
    for target in (simulator.compile(module, describe("generic"), BOUNDS_ALONE),
                   CpuProgram(module, options=CHECKED, validates=False)):
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
        try:
            target.launch(name, sizes[:1], sizes[1:], copies)
            found.append(copies[0])
        except OutOfBounds as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("name", ACCESSES)
def test_access(name: str) -> None:
    statement, count = ACCESSES[name]
    program = cm.build(source(statement))._executable
    expected, found = run_both(program, arguments(count, 0))
    assert isinstance(expected, np.ndarray)
    np.testing.assert_array_equal(found, expected)
    for d in (1, -1):
        expected, found = run_both(program, arguments(count, d))
        assert isinstance(expected, str)
        if name == "private array":  # it is in memory only where the simulator has it there
            found, expected = (str(one).partition(" (kernel")[2] for one in (found, expected))
        assert found == expected


@pytest.mark.parametrize("size", [4, 8, 32, 64])
def test_sub_group_sizes_and_work_groups_of_parts(size: int) -> None:
    """The work-group's last sub-group has fewer work-items; the others end where they wait."""
    program = cm.build(source("local int t[100]; t[L] = in[I]; barrier(CLK_LOCAL_MEM_FENCE);"
                              "for (int j = 0; j < 3; ++j) { out[I + d] += t[99 - L]; barrier(CLK_LOCAL_MEM_FENCE); }")
                       .replace("kernel void", f"__attribute__((intel_reqd_sub_group_size({size}))) kernel void"))
    for d in (0, 1, -1):
        given = [np.zeros(300, np.int32), np.arange(300, dtype=np.int32), np.int32(d), LocalMemory(4)]
        expected, found = run_both(program._executable, given, (300, 100))
        assert isinstance(expected, str) == (d != 0)
        np.testing.assert_array_equal(found, expected)


def test_null_pointers_and_addresses_nearby() -> None:
    program = cm.build(source("out[I] = in ? 5 : in[I + d];"))._executable
    for d in (0, 3, -2):
        given = arguments(1, d)
        given[1] = None
        expected, found = run_both(program, given)
        assert "null pointer" in str(found)
        if d == 0:
            assert found == expected


def test_a_pointer_to_one_of_two_buffers() -> None:
    """Where it leads is found by the address: elsewhere it is told by the nearest buffer."""
    statement = "global const int *p = I & 1 ? in : out; out[I] = p[I + d];"
    expected, found = run_both(cm.build(source(statement))._executable, arguments(1, 0))
    np.testing.assert_array_equal(found, expected)
    for d in (1 << 24, -(1 << 24)):
        _, found = run_both(cm.build(source(statement))._executable, arguments(1, d))
        assert "read of 4 bytes" in str(found)


def test_a_loop_ends_when_another_work_group_is_at_fault() -> None:
    """The first group waits for what the other one never writes."""
    program = cm.build("""kernel void k(global volatile int *flag, int d)
    {
        if (get_group_id(0) == 1) flag[d] = 1;
        else while (atomic_add((volatile global int *)flag, 0) == 0);
    }""")
    target = CpuProgram(program._executable, options=CpuOptions(bounds=True, threads=2))
    with pytest.raises(OutOfBounds, match=r"write of 4 bytes at byte 400; the buffer has 4 bytes"):
        target.launch("k", (32,), (16,), [np.zeros(1, np.int32), np.int32(100)])


def test_memory_that_cannot_be_written() -> None:
    program = cm.build(source("out[I] = in[I];"))
    given = arguments(1, 0)
    given[0].flags.writeable = False
    with pytest.raises(SimulationError, match=r"a write to read-only memory \(kernel k, at <source>:9:8, work-group"):
        CpuProgram(program._executable, options=CHECKED).launch("k", (ITEMS,), (GROUP,), given)


def test_a_program_goes_on_after_an_error() -> None:
    program = CpuProgram(cm.build(source("out[I + d] = in[I];"))._executable, options=CHECKED)
    for d in (1, 0, -1, 0):
        given = arguments(1, d)
        if d:
            with pytest.raises(OutOfBounds):
                program.launch("k", (ITEMS,), (GROUP,), given)
        else:
            program.launch("k", (ITEMS,), (GROUP,), given)
            np.testing.assert_array_equal(given[0], given[1])


def test_the_device_takes_the_option() -> None:
    device = cm.device("cpu", options=cm.CpuOptions(bounds=True))
    kernel = cm.build(source("out[I] = in[I + d];"), device=device).kernel("k")
    out, values = np.zeros(ITEMS, np.int32), np.zeros(ITEMS, np.int32)
    with pytest.raises(cm.OutOfBounds, match="argument 1 'in', element 64"):
        cm.Queue(device).enqueue(kernel, ITEMS, GROUP, out, values, 1, cm.local(4)).wait()


def test_copies_of_bytes() -> None:
    """OpCopyMemorySized with a size that the kernel computes, of all work-items or of each."""
    for each in ("%n", "%own"):
        program = short_kernels.module("g_i8 out, g_i8 in, i64 n", f"""
            %own = OpIAdd %i64 %n %lx
            OpCopyMemorySized %out %in {each}""")
        target = short_kernels.cpu_program(program, CHECKED)
        values, out = np.arange(40, dtype=np.int8), np.zeros(32, np.int8)
        target.launch("kernel", (16,), (16,), [out, values, np.int64(17)])
        assert out[:17].tolist() == values[:17].tolist()
        with pytest.raises(OutOfBounds, match=r"write of 33 bytes at byte 0; the buffer has 32 bytes") as error:
            target.launch("kernel", (16,), (16,), [out, values, np.int64(33 if each == "%n" else 18)])
        assert error.value.where.lane == (0 if each == "%n" else 15)
        with pytest.raises(OutOfBounds, match=r"read of 41 bytes"):
            target.launch("kernel", (16,), (16,), [out, values, np.int64(41 if each == "%n" else 26)])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernels_without_a_fault(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """No check takes what is right for wrong."""
    device = cm.device("cpu", options=CHECKED)
    given = case.arguments(np.random.default_rng(20))
    expected, printed = case.expected(copies(given)), case.printed(given)
    program = cm.build(case.source, options=case.options, device=device)
    case.run(program, device, given)
    for index, result in expected.items():
        np.testing.assert_array_equal(given[index], result)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed)


# --------------------------------------------------------------------------------------
# Matrices and blocks
# --------------------------------------------------------------------------------------

PACKED = int(CooperativeMatrixLayout.PackedINTEL)
MATRICES = [("i32", 8, 16, 2, 0, 16), ("i32", 8, 16, 2, 1, 8), ("f16", 16, 16, 1, 0, 16), ("i8", 32, 16, 1, PACKED, 64),
            ("i4", 8, 16, 2, 0, 8), ("f16", 16, 8, 1, PACKED, 16), ("i8", 8, 32, 0, PACKED, 32)]
"""Component, rows, columns, use, layout, stride in units of the memory."""


@pytest.mark.parametrize("case", MATRICES)
@pytest.mark.parametrize("storing", [False, True])
def test_matrices(case: tuple[str, int, int, int, int, int], storing: bool) -> None:
    """All of the second sub-group's elements but the last one are in the buffer, or but the first one."""
    kind, rows, columns, use, layout, stride = case
    unit = kind.replace("i4", "i8")
    matrix = f"%m_{kind}_{rows}x{columns}_{use}"
    access = (f"OpCooperativeMatrixStoreKHR %p %m %i32_c{layout} %i64_c{stride}" if storing
              else f"%v = OpCooperativeMatrixLoadKHR {matrix} %p %i32_c{layout} %i64_c{stride}")
    source = short_kernels.module(f"g_{unit} a, i64 d", f"""
        OpLine %file 7 3
        %s = OpUConvert %i64 %sub_group
        %at = OpIMul %i64 %s %d
        %p = OpPtrAccessChain %g_{unit} %a %at
        {access}""", strings='%file = OpString "kernel.cl"',
                        declarations=f"%m = OpConstantNull {matrix}" if storing else "")
    count = rows * columns // (2 if kind == "i4" else 1)
    for d in (1, -1):
        given = [np.ones(count, short_kernels.DTYPES[unit]), np.int64(d)]
        expected, found = run_both(source, given, (32, 32), "kernel")
        assert "sub-group 1" in str(expected)
        assert found == expected
        given[0] = np.ones(count + 1, short_kernels.DTYPES[unit])
        expected, found = run_both(source, given, (32, 32), "kernel")
        assert isinstance(expected, str) == (d < 0)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("layout", [0, 1])
def test_windows(layout: int) -> None:
    """The second row of the window begins where the buffer ends, or the first before it begins."""
    source = short_kernels.module("g_i32 a, i64 d, i32 x, i32 y", f"""
        %p = OpPtrAccessChain %g_i32 %a %d
        %m = OpCooperativeMatrixLoadCheckedINTEL %m_i32_8x8_2 %p %x %y %i32_c{layout} %i32_c6 %i32_c5 %i64_c10
        OpCooperativeMatrixStoreCheckedINTEL %p %x %y %m %i32_c{layout} %i32_c6 %i32_c5 %i64_c10""")
    for x, y, d in ((-1, 2, 0), (2, -3, 0), (0, 0, 0), (3, 1, 1), (0, 0, -1), (-2, -2, -1), (9, 0, 1000)):
        given = [np.arange(55, dtype=np.int32), np.int64(d), np.int32(x), np.int32(y)]
        expected, found = run_both(source, given, (16, 16), "kernel")
        assert isinstance(expected, str) == (d in (1, -1))
        np.testing.assert_array_equal(found, expected)


# Bytes of an element, width, height, number of blocks.
BLOCKS = {"": (2, 16, 8, 1), "Transpose": (4, 8, 16, 1), "Transform": (1, 16, 32, 1)}


@pytest.mark.parametrize("how", BLOCKS)
def test_blocks(how: str) -> None:
    """The part of the block that lies in the surface is accessed; the buffer may be smaller than the surface."""
    shape = " ".join(f"%i32_c{number}" for number in BLOCKS[how])
    source = short_kernels.module("g_i8 a, i32 height, i32 x, i32 y", f"""
        %t = OpVariable %p_a64_i32 Function
        %at = OpCompositeConstruct %v2_i32 %x %y
        OpSubgroup2DBlockLoad{how}INTEL {shape} %a %i32_c64 %height %i32_c64 %at %t""")
    for tall, x, y in ((10, 0, 0), (10, -4, -3), (11, 8, 0), (11, 0, 10), (12, 4, 9), (40, 0, 0), (40, 0, 20)):
        given = [np.ones(640, np.int8), np.int32(tall), np.int32(x), np.int32(y)]
        expected, found = run_both(source, given, (16, 16), "kernel")
        assert isinstance(expected, str) or tall == 10 or y == 0
        np.testing.assert_array_equal(found, expected)


def test_the_cache_keeps_the_messages(tmp_path: Path) -> None:
    program, given = cm.build(source("out[I + d] = in[I];"))._executable, arguments(1, 1)
    texts = []
    for _ in range(2):
        target = CpuProgram(program, options=CHECKED, cache=Cache(tmp_path))
        with pytest.raises(OutOfBounds) as error:
            target.launch("k", (ITEMS,), (GROUP,), given)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_without_the_option_the_code_is_the_same() -> None:
    """No check, and no word about one."""
    program = CpuProgram(cm.build(source("for (int j = 0; j < d; ++j) out[I] += in[I + j];"))._executable)
    made = program.translated("k", Variant(16, True, True))
    assert not made.code.sites
    assert "out_of_bounds" not in made.ir
    assert "fault" not in made.ir


# --------------------------------------------------------------------------------------
# The simulator's own tests
# --------------------------------------------------------------------------------------

SHARED: dict[str, Sequence[str]] = {
    "memory": ("out_of_bounds_names_everything", "the_offender_is_the_first_lane_in_order_and_its_group_is_named",
               "a_part_of_an_element_is_outside", "lanes_that_are_not_active_may_point_anywhere", "null_pointer",
               "none_binds_a_null_pointer", "addresses_near_null_are_named", "an_address_in_no_buffer",
               "pointers_of_different_buffers_in_one_load", "private_array_out_of_bounds",
               "vector_components_of_a_variable", "vector_component_out_of_bounds",
               "local_memory_belongs_to_the_work_group", "constant_memory_is_read_and_never_written"),
    "matrix": ("local_memory_and_work_groups", "out_of_bounds_names_the_element",
               "a_negative_stride_is_checked_like_any_other", "private_and_null_pointers_are_refused",
               "an_array_of_matrices_has_bounds", "every_sub_group_has_its_own_place_and_stride"),
    "matrix_windows": ("a_window_without_elements_accesses_nothing", "sizes_have_no_sign",
                       "a_far_row_with_a_large_stride_is_out_of_bounds"),
}
"""Those about accesses outside of buffers that do not also ask for the simulator's other checks."""


def _shared() -> Iterator[tuple[str, object]]:
    for module, names in SHARED.items():
        found = dict(inspect.getmembers(importlib.import_module(f"tests.targets.simulator.test_{module}")))
        yield from ((f"test_{module}__{name}", found[f"test_{name}"]) for name in names)


globals().update(_shared())


@pytest.fixture(autouse=True)
def _on_the_cpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "__" in request.node.name:
        monkeypatch.setattr(short_kernels, "TARGET", "cpu")
        monkeypatch.setattr(short_kernels, "CHECKS_BOUNDS", True)


# The 8x32 matrix of char begins at byte ``start``. What a message says of it, and what would fit, if that can be told.
@pytest.mark.parametrize(("layout", "stride", "start", "size", "used", "fits"), [
    ("ROW", 64, 0, 256, "row_major with stride 64", "with stride 32 the matrix would end at byte 256"),
    ("ROW", 64, 0, 300, "row_major with stride 64", "with stride 32 the matrix would end at byte 256"),
    ("ROW", 64, 0, 255, "row_major with stride 64", None),
    ("ROW", 32, 0, 255, "row_major with stride 32", None),
    ("ROW", 64, 100, 356, "row_major with stride 64", "with stride 32 the matrix would end at byte 356"),
    ("ROW", 64, 100, 400, "row_major with stride 64", None),  # who knows what lies behind it
    ("COLUMN", 32, 0, 256, "col_major with stride 32", "with row_major the matrix would end at byte 256"),
    ("COLUMN", 64, 0, 512, "col_major with stride 64", "with stride 8 the matrix would end at byte 256"),
    ("COLUMN", 64, 40, 520, "col_major with stride 64", "with row_major the matrix would end at byte 520"),
    ("COLUMN", 40, 10, 266, "col_major with stride 40", "with stride 8 the matrix would end at byte 266"),
])
@pytest.mark.parametrize("verb", ["load", "store"])
def test_a_matrix_with_another_layout_or_stride(verb: str, layout: str, stride: int, start: int, size: int, used: str,
                                                fits: str | None) -> None:
    access = "m = coop_mat_load(p + start, {})" if verb == "load" else "coop_mat_store(p + start, m, {})"
    program = cm.build(
        "kernel void k(global char *p, int start, int stride) { char __attribute__((coop_mat("
        "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 32, CLK_COOPERATIVE_MATRIX_A))) m = coop_mat_init(0); "
        + access.format(f"CLK_COOPERATIVE_MATRIX_LAYOUT_{layout}_MAJOR, stride") + "; }")
    expected, found = run_both(program._executable, [np.zeros(size, np.int8), start, stride], (16, 16))
    assert found == expected
    assert f" of the 8x32 int8 matrix, {used}, at byte " in str(found)
    last = str(found).partition(" elements of this size")[2].partition(" (kernel")[0]
    assert last == ("" if fits is None else f"; {fits}")
