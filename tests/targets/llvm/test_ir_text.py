"""LLVM's printed IR, taken apart and put together again."""

from __future__ import annotations

import pytest

from coopmat.diagnostics import Error
from coopmat.targets.llvm.ir_text import Freeze, Line, Load, Phi, Select, Store, is_zero, parse

MATRIX = 'target("spirv.CooperativeMatrixKHR", i32, 3, 8, 16, 2)'
TEXT = f"""\
; ModuleID = '<string>'
declare {MATRIX} @matrix.fill.0(i32) #1

define internal void @f(i64 %0, i1 %c) #0 {{
entry:
  %1 = tail call {MATRIX} @matrix.fill.0(i32 0) #3
  switch i64 %0, label %2 [
    i64 0, label %end
    i64 1, label %end
  ]

2:                                                ; preds = %entry
  call void @g(<2 x i32> splat (i32 5), ptr noundef nonnull align 8 %p, {MATRIX} %1), !range !3
  br label %end

end:                                              ; preds = %2, %entry
  %3 = phi {MATRIX} [ %1, %entry ], [ poison, %2 ]
  ret void
}}
attributes #0 = {{ nounwind }}"""


def test_what_is_not_changed_is_written_as_it_was() -> None:
    assert str(parse(TEXT)) == TEXT


def test_blocks() -> None:
    function, = parse(TEXT).functions
    assert {label: block.successors for label, block in function.blocks.items()} == {
        "entry": ["2", "end", "end"], "2": ["end"], "end": []}


def test_names_for_everything() -> None:
    module = parse(TEXT)
    for function in module.functions:
        function.name_all()
    text = str(module)
    assert "unnamed.2:  " in text
    assert "switch i64 %unnamed.0, label %unnamed.2 [" in text
    assert "[ poison, %unnamed.2 ]" in text


def test_calls() -> None:
    module = parse(TEXT)
    assert module.called == {"matrix.fill.0": 1, "g": 1}
    assert module.declared == {"matrix.fill.0"}
    first, second = (line.call for function in module.functions for line in function.lines if line.call)
    assert (first.result, first.returned, first.operands[0].value) == ("%1", MATRIX, "0")
    assert list(map(str, second.operands)) == ["<2 x i32> splat (i32 5)", "ptr align 8 %p", f"{MATRIX} %1"]
    assert second.operands[2].type == MATRIX
    module.drop_declarations(["matrix.fill.0"])
    assert not module.declared


def test_other_types() -> None:
    module = parse(TEXT)
    module.replace_types({MATRIX: "ptr", f"{{ {MATRIX}, [8 x i8] }}": "[16 x i8]"})
    assert str(module) == TEXT.replace(MATRIX, "ptr")


@pytest.mark.parametrize(("text", "move"), [
    ("%a = phi MATRIX [ %b, %x ], [ undef, %y ]", Phi("%a", MATRIX, [("%b", "x"), ("undef", "y")])),
    ("%a = load MATRIX, ptr %p, align 8", Load("%a", MATRIX, "%p")),
    ("store MATRIX %a, ptr %p, align 8, !tbaa !4", Store(MATRIX, "%a", "%p")),
    ("%a = select i1 %c, MATRIX %b, MATRIX zeroinitializer", Select("%a", "%c", MATRIX, "%b", "zeroinitializer")),
    ("%a = freeze MATRIX %b", Freeze("%a", MATRIX, "%b")),
])
def test_moves(text: str, move: object) -> None:
    assert Line.of("  " + text.replace("MATRIX", MATRIX)).move == move


def test_a_use_that_is_not_known() -> None:
    line = Line.of(f"  %a = insertvalue [2 x {MATRIX}] %b, {MATRIX} %c, 0, !x !1")
    with pytest.raises(Error, match=r"not known: %a = insertvalue \[2 x MATRIX\] %b, MATRIX %c, 0$"):
        str(line.move)


def test_other_names() -> None:
    line = Line.of("  %a = add i32 %a.1, %b")
    assert line.used == {"%a.1", "%b"}
    assert line.renamed(lambda name: f"{name}.new").text == "  %a.new = add i32 %a.1.new, %b.new"
    assert line.with_result("%other").text == "  %other = add i32 %a.1, %b"


def test_zeros() -> None:
    """As LLVM prints integers, floats and doubles."""
    assert all(map(is_zero, ("0", "0.000000e+00")))
    assert not any(map(is_zero, ("-0.000000e+00", "1", "%0", "poison")))
