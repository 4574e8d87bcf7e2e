"""out = softmax(scale * Q * transpose(K)) * V for each head (flash attention), with matrices that a work-group shares.

    python examples/joint_matrix_work_group_attention.py [DEVICE] [half|bfloat16] [causal]

A work-group computes tM rows of the result: it goes over the keys, tN at a time, and keeps for each row the largest
score so far and the sum of the exponentials (online softmax). Only the keys on the diagonal are compared one by one.
"""

import sys

import ml_dtypes
import numpy as np

from coopmat.sycl import *

DTYPES = {half: np.float16, bfloat16: ml_dtypes.bfloat16}
HEADS, LENGTH, DEPTH = 2, 256, 64


def masked(score, row, column, ahead):
    """The score of a query and a key, where the tile is so many keys ahead of its queries."""
    return -np.inf if int(column) + ahead > int(row) else score


def attention_kernel(T: type, R: type, tM: int, tN: int, D: int, ITEMS: int, is_causal: bool):
    """The kernel for a type and one of results, tiles of tM queries and tN keys, and depth D; tM and tN divide the
    length."""

    @kernel(work_group_size=(1, ITEMS))
    def attention(item: nd_item[2], Q: ptr[const[T]], K: ptr[const[T]], V: ptr[const[T]], out: ptr[R], heads: int,
                  N: int, scale: float32):
        g = item.get_group()
        first = (g.get_group_range(1) - 1 - g.get_group_id(1)) * tM  # in causal attention the last ones take longest
        head, rows = g.get_group_id(0) * N, heads * N
        q = joint_matrix(work_group, T, use.a, tM, D, layout.row_major)
        k = joint_matrix(work_group, T, use.b, D, tN, layout.col_major)
        v = joint_matrix(work_group, T, use.b, tN, D, layout.row_major)
        p = joint_matrix(work_group, T, use.a, tM, tN, layout.row_major)
        scores = joint_matrix(work_group, float32, use.accumulator, tM, tN)
        largest = joint_matrix(work_group, float32, use.accumulator, tM, tN)
        sums = joint_matrix(work_group, float32, use.accumulator, tM, D)
        total = joint_matrix(work_group, float32, use.accumulator, tM, D)
        joint_matrix_load_checked(g, q, Q, D, rows, D, head + first, 0)
        joint_matrix_fill(g, largest, -1e30)
        joint_matrix_fill(g, sums, 0)
        joint_matrix_fill(g, total, 0)

        diagonal = first if is_causal else N
        for is_masked in (False, True) if is_causal else (False,):
            for key in range(diagonal if is_masked else 0, diagonal + tM if is_masked else diagonal, tN):
                joint_matrix_load_checked(g, k, K, D, rows, D, head + key, 0)
                joint_matrix_load_checked(g, v, V, D, rows, D, head + key, 0)
                joint_matrix_fill(g, scores, 0)
                joint_matrix_mad(g, scores, q, k, scores)
                if is_masked:
                    joint_matrix_apply(g, scores, lambda x, r, c, ahead=key - first: masked(x, r, c, ahead))
                before = +largest
                largest = max(largest, joint_matrix_reduce(g, scores, "row", "max") * scale)
                factor = joint_matrix_reduce(g, exp2(before - largest), "row", "max", D)
                weights = exp2(fma(scores, scale, -largest))
                total = total * factor + joint_matrix_reduce(g, weights, "row", "add", D)
                joint_matrix_copy(g, weights, p)
                joint_matrix_mad(g, sums, p, v, sums * factor)
        result = joint_matrix(work_group, R, use.accumulator, tM, D)
        joint_matrix_copy(g, sums / total, result)
        joint_matrix_store_checked(g, result, out, D, layout.row_major, rows, D, head + first, 0)

    return attention


def reference(Q: np.ndarray, K: np.ndarray, V: np.ndarray, scale: float, is_causal: bool) -> np.ndarray:
    """The same in float64."""
    scores = Q.astype(np.float64) @ K.astype(np.float64).swapaxes(1, 2) * scale
    scores[:, np.triu(np.full(scores.shape[1:], is_causal), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights @ V.astype(np.float64) / weights.sum(axis=2, keepdims=True)


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    names = {"half": half, "bfloat16": bfloat16}
    T = next((names[word] for word in arguments if word in names), half)
    is_causal = "causal" in arguments
    devices = [word for word in arguments if word not in (*names, "causal")]
    q = queue(device(devices[0] if devices else "cpu"))
    tM, tN, ITEMS = 128, 128, 256

    rng = np.random.default_rng(0)
    Q, K, V = (rng.standard_normal((HEADS, LENGTH, DEPTH)).astype(DTYPES[T]) for _ in range(3))
    out, scale = np.zeros((HEADS, LENGTH, DEPTH), np.float32), DEPTH**-0.5
    attention = attention_kernel(T, float32, tM, tN, DEPTH, ITEMS, is_causal)
    G, L = (HEADS, LENGTH // tM * ITEMS), (1, ITEMS)
    q.parallel_for(nd_range(G, L), attention, Q, K, V, out, HEADS, LENGTH, scale * np.log2(np.e)).wait()

    error = np.abs(out - reference(Q, K, V, scale, is_causal)).max()
    is_right = bool(error < (2e-3 if T is half else 1.6e-2))
    print(f"{q.device.name}: {HEADS} heads of {LENGTH}x{DEPTH}{', causal' * is_causal}, {T} in tiles of {tM}x{tN}: "
          f"{'right' if is_right else 'WRONG'}, largest error {error:.1e}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
