// Control flow that differs between the work-items of a sub-group.

kernel void collatz(global int *steps, global const int *start)
{
    int n = start[get_global_id(0)], count = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        if (++count >= 1000)
            break;
    }
    steps[get_global_id(0)] = count;
}

int classify(int x)
{
    switch (x % 7) {
    case 0:
        return 100;
    case 1:
    case 2:
        x += 10;
        // falls through
    case 3:
        x *= 2;
        break;
    case -1:
        x = -x;
    default:
        x -= 5;
    }
    return x;
}

kernel void switches(global int *out, global const int *in)
{
    out[get_global_id(0)] = classify(in[get_global_id(0)]);
}

kernel void loops(global int *out, int n)
{
    const int id = get_global_id(0);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        if (i == id)
            continue;
        int j = i;
        do {
            sum += j * (id + 1);
            if (sum > 100000)
                goto done;
            j -= 3;
        } while (j > 0);
    }
done:
    out[id] = sum;
}

kernel void early_return(global int *out, global const int *in)
{
    const int id = get_global_id(0);
    if (in[id] < 0)
        return;
    out[id] = in[id];
    if (in[id] > 10 && (in[id] & 1) || id == 3)
        return;
    out[id] += 1000;
}

// Duff's device: a loop that is entered in the middle.
kernel void duff(global int *out, global const int *counts)
{
    const int id = get_global_id(0);
    int n = (counts[id] + 3) / 4, sum = 0;
    switch (counts[id] % 4) {
    case 0: do { sum += 1;
    case 3:      sum += 10;
    case 2:      sum += 100;
    case 1:      sum += 1000;
            } while (--n > 0);
    }
    out[id] = sum;
}
