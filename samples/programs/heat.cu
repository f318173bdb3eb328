// Heat that spreads over a plate, as a whole program: from global memory, from tiles in shared memory, and on the host.
//     gpuprof run samples/programs/heat.cu -- 96 10
//     gpuprof collect samples/programs/heat.cu -- 96 10
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int TILE = 16;

static void check(cudaError_t error)
{
    if (error)
        throw std::runtime_error(cudaGetErrorString(error));
}

__host__ __device__ float mean_of(float left, float right, float up, float down) { return 0.25f * ((left + right) + (up + down)); }

__global__ void from_global(const float *in, float *out, int n)
{
    const int x = blockIdx.x * TILE + threadIdx.x + 1, y = blockIdx.y * TILE + threadIdx.y + 1;
    if (x < n - 1 && y < n - 1) {
        const float *at = in + y * n + x;
        out[y * n + x] = mean_of(at[-1], at[1], at[-n], at[n]);
    }
}

__global__ void from_tiles(const float *in, float *out, int n)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        const int x = left + i % (TILE + 2), y = top + i / (TILE + 2);
        tile[i / (TILE + 2)][i % (TILE + 2)] = x < n && y < n ? in[y * n + x] : 0.0f;
    }
    __syncthreads();
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = left + tx, y = top + ty;
    if (x < n - 1 && y < n - 1)
        out[y * n + x] = mean_of(tile[ty][tx - 1], tile[ty][tx + 1], tile[ty - 1][tx], tile[ty + 1][tx]);
}

static void on_host(const std::vector<float> &in, std::vector<float> &out, int n)
{
    for (int y = 1; y < n - 1; ++y)
        for (int x = 1; x < n - 1; ++x) {
            const float *at = &in[y * n + x];
            out[y * n + x] = mean_of(at[-1], at[1], at[-n], at[n]);
        }
}

class Plate {
public:
    explicit Plate(const std::vector<float> &start) : nbytes(start.size() * sizeof(float))
    {
        for (float *&each : buffers) {
            check(cudaMalloc(&each, nbytes));
            check(cudaMemcpy(each, start.data(), nbytes, cudaMemcpyHostToDevice));
        }
    }
    ~Plate()
    {
        for (float *each : buffers)
            cudaFree(each);
    }
    Plate(const Plate &) = delete;
    Plate &operator=(const Plate &) = delete;

    template <typename Kernel> std::vector<float> after(int n_steps, int n, Kernel kernel)
    {
        const int n_tiles = (n - 2 + TILE - 1) / TILE;
        for (int step = 0; step < n_steps; ++step) {
            kernel<<<dim3(n_tiles, n_tiles), dim3(TILE, TILE)>>>(buffers[0], buffers[1], n);
            check(cudaGetLastError());
            std::swap(buffers[0], buffers[1]);
        }
        std::vector<float> found(nbytes / sizeof(float));
        check(cudaMemcpy(found.data(), buffers[0], nbytes, cudaMemcpyDeviceToHost));
        return found;
    }

private:
    size_t nbytes;
    float *buffers[2] = {};
};

static float farthest(const std::vector<float> &a, const std::vector<float> &b)
{
    float most = 0;
    for (size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::fabs(a[i] - b[i]));
    return most;
}

int main(int argc, char **argv)
try {
    const int n = argc > 1 ? std::stoi(argv[1]) : 96, n_steps = argc > 2 ? std::stoi(argv[2]) : 10;
    if (n < 3 || n > 10000 || n_steps < 0)
        throw std::invalid_argument("a plate has 3 to 10000 points a side, and makes no fewer than 0 steps");
    std::vector<float> start(n * n, 0.0f);
    std::fill(start.begin(), start.begin() + n, 100.0f); // the upper edge is hot
    std::vector<float> expected = start, next = start;
    for (int step = 0; step < n_steps; ++step, std::swap(expected, next))
        on_host(expected, next, n);

    const float global = farthest(Plate(start).after(n_steps, n, from_global), expected);
    const float tiles = farthest(Plate(start).after(n_steps, n, from_tiles), expected);
    std::printf("%d x %d, %d steps: %.3f degrees below the edge\n", n, n, n_steps, expected[n + n / 2]);
    std::printf("farthest from the host: %g from global memory, %g from tiles\n", global, tiles);
    std::puts(global == 0 && tiles == 0 ? "PASS" : "FAIL");
    return global == 0 && tiles == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception &error) {
    std::fprintf(stderr, "heat: %s\n", error.what());
    return EXIT_FAILURE;
}
