// C = A * B with blocks of A and B in local memory, for processors with matrix instructions such as AMX.
//
// A is M x K, B is K x N and C is M x N, row-major; M and N are multiples of 32, K of TK: pad with zeros where they
// are not. A work-group is one sub-group of 16 work-items and computes up to `rows` rows, a multiple of 32, and NB
// columns of C, so
//   global size = (ceil(N / NB) * 16, ceil(M / rows)),  local size = (16, 1).
// `rows` decides how many work-groups there are: M / threads makes one for each thread and NB columns.
//
// For each KC rows of B the work-group
//   1. packs KC x NB elements of B into local memory, tile by tile, as the matrix instruction takes them;
//   2. for each 32 rows of A copies 32 x KC elements of A into local memory, tile by tile,
//      and multiplies both, 2 x 2 tiles of C at a time, whose sums stay in registers for KC steps.
// B is packed once instead of at every load, the copies are read from the nearest caches, each load brings whole
// cache lines, and C is read and written once for KC steps.
//
// Set with -D: IN and OUT (element types; those of IN have 8 or 16 bits), TK (64 bytes of IN), FLAGS (which operands
// are signed), KC, a multiple of TK, and NB, one of 32 (KC x NB elements of B should take half of the second-level
// cache).

#ifndef IN
#define IN char
#define OUT int
#define TK 64
#define FLAGS                                            \
    (CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED |    \
     CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED)
#endif
#ifndef FLAGS
#define FLAGS CLK_COOPERATIVE_MATRIX_OPERAND_NONE
#endif
#ifndef KC
#define KC (32 * TK)
#endif
#ifndef NB
#define NB 512
#endif

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define PACKED CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL
#define TOGETHER (4 / sizeof(IN))  // elements of a 32-bit word
#define WORDS 16                   // of a row of a tile of A, one for each work-item
#define TILE_A (16 * TK)           // elements

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef IN matrix_a MATRIX(16, TK, A);
typedef IN matrix_b MATRIX(TK, 16, B);
typedef OUT matrix_c MATRIX(16, 16, ACCUMULATOR);

// `depth` x `width` elements of B into local memory: columns of tiles one after the other, each from top to bottom.
void pack_b(global const IN *B, int N, int depth, int width, local IN *tiles)
{
    for (int k = 0; k < depth; k += TK)
        for (int n = 0; n < width; n += 16) {
            matrix_b b = coop_mat_load(B + (size_t)k * N + n, ROW_MAJOR, N);
            coop_mat_store(tiles + n * KC + k * 16, b, PACKED, 16 * TOGETHER);
        }
}

// 32 x `depth` elements of A into local memory: pairs of tiles, one above the other, from left to right.
void copy_a(global const IN *A, int K, int depth, local IN *tiles)
{
    const int lane = get_local_id(0);
    for (int row = 0; row < 32; row++) {
        global const uint *source = (global const uint *)(A + (size_t)row * K);
        local uint *target = (local uint *)(tiles + row / 16 * TILE_A + row % 16 * TK);
        for (int k = 0; k < depth / TK; k++)
            target[k * (2 * 16 * WORDS) + lane] = source[k * WORDS + lane];
    }
}

// 2 x 2 tiles of C: 32 x `depth` elements of A times `depth` x 32 of B, added to C unless these are the first.
void multiply(local const IN *a, local const IN *b, int depth, global OUT *C, int N, bool is_first)
{
    global OUT *lower = C + (size_t)16 * N;
    matrix_c c00, c01, c10, c11;
    if (is_first) {
        c00 = coop_mat_init(0);
        c01 = coop_mat_init(0);
        c10 = coop_mat_init(0);
        c11 = coop_mat_init(0);
    } else {
        c00 = coop_mat_load(C, ROW_MAJOR, N);
        c01 = coop_mat_load(C + 16, ROW_MAJOR, N);
        c10 = coop_mat_load(lower, ROW_MAJOR, N);
        c11 = coop_mat_load(lower + 16, ROW_MAJOR, N);
    }
    for (int k = 0; k < depth; k += TK) {
        matrix_b b0 = coop_mat_load(b + k * 16, PACKED, 16 * TOGETHER);
        matrix_b b1 = coop_mat_load(b + 16 * KC + k * 16, PACKED, 16 * TOGETHER);
        matrix_a a0 = coop_mat_load(a + k * 32, ROW_MAJOR, TK);
        c00 = coop_matmul_add(a0, b0, c00, FLAGS);
        c01 = coop_matmul_add(a0, b1, c01, FLAGS);
        matrix_a a1 = coop_mat_load(a + k * 32 + TILE_A, ROW_MAJOR, TK);
        c10 = coop_matmul_add(a1, b0, c10, FLAGS);
        c11 = coop_matmul_add(a1, b1, c11, FLAGS);
    }
    coop_mat_store(C, c00, ROW_MAJOR, N);
    coop_mat_store(C + 16, c01, ROW_MAJOR, N);
    coop_mat_store(lower, c10, ROW_MAJOR, N);
    coop_mat_store(lower + 16, c11, ROW_MAJOR, N);
}

__attribute__((reqd_work_group_size(16, 1, 1)))
__attribute__((intel_reqd_sub_group_size(16)))
kernel void gemm(global const IN *A, global const IN *B, global OUT *C, int M, int N, int K, int rows)
{
    local IN a_tiles[32 * KC];
    local IN b_tiles[KC * NB];
    const int first_row = get_group_id(1) * rows, last_row = min(first_row + rows, M);
    const int column = get_group_id(0) * NB, width = min(NB, N - column);

    for (int start = 0; start < K; start += KC) {
        const int depth = min(KC, K - start);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        pack_b(B + (size_t)start * N + column, N, depth, width, b_tiles);
        for (int row = first_row; row < last_row; row += 32) {
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            copy_a(A + (size_t)row * K + start, K, depth, a_tiles);
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            for (int n = 0; n < width; n += 32)
                multiply(a_tiles, b_tiles + n * KC, depth, C + (size_t)row * N + column + n, N, start == 0);
        }
    }
}
