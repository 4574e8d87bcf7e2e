// Functions of one name, told apart by their parameters.

#define OVERLOADED __attribute__((overloadable))

float OVERLOADED area(float side);

int OVERLOADED area(int side)
{
    return side * side + (int)area(0.5f * side);
}

int OVERLOADED area(int width, int height)
{
    return width * height;
}

static inline float4 OVERLOADED area(float4 side)
{
    return side * side;
}

long area(long side)
{
    return -side;
}

float OVERLOADED area(float side)
{
    return 4 * side * side;
}

int OVERLOADED weigh(global const int *p)
{
    return 2 * p[0];
}

int OVERLOADED weigh(local const int *p)
{
    return 3 * p[0];
}

int OVERLOADED weigh(const int *p)
{
    return 5 * p[0];
}

int OVERLOADED weigh(const int *p, int n)
{
    int total = 0;
    for (int i = 0; i < n; ++i)
        total += weigh(p + i);
    return total;
}

// Beside the built-in functions, and in the place of one.

int OVERLOADED max(int a, int b, int c)
{
    return max(max(a, b), c);
}

int OVERLOADED max(int4 v)
{
    return max(max(v.x, v.y), max(v.z, v.w));
}

int OVERLOADED min(int a, int b)
{
    return a < b ? 2 * a : 2 * b;
}

void OVERLOADED overloads(global int *out)
{
    out[3] += 1000;
}

kernel void overloads(global int *out, global const int *in, int n)
{
    local int shared[64];
    const int id = get_global_id(0), l = get_local_id(0), x = in[id] % 100;
    const char narrow = x;
    const int mine[3] = {x, l, n};
    shared[l] = x;
    out[4 * id] = area(x) + area(narrow, 3) + area((long)x);
    out[4 * id + 1] = (int)area((float4)(x, 1, 2, 3)).w + (int)area((float)x);
    out[4 * id + 2] = weigh(in + id) + weigh(shared + l) + weigh(mine) + weigh(mine, 3) + weigh(out, 0);
    out[4 * id + 3] = max(x, l, n) + max((int4)(x, l, n, 7)) + min(x, l) + max(3u, (uint)l);
    overloads(out + 4 * id);
}
