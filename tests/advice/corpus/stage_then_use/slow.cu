// The nearest of many points on a line for each query, tile by tile through shared memory.
//
// LAUNCH: nearest<<<80, 128>>>(queries: i32[10240]=random, points: i32[4096]=random, best: i32[10240], 32)

constexpr int WIDTH = 128;

__global__ void nearest(const int *queries, const int *points, int *best, int tiles)
{
    __shared__ int tile[WIDTH];
    int i = blockIdx.x * WIDTH + threadIdx.x;
    int query = queries[i] * 3 + i, least = 1 << 30;
    for (int t = 0; t < tiles; t++) {
        tile[threadIdx.x] = points[t * WIDTH + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < WIDTH; k += 4)
            least = min(least, abs(query - tile[k] * 13));
        __syncthreads();
    }
    best[i] = least;
}
