// Streams with priorities, events between them, page-locked memory, rows of a pitched array, callbacks.
#include <cstdio>
#include <cstring>
__global__ void fill(int *p, int n, int v)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = v + i;
}
__global__ void sum(const int *a, const int *b, int *c, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        c[i] = a[i] + b[i];
}
static int calls = 0;
void called(cudaStream_t, cudaError_t status, void *data) { calls += status == cudaSuccess && *(int *)data == 5; }
int main()
{
    const int n = 777;
    int *a, *b, *c, *host, five = 5, bad = 0, least, greatest;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaStream_t s, t;
    cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest);
    cudaStreamCreate(&t);
    cudaEvent_t ready;
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaMalloc(&a, n * 4), cudaMalloc(&b, n * 4), cudaMalloc(&c, n * 4);
    cudaMallocHost(&host, n * 4);
    memset(host, 0, n * 4);
    fill<<<1, 128, 0, s>>>(a, n, 1);
    cudaEventRecord(ready, s);
    fill<<<1, 128, 0, t>>>(b, n, 10);
    cudaStreamWaitEvent(t, ready);
    sum<<<1, 128, 0, t>>>(a, b, c, n);
    cudaMemcpyAsync(host, c, n * 4, cudaMemcpyDeviceToHost, t);
    cudaStreamAddCallback(t, called, &five, 0);
    cudaStreamSynchronize(t);
    for (int i = 0; i < n; ++i)
        bad += host[i] != 11 + 2 * i;
    char *rows, back[5][30], line[5][30];
    size_t pitch;
    for (int i = 0; i < 150; ++i)
        line[i / 30][i % 30] = (char)i;
    cudaMallocPitch(&rows, &pitch, 30, 5);
    cudaMemset2D(rows, pitch, 9, 30, 5);
    cudaMemcpy2D(rows, pitch, line, 30, 20, 5, cudaMemcpyHostToDevice);
    cudaMemcpy2D(back, 30, rows, pitch, 30, 5, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 150; ++i)
        bad += back[i / 30][i % 30] != (i % 30 < 20 ? (char)i : 9);
    printf("%s %d calls\n", bad ? "FAIL" : "PASS", calls);
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaEventDestroy(ready), cudaFreeHost(host);
    return bad;
}
