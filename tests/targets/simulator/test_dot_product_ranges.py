"""Integer dot products on whole ranges: all pairs of bytes, and vectors of every kind that hypothesis thinks of.

The same modules run on Intel's CPU runtime, as far as it takes them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import UndefinedBehavior
from coopmat.spirv.module import Module
from tests.kit.oracles import intel_runtime
from tests.kit.targets.short_kernels import module, refuses, run
from tests.kit.targets.values import wrapped

SIGNS = {"S": (True, True), "U": (False, False), "SU": (True, False)}
LENGTHS = (2, 3, 4, 8, 16)
INPUTS = {"v4_i8": "DotProductInput4x8Bit", "i32": "DotProductInput4x8BitPacked"}
"""The capability for vectors of a type; for all others DotProductInputAll."""
PACKED = " PackedVectorFormat4x8Bit"
Vectors = Sequence[Sequence[int]]


def room(length: int) -> int:
    """The elements that a vector takes in memory."""
    return 4 if length == 3 else length


def dot_module(form: str, kind: str, result: int, accumulates: bool) -> Module:
    """out[i] = the dot product of a[i] and b[i] (and c[i]); ``kind`` is ``i32`` for packed bytes."""
    name = f"Op{form}Dot{'AccSat' if accumulates else ''}"
    body = f"""
        %pa = OpInBoundsPtrAccessChain %g_{kind} %a %gx
        %pb = OpInBoundsPtrAccessChain %g_{kind} %b %gx
        %pc = OpInBoundsPtrAccessChain %g_i{result} %c %gx
        %po = OpInBoundsPtrAccessChain %g_i{result} %out %gx
        %va = OpLoad %{kind} %pa
        %vb = OpLoad %{kind} %pb
        %vc = OpLoad %i{result} %pc
        %r = {name} %i{result} %va %vb{' %vc' if accumulates else ''}{PACKED if kind == 'i32' else ''}
        OpStore %po %r"""
    text = module(f"g_i{result} out, g_{kind} a, g_{kind} b, g_i{result} c", body).to_text()
    text = re.sub(r".*(CooperativeMatrixKHR|SPV_KHR_cooperative_matrix).*\n", "", text)
    capabilities = "".join(f"OpCapability {name}\n" for name in (
        "Int8", "Int16", "Vector16", "DotProduct", INPUTS.get(kind, "DotProductInputAll")))
    extension = 'OpExtension "SPV_KHR_integer_dot_product"\n'
    return Module.from_text(re.sub(r"( *%\d+ = OpExtInstImport)", capabilities + extension + r"\1", text, count=1))


def arguments(result: int, a: np.ndarray, b: np.ndarray, c: Sequence[int]) -> list[np.ndarray]:
    return [np.zeros(len(a), f"i{result // 8}"), a, b, wrapped(c, result)]


def rows(values: Vectors, width: int) -> np.ndarray:
    """Vectors as memory holds them."""
    data = np.zeros((len(values), room(len(values[0]))), f"i{width // 8}")
    for row, vector in zip(data, values, strict=True):
        row[:len(vector)] = wrapped(vector, width)
    return data


def limits(width: int, is_signed: bool) -> tuple[int, int]:
    return (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)


def launch(source: Module, values: list[np.ndarray]) -> np.ndarray:
    run(source, values, len(values[0]), 1 if len(values[0]) % 16 else 16)
    return values[0]


# --------------------------------------------------------------------------------------
# All pairs of bytes
# --------------------------------------------------------------------------------------


def all_pairs(form: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both factors as bytes, and the exact products."""
    first, second = SIGNS[form]
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8)))
    return x, y, np.multiply(*(grid.view(np.int8 if sign else np.uint8).astype(np.int64)
                               for grid, sign in ((x, first), (y, second))))


@pytest.mark.parametrize("form", SIGNS)
@pytest.mark.parametrize(("kind", "place"), [("v2_i8", 1), ("v4_i8", 0), ("v16_i8", 9), ("i32", 3)])
@pytest.mark.parametrize("result", [8, 16, 32, 64])
def test_all_pairs_of_bytes(form: str, kind: str, place: int, result: int) -> None:
    x, y, products = all_pairs(form)
    length = 4 if kind == "i32" else int(kind[1:].split("_")[0])
    a, b = np.zeros((2, len(x), length), np.uint8)
    a[:, place], b[:, place] = x, y
    a[:, place - 1], b[:, place - 1] = y, 1  # a second product
    total = products + (y.view(np.int8) if SIGNS[form][0] else y).astype(np.int64)
    shape = (np.uint32, -1) if kind == "i32" else (np.int8, (-1, length))
    a, b = (values.view(shape[0]).reshape(shape[1]) for values in (a, b))
    found = launch(dot_module(form, kind, result, False), arguments(result, a, b, [0] * len(x)))
    np.testing.assert_array_equal(found, total.astype(f"i{result // 8}"))


