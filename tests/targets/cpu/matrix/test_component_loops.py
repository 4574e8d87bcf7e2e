"""Loops over the components of matrices, which lie in memory meanwhile: against the simulator, and how long they take.

The simulator gives every component to the work-item that a device gives it to, so kernels here only do what does not
depend on that: they treat all components alike.
"""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.targets.cpu.matrix.component_loops import ComponentLoops
from coopmat.targets.cpu.matrix.operation import Insert
from coopmat.targets.llvm.ir_text import parse
from tests.kit.clock import is_within

LANGUAGE = """
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float matrix __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, M, N, \
                                             CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global float *X, global float *Y, int n)
{
    matrix a = coop_mat_load(X, ROWS, N), b = coop_mat_load(Y, ROWS, N);
    const uint length = coop_mat_length(a);
    BODY
    coop_mat_store(X, a, ROWS, N);
    coop_mat_store(Y, b, ROWS, N);
}
"""
LOOPS = {
    "one": "for (uint i = 0; i < length; i++) a[i] = exp(a[i]) + 1.0f;",
    "two": "for (uint i = 0; i < length; i++) { b[i] = sin(a[i]); a[i] += cos(b[i]); }",
    "read only": "for (uint i = 0; i < length; i++) a[i] = sin(a[i]) * sin(b[i]);",
    "exchanged": "for (uint i = 0; i < length; i++) { float t = sin(a[i]); a[i] = cos(b[i]); b[i] = t; }",
    "former value": "matrix c = a; for (uint i = 0; i < length; i++) { a[i] = sin(b[i]); b[i] = cos(c[i]) + a[i]; }",
    "branch": "for (uint i = 0; i < length; i++) { float t = sin(a[i]); if (t < 0) a[i] = t; else b[i] -= a[i]; }",
    "uniform branch": "for (uint i = 0; i < length; i++) { a[i] = sin(a[i]); if (n > 3) a[i] = sin(a[i]) + b[i]; }",
    "nested": "for (int r = 0; r < n; r++) for (uint i = 0; i < length; i++) a[i] = sin(a[i]) + b[i];",
    "loop inside": "for (uint i = 0; i < length; i++) for (int r = 0; r < n; r++) a[i] = sin(a[i]) + b[i];",
    "whole inside": "for (uint i = 0; i < length; i++) { a[i] = sin(a[i]); if (i == 0) a = a + b; }",
    "copy inside": "for (uint i = 0; i < length; i++) { matrix c = a; a[i] = sin(a[i]); b[i] = c[i] + a[i]; }",
    "left early": "for (uint i = 0; i < length; i++) { if (n == 7) break; a[i] = sin(a[i]); if (n == 9) break; }",
    "no turn": "for (int r = 7; r < n; r++) for (uint i = 0; i < length; i++) a[i] = sin(a[i]) + b[i];",
    "exchange outside": "for (int r = 0; r < n; r++) { for (uint i = 0; i < length; i++) a[i] = sin(a[i]) + b[i]; "
                        "matrix c = a; a = b; b = c; }",
    "each its own": "const uint own = get_sub_group_local_id(); for (uint i = 0; i < length; i++) { "
                    "const uint at = (i + own) % length; a[at] = sin(a[at]) + b[at]; }",
    "known component": "for (uint i = 0; i < length; i++) { a[i] = sin(a[i]); a[0] += 0.25f; }",
    "not defined before": "matrix c; for (uint i = 0; i < length; i++) c[i] = sin(a[i]); b = c;",
}
SHAPES = [(16, 16), (5, 7), (64, 48)]


def run(device: cm.Device, body: str, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    x, y = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    options = (f"-DM={shape[0]}", f"-DN={shape[1]}", f"-DBODY={body}")
    kernel = cm.build(LANGUAGE, options, device).kernel("k")
    cm.Queue(device).enqueue(kernel, 16, 16, x, y, np.int32(5)).wait()
    return x, y


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", LOOPS)
def test_every_form(name: str, shape: tuple[int, int]) -> None:
    if shape == (5, 7) and name in ("known component", "each its own"):
        pytest.skip("work-items have components of their own behind the matrix")
    found, expected = (run(cm.device(device), LOOPS[name], shape) for device in ("cpu", "sim:generic"))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=5e-7)  # sin of floats has an error of its own


JOINED = """
define void @f(M %a, M %b, <16 x i32> %v, <16 x i1> %m, i1 %c, ptr %p) {
entry:
  br label %head

head:                                             ; preds = %join, %entry
  %n = phi i32 [ 0, %entry ], [ %next, %join ]
  %one = phi M [ %a, %entry ], [ %one.joined, %join ]
  %two = phi M [ %b, %entry ], [ %two.joined, %join ]
  br i1 %c, label %change, label %join

change:                                           ; preds = %head
  %changed = call M @matrix.insert.0(M %one, i32 %n, <16 x i32> %v, <16 x i1> %m)
  br label %join

join:                                             ; preds = %change, %head
  %one.joined = phi M [ %one, %head ], [ %changed, %change ]
  %two.joined = phi M [ %two, %head ], [ %changed, %change ]
  %next = add i32 %n, 1
  %done = icmp eq i32 %next, 8
  br i1 %done, label %end, label %head

end:                                              ; preds = %join
  store M %two.joined, ptr %p, align 64
  ret void
}
"""


def test_a_matrix_that_another_one_becomes() -> None:
    """What a phi of another matrix takes has to stay a value."""
    kind = MatrixType(IntType(32), 8, 16, 2, 16)
    text = JOINED.replace("M ", 'target("spirv.CooperativeMatrixKHR", i32, 3, 8, 16, 2) ')
    loops = ComponentLoops({"matrix.insert.0": Insert(
        result=kind, operands=(kind,), is_uniform=True, sub_group_size=16)})
    module = parse(text.strip())
    for function in module.functions:
        loops.rewrite(function)
    lines = str(module).splitlines()
    defined = {found[1] for found in (re.match(r"  (%[\w.]+) = ", line) for line in lines) if found}
    used = {name for line in lines for name in re.findall(r"%[\w.]+", line.partition(";")[0])}
    assert used <= defined | {"%a", "%b", "%v", "%m", "%c", "%p", "%entry", "%head", "%change", "%join", "%end"}


def test_time() -> None:
    """A pass over a large matrix takes microseconds; it took tens of milliseconds when each component cost a copy."""
    device = cm.device("cpu")
    kernel = cm.build(LANGUAGE, ("-DM=128", "-DN=128", f"-DBODY={LOOPS['nested'].replace('sin', 'fabs')}"), device)
    x = y = np.ones((128, 128), np.float32)
    queue = cm.Queue(device)
    queue.enqueue(kernel.kernel("k"), 16, 16, x.copy(), y.copy(), np.int32(1)).wait()
    start = time.process_time()
    queue.enqueue(kernel.kernel("k"), 16, 16, x.copy(), y.copy(), np.int32(100)).wait()
    assert is_within(0.5, time.process_time() - start)
