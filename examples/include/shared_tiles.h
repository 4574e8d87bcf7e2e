// C = A * B through local memory: SX x SY sub-groups work on SX * TN columns and SY * TM rows of C together.
//
// For each step of k the work-group copies a slab of A and a slab of packed B to local memory, where SX (SY)
// sub-groups read each of its words. There are two copies of the slabs: while one is read, the other is filled.
//
// A split barrier waits for the others in two steps. With "arrive" a work-item says that what it wrote is
// there; it returns at once. "wait" returns when all have arrived. What stands between the two, here the next
// reads from global memory, overlaps with the waiting.
// Global size = (N, M / TM), local size = (SX * TN, SY).

#define SX 2
#define SY 2
#define A_WORDS (SY * TM * 8)   // eight words of each row
#define B_WORDS (8 * SX * TN)   // eight rows of words
#define WORK_ITEMS (SX * TN * SY)

#ifdef cl_intel_split_work_group_barrier
#define ARRIVE() intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE)
#define WAIT() intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE)
#else
#define ARRIVE()
#define WAIT() barrier(CLK_LOCAL_MEM_FENCE)
#endif

SUB_GROUP __attribute__((reqd_work_group_size(SX * TN, SY, 1)))
kernel void KERNEL(shared)(global const ELEMENT *A, global const uint *B, global RESULT *C, int N, int K)
{
    local uint a_slab[2][A_WORDS], b_slab[2][B_WORDS];
    uint a_words[A_WORDS / WORK_ITEMS], b_words[B_WORDS / WORK_ITEMS];  // on their way from global to local memory

    const size_t row = get_group_id(1) * TM * SY, column = get_group_id(0) * TN * SX;
    const int item = get_local_id(1) * get_local_size(0) + get_local_id(0);
    const int my_row = get_local_id(1) * TM, my_column = get_local_id(0);
    VECTOR(RESULT, TM) c = 0;

    for (int k = -TK, full = 1; k < K; k += TK, full = 1 - full) {
        // Slab `full` is being filled by everybody, unless this is the first round. Slab `1 - full` has been read.
        ARRIVE();
        const int next = k + TK;
        if (next < K) {
            for (int i = 0, w = item; w < A_WORDS; ++i, w += WORK_ITEMS)
                a_words[i] = ((global const uint *)(A + (row + w / 8) * K + next))[w % 8];
            for (int i = 0, w = item; w < B_WORDS; ++i, w += WORK_ITEMS)
                b_words[i] = B[((size_t)next / PER_WORD + w / (SX * TN)) * N + column + w % (SX * TN)];
        }
        WAIT();
        if (next < K) {
            for (int i = 0, w = item; w < A_WORDS; ++i, w += WORK_ITEMS)
                a_slab[1 - full][w] = a_words[i];
            for (int i = 0, w = item; w < B_WORDS; ++i, w += WORK_ITEMS)
                b_slab[1 - full][w] = b_words[i];
        }
        if (k >= 0) {
            A_TILE(TM) a;
            B_TILE b;
            for (int i = 0; i < sizeof(a) / sizeof(A_PART); ++i)
                ((A_PART *)&a)[i] = *(local const A_PART *)((local const ELEMENT *)a_slab[full]
                                                            + (my_row + A_ROW(i)) * TK + A_COLUMN);
            for (int j = 0; j < 8; ++j)
                ((uint *)&b)[j] = b_slab[full][j * SX * TN + my_column];
            c = MAD(a, b, c);
        }
    }
    store_c(C + (row + my_row) * N + column + my_column - lane(), c, N);
}
