// Vectors: literals, swizzles, conversions, relational functions.

kernel void swizzles(global float4 *out, global const float4 *in)
{
    float4 v = in[get_global_id(0)];
    float3 t = v.xyz;
    v.s31 = v.xy;
    v.hi += (float2)(1.0f, t.z);
    v.even *= 2.0f;
    out[get_global_id(0)] = (float4)(v.w, v.zy, t.x) - v;
}

kernel void conversions(global int4 *out, global const float4 *in, global const uchar4 *bytes)
{
    const size_t i = get_global_id(0);
    int4 r = convert_int4_rte(in[i]);
    uchar4 s = convert_uchar4_sat_rtz(in[i]);
    r += convert_int4(as_char4(bytes[i])) * convert_int4(s);
    out[i] = r;
}

kernel void comparisons(global int4 *out, global const float4 *a, global const float4 *b)
{
    const size_t i = get_global_id(0);
    int4 less = a[i] < b[i];
    float4 chosen = less ? a[i] : b[i];
    out[i] = less + isnan(a[i]) * 2 + (any(less) ? 16 : 0) + (all(less) ? 32 : 0)
           + convert_int4(select(chosen, -chosen, isgreater(chosen, (float4)(1.0f))));
}

kernel void integers(global long *out, global const int *a, global const int *b)
{
    const size_t i = get_global_id(0);
    long r = mul_hi(a[i], b[i]);
    r += (long)add_sat(a[i], b[i]) + abs_diff(a[i], b[i]);
    r ^= rotate((uint)a[i], (uint)b[i]);
    r += popcount(a[i]) + clz(b[i]) + ((uint)a[i] >> (b[i] & 63)) + (a[i] >> 3);
    out[i] = r + max(a[i], b[i]) % 1000 - (uchar)a[i] + (char)b[i];
}

kernel void dynamic_components(global int *out, int n)
{
    int8 v = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    const int id = get_global_id(0);
    for (int i = 0; i < n; ++i)
        v[(id + i) & 7] += v[i & 7] * id;
    out[id] = v.s0 + v.s3 * 3 + v[id & 7];
}
