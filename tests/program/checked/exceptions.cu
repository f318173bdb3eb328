// A failed call as an exception of the host, caught by its kind.
#include "check.h"
#include <stdexcept>
#include <string>
struct CudaError : std::runtime_error {
    cudaError_t code;
    CudaError(cudaError_t e) : std::runtime_error(cudaGetErrorString(e)), code(e) {}
};
void must(cudaError_t error)
{
    if (error)
        throw CudaError(error);
}
__global__ void nothing() {}
int main()
{
    std::string told;
    try {
        nothing<<<1, 2048>>>();
        must(cudaGetLastError());
    } catch (const CudaError &error) {
        told = error.what();
        if (error.code != cudaErrorInvalidConfiguration)
            return verdict(false);
    }
    bool is_caught = false;
    try {
        void *p;
        must(cudaMalloc(&p, size_t(1) << 50));
    } catch (const std::exception &error) {
        is_caught = std::string(error.what()) == "out of memory";
    }
    nothing<<<1, 32>>>();
    return verdict(told == "invalid configuration argument" && is_caught && cudaDeviceSynchronize() == cudaSuccess);
}
