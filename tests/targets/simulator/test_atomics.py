"""Atomic instructions: exact results, lane after lane, against a loop in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from coopmat.diagnostics import Misaligned, OutOfBounds, SimulationError
from coopmat.targets.base.local_memory import LocalMemory
from tests.kit.targets.short_kernels import DTYPES, module, run
from tests.kit.targets.values import unsigned

RNG = np.random.default_rng(31)

# name: (number of operands, new value from (old, operands, width))
UPDATES: dict[str, tuple[int, Callable[..., int]]] = {
    "Exchange": (1, lambda old, x, w: x),
    "IIncrement": (0, lambda old, w: old + 1),
    "IDecrement": (0, lambda old, w: old - 1),
    "IAdd": (1, lambda old, x, w: old + x),
    "ISub": (1, lambda old, x, w: old - x),
    "SMin": (1, lambda old, x, w: min(old, x)),
    "SMax": (1, lambda old, x, w: max(old, x)),
    "UMin": (1, lambda old, x, w: min(old, x, key=lambda v: unsigned(v, w))),
    "UMax": (1, lambda old, x, w: max(old, x, key=lambda v: unsigned(v, w))),
    "And": (1, lambda old, x, w: old & x),
    "Or": (1, lambda old, x, w: old | x),
    "Xor": (1, lambda old, x, w: old ^ x),
    "CompareExchange": (2, lambda old, x, y, w: x if old == y else old),
    "CompareExchangeWeak": (2, lambda old, x, y, w: x if old == y else old),
}


def kernel(name: str, kind: str, count: int) -> object:
    """Each lane updates memory[place[lane]] with its operands and stores what it found."""
    loads = "\n".join(f"%p{i} = OpPtrAccessChain %g_{kind} %in{i} %gx\n%x{i} = OpLoad %{kind} %p{i}"
                      for i in range(count))
    semantics = "%i32_c1 %i32_c0" + " %i32_c0" * name.startswith("Compare")
    operands = " ".join(f"%x{i}" for i in range(count))
    parameters = ", ".join([f"g_{kind} out", f"g_{kind} memory", "g_i64 place",
                            *(f"g_{kind} in{i}" for i in range(count))])
    return module(parameters, f"""
        {loads}
        %pi = OpPtrAccessChain %g_i64 %place %gx
        %i = OpLoad %i64 %pi
        %m = OpPtrAccessChain %g_{kind} %memory %i
        %old = OpAtomic{name} %{kind} %m {semantics} {operands}
        %q = OpPtrAccessChain %g_{kind} %out %gx
        OpStore %q %old""")


def wrap(value: int, width: int) -> int:
    return (value + (1 << width - 1)) % (1 << width) - (1 << width - 1)


@pytest.mark.parametrize("places", [1, 3, 64, 1000])
@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("name", UPDATES)
def test_integer_atomics(name: str, kind: str, places: int) -> None:
    """Many lanes on one place, few places, no two lanes on one."""
    count, function = UPDATES[name]
    width = int(kind[1:])
    dtype = DTYPES[kind]
    memory = RNG.integers(-4, 5, places).astype(dtype)
    place = RNG.permutation(1000)[:128] if places == 1000 else RNG.integers(0, places, 128)
    operands = [RNG.integers(-4, 5, 128).astype(dtype) for _ in range(count)]
    operands = [np.where(RNG.integers(0, 4, 128) == 0, np.iinfo(dtype).max - 2, x).astype(dtype) for x in operands]
    expected, found = memory.tolist(), []
    for lane in range(128):
        old = expected[place[lane]]
        found.append(old)
        expected[place[lane]] = wrap(function(old, *(int(x[lane]) for x in operands), width), width)
    out = np.zeros(128, dtype)
    run(kernel(name, kind, count), [out, memory, place, *operands], 128, 32)
    np.testing.assert_array_equal(out, found)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(("name", "function"), [("FAddEXT", np.add), ("FMinEXT", np.minimum), ("FMaxEXT", np.maximum)])
def test_float_atomics(name: str, function, kind: str) -> None:
    """Sums are rounded lane after lane."""
    x, memory = RNG.standard_normal(64).astype(DTYPES[kind]), np.ones(2, DTYPES[kind])
    place, out = RNG.integers(0, 2, 64), np.zeros(64, DTYPES[kind])
    expected, found = memory.copy(), []
    for lane in range(64):
        found.append(expected[place[lane]])
        expected[place[lane]] = function(expected[place[lane]], x[lane])
    run(kernel(name, kind, 1), [out, memory, place, x], 64)
    np.testing.assert_array_equal(out, found)
    np.testing.assert_array_equal(memory, expected)


def test_loads_stores_and_flags() -> None:
    source = module("g_i32 out, g_i32 memory", """
        %before = OpAtomicLoad %i32 %memory %i32_c1 %i32_c0
        %n = OpUConvert %i32 %gx
        OpAtomicStore %memory %i32_c1 %i32_c0 %n
        %flag = OpPtrAccessChain %g_i32 %memory %i64_c1
        %was = OpAtomicFlagTestAndSet %bool %flag %i32_c1 %i32_c0
        %w = OpSelect %i32 %was %i32_c1 %i32_c0
        %clear = OpPtrAccessChain %g_i32 %memory %i64_c2
        OpAtomicFlagClear %clear %i32_c1 %i32_c0
        %sum = OpIAdd %i32 %before %w
        %q = OpPtrAccessChain %g_i32 %out %gx
        OpStore %q %sum""")
    memory, out = np.array([40, 0, 9], np.int32), np.zeros(16, np.int32)
    run(source, [out, memory])
    assert out.tolist() == [40] + [41] * 15  # all load before any stores
    assert memory.tolist() == [15, 1, 0]


def test_counting_in_local_memory_and_only_by_some_lanes() -> None:
    source = module("g_i32 out, w_i32 count", """
        %first = OpIEqual %bool %lx %i64_c0
        OpBranchConditional %first %reset %go
        %reset = OpLabel
        OpStore %count %i32_c0
        OpBranch %go
        %go = OpLabel
        OpControlBarrier %i32_c2 %i32_c2 %i32_c272
        %third = OpUMod %i64 %gx %i64_c3
        %some = OpIEqual %bool %third %i64_c0
        OpBranchConditional %some %then %end
        %then = OpLabel
        %old = OpAtomicIIncrement %i32 %count %i32_c2 %i32_c0
        OpBranch %end
        %end = OpLabel
        OpControlBarrier %i32_c2 %i32_c2 %i32_c272
        %v = OpLoad %i32 %count
        %q = OpPtrAccessChain %g_i32 %out %wx
        OpStore %q %v""")
    out = np.zeros(4, np.int32)
    run(source, [out, LocalMemory(4)], 128, 32)
    assert out.tolist() == [sum(i % 3 == 0 for i in range(32 * g, 32 * g + 32)) for g in range(4)]


def test_atomics_are_checked_like_other_accesses() -> None:
    place = np.zeros(16, np.int64)
    place[5] = 4
    with pytest.raises(OutOfBounds) as error:
        run(kernel("IIncrement", "i32", 0), [np.zeros(16, np.int32), np.zeros(4, np.int32), place])
    where = error.value.where
    assert (where.lane, where.element, where.buffer) == (5, 4, "argument 1 'memory'")
    memory = np.zeros(4, np.int32)
    memory.flags.writeable = False
    with pytest.raises(SimulationError, match="read-only"):
        run(kernel("IIncrement", "i32", 0), [np.zeros(16, np.int32), memory, np.zeros(16, np.int64)])
    source = module("g_i8 memory", """
        %p = OpPtrAccessChain %g_i8 %memory %i64_c2
        %q = OpBitcast %g_i32 %p
        %old = OpAtomicIIncrement %i32 %q %i32_c1 %i32_c0""")
    with pytest.raises(Misaligned):
        run(source, [np.zeros(16, np.int8)])
