"""A mixture of experts: gating and sorting on the device, then a grouped product, scattered with the gates' weights."""

from typing import NamedTuple

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("fp16", "fp16", "fp32", "fp32")
EXPERTS, TOP = 5, 2


class Choice(NamedTuple):
    """An expert and its score for a token."""

    score: float
    expert: int

    def better(self, other):
        """The better one of two; of equals, the first."""
        if other.score > self.score:
            return other
        return self


def take_best(scores):
    """The best choice, whose score is then no more among the scores."""
    best = Choice(-np.inf, -1)
    for expert, score in enumerate(scores):
        best = best.better(Choice(score, expert))
    scores[best.expert] = -np.inf
    return best


@kernel
def gate(item: nd_item[1], logits: ptr[const[float32]], capacity: int, counts: ptr[int32], tokens: ptr[int32],
         weights: ptr[float32]):
    """Choose each token's experts: its softmax over the TOP best; append it to their lists."""
    token = int(item.get_global_id(0))
    scores = [logits[token * EXPERTS + e] for e in range(EXPERTS)]
    chosen = [take_best(scores) for _ in range(TOP)]
    total = sum(exp(c.score - chosen[0].score) for c in chosen)
    for c in chosen:
        assert c.expert >= 0, f"token {token} has no expert"
        place = atomic_ref[int32, memory_order.relaxed, memory_scope.device](counts[c.expert]).fetch_add(1)
        assert place < capacity, f"expert {c.expert} is full"
        tokens[c.expert * capacity + place] = token
        weights[c.expert * capacity + place] = exp(c.score - chosen[0].score) / total


def experts_kernel(m: int, n: int, k: int, sub_group_size: int):
    """out[token] += weight * x[token] W[expert], in tiles of a shape; out has been cleared."""

    @kernel(sub_group_size=sub_group_size)
    def experts(item: nd_item[3], X: ptr[const[half]], W: ptr[const[half]], N: int, K: int, capacity: int,
                counts: ptr[const[int32]], tokens: ptr[const[int32]], weights: ptr[const[float32]],
                out: ptr[float32]):
        sg = item.get_sub_group()
        expert, first, column = int(item.get_group(0)), int(item.get_group(1)) * m, item.get_group(2) * n
        rows = min(counts[expert] - first, m)
        if rows <= 0:
            return
        tokens += expert * capacity + first
        weights += expert * capacity + first
        gathered = group_local_memory_for_overwrite[half, m, k](item.get_group())
        tX = joint_matrix(sub_group, half, use.a, m, k, layout.row_major)
        tW = joint_matrix(sub_group, half, use.b, k, n, layout.row_major)
        total = joint_matrix(sub_group, float32, use.accumulator, m, n)
        joint_matrix_fill(sg, total, 0)
        for start in range(0, K, k):
            for i in range(sg.get_local_id(), m * k, sg.get_local_range()):
                row, inner = i // k, i % k
                gathered[row, inner] = X[tokens[row] * K + start + inner] if row < rows else 0
            group_barrier(sg)
            joint_matrix_load(sg, tX, gathered, k)
            joint_matrix_load(sg, tW, W + (expert * K + start) * N + column, N)
            joint_matrix_mad(sg, total, tX, tW, total)
            group_barrier(sg)

        def scatter(x, r, c):
            if r < rows:
                atomic_ref[float32, memory_order.relaxed, memory_scope.device](
                    out[tokens[r] * N + column + c]).fetch_add(weights[r] * x)

        joint_matrix_apply(sg, total, scatter)

    return experts


def reference(X, W, logits):
    """The same in float64."""
    out = np.zeros((len(X), W.shape[-1]))
    for token, scores in enumerate(logits.astype(np.float64)):
        chosen = np.argsort(-scores)[:TOP]
        weights = np.exp(scores[chosen] - scores[chosen].max())
        for expert, weight in zip(chosen, weights / weights.sum(), strict=True):
            out[token] += weight * (X[token].astype(np.float64) @ W[expert].astype(np.float64))
    return out


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    batch, N, K = 3 * m, 2 * n, 2 * k
    capacity = 2 * m  # of each expert
    rng = np.random.default_rng(0)
    X, W = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((batch, K), (EXPERTS, K, N)))
    logits = rng.standard_normal((batch, EXPERTS)).astype(np.float32)
    counts = np.zeros(EXPERTS, np.int32)
    tokens, weights = np.zeros((EXPERTS, capacity), np.int32), np.zeros((EXPERTS, capacity), np.float32)
    out = np.zeros((batch, N), np.float32)
    size, queue = device.sub_group_sizes[0], cm.Queue(device)
    queue.parallel_for(nd_range(batch, m), gate, logits, capacity, counts, tokens, weights)
    queue.parallel_for(nd_range((EXPERTS, capacity // m, N // n * size), (1, 1, size)), experts_kernel(m, n, k, size),
                       X, W, N, K, capacity, counts, tokens, weights, out).wait()
    assert counts.sum() == batch * TOP
    np.testing.assert_allclose(out, reference(X, W, logits), atol=2e-3 * np.sqrt(K))
