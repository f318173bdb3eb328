// Addresses of __managed__ variables are those of the device, wherever they are.
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Node {
    int value;
    Node *next;
};
__managed__ Node last = {5, nullptr}, before = {7, &last};
__managed__ int many[100000];
static __managed__ double scale = 1.5;
__device__ int plain = 4;
int on_host[200000];

__global__ void sum(const Node *node, int *out)
{
    int total = 0;
    for (; node; node = node->next)
        total += node->value;
    *out = total + plain + (int)scale;
    many[99999] = total;
    scale *= 2;
}

int main()
{
    std::vector<int> heap(50000, 1); // before the first call
    int *out;
    cudaMallocManaged(&out, sizeof *out);
    sum<<<1, 1>>>(&before, out);
    cudaDeviceSynchronize();
    printf("%d %d %g\n", *out, many[99999], scale);

    last.value = 100;
    on_host[199999] = heap[7];
    Node *linked, head = {1000, &before};
    cudaMalloc(&linked, sizeof head);
    cudaMemcpy(linked, &head, sizeof head, cudaMemcpyDefault);
    sum<<<1, 1>>>(linked, out);
    cudaDeviceSynchronize();
    printf("%d %d %g\n", *out, many[99999], scale);

    const double eight = 8;
    cudaMemcpyToSymbol(scale, &eight, sizeof eight);
    void *address;
    cudaGetSymbolAddress(&address, scale);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, &last);
    printf("%g, address %d, type %d, %s\n", scale, address == &scale, attributes.type, cudaGetErrorName(cudaGetLastError()));
    free(malloc(1 << 27));
    return 0;
}
