// Products of one tile a sub-group that are more than that: in two sums, C = alpha * A * B + beta * C, of weights of 8 bits
// with a scale for each column, or for 64 rows of one, and with sums of integers that become floats, by a bias and a scale
// for each column. No local memory, nothing packed.
//
// Set with -D: IN, OUT, FLAGS; TM, TN, TK (of a matrix).

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define LOAD_A(k) coop_mat_load(A + (size_t)row * K + (k), ROW_MAJOR, K)
#define LOAD_B(k) coop_mat_load(B + (size_t)(k) * N + column, ROW_MAJOR, N)
#define C_HERE (C + (size_t)row * N + column)

typedef IN matrix_a MATRIX(TM, TK, A);
typedef IN matrix_b MATRIX(TK, TN, B);
typedef char matrix_w MATRIX(TK, TN, B);
typedef OUT matrix_c MATRIX(TM, TN, ACCUMULATOR);

__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void two_sums(global const IN *A, global const IN *B, global OUT *C, int M, int N, int K)
{
    const int row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    matrix_c even = coop_mat_init(0), odd = coop_mat_init(0);
    for (int k = 0; k < K; k += 2 * TK) {
        matrix_a a = LOAD_A(k), next_a = LOAD_A(k + TK);
        matrix_b b = LOAD_B(k), next_b = LOAD_B(k + TK);
        even = coop_matmul_add(a, b, even, FLAGS);
        odd = coop_matmul_add(next_a, next_b, odd, FLAGS);
    }
    even = even + odd;
    coop_mat_store(C_HERE, even, ROW_MAJOR, N);
}

__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void alpha_beta(global const IN *A, global const IN *B, global OUT *C, int M, int N, int K, OUT alpha, OUT beta)
{
    const int row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    matrix_c old = coop_mat_load(C_HERE, ROW_MAJOR, N), c = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a a = LOAD_A(k);
        matrix_b b = LOAD_B(k);
        c = coop_matmul_add(a, b, c, FLAGS);
    }
    c = c * alpha + old * beta;
    coop_mat_store(C_HERE, c, ROW_MAJOR, N);
}

__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void weights(global const IN *A, global const char *B, global OUT *C, int M, int N, int K,
                    global const OUT *scales)
{
    const int row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    matrix_c c = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a a = LOAD_A(k);
        matrix_w w = LOAD_B(k);
        matrix_b b = coop_mat_convert(w);
        c = coop_matmul_add(a, b, c, FLAGS);
    }
    for (int i = 0; i < coop_mat_length(c); i++)
        c[i] *= scales[column + coop_mat_get_coord(c, i).y];
    coop_mat_store(C_HERE, c, ROW_MAJOR, N);
}

__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void scaled_weights(global const IN *A, global const char *B, global OUT *C, int M, int N, int K,
                           global const OUT *scales)
{
    const int row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    matrix_c c = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a a = LOAD_A(k);
        matrix_w w = LOAD_B(k);
        matrix_b b;
        for (int i = 0; i < coop_mat_length(b); i++) {
            int2 at = coop_mat_get_coord(b, i);
            b[i] = (IN)(w[i] * scales[(k + at.x) / 64 * N + column + at.y]);
        }
        c = coop_matmul_add(a, b, c, FLAGS);
    }
    coop_mat_store(C_HERE, c, ROW_MAJOR, N);
}

__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void scaled_sums(global const IN *A, global const IN *B, global float *C, int M, int N, int K,
                        global const int *bias, global const float *scales)
{
    const int row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    matrix_c c = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a a = LOAD_A(k);
        matrix_b b = LOAD_B(k);
        c = coop_matmul_add(a, b, c, FLAGS);
    }
    float MATRIX(TM, TN, ACCUMULATOR) found;
    for (int i = 0; i < coop_mat_length(found); i++) {
        int2 at = coop_mat_get_coord(found, i);
        found[i] = (float)(c[i] + bias[column + at.y]) * scales[column + at.y];
    }
    coop_mat_store(C_HERE, found, ROW_MAJOR, N);
}
