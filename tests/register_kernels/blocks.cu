// Work that a block does together: sorts, scans, reductions, transforms in shared memory.
__global__ void bitonic(unsigned *keys)
{
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = keys[blockIdx.x * 1024 + i];
    for (unsigned k = 2; k <= 1024; k <<= 1)
        for (unsigned j = k >> 1; j; j >>= 1) {
            __syncthreads();
            for (unsigned i = t; i < 512; i += blockDim.x) {
                unsigned lo = 2 * i - (i & (j - 1)), hi = lo + j;
                bool up = (lo & k) == 0;
                unsigned a = s[lo], b = s[hi];
                if ((a > b) == up) { s[lo] = b; s[hi] = a; }
            }
        }
    __syncthreads();
    for (unsigned i = t; i < 1024; i += blockDim.x) keys[blockIdx.x * 1024 + i] = s[i];
}
__global__ void scan(const int *in, int *out, int *sums, int n)
{
    __shared__ int part[32];
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 4, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int v[4], sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) { v[i] = at + i < n ? in[at + i] : 0; sum += v[i]; v[i] = sum; }
    int inclusive = sum;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) { int up = __shfl_up_sync(~0u, inclusive, o); if (lane >= o) inclusive += up; }
    if (lane == 31) part[warp] = inclusive;
    __syncthreads();
    int before = 0;
    for (int i = 0; i < warp; i++) before += part[i];
    before += inclusive - sum;
#pragma unroll
    for (int i = 0; i < 4; i++) if (at + i < n) out[at + i] = v[i] + before;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = before + sum;
}
__global__ void dot_f64(const double *a, const double *b, double *out, int n)
{
    __shared__ double s[256];
    double sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) sum += a[i] * b[i];
    s[threadIdx.x] = sum;
    for (int o = 128; o; o >>= 1) {
        __syncthreads();
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    }
    if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
__global__ void argmax(const float *in, int *where, float *most, int n)
{
    float best = -1e30f;
    int at = -1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] > best) { best = in[i]; at = i; }
    for (int o = 16; o; o >>= 1) {
        float other = __shfl_xor_sync(~0u, best, o);
        int place = __shfl_xor_sync(~0u, at, o);
        if (other > best) { best = other; at = place; }
    }
    __shared__ float bests[32];
    __shared__ int places[32];
    if ((threadIdx.x & 31) == 0) { bests[threadIdx.x >> 5] = best; places[threadIdx.x >> 5] = at; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / 32; i++) if (bests[i] > best) { best = bests[i]; at = places[i]; }
        most[blockIdx.x] = best;
        where[blockIdx.x] = at;
    }
}
__global__ void histogram256(const uint4 *in, unsigned *bins, int n)
{
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
        uint4 v = in[i];
        unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 16; k++) atomicAdd(&s[word[k / 4] >> (k % 4 * 8) & 255], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void fft8(float2 *data, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    float2 v[8];
#pragma unroll
    for (int i = 0; i < 8; i++) v[i] = data[i * n + id];
#pragma unroll
    for (int half = 4; half; half >>= 1)
#pragma unroll
        for (int i = 0; i < 8; i++)
            if (!(i & half)) {
                float angle = -3.14159265f * (i % half) / half;
                float c = cosf(angle), s = sinf(angle);
                float2 a = v[i], b = v[i + half];
                v[i] = make_float2(a.x + b.x, a.y + b.y);
                float dx = a.x - b.x, dy = a.y - b.y;
                v[i + half] = make_float2(dx * c - dy * s, dx * s + dy * c);
            }
#pragma unroll
    for (int i = 0; i < 8; i++) data[i * n + id] = v[i];
}
