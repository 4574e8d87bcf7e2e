// A convolution as a product of matrices that are nowhere in memory (implicit GEMM): half-precision images and filters,
// sums in float, with bias and ReLU at the end.
//
// The image is H x W pixels of IC channels, in the order row, column, channel, with a border of R / 2 rows and S / 2
// columns of zeros around it; the filters are R x S x IC x OC, the result is H x W x OC.
// For each place (r, s) in a filter, a row of A is a pixel's channels, and neighbouring pixels lie IC elements apart: so
// A is loaded from the image itself, with the stride IC. B is the filter's IC x OC matrix for that place.
// Each sub-group computes TM neighbouring pixels of a row and TN channels, so
//   global size = (OC / TN * sub-group size, W / TM, H),  local size = (sub-group size, 1, 1),
// and W, OC and IC are multiples of TM, TN and TK. bias may be a null pointer.
//
// Set with -D: TM, TN, TK (the tile, a combination of the device), R, S (the filter's size, odd numbers).

#ifndef TM
#define TM 8
#define TN 16
#endif
#ifndef TK
#define TK 16
#endif
#ifndef R
#define R 3
#define S 3
#endif

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

typedef half matrix_a MATRIX(TM, TK, A);
typedef half matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

float biased(uint row, uint column, float x, global const float *bias) { return x + bias[column]; }
float relu(float x) { return fmax(x, 0.0f); }

kernel void convolution(global const half *image, global const half *filters, global const float *bias,
                        global float *result, int W, int IC, int OC)
{
    const size_t y = get_group_id(2), x = get_group_id(1) * TM, channel = get_group_id(0) * TN;
    const size_t pitch = (size_t)(W + S - 1) * IC;  // of a row of the image

    matrix_c c = coop_mat_init(0);
    for (int r = 0; r < R; r++)
        for (int s = 0; s < S; s++) {
            global const half *pixels = image + (y + r) * pitch + (x + s) * IC;
            global const half *filter = filters + (size_t)(r * S + s) * IC * OC + channel;
            for (int k = 0; k < IC; k += TK) {
                matrix_a a = coop_mat_load(pixels + k, ROW_MAJOR, IC);
                matrix_b b = coop_mat_load(filter + (size_t)k * OC, ROW_MAJOR, OC);
                c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
            }
        }

    if (bias)
        c = coop_mat_apply(c, biased, bias + channel);
    c = coop_mat_apply(c, relu);
    coop_mat_store(result + (y * W + x) * OC + channel, c, ROW_MAJOR, OC);
}
