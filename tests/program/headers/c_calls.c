/* The runtime's and the driver's calls and types from C, with those that C has in another form than C++. */
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <stdio.h>

const void *scale_kernel(void);
void launch(float *values, int n, cudaStream_t stream);

#define TRY(CALL)                                                                                                                                    \
    do {                                                                                                                                             \
        const cudaError_t status = CALL;                                                                                                             \
        if (status != cudaSuccess) {                                                                                                                 \
            printf("%s: %s\n", cudaGetErrorName(status), cudaGetErrorString(status));                                                                \
            return 1;                                                                                                                                \
        }                                                                                                                                            \
    } while (0)

static int with_the_runtime(void)
{
    float values[4] = {1, 2, 3, 4}, *copy, milliseconds;
    struct cudaDeviceProp properties;
    struct cudaPointerAttributes attributes;
    enum cudaMemcpyKind kind = cudaMemcpyHostToDevice;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    dim3 grid = {1, 1, 1}, block = {4, 1, 1};
    TRY(cudaGetDeviceProperties(&properties, 0));
    TRY(cudaMalloc((void **)&copy, sizeof values));
    TRY(cudaStreamCreate(&stream));
    TRY(cudaEventCreate(&start));
    TRY(cudaEventCreate(&stop));
    TRY(cudaMemcpyAsync(copy, values, sizeof values, kind, stream));
    TRY(cudaEventRecord(start, stream));
    launch(copy, 4, stream);
    float factor = 10;
    void *arguments[] = {&copy, &factor};
    TRY(cudaLaunchKernel(scale_kernel(), grid, block, arguments, 0, stream));
    TRY(cudaEventRecord(stop, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaEventElapsedTime(&milliseconds, start, stop));
    TRY(cudaMemcpy(values, copy, sizeof values, cudaMemcpyDeviceToHost));
    TRY(cudaPointerGetAttributes(&attributes, copy));
    printf("%g %g %d %d %d\n", values[0], values[3], milliseconds > 0, properties.warpSize, attributes.type == cudaMemoryTypeDevice);
    printf("%s\n", cudaGetErrorName(cudaMemcpy(values, copy, 1u << 30, cudaMemcpyDeviceToHost)));
    TRY(cudaFree(copy));
    TRY(cudaStreamDestroy(stream));
    return 0;
}

static int with_the_driver(void)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr copy;
    float4 given = make_float4(1, 2, 3, 4), got;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate(&context, NULL, 0, device) || cuMemAlloc(&copy, sizeof given))
        return 1;
    if (cuMemcpyHtoD(copy, &given, sizeof given) || cuMemcpyDtoH(&got, copy, sizeof got) || cuCtxDestroy(context))
        return 1;
    const cuFloatComplex product = cuCmulf(make_cuFloatComplex(got.x, got.y), make_cuFloatComplex(got.z, got.w));
    const struct cudaExtent extent = make_cudaExtent(5, 6, 7);
    printf("%g %g %zu\n", cuCrealf(product), cuCimagf(product), extent.depth);
    return 0;
}

int main(void) { return with_the_runtime() || with_the_driver(); }
