// C = f(A * B) as people write it: each sub-group has a tile of 16x16 of C, and a loop over its components finishes it.
//
// Set with -D: IN; TK (of a tile); END, what is done to component i of the sums s (nothing: the plain product), where
// `row` and `column` are those of the element in C.

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void gemm(global const IN *A, global const IN *B, global float *C, global const float *bias,
                 global const float *residual, int N, int K)
{
    const int first_row = get_group_id(1) * 16, first_column = get_group_id(0) * 16;

    float MATRIX(16, 16, ACCUMULATOR) s = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        IN MATRIX(16, TK, A) a = coop_mat_load(A + (size_t)first_row * K + k, ROW_MAJOR, K);
        IN MATRIX(TK, 16, B) b = coop_mat_load(B + (size_t)k * N + first_column, ROW_MAJOR, N);
        s = coop_matmul_add(a, b, s, 0);
    }
#ifdef END
    for (int i = 0; i < coop_mat_length(s); i++) {
        const int2 at = coop_mat_get_coord(s, i);
        const int row = first_row + at.x, column = first_column + at.y;
        END;
    }
#endif
    coop_mat_store(C + (size_t)first_row * N + first_column, s, ROW_MAJOR, N);
}
