"""Kernels in which sub-groups and work-groups do things together, atomically, and mathematics."""

from __future__ import annotations

GROUPS = """
#pragma OPENCL EXTENSION all : enable
kernel void sub_groups(global int *a, global float *b, global ulong *c, global half *h)
{
    size_t i = get_global_id(0);
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    a[i] = sub_group_reduce_add(a[i]) + sub_group_scan_inclusive_max(a[i]) + sub_group_scan_exclusive_min(a[i]);
    b[i] = sub_group_shuffle(b[i], get_sub_group_size() - 1 - get_sub_group_local_id());
    b[i] += sub_group_shuffle_xor(b[i], 3);
    c[i] = sub_group_broadcast(c[i], 2) + sub_group_shuffle_down(c[i], 1) + sub_group_ballot(a[i] > 0).x;
    h[i] = sub_group_shuffle_up(h[i], 2);
    a[i] += sub_group_all(a[i] > 3) + sub_group_any(a[i] < 3) + sub_group_elect();
    a[i] += sub_group_clustered_reduce_add(a[i], 4) + sub_group_non_uniform_all_equal(a[i]);
    b[i] += sub_group_broadcast_first(b[i]) + sub_group_ballot_bit_count(sub_group_ballot(a[i] & 1));
}
kernel void work_groups(global int *a, global float *b, local float *l)
{
    size_t i = get_global_id(0), j = get_local_id(0);
    l[j] = b[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[i] = l[get_local_size(0) - 1 - j] + work_group_reduce_add(b[i]);
    a[i] = work_group_scan_exclusive_add(a[i]) + work_group_broadcast(a[i], 3) + work_group_any(a[i] > 1);
    a[i] += get_global_linear_id() + get_num_groups(0) + get_sub_group_id() + get_num_sub_groups();
}
kernel void atomics(global int *a, global float *f, volatile local int *l)
{
    atomic_add(a, 1);
    a[1] = atomic_max(l, (int)get_local_id(0)) + atomic_cmpxchg(a + 2, 1, 2);
    atomic_fetch_add_explicit((volatile global atomic_int *)a, 4, memory_order_acq_rel, memory_scope_device);
    atomic_xchg(f, 2.0f);
}
kernel void mathematics(global float *x, global double *y, global float4 *v, int n)
{
    int i = get_global_id(0);
    x[i] = sin(x[i]) + exp(x[i]) + pow(x[i], 1.5f) + fmod(x[i], 3.0f) + ldexp(x[i], n) + rsqrt(x[i]);
    y[i] = cos(y[i]) + log(y[i]) + sqrt(y[i]) + hypot(y[i], 2.0);
    v[i] = normalize(v[i]) + cross(v[i], v[0]) + (float4)(dot(v[i], v[1]));
}
"""
