"""Matrices in arrays, structures and unions, and pointers to them: components under indices that differ between
work-items, and matrices that pointers choose, against numpy and the simulator; what is undefined as it needs a whole
matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import coopmat as cm

LANGUAGE = """
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef int tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, M, N, \
                                         CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef struct { int k; tile t[2]; tile u; } pair;
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global int *out, global const int *in, global const int *own, int n)
{
    int l = get_sub_group_local_id();
    tile c[4];
    pair s[2];
    for (int i = 0; i < 4; ++i) c[i] = s[i / 2].t[i % 2] = coop_mat_load(in + i * M * N, ROWS, N);
    s[0].u = c[1] + c[2]; s[1].u = c[2] + c[3];
    s[0].k = s[1].k = n;
    int length = coop_mat_length(c[0]);
    BODY
    for (int i = 0; i < 4; ++i) coop_mat_store(out + i * M * N, c[i], ROWS, N);
    for (int i = 0; i < 4; ++i) coop_mat_store(out + (4 + i) * M * N, s[i / 2].t[i % 2], ROWS, N);
    for (int i = 0; i < 2; ++i) coop_mat_store(out + (8 + i) * M * N, s[i].u, ROWS, N);
}
"""
LANES = 16


class Work:
    """What one work-item sees: its components of matrices by [matrix][component], as a model changes them."""

    def __init__(self, slices: np.ndarray, lane: int, own: np.ndarray, n: int) -> None:
        self.c, self.t, self.u = (part[..., lane] for part in (slices[:4], slices[4:8], slices[8:]))
        self.l, self.own, self.n, self.length = lane, int(own[lane]), n, slices.shape[1]


def reads(w: Work) -> None:
    for e in range(w.length):
        w.c[0, e] = w.c[w.l & 1, e] + w.c[w.own, (e + w.l) % w.length]


def writes(w: Work) -> None:
    w.c[w.l & 1, 0] = w.l
    w.c[w.own, w.l % w.length] += 7


def in_structures(w: Work) -> None:
    w.t[(w.l & 1) * 2 + w.l // 2 % 2, 1] -= w.u[w.own & 1, 0]
    w.u[w.own & 1, w.length - 1] = w.t[2 + (w.l & 1), 2] * w.n


def divergent(w: Work) -> None:
    if w.l > 2 and w.own != 1:
        w.c[w.own, 3] = w.c[(w.own + 1) % 4, 1] + 1
    elif w.l % 3:
        w.c[3 - w.own, 2] = 5


def in_loops(w: Work) -> None:
    for i in range(w.l % 5):
        for e in range(w.length):
            w.c[(w.l + i) % 4, e] = w.c[(w.own + i) % 4, e] * 3 + i


def equal(w: Work) -> None:
    """The compiler does not know that all work-items have the same."""
    w.c[w.n, 1] += w.c[(w.n + 1) % 4, w.l % w.length]


BODIES = {
    reads: "for (int e = 0; e < length; ++e) c[0][e] = c[l & 1][e] + c[own[l]][(e + l) % length];",
    writes: "c[l & 1][0] = l; c[own[l]][l % length] += 7;",
    in_structures: "s[l & 1].t[l / 2 % 2][1] -= s[own[l] & 1].u[0]; "
                   "s[own[l] & 1].u[length - 1] = s[1].t[l & 1][2] * s[l & 1].k;",
    divergent: "if (l > 2 && own[l] != 1) c[own[l]][3] = c[(own[l] + 1) % 4][1] + 1; "
               "else if (l % 3) c[3 - own[l]][2] = 5;",
    in_loops: "for (int i = 0; i < l % 5; ++i) for (int e = 0; e < length; ++e) "
              "c[(l + i) % 4][e] = c[(own[l] + i) % 4][e] * 3 + i;",
    equal: "int m = own[l] * 0 + n; c[m][1] += c[(m + 1) % 4][l % length];",
}
SHAPES = [(8, 16), (16, 8), (64, 48)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("model", BODIES, ids=lambda model: model.__name__)
def test_components_of_matrices_that_work_items_choose(model: Callable[[Work], None], shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape)
    m, n = shape
    given = rng.integers(-99, 99, (4, m * n // LANES, LANES), np.int32)
    own = rng.integers(0, 4, LANES, np.int32)
    expected = np.concatenate([given, given, given[1:3] + given[2:4]])
    for lane in range(LANES):
        model(Work(expected, lane, own, 2))
    options = (f"-DM={m}", f"-DN={n}", f"-DBODY={BODIES[model]}")
    checked = [cm.device("cpu", options=cm.CpuOptions(bounds=True))] if shape == SHAPES[0] else []
    for device in (cm.device("cpu"), *checked, cm.device("sim:generic")):
        program = cm.build(LANGUAGE, options, device)
        for made in (program, program.optimized(2)) if shape == SHAPES[0] else (program,):
            out = np.zeros_like(expected)
            cm.Queue(device).enqueue(made.kernel("k"), LANES, LANES, out, given, own, np.int32(2)).wait()
            np.testing.assert_array_equal(out, expected, err_msg=device.name)


@pytest.mark.parametrize(("body", "what"), [
    ("coop_mat_store(out, c[l & 1], ROWS, N);", "the index of the use of a matrix (OpLoad)"),
    ("c[l & 1] = c[2];", "the index of the assignment to a matrix (OpStore)"),
    ("s[l & 1].u = c[2];", "the index of the assignment to a matrix (OpStore)"),
    ("s[0] = s[l & 1];", "the index of the use of a matrix (OpLoad)"),
    ("tile *p = l & 1 ? c : c + 1; c[0] = *p;", "the pointer of the use of a matrix (OpLoad)"),
    ("tile *p = l & 1 ? c : c + 1; *p = c[2];", "the pointer of the assignment to a matrix (OpStore)"),
], ids=lambda text: text)
def test_the_simulator_reports_whole_matrices_that_work_items_choose(body: str, what: str) -> None:
    own = given = np.zeros(4 * 128, np.int32)
    program = cm.build(LANGUAGE, ("-DM=8", "-DN=16", f"-DBODY={body}"))
    for kernel in (program.kernel("k"), program.optimized(2).kernel("k")):
        with pytest.raises(cm.UndefinedBehavior) as caught:
            cm.Queue("sim:generic").enqueue(kernel, LANES, LANES, np.zeros(10 * 128, np.int32), given, own,
                                            np.int32(2)).wait()
        assert f"{what} must be the same in the whole sub-group; lane 0 has " in str(caught.value)


CHOSEN = """
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef TYPE tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, M, N, \
                                          CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef struct { int k[4]; tile t[2]; } mixed;
