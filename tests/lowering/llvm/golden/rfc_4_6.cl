// Section 4.6 of the RFC: operators.
kernel void operators(global float *A)
{
    typedef float matA __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 8, CLK_COOPERATIVE_MATRIX_A)));
    matA a = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    matA c = a * 4;
    c = -c;
    c = c + c;
    c = c - a;
    c = c * a;
    c = c / a;
    coop_mat_store(A, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
