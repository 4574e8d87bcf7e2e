// The product of examples/gemm.cl, one element per work-item: the peer's form in benchmarks/run.py.

kernel void gemm(global const char *A, global const char *B, global int *C, int N, int K)
{
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < K; ++k)
        sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
