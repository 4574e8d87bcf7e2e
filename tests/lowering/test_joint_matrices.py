"""What only the joint_matrix front end asks for: windows, prefetches, cache controls, changes of use, private
matrices behind pointers. In the simulator, against numpy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from coopmat.devices import ARCHITECTURES
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import (
    assign,
    binary,
    block,
    convert,
    declare,
    element,
    function,
    kernel,
    load,
    num,
    place,
    pointer,
    run,
    update,
    variable,
    while_,
)
from tests.lowering.test_matrix_lowering import DTYPES, launch, matrix, random_values, read, write

HEIGHT, WIDTH = 9, 11  # of the matrices in memory; the cooperative ones are 4 x 8
PRIVATE = t.AddressSpace.PRIVATE
TF32 = 0x20  # MatrixAAndBTF32ComponentsINTEL


# --------------------------------------------------------------------------------------
# Windows
# --------------------------------------------------------------------------------------


def in_window(row: int, column: int, layout: int = 0, integer: t.Scalar = t.INT) -> n.Window:
    """A window on a matrix of HEIGHT x WIDTH; of a column-major one, the rows in memory are its columns."""
    offsets, sizes = [num(row, integer), num(column, integer)], [num(HEIGHT, t.ULONG), num(WIDTH, t.UINT)]
    if layout:
        offsets.reverse()
        sizes.reverse()
    return n.Window(*offsets, *sizes)


def window_of(values: np.ndarray, row: int, column: int) -> np.ndarray:
    """What a checked load of a 4 x 8 matrix gives: zero outside of ``values``."""
    around = np.zeros((HEIGHT + 40, WIDTH + 40), values.dtype)
    around[20:20 + HEIGHT, 20:20 + WIDTH] = values
    return around[20 + row:24 + row, 20 + column:28 + column]


OFFSETS = [(0, 0), (7, 5), (-3, -7), (-4, 0), (0, 11), (9, -20), (2, 3)]


@pytest.mark.parametrize("layout", [0, 1], ids=["row-major", "column-major"])
@pytest.mark.parametrize("scalar", [t.CHAR, t.BFLOAT16, t.HALF, t.INT, t.FLOAT, t.DOUBLE], ids=str)
def test_a_checked_load_gives_zero_outside(scalar: t.Scalar, layout: int) -> None:
    source, target = variable("source", pointer(scalar, const=True)), variable("target", pointer(scalar))
    values = random_values(scalar, (HEIGHT, WIDTH))
    stored = np.ascontiguousarray(values.T if layout else values)
    stride = num(HEIGHT if layout else WIDTH, t.ULONG)
    for row, column in OFFSETS:
        value = n.MatrixLoad(matrix(scalar), None, load(source), layout, stride,
                             in_window(row, column, layout, t.LONG))
        found = np.full((4, 8), 99).astype(DTYPES[scalar])
        launch([target, source], [write(target, value)], found, stored)
        np.testing.assert_array_equal(found, window_of(values, row, column))


@pytest.mark.parametrize("layout", [0, 1], ids=["row-major", "column-major"])
@pytest.mark.parametrize("scalar", [t.UCHAR, t.BFLOAT16, t.FLOAT], ids=str)
def test_a_checked_store_drops_what_is_outside(scalar: t.Scalar, layout: int) -> None:
    source, target = variable("source", pointer(scalar)), variable("target", pointer(scalar))
    values = random_values(scalar)
    stride = num(HEIGHT if layout else WIDTH, t.ULONG)
    for row, column in OFFSETS:
        stores = n.MatrixStore(t.VOID, None, load(target), read(matrix(scalar), source), layout, stride,
                               in_window(row, column, layout))
        found = np.zeros((WIDTH, HEIGHT) if layout else (HEIGHT, WIDTH), DTYPES[scalar])
        launch([target, source], [stores], found, values)
        around = np.zeros((HEIGHT + 40, WIDTH + 40), DTYPES[scalar])
        around[20 + row:24 + row, 20 + column:28 + column] = values
        np.testing.assert_array_equal(found.T if layout else found, around[20:20 + HEIGHT, 20:20 + WIDTH])


@pytest.mark.parametrize("use", t.Use, ids=lambda use: use.name)
def test_a_checked_fill_gives_zero_outside(use: t.Use) -> None:
    target, value = variable("target", pointer(t.HALF)), variable("value", t.FLOAT)
    for row, column in OFFSETS:
        filled = n.MatrixFill(matrix(t.HALF, use=use), None, convert(load(value), t.HALF), in_window(row, column))
        found = np.full((4, 8), 7, np.float16)
        launch([target, value], [write(target, filled)], found, np.float32(1.5))
        np.testing.assert_array_equal(found, window_of(np.full((HEIGHT, WIDTH), 1.5, np.float16), row, column))


def test_a_window_of_run_time_in_a_loop_over_tiles() -> None:
    """The edges of a matrix whose sizes are no multiples of the tile's: every element is moved once."""
    source, target = variable("source", pointer(t.FLOAT)), variable("target", pointer(t.FLOAT))
    i, j = variable("i", t.INT), variable("j", t.INT)
    window = n.Window(load(i), load(j), num(HEIGHT), num(WIDTH))
    value = n.MatrixLoad(matrix(t.FLOAT), None, load(source), 0, num(WIDTH), window)
    doubled = binary("+", value, value)
    inner = while_(binary("<", load(j), num(WIDTH)),
                   block(n.MatrixStore(t.VOID, None, load(target), doubled, 0, num(WIDTH), window)),
                   step=update(j, "+", num(8)))
    outer = while_(binary("<", load(i), num(HEIGHT)), block(assign(j, num(0)), inner), step=update(i, "+", num(4)))
    values = random_values(t.FLOAT, (HEIGHT, WIDTH))
    found = np.full_like(values, -1)
    launch([source, target], [declare(i, num(0)), declare(j, num(0)), outer], values, found)
    np.testing.assert_array_equal(found, 2 * values)


