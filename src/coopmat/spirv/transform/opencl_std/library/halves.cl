// The few functions of fp16 that are not those of floats, rounded.

ushort nextafter_f16(ushort a, ushort b) {
    int x = a & 0x8000 ? -(a & 0x7fff) : a, y = b & 0x8000 ? -(b & 0x7fff) : b;
    int moved = x < y ? x + 1 : x - 1;
    ushort found = (ushort)(moved < 0 || (moved == 0 && x < 0) ? 0x8000 - moved : moved);
    bool none = (a & 0x7fff) > 0x7c00 || (b & 0x7fff) > 0x7c00;
    return none ? 0x7e00 : x == y ? b : found;
}
ushort nan_f16(ushort payload) { return (ushort)((payload & 0x1ff) | 0x7e00); }

// The product is exact in float; the sum's last bit is 1 where it is inexact, so that rounding it is as if it were done
// once.
float fma_f16(float a, float b, float c) {
    float product = a * b, sum = product + c, part = sum - product;
    float rest = (product - (sum - part)) + (c - part);
    uint bits = as_uint(sum);
    bool odd = rest != 0 && rest - rest == 0 && (bits & 1) == 0;
    return odd ? as_float((rest > 0) != (sum > 0) ? bits - 1 : bits + 1) : sum;
}
float fract_f16(float x) {
    float found = x - floor(x);
    found = found > 0x1.ffcp-1f ? 0x1.ffcp-1f : found;
    return x == 0 || x - x != 0 ? (x == x ? copysign(0.0f, x) : x) : found;
}
