// C = A * B for floats, multiplied as tf32 (10 bits of mantissa): kernels in the manner of a matrix library's
// experiments.
//
// A is M x K, B is K x N, C is M x N. include/one_tile.h explains the kernels; here stands what is special
// about the type. The instruction looks at the upper 19 bits of a float and drops the others, so the operands
// are rounded to the nearest tf32 before. It exists for sub-groups of 16 only.

#ifndef TN
#define TN 16
#endif
#if TN != 16
#error tf32 needs sub-groups of 16
#endif

#if !defined(cl_intel_subgroup_matrix_multiply_accumulate_tf32) && !defined(EMULATE)
#define EMULATE
#endif
#include "include/sub_group.h"

#define ELEMENT float
#define RESULT float
#define TK 8
#define PER_WORD 1

// A row of the tile has 8 elements, so 16 work-items hold two rows at a time: work-items 0 to 7 row 2 * i in
// component i, work-items 8 to 15 row 2 * i + 1. With a single row, the upper eight are ignored.
#define A_PART float
#define A_TILE(rows) CAT(A_TILE_, rows)
#define A_TILE_1 float
#define A_TILE_2 float
#define A_TILE_4 float2
#define A_TILE_8 float4
#define A_ROW(i) (TM == 1 ? 0 : 2 * (i) + lane() / 8)
#define A_COLUMN (lane() % 8)
#define B_TILE float8

#define ELEMENT_BLOCK_READ(pointer) as_float(intel_sub_group_block_read((global const uint *)(pointer)))

#define A_WORD_2D uint
#define A_READ_2D(what, rows) CAT(CAT(intel_sub_group_2d_block_##what##_32b_, rows), r8x1c)
#define B_READ_2D intel_sub_group_2d_block_read_32b_8r16x1c
#define B_PREFETCH_2D intel_sub_group_2d_block_prefetch_32b_8r16x1c

#ifdef EMULATE
#define MAD emulated_mad

// To nearest, ties to even. Infinity stays; so does a NaN, unless all its set bits are among those that go.
static float round_to_tf32(uint bits)
{
    if ((bits & 0x7f800000) != 0x7f800000)
        bits += 0xfff + (bits >> 13 & 1);
    return as_float(bits & 0xffffe000);
}

static float mad_word(uint a, uint b, float c)
{
    return fma(round_to_tf32(a), round_to_tf32(b), c);
}

static uint word_of_row(const A_PART *a, int row, int j)
{
    return sub_group_shuffle(as_uint(a[row / 2]), lane_of(row % 2 * 8 + j));
}
#else
#define MAD(a, b, c) intel_sub_group_tf32_tf32_matrix_mad_k8(ROUND_A(a), intel_convert_tfloat328_as_float8(b), c)
#define ROUND_A(a) CAT(ROUND_A_, TM)(a)
#define ROUND_A_1 intel_convert_tfloat32_as_float
#define ROUND_A_2 intel_convert_tfloat32_as_float
#define ROUND_A_4 intel_convert_tfloat322_as_float2
#define ROUND_A_8 intel_convert_tfloat324_as_float4
#endif

#include "include/matrix_kernels.h"
