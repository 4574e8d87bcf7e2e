// C = A * B on floats with blocks of B in local memory, for processors with wide vectors such as AVX-512.
//
// A is M x K, B is K x N and C is M x N, row-major; M, N and K are multiples of TM, TN and TK: pad with zeros where
// they are not. A work-group is one sub-group of 16 work-items and computes up to `rows` rows, a multiple of TM, and
// NB columns of C, so
//   global size = (ceil(N / NB) * 16, ceil(M / rows)),  local size = (16, 1).
// `rows` decides how many work-groups there are: M / threads makes one for each thread and NB columns.
//
// For each KC rows of B the work-group copies KC x NB elements of B into local memory, tile by tile, and multiplies them
// by KC columns of A, MC rows at a time. Elements of A are read one by one where they are: a copy costs more than it
// gains. A tile of C, TM x TN, fills half of the vector registers and stays there for KC steps; what is in memory is
// added at their end, so that the processor need not wait for it before.
//
// Set with -D: TM and TN (the tile of C), TK (steps at a time), KC, a multiple of TK, MC, one of TM, and NB, one of TN
// (KC x NB elements of B should fill half of the second-level cache).

#ifndef TM
#define TM 8
#define TN 32
#endif
#ifndef TK
#define TK 4
#endif
#ifndef KC
#define KC 1024
#endif
#ifndef MC
#define MC 16
#endif
#ifndef NB
#define NB 256
#endif

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef float matrix_a MATRIX(TM, TK, A);
typedef float matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

// `depth` x `width` elements of B into local memory: columns of tiles one after the other, each from top to bottom.
void copy_b(global const float *B, int N, int depth, int width, local float *tiles)
{
    for (int k = 0; k < depth; k += TK)
        for (int n = 0; n < width; n += TN) {
            matrix_b b = coop_mat_load(B + (size_t)k * N + n, ROW_MAJOR, N);
            coop_mat_store(tiles + n * KC + k * TN, b, ROW_MAJOR, TN);
        }
}

// A tile of C: TM x `depth` elements of A times `depth` x TN of B, added to C unless these are the first.
void multiply(global const float *A, int K, local const float *b, int depth, global float *C, int N, bool is_first)
{
    matrix_c c = coop_mat_init(0);
    for (int k = 0; k < depth; k += TK) {
        matrix_b b_tile = coop_mat_load(b + k * TN, ROW_MAJOR, TN);
        matrix_a a_tile = coop_mat_load(A + k, ROW_MAJOR, K);
        c = coop_matmul_add(a_tile, b_tile, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
    }
    if (!is_first) {
        matrix_c others = coop_mat_load(C, ROW_MAJOR, N);
        c = c + others;
    }
    coop_mat_store(C, c, ROW_MAJOR, N);
}

__attribute__((reqd_work_group_size(16, 1, 1)))
__attribute__((intel_reqd_sub_group_size(16)))
kernel void gemm(global const float *A, global const float *B, global float *C, int M, int N, int K, int rows)
{
    local float b_tiles[KC * NB];
    const int first_row = get_group_id(1) * rows, last_row = min(first_row + rows, M);
    const int column = get_group_id(0) * NB, width = min(NB, N - column);

    for (int start = 0; start < K; start += KC) {
        const int depth = min(KC, K - start);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        copy_b(B + (size_t)start * N + column, N, depth, width, b_tiles);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        for (int row = first_row; row < last_row; row += MC) {
            const int height = min(MC, last_row - row);
            for (int n = 0; n < width; n += TN)
                for (int m = 0; m < height; m += TM)
                    multiply(A + (size_t)(row + m) * K + start, K, b_tiles + n * KC, depth,
                             C + (size_t)(row + m) * N + column + n, N, start == 0);
        }
    }
}
