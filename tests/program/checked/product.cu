// A product of matrices in tiles, for sizes that are no multiple of a tile.
#include "check.h"
#include <vector>
constexpr int tile = 16;
__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float as[tile][tile], bs[tile][tile + 1];
    const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < k; t += tile) {
        as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = column < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < tile; ++i)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
int main()
{
    const int m = 37, n = 29, k = 21;
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (int i = 0; i < m * k; ++i)
        a[i] = float(i % 7 - 3);
    for (int i = 0; i < k * n; ++i)
        b[i] = float(i % 5 - 2);
    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, a.size() * 4));
    CHECK(cudaMalloc(&db, b.size() * 4));
    CHECK(cudaMalloc(&dc, c.size() * 4));
    CHECK(cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
    multiply<<<dim3((n + tile - 1) / tile, (m + tile - 1) / tile), dim3(tile, tile)>>>(da, db, dc, m, n, k);
    CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int t = 0; t < k; ++t)
                sum += a[i * k + t] * b[t * n + j];
            is_right &= c[i * n + j] == sum;
        }
    return verdict(is_right);
}
