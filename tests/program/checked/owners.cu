// Device memory and streams owned by objects of the host: moves, unique_ptr with a deleter, destruction in order.
#include "check.h"
#include <memory>
#include <numeric>
#include <utility>
#include <vector>
template <typename T> class Buffer {
    T *data_ = nullptr;
    size_t n_ = 0;

  public:
    explicit Buffer(size_t n) : n_(n) { CHECK(cudaMalloc(&data_, n * sizeof(T))); }
    Buffer(Buffer &&other) noexcept : data_(std::exchange(other.data_, nullptr)), n_(std::exchange(other.n_, 0)) {}
    Buffer(const Buffer &) = delete;
    ~Buffer() { cudaFree(data_); }
    T *get() { return data_; }
    std::vector<T> read() const
    {
        std::vector<T> host(n_);
        CHECK(cudaMemcpy(host.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
};
__global__ void count_up(int *p, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        p[i] = i;
}
struct Destroy {
    void operator()(CUstream_st *stream) const { cudaStreamDestroy(stream); }
};
Buffer<int> made(int n, cudaStream_t stream)
{
    Buffer<int> buffer(n);
    count_up<<<(n + 63) / 64, 64, 0, stream>>>(buffer.get(), n);
    return buffer;
}
int main()
{
    cudaStream_t raw;
    CHECK(cudaStreamCreate(&raw));
    std::unique_ptr<CUstream_st, Destroy> stream(raw);
    std::vector<Buffer<int>> all;
    for (int n : {10, 100, 1000})
        all.push_back(made(n, stream.get()));
    CHECK(cudaStreamSynchronize(stream.get()));
    long total = 0;
    for (auto &each : all) {
        const auto host = each.read();
        total += std::accumulate(host.begin(), host.end(), 0L);
    }
    return verdict(total == 45 + 4950 + 499500);
}
