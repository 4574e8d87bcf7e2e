"""Integers that are known when a kernel is launched, against Python's; and what is known of those that are not."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.runtime.executable import executable
from coopmat.spirv.module import Module
from coopmat.targets.analysis.flatten import Flat
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.lanes import Variant
from coopmat.targets.cuda.program import PtxProgram
from coopmat.targets.cuda.work_groups.launch_values import MOST_ZEROS, group_axes, launch_value, zeros_of
from tests.kit.targets import ptx
from tests.kit.targets.short_kernels import module

WIDTHS = (8, 16, 32, 64)
_BINARY: dict[str, Callable[[int, int], int]] = {
    "OpIAdd": lambda a, b: a + b, "OpISub": lambda a, b: a - b, "OpIMul": lambda a, b: a * b}
ARGUMENTS = [(f"p{width}{letter}", width) for width in WIDTHS for letter in "ab"]


def flat_of(source: Module) -> Flat:
    """A kernel's instructions."""
    chip = CHIPS["sm_90a"]
    return ptx.flat_of(PtxProgram(executable(source), chip), Variant(chip, (32, 1, 1)))


class Expression:
    """A random computation: its lines, and its value for arguments, as Python computes it."""

    def __init__(self, seed: int, size: int) -> None:
        chance = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, int, Callable[[dict[str, int]], int]]] = [
            (f"%{name}", width, lambda given, name=name: given[name]) for name, width in ARGUMENTS]  # type: ignore[misc]
        self.values += [(f"%i{width}_c{number}", width, lambda given, number=number: number)  # type: ignore[misc]
                        for width in WIDTHS for number in (0, 1, 8, 96)]
        for place in range(size):
            self._add(chance, f"%e{place}")
        self.name, self.width, self.of = self.values[-1]

    def _add(self, chance: random.Random, name: str) -> None:
        one, width, value = chance.choice(self.values)
        kind = chance.choice(["binary", "binary", "shift", "signed", "unsigned"])
        if kind == "binary":
            opcode = chance.choice([*_BINARY])
            other, _, second = chance.choice([found for found in self.values if found[1] == width])
            self.lines.append(f"{name} = {opcode} %i{width} {one} {other}")
            found = lambda given, f=_BINARY[opcode]: f(value(given), second(given))  # noqa: E731
        elif kind == "shift":
            by = chance.randrange(width)
            self.lines.append(f"{name} = OpShiftLeftLogical %i{width} {one} %i{width}_c{by}")
            found = lambda given: value(given) << by  # noqa: E731
        else:
            wide = chance.choice([other for other in WIDTHS if other != width])
            opcode = "OpSConvert" if kind == "signed" else "OpUConvert"
            self.lines.append(f"{name} = {opcode} %i{wide} {one}")
            found = lambda given, width=width: (  # noqa: E731
                wrapped(value(given), width) if kind == "signed" else value(given) & (1 << width) - 1)
            width = wide
        self.values.append((name, width, lambda given, found=found, width=width: wrapped(found(given), width)))

    @property
    def source(self) -> Module:
        parameters = ", ".join([f"g_i{self.width} out", *(f"i{width} {name}" for name, width in ARGUMENTS)])
        lines = "\n".join([*self.lines, f"OpStore %out {self.name}"])
        return module(parameters, lines)


def wrapped(value: int, width: int) -> int:
    """A signed integer of so many bits."""
    return (value & (1 << width) - 1 ^ 1 << width - 1) - (1 << width - 1)


@settings(max_examples=60)
@given(st.integers(0, 1 << 30), st.integers(1, 12),
       st.lists(st.integers(-1 << 63, (1 << 63) - 1), min_size=8, max_size=8))
def test_as_python_computes_it(seed: int, size: int, numbers: list[int]) -> None:
    expression = Expression(seed, size)
    flat = flat_of(expression.source)
    [store] = [row for row in flat.blocks[0].instructions if row.name == "OpStore"]
    found = launch_value(flat, store.words[1])
    given_ = {name: wrapped(number, width) for (name, width), number in zip(ARGUMENTS, numbers, strict=True)}
    assert found is not None
    assert found.of([0, *given_.values()]) == expression.of(given_)
    # as the host has them, without a sign
    unsigned = [given_[name] & (1 << width) - 1 for name, width in ARGUMENTS]
    assert found.of([0, *unsigned]) == expression.of(given_)


