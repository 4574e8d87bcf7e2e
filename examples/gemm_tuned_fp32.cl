// C = A * B on floats with blocks of A and B in local memory, for processors with wide vectors such as AVX-512.
//
// A is M x K, B is K x N and C is M x N, row-major; M, N and K are multiples of TM, TN and TK: pad with zeros where
// they are not. A work-group is one sub-group of 16 work-items and computes up to `rows` rows, a multiple of TM, and
// NB columns of C, so
//   global size = (ceil(N / NB) * 16, ceil(M / rows)),  local size = (16, 1).
// `rows` decides how many work-groups there are: M / threads makes one for each thread and NB columns.
//
// For each KC rows of B the work-group copies KC x NB elements of B into local memory, tile by tile, then, for each MC
// rows, MC x KC elements of A, and multiplies both; elements of A are read one by one. A tile of C, TM x TN, fills half
// of the vector registers and stays there for KC steps, while what is added to it comes into the caches. The copy's rows
// are a cache line longer than KC: rows whose distance is a power of two push each other out of the caches.
//
// Set with -D: TM and TN (the tile of C), TK (steps at a time), KC, a multiple of TK, MC, one of TM (MC x KC elements of
// A should fit into the first-level cache, or nearly so), and NB, one of TN (KC x NB elements of B should fill half of the
// second-level cache).

#ifndef TM
#define TM 8
#define TN 32
#endif
#ifndef TK
#define TK 4
#endif
#ifndef KC
#define KC 512
#endif
#ifndef MC
#define MC 24
#endif
#ifndef NB
#define NB 512
#endif

#define A_STRIDE (KC + 16)

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

// `height` x `depth` elements of A into local memory.
void copy_a(global const float *A, int K, int height, int depth, local float *rows)
{
    const int lane = get_local_id(0);
    for (int row = 0; row < height; row++)
        for (int k = 0; k < depth; k += 16)
            if (k + lane < depth)
                rows[row * A_STRIDE + k + lane] = A[(size_t)row * K + k + lane];
}

// Ask for a tile of C: each work-item for a cache line of 16 elements.
void ask_for(global const float *C, int N)
{
    for (int line = get_local_id(0); line < TM * TN / 16; line += 16)
        prefetch(C + (size_t)(line / (TN / 16)) * N + line % (TN / 16) * 16, 1);
}

// A tile of C: TM x `depth` elements of A times `depth` x TN of B, added to C unless these are the first. C is asked for
// first, and read last: the processor need not wait for it.
void multiply(local const float *a, local const float *b, int depth, global float *C, int N, bool is_first)
{
    if (!is_first)
        ask_for(C, N);
    matrix_c c = coop_mat_init(0);
    for (int k = 0; k < depth; k += TK) {
        matrix_b b_tile = coop_mat_load(b + k * TN, ROW_MAJOR, TN);
        matrix_a a_tile = coop_mat_load(a + k, ROW_MAJOR, A_STRIDE);
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
    local float a_rows[MC * A_STRIDE];
    local float b_tiles[KC * NB];
    const int first_row = get_group_id(1) * rows, last_row = min(first_row + rows, M);
    const int column = get_group_id(0) * NB, width = min(NB, N - column);

    for (int start = 0; start < K; start += KC) {
        const int depth = min(KC, K - start);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        copy_b(B + (size_t)start * N + column, N, depth, width, b_tiles);
        for (int row = first_row; row < last_row; row += MC) {
            const int height = min(MC, last_row - row);
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            copy_a(A + (size_t)row * K + start, K, height, depth, a_rows);
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            for (int n = 0; n < width; n += TN)
                for (int m = 0; m < height; m += TM)
                    multiply(a_rows + m * A_STRIDE, b_tiles + n * KC, depth, C + (size_t)(row + m) * N + column + n, N,
                             start == 0);
        }
    }
}
