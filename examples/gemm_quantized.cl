// C = requantize(A * B + bias): a product of 8-bit integers whose results are 8-bit integers again, as in a layer of a
// quantised network. The sums are finished where they are, in registers: nothing but C is written.
//
// A is M x K, B is K x N and C is M x N, row-major. Column j of C is
//   saturate(round((A * B + bias[j]) * scale[j]) + zero), at least zero if there is an activation (relu).
// Each sub-group computes one TM x TN tile of C, so
//   global size = (N / TN * sub-group size, M / TM),  local size = (sub-group size, 1),
// and M, N and K are multiples of TM, TN and TK. bias may be a null pointer.
//
// Set with -D: TM, TN, TK (the tile, a combination of the device).

#ifndef TM
#define TM 8
#define TN 16
#endif
#ifndef TK
#define TK 32
#endif

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SIGNED                                           \
    (CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED)
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef char matrix_a MATRIX(TM, TK, A);
typedef char matrix_b MATRIX(TK, TN, B);
typedef int matrix_c MATRIX(TM, TN, ACCUMULATOR);

kernel void gemm(global const char *A, global const char *B, global const int *bias, global const float *scale,
                 global char *C, int zero, int relu, int N, int K)
{
    const size_t row = get_group_id(1) * TM, column = get_group_id(0) * TN;

    matrix_c c = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        matrix_a a = coop_mat_load(A + row * K + k, ROW_MAJOR, K);
        matrix_b b = coop_mat_load(B + (size_t)k * N + column, ROW_MAJOR, N);
        c = coop_matmul_add(a, b, c, SIGNED);
    }

    // Each work-item finishes the elements that it holds, wherever the device has put them.
    for (int i = 0; i < coop_mat_length(c); i++) {
        int2 at = coop_mat_get_coord(c, i);
        size_t j = column + at.y;
        int sum = c[i] + (bias ? bias[j] : 0);
        int result = convert_int_rte(sum * scale[j]) + zero;
        C[(row + at.x) * N + j] = convert_char_sat(relu ? max(result, zero) : result);
    }
}
