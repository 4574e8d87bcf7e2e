// Every kernel for one type of elements, for all sizes of tiles. See the three files for what they do.

// ------------------------------------------------------------------ b, the same for every TM

// A work-item's column in the order of rows is just what the instruction takes.
static B_TILE load_b_rowmajor(global const ELEMENT *B, int N)
{
    B_TILE b;
    for (int i = 0; i < TK; ++i)
        ((ELEMENT *)&b)[i] = B[i * N + lane()];
    return b;
}

static B_TILE load_b_packed(global const uint *B, int N)
{
    B_TILE b;
    for (int i = 0; i < 8; ++i)
        ((uint *)&b)[i] = B[i * N + lane()];
    return b;
}

#ifdef cl_intel_subgroups
static B_TILE block_load_b_rowmajor(global const ELEMENT *B, int N)
{
    B_TILE b;
    for (int i = 0; i < TK; ++i)
        ((ELEMENT *)&b)[i] = ELEMENT_BLOCK_READ(B + i * N);
    return b;
}

static B_TILE block_load_b_packed(global const uint *B, int N)
{
    B_TILE b;
    for (int i = 0; i < 8; ++i)
        ((uint *)&b)[i] = intel_sub_group_block_read(B + i * N);
    return b;
}
#endif

// ------------------------------------------------------------------ kernels: a file with -DTM=1 … in between

#define TM 1
#include "one_tile.h"
#undef TM
#define TM 2
#include "one_tile.h"
#undef TM
#define TM 4
#include "one_tile.h"
#undef TM
#define TM 8
#include "one_tile.h"

#ifdef cl_intel_subgroups
#define best_load_a block_load_a
#define best_load_b_packed block_load_b_packed
#define best_store_c block_store_c
#else
#define best_load_a load_a
#define best_load_b_packed load_b_packed
#define best_store_c store_c
#endif

#define MM 2
#define NN 2
#include "many_tiles.h"
#undef MM
#undef NN
#define MM 4
#define NN 2
#include "many_tiles.h"

#include "shared_tiles.h"
