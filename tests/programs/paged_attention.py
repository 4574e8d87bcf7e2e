"""Attention while decoding, over a cache in pages: the query heads that share keys are the rows of a tile."""

from dataclasses import dataclass

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("fp16", "fp16", "fp32", "fp32")
SEQUENCES, HEADS, PAGES = 3, 2, 3  # at most so many pages of a sequence


@dataclass
class Softmax:
    """What the keys so far say of each row: the largest score, and the sum of the exponentials."""

    largest: joint_matrix
    total: joint_matrix

    def add(self, sg, scores):
        """Take in more scores, which become weights; returns by what earlier results are to be multiplied."""
        before = +self.largest
        for score in scores:
            joint_matrix_copy(sg, max(self.largest, joint_matrix_reduce(sg, score, "row", "max")), self.largest)
        factor = exp(before - self.largest)
        self.total *= factor
        for score in scores:
            joint_matrix_copy(sg, exp(score - self.largest), score)
            self.total += joint_matrix_reduce(sg, score, "row", "add")
        return factor


def attention_kernel(m: int, n: int, k: int, depth: int, page: int, sub_group_size: int):
    """Attention in tiles of a shape, of heads of a depth; pages and the depth are multiples of n and k."""
    tile_a = joint_matrix[sub_group, half, use.a, m, k, layout.row_major]
    tile_k = joint_matrix[sub_group, half, use.b, k, n, layout.col_major]
    tile_v = joint_matrix[sub_group, half, use.b, k, n, layout.row_major]
    tile_c = joint_matrix[sub_group, float32, use.accumulator, m, n]
    staged = local_accessor[half, 2]((m, page))

    def filled(sg, value):
        tile = tile_c()
        joint_matrix_fill(sg, tile, value)
        return tile

    def loaded(sg, memory, stride):
        tile = tile_a()
        joint_matrix_load(sg, tile, memory, stride)
        return tile

    def scores_of(sg, queries, keys, scale):
        """The scores of a page's keys, n of them a tile."""
        tile, scores = tile_k(), [filled(sg, 0) for _ in range(page // n)]
        for i, score in enumerate(scores):
            for j, query in enumerate(queries):
                joint_matrix_load(sg, tile, keys + i * n * depth + j * k, depth)
                joint_matrix_mad(sg, score, query, tile, score)
            score *= scale
        return scores

    @kernel(sub_group_size=sub_group_size)
    def attention(item: nd_item[2], Q: ptr[const[half]], K: ptr[const[half]], V: ptr[const[half]],
                  table: ptr[const[int32]], lengths: ptr[const[int32]], out: ptr[float32], blocks: int,
                  scale: float32, slopes: ptr[const[float32]] = None):
        sg = item.get_sub_group()
        sequence, head = item.get_group(0), item.get_group(1)
        length = lengths[sequence]
        rows = (sequence * HEADS + head) * m
        queries = [loaded(sg, Q + rows * depth + d, depth) for d in range(0, depth, k)]
        sums = [filled(sg, 0) for _ in range(depth // n)]
        state = Softmax(filled(sg, -np.inf), filled(sg, 0))
        tile = tile_v()

        for first in range(0, length, page):
            block = table[sequence * PAGES + first // page]
            assert 0 <= block < blocks, f"sequence {sequence} has no page for key {first}"
            start = (block * HEADS + head) * page * depth
            scores = scores_of(sg, queries, K + start, scale)
            for i, score in enumerate(scores):

                def masked(x, row, column, key=first + i * n):
                    key += int(column)
                    if slopes:
                        x += slopes[head * m + row] * (key - length + 1)
                    return x if key < length else -np.inf

                joint_matrix_apply(sg, score, masked)
            factor = state.add(sg, scores)
            for i, weights in enumerate(scores):

                def stage(x, row, column, left=i * n):
                    staged[row, left + column] = x

                joint_matrix_apply(sg, weights, stage)
            group_barrier(item.get_group())
            for d, total in enumerate(sums):
                total *= factor
                for i in range(page // k):
                    joint_matrix_load(sg, tile, V + start + i * k * depth + d * n, depth)
                    joint_matrix_mad(sg, total, loaded(sg, staged.get_multi_ptr() + i * k, page), tile, total)
            group_barrier(item.get_group())

        for d, total in enumerate(sums):
            joint_matrix_store(sg, total / state.total, out + rows * depth + d * n, depth, layout.row_major)

    return attention


def reference(Q, K, V, table, lengths, scale, slopes):
    """The same in float64."""
    out = np.zeros(Q.shape)
    for sequence, length in enumerate(lengths):
        keys, values = (memory[table[sequence]].transpose(1, 0, 2, 3).reshape(HEADS, -1, Q.shape[-1])[:, :length]
                        .astype(np.float64) for memory in (K, V))
        scores = Q[sequence].astype(np.float64) @ keys.transpose(0, 2, 1) * scale
        if slopes is not None:
            scores += slopes.reshape(HEADS, -1, 1) * (np.arange(length) - length + 1)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out[sequence] = weights / weights.sum(axis=-1, keepdims=True) @ values
    return out


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    depth = page = int(np.lcm(n, k))
    blocks = SEQUENCES * PAGES + 2
    rng = np.random.default_rng(0)
    Q = rng.standard_normal((SEQUENCES, HEADS, m, depth)).astype(np.float16)
    K, V = (rng.standard_normal((blocks, HEADS, page, depth)).astype(np.float16) for _ in range(2))
    table = rng.permutation(blocks)[:SEQUENCES * PAGES].astype(np.int32).reshape(SEQUENCES, PAGES)
    lengths = np.array([1, page, 2 * page + 3], np.int32)
    slopes = rng.uniform(0.01, 0.2, HEADS * m).astype(np.float32)
    size, scale = device.sub_group_sizes[0], depth**-0.5
    attention, queue = attention_kernel(m, n, k, depth, page, size), cm.Queue(device)
    for optional in (None, slopes):
        out = np.full(Q.shape, np.nan, np.float32)
        queue.parallel_for(nd_range((SEQUENCES, HEADS * size), (1, size)), attention, Q, K, V, table, lengths, out,
                           blocks, scale, optional).wait()
        np.testing.assert_allclose(out, reference(Q, K, V, table, lengths, scale, optional), atol=4e-3)
