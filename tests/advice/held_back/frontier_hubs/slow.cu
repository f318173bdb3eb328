// For each vertex of a frontier the least label of its neighbours; a warp does one vertex after another. Vertices with many
// neighbours come first.
//
// LAUNCH: expand<<<80, 256>>>(labels: u32[65536]=random, reached: u32[5120], next_vertex: u32[1], 5120)

constexpr int WARPS = 8;

__device__ int degree_of(int vertex)
{
    return 16 + 400000 / (vertex + 80);
}

__device__ unsigned least_of(const unsigned *labels, int vertex)
{
    unsigned least = ~0u;
    for (int k = threadIdx.x % 32, degree = degree_of(vertex); k < degree; k += 32)
        least = min(least, labels[(vertex * 1031 + k) % 65536] * 4096 + vertex + k);
    for (int distance = 16; distance > 0; distance /= 2)
        least = min(least, __shfl_xor_sync(0xffffffff, least, distance));
    return least;
}

__global__ void expand(const unsigned *labels, unsigned *reached, unsigned *next_vertex, int n)
{
    int warps = gridDim.x * WARPS, each = n / warps;
    int first = (blockIdx.x * WARPS + threadIdx.x / 32) * each;
    for (int vertex = first; vertex < first + each; vertex++) {
        unsigned least = least_of(labels, vertex);
        if (threadIdx.x % 32 == 0)
            reached[vertex] = least;
    }
}
