// Loads through computed indices: sums of shifted channels, and points in a polygon.

// Dedispersion. SAMPLES samples of each of CHANNELS channels, a row of bytes each, are summed with a shift that depends
// on channel and dispersion measure. Blocks of BX x BY threads, DOWN measures a thread: neighbours, or BY apart.
constexpr int MEASURES = 2048;
constexpr int SAMPLES = 25000;
constexpr int ROW = SAMPLES + 650;

// Delays of channels from 1425 MHz on, in samples of 40.96 us a measure: as many as there are threads, out of 1536.
__global__ void delays(float *shifts)
{
    float band = 1536 * 0.1953125f, frequency = 1425.0f + band * threadIdx.x / blockDim.x, highest = 1425.0f + band;
    shifts[threadIdx.x] = 4148.808f * (1 / (frequency * frequency) - 1 / (highest * highest)) / 4.096e-5f;
}

template <int BX, int BY, int DOWN, bool APART, int CHANNELS>
__global__ void dedisperse(const unsigned char *in, float *out, const float *shifts)
{
    int sample = blockIdx.x * BX + threadIdx.x;
    int first = blockIdx.y * BY * DOWN + threadIdx.y * (APART ? 1 : DOWN);
    if (sample < SAMPLES) {
        for (int t = 0; t < DOWN; t++) {
            int measure = first + t * (APART ? BY : 1);
            if (measure < MEASURES) {
                float sum = 0.0f;
                for (int channel = 0; channel < CHANNELS; channel++) {
                    unsigned shift = (0.0f + measure * 0.02f) * shifts[channel];
                    sum += in[channel * ROW + sample + shift];
                }
                out[measure * SAMPLES + sample] = sum;
            }
        }
    }
}

// Points in a polygon of VERTICES corners: how often a ray from the point crosses an edge. The measured programs declare
// the corners as constants and copy none there, so all are 0, and each slope takes the division's slow way, 0 / 0.
constexpr int VERTICES = 600;

__constant__ float2 corners[VERTICES];

// Whether `a` lies between the others: by two comparisons, or by the sign of a product.
template <int BETWEEN>
__device__ __forceinline__ int between(float a, float b, float c)
{
    if (BETWEEN == 0)
        return (b > a) != (c > a);
    return a - b == 0.0f || (a - b) * (a - c) < 0.0f;
}

// EACH points a thread. METHOD 0 negates a flag, 1 adds without a branch, 2 adds within one.
template <int BETWEEN, int THREADS, int EACH, int METHOD, int EDGES>
__global__ void in_polygon(int *inside, float2 *points, int n)
{
    int i = blockIdx.x * THREADS * EACH + threadIdx.x;
    if (i >= n)
        return;
    int crossings[EACH];
    float2 own[EACH];
#pragma unroll
    for (int t = 0; t < EACH; t++) {
        crossings[t] = 0;
        if (i + THREADS * t < n)
            own[t] = points[i + THREADS * t];
    }
    int k = VERTICES - 1;
    for (int j = 0; j < EDGES; k = j++) {
        float2 vj = corners[j], vk = corners[k];
        float slope = (vk.x - vj.x) / (vk.y - vj.y);
#pragma unroll
        for (int t = 0; t < EACH; t++) {
            float2 p = own[t];
            if (METHOD == 1) {
                int b = between<BETWEEN>(p.y, vj.y, vk.y);
                crossings[t] += b && p.x < vj.x + slope * (p.y - vj.y);
            } else if (between<BETWEEN>(p.y, vj.y, vk.y) && p.x < slope * (p.y - vj.y) + vj.x) {
                crossings[t] = METHOD == 0 ? !crossings[t] : crossings[t] + 1;
            }
        }
    }
#pragma unroll
    for (int t = 0; t < EACH; t++)
        if (i + THREADS * t < n)
            inside[i + THREADS * t] = METHOD == 0 ? crossings[t] : crossings[t] & 1;
}
