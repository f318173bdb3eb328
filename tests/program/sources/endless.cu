#include <cstdio>
__global__ void one(int *p) { *p += 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 4);
    one<<<1, 1>>>(p);
    puts("begun");
    fflush(stdout);
    for (volatile int i = 0;; ++i) {
    }
}
