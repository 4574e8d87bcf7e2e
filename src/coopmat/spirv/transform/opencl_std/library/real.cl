// The functions of real numbers of OpenCL.std, of floats or of doubles: included for each with WIDTH 32 or 64.
//
// Formulas and coefficients are those of the CPU (targets/cpu/mathematics); what is rare, and what has no polynomial
// there, is computed here, too. Used are arithmetic, bits, and of OpenCL.std fma, fabs, copysign, floor, rint, trunc,
// clz, mul_hi and approximate roots: drivers have them, or their functions below take their place.

#if WIDTH == 32
typedef float T; typedef float2 T2; typedef int I; typedef uint U;
#define F(name) name##_f32
#define BITS(x) as_uint(x)
#define NUMBER(x) as_float((uint)(x))
#define FRACTION 23
#define BIAS 127
#define EACH(f, d) f
#else
typedef double T; typedef double2 T2; typedef long I; typedef ulong U;
#define F(name) name##_f64
#define BITS(x) as_ulong(x)
#define NUMBER(x) as_double((ulong)(x))
#define FRACTION 52
#define BIAS 1023
#define EACH(f, d) d
#endif

#define SIGN ((U)1 << (WIDTH - 1))
#define ONE ((U)1 << FRACTION)
#define INFINITE NUMBER((U)(2 * BIAS + 1) << FRACTION)
#define NONE NUMBER(((U)(2 * BIAS + 1) << FRACTION) | ONE >> 1)
#define LEAST NUMBER(ONE)  // the least normal number
#define TINY POWER(-FRACTION - 6)
#define MAGIC ((T)3 * NUMBER((U)(BIAS + FRACTION - 1) << FRACTION))
#define POWER(k) NUMBER((U)((k) + BIAS) << FRACTION)

static T with_sign(T x, T sign) { return NUMBER((BITS(x) & ~SIGN) | (BITS(sign) & SIGN)); }
static T limited(T x, T low, T high) { x = x < low ? low : x; return x > high ? high : x; }
// The whole number in the lowest bits of one that MAGIC was added to.
static I count_of(T shifted) { return (I)(BITS(shifted) - BITS(MAGIC)); }
// Whether sin(x), exp(x) - 1 and their like are x: it is small, or no number.
static bool is_itself(T x) { U bits = BITS(x) & ~SIGN; return bits < BITS(TINY) || bits > BITS(INFINITE); }
static bool finite(T x) { return fabs(x) < INFINITE; }
static bool infinite(T x) { return fabs(x) == INFINITE; }
static bool missing(T x) { return (BITS(x) & ~SIGN) > BITS(INFINITE); }
static bool negative(T x) { return (BITS(x) & SIGN) != 0; }
static bool whole(T x) { return x == rint(x); }
static bool odd(T x) { T half_of = x * (T)0.5; return half_of != floor(half_of); }

// x times 2 to the power of a whole number, rounded once; k leads at most twice as far as the type goes.
static T scaled(T x, I k) {
    I first = k >> 1;
    return x * POWER(first) * POWER(k - first);
}

// ------------------------------------------------------------------------------------------------------ what is exact

T F(fabs)(T x) { return NUMBER(BITS(x) & ~SIGN); }
T F(copysign)(T x, T y) { return with_sign(x, y); }
T F(fmax)(T a, T b) { return missing(b) ? a : a > b ? a : b; }
T F(fmin)(T a, T b) { return missing(b) ? a : a < b ? a : b; }
T F(fclamp)(T x, T low, T high) { return F(fmin)(F(fmax)(x, low), high); }
T F(fdim)(T a, T b) { return missing(a) || missing(b) ? a + b : a > b ? a - b : (T)0; }
T F(maxmag)(T a, T b) {
    T x = fabs(a), y = fabs(b);
    return x > y ? a : y > x ? b : F(fmax)(a, b);
}
T F(minmag)(T a, T b) {
    T x = fabs(a), y = fabs(b);
    return x < y ? a : y < x ? b : F(fmin)(a, b);
}
T F(step)(T edge, T x) { return x < edge ? (T)0 : (T)1; }
T F(sign)(T x) { return missing(x) ? (T)0 : x == 0 ? x : with_sign(1, x); }
T F(mix)(T x, T y, T a) { return fma(y - x, a, x); }
T F(smoothstep)(T low, T high, T x) {
    T t = limited((x - low) / (high - low), 0, 1);
    return t * t * ((T)3 - t * (T)2);
}
T F(degrees)(T x) { return x * EACH(57.295779513082320877f, 57.295779513082320877); }
T F(radians)(T x) { return x * EACH(0.017453292519943295769f, 0.017453292519943295769); }
T F(mad)(T a, T b, T c) { return fma(a, b, c); }
T F(nan)(U payload) { return NUMBER((payload & ((ONE >> 1) - 1)) | BITS(NONE)); }

