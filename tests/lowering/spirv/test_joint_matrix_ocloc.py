"""What Intel's graphics compiler makes of our windows, hints and prefetches: 2D block messages whose payloads and
cache controls are in the assembly. bf16 is left out: that compiler does not know SPV_KHR_bfloat16 yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coopmat.lowering import to_spirv
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import kernel, load, num, pointer, variable
from tests.kit.oracles.ocloc import assembly
from tests.lowering.test_matrix_lowering import matrix

pytestmark = pytest.mark.oracle("ocloc")

SOURCE, TARGET = variable("source", pointer(t.HALF)), variable("target", pointer(t.FLOAT))
A, B, C = matrix(t.HALF, 8, 16, t.Use.A), matrix(t.HALF, 16, 16, t.Use.B), matrix(t.FLOAT, 8, 16)
STRIDE = num(64, t.ULONG)


def compiled(folder: Path, *body: n.Statement | n.Expression) -> str:
    program = n.Program([kernel("k", [SOURCE, TARGET], *body, required_sub_group_size=16)])
    return assembly(to_spirv(program).to_bytes(), "pvc", folder)["k"]


def product(*, a: n.Expression | None = None, b: n.Expression | None = None,
            target: n.Expression | None = None) -> n.Expression:
    """Store A * B; the pointers are the parameters' unless given."""
    loads = [n.MatrixLoad(type_, None, pointer_ or load(SOURCE), 0, STRIDE) for type_, pointer_ in ((A, a), (B, b))]
    value = n.MatrixMultiplyAdd(C, None, *loads, c=n.MatrixFill(C, None, num(0.0, t.FLOAT)), operands=0)
    return n.MatrixStore(t.VOID, None, target or load(TARGET), value, 0, STRIDE)


def test_a_window(tmp_path: Path) -> None:
    """The message's payload holds width and height of the surface, less one, then X, the column, and Y, the row."""
    window = n.Window(num(8), num(32), num(50, t.UINT), num(60, t.UINT))
    value = n.MatrixLoad(C, None, load(TARGET), 0, STRIDE, window)
    text = compiled(tmp_path, n.MatrixStore(t.VOID, None, load(TARGET), value, 0, STRIDE, window))
    assert "load_block2d" in text
    assert "store_block2d" in text
    for place, expected in ((2, 60 * 4 - 1), (3, 50 - 1), (4, 64 * 4 - 1), (5, 32), (6, 8)):
        found = re.findall(rf"mov \(1\|M0\)\s+r\d+\.{place}<1>:ud\s+(\w+):", text)
        assert found == [str(expected)] * 2, place  # for the load and for the store


def test_hints(tmp_path: Path) -> None:
    cached = n.WithCacheControls(SOURCE.type, None, load(SOURCE), loads=((0, 1), (1, 1)))
    uncached = n.WithCacheControls(SOURCE.type, None, load(SOURCE), loads=((0, 0), (1, 0)))
    kept_out = n.WithCacheControls(TARGET.type, None, load(TARGET), stores=((0, 0), (1, 0)))
    text = compiled(tmp_path, product(a=cached, b=uncached, target=kept_out))
    for expected in (r"load_block2d\.ugm\.d16\.a64\.ca\.ca", r"load_block2d\.ugm\.d16v\.a64\.uc\.uc",
                     r"store_block2d\.ugm\.d32\.a64\.uc\.uc"):
        assert len(re.findall(expected, text)) == 1, expected


def test_a_prefetch(tmp_path: Path) -> None:
    """A load into no register."""
    text = compiled(tmp_path, n.MatrixPrefetch(t.VOID, None, load(SOURCE), 8, 16, 0, 0, STRIDE), product())
    assert len(re.findall(r"send\.ugm \(1\|M0\)\s+null .*load_block2d\.ugm\.d16\.a64\.ca\.ca", text)) == 1


def test_a_window_on_a_column_major_matrix(tmp_path: Path) -> None:
    """Rows and columns are those of memory: the same payload, for a transposing load."""
    window = n.Window(num(8), num(32), num(50, t.UINT), num(60, t.UINT))
    value = n.MatrixLoad(C, None, load(TARGET), 1, STRIDE, window)
    text = compiled(tmp_path, n.MatrixStore(t.VOID, None, load(TARGET), value, 0, STRIDE))
    assert re.search(r"load_block2d\.ugm\.d32t", text)
    for place, expected in ((2, 60 * 4 - 1), (3, 50 - 1), (4, 64 * 4 - 1), (5, 32), (6, 8)):
        assert str(expected) in re.findall(rf"mov \(1\|M0\)\s+r\d+\.{place}<1>:ud\s+(\w+):", text), place
