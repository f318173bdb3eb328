// A list in managed memory that host and device both follow and change.
#include "check.h"
#include <new>
struct Managed {
    void *operator new(size_t nbytes)
    {
        void *p;
        CHECK(cudaMallocManaged(&p, nbytes));
        return p;
    }
    void operator delete(void *p) { cudaFree(p); }
};
struct Node : Managed {
    int value;
    Node *next;
};
__global__ void double_all(Node *node)
{
    for (; node; node = node->next)
        node->value *= 2;
}
int main()
{
    Node *first = nullptr;
    for (int i = 1; i <= 20; ++i) {
        Node *node = new Node;
        node->value = i;
        node->next = first;
        first = node;
    }
    double_all<<<1, 1>>>(first);
    CHECK(cudaDeviceSynchronize());
    int total = 0;
    while (first) {
        Node *next = first->next;
        total += first->value;
        delete first;
        first = next;
    }
    return verdict(total == 420);
}
