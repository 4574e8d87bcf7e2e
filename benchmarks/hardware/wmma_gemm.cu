// The examples gemm.cl and gemm_blocked.cl in CUDA C++: a warp computes one tile of 16 x 16, or 2 x 2 of them.

#include <mma.h>
using namespace nvcuda::wmma;

template <int COUNT> __global__ void product(const half *A, const half *B, float *C, int N, int K)
{
    const size_t row = blockIdx.y * 16 * COUNT, column = blockIdx.x * 16 * COUNT;
    fragment<accumulator, 16, 16, 16, float> c[COUNT][COUNT];
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            fill_fragment(c[i][j], 0);
    for (int k = 0; k < K; k += 16) {
        fragment<matrix_a, 16, 16, 16, half, row_major> a[COUNT];
        fragment<matrix_b, 16, 16, 16, half, row_major> b[COUNT];
        for (int i = 0; i < COUNT; i++) {
            load_matrix_sync(a[i], A + (row + 16 * i) * K + k, K);
            load_matrix_sync(b[i], B + (size_t)k * N + column + 16 * i, N);
        }
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++)
                mma_sync(c[i][j], a[i], b[j], c[i][j]);
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            store_matrix_sync(C + (row + 16 * i) * N + column + 16 * j, c[i][j], N, mem_row_major);
}

extern "C" void gemm(const half *A, const half *B, float *C, int M, int N, int K, cudaStream_t stream)
{
    product<1><<<dim3(N / 16, M / 16), 32, 0, stream>>>(A, B, C, N, K);
}

extern "C" void gemm_blocked(const half *A, const half *B, float *C, int M, int N, int K, cudaStream_t stream)
{
    product<2><<<dim3(N / 32, M / 32), 32, 0, stream>>>(A, B, C, N, K);
}