# --------------------------------------------------------------------------------------
# Hints
# --------------------------------------------------------------------------------------


def test_hints_change_nothing_and_a_prefetch_never_faults() -> None:
    source, target = variable("source", pointer(t.FLOAT)), variable("target", pointer(t.FLOAT))
    far = n.PointerOffset(source.type, None, load(source), num(-1_000_000, t.LONG))
    hinted = n.WithCacheControls(source.type, None, load(source), loads=((0, 0), (1, 1)))
    kept = n.WithCacheControls(target.type, None, load(target), stores=((0, 1), (1, 2)))
    plain = n.WithCacheControls(target.type, None, kept)
    tile = matrix(t.FLOAT)
    body = [n.MatrixPrefetch(t.VOID, None, far, 8, 16, 1, 0, num(16, t.ULONG)),
            n.MatrixPrefetch(t.VOID, None, hinted, 4, 8, 0, 1, num(8)),
            n.MatrixStore(t.VOID, None, plain, n.MatrixLoad(tile, None, hinted, 0, num(8)), 0, num(8))]
    values, found = random_values(t.FLOAT), np.zeros((4, 8), np.float32)
    launch([source, target], body, values, found)
    np.testing.assert_array_equal(found, values)


# --------------------------------------------------------------------------------------
# Changes of use
# --------------------------------------------------------------------------------------

ELEMENTS = [(t.FLOAT, t.FLOAT), (t.BFLOAT16, t.BFLOAT16), (t.FLOAT, t.BFLOAT16), (t.BFLOAT16, t.FLOAT),
            (t.HALF, t.BFLOAT16), (t.INT, t.CHAR), (t.UCHAR, t.INT), (t.CHAR, t.UINT), (t.FLOAT, t.CHAR),
            (t.CHAR, t.HALF), (t.DOUBLE, t.FLOAT)]


@pytest.mark.parametrize(("given", "wanted"), list(permutations(t.Use, 2)), ids=lambda use: use.name)
def test_a_copy_to_another_use_and_type(given: t.Use, wanted: t.Use) -> None:
    for scalar, other in ELEMENTS:
        source, target = variable("source", pointer(scalar)), variable("target", pointer(other))
        values = np.abs(random_values(scalar)) if other is t.UINT else random_values(scalar)
        copied = convert(read(matrix(scalar, use=given), source), matrix(other, use=wanted))
        found = np.zeros((4, 8), DTYPES[other])
        launch([target, source], [write(target, copied)], found, values)
        np.testing.assert_array_equal(found.astype("f8"), values.astype("f8"))


def test_a_rounded_copy_to_another_use() -> None:
    """float to half rounds to nearest, to even in the middle; float to char truncates: as for equal uses."""
    values = np.resize(np.array([1.0009765, 1.00048828125, 1.00146484375, -7.9, 7.9, 65519, 65520], np.float32), (4, 8))
    with np.errstate(over="ignore"):
        halves = values.astype(np.float16)
    for other, expected in ((t.HALF, halves), (t.INT, np.trunc(values).astype(np.int32))):
        source, target = variable("source", pointer(t.FLOAT)), variable("target", pointer(other))
        copied = convert(read(matrix(t.FLOAT), source), matrix(other, use=t.Use.B))
        found = np.zeros((4, 8), DTYPES[other])
        launch([target, source], [write(target, copied)], found, values)
        np.testing.assert_array_equal(found, expected)


