// C = A * B as people write it: each sub-group, or work-group, has RM x RN matrices of C of TM x TN elements. No local
// memory, nothing packed.
//
// Set with -D: IN, OUT, FLAGS; TM, TN, TK (of a matrix); RM, RN; A_COLUMNS, B_COLUMNS (stored by columns); SCOPE
// (WORKGROUP: a work-group shares its matrices); ITEMS (of a work-group).

#ifdef A_COLUMNS
#define LAYOUT_A CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define AT(row, k) ((row) + (size_t)(k) * M)
#define STRIDE_A M
#else
#define LAYOUT_A CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define AT(row, k) ((size_t)(row) * K + (k))
#define STRIDE_A K
#endif
#ifdef B_COLUMNS
#define LAYOUT_B CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define BT(k, column) ((k) + (size_t)(column) * K)
#define STRIDE_B K
#else
#define LAYOUT_B CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define BT(k, column) ((size_t)(k) * N + (column))
#define STRIDE_B N
#endif
#ifndef SCOPE
#define SCOPE SUBGROUP
#endif
#ifndef ITEMS
#define ITEMS 16
#endif
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR

#define JOINED(left, right) left##right
#define MATRIX_OF(scope, rows, columns, use) \
    __attribute__((coop_mat(JOINED(CLK_COOPERATIVE_MATRIX_SCOPE_, scope), rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define MATRIX(rows, columns, use) MATRIX_OF(SCOPE, rows, columns, use)

typedef IN matrix_a MATRIX(TM, TK, A);
typedef IN matrix_b MATRIX(TK, TN, B);
typedef OUT matrix_c MATRIX(TM, TN, ACCUMULATOR);

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
kernel void gemm(global const IN *A, global const IN *B, global OUT *C, int M, int N, int K)
{
    const int row = get_group_id(1) * (RM * TM);
    const int column = get_group_id(0) * (RN * TN);

    matrix_c c[RM][RN];
    for (int m = 0; m < RM; m++)
        for (int n = 0; n < RN; n++)
            c[m][n] = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a a[RM];
        matrix_b b[RN];
        for (int m = 0; m < RM; m++)
            a[m] = coop_mat_load(A + AT(row + m * TM, k), LAYOUT_A, STRIDE_A);
        for (int n = 0; n < RN; n++)
            b[n] = coop_mat_load(B + BT(k, column + n * TN), LAYOUT_B, STRIDE_B);
        for (int m = 0; m < RM; m++)
            for (int n = 0; n < RN; n++)
                c[m][n] = coop_matmul_add(a[m], b[n], c[m][n], FLAGS);
    }
    for (int m = 0; m < RM; m++)
        for (int n = 0; n < RN; n++)
            coop_mat_store(C + (size_t)(row + m * TM) * N + column + n * TN, c[m][n], ROW_MAJOR, N);
}
