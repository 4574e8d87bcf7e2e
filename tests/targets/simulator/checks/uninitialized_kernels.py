"""Data that nobody has written, used in each kernel."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from tests.kit.checks.planted import Planted

BAD = cm.UninitializedRead
MATRIX = """
#define MATRIX(type, r, c, use) \\
    type __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
"""


def matrices():
    """Operands and result of one int8 product of 8x32 and 32x16."""
    return [np.ones(256, np.int8), np.ones(512, np.int8), np.zeros(128, np.int32)]


UNINITIALIZED = [
    Planted("a sum", """
kernel void k(global int *a) {
    int sum{};
    for (int i = 0; i < 4; ++i)
        sum += i;
    a[get_global_id(0)] = sum;  // HERE
}""", "", " = 0", BAD, ("'sum'", "element 0 of argument 0 'a'")),
    Planted("a branch", """
kernel void k(global int *a) {
    int is_set{};
    if (get_global_id(0) > 60)
        is_set = 1;
    if (is_set)  // HERE
        a[get_global_id(0)] = 1;
}""", "", " = 0", BAD, ("condition of a branch", "'is_set'")),
    Planted("a switch", """
kernel void k(global int *a) {
    int kind{};
    switch (kind) {  // HERE
    case 0: a[get_global_id(0)] = 1; break;
    case 1: a[get_global_id(0)] = 2; break;
    }
}""", "", " = 1", BAD, ("'kind'",)),
    Planted("the bound of a loop", """
kernel void k(global int *a) {
    int n{};
    for (int i = 0; i < n; ++i)  // HERE
        a[get_global_id(0)] += i;
}""", "", " = 3", BAD, ("'n'",)),
    Planted("an index", """
kernel void k(global int *a) {
    int i{};
    a[get_global_id(0) + i] = 1;  // HERE
}""", "", " = 2", BAD, ("the address of an access", "'i'")),
    Planted("local memory that is partly written", """
kernel void k(global int *a) {
    local int t[32];
    if (get_local_id(0) < {})
        t[get_local_id(0)] = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = t[31 - get_local_id(0)];  // HERE
}""", "31", "32", BAD, ("'t'",)),
    Planted("a private array", """
kernel void k(global int *a) {
    int p[8];
    for (int i = 0; i < {}; ++i)
        p[i] = i;
    a[get_global_id(0)] = p[get_global_id(0) % 8];  // HERE
}""", "7", "8", BAD, ("'p'", "lane 7")),
    Planted("a counter in local memory", """
kernel void k(global int *a) {
    local int n;
    {}
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&n);  // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = n;
}""", "", "if (get_local_id(0) == 0) n = 0;", BAD, ("'n'", "has not been written")),
    Planted("a component of a vector", """
kernel void k(global int *a) {
    int4 v;
    v.x = 1;
    v.y = 2;
    v.z = 3;
    {}
    vstore4(v, get_global_id(0), a);  // HERE
}""", "", "v.w = 4;", BAD, ("'v'", "element 3")),
    Planted("a member of a structure", """
struct pair { int a; float b; };
int first(struct pair *p) { return p->a; }
kernel void k(global int *a) {
    struct pair p;
    p.b = 1;
    {}
    a[get_global_id(0)] = first(&p);  // HERE
}""", "", "p.a = 2;", BAD, ("'p'",)),
    Planted("what a function returns", """
int half_of(int x) {
    int result{};
    if (x > 3)
        result = x / 2;
    return result;
}
kernel void k(global int *a) {
    a[get_global_id(0)] = half_of(get_global_id(0));  // HERE
}""", "", " = 0", BAD, ("'result'",)),
    Planted("an operand of a reduction", """
kernel void k(global int *a) {
    int x{};
    a[get_global_id(0)] = sub_group_reduce_add(x);  // HERE
}""", "", " = 1", BAD, ("an operand of",)),
    Planted("through a shuffle", """
kernel void k(global int *a) {
    int x;
    if (get_sub_group_local_id() {})
        x = 1;
    a[get_global_id(0)] = sub_group_shuffle(x, 3);  // HERE
}""", "!= 3", "<= 3", BAD, ("'x'",)),
    Planted("through arithmetic and a conversion", """
