// An iteration of k-means: points get the numbers of their nearest centroids, centroids become their points' means.
//
// |x - c|^2 = |x|^2 - 2 x.c + |c|^2, of which the first term is the same for all centroids c. Points and centroids are
// rows of DIMENSIONS elements.
//
// Set with -D: CENTROIDS, DIMENSIONS and the tile TM, TN, TK; TN divides CENTROIDS, TK divides DIMENSIONS.

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define OF_ROW CLK_COOPERATIVE_MATRIX_REDUCE_ROW
#define MIN CLK_COOPERATIVE_MATRIX_COMBINE_MIN
#define NONE CLK_COOPERATIVE_MATRIX_OPERAND_NONE

typedef __bf16 matrix_a MATRIX(TM, TK, A);
typedef __bf16 matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

struct nearest {
    matrix_c distance, index; // the same in all elements of a row
};

// |c|^2 - 2 x.c
float to_distance(uint row, uint column, float product, global const float *norms)
{
    return norms[column] - 2 * product;
}

// The column, as a float, where the distance is the least of its row; more than any column elsewhere.
float column_of(uint row, uint column, float distance, float least, int first)
{
    return distance == least ? first + (int)column : INFINITY;
}

matrix_c distances(global const __bf16 *x, global const __bf16 *c, global const float *norms)
{
    matrix_c product = coop_mat_init(0);
    for (int k = 0; k < DIMENSIONS; k += TK) {
        const matrix_a a = coop_mat_load(x + k, ROWS, DIMENSIONS);
        const matrix_b b = coop_mat_load(c + k, COLUMNS, DIMENSIONS);
        product = coop_matmul_add(a, b, product, NONE);
    }
    return coop_mat_apply(product, to_distance, norms);
}

void take(struct nearest *best, matrix_c distance, int first)
{
    const matrix_c least = coop_mat_reduce(distance, OF_ROW, MIN);
    const matrix_c index = coop_mat_reduce(coop_mat_apply(distance, column_of, least, first), OF_ROW, MIN);
    for (uint i = 0; i < coop_mat_length(least); i++)
        if (least[i] < best->distance[i]) {
            best->distance[i] = least[i];
            best->index[i] = index[i];
        }
}

// A sub-group for each TM points.
kernel void assign(global const __bf16 *x, global const __bf16 *centroids, global const float *norms,
                   global int *nearest)
{
    const size_t first = get_group_id(0) * TM;
    struct nearest best = { coop_mat_init(INFINITY), coop_mat_init(-1) };
    for (int c = 0; c < CENTROIDS; c += TN)
        take(&best, distances(x + first * DIMENSIONS, centroids + c * DIMENSIONS, norms + c), c);
    for (uint i = 0; i < coop_mat_length(best.index); i++) {
        const int2 at = coop_mat_get_coord(best.index, i);
        if (at.y == 0)
            nearest[first + at.x] = convert_int(best.index[i]);
    }
}

// A work-group for each centroid, a work-item for each dimension.
kernel void update(global const __bf16 *x, global const int *nearest, int points, global __bf16 *centroids,
                   global float *norms)
{
    const int c = get_group_id(0), d = get_local_id(0);
    float sum = 0;
    int count = 0;
    for (int i = 0; i < points; i++)
        if (nearest[i] == c) {
            sum += x[i * DIMENSIONS + d];
            count++;
        }
    global __bf16 *mine = centroids + c * DIMENSIONS + d;
    if (count)
        *mine = sum / count;
    const float value = *mine, norm = work_group_reduce_add(value * value);
    if (d == 0)
        norms[c] = norm;
}
