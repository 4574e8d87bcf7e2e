// Asynchronous copies between global and local memory.

event_t fetch(local int *to, global const int *from, event_t event)
{
    return async_work_group_copy(to, from, get_local_size(0), event);
}

kernel void reverse(global int *out, global const int *in, local int *tile)
{
    const size_t n = get_local_size(0), l = get_local_id(0), start = get_group_id(0) * n;
    event_t event = fetch(tile, in + start, 0);
    wait_group_events(1, &event);
    const int value = tile[n - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    event = async_work_group_copy(out + start, tile, n, (event_t)0);
    wait_group_events(1, &event);
}

kernel void transpose(global float3 *out, global const float3 *in, local float3 *row)
{
    const size_t n = get_local_size(0), g = get_group_id(0);
    event_t parts[2];
    parts[0] = async_work_group_copy(row, in + g * n, n / 2, 0);
    parts[1] = async_work_group_copy(row + n / 2, in + g * n + n / 2, n - n / 2, parts[0]);
    wait_group_events(2, parts);
    event_t last = async_work_group_strided_copy(out + g, row, n, get_num_groups(0), 0);
    wait_group_events(1, &last);
}

kernel void pipeline(global int *sums, global const int *in, int tiles, local int *buffers)
{
    const int n = get_local_size(0), l = get_local_id(0);
    event_t events[2];
    events[0] = async_work_group_copy(buffers, in + get_group_id(0) * tiles * n, n, 0);
    int sum = 0;
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles)
            events[(i + 1) & 1] = async_work_group_copy(buffers + ((i + 1) & 1) * n,
                                                        in + (get_group_id(0) * tiles + i + 1) * n, n, 0);
        wait_group_events(1, &events[i & 1]);
        sum += buffers[(i & 1) * n + (l + i) % n] * (i + 1);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sums[get_global_id(0)] = sum;
}

kernel void shared_event(global short *out, global const short *in, int every, local short *picked)
{
    const int n = get_local_size(0);
    event_t event = 0;
    for (int i = 0; i < every; ++i)
        event = async_work_group_strided_copy(picked + i * n, in + i, n, every, event);
    wait_group_events(1, &event);
    for (int i = 0; i < every; ++i)
        out[i * get_global_size(0) + get_global_id(0)] = picked[i * n + get_local_id(0)];
}
