// C = A * B with weights of four bits (w4a16), as large language models have them: A is half-precision, B is stored as
// numbers from 0 to 15 with a scale for every GROUP of them in a column, and multiplied in half precision.
//
// A is M x K and C is M x N, row-major. B is K x N: element (k, n) is (q - 8) * scale[k / GROUP][n], and q is in the bits
// 4 * (k % 8) to 4 * (k % 8) + 3 of the word [k / 8][n]: eight rows of a column are one word.
// The sub-group unpacks TK x TN weights to local memory, where they are a matrix to load. So
//   global size = (N / TN * sub-group size, M / (TM * MM)),  local size = (sub-group size, 1),
// and M, N and K are multiples of TM * MM, TN and TK, GROUP of TK: each unpacked tile is multiplied MM times.
//
// Set with -D: TM, TN, TK (the tile, a combination of the device), MM, GROUP.

#ifndef TM
#define TM 8
#define TN 16
#endif
#ifndef TK
#define TK 16
#endif
#ifndef MM
#define MM 2
#endif
#ifndef GROUP
#define GROUP 32
#endif

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef half matrix_a MATRIX(TM, TK, A);
typedef half matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

kernel void gemm(global const half *A, global const uint *B, global const half *scale, global float *C, int N, int K)
{
    local half weights[TK * TN];
    const size_t row = get_group_id(1) * (TM * MM), column = get_group_id(0) * TN;

    matrix_c c[MM];
    for (int i = 0; i < MM; i++)
        c[i] = coop_mat_init(0);

    for (int k = 0; k < K; k += TK) {
        // Neighbouring work-items unpack neighbouring columns. What the last round reads must have been read.
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        for (int at = get_local_id(0); at < TK / 8 * TN; at += get_local_size(0)) {
            int n = at % TN, eight = at / TN;
            uint word = B[(size_t)(k / 8 + eight) * N + column + n];
            half factor = scale[(size_t)(k / GROUP) * N + column + n];
            for (int i = 0; i < 8; i++)
                weights[(eight * 8 + i) * TN + n] = (half)((int)(word >> 4 * i & 15) - 8) * factor;
        }
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);

        matrix_b b = coop_mat_load(weights, ROW_MAJOR, TN);
        for (int i = 0; i < MM; i++) {
            matrix_a a = coop_mat_load(A + (row + i * TM) * K + k, ROW_MAJOR, K);
            c[i] = coop_matmul_add(a, b, c[i], CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
        }
    }
    for (int i = 0; i < MM; i++)
        coop_mat_store(C + (row + i * TM) * N + column, c[i], ROW_MAJOR, N);
}
