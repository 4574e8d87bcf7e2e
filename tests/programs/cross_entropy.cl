// Softmax and cross-entropy of logits X W, in one pass over the columns of W and a second over the logits.
//
// Set with -D: the tile TM, TN, TK.

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define REDUCE_ROW(m, operation) \
    coop_mat_reduce(m, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_##operation)

typedef half matrix_a MATRIX(TM, TK, A);
typedef half matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

matrix_c logits_of(global const half *X, global const half *W, int N, int K, float temperature)
{
    matrix_c logits = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a x = coop_mat_load(X + k, ROWS, K);
        matrix_b w = coop_mat_load(W + k * N, ROWS, N);
        logits = coop_mat_mulAdd(x, w, logits);
    }
    return logits * (1 / temperature);
}

float of_label(uint row, uint column, float logit, global const int *labels, int first)
{
    return labels[row] == first + (int)column ? logit : 0;
}

// A sub-group for each TM rows.
kernel void cross_entropy(global const half *X, global const half *W, global const int *labels, global float *losses,
                          global float *P, int N, int K, float temperature)
{
    const int row = get_group_id(0) * TM;
    labels += row;
    P += row * N;
    matrix_c largest = coop_mat_init(-INFINITY), total = coop_mat_init(0), chosen = coop_mat_init(0);
    for (int column = 0; column < N; column += TN) {
        const matrix_c logits = logits_of(X + row * K, W + column, N, K, temperature), before = largest;
        coop_mat_store(P + column, logits, ROWS, N);
        largest = fmax(before, REDUCE_ROW(logits, MAX));
        total = total * exp(before - largest) + REDUCE_ROW(exp(logits - largest), ADD);
        chosen += REDUCE_ROW(coop_mat_apply(logits, of_label, labels, column), ADD);
    }

    const matrix_c logarithm = largest + log(total), loss = logarithm - chosen;
    for (uint i = 0; i < coop_mat_length(loss); i++) {
        const int2 at = coop_mat_get_coord(loss, i);
        if (at.y == 0)
            losses[row + at.x] = loss[i];
    }
    for (int column = 0; column < N; column += TN) {
        matrix_c logits = coop_mat_load(P + column, ROWS, N);
        coop_mat_store(P + column, exp(logits - logarithm), ROWS, N);
    }
}
