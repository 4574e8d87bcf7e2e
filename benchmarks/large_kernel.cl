// Matrix kernels as a library of an inference engine holds them: int8, bf16 and tf32 products for several tile
// sizes, with row-major and VNNI-packed B, block reads, local memory with split barriers, and the kernels around
// them (packing, quantisation, normalisation, softmax). Sub-groups of 16; M, N and K are multiples of the tiles.
//
// What benchmarks/compile_time.py compiles. It keeps to what every OpenCL C compiler with Intel's sub-group
// extensions takes, so that other compilers can be timed on the same text.

#define SUB_GROUP 16
#define TILE_N 16
#define INT8_TILE_K 32
#define BF16_TILE_K 16
#define TF32_TILE_K 8

#ifndef EPILOGUE
#define EPILOGUE 1  // 0: none, 1: clamp at zero, 2: a smooth step
#endif

#define MATRIX_KERNEL __attribute__((intel_reqd_sub_group_size(SUB_GROUP))) kernel void

typedef struct {
    int rows;
    int columns;
    int depth;
    float scale;
} problem;

// ------------------------------------------------------------------------------------- epilogues

inline float activate(float x)
{
#if EPILOGUE == 1
    return fmax(x, 0.0f);
#elif EPILOGUE == 2
    return x / (1.0f + exp(-x));
#else
    return x;
#endif
}

inline char quantise(float x, float scale)
{
    return convert_char_sat_rte(x * scale);
}

inline float dequantise(int sum, float scale, float bias)
{
    return activate(fma(convert_float(sum), scale, bias));
}

inline float bf16_to_float(ushort bits)
{
    return as_float((uint)bits << 16);
}

