// What bounds a kernel: products of matrices that stay where they are, multiply-adds of floats that stay in registers,
// and numbers that come from memory once.
//
// Set with -D: IN, OUT, FLAGS; TK (K of a 16 x 16 product).

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR

typedef IN matrix_a MATRIX(16, TK, A);
typedef IN matrix_b MATRIX(TK, 16, B);
typedef OUT matrix_c MATRIX(16, 16, ACCUMULATOR);

// Four products a round: as many as a sub-group of an AMX processor has accumulators for.
kernel void products(global OUT *sums, global const IN *given, int rounds)
{
    matrix_a a[2];
    matrix_b b[2];
    matrix_c c[4];
    for (int i = 0; i < 2; i++) {
        a[i] = coop_mat_load(given + i * 16 * TK, ROW_MAJOR, TK);
        b[i] = coop_mat_load(given + i * 16 * TK, ROW_MAJOR, 16);
    }
    for (int i = 0; i < 4; i++)
        c[i] = coop_mat_init(0);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 4; i++)
            c[i] = coop_matmul_add(a[i / 2], b[i % 2], c[i], FLAGS);
    for (int i = 0; i < 4; i++)
        coop_mat_store(sums + (get_group_id(0) * 4 + i) * 256, c[i], ROW_MAJOR, 16);
}

#define CHAINS 16

kernel void multiply_adds(global float *sums, float factor, int rounds)
{
    float x[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        x[i] = get_global_id(0) + i;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < CHAINS; i++)
            x[i] = fma(x[i], factor, 1.0f);
    float sum = 0;
    for (int i = 0; i < CHAINS; i++)
        sum += x[i];
    sums[get_global_id(0)] = sum;
}

kernel void copy(global float *to, global const float *from)
{
    to[get_global_id(0)] = from[get_global_id(0)];
}
