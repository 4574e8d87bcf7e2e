// C = A * B with 2 x 2 cooperative matrices of C per sub-group: each tile that is loaded is multiplied twice.
//
// A is M x K, B is K x N and C is M x N, row-major. Each sub-group computes 2 TM x 2 TN elements of C, so
//   global size = (N / (2 TN) * sub-group size, M / (2 TM)),  local size = (sub-group size, 1),
// and M, N and K are multiples of 2 TM, 2 TN and TK: pad with zeros where they are not.
//
// With -DPACKED_B the host has packed B: of each 4 / sizeof(IN) rows, elements of one column lie side by side, as
// matrix instructions take them. In numpy, with t = 4 // B.itemsize:
//   B.reshape(K // t, t, N).swapaxes(1, 2).copy()
// That saves the kernel from doing it at every load.
//
// Set with -D: TM, TN, TK (the tile, a combination of the device), IN and OUT (element types), FLAGS
// (which operands are signed), PACKED_B.

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
#ifndef TM
#define TM 16
#define TN 16
#endif
#ifndef TK
#define TK 64
#endif

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#ifdef PACKED_B
#define LAYOUT_B CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL
#define TOGETHER (4 / sizeof(IN))  // rows of B whose elements lie side by side
#else
#define LAYOUT_B ROW_MAJOR
#define TOGETHER 1
#endif

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef IN matrix_a MATRIX(TM, TK, A);
typedef IN matrix_b MATRIX(TK, TN, B);
typedef OUT matrix_c MATRIX(TM, TN, ACCUMULATOR);

kernel void gemm(global const IN *A, global const IN *B, global OUT *C, int N, int K)
{
    const size_t row = get_group_id(1) * (2 * TM);
    const size_t column = get_group_id(0) * (2 * TN);
    global const IN *upper = A + row * K;
    global const IN *lower = upper + (size_t)TM * K;
    global OUT *c = C + row * N + column;

    matrix_c c00 = coop_mat_init(0), c01 = coop_mat_init(0);
    matrix_c c10 = coop_mat_init(0), c11 = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        global const IN *b = B + (size_t)k * N + column * TOGETHER;
        matrix_b b0 = coop_mat_load(b, LAYOUT_B, N * TOGETHER);
        matrix_b b1 = coop_mat_load(b + TN * TOGETHER, LAYOUT_B, N * TOGETHER);
        matrix_a a0 = coop_mat_load(upper + k, ROW_MAJOR, K);
        c00 = coop_matmul_add(a0, b0, c00, FLAGS);
        c01 = coop_matmul_add(a0, b1, c01, FLAGS);
        matrix_a a1 = coop_mat_load(lower + k, ROW_MAJOR, K);
        c10 = coop_matmul_add(a1, b0, c10, FLAGS);
        c11 = coop_matmul_add(a1, b1, c11, FLAGS);
    }
    coop_mat_store(c, c00, ROW_MAJOR, N);
    coop_mat_store(c + TN, c01, ROW_MAJOR, N);
    coop_mat_store(c + (size_t)TM * N, c10, ROW_MAJOR, N);
    coop_mat_store(c + (size_t)TM * N + TN, c11, ROW_MAJOR, N);
}
