// printf: scalars, vectors, strings, formats that are chosen at run time, branches and loops. Each call is one line.

constant char shared_format[] = "item %d has %ld\n";

kernel void scalars(global const int *n, global const float *x)
{
    size_t i = get_global_id(0);
    long wide = n[i] * 1000003L;
    printf("%d|%7d|%-7d|%+d|%07d|%.4d|% i\n", n[i], n[i], n[i], n[i], n[i], n[i], n[i]);
    printf("%u %x %#X %o %hhu %hd %c%c\n", n[i], n[i], n[i], n[i], n[i], (short)n[i], 'a' + (char)(i % 26), 'z');
    printf("%ld %lu %#lx\n", wide, wide, wide);
    printf("%f %.2f %12.3e %-9g| %G\n", x[i], x[i], x[i], x[i], x[i]);
    printf("%a %.1A\n", x[i], x[i]);
    printf("%d %d %f%%\n", x[i] > 0, (bool)n[i], (double)x[i] / 2);
}

kernel void components(global const int4 *n, global const float4 *x)
{
    size_t i = get_global_id(0);
    printf("%v4hld %#v4hlx\n", n[i], convert_uint4(n[i]));
    printf("%v2hlf %+v4hlg %8.2v3hle\n", x[i].xy, x[i], x[i].xyz);
    printf("%v4hhd %v4hhu %v4hd\n", convert_char4(n[i]), convert_uchar4(n[i]), convert_short4(n[i]));
    printf("%v8ld %v2lf\n", (long8)(convert_long4(n[i]) * 100000, convert_long4(n[i])), convert_double2(x[i].zw));
}

kernel void choices(global const int *n)
{
    int i = get_global_id(0), value = n[i];
    constant char *const format = value & 1 ? "%d is odd: %d\n" : "%d is even: %d\n";
    printf(format, i, value);
    printf(shared_format, i, (long)value);
    if (value < 0) {
        printf("item %d, %s, %.3s\n", i, "negative", "negative");
        return;
    }
    for (int step = 0; step < value % 4; ++step)
        printf("item %d, step %d of %d%s\n", i, step, value % 4, step == 0 ? " (the first)" : "");
    printf("item %d done\n", i);
}