@settings(max_examples=60)
@given(st.integers(0, 1 << 30), st.integers(1, 12))
def test_bits_that_are_known_to_be_zero_are(seed: int, size: int) -> None:
    expression, rng = Expression(seed, size), np.random.default_rng(seed)
    flat = flat_of(expression.source)
    [store] = [row for row in flat.blocks[0].instructions if row.name == "OpStore"]
    zeros = zeros_of(flat, store.words[1])
    assert 0 <= zeros <= MOST_ZEROS
    for _ in range(8):
        given_ = {name: wrapped(int(rng.integers(1 << 62)), width) for name, width in ARGUMENTS}
        assert expression.of(given_) % (1 << min(zeros, expression.width)) == 0


LOOP = """
    OpBranch %head
    %head = OpLabel
    %k = OpPhi %i32 %i32_c0 %entry %next %body
    %q = OpPhi %i32 %i32_c48 %entry %more %body
    %go = OpSLessThan %bool %k %n
    OpLoopMerge %end %body None
    OpBranchConditional %go %body %end
    %body = OpLabel
    %next = OpIAdd %i32 %k %i32_c64
    %more = OpIMul %i32 %q %next
    %wide = OpSConvert %i64 %k
    %scaled = OpShiftLeftLogical %i64 %wide %i64_c3
    OpBranch %head
    %end = OpLabel
    %place = OpIMul %i64 %wx %i64_c96
    %sum = OpIAdd %i64 %place %scaled0
    %other = OpISub %i64 %wy %place
    %plain = OpIAdd %i32 %n %i32_c64
    OpStore %out %n
"""


@pytest.fixture(scope="module")
def loop() -> tuple[Flat, Callable[[str], int]]:
    """A kernel with a loop, and the ids of its names."""
    source = module("g_i32 out, i32 n", LOOP.replace("%scaled0", "%i64_c8"),
                    decorations="\n".join(f'OpName %{name} "{name}"' for name in NAMES))
    flat = flat_of(source)
    ids = {}
    for row in flat.module.instructions:
        if row.name == "OpName":
            ids[bytes(b for word in row.words[1:] for b in word.to_bytes(4, "little")).split(b"\0")[0].decode()] = \
                row.words[0]
    back = {original: own for own, original in flat.origin.items()}
    return flat, lambda name: back.get(ids[name], ids[name])


NAMES = ("k", "q", "next", "wide", "scaled", "place", "sum", "other", "plain")


@pytest.mark.parametrize(("name", "zeros"), [
    ("k", 6), ("next", 6), ("q", 4), ("wide", 6), ("scaled", 9), ("place", 5), ("sum", 3), ("other", 0), ("plain", 0)])
def test_zeros_around_a_loop(loop: tuple[Flat, Callable[[str], int]], name: str, zeros: int) -> None:
    flat, id_of = loop
    assert zeros_of(flat, id_of(name)) == zeros


@pytest.mark.parametrize(("name", "axes"), [
    ("k", ()), ("plain", ()), ("place", (0,)), ("sum", (0,)), ("other", (0, 1))])
def test_axes_of_the_position(loop: tuple[Flat, Callable[[str], int]], name: str, axes: tuple[int, ...]) -> None:
    flat, id_of = loop
    assert group_axes(flat, id_of(name)) == frozenset(axes)


def test_what_is_not_known_at_the_launch(loop: tuple[Flat, Callable[[str], int]]) -> None:
    """Loops, positions, and what is no integer."""
    flat, id_of = loop
    for name in ("k", "scaled", "place", "other"):
        assert launch_value(flat, id_of(name)) is None
    found = launch_value(flat, id_of("plain"))
    assert found is not None
    assert found.of([0, 5]) == 69
    assert launch_value(flat, flat.parameters[0].result_id or 0) is None  # a pointer
