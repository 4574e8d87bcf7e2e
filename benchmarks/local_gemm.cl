// The product of scalar_gemm.cl in float, with tiles in local memory: 16 x 16 work-items in a work-group.

#define T 16

kernel void gemm(global const float *A, global const float *B, global float *C, int N, int K)
{
    local float a[T][T], b[T][T];
    const size_t row = get_global_id(1), column = get_global_id(0), y = get_local_id(1), x = get_local_id(0);
    float sum = 0;
    for (int k = 0; k < K; k += T) {
        a[y][x] = A[row * K + k + x];
        b[y][x] = B[(k + y) * N + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < T; ++i)
            sum += a[y][i] * b[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * N + column] = sum;
}
