// Cooperative matrices: operators, components, conversions, control flow over matrices, matrices in functions.

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR

typedef float tile MATRIX(8, 16, ACCUMULATOR);
typedef half half_tile MATRIX(8, 16, ACCUMULATOR);
typedef int int_tile MATRIX(8, 16, ACCUMULATOR);

kernel void operators(global float *out, global const float *in, float scale)
{
    tile a = coop_mat_load(in, ROW_MAJOR, 16);
    tile b = coop_mat_load(in + 128, COLUMN_MAJOR, 8);
    tile c = a * b - a / b;
    c = -c + a * scale;
    c += scale * b;
    c *= 2;
    coop_mat_store(out, c, ROW_MAJOR, 16);
}

kernel void components(global float *out, global const float *in)
{
    tile a = coop_mat_load(in, ROW_MAJOR, 16);
    for (uint i = 0; i < coop_mat_length(a); ++i)
        a[i] = a[i] > 0.0f ? a[i] : a[i] * 0.125f;
    coop_mat_store(out, a, ROW_MAJOR, 16);
}

kernel void conversions(global half *halves, global int *ints, global const float *in)
{
    tile a = coop_mat_load(in, ROW_MAJOR, 16);
    half_tile h = coop_mat_convert(a);
    int_tile i = coop_mat_convert(a);
    coop_mat_store(halves, h, COLUMN_MAJOR, 8);
    coop_mat_store(ints, i, ROW_MAJOR, 16);
}

tile choose(tile a, tile b, int first)
{
    if (first)
        return a;
    return b;
}

kernel void control(global float *out, global const float *in, int n)
{
    tile total = coop_mat_init(0.0f);
    for (int i = 0; i < n; ++i) {
        tile a = coop_mat_load(in + 128 * i, ROW_MAJOR, 16);
        total = choose(total + a, total - a, i & 1);
    }
    coop_mat_store(out + 128 * get_sub_group_id(), total, ROW_MAJOR, 16);
}

typedef char matrix_a MATRIX(8, 32, A);
typedef char matrix_b MATRIX(32, 16, B);

// Saturation, and B through local memory; two sub-groups of a work-group share it.
kernel void shared_b(global int *C, global const char *A, global const char *B)
{
    local char staged[32 * 16];
    for (uint i = get_local_id(0); i < 32 * 16; i += get_local_size(0))
        staged[i] = B[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    matrix_a a = coop_mat_load(A + get_sub_group_id() * 8 * 32, ROW_MAJOR, 32);
    matrix_b b = coop_mat_load(staged, ROW_MAJOR, 16);
    global int *corner = C + get_sub_group_id() * 8 * 16;
    int_tile c = coop_mat_load(corner, ROW_MAJOR, 16);
    c = coop_mat_mulAdd(a, b, c,
                        CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED |
                        CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED |
                        CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED |
                        CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED |
                        CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION);
    coop_mat_store(corner, c, ROW_MAJOR, 16);
}