inline ushort float_to_bf16(float x)
{
    const uint bits = as_uint(x);
    if (isnan(x))
        return (ushort)(bits >> 16 | 0x40);
    return (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// ------------------------------------------------------------------------------------- loading and storing

inline int pack4(global const char *p, int stride)
{
    return as_int((char4)(p[0], p[stride], p[2 * stride], p[3 * stride]));
}

inline int pack2(global const ushort *p, int stride)
{
    return as_int((ushort2)(p[0], p[stride]));
}

// Two neighbouring elements of a row of A: work-item i holds columns 2i and 2i + 1.
inline short load_a_int8_row(global const char *A, int row, int k, int K)
{
    const int column = k + 2 * get_sub_group_local_id();
    return as_short(vload2(0, A + row * K + column));
}

inline short load_a_bf16_row(global const ushort *A, int row, int k, int K)
{
    return as_short(A[row * K + k + get_sub_group_local_id()]);
}

// 32 rows of B, one column to a work-item.
inline int8 load_b_int8(global const char *B, int k, int column, int N)
{
    global const char *p = B + k * N + column + get_sub_group_local_id();
    int8 b;
    b.s0 = pack4(p, N);
    b.s1 = pack4(p + 4 * N, N);
    b.s2 = pack4(p + 8 * N, N);
    b.s3 = pack4(p + 12 * N, N);
    b.s4 = pack4(p + 16 * N, N);
    b.s5 = pack4(p + 20 * N, N);
    b.s6 = pack4(p + 24 * N, N);
    b.s7 = pack4(p + 28 * N, N);
    return b;
}

inline int8 load_b_int8_packed(global const char *B, int k, int column, int N)
{
    global const int *p = (global const int *)B + k / 4 * N + column;
    int8 b;
    b.s0 = as_int(intel_sub_group_block_read((global const uint *)p));
    b.s1 = as_int(intel_sub_group_block_read((global const uint *)(p + N)));
    b.s2 = as_int(intel_sub_group_block_read((global const uint *)(p + 2 * N)));
    b.s3 = as_int(intel_sub_group_block_read((global const uint *)(p + 3 * N)));
    b.s4 = as_int(intel_sub_group_block_read((global const uint *)(p + 4 * N)));
    b.s5 = as_int(intel_sub_group_block_read((global const uint *)(p + 5 * N)));
    b.s6 = as_int(intel_sub_group_block_read((global const uint *)(p + 6 * N)));
    b.s7 = as_int(intel_sub_group_block_read((global const uint *)(p + 7 * N)));
    return b;
}

inline int8 load_b_bf16(global const ushort *B, int k, int column, int N)
{
    global const ushort *p = B + k * N + column + get_sub_group_local_id();
    int8 b;
    b.s0 = pack2(p, N);
    b.s1 = pack2(p + 2 * N, N);
    b.s2 = pack2(p + 4 * N, N);
    b.s3 = pack2(p + 6 * N, N);
    b.s4 = pack2(p + 8 * N, N);
    b.s5 = pack2(p + 10 * N, N);
    b.s6 = pack2(p + 12 * N, N);
    b.s7 = pack2(p + 14 * N, N);
    return b;
}

inline int8 load_b_bf16_packed(global const ushort *B, int k, int column, int N)
{
    global const int *p = (global const int *)B + k / 2 * N + column + get_sub_group_local_id();
    return (int8)(p[0], p[N], p[2 * N], p[3 * N], p[4 * N], p[5 * N], p[6 * N], p[7 * N]);
}

inline short2 load_a_int8_m2(global const char *A, int row, int k, int K)
{
    short2 a;
    a.s0 = load_a_int8_row(A, row, k, K);
    a.s1 = load_a_int8_row(A, row + 1, k, K);
    return a;
}

inline short2 load_a_bf16_m2(global const ushort *A, int row, int k, int K)
{
    short2 a;
    a.s0 = load_a_bf16_row(A, row, k, K);
    a.s1 = load_a_bf16_row(A, row + 1, k, K);
    return a;
}

inline short4 load_a_int8_m4(global const char *A, int row, int k, int K)
{
    short4 a;
    a.s0 = load_a_int8_row(A, row, k, K);
    a.s1 = load_a_int8_row(A, row + 1, k, K);
    a.s2 = load_a_int8_row(A, row + 2, k, K);
    a.s3 = load_a_int8_row(A, row + 3, k, K);
    return a;
}

inline short4 load_a_bf16_m4(global const ushort *A, int row, int k, int K)
{
    short4 a;
    a.s0 = load_a_bf16_row(A, row, k, K);
    a.s1 = load_a_bf16_row(A, row + 1, k, K);
    a.s2 = load_a_bf16_row(A, row + 2, k, K);
    a.s3 = load_a_bf16_row(A, row + 3, k, K);
    return a;
}

inline short8 load_a_int8_m8(global const char *A, int row, int k, int K)
{
    short8 a;
    a.s0 = load_a_int8_row(A, row, k, K);
    a.s1 = load_a_int8_row(A, row + 1, k, K);
    a.s2 = load_a_int8_row(A, row + 2, k, K);
    a.s3 = load_a_int8_row(A, row + 3, k, K);
    a.s4 = load_a_int8_row(A, row + 4, k, K);
    a.s5 = load_a_int8_row(A, row + 5, k, K);
    a.s6 = load_a_int8_row(A, row + 6, k, K);
    a.s7 = load_a_int8_row(A, row + 7, k, K);
    return a;
}

inline short8 load_a_bf16_m8(global const ushort *A, int row, int k, int K)
{
    short8 a;
    a.s0 = load_a_bf16_row(A, row, k, K);
    a.s1 = load_a_bf16_row(A, row + 1, k, K);
    a.s2 = load_a_bf16_row(A, row + 2, k, K);
    a.s3 = load_a_bf16_row(A, row + 3, k, K);
    a.s4 = load_a_bf16_row(A, row + 4, k, K);
    a.s5 = load_a_bf16_row(A, row + 5, k, K);
    a.s6 = load_a_bf16_row(A, row + 6, k, K);
    a.s7 = load_a_bf16_row(A, row + 7, k, K);
    return a;
}

inline void store_int(global float *C, int sum, int row, int column, int N, float scale, float bias)
{
    C[row * N + column + get_sub_group_local_id()] = dequantise(sum, scale, bias);
}

inline void store_float(global float *C, float sum, int row, int column, int N)
{
    intel_sub_group_block_write((global uint *)(C + row * N + column), as_uint(activate(sum)));
}

inline void store_int_m2(global float *C, int2 sum, int row, int column, int N, float scale, float bias)
{
    store_int(C, sum.s0, row, column, N, scale, bias);
    store_int(C, sum.s1, row + 1, column, N, scale, bias);
}

inline void store_float_m2(global float *C, float2 sum, int row, int column, int N)
{
    store_float(C, sum.s0, row, column, N);
    store_float(C, sum.s1, row + 1, column, N);
}

inline void store_int_m4(global float *C, int4 sum, int row, int column, int N, float scale, float bias)
{
    store_int(C, sum.s0, row, column, N, scale, bias);
    store_int(C, sum.s1, row + 1, column, N, scale, bias);
    store_int(C, sum.s2, row + 2, column, N, scale, bias);
    store_int(C, sum.s3, row + 3, column, N, scale, bias);
}

inline void store_float_m4(global float *C, float4 sum, int row, int column, int N)
{
    store_float(C, sum.s0, row, column, N);
    store_float(C, sum.s1, row + 1, column, N);
    store_float(C, sum.s2, row + 2, column, N);
    store_float(C, sum.s3, row + 3, column, N);
}

inline void store_int_m8(global float *C, int8 sum, int row, int column, int N, float scale, float bias)
{
    store_int(C, sum.s0, row, column, N, scale, bias);
    store_int(C, sum.s1, row + 1, column, N, scale, bias);
    store_int(C, sum.s2, row + 2, column, N, scale, bias);
    store_int(C, sum.s3, row + 3, column, N, scale, bias);
    store_int(C, sum.s4, row + 4, column, N, scale, bias);
    store_int(C, sum.s5, row + 5, column, N, scale, bias);
    store_int(C, sum.s6, row + 6, column, N, scale, bias);
    store_int(C, sum.s7, row + 7, column, N, scale, bias);
}

inline void store_float_m8(global float *C, float8 sum, int row, int column, int N)
{
    store_float(C, sum.s0, row, column, N);
    store_float(C, sum.s1, row + 1, column, N);
    store_float(C, sum.s2, row + 2, column, N);
    store_float(C, sum.s3, row + 3, column, N);
    store_float(C, sum.s4, row + 4, column, N);
    store_float(C, sum.s5, row + 5, column, N);
    store_float(C, sum.s6, row + 6, column, N);
    store_float(C, sum.s7, row + 7, column, N);
}

// ------------------------------------------------------------------------------------- int8

MATRIX_KERNEL int8_gemm_m1(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 1, column = get_group_id(0) * TILE_N;
    int sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short a = load_a_int8_row(A, row, k, p.depth);
        int8 b = load_b_int8(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

MATRIX_KERNEL int8_gemm_m2(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 2, column = get_group_id(0) * TILE_N;
    int2 sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short2 a = load_a_int8_m2(A, row, k, p.depth);
        int8 b = load_b_int8(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int_m2(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

MATRIX_KERNEL int8_gemm_m4(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 4, column = get_group_id(0) * TILE_N;
    int4 sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short4 a = load_a_int8_m4(A, row, k, p.depth);
        int8 b = load_b_int8(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int_m4(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

MATRIX_KERNEL int8_gemm_m8(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 8, column = get_group_id(0) * TILE_N;
    int8 sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short8 a = load_a_int8_m8(A, row, k, p.depth);
        int8 b = load_b_int8(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int_m8(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

MATRIX_KERNEL int8_gemm_packed_m1(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 1, column = get_group_id(0) * TILE_N;
    int sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short a = load_a_int8_row(A, row, k, p.depth);
        int8 b = load_b_int8_packed(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

MATRIX_KERNEL int8_gemm_packed_m2(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 2, column = get_group_id(0) * TILE_N;
    int2 sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short2 a = load_a_int8_m2(A, row, k, p.depth);
        int8 b = load_b_int8_packed(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int_m2(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

MATRIX_KERNEL int8_gemm_packed_m4(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 4, column = get_group_id(0) * TILE_N;
    int4 sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short4 a = load_a_int8_m4(A, row, k, p.depth);
        int8 b = load_b_int8_packed(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int_m4(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

MATRIX_KERNEL int8_gemm_packed_m8(global const char *A, global const char *B, global float *C,
                            global const float *bias, problem p)
{
    const int row = get_group_id(1) * 8, column = get_group_id(0) * TILE_N;
    int8 sum = 0;
    for (int k = 0; k < p.depth; k += INT8_TILE_K) {
        short8 a = load_a_int8_m8(A, row, k, p.depth);
        int8 b = load_b_int8_packed(B, k, column, p.columns);
        sum = intel_sub_group_i8_i8_matrix_mad_k32(a, b, sum);
    }
    store_int_m8(C, sum, row, column, p.columns, p.scale, bias[column + get_sub_group_local_id()]);
}

// ------------------------------------------------------------------------------------- bf16

MATRIX_KERNEL bf16_gemm_m1(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 1, column = get_group_id(0) * TILE_N;
    float sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short a = load_a_bf16_row(A, row, k, K);
        int8 b = load_b_bf16(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float(C, sum, row, column, N);
}

MATRIX_KERNEL bf16_gemm_m2(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 2, column = get_group_id(0) * TILE_N;
    float2 sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short2 a = load_a_bf16_m2(A, row, k, K);
        int8 b = load_b_bf16(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float_m2(C, sum, row, column, N);
}

MATRIX_KERNEL bf16_gemm_m4(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 4, column = get_group_id(0) * TILE_N;
    float4 sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short4 a = load_a_bf16_m4(A, row, k, K);
        int8 b = load_b_bf16(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float_m4(C, sum, row, column, N);
}

MATRIX_KERNEL bf16_gemm_m8(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 8, column = get_group_id(0) * TILE_N;
    float8 sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short8 a = load_a_bf16_m8(A, row, k, K);
        int8 b = load_b_bf16(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float_m8(C, sum, row, column, N);
}

MATRIX_KERNEL bf16_gemm_packed_m1(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 1, column = get_group_id(0) * TILE_N;
    float sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short a = load_a_bf16_row(A, row, k, K);
        int8 b = load_b_bf16_packed(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float(C, sum, row, column, N);
}

MATRIX_KERNEL bf16_gemm_packed_m2(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 2, column = get_group_id(0) * TILE_N;
    float2 sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short2 a = load_a_bf16_m2(A, row, k, K);
        int8 b = load_b_bf16_packed(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float_m2(C, sum, row, column, N);
}

MATRIX_KERNEL bf16_gemm_packed_m4(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 4, column = get_group_id(0) * TILE_N;
    float4 sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short4 a = load_a_bf16_m4(A, row, k, K);
        int8 b = load_b_bf16_packed(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float_m4(C, sum, row, column, N);
}

MATRIX_KERNEL bf16_gemm_packed_m8(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 8, column = get_group_id(0) * TILE_N;
    float8 sum = 0.0f;
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short8 a = load_a_bf16_m8(A, row, k, K);
        int8 b = load_b_bf16_packed(B, k, column, N);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
    }
    store_float_m8(C, sum, row, column, N);
}

// Each sub-group computes 2 x 2 tiles, so that what it loads is used more than once.
MATRIX_KERNEL bf16_gemm_blocked_2x2(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 8 * 2, column = get_group_id(0) * TILE_N * 2;
    float8 sum[2][2];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j)
            sum[i][j] = 0.0f;
    }
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short8 a[2];
        int8 b[2];
        for (int i = 0; i < 2; ++i)
            a[i] = load_a_bf16_m8(A, row + 8 * i, k, K);
        for (int j = 0; j < 2; ++j)
            b[j] = load_b_bf16_packed(B, k, column + TILE_N * j, N);
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j)
                sum[i][j] = intel_sub_group_bf16_bf16_matrix_mad_k16(a[i], b[j], sum[i][j]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j)
            store_float_m8(C, sum[i][j], row + 8 * i, column + TILE_N * j, N);
    }
}

// Each sub-group computes 4 x 2 tiles, so that what it loads is used more than once.
MATRIX_KERNEL bf16_gemm_blocked_4x2(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 8 * 4, column = get_group_id(0) * TILE_N * 2;
    float8 sum[4][2];
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j)
            sum[i][j] = 0.0f;
    }
    for (int k = 0; k < K; k += BF16_TILE_K) {
        short8 a[4];
        int8 b[2];
        for (int i = 0; i < 4; ++i)
            a[i] = load_a_bf16_m8(A, row + 8 * i, k, K);
        for (int j = 0; j < 2; ++j)
            b[j] = load_b_bf16_packed(B, k, column + TILE_N * j, N);
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 2; ++j)
                sum[i][j] = intel_sub_group_bf16_bf16_matrix_mad_k16(a[i], b[j], sum[i][j]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j)
            store_float_m8(C, sum[i][j], row + 8 * i, column + TILE_N * j, N);
    }
}

// Four sub-groups share a stripe of B in local memory; the next stripe is fetched while this one is multiplied.
__attribute__((reqd_work_group_size(SUB_GROUP, 4, 1)))
MATRIX_KERNEL bf16_gemm_local(global const ushort *A, global const ushort *B, global float *C, int N, int K)
{
    local int stripe[2][BF16_TILE_K / 2][TILE_N];
    const int lane = get_local_id(0), sub_group = get_local_id(1);
    const int row = (get_group_id(1) * 4 + sub_group) * 8, column = get_group_id(0) * TILE_N;
    global const int *packed = (global const int *)B + column + lane;
    float8 sum = 0.0f;
    int buffer = 0;

    for (int i = sub_group; i < BF16_TILE_K / 2; i += 4)
        stripe[0][i][lane] = packed[i * N];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < K; k += BF16_TILE_K) {
        const int next = k + BF16_TILE_K;
        if (next < K) {
            for (int i = sub_group; i < BF16_TILE_K / 2; i += 4)
                stripe[buffer ^ 1][i][lane] = packed[(next / 2 + i) * N];
        }
        intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);
        short8 a = load_a_bf16_m8(A, row, k, K);
        int8 b;
        b.lo = (int4)(stripe[buffer][0][lane], stripe[buffer][1][lane], stripe[buffer][2][lane],
                      stripe[buffer][3][lane]);
        b.hi = (int4)(stripe[buffer][4][lane], stripe[buffer][5][lane], stripe[buffer][6][lane],
                      stripe[buffer][7][lane]);
        sum = intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sum);
        intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);
        buffer ^= 1;
    }
    store_float_m8(C, sum, row, column, N);
}

// ------------------------------------------------------------------------------------- tf32

// A tile of A has 8 columns: the lower half of the sub-group holds the even rows, the upper half the odd ones.
inline float4 load_a_tf32_m8(global const float *A, int row, int k, int K)
{
    const int lane = get_sub_group_local_id();
    global const float *p = A + (row + lane / TF32_TILE_K) * K + k + lane % TF32_TILE_K;
    return intel_convert_tfloat324_as_float4((float4)(p[0], p[2 * K], p[4 * K], p[6 * K]));
}

inline float8 load_b_tf32(global const float *B, int k, int column, int N)
{
    global const float *p = B + k * N + column + get_sub_group_local_id();
    float8 b = (float8)(p[0], p[N], p[2 * N], p[3 * N], p[4 * N], p[5 * N], p[6 * N], p[7 * N]);
    return intel_convert_tfloat328_as_float8(b);
}

MATRIX_KERNEL tf32_gemm_m8(global const float *A, global const float *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 8, column = get_group_id(0) * TILE_N;
    float8 sum = 0.0f;
    for (int k = 0; k < K; k += TF32_TILE_K) {
        float4 a = load_a_tf32_m8(A, row, k, K);
        float8 b = load_b_tf32(B, k, column, N);
        sum = intel_sub_group_tf32_tf32_matrix_mad_k8(a, b, sum);
    }
    store_float_m8(C, sum, row, column, N);
}

MATRIX_KERNEL tf32_gemm_m16(global const float *A, global const float *B, global float *C, int N, int K)
{
    const int row = get_group_id(1) * 16, column = get_group_id(0) * TILE_N;
    float8 upper = 0.0f, lower = 0.0f;
    for (int k = 0; k < K; k += TF32_TILE_K) {
        float8 b = load_b_tf32(B, k, column, N);
        upper = intel_sub_group_tf32_tf32_matrix_mad_k8(load_a_tf32_m8(A, row, k, K), b, upper);
        lower = intel_sub_group_tf32_tf32_matrix_mad_k8(load_a_tf32_m8(A, row + 8, k, K), b, lower);
    }
    store_float_m8(C, upper, row, column, N);
    store_float_m8(C, lower, row + 8, column, N);
}

// ------------------------------------------------------------------------------------- around the products

kernel void pack_b_int8(global const char *B, global int *packed, int N)
{
    const int column = get_global_id(0), row = get_global_id(1) * 4;
    packed[row / 4 * N + column] = pack4(B + row * N + column, N);
}

kernel void pack_b_bf16(global const ushort *B, global int *packed, int N)
{
    const int column = get_global_id(0), row = get_global_id(1) * 2;
    packed[row / 2 * N + column] = pack2(B + row * N + column, N);
}

kernel void to_bf16(global const float *from, global ushort *to, int count)
{
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        to[i] = float_to_bf16(from[i]);
}

kernel void from_bf16(global const ushort *from, global float *to, int count)
{
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        to[i] = bf16_to_float(from[i]);
}

kernel void find_range(global const float *values, volatile global int *largest, int count)
{
    float found = 0.0f;
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        found = fmax(found, fabs(values[i]));
    const float together = sub_group_reduce_max(found);
    if (get_sub_group_local_id() == 0)
        atomic_max(largest, as_int(together));
}

kernel void quantise_rows(global const float *from, global char *to, global float *scales, int columns)
{
    const int row = get_group_id(0), lane = get_local_id(0), lanes = get_local_size(0);
    global const float *p = from + row * columns;
    float largest = 0.0f;
    for (int i = lane; i < columns; i += lanes)
        largest = fmax(largest, fabs(p[i]));
    largest = work_group_reduce_max(largest);
    const float scale = largest > 0.0f ? 127.0f / largest : 1.0f;
    for (int i = lane; i < columns; i += lanes)
        to[row * columns + i] = quantise(p[i], scale);
    if (lane == 0)
        scales[row] = 1.0f / scale;
}

kernel void softmax_rows(global float *values, int columns)
{
    global float *p = values + get_group_id(0) * columns;
    const int lane = get_local_id(0), lanes = get_local_size(0);
    float largest = -INFINITY, sum = 0.0f;
    for (int i = lane; i < columns; i += lanes)
        largest = fmax(largest, p[i]);
    largest = work_group_reduce_max(largest);
    for (int i = lane; i < columns; i += lanes) {
        const float power = exp(p[i] - largest);
        p[i] = power;
        sum += power;
    }
    sum = work_group_reduce_add(sum);
    for (int i = lane; i < columns; i += lanes)
        p[i] /= sum;
}

kernel void normalise_rows(global const float *from, global float *to, global const float *weight,
                           global const float *bias, int columns, float epsilon)
{
    const int row = get_group_id(0), lane = get_local_id(0), lanes = get_local_size(0);
    global const float *p = from + row * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < columns; i += lanes) {
        sum += p[i];
        squares = fma(p[i], p[i], squares);
    }
    const float mean = work_group_reduce_add(sum) / columns;
    const float variance = work_group_reduce_add(squares) / columns - mean * mean;
    const float factor = rsqrt(variance + epsilon);
    for (int i = lane; i < columns; i += lanes)
        to[row * columns + i] = fma((p[i] - mean) * factor, weight[i], bias[i]);
}

#define TRANSPOSE_TILE 16

kernel void transpose(global const float *from, global float *to, int rows, int columns)
{
    local float tile[TRANSPOSE_TILE][TRANSPOSE_TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1);
    int column = get_group_id(0) * TRANSPOSE_TILE + x, row = get_group_id(1) * TRANSPOSE_TILE + y;
    if (row < rows && column < columns)
        tile[y][x] = from[row * columns + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    column = get_group_id(1) * TRANSPOSE_TILE + x;
    row = get_group_id(0) * TRANSPOSE_TILE + y;
    if (row < columns && column < rows)
        to[row * rows + column] = tile[x][y];
}

// The place of the largest value of each row; of equal ones, the first.
kernel void largest_of_rows(global const float *values, global int *places, int columns)
{
    global const float *p = values + get_global_id(0) * columns;
    int place = 0;
    for (int i = 1; i < columns; ++i)
        place = p[i] > p[place] ? i : place;
    places[get_global_id(0)] = place;
}
