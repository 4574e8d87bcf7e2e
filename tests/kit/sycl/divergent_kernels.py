"""Group functions that the first ``limit`` work-items of a sub-group reach; each writes 1 to the first element."""

from coopmat.sycl import (
    bfloat16,
    float32,
    int32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_copy,
    joint_matrix_fill,
    joint_matrix_fill_checked,
    joint_matrix_load,
    joint_matrix_load_checked,
    joint_matrix_mad,
    joint_matrix_prefetch,
    joint_matrix_store,
    joint_matrix_store_checked,
    kernel,
    layout,
    nd_item,
    ptr,
    sub_group,
    use,
)

ROW = layout.row_major


@kernel
def load(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    C[0] = 1
    if item.get_local_id(0) < limit:
        joint_matrix_load(sg, c, C, 16, ROW)  # here


@kernel
def store(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    joint_matrix_fill(sg, c, 1)
    for _ in range(2 if item.get_local_id(0) < limit else 1):
        joint_matrix_store(sg, c, C, 16, ROW)  # here


@kernel
def fill(item: nd_item[1], C: ptr[int32], limit: int32):
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    C[0] = 1
    if item.get_local_id(0) >= limit:
        return
    joint_matrix_fill(item.get_sub_group(), c, 1)  # here
    joint_matrix_store(item.get_sub_group(), c, C, 16, ROW)


@kernel
def multiply_and_add(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, bfloat16, use.a, 16, 16, ROW)
    b = joint_matrix(sub_group, bfloat16, use.b, 16, 16, ROW)
    c = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
    joint_matrix_fill(sg, a, 1)
    joint_matrix_fill(sg, b, 1)
    joint_matrix_fill(sg, c, 1)
    i = 0
    while i < 3:
        if item.get_local_id(0) >= limit:
            break
        joint_matrix_mad(sg, c, a, b, c)  # here
        i += 1
    C[0] = 1


@kernel
def copy(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, bfloat16, use.a, 16, 16, ROW)
    c = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
    joint_matrix_fill(sg, a, 1)
    C[0] = 1
    if item.get_local_id(0) < limit:
        joint_matrix_copy(sg, a, c)  # here


@kernel
def apply(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
    joint_matrix_fill(sg, c, 1)
    C[0] = 1
    if item.get_local_id(0) < limit:
        joint_matrix_apply(sg, c, lambda x: x * 2)  # here


@kernel
def prefetch(item: nd_item[1], C: ptr[int32], limit: int32):
    C[0] = 1
    if item.get_local_id(0) < limit:
        joint_matrix_prefetch[16, 16](item.get_sub_group(), C, 16, ROW)  # here


@kernel
def load_checked(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    C[0] = 1
    if item.get_local_id(0) < limit:
        joint_matrix_load_checked(sg, c, C, 16, ROW, 16, 16, 0, 0)  # here


@kernel
def store_checked(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    joint_matrix_fill(sg, c, 1)
    if item.get_local_id(0) < limit:
        joint_matrix_store_checked(sg, c, C, 16, ROW, 16, 16, 0, 0)  # here


@kernel
def fill_checked(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    C[0] = 1
    if item.get_local_id(0) < limit:
        joint_matrix_fill_checked(sg, c, 1, 16, 16, 0, 0)  # here


@kernel
def barrier(item: nd_item[1], C: ptr[int32], limit: int32):
    C[0] = 1
    if item.get_local_id(0) < limit:
        item.barrier()  # here


@kernel
def in_a_helper(item: nd_item[1], C: ptr[int32], limit: int32):
    def loaded(matrix):
        joint_matrix_load(item.get_sub_group(), matrix, C, 16, ROW)  # here

    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    C[0] = 1
    if item.get_local_id(0) < limit:
        loaded(c)


@kernel
def after_divergence(item: nd_item[1], C: ptr[int32], limit: int32):
    """Work-items that were apart are together again."""
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    value = 0
    for _ in range(item.get_local_id(0)):
        value += 1
    if value % 2 == 0:
        C[value + 256] = value
    joint_matrix_fill(sg, c, limit - 15)
    joint_matrix_store(sg, c, C, 16, ROW)


@kernel
def divergent_elements(item: nd_item[1], C: ptr[int32], limit: int32):
    """The function that joint_matrix_apply calls may take different ways in different work-items."""
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)

    def halved(x, row, col):
        steps = 0
        while x > 1:
            if (row + col) % 2 == 1 and steps == 3:
                return 1
            x = x >> 1
            steps += 1
        return 1 if steps < 5 else 0

    for i in range(item.get_local_id(0), 256, item.get_local_range(0)):
        C[i] = limit + i
    item.barrier()
    joint_matrix_load(sg, c, C, 16, ROW)
    joint_matrix_apply(sg, c, halved)
    joint_matrix_store(sg, c, C, 16, ROW)


@kernel
def where_all_agree(item: nd_item[1], C: ptr[int32], limit: int32):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, int32, use.accumulator, 16, 16)
    if item.get_group(0) == 0 and limit > 3:
        for k in range(limit):
            joint_matrix_fill(sg, c, k - 14)
        joint_matrix_store(sg, c, C, 16, ROW)


DIVERGENT = (load, store, fill, multiply_and_add, copy, apply, prefetch, load_checked, store_checked, fill_checked,
             barrier, in_a_helper)
ORDERLY = (after_divergence, divergent_elements, where_all_agree)