@pytest.mark.parametrize("form", SIGNS)
@pytest.mark.parametrize("result", [16, 32])
@pytest.mark.parametrize("start", [-30000, -5, 0, 30000])
def test_all_pairs_of_bytes_with_saturation(form: str, result: int, start: int) -> None:
    x, y, products = all_pairs(form)
    low, high = limits(result, SIGNS[form][0])
    if not SIGNS[form][0]:
        start += 30000
    elif result == 32:
        start *= 71582  # near the limits
    a, b = np.zeros((2, len(x), 4), np.uint8)
    a[:, 2], b[:, 2] = x, y
    found = launch(dot_module(form, "v4_i8", result, True),
                   arguments(result, a.view(np.int8), b.view(np.int8), [start] * len(x)))
    np.testing.assert_array_equal(found, np.clip(products + start, low, high).astype(f"i{result // 8}"))


def test_all_pairs_of_bytes_in_a_byte() -> None:
    """Pairs whose product does not fit are refused, and only these."""
    x, y, products = all_pairs("S")
    fits = (products >= -128) & (products <= 127)
    a, b = np.zeros((2, len(x), 2), np.int8)
    a[:, 1], b[:, 1] = x.view(np.int8), y.view(np.int8)
    source = dot_module("S", "v2_i8", 8, True)
    count = int(fits.sum()) // 16 * 16
    good = np.flatnonzero(fits)[:count]
    found = launch(source, arguments(8, a[good], b[good], [-7] * count))
    np.testing.assert_array_equal(found, np.clip(products[good] - 7, -128, 127))
    for place in np.random.default_rng(0).choice(np.flatnonzero(~fits), 24):
        with refuses(UndefinedBehavior, rf"components 1, -?\d+ \* -?\d+ = {products[place]}, is not from "
                           "-128 to 127: OpSDotAccSat is undefined"):
            launch(source, arguments(8, a[[place]], b[[place]], [0]))


# --------------------------------------------------------------------------------------
# Every kind of vector
# --------------------------------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn) -> tuple[str, int, int, Vectors, Vectors, list[int]]:
    """Form, component width, result width, the vectors of some work-items, their accumulators."""
    form, width = draw(st.sampled_from(sorted(SIGNS))), draw(st.sampled_from([8, 16, 32, 64]))
    result = draw(st.sampled_from([bits for bits in (8, 16, 32, 64) if bits >= width]))
    length, count = draw(st.sampled_from(LENGTHS)), draw(st.integers(1, 4))
    small = draw(st.booleans())

    def vectors(is_signed: bool) -> st.SearchStrategy[Vectors]:
        low, high = limits(width, is_signed)
        edge = st.sampled_from([low, high, 0, 1, high // 2])
        near = st.integers(max(low, -5), 5)
        component = near if small else st.one_of(edge, near, st.integers(low, high))
        return st.lists(st.lists(component, min_size=length, max_size=length), min_size=count, max_size=count)

    low, high = limits(result, SIGNS[form][0])
    accumulator = st.one_of(st.sampled_from([low, high, 0]), st.integers(low, high))
    return (form, width, result, draw(vectors(SIGNS[form][0])), draw(vectors(SIGNS[form][1])),
            draw(st.lists(accumulator, min_size=count, max_size=count)))


@settings(max_examples=120, deadline=None)
@given(problems())
def test_any_vectors(problem: tuple[str, int, int, Vectors, Vectors, list[int]]) -> None:
    form, width, result, a, b, c = problem
    kind = f"v{len(a[0])}_i{width}"
    products = [[x * y for x, y in zip(left, right, strict=True)] for left, right in zip(a, b, strict=True)]
    values = arguments(result, rows(a, width), rows(b, width), c)
    found = launch(dot_module(form, kind, result, False), values)
    np.testing.assert_array_equal(found, wrapped([sum(row) for row in products], result))
    low, high = limits(result, SIGNS[form][0])
    steps = [[*row, *itertools.accumulate(row)] for row in products]
    source = dot_module(form, kind, result, True)
    if all(low <= step <= high for row in steps for step in row):
        expected = [min(max(sum(row) + start, low), high) for row, start in zip(products, c, strict=True)]
        np.testing.assert_array_equal(launch(source, values), wrapped(expected, result))
    else:
        with refuses(UndefinedBehavior, rf"is not from {low} to {high}: Op{form}DotAccSat"):
            launch(source, values)


# --------------------------------------------------------------------------------------
# Intel's runtime
# --------------------------------------------------------------------------------------


@pytest.mark.oracle("intel-opencl")
@pytest.mark.parametrize("form", SIGNS)
@pytest.mark.parametrize("accumulates", [False, True])
@pytest.mark.parametrize(("kind", "result"), [("v4_i8", 32), ("i32", 32)])
def test_intel_computes_the_same(form: str, accumulates: bool, kind: str, result: int) -> None:
    """On four bytes, the only vectors that the runtime takes (it lacks the capability DotProductInputAll)."""
    rng = np.random.default_rng(5)
    a, b = rng.integers(-(1 << 31), 1 << 31, (2, 64)).astype(np.int32)
    if kind != "i32":
        a, b = a.view(np.int8).reshape(-1, 4), b.view(np.int8).reshape(-1, 4)
    c = rng.integers(-(1 << 31), 1 << 31, 64).tolist()
    source = dot_module(form, kind, result, accumulates)
    ours = launch(source, arguments(result, a, b, c))
    theirs = intel_runtime.run(source.to_bytes(), "kernel", (64,), (16,), arguments(result, a, b, c))[0]
    np.testing.assert_array_equal(ours, theirs)
