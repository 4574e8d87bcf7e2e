// The integer functions of OpenCL.std, of integers of each width.

// What the other widths' functions are made of. Zero has as many leading and trailing zeros as bits.
static uint leading(uint x) { x |= x >> 1; x |= x >> 2; x |= x >> 4; x |= x >> 8; x |= x >> 16; return 32 - popcount(x); }
static uint trailing(uint x) { return popcount(~x & (x - 1)); }

uint popcount_i32(uint x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
uchar popcount_i8(uchar x) { return (uchar)popcount((uint)x); }
ushort popcount_i16(ushort x) { return (ushort)popcount((uint)x); }
ulong popcount_i64(ulong x) { return popcount((uint)x) + popcount((uint)(x >> 32)); }

uchar clz_i8(uchar x) { return (uchar)(leading(x) - 24); }
ushort clz_i16(ushort x) { return (ushort)(leading(x) - 16); }
uint clz_i32(uint x) { return leading(x); }
ulong clz_i64(ulong x) { uint high = (uint)(x >> 32); return high != 0 ? leading(high) : 32 + leading((uint)x); }

uchar ctz_i8(uchar x) { return (uchar)trailing((uint)x | 0x100); }
ushort ctz_i16(ushort x) { return (ushort)trailing((uint)x | 0x10000); }
uint ctz_i32(uint x) { return trailing(x); }
ulong ctz_i64(ulong x) { uint low = (uint)x; return low != 0 ? trailing(low) : 32 + trailing((uint)(x >> 32)); }

// N: bits; S, U: the types; H: half of the bits.
#define OF_ONE_WIDTH(N, S, U, H)                                                                                       \
    static U high_##N(U a, U b) {                                                                                      \
        const U mask = (U)(((U)1 << H) - 1);                                                                           \
        U low = (U)((a & mask) * (b & mask)), first = (U)((a >> H) * (b & mask));                                      \
        U second = (U)((a & mask) * (b >> H)), top = (U)((a >> H) * (b >> H));                                         \
        U middle = (U)((low >> H) + (first & mask) + (second & mask));                                                 \
        return (U)(top + (first >> H) + (second >> H) + (middle >> H));                                                \
    }                                                                                                                  \
    static U signed_high_##N(U a, U b) {                                                                               \
        return (U)(high_##N(a, b) - ((S)a < 0 ? b : (U)0) - ((S)b < 0 ? a : (U)0));                                    \
    }                                                                                                                  \
    static U limit_##N(U a) { return (U)(((U)1 << (N - 1)) - ((S)a < 0 ? (U)0 : (U)1)); }                              \
    static U saturated_sum_##N(U a, U b) {                                                                             \
        U sum = (U)(a + b);                                                                                            \
        return (S)((a ^ sum) & (b ^ sum)) < 0 ? limit_##N(a) : sum;                                                    \
    }                                                                                                                  \
    U s_abs_i##N(U a) { return (S)a < 0 ? (U)(0 - a) : a; }                                                            \
    U u_abs_i##N(U a) { return a; }                                                                                    \
    U s_abs_diff_i##N(U a, U b) { return (S)a > (S)b ? (U)(a - b) : (U)(b - a); }                                      \
    U u_abs_diff_i##N(U a, U b) { return a > b ? (U)(a - b) : (U)(b - a); }                                            \
    U s_add_sat_i##N(U a, U b) { return saturated_sum_##N(a, b); }                                                     \
    U u_add_sat_i##N(U a, U b) { U sum = (U)(a + b); return sum < a ? (U)~(U)0 : sum; }                                \
    U s_sub_sat_i##N(U a, U b) {                                                                                       \
        U rest = (U)(a - b);                                                                                           \
        return (S)((a ^ b) & (a ^ rest)) < 0 ? limit_##N(a) : rest;                                                    \
    }                                                                                                                  \
    U u_sub_sat_i##N(U a, U b) { return a > b ? (U)(a - b) : (U)0; }                                                   \
    U s_hadd_i##N(U a, U b) { return (U)(((S)a >> 1) + ((S)b >> 1) + (S)(a & b & 1)); }                                \
    U u_hadd_i##N(U a, U b) { return (U)((a >> 1) + (b >> 1) + (a & b & 1)); }                                         \
    U s_rhadd_i##N(U a, U b) { return (U)(((S)a >> 1) + ((S)b >> 1) + (S)((a | b) & 1)); }                             \
    U u_rhadd_i##N(U a, U b) { return (U)((a >> 1) + (b >> 1) + ((a | b) & 1)); }                                      \
    U s_max_i##N(U a, U b) { return (S)a > (S)b ? a : b; }                                                             \
    U u_max_i##N(U a, U b) { return a > b ? a : b; }                                                                   \
    U s_min_i##N(U a, U b) { return (S)a < (S)b ? a : b; }                                                             \
    U u_min_i##N(U a, U b) { return a < b ? a : b; }                                                                   \
    U s_clamp_i##N(U x, U a, U b) { U found = (S)x < (S)a ? a : x; return (S)found > (S)b ? b : found; }               \
    U u_clamp_i##N(U x, U a, U b) { U found = x < a ? a : x; return found > b ? b : found; }                           \
    U s_mul_hi_i##N(U a, U b) { return signed_high_##N(a, b); }                                                        \
    U u_mul_hi_i##N(U a, U b) { return high_##N(a, b); }                                                               \
    U s_mad_hi_i##N(U a, U b, U c) { return (U)(signed_high_##N(a, b) + c); }                                          \
    U u_mad_hi_i##N(U a, U b, U c) { return (U)(high_##N(a, b) + c); }                                                 \
    U u_mad_sat_i##N(U a, U b, U c) {                                                                                  \
        U low = (U)(a * b), sum = (U)(low + c);                                                                        \
        return high_##N(a, b) != 0 || sum < low ? (U)~(U)0 : sum;                                                      \
    }                                                                                                                  \
    U s_mad_sat_i##N(U a, U b, U c) {                                                                                  \
        U low = (U)(a * b), high = signed_high_##N(a, b), sum = (U)(low + c);                                          \
        high = (U)(high + ((S)c < 0 ? (U)~(U)0 : (U)0) + (sum < low ? (U)1 : (U)0));                                   \
        U sign = (S)sum < 0 ? (U)~(U)0 : (U)0;                                                                         \
        return high == sign ? sum : limit_##N(high);                                                                   \
    }                                                                                                                  \
    U rotate_i##N(U x, U count) {                                                                                      \
        return (U)(x << (count & (N - 1)) | x >> ((U)(0 - count) & (N - 1)));                                          \
    }

OF_ONE_WIDTH(8, char, uchar, 4)
OF_ONE_WIDTH(16, short, ushort, 8)
OF_ONE_WIDTH(32, int, uint, 16)
OF_ONE_WIDTH(64, long, ulong, 32)

// By the width of what is put together.
#define UPSAMPLED(N, U, W, H)                                                                                          \
    W u_upsample_i##N(U high, U low) { return (W)((W)high << H | low); }                                               \
    W s_upsample_i##N(U high, U low) { return (W)((W)high << H | low); }

UPSAMPLED(8, uchar, ushort, 8)
UPSAMPLED(16, ushort, uint, 16)
UPSAMPLED(32, uint, ulong, 32)

uint s_mul24_i32(uint a, uint b) { return (uint)(((int)(a << 8) >> 8) * ((int)(b << 8) >> 8)); }
uint u_mul24_i32(uint a, uint b) { return (a & 0xffffff) * (b & 0xffffff); }
uint s_mad24_i32(uint a, uint b, uint c) { return s_mul24_i32(a, b) + c; }
uint u_mad24_i32(uint a, uint b, uint c) { return u_mul24_i32(a, b) + c; }