// By adding and taking away what leaves no room for a fraction.
T F(rint)(T x) {
    T shift = POWER(FRACTION), a = fabs(x);
    return with_sign(a < shift ? (a + shift) - shift : a, x);
}
T F(trunc)(T x) {
    I power = (I)((BITS(x) & ~SIGN) >> FRACTION) - BIAS;
    U mask = power < 0 ? SIGN : power < FRACTION ? ~((ONE - 1) >> power) : ~(U)0;
    return NUMBER(BITS(x) & mask);
}
T F(floor)(T x) { T found = trunc(x); return with_sign(found > x ? found - 1 : found, x); }
T F(ceil)(T x) { T found = trunc(x); return with_sign(found < x ? found + 1 : found, x); }
T F(round)(T x) {
    T found = trunc(x);
    return with_sign(fabs(x - found) >= (T)0.5 ? fabs(found) + 1 : found, x);
}
T F(nextafter)(T a, T b) {
    U x = BITS(a), magnitude = x & ~SIGN;
    U outwards = x + 1, inwards = magnitude == 0 ? (BITS(b) & SIGN) | 1 : x - 1;
    bool away = magnitude != 0 && (a < b) != negative(a);
    T found = NUMBER(away ? outwards : inwards);
    return missing(a) || missing(b) ? NONE : a == b ? b : found;
}
T F(fract)(T x) {
    T most = (T)1 - POWER(-FRACTION - 1), found = x - floor(x);
    found = found > most ? most : found;
    return x == 0 || infinite(x) ? with_sign(0, x) : found;
}
T F(modf)(T x) { return with_sign(infinite(x) ? 0 : x - trunc(x), x); }

static I exponent_of(T x) {  // of a number that is neither zero nor infinite
    U bits = BITS(x) & ~SIGN;
    I zeros = (I)clz(bits) - (WIDTH - 1 - FRACTION);
    return bits < ONE ? 1 - BIAS - zeros : (I)(bits >> FRACTION) - BIAS;
}
static U digits_of(T x) {  // of the same, with its first bit
    U bits = BITS(x) & ~SIGN;
    I zeros = (I)clz(bits) - (WIDTH - 1 - FRACTION);
    return bits < ONE ? bits << zeros : (bits & (ONE - 1)) | ONE;
}
T F(frexp)(T x) {
    T found = NUMBER((digits_of(x) & (ONE - 1)) | (U)(BIAS - 1) << FRACTION | (BITS(x) & SIGN));
    return x == 0 || !finite(x) ? x : found;
}
int F(frexp_exponent)(T x) { return x == 0 || !finite(x) ? 0 : (int)exponent_of(x) + 1; }
int F(ilogb)(T x) { return x == 0 ? INT_MIN : !finite(x) ? INT_MAX : (int)exponent_of(x); }
T F(logb)(T x) { return x == 0 ? -INFINITE : !finite(x) ? fabs(x) : (T)exponent_of(x); }

T F(ldexp)(T x, int n) {
    I most = 2 * BIAS + FRACTION + 2, k = n;
    k = k > most ? most : k < -most ? -most : k;
    // Numbers that become subnormal are first brought to where the last factor is the only one that rounds.
    I step = k < 0 ? FRACTION + 2 - BIAS : BIAS;
    for (int i = 0; i < 2; i++) {
        bool far = k < 0 ? k < 1 - BIAS : k > BIAS;
        x = far ? x * POWER(step) : x;
        k = far ? k - step : k;
    }
    bool far = k < 0 ? k < 1 - BIAS : k > BIAS;
    k = far ? (k < 0 ? 1 - BIAS : BIAS) : k;
    return x * POWER(k);
}

// The digits of |x| less a multiple of those of |y|, and the number of times, bit by bit as in long division.
static U divided(U digits, U by, I count, U *times) {
    U quotient = 0;
    for (I i = 0; i < count; i++) {
        bool fits = digits >= by;
        digits = (fits ? digits - by : digits) << 1;
        quotient = (quotient | (fits ? 1 : 0)) << 1;
    }
    bool fits = digits >= by;
    *times = quotient | (fits ? 1 : 0);
    return fits ? digits - by : digits;
}
// Digits at the place of an exponent, as a number.
static T put_together(U digits, I exponent) {
    I zeros = (I)clz(digits) - (WIDTH - 1 - FRACTION);
    I least = exponent + BIAS - 1;  // so far they can be moved
    I moved = zeros < least ? zeros : least;
    U small = moved < 0 ? digits >> -moved : digits << moved;
    U bits = moved < zeros ? small : (digits << zeros) + ((U)(least - zeros) << FRACTION);
    return digits == 0 ? (T)0 : NUMBER(bits);
}
T F(fmod)(T x, T y) {
    bool none = missing(x) || missing(y) || infinite(x) || y == 0;
    bool less = fabs(x) < fabs(y);
    bool usual = !none && !less;
    T b = none ? (T)1 : y, a = usual ? x : b;
    I low = exponent_of(b);
    U times;
    U rest = divided(digits_of(a), digits_of(b), exponent_of(a) - low, &times);
    T found = less ? fabs(x) : put_together(rest, low);
    return none ? NONE : with_sign(found, x);
}
// remquo: the remainder, and seven bits of the quotient with its sign.
T2 F(remquo)(T x, T y) {
    bool none = missing(x) || missing(y) || infinite(x) || y == 0;
    bool usual = !none && infinite(y) == false && exponent_of(x == 0 ? 1 : x) >= exponent_of(y) - 1 && x != 0;
    T b = usual ? y : 1, a = usual ? x : 1;
    I high = exponent_of(a), low = exponent_of(b);
    U times, by = digits_of(b), digits = digits_of(a);
    bool below = high < low;
    U rest = divided(digits, by, below ? 0 : high - low, &times);
    // Of a number with the exponent below y's, both are counted in its own places, and nothing was taken away.
    rest = below ? digits : rest;
    times = below ? 0 : times;
    U unit = below ? by << 1 : by;
    I place = below ? high : low;
    bool above = rest > unit - rest || (rest == unit - rest && (times & 1) != 0);
    T found = above ? -put_together(unit - rest, place) : put_together(rest, place);
    int quotient = (int)(uint)((times + (above ? 1 : 0)) & 127);
    found = none ? NONE : usual ? (negative(x) ? -found : found) : x;
    quotient = usual ? (negative(x) != negative(y) ? -quotient : quotient) : 0;
    return (T2)(found, NUMBER((uint)quotient));
}
T F(remainder)(T x, T y) { return F(remquo)(x, y).x; }

