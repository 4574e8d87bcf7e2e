// Y = norm(X) W + bias, where norm makes each row's mean 0 and its variance 1, times gamma and plus beta.
//
// X is M x K, W K x N, Y M x N, row-major. A group computes TM rows of Y, of which its sub-groups take tiles in turn:
//   global size = (S * sub-group size, M / TM),  local size = (S * sub-group size, 1).
//
// Set with -D: TM, TN, TK (the tile, a combination of the device), K (a multiple of TN and TK), SUB_GROUP_SIZE;
// NDEBUG to leave assertions out.

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define TILES (K / TN)

void __assert_fail(constant char *expression, constant char *file, unsigned line, constant char *function);
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif

typedef half matrix_a MATRIX(TM, TK, A);
typedef half matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

typedef struct {
    matrix_c mean, deviation; // of a row in all of its elements
} statistics;

static matrix_c mean_of(const matrix_c sums)
{
    return coop_mat_reduce(sums, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_ADD) * (1.f / K);
}

// The statistics of rows that lie in tiles side by side.
static statistics statistics_of(const matrix_c tiles[TILES], float epsilon)
{
    matrix_c sums = coop_mat_init(0), squares = coop_mat_init(0), added = coop_mat_init(epsilon);
    for (int t = 0; t < TILES; t++)
        sums += tiles[t];
    const matrix_c mean = mean_of(sums);
    for (int t = 0; t < TILES; t++) {
        const matrix_c apart = tiles[t] - mean;
        squares = fma(apart, apart, squares);
    }
    return (statistics){ mean, sqrt(mean_of(squares) + added) };
}

static float affine(uint row, uint column, float x, global const float *gamma, global const float *beta)
{
    return x * gamma[column] + beta[column];
}

static float biased(uint row, uint column, float x, global const float *bias) { return bias ? x + bias[column] : x; }

// Normalise TM rows into local memory.
static void normalise(global const float *X, global const float *gamma, global const float *beta, float epsilon,
                      local half *out)
{
    matrix_c tiles[TILES];
    for (int t = 0; t < TILES; t++)
        tiles[t] = coop_mat_load(X + t * TN, ROWS, K);
    const statistics rows = statistics_of(tiles, epsilon);
    for (int t = 0; t < TILES; t++) {
        const matrix_c normal = (tiles[t] - rows.mean) / rows.deviation;
        const matrix_c x = coop_mat_apply(normal, affine, gamma + t * TN, beta + t * TN);
        for (uint i = 0; i < coop_mat_length(x); i++) {
            const int2 at = coop_mat_get_coord(x, i);
            assert(isfinite(x[i]));
            out[at.x * K + t * TN + at.y] = x[i];
        }
    }
}

#ifdef SUB_GROUP_SIZE
__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
#endif
kernel void layer_norm(global const float *X, global const float *gamma, global const float *beta, float epsilon,
                       global const half *W, global const float *bias, global float *Y, int N)
{
    local half rows[TM][K];
    const size_t row = get_group_id(1) * TM;
    if (get_sub_group_id() == 0)
        normalise(X + row * K, gamma, beta, epsilon, rows[0]);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int column = get_sub_group_id() * TN; column < N; column += get_num_sub_groups() * TN) {
        matrix_c sum = coop_mat_init(0);
        for (int k = 0; k < K; k += TK) {
            matrix_a a = coop_mat_load(&rows[0][k], ROWS, K);
            matrix_b b = coop_mat_load(W + k * N + column, ROWS, N);
            sum = coop_matmul_add(a, b, sum, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
        }
        sum = coop_mat_apply(sum, biased, bias ? bias + column : bias);
        coop_mat_store(Y + row * N + column, sum, ROWS, N);
    }
}
