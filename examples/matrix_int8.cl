// C = A * B for 8-bit integers with 32-bit sums: kernels in the manner of a matrix library's experiments.
//
// A is M x K, B is K x N, C is M x N. include/one_tile.h explains the kernels; here stands what is special
// about the type. coopmat run examples/matrix_int8.cl --kernel packed_m8_n16 …, see README.md.

#include "include/sub_group.h"

#define ELEMENT char
#define RESULT int
#define TK 32
#define PER_WORD 4

// A row of the tile has 32 bytes: 2 for each of 16 work-items, 4 for each of 8.
#if TN == 16
#define A_PART short
#define A_BLOCK_READ(pointer) as_short(intel_sub_group_block_read_us((global const ushort *)(pointer)))
#else
#define A_PART int
#define A_BLOCK_READ(pointer) as_int(intel_sub_group_block_read((global const uint *)(pointer)))
#endif
#define A_TILE(rows) VECTOR(A_PART, rows)
#define A_ROW(i) (i)
#define A_COLUMN (lane() * TK / TN)
#define B_TILE int8

#define ELEMENT_BLOCK_READ(pointer) as_char(intel_sub_group_block_read_uc((global const uchar *)(pointer)))

#define A_WORD_2D ushort
#define A_READ_2D(what, rows) CAT(CAT(intel_sub_group_2d_block_##what##_8b_, rows), r32x1c)
#define B_READ_2D intel_sub_group_2d_block_read_transform_8b_32r16x1c
#define B_PREFETCH_2D intel_sub_group_2d_block_prefetch_8b_32r16x1c

#ifdef EMULATE
#define MAD emulated_mad

static int mad_word(uint a, uint b, int c)
{
    return c + dot(as_char4(a), as_char4(b));
}

#include "include/row_words.h"
#else
#define MAD intel_sub_group_i8_i8_matrix_mad_k32
#endif

#include "include/matrix_kernels.h"
