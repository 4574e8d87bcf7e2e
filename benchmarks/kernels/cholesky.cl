// A = L * transpose(L) in double precision, a block of NB columns after the other: factor its diagonal block, solve for
// the rows below, and take their product from what remains. A is N x N, row-major; L takes the place of its lower half.

#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))

// One work-group: the diagonal block, a column after the other.
kernel void factor(global double *A, int N, int first)
{
    local double block[NB][NB + 1];
    const int lane = get_local_id(0), size = get_local_size(0);
    A += (size_t)first * N + first;
    for (int row = 0; row < NB; row++)
        for (int column = lane; column < NB; column += size)
            block[row][column] = A[(size_t)row * N + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < NB; j++) {
        const double root = sqrt(block[j][j]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int row = j + lane; row < NB; row += size)
            block[row][j] = row == j ? root : block[row][j] / root;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int row = j + 1 + lane; row < NB; row += size)
            for (int column = j + 1; column <= row; column++)
                block[row][column] -= block[row][j] * block[column][j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int row = 0; row < NB; row++)
        for (int column = lane; column < NB; column += size)
            A[(size_t)row * N + column] = column <= row ? block[row][column] : 0;
}

// A work-item for each row below: its part of L.
kernel void solve(global double *A, int N, int first)
{
    const size_t row = first + NB + get_global_id(0);
    global const double *l = A + (size_t)first * N + first;
    global double *x = A + row * N + first;
    double found[NB];
    for (int j = 0; j < NB; j++) {
        double sum = x[j];
        for (int k = 0; k < j; k++)
            sum -= found[k] * l[(size_t)j * N + k];
        found[j] = sum / l[(size_t)j * N + j];
    }
    for (int j = 0; j < NB; j++)
        x[j] = found[j];
}

// A sub-group for each tile of what remains.
kernel void update(global double *A, int N, int first)
{
    const size_t start = first + NB, row = start + get_group_id(1) * 16, column = start + get_group_id(0) * 16;
    if (column > row)
        return;
    double MATRIX(16, 16, ACCUMULATOR) c = coop_mat_load(A + row * N + column, ROWS, N);
    for (int k = first; k < first + NB; k += 16) {
        double MATRIX(16, 16, A) a = coop_mat_load(A + row * N + k, ROWS, N);
        double MATRIX(16, 16, B) b = coop_mat_load(A + column * N + k, COLUMNS, N);
        c = coop_matmul_add(-a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
    }
    coop_mat_store(A + row * N + column, c, ROWS, N);
}
