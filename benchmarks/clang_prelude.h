// What large_kernel.cl needs and clang does not declare by itself: types, and the functions of Intel's extensions.
#define __opencl_subgroup_builtins 1
#define CLK_LOCAL_MEM_FENCE 1
#define INFINITY __builtin_inff()
#define as_short(x) __builtin_astype((x), short)
#define as_int(x) __builtin_astype((x), int)
#define as_uint(x) __builtin_astype((x), uint)
#define as_float(x) __builtin_astype((x), float)

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef uint cl_mem_fence_flags;
typedef enum { memory_scope_work_item, memory_scope_sub_group, memory_scope_work_group } memory_scope;
typedef enum { memory_order_relaxed, memory_order_acquire, memory_order_release } memory_order;

#define VECTOR(type, count) typedef type type##count __attribute__((ext_vector_type(count)))
#define VECTORS(type) VECTOR(type, 2); VECTOR(type, 3); VECTOR(type, 4); VECTOR(type, 8); VECTOR(type, 16)
VECTORS(char);
VECTORS(uchar);
VECTORS(short);
VECTORS(ushort);
VECTORS(int);
VECTORS(uint);
VECTORS(long);
VECTORS(ulong);
VECTORS(float);

#define FUNCTION __attribute__((overloadable, convergent))
uint FUNCTION intel_sub_group_block_read(const global uint *);
void FUNCTION intel_sub_group_block_write(global uint *, uint);
void FUNCTION intel_work_group_barrier_arrive(uint);
void FUNCTION intel_work_group_barrier_wait(uint);
float4 FUNCTION intel_convert_tfloat324_as_float4(float4);
float8 FUNCTION intel_convert_tfloat328_as_float8(float8);
float8 FUNCTION intel_sub_group_tf32_tf32_matrix_mad_k8(float4, float8, float8);
#define MATRIX_MAD(rows) \
    int##rows FUNCTION intel_sub_group_i8_i8_matrix_mad_k32(short##rows, int8, int##rows); \
    float##rows FUNCTION intel_sub_group_bf16_bf16_matrix_mad_k16(short##rows, int8, float##rows)
MATRIX_MAD();
MATRIX_MAD(2);
MATRIX_MAD(4);
MATRIX_MAD(8);
