// C[i] = A[i] * B[i] for many small matrices, one a sub-group. Set with -D: IN, OUT, FLAGS, TM, TN, TK.

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

kernel void batched(global const IN *A, global const IN *B, global OUT *C)
{
    const size_t i = get_group_id(0);
    IN MATRIX(TM, TK, A) a = coop_mat_load(A + i * TM * TK, ROW_MAJOR, TK);
    IN MATRIX(TK, TN, B) b = coop_mat_load(B + i * TK * TN, ROW_MAJOR, TN);
    OUT MATRIX(TM, TN, ACCUMULATOR) c = coop_mat_init(0);
    c = coop_matmul_add(a, b, c, FLAGS);
    coop_mat_store(C + i * TM * TN, c, ROW_MAJOR, TN);
}