# --------------------------------------------------------------------------------------
# Elements
# --------------------------------------------------------------------------------------


def each_component(tile: n.Place, index: n.Variable, *body: n.Statement | n.Expression) -> list[n.Statement]:
    """A loop over this work-item's share of a matrix, as joint_matrix_apply has it."""
    assert isinstance(tile.type, t.Matrix)
    length = n.MatrixLength(t.UINT, None, tile.type)
    return [declare(index, num(0, t.UINT)),
            while_(binary("<", load(index), length), block(*body), step=update(index, "+", num(1, t.UINT)))]


@pytest.mark.parametrize("use", t.Use, ids=lambda use: use.name)
@pytest.mark.parametrize("scalar", [t.CHAR, t.UCHAR, t.HALF, t.BFLOAT16, t.FLOAT, t.DOUBLE, t.INT], ids=str)
def test_each_component_is_read_and_written(scalar: t.Scalar, use: t.Use) -> None:
    """m[i] = (T)((wide)m[i] / 2 + 1): bfloat16 has no arithmetic of its own, it goes through float."""
    tile, i = variable("tile", matrix(scalar, use=use)), variable("i", t.UINT)
    source = variable("source", pointer(scalar))
    component = element(place(tile), load(i))
    wide = t.INT if scalar.is_integer else t.DOUBLE if scalar is t.DOUBLE else t.FLOAT
    halved = binary("+", binary("/", convert(load(component), wide), num(2, wide)), num(1, wide))
    body = [declare(tile, read(matrix(scalar, use=use), source)),
            *each_component(place(tile), i, assign(component, convert(halved, scalar))), write(source, load(tile))]
    values = random_values(scalar)
    quotient = values.astype("f8") / 2
    expected = ((np.trunc(quotient) if scalar.is_integer else quotient) + 1).astype(values.dtype)
    launch([source], body, values)
    np.testing.assert_array_equal(values, expected)


def test_components_rounded_to_tf32() -> None:
    """round_to_tf32 of each component: 10 bits of fraction, to nearest, to even in the middle."""
    tile, i = variable("tile", matrix(t.FLOAT, use=t.Use.A)), variable("i", t.UINT)
    source = variable("source", pointer(t.FLOAT))
    component = element(place(tile), load(i))
    rounded = n.Operation(t.FLOAT, None, "core.RoundFToTF32INTEL", (load(component),))
    body = [declare(tile, read(tile.type, source)),
            *each_component(place(tile), i, assign(component, rounded)), write(source, load(tile))]
    values = (np.arange(32, dtype=np.float32).reshape(4, 8) * np.float32(0.7)) ** 3
    expected = (np.round(np.ldexp(np.frexp(values)[0].astype("f8"), 11)) * np.ldexp(1.0, np.frexp(values)[1] - 11))
    launch([source], body, values)
    np.testing.assert_array_equal(values, expected.astype(np.float32))


# --------------------------------------------------------------------------------------
# Pointers to private matrices
# --------------------------------------------------------------------------------------


def test_functions_work_on_the_callers_matrices() -> None:
    """As C++ references are passed on: kernel -> outer -> step, which loads, multiplies, applies and stores."""
    a_type, b_type, c_type = matrix(t.CHAR, 4, 16, t.Use.A), matrix(t.CHAR, 16, 8, t.Use.B), matrix(t.INT)
    tiles = [variable(name, pointer(type_, PRIVATE)) for name, type_ in zip("abc", (a_type, b_type, c_type),
                                                                         strict=True)]
    a, b, c = (n.Dereference(tile.type.pointee, None, load(tile)) for tile in tiles
               if isinstance(tile.type, t.Pointer))
    memory = [variable("pa", pointer(t.CHAR)), variable("pb", pointer(t.CHAR)), variable("pc", pointer(t.INT))]
    i, one = variable("i", t.UINT), element(c, 0)
    step = function(
        "step", t.VOID, [*tiles, *memory], assign(a, read(a_type, memory[0])), assign(b, read(b_type, memory[1])),
        assign(c, n.MatrixMultiplyAdd(c_type, None, load(a), load(b), load(c), 0xF)),
        *each_component(c, i, update(element(c, load(i)), "*", num(2))), update(one, "+", num(0)),
        write(memory[2], load(c)))
    parameters = [*tiles, *memory]
    outer = function("outer", t.VOID, parameters, n.Call(t.VOID, None, step, tuple(map(load, parameters))))
    local = [variable(f"local_{name}", type_) for name, type_ in zip("abc", (a_type, b_type, c_type), strict=True)]
    addresses = tuple(n.AddressOf(pointer(tile.type, PRIVATE), None, place(tile)) for tile in local)
    body = [declare(local[0]), declare(local[1]), declare(local[2], n.MatrixFill(c_type, None, num(3))),
            n.Call(t.VOID, None, outer, (*addresses, *map(load, memory))),
            assign(local[2], binary("+", load(local[2]), load(local[2]))), write(memory[2], load(local[2]))]
    left, right = random_values(t.CHAR, (4, 16)), random_values(t.CHAR, (16, 8))
    found = np.zeros((4, 8), np.int32)
    launch(memory, body, left, right, found, helpers=(step, outer))
    np.testing.assert_array_equal(found, 4 * (left.astype("i4") @ right.astype("i4") + 3))