// Two words to the right; the last bit is 1 where others are lost.
static void jammed(U *high, U *low, I count) {
    U h = *high, l = *low, lost = 0;
    if (count >= WIDTH) {
        lost = l;
        l = h;
        h = 0;
        count -= WIDTH;
    }
    if (count >= WIDTH) {
        lost |= l;
        l = 0;
        count = 0;
    }
    if (count > 0) {
        lost |= l << (WIDTH - count);
        l = l >> count | h << (WIDTH - count);
        h >>= count;
    }
    *high = h;
    *low = l | (lost != 0 ? 1 : 0);
}
// In integers, for drivers that round the product.
T F(fma)(T a, T b, T c) {
    I place = exponent_of(a) + exponent_of(b) + 1, other = exponent_of(c);
    U x = digits_of(a) << (WIDTH - FRACTION - 2), y = digits_of(b) << (WIDTH - FRACTION - 2);
    U high = mul_hi(x, y), low = x * y, high_c = digits_of(c) << (WIDTH - 3 - FRACTION), low_c = 0;
    I apart_by = place - other;
    if (apart_by > 0) jammed(&high_c, &low_c, apart_by);
    else jammed(&high, &low, -apart_by);
    I top = apart_by > 0 ? place : other;
    bool minus = negative(a) != negative(b), differ = minus != negative(c);
    bool less_than_c = high < high_c || (high == high_c && low < low_c);
    bool swapped = differ && less_than_c;
    U h = swapped ? high_c : high, l = swapped ? low_c : low;
    U h2 = swapped ? high : high_c, l2 = swapped ? low : low_c;
    U total = differ ? l - l2 : l + l2;
    U carry = differ ? (l < l2 ? 1 : 0) : (total < l ? 1 : 0);
    h = differ ? h - h2 - carry : h + h2 + carry;
    l = total;
    minus = swapped ? !minus : minus;
    bool zero = (h | l) == 0;
    // The first bit to the top.
    bool short_one = h == 0;
    h = short_one ? l : h;
    l = short_one ? 0 : l;
    I zeros = (I)clz(h);
    I exponent = top + 2 - zeros - (short_one ? WIDTH : 0);
    bool still = zeros == 0 || zeros >= WIDTH;
    h = still ? h : h << zeros | l >> (WIDTH - zeros);
    l = still ? l : l << zeros;
    // Rounded to nearest even.
    I deeper = exponent < 1 - BIAS ? 1 - BIAS - exponent : 0, over = deeper - FRACTION;
    bool small = deeper > 0;
    if (over > 0) {
        deeper = FRACTION;
        h = over >= 3 ? 1 : h >> over | ((h & (((U)1 << over) - 1)) != 0 ? 1 : 0);
    }
    I extra = WIDTH - 1 - FRACTION + deeper;
    U kept = h >> extra, left = h & (((U)1 << extra) - 1), half_of = (U)1 << (extra - 1);
    bool up = left > half_of || (left == half_of && (l != 0 || (kept & 1) != 0));
    U bits = kept + (small ? 0 : (U)(exponent + BIAS - 1) << FRACTION) + (up ? 1 : 0);
    T found = exponent > BIAS ? INFINITE : NUMBER(bits);
    found = zero ? (T)0 : minus ? -found : found;
    bool usual = finite(a) && finite(b) && finite(c) && a != 0 && b != 0 && c != 0;
    bool only_c = finite(a) && finite(b) && !finite(c);  // whose product may be infinite, too
    return usual ? found : only_c ? c : a * b + c;
}

// ------------------------------------------------------------------------------------------------------------- roots

#if WIDTH == 32
float native_rsqrt_f32(float x) {
    float found = as_float(0x5f3759df - (as_uint(x) >> 1));
    for (int i = 0; i < 3; i++) found = found * (1.5f - 0.5f * x * found * found);
    return found;
}
#endif

// Of a number from 1 to 4: the reciprocal of its root, nearly.
static T inverse_root(T m) {
    T y = (T)native_rsqrt((float)m);
    for (int i = 0; i < EACH(1, 2); i++) {
        T rest = fma(-m * y, y, (T)1);
        y = fma(y * rest, (T)0.5, y);
    }
    return y;
}
// A positive number as m times 4 to the power of k, with m from 1 to 4.
static T reduced_for_root(T x, I *k) {
    I exponent = exponent_of(x);
    *k = exponent >> 1;
    return NUMBER((digits_of(x) & (ONE - 1)) | (U)(BIAS + (exponent & 1)) << FRACTION);
}
T F(sqrt)(T x) {
    I k;
    T m = reduced_for_root(x, &k), y = inverse_root(m), s = m * y;
    s = fma(fma(-s, s, m), y * (T)0.5, s);
    return x == 0 || x == INFINITE ? x : x > 0 ? s * POWER(k) : NONE;
}
T F(rsqrt)(T x) {
    I k;
    T found = inverse_root(reduced_for_root(x, &k)) * POWER(-k);
    return x == 0 ? with_sign(INFINITE, x) : x == INFINITE ? (T)0 : x > 0 ? found : NONE;
}
T F(cbrt)(T x) {
    T a = fabs(x);
    bool small = a < POWER(EACH(-60, -400));  // what is left is then no normal number
    a = small ? a * POWER(EACH(54, 540)) : a;
    T third = (T)(I)BITS(a) * EACH(0.33333333333333333f, 0.33333333333333333);
    T root = NUMBER((I)(EACH((T)0x54A21D2A, (T)0x553EF0FF289DD796) - third));
    for (int i = 0; i < EACH(2, 4); i++) {
        T left = fma(a * root * root, -root, (T)1);
        root = fma(root * left, fma(left, EACH(0.22222222222222222f, 0.22222222222222222),
                                    EACH(0.33333333333333333f, 0.33333333333333333)), root);
    }
    T square = root * root, found = a * square;
    T left = fma(-(found * found), found, a);
    found = fma(left * square, EACH(0.33333333333333333f, 0.33333333333333333), found);
    found = small ? found * POWER(EACH(-18, -180)) : found;
    return x == 0 || !finite(x) ? x : with_sign(found, x);
}
T F(hypot)(T x, T y) {
    T a = fabs(x), b = fabs(y), most = a > b ? a : b;
    bool large = most > POWER(EACH(60, 500)), small = most < POWER(EACH(-40, -400));
    T down = large ? POWER(EACH(-80, -600)) : small ? POWER(EACH(90, 600)) : (T)1;
    T up = large ? POWER(EACH(80, 600)) : small ? POWER(EACH(-90, -600)) : (T)1;
    a *= down;
    b *= down;
    T found = F(sqrt)(fma(a, a, b * b)) * up;
    return infinite(x) || infinite(y) ? INFINITE : found;
}

