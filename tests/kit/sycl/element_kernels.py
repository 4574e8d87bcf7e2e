"""Operations on the elements of matrices, one kernel for each element type and use."""

from coopmat.sycl import (
    boolean,
    float32,
    float64,
    int32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_load,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    ptr,
    sub_group,
    use,
)

OPERATIONS = ("+", "-", "*", "/", "%", "-x", "<", "<=", ">", ">=", "==", "!=", "to int32", "to float32", "to float64",
              "to bool", "choice", "first of two matrices", "second of two matrices")


def element_wise(T, role, m, n):
    """out[i] = operation i of OPERATIONS on each element of A and v; the last ones get elements of A and B."""
    matrix = joint_matrix[sub_group, T, role, m, n] if role is use.accumulator else joint_matrix[
        sub_group, T, role, m, n, layout.row_major]
    S = T.storage
    is_float = S.scalar.is_float

    @kernel
    def operate(item: nd_item[1], A: ptr[S], B: ptr[S], out: ptr[S], v: S):
        sg = item.get_sub_group()

        def load(target, source):
            if role == use.accumulator:
                joint_matrix_load(sg, target, source, n, layout.row_major)
            else:
                joint_matrix_load(sg, target, source, n)

        def put(source, index):
            if role == use.accumulator:
                joint_matrix_store(sg, source, out + index * m * n, n, layout.row_major)
            else:
                joint_matrix_store(sg, source, out + index * m * n, n)

        def remainder(x):
            return x % v if not is_float else x - v

        functions = [lambda x: x + v, lambda x: x - v, lambda x: x * v, lambda x: x / v, remainder, lambda x: -x,
                     lambda x: x < v, lambda x: x <= v, lambda x: x > v, lambda x: x >= v, lambda x: x == v,
                     lambda x: x != v, lambda x: int32(x), lambda x: float32(x), lambda x: float64(x),
                     lambda x: boolean(x), lambda x: x if x > v else v]
        a, b = matrix(), matrix()
        for index, function in enumerate(functions):
            load(a, A)
            joint_matrix_apply(sg, a, function)
            put(a, index)

        def exchange(x, y):
            z = x
            x = y
            y = z + y

        load(a, A)
        load(b, B)
        joint_matrix_apply(sg, a, b, exchange)
        put(a, len(functions))
        put(b, len(functions) + 1)

    return operate
