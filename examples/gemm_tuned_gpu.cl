// C = A * B with blocks of A and B in local memory, for GPUs whose sub-groups have matrix instructions.
//
// A is M x K, B is K x N and C is M x N, row-major; M, N and K are multiples of TM, TN and TK: pad with zeros where they
// are not. A work-group computes TM x TN elements of C, and each of its sub-groups WM x WN of them, so
//   global size = (N / TN * ITEMS, M / TM),  local size = (ITEMS, 1),  ITEMS = TM / WM * (TN / WN) * sub-group size.
//
// While one block is multiplied, the next two are on their way: one goes from every work-item's registers to the other
// half of local memory, the other one from memory into these registers. Lines in local memory are 16 bytes longer than
// they must be, so that the lines that a sub-group loads at once begin in different banks.
//
// Set with -D: TM, TN, TK, WM, WN, ITEMS, SUB_GROUP_SIZE; IN is an element type of 16 bits, OUT that of C. As they are, it
// takes 106 KiB of local memory; with TK=32, half of it. With BUFFERS=1 there is no other half of local memory: a block
// waits in registers until the one before is no longer needed (27 KiB with TM=128, TN=256, TK=32).

#ifndef IN
#define IN half
#endif
#ifndef OUT
#define OUT float
#endif
#ifndef TM
#define TM 256
#endif
#ifndef TN
#define TN 128
#endif
#ifndef TK
#define TK 64
#endif
#ifndef WM
#define WM 64
#endif
#ifndef WN
#define WN 64
#endif
#ifndef ITEMS
#define ITEMS 256
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef SUB_GROUP_SIZE
#define SUB_GROUP_SIZE 32
#endif

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef IN matrix_a MATRIX(WM, 16, A);
typedef IN matrix_b MATRIX(16, WN, B);
typedef OUT matrix_c MATRIX(WM, WN, ACCUMULATOR);

#define TOGETHER 8  // elements of 16 bytes
#define LINE_A (TK + TOGETHER)
#define LINE_B (TN + TOGETHER)
#define PARTS_A (TM * TK / TOGETHER / ITEMS)  // of a work-item
#define PARTS_B (TK * TN / TOGETHER / ITEMS)

// A work-item's part of a block, whose lines have `width` elements, from memory into registers.
#define LOAD(parts, count, from, width, stride)                                                                 \
    for (int i = 0; i < count; i++) {                                                                           \
        const int place = (i * ITEMS + item) * TOGETHER;                                                        \
        parts[i] = *(global const uint4 *)(from + (size_t)(place / (width)) * (stride) + place % (width));      \
    }

// The same from registers into local memory.
#define LEAVE(parts, count, to, width, line)                                             \
    for (int i = 0; i < count; i++) {                                                    \
        const int place = (i * ITEMS + item) * TOGETHER;                                 \
        *(local uint4 *)(to + place / (width) * (line) + place % (width)) = parts[i];    \
    }

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void gemm(global const IN *A, global const IN *B, global OUT *C, int N, int K)
{
    local IN a_blocks[BUFFERS][TM * LINE_A] __attribute__((aligned(16)));
    local IN b_blocks[BUFFERS][TK * LINE_B] __attribute__((aligned(16)));
    const int item = get_local_id(0);
    const int sub_group = get_sub_group_id();
    const int row = sub_group / (TN / WN) * WM, column = sub_group % (TN / WN) * WN;
    global const IN *a_from = A + (size_t)get_group_id(1) * TM * K;
    global const IN *b_from = B + get_group_id(0) * TN;
    uint4 a_parts[PARTS_A], b_parts[PARTS_B];
    const int last = K - TK;

    LOAD(a_parts, PARTS_A, a_from, TK, K)
    LOAD(b_parts, PARTS_B, b_from, TN, N)
#if BUFFERS == 2
    LEAVE(a_parts, PARTS_A, a_blocks[0], TK, LINE_A)
    LEAVE(b_parts, PARTS_B, b_blocks[0], TN, LINE_B)
    LOAD(a_parts, PARTS_A, a_from + min(TK, last), TK, K)
    LOAD(b_parts, PARTS_B, b_from + (size_t)min(TK, last) * N, TN, N)
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

    matrix_c c = coop_mat_init(0);
    for (int k = 0, half_ = 0; k < K; k += TK, half_ ^= BUFFERS - 1) {
#if BUFFERS == 1
        LEAVE(a_parts, PARTS_A, a_blocks[0], TK, LINE_A)
        LEAVE(b_parts, PARTS_B, b_blocks[0], TN, LINE_B)
        barrier(CLK_LOCAL_MEM_FENCE);
        const int next = min(k + TK, last);
        LOAD(a_parts, PARTS_A, a_from + next, TK, K)
        LOAD(b_parts, PARTS_B, b_from + (size_t)next * N, TN, N)
#endif
        for (int step = 0; step < TK; step += 16) {
            matrix_a a = coop_mat_load(a_blocks[half_] + row * LINE_A + step, ROW_MAJOR, LINE_A);
            matrix_b b = coop_mat_load(b_blocks[half_] + step * LINE_B + column, ROW_MAJOR, LINE_B);
            c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
#if BUFFERS == 2
            if (step == 0) {
                const int next = min(k + 2 * TK, last);
                LEAVE(a_parts, PARTS_A, a_blocks[half_ ^ 1], TK, LINE_A)
                LEAVE(b_parts, PARTS_B, b_blocks[half_ ^ 1], TN, LINE_B)
                LOAD(a_parts, PARTS_A, a_from + next, TK, K)
                LOAD(b_parts, PARTS_B, b_from + (size_t)next * N, TN, N)
            }
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    coop_mat_store(C + ((size_t)get_group_id(1) * TM + row) * N + get_group_id(0) * TN + column, c, ROW_MAJOR, N);
}
