// O = softmax(scale * Q * transpose(K)) * V for each head, in one pass over K and V, without local memory.
//
// Q, K, V and O are HEADS x N x D, row-major. Each sub-group computes TM rows of O for one head: it goes over the keys,
// TN at a time, and keeps for each row the largest score so far and the sum of the exponentials (online softmax). The
// scores become the next product's A in registers: that needs TN = TK. So
//   global size = (N / TM * sub-group size, HEADS),  local size = (sub-group size, 1),
// and N is a multiple of TM and TN, D of TN.
//
// Set with -D: TM, TN (the tile, a combination of the device with TK = TN), D, IN (half or __bf16), CAUSAL for scores
// of earlier keys only, and SUB_GROUP_SIZE to insist on one.

#ifndef TM
#define TM 8
#define TN 16
#endif
#ifndef D
#define D 64
#endif
#ifndef IN
#define IN half
#endif
#define TK TN

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define OF_ROW CLK_COOPERATIVE_MATRIX_REDUCE_ROW
#define NONE CLK_COOPERATIVE_MATRIX_OPERAND_NONE

typedef IN matrix_a MATRIX(TM, TK, A);
typedef IN matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

// The score of a query and a key; ahead: how many keys the tile is ahead of its queries.
float causal(uint row, uint column, float score, int ahead)
{
    return (int)column + ahead > (int)row ? -INFINITY : score;
}

#ifdef SUB_GROUP_SIZE
__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
#endif
kernel void flash_attention(global const IN *Q, global const IN *K, global const IN *V, global float *O, int N,
                            float scale)
{
    const int first = get_group_id(0) * TM;
    const size_t head = get_group_id(1) * (size_t)N * D;
    K += head;
    V += head;

    matrix_a q[D / TK];
    for (int d = 0; d < D / TK; d++)
        q[d] = coop_mat_load(Q + head + first * D + d * TK, ROWS, D);

    matrix_c sums[D / TN], largest = coop_mat_init(-INFINITY), total = coop_mat_init(0);
    for (int d = 0; d < D / TN; d++)
        sums[d] = coop_mat_init(0);

#ifdef CAUSAL
    const int keys = first + TM;
#else
    const int keys = N;
#endif
    for (int key = 0; key < keys; key += TN) {
        matrix_c scores = coop_mat_init(0);
        for (int d = 0; d < D / TK; d++) {
            matrix_b k = coop_mat_load(K + key * D + d * TK, COLUMNS, D);
            scores = coop_matmul_add(q[d], k, scores, NONE);
        }
        scores = scores * scale;
#ifdef CAUSAL
        scores = coop_mat_apply(scores, causal, key - first);
#endif
        const matrix_c before = largest;
        largest = fmax(largest, coop_mat_reduce(scores, OF_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_MAX));
        const matrix_c factor = exp(before - largest);
        const matrix_c weights = exp(scores - largest);
        total = total * factor + coop_mat_reduce(weights, OF_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_ADD);

        matrix_a p = coop_mat_convert(weights);
        for (int d = 0; d < D / TN; d++) {
            matrix_b v = coop_mat_load(V + key * D + d * TN, ROWS, D);
            sums[d] = coop_matmul_add(p, v, sums[d] * factor, NONE);
        }
    }
    for (int d = 0; d < D / TN; d++)
        coop_mat_store(O + head + first * D + d * TN, sums[d] / total, ROWS, D);
}
