"""Loops whose first block leaves them or not: the condition stands at the head then, and nothing else changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.loop_heads import with_conditions
from tests.kit.lenient import lenient

SIZE = 16
PRELUDE = """
kernel void k(global int *out, int n) { int own = get_local_id(0), i = 0, sum = own; BODY out[own] = sum + i; }
"""
CHANGED = {
    "break": "while (true) { if (i >= n) break; sum = sum * 3 + i; i++; }",
    "or else": "for (;;) { if (i < n + own) { sum += i; } else break; i += 2; }",
    "two": "while (1) { if (i >= n) break; int j = 0; while (1) { if (j > i) break; sum += j * i; j++; } i++; }",
    "more breaks": "for (;; i++) { if (i > 30) break; sum ^= i; if (sum > n * 5) break; sum += 2; }",
    "gone on": "for (;; i++) { if (i >= n) break; if (i & own) continue; sum += 7 * i; }",
}
LEFT = {
    "a condition": "for (; i < n; i++) { if (sum > 90) break; sum += i; }",
    "does something": "while (true) { if (i >= n) { sum -= 5; out[own + 16] = 3; break; } sum += i++; }",
    "at the end": "do { sum += i++; } while (i < n);",
    "in the middle": "while (true) { if (sum & 1) sum += 3; if (i >= n) break; sum += i++; }",
}


def run(module: Module, count: int) -> np.ndarray:
    out = np.zeros(2 * SIZE, np.int32)
    queue = cm.Queue(lenient("sim:generic"))
    queue.enqueue(cm.build(module.to_bytes()).kernel("k"), (SIZE,), (SIZE,), out, count).wait()
    return out


def without_condition(module: Module) -> int:
    """The heads of loops that only lead on."""
    return sum(row.opcode == Op.LoopMerge and following.opcode == Op.Branch
               for row, following in pairwise(module.instructions))


@pytest.mark.parametrize("name", [*CHANGED, *LEFT])
def test_results(name: str) -> None:
    module, _ = passes.transform(cm.build(PRELUDE.replace("BODY", (CHANGED | LEFT)[name])).module,
                                 passes.chosen(["inline", "values", "fold"]))
    found = with_conditions(module)
    assert (found is not module) == (name in CHANGED)
    assert found.validate() == []
    assert without_condition(found) == 0 or name in LEFT
    for count in (0, 1, 6):
        np.testing.assert_array_equal(run(found, count), run(module, count))
