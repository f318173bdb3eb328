// Particles, finance, random numbers, geometry: long arithmetic between few loads.
__global__ void nbody(const float4 *pos, float4 *acc, int n, float eps)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = pos[i];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += 128) {
        tile[threadIdx.x] = pos[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; j++) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps);
            float s = other.w * inv * inv * inv;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    acc[i] = make_float4(ax, ay, az, 0);
}
__device__ float normal_cdf(float d)
{
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) * k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return d > 0 ? 1 - c : c;
}
__global__ void black_scholes(float *call, float *put, const float *price, const float *strike, const float *years, float rate, float vol, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * vol * vol) * t) / (vol * root), d2 = d1 - vol * root;
    float n1 = normal_cdf(d1), n2 = normal_cdf(d2), e = expf(-rate * t);
    call[i] = s * n1 - x * e * n2;
    put[i] = x * e * (1 - n2) - s * (1 - n1);
}
__global__ void philox(uint4 *out, unsigned key0, unsigned key1, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0;
#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ key0;
        c1 = l1;
        c2 = h0 ^ c3 ^ key1;
        c3 = l0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    out[i] = make_uint4(c0, c1, c2, c3);
}
__global__ void monte_carlo(double *sums, unsigned seed, int steps)
{
    unsigned long long state = seed + blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int i = 0; i < steps; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        unsigned a = state >> 32;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        unsigned b = state >> 32;
        double x = a * (1.0 / 4294967296.0), y = b * (1.0 / 4294967296.0);
        sum += x * x + y * y < 1 ? 1.0 : 0.0;
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = 4 * sum / steps;
}
struct Ray { float ox, oy, oz, dx, dy, dz; };
__global__ void spheres(const Ray *rays, const float4 *balls, int n_balls, float *depth, int *which, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Ray r = rays[i];
    float nearest = 1e30f;
    int found = -1;
    for (int k = 0; k < n_balls; k++) {
        float4 ball = balls[k];
        float x = ball.x - r.ox, y = ball.y - r.oy, z = ball.z - r.oz;
        float b = x * r.dx + y * r.dy + z * r.dz, d = b * b - (x * x + y * y + z * z) + ball.w * ball.w;
        if (d < 0) continue;
        float t = b - sqrtf(d);
        if (t > 1e-4f && t < nearest) { nearest = t; found = k; }
    }
    depth[i] = nearest;
    which[i] = found;
}
__global__ void lennard_jones(const double *x, const double *y, const double *z, const int *neighbours, const int *count, double *fx,
                              double *fy, double *fz, int n, double cutoff)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double px = x[i], py = y[i], pz = z[i], ax = 0, ay = 0, az = 0;
    for (int k = 0; k < count[i]; k++) {
        int j = neighbours[k * n + i];
        double dx = px - x[j], dy = py - y[j], dz = pz - z[j], r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cutoff) {
            double inv = 1 / r2, inv6 = inv * inv * inv, force = inv6 * (48 * inv6 - 24) * inv;
            ax += dx * force;
            ay += dy * force;
            az += dz * force;
        }
    }
    fx[i] = ax;
    fy[i] = ay;
    fz[i] = az;
}
