// C = A * B, MM x NN tiles of TM x TN for each sub-group: each tile of A is used NN times, each of B MM times.
//
// That is what makes a fast kernel: from memory to registers go MM + NN tiles for MM * NN instructions. The
// loops have constant bounds, so a compiler unrolls them and the arrays live in registers. B is packed; see
// one_tile.h, which must have been included with this TM, for all else.
// Global size = (N / NN, M / TM / MM), local size = (TN, 1).

#define TILED_KERNEL CAT(CAT(CAT(tiled_, MM), x), NN)

SUB_GROUP __attribute__((reqd_work_group_size(TN, 1, 1)))
kernel void KERNEL(TILED_KERNEL)(global const ELEMENT *A, global const uint *B, global RESULT *C, int N, int K)
{
    const size_t row = get_group_id(1) * TM * MM, column = get_group_id(0) * TN * NN;
    VECTOR(RESULT, TM) c[MM][NN];
    for (int i = 0; i < MM; ++i)
        for (int j = 0; j < NN; ++j)
            c[i][j] = 0;

    for (int k = 0; k < K; k += TK) {
        A_TILE(TM) a[MM];
        B_TILE b[NN];
        for (int i = 0; i < MM; ++i)
            a[i] = FUNCTION(best_load_a)(A + (row + i * TM) * K + k, K);
        for (int j = 0; j < NN; ++j)
            b[j] = best_load_b_packed(B + (size_t)k / PER_WORD * N + column + j * TN, N);
        for (int i = 0; i < MM; ++i)
            for (int j = 0; j < NN; ++j)
                c[i][j] = MAD(a[i], b[j], c[i][j]);
    }

    for (int i = 0; i < MM; ++i)
        for (int j = 0; j < NN; ++j)
            best_store_c(C + (row + i * TM) * N + column + j * TN, c[i][j], N);
}

#undef TILED_KERNEL