// ------------------------------------------------------------------------------------------------------- exponentials

static T power(T p, T r, I k) { return scaled(fma(r, p, (T)1), k); }

T F(exp)(T x) {
    x = limited(x, EACH(-104.5f, -746.0), EACH(89.0f, 710.0));
    T shifted = fma(x, LOG2_E_0, MAGIC), k = shifted - MAGIC;
    T r = fma(k, -LN2_1, fma(k, -LN2_0, x));
    return power(POLYNOMIAL_EXPM1(r), r, count_of(shifted));
}
T F(exp2)(T x) {
    x = limited(x, EACH(-151.0f, -1076.0), EACH(129.0f, 1025.0));
    T shifted = x + MAGIC, r = x - (shifted - MAGIC);
    return power(POLYNOMIAL_EXP2M1(r), r, count_of(shifted));
}
T F(exp10)(T x) {
    x = limited(x, EACH(-45.5f, -324.5), EACH(38.6f, 308.6));
    T shifted = fma(x, LOG2_10_0, MAGIC), k = shifted - MAGIC;
    T r = fma(k, -LOG10_2_1, fma(k, -LOG10_2_0, x));
    return power(POLYNOMIAL_EXP10M1(r), r, count_of(shifted));
}
static T minus_one(T r) { return r * POLYNOMIAL_EXPM1(r); }

// Half of it is computed, as the largest powers are beyond the type.
T F(expm1)(T x) {
    T y = limited(x, EACH(-18.0f, -38.0), EACH(89.0f, 710.0));
    T shifted = fma(y, LOG2_E_0, MAGIC), k = shifted - MAGIC;
    T r = fma(k, -LN2_1, fma(k, -LN2_0, y));
    T half_of = POWER(count_of(shifted) - 1);
    T found = fma(half_of, fma(r * r, TAIL_EXPM1(r), r), half_of - (T)0.5) * (T)2;
    return with_sign(is_itself(x) ? x : found, x);
}
// Of |x|: sinh(r), cosh(r), and a quarter of 2**k - 2**-k and of 2**k + 2**-k, for sinh(k log(2) + r).
static void halves(T x, T *sinh_of, T *cosh_of, T *minus, T *plus) {
    T y = limited(fabs(x), 0, EACH(89.5f, 710.6));
    T shifted = fma(y, LOG2_E_0, MAGIC), k = shifted - MAGIC;
    T r = fma(k, -LN2_1, fma(k, -LN2_0, y)), z = r * r;
    *sinh_of = fma(r * z, POLYNOMIAL_SINH(z), r);
    *cosh_of = fma(z, POLYNOMIAL_COSH(z), (T)1);
    I n = count_of(shifted);
    T up = POWER(n - 2), down = POWER(-2 - (n < BIAS - 3 ? n : BIAS - 3));
    *minus = up - down;
    *plus = up + down;
}
T F(sinh)(T x) {
    T s, c, minus, plus;
    halves(x, &s, &c, &minus, &plus);
    return with_sign(is_itself(x) ? x : fma(minus, c, plus * s) * (T)2, x);
}
T F(cosh)(T x) {
    T s, c, minus, plus;
    halves(x, &s, &c, &minus, &plus);
    return fma(plus, c, minus * s) * (T)2;
}
T F(tanh)(T x) {
    T y = limited(x, EACH(-10.0f, -20.0), EACH(10.0f, 20.0)), found = F(expm1)(y + y);
    return found / (found + (T)2);
}

// --------------------------------------------------------------------------------------------------------- logarithms

#define ROOT EACH(0x3F3504F3u, 0x3FE6A09E667F3BCDul)  // the bits of the root of 1/2

