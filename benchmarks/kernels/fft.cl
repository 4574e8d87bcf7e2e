// Fourier transforms of 4096 complex numbers as products with the matrix of the transform of 16, three rounds of them.
//
// A round takes 16 numbers that are `stride` apart to their transform, times the powers of the root that the next rounds
// need: a sub-group has 16 such transforms, those of neighbouring numbers. Real and imaginary parts lie apart. The result
// comes in the order of reversed digits (base 16). root: the 16 x 16 matrix, real part and imaginary part. twiddles: of
// every number, of this round.

#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define NONE CLK_COOPERATIVE_MATRIX_OPERAND_NONE
#define MATRIX(use) \
    float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_##use)))

kernel void round_of_16(global float *re, global float *im, global const float *root, global const float *twiddles,
                        int stride)
{
    // The 256 numbers of this sub-group: 16 rows, `stride` apart, of 16 neighbours; of stride 1, 16 transforms in a row.
    const size_t block = get_group_id(0), transform = get_group_id(1) * (size_t)4096;
    const size_t inner = stride / 16;
    const size_t first = stride == 1 ? block * 256 : block / inner * 16 * stride + block % inner * 16;
    const int pitch = stride == 1 ? 16 : stride;
    re += transform + first;
    im += transform + first;
    twiddles += first;

    MATRIX(A) fr = coop_mat_load(root, ROWS, 16), fi = coop_mat_load(root + 256, ROWS, 16);
    MATRIX(B) xr, xi;
    if (stride == 1) {
        xr = coop_mat_load(re, COLUMNS, pitch);
        xi = coop_mat_load(im, COLUMNS, pitch);
    } else {
        xr = coop_mat_load(re, ROWS, pitch);
        xi = coop_mat_load(im, ROWS, pitch);
    }
    MATRIX(ACCUMULATOR) zero = coop_mat_init(0);
    MATRIX(ACCUMULATOR) yr = coop_matmul_add(-fi, xi, coop_matmul_add(fr, xr, zero, NONE), NONE);
    MATRIX(ACCUMULATOR) yi = coop_matmul_add(fr, xi, coop_matmul_add(fi, xr, zero, NONE), NONE);
    if (stride == 1) {
        coop_mat_store(re, yr, COLUMNS, pitch);
        coop_mat_store(im, yi, COLUMNS, pitch);
        return;
    }
    MATRIX(ACCUMULATOR) wr = coop_mat_load(twiddles, ROWS, pitch);
    MATRIX(ACCUMULATOR) wi = coop_mat_load(twiddles + 4096, ROWS, pitch);
    MATRIX(ACCUMULATOR) zr = yr * wr - yi * wi, zi = yr * wi + yi * wr;
    coop_mat_store(re, zr, ROWS, pitch);
    coop_mat_store(im, zi, ROWS, pitch);
}
