// C = A * B, where the K iterations of all tiles of C are shared out evenly (stream-K): a tile may begin in one
// work-group and end in others. Their parts of it go to a workspace, and whoever completes the tile adds them up; with
// -DATOMIC all parts are added to C, which has been cleared.
//
// A is M x K, B is K x N and C is M x N, row-major; groups of one sub-group, as many as one likes.
//
// Set with -D: TM, TN, TK (the tile, a combination of the device), IN (half or __bf16), SUB_GROUP_SIZE.

#define MATRIX(rows, columns, use) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define TILE (TM * TN)

typedef IN matrix_a MATRIX(TM, TK, A);
typedef IN matrix_b MATRIX(TK, TN, B);
typedef float matrix_c MATRIX(TM, TN, ACCUMULATOR);

typedef struct {
    int first, last; // the one behind the last
} range;

// The iterations of a work-group.
static range share_of(int group, int groups, int total)
{
    return (range){ .first = (long)total * group / groups, .last = (long)total * (group + 1) / groups };
}

// The work-group whose share has an iteration.
static int group_of(int iteration, int groups, int total)
{
    return ((iteration + 1L) * groups - 1) / total;
}

// Where a work-group keeps its part of a tile: it has at most one that others begin, and one that they only end.
static global float *part_of(global float *workspace, int group, bool is_begun_elsewhere)
{
    return workspace + (2 * group + is_begun_elsewhere) * TILE;
}

static matrix_c product(global const IN *A, global const IN *B, int N, int K, range steps)
{
    matrix_c sum = coop_mat_init(0);
    for (int i = steps.first; i < steps.last; i++) {
        matrix_a a = coop_mat_load(A + i * TK, ROWS, K);
        matrix_b b = coop_mat_load(B + i * TK * N, ROWS, N);
        sum = coop_matmul_add(a, b, sum, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
    }
    return sum;
}

static void add_to_memory(global float *C, int N, matrix_c part)
{
    for (uint i = 0; i < coop_mat_length(part); i++) {
        const int2 at = coop_mat_get_coord(part, i);
        atomic_fetch_add_explicit((global atomic_float *)(C + at.x * N + at.y), part[i], memory_order_relaxed,
                                  memory_scope_device);
    }
}

// Whether all other steps of a tile are done; what the others stored can then be read.
static bool completes(global atomic_int *done, range steps, int depth)
{
    const int count = steps.last - steps.first;
    int before = 0;
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
    if (get_sub_group_local_id() == 0)
        before = atomic_fetch_add_explicit(done, count, memory_order_acq_rel, memory_scope_device);
    before = sub_group_broadcast(before, 0);
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
    return before + count == depth;
}

#ifdef SUB_GROUP_SIZE
__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
#endif
kernel void stream_k(global const IN *A, global const IN *B, global float *C, int M, int N, int K,
                     global float *workspace, global atomic_int *done)
{
    const int depth = K / TK, columns = N / TN, total = M / TM * columns * depth;
    const int groups = get_num_groups(0), group = get_group_id(0);
    const range mine = share_of(group, groups, total);

    for (int next = mine.first, tile; next < mine.last; next = (tile + 1) * depth) {
        tile = next / depth;
        const int row = tile / columns * TM, column = tile % columns * TN;
        const range steps = { next - tile * depth, min(depth, mine.last - tile * depth) };
        global float *c = C + row * N + column;
        matrix_c sum = product(A + row * K, B + column, N, K, steps);
#ifdef ATOMIC
        add_to_memory(c, N, sum);
#else
        if (steps.last - steps.first < depth) {
            coop_mat_store(part_of(workspace, group, steps.first > 0), sum, ROWS, TN);
            if (!completes(done + tile, steps, depth))
                continue;
            sum = coop_mat_init(0);
            const int last = group_of((tile + 1) * depth - 1, groups, total);
            for (int other = group_of(tile * depth, groups, total); other <= last; other++) {
                const bool is_begun_elsewhere = share_of(other, groups, total).first > tile * depth;
                matrix_c part = coop_mat_load(part_of(workspace, other, is_begun_elsewhere), ROWS, TN);
                sum += part;
            }
        }
        coop_mat_store(c, sum, ROWS, N);
#endif
    }
}
