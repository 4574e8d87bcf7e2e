// C = A * B of a long K: work-groups multiply parts of K side by side, and a second kernel adds up what they found.
//
// parts has a matrix of M x N for each part. Set with -D: IN, OUT, FLAGS, TM, TN, TK.

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

kernel void multiply(global const IN *A, global const IN *B, global OUT *parts, int M, int N, int K, int depth)
{
    const int row = get_group_id(1) * TM, column = get_group_id(0) * TN, first = get_group_id(2) * depth;
    OUT MATRIX(TM, TN, ACCUMULATOR) c = coop_mat_init(0);
    for (int k = first; k < first + depth; k += TK) {
        IN MATRIX(TM, TK, A) a = coop_mat_load(A + (size_t)row * K + k, ROW_MAJOR, K);
        IN MATRIX(TK, TN, B) b = coop_mat_load(B + (size_t)k * N + column, ROW_MAJOR, N);
        c = coop_matmul_add(a, b, c, FLAGS);
    }
    coop_mat_store(parts + (get_group_id(2) * (size_t)M + row) * N + column, c, ROW_MAJOR, N);
}

kernel void add(global const OUT *parts, global OUT *C, int size, int count)
{
    const size_t i = get_global_id(0);
    OUT sum = 0;
    for (int part = 0; part < count; part++)
        sum += parts[part * (size_t)size + i];
    C[i] = sum;
}
