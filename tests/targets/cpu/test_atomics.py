"""Atomic instructions on the CPU: by all work-items at one place, on private memory, on narrow numbers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from coopmat.diagnostics import ValidationError
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.targets.short_kernels import cpu_program, module

SIZES = (4, 8, 16, 32, 64)
COUNT = 100  # work-items of a group, of which the last sub-group has fewer than others
WIDTHS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
CASES = [("i8", 8), ("i16", 4), ("i32", 16), ("i32", 64), ("i64", 32)]  # type, sub-group size

Function = Callable[[int, int], int]
FUNCTIONS: dict[str, Function] = {
    "IAdd": operator.add, "ISub": operator.sub, "And": operator.and_, "Or": operator.or_, "Xor": operator.xor,
    "SMin": min, "SMax": max, "UMin": lambda a, b: min(a, b, key=_unsigned),
    "UMax": lambda a, b: max(a, b, key=_unsigned),
}


def _unsigned(value: int) -> int:
    return value % (1 << 64)


def _wrapped(value: int, dtype: type) -> int:
    bits = 8 * np.dtype(dtype).itemsize
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def launch(program: CpuProgram, arguments: list[np.ndarray], items: int = COUNT) -> None:
    program.launch("kernel", (items,), (items,), arguments)


def one_place(name: str, kind: str, size: int, *, operand: str, some: bool, used: bool) -> CpuProgram:
    """All work-items, or those with an odd id, update ``memory[0]``."""
    argument = {"none": "", "same": "%n", "own": "%x"}[operand]
    store = f"%q = OpPtrAccessChain %g_{kind} %out %gx\nOpStore %q %old" if used else ""
    enter, leave = ("%odd = OpBitwiseAnd %i64 %gx %i64_c1\n%is = OpIEqual %bool %odd %i64_c1\n"
                    "OpBranchConditional %is %then %end\n%then = OpLabel", "OpBranch %end\n%end = OpLabel")
    return cpu_program(module(f"g_{kind} out, g_{kind} memory, g_{kind} in, {kind} n", f"""
        %p = OpPtrAccessChain %g_{kind} %in %gx
        %x = OpLoad %{kind} %p
        {enter if some else ""}
        %old = OpAtomic{name} %{kind} %memory %i32_c1 %i32_c0 {argument}
        {store}
        {leave if some else ""}""", modes=[f"SubgroupSize {size}"]))


@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize(("kind", "size"), CASES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_result_that_nobody_uses(name: str, kind: str, size: int, some: bool) -> None:
    dtype = WIDTHS[kind]
    x = np.random.default_rng(5).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, COUNT).astype(dtype)
    memory = np.array([77], dtype)
    launch(one_place(name, kind, size, operand="own", some=some, used=False), [x.copy(), memory, x, dtype(0)])
    chosen = x[1::2] if some else x
    assert memory[0] == _wrapped(functools.reduce(FUNCTIONS[name], map(int, chosen), 77), dtype)


@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize(("kind", "size"), CASES)
@pytest.mark.parametrize(("name", "step"), [("IIncrement", 1), ("IDecrement", -1), ("IAdd", 7), ("ISub", -7)])
def test_the_same_operand_for_all(name: str, step: int, kind: str, size: int, some: bool) -> None:
    """What each finds follows from how many come before it."""
    dtype = WIDTHS[kind]
    memory, out = np.array([100], dtype), np.full(COUNT, 55, dtype)
    program = one_place(name, kind, size, operand="none" if abs(step) == 1 else "same", some=some, used=True)
    launch(program, [out, memory, out, dtype(7)])
    chosen = range(1, COUNT, 2) if some else range(COUNT)
    expected = [55] * COUNT
    for rank, item in enumerate(chosen):
        expected[item] = _wrapped(100 + rank * step, dtype)
    assert out.tolist() == expected
    assert memory[0] == _wrapped(100 + len(chosen) * step, dtype)


@pytest.mark.parametrize("size", SIZES)
def test_each_finds_what_the_one_before_it_left(size: int) -> None:
    memory, out, x = np.array([-1], np.int32), np.zeros(COUNT, np.int32), np.arange(COUNT, dtype=np.int32) ** 2
    launch(one_place("Exchange", "i32", size, operand="own", some=False, used=True), [out, memory, x, np.int32(0)])
    assert out.tolist() == [-1, *x[:-1].tolist()]
    assert memory[0] == x[-1]


@pytest.mark.parametrize(("kind", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16),
                                             ("f32", np.float32), ("f64", np.float64)])
@pytest.mark.parametrize(("name", "function"), [("FAddEXT", np.add), ("FMinEXT", np.fmin), ("FMaxEXT", np.fmax)])
def test_floats(name: str, function: Callable[..., np.ndarray], kind: str, dtype: type) -> None:
    """Each sum is rounded; a NaN gives way to a number."""
    first = 1 if name == "FAddEXT" else np.nan
    x = np.random.default_rng(6).standard_normal(COUNT).astype(dtype)
    if name != "FAddEXT":
        x[::7] = np.nan
    memory, out = np.array([first], dtype), np.zeros(COUNT, dtype)
    launch(one_place(name, kind, 16, operand="own", some=False, used=True), [out, memory, x, dtype(0)])
    expected = [dtype(first)]
    with np.errstate(invalid="ignore"):
        for one in x:
            expected.append(dtype(function(expected[-1], one)))
    np.testing.assert_array_equal(np.append(out, memory).astype(np.float64), np.array(expected, np.float64))


def test_private_memory() -> None:
    """Each work-item has its own."""
    program = cpu_program(module("g_i32 out", """
        %own = OpVariable %p_i32 Function
        %n = OpUConvert %i32 %gx
        OpStore %own %n
        %old = OpAtomicIAdd %i32 %own %i32_c4 %i32_c0 %i32_c5
        %now = OpAtomicLoad %i32 %own %i32_c4 %i32_c0
        %sum = OpIAdd %i32 %old %now
        %q = OpPtrAccessChain %g_i32 %out %gx
        OpStore %q %sum"""))
    out = np.zeros(COUNT, np.int32)
    launch(program, [out])
    assert out.tolist() == [2 * n + 5 for n in range(COUNT)]


def test_the_type_must_be_one_that_has_the_instruction() -> None:
    program = one_place("IAdd", "f32", 16, operand="own", some=False, used=True)
    with pytest.raises(ValidationError, match="needs a pointer to an integer, found one to float32"):
        launch(program, [np.zeros(1, np.float32)] * 3 + [np.float32(0)])