// k and f with x = 2**k (1 + f), for a positive normal x; the exponent's bits.
static U taken_apart(T x, T *k, T *f) {
    U above = BITS(x) - ROOT;
    *k = (T)((I)above >> FRACTION);
    *f = NUMBER((above & (ONE - 1)) + ROOT) - (T)1;
    return above & ~(ONE - 1);
}
// The same of any positive number.
static void apart(T x, T *k, T *f) {
    bool small = x < LEAST;
    taken_apart(small ? x * POWER(64) : x, k, f);
    *k = small ? *k - (T)64 : *k;
}
static T special_logarithm(T x, T found) {
    found = x == INFINITE ? x : x == 0 ? -INFINITE : found;
    return x < 0 || missing(x) ? NONE : found;
}
#if WIDTH == 32
static T of_one_and(T f) { return fma(f * f, TAIL_LOG(f), f); }
static T natural(T k, T f) { return fma(k, LN2_0, of_one_and(f)); }
static T binary(T k, T f) { return fma(f, POLYNOMIAL_LOG2(f), k); }
static T decimal(T k, T f) { return fma(k, LOG10_2_0, fma(k, LOG10_2_1, f * POLYNOMIAL_LOG10(f))); }
#else
static T of_one_and(T f) {
    T s = f / (f + (T)2), z = s * s;
    return f - s * (f - z * POLYNOMIAL_LOG_SERIES(z));
}
static T natural(T k, T f) { return fma(k, LN2_0, fma(k, LN2_1, of_one_and(f))); }
static T binary(T k, T f) { T log = of_one_and(f); return fma(log, LOG2_E_0, k) + log * LOG2_E_1; }
static T decimal(T k, T f) {
    T log = of_one_and(f);
    return fma(k, LOG10_2_0, fma(log, LOG10_E_0, fma(log, LOG10_E_1, k * LOG10_2_1)));
}
#endif
T F(log)(T x) { T k, f; apart(x, &k, &f); return special_logarithm(x, natural(k, f)); }
T F(log2)(T x) { T k, f; apart(x, &k, &f); return special_logarithm(x, binary(k, f)); }
T F(log10)(T x) { T k, f; apart(x, &k, &f); return special_logarithm(x, decimal(k, f)); }

// What the sum 1 + x loses is added to the fraction.
T F(log1p)(T x) {
    T total = x + (T)1, k, f;
    U exponent = taken_apart(total, &k, &f);
    T inverse = NUMBER(((U)BIAS << FRACTION) - exponent);
    bool large = x > POWER(BIAS - 3);
    T lost = large ? (T)0 : (x - (total - (T)1)) * inverse;
    T found = with_sign(natural(k, f + lost), x);
    return x == 0 || x == INFINITE ? x : x > -1 ? found : x == -1 ? -INFINITE : NONE;
}
static T twice(T a, T less_one) {
    bool large = a > EACH(1e9f, 1e17);
    return F(log1p)(large ? a : less_one) + (large ? LN2_0 : (T)0);
}
T F(asinh)(T x) {
    T a = fabs(x), square = a * a;
    return with_sign(twice(a, a + square / (F(sqrt)(square + (T)1) + (T)1)), x);
}
T F(acosh)(T x) {
    T t = x - (T)1;
    return x < 1 ? NONE : twice(x, t + F(sqrt)(fma(t, t, t + t)));
}
T F(atanh)(T x) {
    T a = fabs(x), found = F(log1p)((a + a) / ((T)1 - a)) * (T)0.5;
    return a > 1 ? NONE : with_sign(found, x);
}

// ------------------------------------------------------------------------------------------------------------ circular

// The reciprocal of pi: WIDTH zeros, and its bits.
#if WIDTH == 32
#define INVERSE_PI_WORDS INVERSE_PI_32
#else
#define INVERSE_PI_WORDS INVERSE_PI_64
#endif

// x, at least as large as the numbers beyond which multiples of pi are not subtracted, less the nearest multiple of pi;
// with ``turned``, x + pi / 2. Of x / pi three words are computed behind the bits that make even numbers.
static T far_reduced(T x, bool turned, bool *is_odd) {
    const U words[] = {INVERSE_PI_WORDS};
    I place = exponent_of(x) - FRACTION - 1 + WIDTH;
    I word = place >> EACH(5, 6), left = place & (WIDTH - 1), right = (WIDTH - left) & (WIDTH - 1);
    U w0 = words[word], w1 = words[word + 1], w2 = words[word + 2], w3 = words[word + 3];
    bool even = left == 0;
    U a = even ? w0 : w0 << left | w1 >> right, b = even ? w1 : w1 << left | w2 >> right;
    U c = even ? w2 : w2 << left | w3 >> right;
    U m = digits_of(x);
    U low = c * m, carry = mul_hi(c, m);
    U middle = b * m + carry;
    U high = a * m + mul_hi(b, m) + (middle < carry ? 1 : 0);
    // x / pi in units of 2**(1 - 3 WIDTH), less even numbers; a half more, so that what is above a whole number less a
    // half, as a signed number, is the distance to the nearest one.
    if (negative(x)) {
        low = 0 - low;
        U borrow = low != 0 ? 1 : 0;
        U before = middle;
        middle = 0 - middle - borrow;
        high = 0 - high - (before != 0 || borrow != 0 ? 1 : 0);
    }
    high += turned ? (U)1 << (WIDTH - 2) : 0;
    U shifted = high + ((U)1 << (WIDTH - 2));
    *is_odd = (shifted & SIGN) != 0;
    high = (shifted & ~SIGN) - ((U)1 << (WIDTH - 2));
    bool below = (I)high < 0;
    if (below) {
        low = 0 - low;
        U borrow = low != 0 ? 1 : 0;
        U before = middle;
        middle = 0 - middle - borrow;
        high = 0 - high - (before != 0 || borrow != 0 ? 1 : 0);
    }
    // The first digits of what is left.
    bool none = high == 0;
    U first = none ? middle : high, next = none ? low : middle;
    I zeros = (I)clz(first);
    U digits = zeros == 0 ? first : zeros == WIDTH ? next : first << zeros | next >> (WIDTH - zeros);
    T found = (T)digits * POWER(1 - WIDTH - zeros - (none ? WIDTH : 0)) * EACH(3.14159265358979323846f, 3.14159265358979323846);
    return below ? -found : found;
}
static T sine(T r) {
    T a = fabs(r), z = r * r;
    return with_sign(fma(a * z, POLYNOMIAL_SIN(z), a), r);
}
static T less(T x, T k) { return fma(k, -PI_2, fma(k, -PI_1, fma(k, -PI_0, x))); }
#define FAR EACH(50000.0f, 1e9)

