// C = A * B for bfloat16 with float sums: kernels in the manner of a matrix library's experiments.
//
// A is M x K, B is K x N, C is M x N. include/one_tile.h explains the kernels; here stands what is special
// about the type. A bfloat16 is the upper half of a float; OpenCL C passes it around as a ushort.

#include "include/sub_group.h"

#define ELEMENT ushort
#define RESULT float
#define TK 16
#define PER_WORD 2

// A row of the tile has 16 elements: 1 for each of 16 work-items, 2 for each of 8.
#if TN == 16
#define A_PART short
#define A_BLOCK_READ(pointer) as_short(intel_sub_group_block_read_us(pointer))
#else
#define A_PART int
#define A_BLOCK_READ(pointer) as_int(intel_sub_group_block_read((global const uint *)(pointer)))
#endif
#define A_TILE(rows) VECTOR(A_PART, rows)
#define A_ROW(i) (i)
#define A_COLUMN (lane() * TK / TN)
#define B_TILE int8

#define ELEMENT_BLOCK_READ(pointer) intel_sub_group_block_read_us(pointer)

#define A_WORD_2D ushort
#define A_READ_2D(what, rows) CAT(CAT(intel_sub_group_2d_block_##what##_16b_, rows), r16x1c)
#define B_READ_2D intel_sub_group_2d_block_read_transform_16b_16r16x1c
#define B_PREFETCH_2D intel_sub_group_2d_block_prefetch_16b_16r16x1c

#ifdef EMULATE
#define MAD emulated_mad

static float mad_word(uint a, uint b, float c)
{
    c = fma(as_float(a << 16), as_float(b << 16), c);
    return fma(as_float(a & 0xffff0000), as_float(b & 0xffff0000), c);
}

#include "include/row_words.h"
#else
#define MAD intel_sub_group_bf16_bf16_matrix_mad_k16
#endif

#include "include/matrix_kernels.h"
