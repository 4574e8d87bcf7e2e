// Structures, arrays, pointers, address spaces.

typedef struct {
    char tag;
    float4 position;
    int counts[3];
} particle;

typedef union {
    uint bits;
    float value;
    uchar bytes[4];
} word;

constant int primes[2][4] = {{2, 3, 5, 7}, {11, 13, 17, 19}};

void bump(particle *p, int index)
{
    p->counts[index % 3] += primes[index & 1][index & 3];
    p->position.yz = p->position.zy;
    p->tag ^= 1;
}

kernel void structures(global particle *particles, global float *norms)
{
    const int id = get_global_id(0);
    particle mine = particles[id];
    for (int i = 0; i < 5; ++i)
        bump(&mine, id + i);
    norms[id] = mine.position.x + 2 * mine.position.y + 4 * mine.position.z;
    particles[id] = mine;
}

kernel void unions(global uint *out, global const float *in)
{
    word w;
    w.value = in[get_global_id(0)];
    w.bytes[0] = 0;
    out[get_global_id(0)] = w.bits;
}

kernel void transpose(global int *out, global const int *in, int width)
{
    local int tile[8][8];
    const int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * 8 + y) * width + get_group_id(1) * 8 + x] = tile[x][y];
}

kernel void histogram(global int *bins, global const uchar *data, local int *counts)
{
    for (int i = get_local_id(0); i < 16; i += get_local_size(0))
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&counts[data[get_global_id(0)] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 16; i += get_local_size(0))
        atomic_add(&bins[i], counts[i]);
}

kernel void private_array(global int *out, int n)
{
    int ring[8] = {1, 1};
    for (int i = 2; i < n; ++i)
        ring[i % 8] = ring[(i - 1) % 8] + ring[(i - 2) % 8] * (int)(get_global_id(0) + 1);
    int *last = ring + (n - 1) % 8;
    out[get_global_id(0)] = *last + last - ring;
}
