// Generic pointers: into memory that is known when a kernel is compiled, and into memory that is not.

int total(const int *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i)
        sum += p[i];
    return sum;
}

void fill(int *p, int first)
{
    for (int i = 0; i < 4; ++i)
        p[i] = first + i;
}

kernel void known(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    int own[4];
    fill(own, id);
    shared[id] = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id] += total(own, 4) + total(shared, 4) + total(out + 64, 4);
    fill(out + 192 + 4 * id, id * id);
}

kernel void known_in_loop(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    shared[id] = id * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = shared, *end = p + 8;
    int sum = 0;
    while (p != end) {
        sum += *p;
        p += 2;
    }
    out[id] = sum + (to_local(p) == 0) * 100 + (to_global(p) == 0) * 1000 + (p == 0) * 10000;
}

// --- tags

kernel void chosen(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    int own[4];
    fill(own, id);
    shared[id] = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = 0;
    if (id % 4 == 0)
        p = own;
    else if (id % 4 == 1)
        p = shared + id - 1;
    else if (id % 4 == 2)
        p = out + 64 + 4 * id;
    int *q = p;
    if (p) {
        q += 1;
        q[1] += 100;
        q[0] *= 2;
        out[id] += total(p, 3) + (int)(q - p) + (q == p) + (q == p + 1) * 7;
    }
    out[id] += 1000 * (to_local(p) != 0) + 2000 * (to_private(p) != 0) + 4000 * (to_global(p) != 0) + 8000 * (p == 0);
    out[192 + id] = p ? get_fence(p) : 77;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[224 + id] = own[2] + shared[id];
}

kernel void back(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    shared[id] = id + 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = out + 64;
    if (id & 1)
        p = shared;
    local int *l = to_local(p);
    global int *g = to_global(p);
    out[id] = l ? l[id] : g[id];
    if (id == 0)
        atomic_fetch_add_explicit((volatile atomic_int *)p, 5, memory_order_relaxed, memory_scope_device);
}

struct node {
    struct node *next;
    int value;
};

kernel void list(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    struct node nodes[4];
    for (int i = 0; i < 4; ++i) {
        nodes[i].value = id * i + 1;
        nodes[i].next = i < 3 ? &nodes[i + 1] : 0;
    }
    int sum = 0, turn = 1;
    for (struct node *p = nodes; p; p = p->next)
        sum += p->value * turn++;
    out[id] = sum;
}

global int counters[4] = { 1, 2, 3, 4 };
global int *const first = &counters[1];

kernel void in_program(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    const int *p = counters + id % 4;
    if (id & 8)
        p = first;
    out[id] = *p;
}

struct view {
    int *data;
    int count;
};

kernel void views(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    int own[4] = { 1, 2, 3, 4 };
    shared[id] = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    struct view all[3] = { { own, 4 }, { shared, 8 }, { out + 64, 2 } };
    int sum = 0;
    for (int i = 0; i < 3; ++i)
        sum += total(all[(i + id) % 3].data, all[(i + id) % 3].count) * (i + 1);
    int4 four = vload4(0, all[id % 3].data);
    out[id] = sum + four.w;
    if (id % 3 == 0)
        vstore4(four * 2, 0, all[id % 3].data);
    out[192 + id] = own[0] + own[3];
}

kernel void functions(global int *out, local int *shared)
{
    const int id = get_local_id(0);
    local float parts[32];
    float own = 0.0f;
    float *whole = &own;
    if (id % 3 == 0)
        whole = parts + id;
    else if (id % 3 == 1)
        whole = (global float *)out + 192 + id;
    float fraction = modf(id * 1.75f, whole);
    out[id] = (int)(fraction * 100.0f) + (int)*whole;
}
