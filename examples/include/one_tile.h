// C = A * B, one tile of TM x TN for each sub-group: the same loop with four ways to read A and B.
//
// The matrix instruction works on 256 bits of a row of A and of a column of B at a time: TK elements, eight
// words of 32 bits. Which work-item passes what to it:
//   a  one component for each row, TK / TN elements of it (tf32 is different, see matrix_tf32.cl)
//   b  the eight words of column lane(); where a word has several elements, the first is the lowest
//   c  one component for each row, the element in column lane()
//
// A and C are row-major. B is row-major, or packed: then PER_WORD rows lie interleaved in one row of N words,
// and each word is what a work-item needs (the "VNNI" layout). M, N and K are multiples of TM, TN and TK.
// Global size = (N, M / TM), local size = (TN, 1).
//
// The file that includes this has defined TM, TK, PER_WORD (elements in a word), ELEMENT and RESULT (types),
// A_PART (the type of one component of a), A_TILE(rows) and B_TILE (the types of a and b), A_ROW(i) and
// A_COLUMN (where component i lies in the tile), MAD(a, b, c) and mad_word() for its emulation.

#ifdef EMULATE
// Word j of each row of A goes to everybody, who multiply it with word j of their column.
OVERLOADED VECTOR(RESULT, TM) emulated_mad(A_TILE(TM) a, B_TILE b, VECTOR(RESULT, TM) c)
{
    RESULT *sum = (RESULT *)&c;
    for (int row = 0; row < TM; ++row)
        for (int j = 0; j < 8; ++j)
            sum[row] = mad_word(word_of_row((A_PART *)&a, row, j), ((uint *)&b)[j], sum[row]);
    return c;
}
#endif

// ------------------------------------------------------------------ plain loads

static A_TILE(TM) FUNCTION(load_a)(global const ELEMENT *A, int K)
{
    A_TILE(TM) a;
    for (int i = 0; i < sizeof(a) / sizeof(A_PART); ++i)
        ((A_PART *)&a)[i] = *(global const A_PART *)(A + A_ROW(i) * K + A_COLUMN);
    return a;
}

OVERLOADED void store_c(global RESULT *C, VECTOR(RESULT, TM) c, int N)
{
    for (int i = 0; i < TM; ++i)
        C[i * N + lane()] = ((RESULT *)&c)[i];
}

SUB_GROUP __attribute__((reqd_work_group_size(TN, 1, 1)))
kernel void KERNEL(rowmajor)(global const ELEMENT *A, global const ELEMENT *B, global RESULT *C, int N, int K)
{
    const size_t row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    VECTOR(RESULT, TM) c = 0;
    for (int k = 0; k < K; k += TK)
        c = MAD(FUNCTION(load_a)(A + row * K + k, K), load_b_rowmajor(B + (size_t)k * N + column, N), c);
    store_c(C + row * N + column, c, N);
}

SUB_GROUP __attribute__((reqd_work_group_size(TN, 1, 1)))
kernel void KERNEL(packed)(global const ELEMENT *A, global const uint *B, global RESULT *C, int N, int K)
{
    const size_t row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    VECTOR(RESULT, TM) c = 0;
    for (int k = 0; k < K; k += TK)
        c = MAD(FUNCTION(load_a)(A + row * K + k, K), load_b_packed(B + (size_t)k / PER_WORD * N + column, N), c);
    store_c(C + row * N + column, c, N);
}

// ------------------------------------------------------------------ block reads
//
// A block read is one message for the whole sub-group: work-item l gets element l of what the pointer, the
// same for all, points to.

#ifdef cl_intel_subgroups

static A_TILE(TM) FUNCTION(block_load_a)(global const ELEMENT *A, int K)
{
#ifdef A_BLOCK_READ
    A_TILE(TM) a;
    for (int i = 0; i < TM; ++i)
        ((A_PART *)&a)[i] = A_BLOCK_READ(A + i * K);
    return a;
#else
    return FUNCTION(load_a)(A, K);
#endif
}

OVERLOADED void block_store_c(global RESULT *C, VECTOR(RESULT, TM) c, int N)
{
    for (int i = 0; i < TM; ++i)
        intel_sub_group_block_write((global uint *)(C + i * N), ((uint *)&c)[i]);
}

SUB_GROUP __attribute__((reqd_work_group_size(TN, 1, 1)))
kernel void KERNEL(blocks_rowmajor)(global const ELEMENT *A, global const ELEMENT *B, global RESULT *C, int N, int K)
{
    const size_t row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    VECTOR(RESULT, TM) c = 0;
    for (int k = 0; k < K; k += TK)
        c = MAD(FUNCTION(block_load_a)(A + row * K + k, K), block_load_b_rowmajor(B + (size_t)k * N + column, N), c);
    block_store_c(C + row * N + column, c, N);
}

SUB_GROUP __attribute__((reqd_work_group_size(TN, 1, 1)))
kernel void KERNEL(blocks_packed)(global const ELEMENT *A, global const uint *B, global RESULT *C, int N, int K)
{
    const size_t row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    VECTOR(RESULT, TM) c = 0;
    for (int k = 0; k < K; k += TK)
        c = MAD(FUNCTION(block_load_a)(A + row * K + k, K),
                block_load_b_packed(B + (size_t)k / PER_WORD * N + column, N), c);
    block_store_c(C + row * N + column, c, N);
}

#endif

// ------------------------------------------------------------------ two-dimensional block reads
//
// They read a rectangle of a matrix of which they know width and pitch (in bytes) and height. What lies outside
// is zero, so any M will do here. The transform packs row-major B on the way. The prefetch of the next tiles may
// run past the matrices' ends. A row of A, B or C must have at least 64 bytes, and a multiple of 16.

#if defined(cl_intel_subgroup_2d_block_io) && TN == 16

SUB_GROUP __attribute__((reqd_work_group_size(TN, 1, 1)))
kernel void KERNEL(blocks_2d)(global const ELEMENT *A, global const ELEMENT *B, global RESULT *C, int M, int N, int K)
{
    const int row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    const int a_pitch = K * sizeof(ELEMENT), b_pitch = N * sizeof(ELEMENT), c_pitch = N * sizeof(RESULT);
    global void *a_base = (global void *)A, *b_base = (global void *)B;  // the functions take no const pointers
    VECTOR(RESULT, TM) c = 0;
    for (int k = 0; k < K; k += TK) {
        A_TILE(TM) a;
        B_TILE b;
        A_READ_2D(read, TM)(a_base, a_pitch, M, a_pitch, (int2)(k, row), (private A_WORD_2D *)&a);
        B_READ_2D(b_base, b_pitch, K, b_pitch, (int2)(column, k), (private uint *)&b);
        A_READ_2D(prefetch, TM)(a_base, a_pitch, M, a_pitch, (int2)(k + TK, row));
        B_PREFETCH_2D(b_base, b_pitch, K, b_pitch, (int2)(column, k + TK));
        c = MAD(a, b, c);
    }
    CAT(CAT(intel_sub_group_2d_block_write_32b_, TM), r16x1c)(C, c_pitch, M, c_pitch, (int2)(column, row), (private uint *)&c);
}

#endif