T F(sin)(T x) {
    T shifted = fma(x, INVERSE_PI_0, MAGIC);
    T r = less(x, shifted - MAGIC);
    bool is_odd = (BITS(shifted) & 1) != 0;
    if (fabs(x) >= FAR) r = far_reduced(x, false, &is_odd);
    T found = sine(r);
    return finite(x) ? (is_odd ? -found : found) : NONE;
}
T F(cos)(T x) {
    T shifted = fma(x, INVERSE_PI_0, (T)-0.5) + MAGIC;
    T r = less(-x, -((shifted - MAGIC) + (T)0.5));
    bool is_odd = (BITS(shifted) & 1) != 0;
    if (fabs(x) >= FAR) r = far_reduced(x, true, &is_odd);
    T found = sine(r);
    return finite(x) ? (is_odd ? -found : found) : NONE;
}
T F(tan)(T x) {
#if WIDTH == 32
    if (fabs(x) < FAR) {
        T shifted = fma(x, (T)2 * INVERSE_PI_0, MAGIC), k = (shifted - MAGIC) * (T)0.5;
        T r = less(x, k), z = r * r;
        T found = fma(r * z, POLYNOMIAL_TAN(z), r);
        return (BITS(shifted) & 1) == 0 ? found : (T)-1 / found;
    }
#endif
    return F(sin)(x) / F(cos)(x);
}
#define PI EACH(3.14159265358979323846f, 3.14159265358979323846)
T F(sinpi)(T x) {
    T rest = x - rint(x * (T)0.5) * (T)2;
    T folded = fabs(rest) > (T)0.5 ? with_sign((T)1 - fabs(rest), rest) : rest;
    return finite(x) ? with_sign(sine(folded * PI), folded == 0 ? x : folded) : NONE;
}
T F(cospi)(T x) {
    T rest = fabs(x - rint(x * (T)0.5) * (T)2);
    return finite(x) ? sine(((T)0.5 - rest) * PI) : NONE;
}
T F(tanpi)(T x) {
    T nearest = rint(x), rest = x - nearest;
    T zero = odd(nearest) != negative(x) ? -(T)0 : (T)0;
    T pole = odd(floor(x)) ? -INFINITE : INFINITE;
    T found = sine(rest * PI) / sine(((T)0.5 - fabs(rest)) * PI);
    found = rest == 0 ? zero : fabs(rest) == (T)0.5 ? pole : found;
    return finite(x) ? found : NONE;
}

static T arctangent(T t) { T z = t * t; return fma(t * z, POLYNOMIAL_ATAN(z), t); }
T F(atan)(T x) {
    T a = fabs(x);
    bool above = a > 1;
    T found = arctangent((above ? (T)1 : a) / (above ? a : (T)1));
    return missing(x) ? x : with_sign(above ? PI / 2 - found : found, x);
}
T F(atan2)(T y, T x) {
    T a = fabs(y), b = fabs(x);
    bool steep = a > b;
    T above = steep ? b : a, below = steep ? a : b;
    T same = above == 0 ? above : (T)1;
    // Quotients of very large and very small numbers stay within what drivers divide exactly enough.
    T factor = below > POWER(BIAS - 8) ? POWER(-16) : below < POWER(16 - BIAS) ? POWER(EACH(60, 500)) : (T)1;
    T found = arctangent(above == below ? same : above * factor / (below * factor));
    found = steep ? PI / 2 - found : found;
    found = with_sign(negative(x) ? PI - found : found, y);
    return missing(x) || missing(y) ? NONE : found;
}
static T half_arcsine(T x) {
    T a = fabs(x);
    bool above = a > (T)0.5;
    T z = above ? fma(a, (T)-0.5, (T)0.5) : a * a;
    T s = above ? F(sqrt)(z) : a;
    return fma(s * z, POLYNOMIAL_ASIN(z), s);
}
T F(asin)(T x) {
    T found = half_arcsine(x);
    found = fabs(x) > (T)0.5 ? PI / 2 - (found + found) : found;
    return fabs(x) <= 1 ? with_sign(found, x) : NONE;
}
T F(acos)(T x) {
    T found = half_arcsine(x), both = found + found;
    found = fabs(x) > (T)0.5 ? (x < 0 ? PI - both : both) : PI / 2 - with_sign(found, x);
    return fabs(x) <= 1 ? found : NONE;
}
#define OVER_PI EACH(0.31830988618379067154f, 0.31830988618379067154)
T F(asinpi)(T x) { return F(asin)(x) * OVER_PI; }
T F(acospi)(T x) { return F(acos)(x) * OVER_PI; }
T F(atanpi)(T x) { return F(atan)(x) * OVER_PI; }
T F(atan2pi)(T y, T x) { return F(atan2)(y, x) * OVER_PI; }

// ------------------------------------------------------------------------------------------------------------- powers

// The sum of two numbers of which the first one is the larger, and what it loses.
static T sum(T a, T b, T *lost) { T total = a + b; *lost = b - (total - a); return total; }