# --------------------------------------------------------------------------------------
# Every row of every device's table
# --------------------------------------------------------------------------------------

SCALARS = {"bf16": t.BFLOAT16, "fp16": t.HALF, "tf32": t.FLOAT, "fp32": t.FLOAT, "fp64": t.DOUBLE, "sint8": t.CHAR,
           "uint8": t.UCHAR, "sint32": t.INT}


def multiplication(formats: tuple[str, ...], m: int, n_size: int, k: int) -> n.Program:
    """D = A*B + C of these formats; the matrices lie row by row in memory."""
    scalars = [SCALARS[name] for name in formats]
    shapes = ((m, k, t.Use.A), (k, n_size, t.Use.B), (m, n_size, t.Use.ACCUMULATOR), (m, n_size, t.Use.ACCUMULATOR))
    types = [matrix(scalar, *shape) for scalar, shape in zip(scalars, shapes, strict=True)]
    memory = [variable(name, pointer(scalar)) for name, scalar in zip("abcd", scalars, strict=True)]
    signs = sum(1 << place for place, name in enumerate(formats) if name.startswith("sint"))
    loads = [read(type_, source) for type_, source in zip(types[:3], memory[:3], strict=True)]
    product = n.MatrixMultiplyAdd(types[3], None, *loads, operands=signs | TF32 * ("tf32" in formats))
    return n.Program([kernel("k", memory, write(memory[3], product))])


@pytest.mark.parametrize("device", [name for name, row in ARCHITECTURES.items() if row.combinations])
def test_every_combination_runs_on_its_device(device: str) -> None:
    """C and D of different types, too. The values are small integers, which every device's arithmetic has exactly."""
    description = ARCHITECTURES[device]
    for row in description.combinations:
        m, n_size, k = (exact or limit for exact, limit in (
            (row.msize, row.max_msize), (row.nsize, row.max_nsize), (row.ksize, row.max_ksize)))
        shapes = ((m, k), (k, n_size), (m, n_size), (m, n_size))
        a, b, c, d = (np.random.default_rng(5).integers(0, 8, shape).astype(DTYPES[SCALARS[name]])
                      for shape, name in zip(shapes, row.types, strict=True))
        run(multiplication(row.types, m, n_size, k), "k", description.sub_group_sizes[0], a, b, c, d, device=device)
        expected = a.astype("f8") @ b.astype("f8") + c.astype("f8")
        np.testing.assert_array_equal(d.astype("f8"), expected.astype(d.dtype).astype("f8"), err_msg=str(row))


def test_the_sum_is_rounded_to_the_type_of_d() -> None:
    """fp16 times fp16 plus fp32 gives fp16: C is added before it is rounded."""
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[0, 0], b[0, 0] = 1, 1
    c, d = np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float16)
    c[0] = 1024.5
    run(multiplication(("fp16", "fp16", "fp32", "fp16"), 16, 16, 16), "k", 16, a, b, c, d)
    assert d[0, 0] == 1026  # 1025.5, in the middle of 1025 and 1026, to even
    assert d[0, 1] == 1024  # 1024.5 to even


def test_tf32_operands_lose_their_low_bits() -> None:
    """Of each factor 10 bits of fraction are left; the sum, exact in double precision, is rounded once."""
    generator = np.random.default_rng(11)
    a, b, c = (generator.uniform(1, 2, shape).astype(np.float32) for shape in ((8, 8), (8, 16), (8, 16)))
    d = np.zeros((8, 16), np.float32)
    run(multiplication(("tf32", "tf32", "fp32", "fp32"), 8, 16, 8), "k", 16, a, b, c, d)
    chopped = [(x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype("f8") for x in (a, b)]
    np.testing.assert_array_equal(d, (chopped[0] @ chopped[1] + c).astype(np.float32))
    assert (d != (a.astype("f8") @ b + c).astype(np.float32)).any()
