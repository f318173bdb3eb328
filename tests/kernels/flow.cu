// Who goes where: switches of every density, loops with several exits, divergence inside divergence, early returns.
//
// LAUNCH: table_switch<<<2, 96>>>(table: i32[192])
// LAUNCH: switch_in_loop<<<1, 64>>>(machine: i32[64])
// LAUNCH: exits<<<1, 64>>>(exits: i32[64])
// LAUNCH: jumps<<<1, 64>>>(jumps: i32[64])
// LAUNCH: nested<<<1, 64>>>(nested: i32[64])
// LAUNCH: early<<<2, 40>>>(early: i32[80])
// LAUNCH: short_circuit<<<1, 64>>>(short_circuit: i32[64])
// LAUNCH: barrier_in_loop<<<2, 64>>>(rounds: i32[128])
// LAUNCH: wide_switch<<<1, 64>>>(wide: i64[64])
// LAUNCH: collatz<<<1, 128>>>(collatz: i32[128])

extern "C" __global__ void table_switch(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile int x = i;
    int y = i;
    switch (i % 17) {
    case 0: x = 10; y = x * 3; break;
    case 1: x = 11; y = x - i; break;
    case 2: x = 12; y ^= x; // falls through
    case 3: x = 13; y += x; break;
    case 4: x = 14; y = ~x; break;
    case 5: x = 15; y = x << 5; break;
    case 6: x = 16; y = x % 5; break;
    case 7: x = 17; y = -x; break;
    case 9: x = 19; y = x * x; break;
    case 10: x = 20; y = x / 3; break;
    case 11: x = 21; y = x | 64; break;
    case 12: x = 22; y = x & i; break;
    case 13: x = 23; y = x + 1; return;
    case 14: x = 24; y = 0; break;
    default: x = 99; y = x + i;
    }
    out[i] = y * 1000 + x;
}

// A small interpreter.
__constant__ unsigned char PROGRAM[] = {0, 3, 1, 2, 4, 5, 2, 6, 0, 7};

extern "C" __global__ void switch_in_loop(int *out)
{
    int a = threadIdx.x, b = 1, pc = 0, steps = 0;
    while (steps++ < 60) {
        switch (PROGRAM[pc++]) {
        case 0: a += 3; break;
        case 1: b *= 2; break;
        case 2: a ^= b; break;
        case 3: b += a & 7; break;
        case 4: a -= b; break;
        case 5: if (a & 1) pc = 1; break;
        case 6: if (b < 500) pc = 0; break;
        case 7: goto done;
        }
    }
done:
    out[threadIdx.x] = a * 31 + b + steps * 100000;
}

extern "C" __global__ void exits(int *out)
{
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 20; i++) {
        if (i == t)
            continue;
        for (int j = i; j < 20; j++) {
            if (j * i > t)
                break;
            if (sum > 500)
                goto out_of_both;
            sum += i + j;
        }
        if (sum % 13 == 5)
            break;
    }
    sum += 10000;
out_of_both:
    out[t] = sum;
}

extern "C" __global__ void jumps(int *out)
{
    int t = threadIdx.x, x = t, n = 0;
again: // a loop with two entries
    if (x & 1)
        goto middle;
    x += 7;
middle:
    x = (x * 5 + 3) & 0xff;
    if (++n < 10 + t % 4)
        goto again;
    out[t] = x;
}

extern "C" __global__ void nested(int *out)
{
    int t = threadIdx.x, y = 0;
    if (t & 1) {
        if (t & 2) {
            if (t & 4)
                y = t & 8 ? 1 : 2;
            else
                y = t & 16 ? 3 : 4;
        } else {
            for (int i = 0; i < t % 5; i++)
                y += i & 1 ? 5 : t;
        }
    } else if (t & 32) {
        do
            y += 6;
        while (y < t);
    } else {
        y = t & 8 ? -1 : -2;
    }
    out[t] = y;
}

extern "C" __global__ void early(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 70)
        return;
    out[i] = 1;
    if (i % 3 == 0)
        return;
    out[i] = 2;
    for (int k = 0;; k++) {
        if (k == i % 7)
            return;
        out[i] += k;
    }
}

__device__ __noinline__ bool touch(int *count, bool result)
{
    ++*count;
    return result;
}

extern "C" __global__ void short_circuit(int *out)
{
    int t = threadIdx.x, count = 0;
    bool a = touch(&count, t & 1) && touch(&count, t & 2) && touch(&count, t & 4);
    bool b = touch(&count, t & 8) || (touch(&count, t & 16) && !touch(&count, t & 32));
    out[t] = count * 4 + a * 2 + b;
}

extern "C" __global__ void barrier_in_loop(int *out)
{
    __shared__ int values[64];
    int t = threadIdx.x;
    values[t] = t + blockIdx.x;
    for (int stride = 1; stride < 64; stride *= 2) {
        __syncthreads();
        int other = values[(t + stride) % 64];
        __syncthreads();
        values[t] += other;
    }
    out[blockIdx.x * 64 + t] = values[t];
}

extern "C" __global__ void wide_switch(long long *out)
{
    int t = threadIdx.x;
    unsigned long long x = t % 4 == 0 ? 1ull << 40 : t % 4 == 1 ? 5000000000ull : t;
    switch (x) {
    case 1ull << 40: out[t] = 40; break;
    case 5000000000ull: out[t] = 5; break;
    case 7: out[t] = 7; break;
    case 10: case 11: case 14: out[t] = 1011; break;
    default: out[t] = -(long long)x;
    }
}

extern "C" __global__ void collatz(int *out)
{
    unsigned n = threadIdx.x + 1, steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[threadIdx.x] = steps;
}