// The binary logarithm of a positive number as the sum of two: twice the series of artanh(f / (2 + f)).
static T two_logarithms(T x, T *low) {
    T k, f, below;
    apart(x, &k, &f);
    T by = sum((T)2, f, &below), s = f / by;
    T s_low = (fma(-s, by, f) - s * below) / by;
    T z = s * s, z_low = fma(s, s, -z) + (T)2 * s * s_low;
    T w_low, w = sum(EACH(0.666666686534881591796875f, 0.66666666666666662966), z * POLYNOMIAL_ARTANH(z), &w_low);
    w_low += EACH(-1.98682151e-8f, 3.7007434154171886e-17);
    T p = z * w, p_low = fma(z, w, -p) + fma(z, w_low, z_low * w);
    T q_low, q = sum((T)2, p, &q_low);
    q_low += p_low;
    T log = s * q, log_low = fma(s, q, -log) + fma(s, q_low, s_low * q);
    T g = log * LOG2_E_0, g_low = fma(log, LOG2_E_0, -g) + fma(log, LOG2_E_1, log_low * LOG2_E_0);
    T lost, total = sum(k, g, &lost);
    return sum(total, lost + g_low, low);
}
#define MOST_EXPONENT EACH(160.0f, 1200.0)

// 2 to the power of a sum of two, as a number near 1 and a power of two.
static T power_of_two(T exponent, T rest, I *k) {
    T bounded = limited(exponent, -MOST_EXPONENT, MOST_EXPONENT);
    T shifted = bounded + MAGIC;
    T r = (bounded - (shifted - MAGIC)) + limited(rest, -1, 1);
    *k = count_of(shifted);
    return fma(r, POLYNOMIAL_EXP2M1(r), (T)1);
}
// A positive finite x to the power of y + beside.
static T power_of(T x, T y, T beside) {
    T low, high = two_logarithms(x, &low);
    y = limited(y, EACH(-1e30f, -1e300), EACH(1e30f, 1e300));
    T product = y * high;
    T rest = fma(y, low, fma(y, high, -product));
    rest = fma(beside, high, rest);
    I k;
    T found = power_of_two(product, rest, &k);
    return scaled(found, k);
}
// The same of any number but those below zero; ``up``: the power is above zero.
static T any_power(T a, T y, T beside, bool up) {
    T found = power_of(a == 0 || a == INFINITE ? (T)1 : a, y, beside);
    found = infinite(y) ? (a == 1 ? (T)1 : (a > 1) == up ? INFINITE : (T)0) : found;
    return a == 0 ? (up ? (T)0 : INFINITE) : a == INFINITE ? (up ? INFINITE : (T)0) : found;
}
T F(pow)(T x, T y) {
    T found = any_power(fabs(x), y, 0, y > 0);
    bool is_whole = whole(y), is_odd = is_whole && finite(y) && odd(y);
    found = negative(x) && is_odd ? -found : found;
    found = x < 0 && !is_whole && !infinite(x) && finite(y) ? NONE : found;
    found = missing(x) || missing(y) ? NONE : found;
    return y == 0 || x == 1 ? (T)1 : found;
}
T F(powr)(T x, T y) {
    bool none = x < 0 || ((x == 0 || infinite(x)) && y == 0) || (x == 1 && infinite(y)) || missing(x) || missing(y);
    T found = any_power(fabs(x), y, 0, y > 0);
    return none ? NONE : y == 0 ? (T)1 : found;
}
T F(pown)(T x, int n) {
    bool exact = WIDTH == 64 || (n > -0x1000000 && n < 0x1000000);
    T found = any_power(fabs(x), (T)(exact ? n : n & ~255), (T)(exact ? 0 : n & 255), n > 0);
    found = negative(x) && (n & 1) != 0 ? -found : found;
    return n == 0 ? (T)1 : missing(x) ? x : found;
}
T F(rootn)(T x, int n) {
    T degree = n == 0 ? (T)1 : (T)n, y = (T)1 / degree;
    T found = any_power(fabs(x), y, fma(-y, degree, (T)1) * y, n > 0);
    bool is_odd = (n & 1) != 0;
    found = negative(x) && is_odd ? -found : found;
    return n == 0 || (x < 0 && !is_odd) ? NONE : missing(x) ? x : found;
}

// ------------------------------------------------------------------------------------------------- errors and factorials

T F(erfc)(T x) {
    T a = limited(fabs(x), 0, EACH(10.5f, 28.0)), z = a * a;
    T t = (a - (T)2) / (a + (T)2);
    T lost = fma(a, a, -z);
    T found = F(exp)(-z) * ((T)1 - lost) * (POLYNOMIAL_ERFC(t) / fma(a, (T)2, (T)1));
    T near = fma(-a, POLYNOMIAL_ERF(z), (T)1);
    found = a < (T)0.5 ? near : found;
    T other = a < (T)0.5 ? fma(a, POLYNOMIAL_ERF(z), (T)1) : (T)2 - found;
    return missing(x) ? x : negative(x) ? other : found;
}
T F(erf)(T x) {
    T a = fabs(x), z = a * a;
    T found = a < 1 ? a * POLYNOMIAL_ERF(z) : (T)1 - F(erfc)(a);
    return missing(x) ? x : with_sign(found, x);
}

// Stirling's series: the logarithm of the factor beside the powers.
static T stirling(T y) {
    T inverse = (T)1 / y, z = inverse * inverse;
    return inverse * POLYNOMIAL_STIRLING(z);
}
#define SHIFTED EACH(8.0f, 16.0)

