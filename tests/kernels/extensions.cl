// What clang takes beyond OpenCL C's own text: GNU expressions, layouts, constant addresses, global variables.

#define MAX(a, b) ({ __auto_type a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })

kernel void statement_expressions(global int *out, global const int *in, int n)
{
    int total = 0;
    for (int i = ({ 0; }); i < ({ int last = n; last; }); i += ({ 1; })) {
        int x = in[i];
        total += ({
            if (x < -90)
                continue;
            switch (x & 3) { case 0: x += 5; break; case 1: x = -x; }
            x;
        });
        total = MAX(total, MAX(i * 3, -100)) ?: i + 1;
    }
    const int id = get_global_id(0), own = in[id];
    out[id] = total + (own ?: 1000);
}

struct node {
    constant char *name;
    constant int *values;
    int count;
};

constant int numbers[8] = { [0 ... 2] = 4, [5] = 9, 7, 3 };
constant char *constant words[] = { "one", "three", "seven" };
constant struct node nodes[] = {
    { "first", numbers, 3 },
    { .count = 2, .name = "second" + 3, .values = &numbers[5] },
    { name: 0 },
};

kernel void constant_addresses(global int *out)
{
    int i = get_global_id(0) % 3, sum = 0;
    for (int k = 0; k < nodes[i].count; ++k)
        sum += nodes[i].values[k];
    for (constant char *s = words[i]; *s; ++s)
        sum = sum * 3 + *s;
    out[get_global_id(0)] = sum + (nodes[i].name ? nodes[i].name[0] : 0);
}

global int counter = 5;
int table[4];
static global int *third = &table[2];

int calls(int n)
{
    static int count = 100;
    return atomic_add((volatile global int *)&count, n);
}

kernel void global_variables(global int *out)
{
    atomic_inc(&counter);
    atomic_add(third, 2);
    calls(3);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        out[0] = counter;
        out[1] = table[2];
        out[2] = calls(0);
    }
}

typedef int loose __attribute__((aligned(1)));
typedef enum { SMALL = -1, LARGE = 0xFFFFFFFF } wide;
typedef enum __attribute__((packed)) { RED, GREEN, BLUE = 200 } tiny;

struct record {
    char tag;
    int number __attribute__((packed));
    short late __attribute__((aligned(8)));
    tiny colour;
    int tail[];
};

#pragma pack(push, 2)
struct squeezed { char tag; long number; };
#pragma pack(pop)

typedef int step(int);
step twice;

kernel void layouts(global uchar *bytes, global long *out)
{
    global struct record *r = (global struct record *)bytes;
    r->number = 0x01020304;
    r->late = 0x0506;
    r->colour = BLUE;
    r->tail[1] = twice(0x0a0b0c);
    *(global loose *)(bytes + 33) = -2;
    struct squeezed s = { 1, -5 };
    out[0] = sizeof(struct record);
    out[1] = sizeof s + s.number;
    out[2] = LARGE + _Generic(r->late, short: 1, default: 100);
    out[3] = (wide)SMALL;
    out[4] = __builtin_offsetof(struct record, tail[2]);
    out[5] = sizeof(__func__) + __func__[0];
}

int twice(int x)
{
    return 2 * x;
}
