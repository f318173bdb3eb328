// A stencil with weights in constant memory, two buffers that change places, 2-D copies.
#include "check.h"
#include <utility>
#include <vector>
__constant__ float weights[3];
__global__ void smooth(const float *in, float *out, size_t pitch, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    auto at = [&](int i, int j) { return in[min(max(j, 0), h - 1) * pitch / sizeof(float) + min(max(i, 0), w - 1)]; };
    out[y * pitch / sizeof(float) + x] = weights[0] * at(x, y) + weights[1] * (at(x - 1, y) + at(x + 1, y)) + weights[2] * (at(x, y - 1) + at(x, y + 1));
}
int main()
{
    const int w = 33, h = 17;
    const float host_weights[3] = {0.5f, 0.125f, 0.125f};
    std::vector<float> now(w * h), next(w * h), got(w * h);
    for (int i = 0; i < w * h; ++i)
        now[i] = float(i * i % 64);
    float *a, *b;
    size_t pitch, other;
    CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
    CHECK(cudaMallocPitch(&a, &pitch, w * 4, h));
    CHECK(cudaMallocPitch(&b, &other, w * 4, h));
    CHECK(cudaMemcpy2D(a, pitch, now.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    for (int step = 0; step < 4; ++step) {
        smooth<<<dim3(3, 3), dim3(16, 8)>>>(a, b, pitch, w, h);
        std::swap(a, b);
        for (int y = 0; y < h; ++y)
            for (int x = 0; x < w; ++x) {
                auto at = [&](int i, int j) { return now[(j < 0 ? 0 : j >= h ? h - 1 : j) * w + (i < 0 ? 0 : i >= w ? w - 1 : i)]; };
                next[y * w + x] = 0.5f * at(x, y) + 0.125f * (at(x - 1, y) + at(x + 1, y)) + 0.125f * (at(x, y - 1) + at(x, y + 1));
            }
        std::swap(now, next);
    }
    CHECK(cudaMemcpy2D(got.data(), w * 4, a, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    bool is_right = pitch == other;
    for (int i = 0; i < w * h; ++i)
        is_right &= std::abs(got[i] - now[i]) < 1e-3f;
    return verdict(is_right);
}
