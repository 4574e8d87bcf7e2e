// Loops whose rounds the work-items share out, and the same ones counted by all together: their names end in _counted.
// 2D blocks, and plain loads and stores of the same rows: their names end in _plain.
// Of the arrays each work-group takes n numbers, or a surface of n/64 rows, and does the same some times, so that these
// are in the nearest cache; local size 64 or, for blocks, 16.
//
// copy: to local memory and back. total: a sum. update: as saxpy. pairs: every second number. rows: x and y of an index.

#pragma OPENCL EXTENSION cl_intel_subgroup_2d_block_io : enable

#define SHARED(i, n) (int i = get_local_id(0); i < (n); i += get_local_size(0))
#define COUNTED(i, n) (int i = 0; i < (n); i += get_local_size(0))
#define LANE get_local_id(0)
#define MINE out += get_group_id(0) * n, in += get_group_id(0) * n
#define REPEAT for (int round = 0; round < rounds; round++)

kernel void copy(global float *out, global const float *in, int n, int rounds)
{
    local float tile[4096];
    MINE;
    REPEAT {
        for SHARED(i, n) tile[i] = in[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        for SHARED(i, n) out[i] = tile[i] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void copy_counted(global float *out, global const float *in, int n, int rounds)
{
    local float tile[4096];
    MINE;
    REPEAT {
        for COUNTED(i, n) tile[i + LANE] = in[i + LANE];
        barrier(CLK_LOCAL_MEM_FENCE);
        for COUNTED(i, n) out[i + LANE] = tile[i + LANE] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void total(global float *out, global const float *in, int n, int rounds)
{
    float sum = 0;
    MINE;
    REPEAT {
        for SHARED(i, n) sum += in[i];
    }
    out[LANE] = sum;
}

kernel void total_counted(global float *out, global const float *in, int n, int rounds)
{
    float sum = 0;
    MINE;
    REPEAT {
        for COUNTED(i, n) sum += in[i + LANE];
    }
    out[LANE] = sum;
}

kernel void update(global float *out, global const float *in, int n, int rounds)
{
    size_t all = (size_t)n * get_num_groups(0);
    REPEAT {
        for (size_t i = get_global_id(0); i < all; i += get_global_size(0))
            out[i] = 0.0f * out[i] + in[i];
    }
}

kernel void update_counted(global float *out, global const float *in, int n, int rounds)
{
    size_t all = (size_t)n * get_num_groups(0), own = get_global_id(0);
    REPEAT {
        for (size_t i = 0; i < all; i += get_global_size(0))
            out[i + own] = 0.0f * out[i + own] + in[i + own];
    }
}

kernel void pairs(global float *out, global const float *in, int n, int rounds)
{
    MINE;
    REPEAT {
        for SHARED(i, n / 2) {
            out[2 * i] = in[2 * i + 1];
            out[2 * i + 1] = in[2 * i];
        }
    }
}

// What is compared with: as many numbers, one after the other.
kernel void pairs_counted(global float *out, global const float *in, int n, int rounds)
{
    MINE;
    REPEAT {
        for COUNTED(i, n / 2) {
            out[i + LANE] = in[n / 2 + i + LANE];
            out[n / 2 + i + LANE] = in[i + LANE];
        }
    }
}

kernel void rows(global float *out, global const float *in, int n, int rounds)
{
    MINE;
    REPEAT {
        for SHARED(i, n) {
            int x = i % 64, y = i / 64;
            out[y * 64 + x] = in[y * 64 + x] * 2;
        }
    }
}

kernel void rows_counted(global float *out, global const float *in, int n, int rounds)
{
    MINE;
    REPEAT {
        for COUNTED(i, n) out[i + LANE] = in[i + LANE] * 2;
    }
}

__attribute__((intel_reqd_sub_group_size(16)))
kernel void blocks(global ushort *out, global ushort *in, int n, int rounds)
{
    MINE;
    REPEAT {
        for (int y = 0; y < n / 64; y += 8)
            for (int x = 0; x < 64; x += 16) {
                ushort rows[8];
                intel_sub_group_2d_block_read_16b_8r16x1c(in, 128, n / 64, 128, (int2)(x, y), rows);
                for (int i = 0; i < 8; i++)
                    rows[i] += 1;
                intel_sub_group_2d_block_write_16b_8r16x1c(out, 128, n / 64, 128, (int2)(x, y), rows);
            }
    }
}

__attribute__((intel_reqd_sub_group_size(16)))
kernel void blocks_plain(global ushort *out, global ushort *in, int n, int rounds)
{
    MINE;
    REPEAT {
        for (int y = 0; y < n / 64; y += 8)
            for (int x = 0; x < 64; x += 16) {
                ushort rows[8];
                for (int i = 0; i < 8; i++)
                    rows[i] = in[(y + i) * 64 + x + LANE] + 1;
                for (int i = 0; i < 8; i++)
                    out[(y + i) * 64 + x + LANE] = rows[i];
            }
    }
}
