// Two streams with copies of pinned and of pageable memory, events between them, a graph, and their times in words.
#include <cstdio>
#include <vector>
__global__ void scale(float *x, int n, float by)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= by;
}
int main()
{
    const int n = 1 << 14, nbytes = n * sizeof(float);
    float *pinned, *x, *y;
    std::vector<float> pageable(n, 2.0f);
    cudaMallocHost(&pinned, nbytes), cudaMalloc(&x, nbytes), cudaMalloc(&y, nbytes);
    for (int i = 0; i < n; ++i)
        pinned[i] = 1.0f;
    cudaStream_t first, second;
    cudaStreamCreate(&first), cudaStreamCreate(&second);
    cudaEvent_t begin, middle, end;
    cudaEventCreate(&begin), cudaEventCreate(&middle), cudaEventCreate(&end);

    cudaEventRecord(begin, first);
    cudaMemcpyAsync(x, pinned, nbytes, cudaMemcpyHostToDevice, first);
    cudaMemcpyAsync(y, pageable.data(), nbytes, cudaMemcpyHostToDevice, second);
    scale<<<8, 128, 0, first>>>(x, n, 3.0f);
    scale<<<8, 128, 0, second>>>(y, n, 5.0f);
    cudaEventRecord(middle, second);
    cudaStreamWaitEvent(first, middle);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(y, x, nbytes / 2, cudaMemcpyDeviceToDevice, second);
    scale<<<8, 128, 0, second>>>(y, n, 2.0f);
    cudaMemsetAsync(x, 0, 256, second);
    cudaStreamEndCapture(second, &graph);
    cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    for (int i = 0; i < 3; ++i)
        cudaGraphLaunch(exec, first);
    cudaMemcpyAsync(pinned, y, nbytes, cudaMemcpyDeviceToHost, first);
    cudaEventRecord(end, first);
    cudaEventSynchronize(end);
    cudaMemcpy(pageable.data(), x, nbytes, cudaMemcpyDeviceToHost);

    float whole, part;
    cudaEventElapsedTime(&whole, begin, end), cudaEventElapsedTime(&part, begin, middle);
    // each graph overwrites the first half of y by x, whose first 64 numbers the first graph sets to zero
    printf("%g %g %g %g, %.6f ms of %.6f ms\n", pinned[0], pinned[100], pinned[n - 1], pageable[100], part, whole);
    return 0;
}
