"""Softmax and cross-entropy of logits X W, with reductions of rows: in Python, and the same in OpenCL C."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("fp16", "fp16", "fp32", "fp32")


@dataclass
class Running:
    """Of each row, up to a column: the largest logit, the sum of exponentials below it, the logit of the label."""

    largest: object
    total: object
    chosen: object

    def logarithm(self):
        return self.largest + np.log(self.total)


def entropy_kernel(m: int, n: int, k: int, sub_group_size: int):
    """The kernel for tiles of a shape: losses and probabilities of m rows for each sub-group."""
    tile = joint_matrix[sub_group, float32, use.accumulator, m, n]

    def logits_of(sg, X, W, K, N):
        logits = tile()
        joint_matrix_fill(sg, logits, 0)
        x = joint_matrix(sub_group, half, use.a, m, k, layout.row_major)
        w = joint_matrix(sub_group, half, use.b, k, n, layout.row_major)
        for inner in range(0, K, k):
            joint_matrix_load(sg, x, X + inner, K)
            joint_matrix_load(sg, w, W + inner * N, N)
            joint_matrix_mad(sg, logits, x, w, logits)
        return logits

    @kernel(sub_group_size=sub_group_size)
    def cross_entropy(item: nd_item[1], X: ptr[const[half]], W: ptr[const[half]], labels: ptr[const[int32]],
                      losses: ptr[float32], P: ptr[float32], N: int, K: int, temperature: float = 1.0):
        sg, row = item.get_sub_group(), item.get_group(0) * m
        run = Running(tile(), tile(), tile())
        joint_matrix_fill(sg, run.largest, -np.inf)
        joint_matrix_fill(sg, run.total, 0)
        joint_matrix_fill(sg, run.chosen, 0)
        for column in range(0, N, n):
            logits = logits_of(sg, X + row * K, W + column, K, N) / temperature
            joint_matrix_store(sg, logits, P + row * N + column, N, layout.row_major)
            largest = max(run.largest, joint_matrix_reduce(sg, logits, "row", "max"))
            below = joint_matrix_reduce(sg, np.exp(logits - largest), "row", "add")
            run.total = run.total * np.exp(run.largest - largest) + below
            run.largest = +largest
            joint_matrix_apply(sg, logits, lambda x, r, c, at=column: x if labels[row + r] == at + c else 0)
            run.chosen += joint_matrix_reduce(sg, logits, "row", "add")

        loss = run.logarithm() - run.chosen

        def keep(x, r, c):
            if c == 0:
                losses[row + r] = x

        joint_matrix_apply(sg, loss, keep)
        for column in range(0, N, n):
            stored = tile()
            joint_matrix_load(sg, stored, P + row * N + column, N, layout.row_major)
            joint_matrix_store(sg, np.exp(stored - run.logarithm()), P + row * N + column, N, layout.row_major)

    return cross_entropy


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run both on a device, in tiles of a shape, and compare with numpy."""
    rows, classes, depth, size, temperature = 2 * m, 3 * n, 2 * k, device.sub_group_sizes[0], 0.5
    rng = np.random.default_rng(0)
    X, W = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((rows, depth), (depth, classes)))
    labels = rng.integers(0, classes, rows, np.int32)
    logits = X.astype(np.float64) @ W.astype(np.float64) / temperature
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    sources = (Path(__file__).with_suffix(".cl"), f"-DTM={m} -DTN={n} -DTK={k}"), (entropy_kernel(m, n, k, size), "")
    for source, options in sources:
        kernel = cm.build(source, options, device).kernel("cross_entropy")
        losses, found = np.zeros(rows, np.float32), np.zeros((rows, classes), np.float32)
        cm.Queue(device).enqueue(kernel, rows // m * size, size, X, W, labels, losses, found, classes, depth,
                                 temperature).wait()
        np.testing.assert_allclose(found, P, rtol=1e-3)
        np.testing.assert_allclose(losses, -np.log(P[np.arange(rows), labels]), rtol=1e-3)
