"""out = softmax(scale * Q * transpose(K)) * V for each head (flash attention), in one pass and without local memory.

    python examples/joint_matrix_flash_attention.py [DEVICE] [half|bfloat16] [causal]

Each sub-group computes tM rows of the result: it goes over the keys, tN at a time, and keeps for each row the largest
score so far and the sum of the exponentials (online softmax). The scores are reduced, exponentiated and converted to
the next product's A in registers; for that tN is tK.
"""

import sys

import ml_dtypes
import numpy as np

from coopmat.sycl import *

DTYPES = {half: np.float16, bfloat16: ml_dtypes.bfloat16}
FORMATS = {half: "fp16", bfloat16: "bf16"}
HEADS, LENGTH, DEPTH = 2, 64, 64


def masked(score, row, column, ahead):
    """The score of a query and a key, where the tile is so many keys ahead of its queries."""
    return -np.inf if int(column) + ahead > int(row) else score


def attention_kernel(T: type, tM: int, tN: int, D: int, SG_SIZE: int, is_causal: bool):
    """The kernel for a type and tiles of a shape. The length is a multiple of tM and tN, the depth D of tN."""

    @kernel(sub_group_size=SG_SIZE)
    def attention(item: nd_item[2], Q: ptr[const[T]], K: ptr[const[T]], V: ptr[const[T]], out: ptr[float32], N: int,
                  scale: float32):
        sg = item.get_sub_group()
        first = int(item.get_group(1)) * tM
        head = item.get_group(0) * N * D
        q = [joint_matrix(sub_group, T, use.a, tM, tN, layout.row_major) for d in range(0, D, tN)]
        p = joint_matrix(sub_group, T, use.a, tM, tN, layout.row_major)
        k = joint_matrix(sub_group, T, use.b, tN, tN, layout.col_major)
        v = joint_matrix(sub_group, T, use.b, tN, tN, layout.row_major)
        sums = [joint_matrix(sub_group, float32, use.accumulator, tM, tN) for d in range(0, D, tN)]
        scores = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        largest = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        total = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        for i in range(D // tN):
            joint_matrix_load(sg, q[i], Q + head + first * D + i * tN, D)
            joint_matrix_fill(sg, sums[i], 0)
        joint_matrix_fill(sg, largest, -np.inf)
        joint_matrix_fill(sg, total, 0)

        for key in range(0, first + tM if is_causal else N, tN):
            joint_matrix_fill(sg, scores, 0)
            for i in range(D // tN):
                joint_matrix_load(sg, k, K + head + key * D + i * tN, D)
                joint_matrix_mad(sg, scores, q[i], k, scores)
            scores *= scale
            if is_causal:
                joint_matrix_apply(sg, scores, lambda x, r, c, ahead=key - first: masked(x, r, c, ahead))
            before = +largest
            largest = max(largest, joint_matrix_reduce(sg, scores, "row", "max"))
            factor = exp(before - largest)
            weights = exp(scores - largest)
            total = total * factor + joint_matrix_reduce(sg, weights, "row", "add")
            joint_matrix_copy(sg, weights, p)
            for i in range(D // tN):
                joint_matrix_load(sg, v, V + head + key * D + i * tN, D)
                joint_matrix_mad(sg, sums[i], p, v, sums[i] * factor)
        for i in range(D // tN):
            joint_matrix_store(sg, sums[i] / total, out + head + first * D + i * tN, D, layout.row_major)

    return attention


def tile_of(dev: Device, T: type) -> tuple[int, int]:
    """M and N of a tile with K = N."""
    if dev.name in ("cpu", "sim:generic"):  # they take every shape
        return 8, 16
    for row in dev.get_info(info.device.matrix_combinations):
        M, N, K = row.msize or row.max_msize, row.nsize or row.max_nsize, row.ksize or row.max_ksize
        if row.atype == FORMATS[T] and (N == K or row.max_ksize >= N):
            return M, N
    return 16, 16


def reference(Q: np.ndarray, K: np.ndarray, V: np.ndarray, scale: float, is_causal: bool) -> np.ndarray:
    """The same in float64."""
    Q, K, V = (array.astype(np.float64) for array in (Q, K, V))
    scores = Q @ K.transpose(0, 2, 1) * scale
    if is_causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ V


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    names = {"half": half, "bfloat16": bfloat16}
    T = next((names[word] for word in arguments if word in names), bfloat16)
    is_causal = "causal" in arguments
    devices = [word for word in arguments if word not in (*names, "causal")]
    q = queue(device(devices[0] if devices else "sim:intel_gpu_pvc"))
    tM, tN = tile_of(q.device, T)
    SG_SIZE = q.device.sub_group_sizes[0]

    rng = np.random.default_rng(0)
    Q, K, V = (rng.standard_normal((HEADS, LENGTH, DEPTH)).astype(DTYPES[T]) for _ in range(3))
    out, scale = np.zeros((HEADS, LENGTH, DEPTH), np.float32), DEPTH**-0.5
    attention = attention_kernel(T, tM, tN, DEPTH, SG_SIZE, is_causal)
    G, L = (HEADS, LENGTH // tM * SG_SIZE), (1, SG_SIZE)
    q.parallel_for(nd_range(G, L), attention, Q, K, V, out, LENGTH, scale).wait()

    error = np.abs(out - reference(Q, K, V, scale, is_causal)).max()
    is_right = bool(error < (1e-3 if T is half else 8e-3))
    print(f"{q.device.name}: {HEADS} heads of {LENGTH}x{DEPTH}{', causal' * is_causal}, {T} in tiles of {tM}x{tN}: "
          f"{'right' if is_right else 'WRONG'}, largest error {error:.1e}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
