// LAUNCH: loops<<<2, 64>>>(37, u32[128]=arange, out: u32[128])
struct Range { int first; int last; };

__device__ unsigned hash(unsigned x, unsigned seed) {
    x ^= seed;
    for (int k = 0; k < 3; k++) {
        unsigned y = x >> (k + 5);
        x = (x ^ y) * 2654435761u;
    }
    return x;
}

__device__ int count(Range range, unsigned mask) {
    int n = 0;
    for (int i = range.first; i < range.last; i++)
        if (mask >> (i & 31) & 1)
            n++;
    return n;
}

__global__ void loops(int bound, const unsigned *in, unsigned *out) {
    __shared__ unsigned part[64];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    unsigned value = hash(in[i], 17);
    short small = (short)(value & 0x7fff);
    bool odd = value & 1;
    part[t] = value;
    __syncthreads();
    unsigned total = 0;
    int step = odd ? 3 : 1;
    for (int k = t & 3; k < bound; k += step) {
        unsigned other = part[(t + k) & 63];
        if (other & 4)
            total += other >> 3;
        else if (other & 8)
            total ^= small;
        unsigned twice = total * 2;
        total = twice ^ k;
    }
    Range range = {t & 7, bound};
    int n = count(range, total);
    long wide = (long)n * 1000003 + total;
    while (wide > 100) {
        int digit = wide % 10;
        wide = wide / 10 + digit;
    }
    out[i] = total + n + (unsigned)wide;
}