kernel void k(global int *a) {
    float x{};
    float y = sqrt(x * 2.0f) + 1.0f;
    a[get_global_id(0)] = (int)y;  // HERE
}""", "", " = 1", BAD, ("'x'",)),
    Planted("bits that a mask leaves", """
kernel void k(global int *a) {
    int x;
    char *bytes = (char *)&x;
    bytes[0] = 1;
    bytes[1] = 2;
    a[get_global_id(0)] = x & {};  // HERE
}""", "0x10000", "0xffff", BAD, ("'x'",)),
    Planted("an accumulator", MATRIX + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const char *A, global const char *B, global int *C) {
    MATRIX(char, 8, 32, A) a = coop_mat_load(A, ROW, 32);
    MATRIX(char, 32, 16, B) b = coop_mat_load(B, ROW, 16);
    MATRIX(int, 8, 16, ACCUMULATOR) c{};
    c = coop_matmul_add(a, b, c, 15);
    coop_mat_store(C, c, ROW, 16);  // HERE
}""", "", " = coop_mat_init(0)", BAD, ("'c'", "argument 2 'C'"), matrices, (16,), (16,)),
    Planted("one element of an operand", MATRIX + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const char *A, global const char *B, global int *C) {
    local char t[256];
    for (int i = get_local_id(0); i < {}; i += 16)
        t[i] = A[i];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    MATRIX(char, 8, 32, A) a = coop_mat_load(t, ROW, 32);
    MATRIX(char, 32, 16, B) b = coop_mat_load(B, ROW, 16);
    MATRIX(int, 8, 16, ACCUMULATOR) c = coop_mat_init(0);
    c = coop_matmul_add(a, b, c, 15);
    coop_mat_store(C, c, ROW, 16);  // HERE
}""", "255", "256", BAD, (r"element \(7, 31\) of A", "row 7, by k = 31", "element 112 of argument 2 'C'"), matrices,
            (16,), (16,)),
    Planted("an asynchronous copy of too little", """
kernel void k(global int *a, global const int *b) {
    local int t[32];
    event_t e = async_work_group_copy(t, b, {}, 0);
    wait_group_events(1, &e);
    a[get_global_id(0)] = t[31 - get_local_id(0)];  // HERE
}""", "31", "32", BAD, ("'t'", "lane 0"), lambda: [np.zeros(256, np.int32), np.zeros(32, np.int32)]),
    Planted("Python: an accumulator that is not filled", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], A: ptr[int8], B: ptr[int8], C: ptr[int32]):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    b = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    c = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
    {}
    joint_matrix_load(sg, a, A, 32)
    joint_matrix_load(sg, b, B, 16)
    joint_matrix_mad(sg, c, a, b, c)
    joint_matrix_store(sg, c, C, 16, layout.row_major)  # HERE
""", "pass", "joint_matrix_fill(sg, c, 0)", BAD, ("'c'",), matrices, (16,), (16,)),
    Planted("Python: an operand that is not loaded", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], A: ptr[int8], B: ptr[int8], C: ptr[int32]):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    b = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    c = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
    joint_matrix_fill(sg, c, 0)
    joint_matrix_load(sg, a, A, 32)
    {}
    joint_matrix_mad(sg, c, a, b, c)
    joint_matrix_store(sg, c, C, 16, layout.row_major)  # HERE
""", "pass", "joint_matrix_load(sg, b, B, 16)", BAD, ("'b'", "of B", "column 0"), matrices, (16,), (16,)),
    Planted("Python: local memory", """
@kernel(work_group_size=32)
def k(item: nd_item[1], out: ptr[int32]):
    tile = group_local_memory_for_overwrite[int32, 32](item.get_group()).get_multi_ptr()
    i = item.get_local_id(0)
    if i {}:
        tile[i] = i
    group_barrier(item.get_group())
    out[item.get_global_id(0)] = tile[31 - i]  # HERE
""", "> 0", ">= 0", BAD, ("'tile'",)),
]
