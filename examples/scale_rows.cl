// Work on the components of a matrix: each work-item holds coop_mat_length(c) of them and can ask
// where they lie. Here every row of C is multiplied by a factor of its own, without a trip to memory.
//
// One sub-group handles one 8 x 16 tile; global size = (N / 16 * sub-group size, M / 8).

typedef float tile
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

kernel void scale_rows(global float *C, global const float *factors, int N)
{
    const size_t row = get_group_id(1) * 8;
    const size_t column = get_group_id(0) * 16;
    global float *corner = C + row * N + column;

    tile c = coop_mat_load(corner, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, N);
    for (uint i = 0; i < coop_mat_length(c); ++i) {
        int2 position = coop_mat_get_coord(c, i);
        if (position.x < 8)
            c[i] *= factors[row + position.x];
    }
    coop_mat_store(corner, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, N);
}
