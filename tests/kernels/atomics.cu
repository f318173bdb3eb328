// Atomics of every operation, type, scope and space. What they add are integers, so that order does not matter.
//
// LAUNCH: global_integers<<<4, 64>>>(integers: u32[16]=ones, wide: u64[16]=ones, returned: u32[256])
// LAUNCH: floats<<<4, 64>>>(single: f32[4], doubles: f64[4])
// LAUNCH: in_shared<<<2, 64>>>(shared: u32[32], shared_wide: u64[8])
// LAUNCH: scopes<<<4, 64>>>(scopes: u32[32]=ones, scopes_wide: u64[8])
// LAUNCH: exchange<<<4, 64>>>(exchanged: u32[4], tickets: u32[256])
// LAUNCH: loops<<<4, 64>>>(loops: u64[4], small: u16[4])
// LAUNCH: distinct<<<1, 64>>>(cells: i32[64]=arange, before: i32[64])

typedef unsigned long long u64;

extern "C" __global__ void global_integers(unsigned *x, u64 *w, unsigned *seen)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i * 2654435761u;
    atomicAdd(&x[0], v);
    atomicAdd((int *)&x[1], -i);
    atomicSub(&x[2], v);
    atomicMin(&x[3], v);
    atomicMax(&x[4], v);
    atomicMin((int *)&x[5], (int)v);
    atomicMax((int *)&x[6], (int)v);
    atomicAnd(&x[7], v | 0xff);
    atomicOr(&x[8], v & 0xf0f);
    atomicXor(&x[9], v);
    seen[i] = atomicInc(&x[10], 1000) < 256;
    seen[i] += 2 * (atomicDec(&x[11], 77) <= 77);
    atomicAdd(&w[0], (u64)v << 20);
    atomicMin(&w[1], (u64)v << 20);
    atomicMax(&w[2], (u64)v << 20);
    atomicMin((long long *)&w[3], (long long)((u64)v << 32));
    atomicMax((long long *)&w[4], (long long)((u64)v << 31));
    atomicAnd(&w[5], (u64)v << 8 | 3);
    atomicOr(&w[6], (u64)v << 8);
    atomicXor(&w[7], (u64)v << 8);
}

extern "C" __global__ void floats(float *x, double *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&x[0], (float)i);
    atomicAdd(&x[i % 3 + 1], 0.5f);
    atomicAdd(&d[0], 1e10 * i);
    atomicAdd(&d[i % 3 + 1], -0.25);
    if (i == 0)
        atomicExch(&x[1], atomicAdd(&x[1], 0.0f));
}

extern "C" __global__ void in_shared(unsigned *out, u64 *wide)
{
    __shared__ unsigned x[8];
    __shared__ u64 w[2];
    __shared__ float f;
    __shared__ int s[2];
    int t = threadIdx.x;
    if (t < 8)
        x[t] = 100;
    if (t < 2)
        w[t] = s[t] = 0;
    if (t == 0)
        f = 0;
    __syncthreads();
    unsigned v = t * 40503u;
    atomicAdd(&x[0], v);
    atomicMin(&x[1], v | 1);
    atomicMax(&x[2], v);
    atomicAnd(&x[3], v | 6);
    atomicOr(&x[4], v);
    atomicXor(&x[5], v);
    atomicInc(&x[6], 9);
    atomicDec(&x[7], 9);
    atomicAdd(&w[0], (u64)v << 20);
    atomicMax(&w[1], (u64)v << 20);
    atomicAdd(&f, 2.0f);
    atomicMin(&s[0], -t);
    atomicMax(&s[1], t);
    __syncthreads();
    if (t < 8)
        out[blockIdx.x * 16 + t] = x[t];
    if (t == 8) {
        out[blockIdx.x * 16 + 8] = (unsigned)f;
        out[blockIdx.x * 16 + 9] = s[0];
        out[blockIdx.x * 16 + 10] = s[1];
    }
    if (t < 2)
        wide[blockIdx.x * 4 + t] = w[t];
}

extern "C" __global__ void scopes(unsigned *x, u64 *w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd_system(&x[0], 3u);
    atomicAdd_block(&x[1 + blockIdx.x], 5u);
    atomicMax_system(&x[8], (unsigned)i);
    atomicMin_block((int *)&x[9 + blockIdx.x], -i);
    atomicOr_system(&x[16], 1u << i % 32);
    atomicXor_block(&x[17 + blockIdx.x], (unsigned)i);
    atomicAnd_system(&x[24], ~(unsigned)i);
    atomicExch_system(&x[25], 9u);
    if (i == 0)
        atomicCAS_system(&x[26], 1u, 77u);
    atomicCAS_block(&x[27 + blockIdx.x], 1u, 78u);
    atomicAdd_system(&w[0], 1ull << 33);
    atomicAdd_block(&w[1 + blockIdx.x], 7ull);
}

extern "C" __global__ void exchange(unsigned *x, unsigned *tickets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = atomicAdd(&x[0], 1u);
    tickets[mine] = 1; // every ticket once
    atomicExch(&x[1], 5u);
    unsigned old = x[2], seen;
    do {
        seen = old;
        old = atomicCAS(&x[2], seen, seen + (i & 3));
    } while (old != seen);
}

__device__ double add_by_cas(u64 *address, double value)
{
    u64 old = *address, seen;
    do {
        seen = old;
        old = atomicCAS(address, seen, (u64)__double_as_longlong(value + __longlong_as_double((long long)seen)));
    } while (seen != old);
    return __longlong_as_double((long long)old);
}

extern "C" __global__ void loops(u64 *x, unsigned short *s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    add_by_cas(&x[i & 3], 0.5 * i);
    unsigned short old = s[0], seen;
    do {
        seen = old;
        old = atomicCAS(&s[0], seen, (unsigned short)(seen + 3));
    } while (old != seen);
}

extern "C" __global__ void distinct(int *cells, int *before)
{
    int t = threadIdx.x;
    before[t] = atomicAdd(&cells[t], t) + atomicExch(&cells[t], 5) * 1000 + atomicCAS(&cells[t], 5, t & 1 ? 6 : 5) * 1000000;
}
