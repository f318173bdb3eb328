// malloc, free, new and delete in kernels; a list that one kernel makes and another one takes apart.
#include "check.h"
struct Node {
    int value;
    Node *next;
};
__device__ Node *head = nullptr;
__device__ int n_failed = 0;
__global__ void push()
{
    Node *node = (Node *)malloc(sizeof(Node));
    if (!node) {
        atomicAdd(&n_failed, 1);
        return;
    }
    node->value = threadIdx.x;
    Node *old = (Node *)atomicAdd((unsigned long long *)&head, 0);
    do {
        node->next = old;
        old = (Node *)atomicCAS((unsigned long long *)&head, (unsigned long long)node->next, (unsigned long long)node);
    } while (old != node->next);
}
__global__ void drain(int *sum, int *n)
{
    int *own = new int[8];
    for (int i = 0; i < 8; ++i)
        own[i] = i;
    for (Node *each = head; each;) {
        Node *next = each->next;
        *sum += each->value + own[each->value % 8];
        ++*n;
        free(each);
        each = next;
    }
    delete[] own;
}
int main()
{
    int *found, got[2], failed, expected = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    CHECK(cudaMalloc(&found, sizeof got));
    CHECK(cudaMemset(found, 0, sizeof got));
    push<<<1, 64>>>();
    drain<<<1, 1>>>(found, found + 1);
    CHECK(cudaMemcpy(got, found, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&failed, n_failed, sizeof failed));
    for (int i = 0; i < 64; ++i)
        expected += i + i % 8;
    return verdict(!failed && got[0] == expected && got[1] == 64);
}
