// C = C + A * B for 8-bit integers without matrix hardware: a work-item per element of C, and an instruction
// for four products.
//
// A is M x K, row-major, so four elements of a row are a word. B is K x N, packed: four rows lie interleaved
// in one row of N words, so four elements of a column are a word, too. The sum is clamped to the range of int
// (or uint) after each word instead of running over. K is a multiple of 4.
// Global size = (N, M).

#define DOT_PRODUCTS(name, result, dot_acc_sat)                                                     \
    kernel void name(global const uint *A, global const uint *B, global result *C, int N, int K)    \
    {                                                                                               \
        const size_t row = get_global_id(1), column = get_global_id(0), words = K / 4;              \
        result c = C[row * N + column];                                                             \
        for (size_t i = 0; i < words; ++i)                                                          \
            c = dot_acc_sat(A[row * words + i], B[i * N + column], c);                              \
        C[row * N + column] = c;                                                                    \
    }

DOT_PRODUCTS(signed_signed, int, dot_acc_sat_4x8packed_ss_int)
DOT_PRODUCTS(unsigned_signed, int, dot_acc_sat_4x8packed_us_int)  // as in quantised networks: A >= 0
DOT_PRODUCTS(signed_unsigned, int, dot_acc_sat_4x8packed_su_int)
DOT_PRODUCTS(unsigned_unsigned, uint, dot_acc_sat_4x8packed_uu_uint)
