"""Large matrices that are loaded where they are used (matrix/sinking.py)."""

from __future__ import annotations

import pytest

from coopmat.spirv.analysis.types import FloatType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cpu.matrix.operation import Load, Scale, Store
from coopmat.targets.cpu.matrix.sinking import Sinking
from coopmat.targets.cpu.matrix.types import matrix_type
from coopmat.targets.llvm.ir_text import parse

LARGE = MatrixType(FloatType(32), 128, 128, Use.MatrixAccumulatorKHR, 16)
SMALL = MatrixType(FloatType(32), 8, 16, Use.MatrixAccumulatorKHR, 16)
SOURCE = """
define void @run(ptr %p, ptr %q, i1 %b) {
entry:
  %x = call TYPE @load(ptr %p, i64 64)
  BEFORE
  br label %loop

loop:
  ROUND
  br i1 %b, label %loop, label %end

end:
  BEHIND
  %y = call TYPE @scale(TYPE %x, float 2.0)
  br label %store

store:
  call void @store(TYPE %y, ptr %q, i64 64)
  AFTER
  ret void
}
"""
WRITES = "store i32 0, ptr %q"


@pytest.mark.parametrize(("kind", "changed", "place"), [
    (LARGE, {}, "store"),
    (LARGE, {"AFTER": WRITES}, "store"),
    (LARGE, {"BEFORE": WRITES}, "entry"),
    (LARGE, {"ROUND": WRITES}, "entry"),
    (LARGE, {"BEHIND": WRITES}, "entry"),
    (LARGE, {"ROUND": "call void @store(TYPE %x, ptr %q, i64 64)"}, "entry"),  # used twice
    (LARGE, {"ret void": "br i1 %b, label %store, label %out\n\nout:\n  ret void"}, "end"),  # used again and again
    (LARGE, {"br label %store": "br i1 %b, label %entry, label %store"}, "store"),
    (SMALL, {}, "entry"),
])
def test_where_loads_are(kind: MatrixType, changed: dict[str, str], place: str) -> None:
    text = SOURCE
    for name, other in (changed | {"BEFORE": "", "ROUND": "", "BEHIND": "", "AFTER": ""} | changed).items():
        text = text.replace(name, other)
    load = Load(result=kind, layout=Layout.RowMajorKHR, alignment=4, is_kept=False, sub_group_size=16)
    operations = {"load": load, "scale": Scale(result=kind, operands=(kind,), sub_group_size=16),
                  "store": Store(operands=(kind,), layout=Layout.RowMajorKHR, alignment=4, sub_group_size=16)}
    function, = parse(text.replace("TYPE", matrix_type(kind))).functions
    Sinking(operations).rewrite(function)
    (found,) = (label for label, block in function.blocks.items() for line in block.lines if line.result == "%x")
    assert found == place
    order = [line.result for line in function.lines]
    assert order.index("%x") < order.index("%y")