// Of a positive number: the gamma function as a number and a power of two; numbers are made large by its recurrence.
static T gamma_parts(T x, I *k) {
    T y = x < EACH(50.0f, 200.0) ? x : EACH(50.0f, 200.0), product = 1, count = 0;
    for (int i = 0; i < EACH(8, 16); i++) {
        bool small = y + count < SHIFTED;
        product = small ? product * (y + count) : product;
        count = small ? count + (T)1 : count;
    }
    T beside, large = y + count;
    beside = y - (large - count);
    T log_low, log = two_logarithms(large, &log_low);
    T factor = large - (T)0.5;
    T up = factor * log, up_low = fma(factor, log, -up) + factor * log_low;
    T down = large * LOG2_E_0, down_low = fma(large, LOG2_E_0, -down) + large * LOG2_E_1;
    T total = up - down, part = total - up;
    T rest = (up - (total - part)) + (-down - part) + (up_low - down_low);
    T found = power_of_two(total, rest, k);
    T series = stirling(large) + beside * fma(log, LN2_0, (T)-0.5 / large);
    found *= EACH(2.50662827463100050242f, 2.50662827463100050242);
    return fma(found, minus_one(series), found) / product;
}
T F(tgamma)(T x) {
    T a = fabs(x);
    I k;
    T found = gamma_parts(a, &k);
    T sine_of = F(sinpi)(x);
    T mirrored = scaled((PI / (a * fabs(sine_of))) / found, -k);
    found = scaled(found, k);
    found = x < 0 ? (odd(floor(x)) ? -mirrored : mirrored) : found;
    found = a < TINY ? (T)1 / x : found;
    found = x == INFINITE ? x : x < 0 && whole(x) ? NONE : found;
    return missing(x) ? x : found;
}
static T log_gamma_of_positive(T x) {
    if (x >= EACH(8.0f, 16.0)) {
        return x == INFINITE ? x : fma(x - (T)0.5, F(log)(x) - (T)1, stirling(x) + EACH(0.41893853320467274178f, 0.41893853320467274178));
    }
    T product = 1, y = x;
    for (int i = 0; i < EACH(6, 14); i++) {
        bool large = y > (T)2.5;
        y = large ? y - (T)1 : y;
        product = large ? product * y : product;
    }
    bool near = y >= (T)1.5, small = y < (T)0.5;
    T t = near ? y - (T)2 : small ? y : y - (T)1;
    T found = t * POLYNOMIAL_LGAMMA(t);
    found = near ? found : found - F(log1p)(t);
    found = small ? found - F(log)(y) : found;
    return near ? found + F(log)(product) : found;
}
T F(lgamma)(T x) {
    T a = fabs(x), found = log_gamma_of_positive(a);
    T mirrored = F(log)(PI / (a * fabs(F(sinpi)(x)))) - found;
    mirrored = a < TINY ? -F(log)(a) : mirrored;
    found = x < 0 ? (whole(x) ? INFINITE : mirrored) : x == 0 ? INFINITE : found;
    return missing(x) ? x : infinite(x) ? INFINITE : found;
}
int F(gamma_sign)(T x) { return x < 0 && odd(floor(x)) ? -1 : 1; }

// ------------------------------------------------------------------------------------------------------------ geometry

// By which power of two lengths are computed, so that squares are neither too large nor too small; and back.
static T fitting(T most, int direction) {
    int large = EACH(90, 600) * direction;
    return most > POWER(EACH(50, 480)) ? POWER(-large) : most < POWER(EACH(-40, -400)) ? POWER(large) : (T)1;
}
#define LENGTH(N, V, LARGEST, SQUARES)                                                                                 \
    static T length_of_##N(V v) {                                                                                      \
        T most = LARGEST;                                                                                              \
        v = v * (V)fitting(most, 1);                                                                                   \
        return F(sqrt)(SQUARES) * fitting(most, -1);                                                                   \
    }                                                                                                                  \
    T F(length_##N)(V v) { return length_of_##N(v); }                                                                  \
    T F(distance_##N)(V a, V b) { return length_of_##N(a - b); }                                                       \
    V F(normalize_##N)(V v) {                                                                                          \
        T most = LARGEST;                                                                                              \
        v = most == INFINITE ? (V)ONES_##N(v) : v * (V)fitting(most, 1);                                               \
        return most == 0 ? v : v / (V)F(sqrt)(SQUARES);                                                                \
    }

T F(length_1)(T x) { return fabs(x); }
T F(distance_1)(T a, T b) { return fabs(a - b); }
T F(normalize_1)(T x) { return x == 0 || missing(x) ? x : with_sign(1, x); }
static T larger(T a, T b) { a = fabs(a); b = fabs(b); return a > b || missing(a) ? a : b; }
static T unit_of(T x) { return with_sign(infinite(x) ? (T)1 : missing(x) ? x : (T)0, x); }
#if WIDTH == 32
typedef float3 T3; typedef float4 T4;
#else
typedef double3 T3; typedef double4 T4;
#endif
#define ONES_2(v) (unit_of(v.x), unit_of(v.y))
#define ONES_3(v) (unit_of(v.x), unit_of(v.y), unit_of(v.z))
#define ONES_4(v) (unit_of(v.x), unit_of(v.y), unit_of(v.z), unit_of(v.w))
LENGTH(2, T2, larger(v.x, v.y), fma(v.x, v.x, v.y * v.y))
LENGTH(3, T3, larger(larger(v.x, v.y), v.z), fma(v.x, v.x, fma(v.y, v.y, v.z * v.z)))
LENGTH(4, T4, larger(larger(v.x, v.y), larger(v.z, v.w)), fma(v.x, v.x, fma(v.y, v.y, fma(v.z, v.z, v.w * v.w))))
static T crossed(T2 a, T2 b) { return fma(a.x, b.y, -(a.y * b.x)); }
T3 F(cross_3)(T3 a, T3 b) { return (T3)(crossed(a.yz, b.yz), crossed(a.zx, b.zx), crossed(a.xy, b.xy)); }
T4 F(cross_4)(T4 a, T4 b) { return (T4)(F(cross_3)(a.xyz, b.xyz), 0); }
