"""An LSTM cell over a sequence: the four gates of a tile are matrices of one sub-group."""

from dataclasses import dataclass

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("bf16", "bf16", "fp32", "fp32")
STEPS = 3


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@dataclass(frozen=True)
class Cell:
    """Sizes of a cell: its weights are (inputs + hidden) x 4 hidden, the gates i, f, g, o side by side."""

    batch: int
    inputs: int
    hidden: int

    @property
    def depth(self) -> int:
        return self.inputs + self.hidden

    @property
    def width(self) -> int:
        return 4 * self.hidden


def lstm_kernel(cell: Cell, m: int, n: int, k: int, sub_group_size: int):
    """A step of the cell, in tiles of a shape."""
    tile = joint_matrix[sub_group, float32, use.accumulator, m, n]

    @kernel(sub_group_size=sub_group_size)
    def step(item: nd_item[2], X: ptr[const[bfloat16]], H: ptr[const[bfloat16]], W: ptr[const[bfloat16]],
             C: ptr[float32], next_H: ptr[bfloat16], bias: ptr[const[float32]] = None, *, debug: bool = False):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * m, item.get_group(1) * n
        gates = [tile() for _ in range(4)]
        left = joint_matrix(sub_group, bfloat16, use.a, m, k, layout.row_major)
        right = joint_matrix(sub_group, bfloat16, use.b, k, n, layout.row_major)

        for index, gate in enumerate(gates):
            joint_matrix_fill(sg, gate, 0)
            if bias:
                joint_matrix_apply(sg, gate, lambda x, r, c, i=index: bias[i * cell.hidden + column + c])
        for inner in range(0, cell.depth, k):
            if inner < cell.inputs:
                joint_matrix_load(sg, left, X + row * cell.inputs + inner, cell.inputs)
            else:
                joint_matrix_load(sg, left, H + row * cell.hidden + inner - cell.inputs, cell.hidden)
            for index, gate in enumerate(gates):
                joint_matrix_load(sg, right, W + inner * cell.width + index * cell.hidden + column, cell.width)
                joint_matrix_mad(sg, gate, left, right, gate)

        i, f, g, o = gates
        c = tile()
        memory = C + row * cell.hidden + column
        joint_matrix_load(sg, c, memory, cell.hidden, layout.row_major)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        joint_matrix_store(sg, c, memory, cell.hidden, layout.row_major)
        h = sigmoid(o) * np.tanh(c)
        if debug and sg.leader():
            print(f"tile {row:3d},{column:3d}: {memory[0] = :.3f}")

        def keep(x, r, c):
            assert -1 <= x <= 1, f"h[{row + r}, {column + c}] is {x}"
            next_H[(row + r) * cell.hidden + column + c] = x

        joint_matrix_apply(sg, h, keep)

    return step


def reference(X: np.ndarray, W: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The last h and c, in float64."""
    h = c = np.zeros((X.shape[1], bias.size // 4))
    for x in X:
        i, f, g, o = np.split(np.hstack([x, h]) @ W + bias, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h, c


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    cell = Cell(2 * m, k, int(np.lcm(n, k)))
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (STEPS, cell.batch, cell.inputs)).astype(bfloat16)
    W = rng.uniform(-0.5, 0.5, (cell.depth, cell.width)).astype(bfloat16)
    bias = rng.uniform(-1, 1, cell.width).astype(np.float32)
    queue, size = cm.Queue(device), device.sub_group_sizes[0]
    step, tiles = lstm_kernel(cell, m, n, k, size), nd_range((2, cell.hidden // n * size), (1, size))
    for given in (bias, None):
        H, next_H = np.zeros((2, cell.batch, cell.hidden), bfloat16)
        C = np.zeros((cell.batch, cell.hidden), np.float32)
        for x in X:
            queue.parallel_for(tiles, step, x, H, W, C, next_H, given)
            H, next_H = next_H, H
        queue.wait()
        h, c = reference(X.astype(np.float64), W.astype(np.float64), 0 * bias if given is None else bias)
        np.testing.assert_allclose(C, c, atol=1e-2)
        np.testing.assert_allclose(H.astype(np.float64), h, atol=1e-2)
