// Threads of the host, each with its own stream and memory; a queue between them.
#include "check.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
__global__ void square(int *p, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] *= p[i];
}
std::mutex lock;
std::condition_variable changed;
std::queue<int> work;
bool is_closed = false;
std::atomic<long> total{0};
void worker()
{
    cudaStream_t stream;
    int *device, host[100];
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, sizeof host));
    for (;;) {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [] { return is_closed || !work.empty(); });
        if (work.empty())
            break;
        const int first = work.front();
        work.pop();
        held.unlock();
        for (int i = 0; i < 100; ++i)
            host[i] = first + i;
        CHECK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
        square<<<1, 32, 0, stream>>>(device, 100);
        CHECK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int each : host)
            total += each;
    }
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
}
int main()
{
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i)
        workers.emplace_back(worker);
    for (int i = 0; i < 10; ++i) {
        std::lock_guard<std::mutex> held(lock);
        work.push(i * 100);
        changed.notify_one();
    }
    {
        std::lock_guard<std::mutex> held(lock);
        is_closed = true;
    }
    changed.notify_all();
    for (auto &each : workers)
        each.join();
    return verdict(total == 999L * 1000 * 1999 / 6);
}
