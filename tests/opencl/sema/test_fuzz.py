"""Whatever the source, the outcome is a program or a CompileError."""

from __future__ import annotations

import random
import re

import pytest

from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.opencl import compile_source
from tests.kit.opencl import overload_corpus
from tests.kit.opencl import sema_corpus as corpus

MATRIX_KERNEL = """
typedef char A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 32, CLK_COOPERATIVE_MATRIX_A)));
typedef char B __attribute__((coop_mat(memory_scope_sub_group, 32, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef int C __attribute__((coop_mat(3, 8, 16, 2)));
C twice(C x) { return x + x; }
__kernel __attribute__((intel_reqd_sub_group_size(16)))
void k(__global char *p, __global const char *q, __global int *r, int n) {
  A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, n);
  B b; b = coop_mat_load(q, 0, n);
  C c = coop_mat_init(0);
  for (int i = 0; i < n; i++) c = coop_mat_mulAdd(a, b, c);
  c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED);
  for (uint i = 0; i < coop_mat_length(c); i++) { c[i] += 3; int2 at = coop_mat_get_coord(c, i); }
  c *= 2; c = -c; c = c * 3 + twice(c);
  coop_mat_store(r, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, n);
}
"""

SCALAR_KERNEL = """
#define TILE 16
typedef struct { int m, n; float scale; } shape;
__constant float weights[4] = { 1.0f, .5f, 2, };
static inline float dot4(float4 a, float4 b) { float4 c = a * b; return c.x + c.y + c.z + c.w; }
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void k(__global const float *restrict a, __global float *c, const int M, int N, int K, shape s) {
  __local float tile[TILE][TILE + 1];
  const int row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  #pragma unroll 4
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    tile[row][column] = row < M && t * TILE < K ? a[row * K + t * TILE] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += tile[row][k] * tile[k][column];
  }
  float4 v = (float4)(sum, 1, 2, 3);
  v.yz += v.xw * 2;
  sum += dot4(v, v.wzyx) + weights[row & 3];
  switch (row % 3) { case 0: sum++; break; case 1: { sum *= 2; } default: sum = -sum; }
  do { sum -= convert_float_rte(s.n); goto out; } while (row < M);
out:
  if (row < M && column < N) *(c + row * N + column) = sum * s.scale;
}
"""

TOKEN = re.compile(r'\w+|\s+|"[^"]*"|[^\w\s]')
SOURCES = [f"{corpus.PRELUDE}void test({corpus.PARAMETERS}) {{\n{body}\n}}\n" for body in corpus.BODIES]
SOURCES += corpus.FILES
SOURCES += [f"{corpus.PRELUDE}{overload_corpus.PRELUDE}{text}\n" for text in overload_corpus.FILES]
SOURCES += [MATRIX_KERNEL, SCALAR_KERNEL] * 60
WORDS = sorted({token for source in SOURCES for token in TOKEN.findall(source) if not token.isspace()})


def mutate(source: str, rng: random.Random) -> str:
    """A source with a few tokens deleted, doubled, replaced, inserted or swapped."""
    tokens = TOKEN.findall(source)
    start = tokens.index("test") if "test" in tokens and rng.random() < 0.8 else 0
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        place, other = rng.randrange(start, len(tokens)), rng.randrange(start, len(tokens))
        match rng.randrange(5):
            case 0 if len(tokens) > start + 2:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                tokens[place] = rng.choice(WORDS)
            case 3:
                tokens.insert(place, f" {rng.choice(WORDS)} ")
            case _:
                tokens[place], tokens[other] = tokens[other], tokens[place]
    return "".join(tokens)


def errors(source: str) -> list[Diagnostic]:
    """The diagnostics of a source that is refused; none of one that is accepted."""
    try:
        compile_source(source)
    except CompileError as error:
        return error.diagnostics
    return []


@pytest.mark.parametrize("seed", range(8))
def test_mutated_sources(seed: int) -> None:
    rng = random.Random(seed)
    refused = 0
    for _ in range(120):
        found = errors(mutate(rng.choice(SOURCES), rng))
        refused += bool(found)
        assert not found or any(d.severity == "error" for d in found)
        assert all(str(d) for d in found)
    assert 0 < refused < 120


@pytest.mark.parametrize("seed", range(4))
def test_words_in_any_order(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        source = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(40)))
        for text in (source, f"void f(int a, float4 v) {{ {source} }}"):
            assert all(str(d) for d in errors(text))


@pytest.mark.parametrize("source", [MATRIX_KERNEL, SCALAR_KERNEL])
def test_every_prefix(source: str) -> None:
    """A source that ends too early is an error, not an exception; the whole is accepted."""
    compile_source(source)
    tokens = TOKEN.findall(source)
    for length in range(0, len(tokens), 7):
        assert len(errors("".join(tokens[:length]))) < 30
