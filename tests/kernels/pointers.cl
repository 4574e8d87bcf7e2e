// Structures and arrays of pointers as values.

struct view {
    global int *data;
    int stride;
};

struct views {
    struct view of[2];
    global const int *factors;
};

__attribute__((noinline)) struct view from_row(struct view whole, int row)
{
    struct view rest = { whole.data + row * whole.stride, whole.stride };
    return rest;
}

__attribute__((noinline)) struct views both(struct view first, struct view second, global const int *factors)
{
    struct views found = { { first, second }, factors };
    return found;
}

kernel void views(global int *out, global const int *factors, int rows, int stride)
{
    struct view whole = { out, stride };
    struct views found = both(whole, from_row(whole, 1), factors), next = found;
    for (int row = 0; row < rows; row += 2) {
        int column = get_global_id(0);
        for (int i = 0; i < 2; ++i)
            found.of[i].data[column] = found.factors[row + i] * column;
        next.of[0] = from_row(found.of[0], 2);
        next.of[1] = from_row(found.of[1], 2);
        found = row + 2 < rows ? next : found;
    }
}
