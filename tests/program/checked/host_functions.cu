// Functions of the host in a stream: they run in its order, with what kernels before them have left.
#include "check.h"
#include <string>
struct Log {
    std::string text;
    int *host;
};
__global__ void step(int *p) { *p = *p * 3 + 1; }
void note(void *data)
{
    Log *log = static_cast<Log *>(data);
    log->text += std::to_string(*log->host) + ' ';
}
int main()
{
    cudaStream_t stream;
    int *device;
    Log log;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, sizeof *device));
    CHECK(cudaMallocHost(&log.host, sizeof *log.host));
    CHECK(cudaMemsetAsync(device, 0, sizeof *device, stream));
    for (int i = 0; i < 4; ++i) {
        step<<<1, 1, 0, stream>>>(device);
        CHECK(cudaMemcpyAsync(log.host, device, sizeof *device, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaLaunchHostFunc(stream, note, &log));
    }
    CHECK(cudaStreamSynchronize(stream));
    return verdict(log.text == "1 4 13 40 ");
}
