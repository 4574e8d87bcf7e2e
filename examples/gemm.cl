// C = A * B with one cooperative matrix per sub-group: the smallest complete kernel.
//
// A is M x K, B is K x N and C is M x N, row-major. Each sub-group computes one TM x TN tile of C, so
//   global size = (N / TN * sub-group size, M / TM),  local size = (sub-group size, 1),
// and M, N and K are multiples of TM, TN and TK: pad with zeros where they are not.
//
// Set with -D: TM, TN, TK (the tile, a combination of the device), IN and OUT (element types), FLAGS
// (which operands are signed), and SUB_GROUP_SIZE to insist on one.

#ifndef TM
#define TM 8
#define TN 16
#define TK 32
#endif
#ifndef IN
#define IN char
#define OUT int
#define FLAGS                                            \
    (CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED)
#endif
#ifndef FLAGS
#define FLAGS CLK_COOPERATIVE_MATRIX_OPERAND_NONE
#endif

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef IN matrix_a MATRIX(TM, TK, A);
typedef IN matrix_b MATRIX(TK, TN, B);
typedef OUT matrix_c MATRIX(TM, TN, ACCUMULATOR);

#ifdef SUB_GROUP_SIZE
__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
#endif
kernel void gemm(global const IN *A, global const IN *B, global OUT *C, int N, int K)
{
    const size_t row = get_group_id(1) * TM;
    const size_t column = get_group_id(0) * TN;

    matrix_c c = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a a = coop_mat_load(A + row * K + k, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, K);
        matrix_b b = coop_mat_load(B + (size_t)k * N + column, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, N);
        c = coop_matmul_add(a, b, c, FLAGS);
    }
    coop_mat_store(C + row * N + column, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, N);
}
