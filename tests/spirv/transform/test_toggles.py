"""Arrays of two that loops take in turn: what a kernel computes stays the same, and which of them get constant indices.
"""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.toggles import without_toggles
from tests.kit.lenient import lenient

SIZE = 16
PRELUDE = "kernel void k(global int *out, int n) { int own = get_local_id(0), b[2] = {3, 5}, turn = 0, sum = 0; BODY }"
END = "out[own] = sum;"
ROUND = "b[turn ^ 1] = 7 * b[turn] + i; sum = sum * 3 + b[turn]; turn ^= 1;"
TAKEN = {
    "by xor": f"for (int i = 0; i < n; i++) {{ {ROUND} }} {END}",
    "from the second": f"turn = 1; for (int i = 0; i < n; i++) {{ {ROUND} }} {END}",
    "of one": "for (int i = 0; i < n; i++) { int next = 1 - turn; b[next] = 7 * b[turn] + i; sum = sum * 3 + b[next]; "
              f"turn = next; }} {END}",
    "by not": f"for (int i = 0; i < n; i++) {{ b[!turn] = 7 * b[turn] + i; sum += b[!turn]; turn = !turn; }} {END}",
    "bits": f"for (int i = 0; i < n; i++) {{ b[(i + 1) & 1] = 7 * b[i & 1] + i; sum = sum * 3 + b[i & 1]; }} {END}",
    "rests": "for (uint i = 3; i < n; i += 3) { b[(i + 5) % 2] = 7 * b[i % 2] + i; sum = sum * 3 + b[(i + 1) % 2]; }"
             f"{END}",
    "only one": f"for (int i = 0; i < n; i++) {{ b[turn] += i; sum = sum * 3 + b[turn]; turn ^= 1; }} {END}",
    "behind": f"for (int i = 0; i < n; i++) {{ {ROUND} }} out[own] = b[turn] - 2 * b[turn ^ 1] + sum;",
    "left early": f"for (int i = 0; i < n; i++) {{ {ROUND} if (sum & 8) break; }} {END}",
    "gone on": "for (int i = 0; i < n; i++) { if (i & 2) continue; b[(i + 1) & 1] = 7 * b[i & 1] + i; "
               f"sum += b[i & 1]; }} {END}",
}
LEFT = {
    "left early, and used": f"for (int i = 0; i < n; i++) {{ {ROUND} if (sum & 8) break; }} out[own] = b[turn];",
    "again": f"for (int j = 0; j < 3; j++) {{ turn = 0; for (int i = 0; i < n; i++) {{ {ROUND} }} }} {END}",
    "a constant behind": f"for (int i = 0; i < n; i++) {{ {ROUND} }} out[own] = b[0] - 2 * b[1] + sum;",
    "a constant in it": f"for (int i = 0; i < n; i++) {{ {ROUND} b[0] += 1; }} {END}",
    "each second round": f"for (int i = 0; i < n; i++) {{ {ROUND} if (i & 1) turn ^= 1; }} {END}",
    "by two": f"for (int i = 0; i < n; i += 2) {{ b[(i + 1) & 1] = 7 * b[i & 1] + i; sum += b[i & 1]; }} {END}",
    "in other turns": f"int j = 0; for (int i = 0; i < n; i++) {{ {ROUND} sum -= b[j & 1]; j += 2; }} {END}",
    "not known": f"turn = n & 1; for (int i = 0; i < n; i++) {{ {ROUND} }} {END}",
    "at the end": f"int i = 0; do {{ {ROUND} i++; }} while (i < n); out[own] = b[turn] + sum;",
    "a pointer": f"int *p = &b[1]; for (int i = 0; i < n; i++) {{ {ROUND} p = &b[turn]; }} out[own] = *p;",
}


def run(module: Module, rounds: int) -> int:
    out = np.zeros(SIZE, np.int32)
    queue = cm.Queue(lenient("sim:generic"))
    queue.enqueue(cm.build(module.to_bytes()).kernel("k"), (SIZE,), (SIZE,), out, rounds).wait()
    assert (out == out[0]).all()
    return int(out[0])


@pytest.mark.parametrize("name", [*TAKEN, *LEFT])
def test_results(name: str) -> None:
    module, _ = passes.transform(cm.build(PRELUDE.replace("BODY", (TAKEN | LEFT)[name])).module,
                                 passes.chosen(["inline", "values", "fold"]))
    changed = without_toggles(module)
    assert (changed is not module) == (name in TAKEN)
    assert changed.validate() == []
    done, _ = passes.transform(changed, passes.chosen(["values", "fold"]))
    assert any(True for _ in done.of_opcode(Op.AccessChain)) == (name in LEFT)
    for rounds in (0, 1, 2, 5):
        assert run(done, rounds) == run(module, rounds), rounds
