// Blocks that do little: each thread of a grid much larger than the chip loads, stores or both, once. Two blocks fit an SM, by their shared memory:
// with blocks of one warp to 32 that is the chip at every occupancy. What gpu-benches' gpu-stream measures. `never` is 0, which no compiler knows.

#define ONCE(NAME, VALUE)                                                                                                              \
    extern "C" __global__ void NAME(unsigned long long n, int never, double *to, const double *from, const double *also)               \
    {                                                                                                                                  \
        extern __shared__ double room[];                                                                                               \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                                 \
        if (i >= n)                                                                                                                    \
            return;                                                                                                                    \
        if (never)                                                                                                                     \
            room[threadIdx.x] = from[threadIdx.x];                                                                                     \
        to[i] = VALUE;                                                                                                                 \
        if (never)                                                                                                                     \
            to[i] = room[i];                                                                                                           \
    }

ONCE(store_once, 0.23)
ONCE(scale_once, from[i] * 1.2)
ONCE(triad_once, from[i] * 1.2 + also[i])

extern "C" __global__ void load_once(unsigned long long n, int never, double *to, const double *from, const double *also)
{
    extern __shared__ double room[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (never)
        room[threadIdx.x] = from[threadIdx.x];
    double x = from[i];
    if (never || x == 123.0)
        to[i] = x + room[i];
}

// Double precision by chains and warps: gpu-benches' cuda-incore. A trip sets up its chains anew and looks at what came out, as there.
template <int CHAINS> __global__ void chains(int n, double p, double by, double plus, double *out)
{
#pragma unroll 1
    for (int trip = 0; trip < n; trip++) {
        double t[CHAINS];
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            t[k] = p + threadIdx.x + trip + k;
#pragma unroll
        for (int i = 0; i < 128 / CHAINS; i++) {
#pragma unroll
            for (int k = 0; k < CHAINS; k++)
                t[k] = t[k] * by + plus;
        }
#pragma unroll
        for (int k = 0; k < CHAINS; k++) {
            if (t[k] > 22313.0)
                out[0] = t[k];
        }
    }
}
