// Graphs: captured with a fork and a join, put together, with a child, changed, and what cannot be captured.
#include <cstdio>
__global__ void add_to(int *p, int v) { *p += v; }
__global__ void multiply(int *p, const int *q) { *p *= *q; }
static int n_calls = 0;
static void count(void *data) { n_calls += *(int *)data; }
#define CHECK(call)                                                                          \
    if (cudaError_t error = (call)) {                                                        \
        printf("line %d: %s\n", __LINE__, cudaGetErrorName(error));                          \
        return 2;                                                                            \
    }
int main()
{
    int *n, host = 10, step = 3, found[2];
    CHECK(cudaMalloc(&n, 8));
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));

    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(first, &status));
    CHECK(cudaMemcpyAsync(n, &host, 4, cudaMemcpyHostToDevice, first));
    CHECK(cudaEventRecord(fork, first));
    CHECK(cudaStreamWaitEvent(second, fork));
    CHECK(cudaMemsetAsync(n + 1, 0, 4, second));
    add_to<<<1, 1, 0, first>>>(n, 1);
    add_to<<<1, 1, 0, second>>>(n + 1, 2);
    CHECK(cudaEventRecord(join, second));
    CHECK(cudaStreamWaitEvent(first, join));
    multiply<<<1, 1, 0, first>>>(n, n + 1);
    CHECK(cudaLaunchHostFunc(first, count, &step));
    CHECK(cudaMemcpyAsync(found, n, 8, cudaMemcpyDeviceToHost, first));
    cudaGraph_t graph;
    printf("%d\n", status);
    CHECK(cudaStreamEndCapture(first, &graph));
    size_t n_nodes, n_roots, n_edges;
    CHECK(cudaGraphGetNodes(graph, nullptr, &n_nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &n_roots));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &n_edges));
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 3; ++i, host *= 10) { // what is copied is what is there at the launch
        CHECK(cudaGraphLaunch(exec, first));
        CHECK(cudaStreamSynchronize(first));
        printf("%d %d, called %d\n", found[0], found[1], n_calls);
    }
    printf("%zu nodes, %zu roots, %zu edges\n", n_nodes, n_roots, n_edges);

    cudaGraph_t made, child;
    cudaGraphNode_t fill, launch, whole, last;
    int value = 5;
    void *arguments[] = {&n, &value};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)add_to;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    cudaMemsetParams zeros = {};
    zeros.dst = n, zeros.value = 0x01020304, zeros.elementSize = 4, zeros.width = 1, zeros.height = 1;
    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddKernelNode(&launch, child, nullptr, 0, &kernel));
    value = 7; // the node has taken 5
    CHECK(cudaGraphCreate(&made, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&last, made, nullptr, 0, found, n, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemsetNode(&fill, made, nullptr, 0, &zeros));
    CHECK(cudaGraphAddChildGraphNode(&whole, made, &fill, 1, child));
    CHECK(cudaGraphAddKernelNode(&launch, made, &whole, 1, &kernel));
    CHECK(cudaGraphAddDependencies(made, &launch, &last, 1));
    cudaGraphExec_t again;
    CHECK(cudaGraphInstantiate(&again, made, 0));
    CHECK(cudaGraphLaunch(again, 0));
    CHECK(cudaDeviceSynchronize());
    printf("%x\n", found[0]);
    value = 0x10;
    CHECK(cudaGraphExecKernelNodeSetParams(again, launch, &kernel));
    CHECK(cudaGraphLaunch(again, 0));
    CHECK(cudaDeviceSynchronize());
    printf("%x\n", found[0]);
    cudaGraphExecUpdateResultInfo info;
    printf("%s %s\n", cudaGetErrorName(cudaGraphExecUpdate(again, made, &info)), cudaGetErrorName(cudaGraphExecUpdate(again, graph, &info)));
    CHECK(cudaGraphAddDependencies(made, &last, &fill, 1)); // a circle
    printf("%s\n", cudaGetErrorName(cudaGraphInstantiate(&again, made, 0)));

    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, first));
    CHECK(cudaStreamWaitEvent(second, fork));
    add_to<<<1, 1, 0, second>>>(n, 1); // nobody waits for it
    printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
    printf("%s\n", cudaGetErrorName(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)));
    CHECK(cudaGraphExecDestroy(exec));
}
