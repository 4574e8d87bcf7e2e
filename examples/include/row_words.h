// For emulation: word j (of 8) of a row of A whose TK elements lie side by side in the work-items.

#if TN == 16
static uint word_of_row(const A_PART *a, int row, int j)
{
    return as_uint((ushort2)(sub_group_shuffle(as_ushort(a[row]), lane_of(2 * j)),
                             sub_group_shuffle(as_ushort(a[row]), lane_of(2 * j + 1))));
}
#else
static uint word_of_row(const A_PART *a, int row, int j)
{
    return sub_group_shuffle(as_uint(a[row]), lane_of(j));
}
#endif