typedef struct { tile *p; int k; } pointed;
void twice(tile *p, int count) { for (int i = 0; i < count; ++i) *p = *p + *p; }
__attribute__((intel_reqd_sub_group_size(SIZE)))
kernel void k(global TYPE *out, global const TYPE *in, int n)
{
    int l = get_sub_group_local_id();
    tile a, b, t[2][2];
    mixed s;
    a = coop_mat_load(in, ROWS, N);
    b = coop_mat_load(in + M * N, ROWS, N);
    for (int i = 0; i < 4; ++i) { t[i / 2][i % 2] = coop_mat_load(in + (2 + i) * M * N, ROWS, N); s.k[i] = i; }
    s.t[0] = a; s.t[1] = b;
    BODY
    coop_mat_store(out, a, ROWS, N);
    coop_mat_store(out + M * N, b, ROWS, N);
    for (int i = 0; i < 4; ++i) coop_mat_store(out + (2 + i) * M * N, t[i / 2][i % 2], ROWS, N);
    for (int i = 0; i < 2; ++i) coop_mat_store(out + (6 + i) * M * N, s.t[i], ROWS, N);
}
"""
A, B, T, S = 0, 1, 2, 6  # numbers of matrices
Matrices = list[np.ndarray]


def _condition(m: Matrices, lanes: np.ndarray) -> None:
    m[A] = m[A] + m[T]


def _swapped(m: Matrices, lanes: np.ndarray) -> None:
    p, q = A, B
    for _ in range(3):
        m[p], p, q = m[p] + m[q], q, p
    m[S] = m[p]


def _array(m: Matrices, lanes: np.ndarray) -> None:
    m[B], m[T] = m[B] + m[A], m[T + 3]


def _structure(m: Matrices, lanes: np.ndarray) -> None:
    m[T + 1] = m[T + 1] + m[A]


def _passed(m: Matrices, lanes: np.ndarray) -> None:
    m[A] = m[A] * 4


def _walk(m: Matrices, lanes: np.ndarray) -> None:
    m[A] = m[T] + m[T + 1] + m[T + 2] + m[T + 3]
    m[T + 2] = m[T + 1]


def _rows(m: Matrices, lanes: np.ndarray) -> None:
    m[T + 3], m[B] = m[T + 2], m[T + 1]


def _member(m: Matrices, lanes: np.ndarray) -> None:
    m[S] = m[S] * 3


def _own(m: Matrices, lanes: np.ndarray) -> None:
    """Each work-item changes its components of a matrix of its own choice."""
    m[A], m[B] = np.where(lanes > 2, m[A] + lanes, m[A]), np.where(lanes > 2, m[B], m[B] + lanes)


def _null(m: Matrices, lanes: np.ndarray) -> None:
    m[B] = m[A]


def _union(m: Matrices, lanes: np.ndarray) -> None:
    m[A], m[B] = m[B], m[B] + m[B]


POINTERS = {
    _condition: "tile *p = n > 2 ? &a : &b; *p = *p + t[0][0];",
    _swapped: "tile *p = &a, *q = &b; for (int i = 0; i < n; ++i) { *p = *p + *q; tile *h = p; p = q; q = h; } "
              "s.t[0] = *p;",
    _array: "tile *p[3] = {&a, &b, &t[1][1]}; *p[n & 1 ? 1 : 0] = b + *p[n - 3]; t[0][0] = *p[n - 1];",
    _structure: "pointed p = {&t[0][0], n}; p.p += n - 2; *p.p = *p.p + a;",
    _passed: "twice(n > 2 ? &a : &b, 2);",
    _walk: "tile *p = &t[0][0]; a = *p; for (int i = 0; i < n; ++i) a = a + *++p; p[-1] = p[-2];",
    _rows: "tile (*row)[2] = t; row++; (*row)[1] = row[0][0]; b = row[-1][1];",
    _member: "int *q = s.k; q += n; s.t[0] = s.t[0] * (TYPE)*q;",
    _own: "tile *p = l > 2 ? &a : &b; for (int e = 0; e < coop_mat_length(a); ++e) (*p)[e] += (TYPE)l;",
    _null: "tile *p = 0; if (n > 2) p = &a; if (p) b = *p;",
    _union: "union { tile x; TYPE y[M * N]; } u; u.x = b; a = u.x; for (int e = 0; e < coop_mat_length(a); ++e) "
            "b[e] += u.y[e];",
}
TYPES = [("int", np.int32, (8, 16), 16), ("char", np.int8, (16, 8), 32), ("half", np.float16, (8, 8), 8),
         ("int", np.int32, (64, 48), 16), ("float", np.float32, (5, 7), 16)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("name", "dtype", "shape", "size"), TYPES, ids=lambda value: str(value).strip("<>"))
@pytest.mark.parametrize("model", POINTERS, ids=lambda model: model.__name__[1:])
def test_matrices_that_pointers_choose(model: Callable[[Matrices, np.ndarray], None], name: str, dtype: type,
                                       shape: tuple[int, int], size: int) -> None:
    rng = np.random.default_rng(shape)
    given = rng.integers(-9, 9, (6, *shape)).astype(dtype)
    matrices: Matrices = [*given, given[A], given[B]]
    model(matrices, (np.arange(shape[0] * shape[1]) % size).reshape(shape).astype(dtype))
    expected = np.stack(matrices)
    options = (f"-DTYPE={name}", f"-DM={shape[0]}", f"-DN={shape[1]}", f"-DSIZE={size}", f"-DBODY={POINTERS[model]}")
    is_first = (name, dtype, shape, size) == TYPES[0]
    checked = [cm.device("cpu", options=cm.CpuOptions(bounds=True))] if is_first else []
    for device in (cm.device("cpu"), *checked, cm.device("sim:generic")):
        program = cm.build(CHOSEN, options, device)
        for made in (program, program.optimized(2)) if is_first and model is not _union else (program,):
            out = np.zeros_like(expected)
            cm.Queue(device).enqueue(made.kernel("k"), size, size, out, given, np.int32(3)).wait()
            np.testing.assert_array_equal(out, expected, err_msg=device.name)


@pytest.mark.parametrize("access", ["a = p[n + 4];", "p[n + 4] = a;", "out[0] = p[n + 4][0];"])
def test_a_pointer_out_of_its_array(access: str) -> None:
    given = np.zeros((6, 8, 16), np.int32)
    body = f"tile *p = n > 2 ? &t[0][1] : &t[1][0]; {access}"
    options = ("-DTYPE=int", "-DM=8", "-DN=16", "-DSIZE=16", f"-DBODY={body}")
    found = []
    for device in (cm.device("cpu", options=cm.CpuOptions(bounds=True)), cm.device("sim:generic")):
        kernel = cm.build(CHOSEN, options, device).kernel("k")
        with pytest.raises(cm.OutOfBounds) as caught:
            cm.Queue(device).enqueue(kernel, 16, 16, np.zeros((8, 8, 16), np.int32), given, np.int32(3)).wait()
        found.append(str(caught.value))
    assert found[0] == found[1]
    assert "variable 't'" in found[0]


@pytest.mark.parametrize(("body", "where"), [
    ("c[n] = c[0];", "at <source>:"),
    ("tile *p = n > 2 ? c : c + 1; *p = c[0];", "variable 'c'"),
], ids=["in slots", "in memory"])
def test_too_many_matrices(body: str, where: str) -> None:
    source = """
        typedef int tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 128, 128,
                                                 CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
        kernel void k(global int *out, int n) { tile c[70]; BODY out[0] = c[n][0]; }"""
    program = cm.build(source, f"-DBODY='{body}'", device="cpu")
    with pytest.raises(cm.Error, match=r"take 4587520 bytes, more than 4 MiB; keep them in global or local memory, use "
                       r"fewer or smaller ones, or require smaller sub-groups \(kernel k, " + where):
        cm.Queue("cpu").enqueue(program.kernel("k"), 16, 16, np.zeros(4, np.int32), np.int32(1)).wait()
