// A = L * transpose(L), in place in the lower half of A: the kernels of a step, which factors BLOCK columns.
//
// Set with -D: BLOCK, and the tile TM, TN, TK, whose sizes divide it.

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR

typedef double matrix_a MATRIX(TM, TK, A);
typedef double matrix_b MATRIX(TK, TN, B);
typedef double matrix_c MATRIX(TM, TN, ACCUMULATOR);

void __assert_fail(constant char *expression, constant char *file, unsigned line, constant char *function);
#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))

// One work-group: a work-item for each row of the diagonal block.
kernel void factor(global double *A, int N, int start)
{
    local double tile[BLOCK][BLOCK];
    const int row = get_local_id(0);
    global double *own = A + (start + row) * N + start;
    for (int column = 0; column < BLOCK; column++)
        tile[row][column] = own[column];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int pivot = 0; pivot < BLOCK; pivot++) {
        if (row == pivot) {
            assert(tile[pivot][pivot] > 0);
            tile[pivot][pivot] = sqrt(tile[pivot][pivot]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row > pivot)
            tile[row][pivot] /= tile[pivot][pivot];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int column = pivot + 1; column <= row; column++)
            tile[row][column] -= tile[row][pivot] * tile[column][pivot];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int column = 0; column <= row; column++)
        own[column] = tile[row][column];
}

// A work-item for each row below the block: x * transpose(L) = row.
kernel void solve(global double *A, int N, int start)
{
    global const double *L = A + start * N + start;
    global double *own = A + (start + BLOCK + get_global_id(0)) * N + start;
    double x[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        double sum = own[i];
        for (int j = 0; j < i; j++)
            sum -= x[j] * L[i * N + j];
        own[i] = x[i] = sum / L[i * N + i];
    }
}

// A sub-group for each tile of the rest: those that meet the lower half become A - X * transpose(X).
kernel void update(global double *A, int N, int start)
{
    const int first = start + BLOCK, row = first + get_group_id(1) * TM, column = first + get_group_id(0) * TN;
    if (column >= row + TM)
        return;
    global double *tile = A + row * N + column;
    matrix_c rest = coop_mat_load(tile, ROWS, N);
    for (int k = start; k < first; k += TK) {
        matrix_a x = coop_mat_load(A + row * N + k, ROWS, N);
        matrix_b transposed = coop_mat_load(A + column * N + k, COLUMNS, N);
        rest = coop_mat_mulAdd(-x, transposed, rest);
    }
    coop_mat_store(tile, rest, ROWS, N);
}
