"""Arrays and structures of many numbers as values; and many tests again with all of them taken for large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.analysis.types import ArrayType, StructType, Type, contains_matrix
from coopmat.targets.analysis import large_values, pointer_uses
from coopmat.targets.llvm.instructions import memory
from tests.kit.targets import short_kernels
from tests.targets.cpu import test_shared

ITEMS, COUNT = 32, 5000
STEMS = ("test_composites__", "test_foreign_modules__", "test_memory__", "test_control__")
REPLICATED = "test_foreign_modules__replicated_composites"  # an instruction that large values do not have
START = f"typedef struct {{ int x[{COUNT}]; }} S;\n"
G = np.arange(ITEMS)
P = np.random.default_rng(3).integers(-(1 << 16), 1 << 16, (2, COUNT)).astype(np.int32)
WEIGHTS = np.arange(COUNT)
CASES: dict[str, tuple[str, Callable[[], np.ndarray]]] = {
    "an initialiser": ("""
        int a[5000] = {1, 2, 3};
        a[g] += g;
        int sum = 0;
        for (int i = 0; i < 5000; i++)
            sum += a[i] * i;
        o[g] = sum;""", lambda: 8 + G * G),
    "zeros": ("S a = {0}; a.x[g] = g; o[g] = a.x[g] + a.x[4999];", lambda: G),
    "a copy of one's own": ("S a = p[0]; a.x[g] += g; o[g] = a.x[g] * 2 + p[0].x[g];",
                            lambda: (P[0, :ITEMS] + G) * 2 + P[0, :ITEMS]),
    "from memory to memory": ("if (g == 0) p[1] = p[0]; o[g] = p[0].x[g + 9];", lambda: P[0, 9:ITEMS + 9]),
    "to local memory": ("""
        local S l;
        if (get_local_id(0) == 3)
            l = p[1];
        barrier(CLK_LOCAL_MEM_FENCE);
        o[g] = l.x[4000 + g];""", lambda: P[1, 4000:4000 + ITEMS]),
    "passed and returned": ("o[g] = sum(p[0], g) + made(g).x[4];", lambda: (
        (P[0].astype(np.int64) * WEIGHTS).sum() + (5 - P[0, :ITEMS].astype(np.int64)) * G + 4 * G)),
    "one of two returned": ("o[g] = either(g, p[0], p[1]).x[g];", lambda: np.where(G & 1, P[0, :ITEMS], 9)),
    "exchanged in a loop": ("""
        S a = p[0], b = p[1];
        for (int i = 0; i < (g & 3); i++) {
            S t = a;
            a = b;
            b = t;
        }
        if (g & 4)
            a.x[g] = 77;
        o[g] = a.x[g] - b.x[g + 1];""", lambda: np.where(G & 4, 77, P[G & 1, G]) - P[1 - (G & 1), G + 1]),
    "chosen": ("S a = p[0], b = p[1]; S c = g & 1 ? a : b; o[g] = c.x[g];", lambda: P[1 - (G & 1), G]),
}
FUNCTIONS = """
int sum(S s, int g) { s.x[g] = 5; int t = 0; for (int i = 0; i < 5000; i++) t += s.x[i] * i; return t; }
S made(int g) { S s; for (int i = 0; i < 5000; i++) s.x[i] = i * g; return s; }
S either(int g, S a, S b) { if (g & 1) return a; b.x[g] = 9; return b; }
"""


@pytest.mark.parametrize("bounds", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_values_of_many_numbers(name: str, bounds: bool) -> None:
    body, expected = CASES[name]
    source = f"{START}{FUNCTIONS}kernel void k(global int *o, global S *p) {{ int g = get_global_id(0); {body} }}"
    out, given = np.zeros(ITEMS, np.int32), P.copy()
    device = cm.device("cpu", options=cm.CpuOptions(bounds=bounds))
    cm.Queue(device).enqueue(cm.build(source).kernel("k"), ITEMS, 16, out, given.view(np.uint8)).wait()
    np.testing.assert_array_equal(out, expected().astype(np.int64).astype(np.int32))
    np.testing.assert_array_equal(given[1], P[0] if "memory to memory" in name else P[1])


# -------------------------------------------------------------------- all are large


def _again() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, test in vars(test_shared).items():
        if name.startswith(STEMS) and name != REPLICATED:
            yield name, test


globals().update(_again())


def _is_aggregate(kind: Type) -> bool:
    return isinstance(kind, ArrayType | StructType) and not contains_matrix(kind)


@pytest.fixture(autouse=True)
def _all_are_large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.function.__module__ != __name__:
        for module in (large_values, memory, pointer_uses):
            monkeypatch.setattr(module, "is_large", _is_aggregate)
        monkeypatch.setattr(short_kernels, "TARGET", "cpu")
        monkeypatch.setenv("COOPMAT_CACHE_DIR", "off")
        short_kernels._cpu_program.cache_clear()
