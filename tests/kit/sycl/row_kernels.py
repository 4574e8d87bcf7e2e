"""One kernel for each row of the device tables, with every operation on the row's matrices."""

from coopmat.devices import Combination
from coopmat.runtime.element_types import BY_FORMAT
from coopmat.sycl import (
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_copy,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    ptr,
    sub_group,
    use,
)

PRODUCTS = ("row·row", "row·col", "col·row", "col·col", "A filled", "B filled", "A applied", "A copied to col_major",
            "C copied to A", "C copied to B", "A copied to B", "B copied to A")
OF_C = ("C filled", "C applied", "D copied to C", "A copied to C", "B copied to C")
OF_D = ("C copied to D", "D applied")


def stride_of(size: int) -> int:
    """Elements from one row of memory to the next: more than there are, and what every device accepts."""
    return -(-(size + 1) // 8) * 8


def copies_of(m: int, n: int, k: int) -> dict[str, bool]:
    """Which copies between different uses the shapes allow."""
    return {"C copied to A": n == k, "A copied to C": n == k, "C copied to B": m == k, "B copied to C": m == k,
            "A copied to B": m == n == k, "B copied to A": m == n == k}


def kernel_of(row: Combination, m: int, n: int, k: int, sub_group_size: int):
    """The kernel of a row for one shape. Each sub-group has matrices of its own; ``order`` is C's and D's layout in
    memory. P gets products, E and F what was done to C and D, dense and row_major, in the order of the lists above."""
    Ta, Tb, Tc, Td = (BY_FORMAT[name] for name in row.types)
    A_is_float = Ta.scalar.is_float
    C_is_float = Tc.scalar.is_float
    C_has_A, C_has_B, A_has_B = n == k, m == k, m == n == k
    row_of_A, row_of_B, row_of_C = stride_of(k), stride_of(n), stride_of(n)
    column_of_A, column_of_B, column_of_C = stride_of(m), stride_of(k), stride_of(m)

    @kernel(sub_group_size=sub_group_size)
    def operations(item: nd_item[1], A: ptr[Ta.storage], A_columns: ptr[Ta.storage], B: ptr[Tb.storage],
                   B_columns: ptr[Tb.storage], C: ptr[Tc], D: ptr[Td], P: ptr[Td], E: ptr[Tc], F: ptr[Td],
                   fill_A: Ta.storage, fill_B: Tb.storage, fill_C: Tc, order: layout):
        sg = item.get_sub_group()
        group, groups = item.get_group(0), item.get_group_range(0)

        def product(index, first, second):
            result = joint_matrix(sub_group, Td, use.accumulator, m, n)
            joint_matrix_mad(sg, result, first, second, c)
            joint_matrix_store(sg, result, P + (index * groups + group) * m * n, n, layout.row_major)

        def keep(target, index, matrix):
            joint_matrix_store(sg, matrix, target + (index * groups + group) * m * n, n, layout.row_major)

        a = joint_matrix(sub_group, Ta, use.a, m, k, layout.row_major)
        a_columns = joint_matrix(sub_group, Ta, use.a, m, k, layout.col_major)
        b = joint_matrix(sub_group, Tb, use.b, k, n, layout.row_major)
        b_columns = joint_matrix(sub_group, Tb, use.b, k, n, layout.col_major)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        d = joint_matrix(sub_group, Td, use.accumulator, m, n)
        other_a = joint_matrix(sub_group, Ta, use.a, m, k, layout.row_major)
        other_b = joint_matrix(sub_group, Tb, use.b, k, n, layout.row_major)
        other_c = joint_matrix(sub_group, Tc, use.accumulator, m, n)

        # load, multiply and add, store
        joint_matrix_load(sg, a, A + group * m * row_of_A, row_of_A)
        joint_matrix_load(sg, a_columns, A_columns + group * k * column_of_A, column_of_A)
        joint_matrix_load(sg, b, B + group * k * row_of_B, row_of_B)
        joint_matrix_load(sg, b_columns, B_columns + group * n * column_of_B, column_of_B)
        stride = row_of_C if order == layout.row_major else column_of_C
        start = group * (m * row_of_C if order == layout.row_major else n * column_of_C)
        joint_matrix_load(sg, c, C + start, stride, order)
        joint_matrix_mad(sg, d, a, b, c)
        joint_matrix_store(sg, d, D + start, stride, order)
        product(0, a, b)
        product(1, a, b_columns)
        product(2, a_columns, b)
        product(3, a_columns, b_columns)

        # fill
        joint_matrix_fill(sg, other_a, fill_A)
        product(4, other_a, b)
        joint_matrix_fill(sg, other_b, fill_B)
        product(5, a, other_b)
        joint_matrix_fill(sg, other_c, fill_C)
        keep(E, 0, other_c)

        # apply
        joint_matrix_copy(sg, a, other_a)
        joint_matrix_apply(sg, other_a, (lambda x: x * 1.5) if A_is_float else (lambda x: x * 5 - 3))
        product(6, other_a, b)
        joint_matrix_copy(sg, c, other_c)
        joint_matrix_apply(sg, other_c, (lambda x: x * 1.5) if C_is_float else (lambda x: x // 5 - 3))
        keep(E, 1, other_c)
        joint_matrix_copy(sg, d, other_c)
        keep(E, 2, other_c)
        joint_matrix_apply(sg, d, lambda x: -x if x < 0 else x)
        keep(F, 1, d)

        # copy
        joint_matrix_copy(sg, c, d)
        keep(F, 0, d)
        joint_matrix_copy(sg, a, a_columns)
        product(7, a_columns, b)
        if C_has_A:
            joint_matrix_copy(sg, c, other_a)
            product(8, other_a, b)
            joint_matrix_copy(sg, a, other_c)
            keep(E, 3, other_c)
        if C_has_B:
            joint_matrix_copy(sg, c, other_b)
            product(9, a, other_b)
            joint_matrix_copy(sg, b, other_c)
            keep(E, 4, other_c)
        if A_has_B:
            joint_matrix_copy(sg, a, other_b)
            product(10, a, other_b)
            joint_matrix_copy(sg, b, other_a)
            product(11, other_a, b)

    return operations
