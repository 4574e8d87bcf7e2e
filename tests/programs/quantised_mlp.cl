// Y = gelu(X W1 + b) W2, where W1 and W2 are 8-bit integers with a scale for each column, and X and what gelu gives are
// quantised row by row on the way, by the largest magnitude of each row.
//
// X is M x INPUTS, W1 INPUTS x HIDDEN, W2 HIDDEN x OUTPUTS, row-major. Groups of one sub-group compute TM rows of Y:
//   global size = M / TM * sub-group size,  local size = sub-group size.
//
// Set with -D: TM, TN, TK (the tile, a combination of the device), INPUTS, HIDDEN (multiples of TN and TK), OUTPUTS
// (a multiple of TN), SUB_GROUP_SIZE.

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MOST 127

typedef char matrix_a MATRIX(TM, TK, A);
typedef char matrix_b MATRIX(TK, TN, B);
typedef int matrix_c MATRIX(TM, TN, ACCUMULATOR);
typedef float reals MATRIX(TM, TN, ACCUMULATOR);

float gelu(float x) { return 0.5f * x * (1 + erf(x * M_SQRT1_2_F)); }

float scaled(uint row, uint column, float x, global const float *scales, global const float *bias)
{
    return x * scales[column] + (bias ? bias[column] : 0);
}

// Quantise rows that lie in tiles side by side; gives the scale of each row.
static reals quantise(const reals *tiles, int count, local char *quantised, int stride)
{
    reals largest = coop_mat_init(FLT_MIN);
    for (int t = 0; t < count; t++)
        largest = fmax(largest, fabs(tiles[t]));
    largest = coop_mat_reduce(largest, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_MAX);
    for (int t = 0; t < count; t++) {
        const reals x = tiles[t] * MOST / largest;
        for (uint i = 0; i < coop_mat_length(x); i++) {
            const int2 at = coop_mat_get_coord(x, i);
            quantised[at.x * stride + t * TN + at.y] = convert_char_sat_rte(x[i]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return largest * (1.f / MOST);
}

// TN columns of the product of quantised rows, with their scales, and weights, without theirs.
static reals product(local const char *quantised, reals scales, global const char *W, int depth, int stride)
{
    matrix_c sum = coop_mat_init(0);
    for (int k = 0; k < depth; k += TK) {
        matrix_a a = coop_mat_load(quantised + k, ROWS, depth);
        matrix_b b = coop_mat_load(W + k * stride, ROWS, stride);
        sum = coop_mat_mulAdd(a, b, sum);
    }
    return (reals)coop_mat_convert(sum) * scales;
}

#ifdef SUB_GROUP_SIZE
__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
#endif
kernel void mlp(global const float *X, global const char *W1, global const float *scales1, global const float *bias,
                global const char *W2, global const float *scales2, global float *Y)
{
    local char x[TM * INPUTS], hidden[TM * HIDDEN];
    const size_t row = get_group_id(0) * TM;

    reals inputs[INPUTS / TN];
    for (int t = 0; t < INPUTS / TN; t++)
        inputs[t] = coop_mat_load(X + row * INPUTS + t * TN, ROWS, INPUTS);
    const reals scales_x = quantise(inputs, INPUTS / TN, x, INPUTS);

    reals sums[HIDDEN / TN];
    for (int t = 0; t < HIDDEN / TN; t++) {
        const int column = t * TN;
        sums[t] = product(x, scales_x, W1 + column, INPUTS, HIDDEN);
        sums[t] = coop_mat_apply(sums[t], scaled, scales1 + column, bias ? bias + column : 0);
        sums[t] = coop_mat_apply(sums[t], gelu);
    }
    const reals scales_hidden = quantise(sums, HIDDEN / TN, hidden, HIDDEN);

    for (int column = 0; column < OUTPUTS; column += TN) {
        reals y = product(hidden, scales_hidden, W2 + column, HIDDEN, OUTPUTS);
        y = coop_mat_apply(y, scaled, scales2 + column, (global const float *)0);
        coop_mat_store(Y + row * OUTPUTS + column, y, ROWS, OUTPUTS);
    }
}
