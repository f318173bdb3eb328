// Objects placed into shared memory; recursion; loads of whole vectors.
#include "check.h"
struct Stack {
    int values[8], n;
    __device__ Stack() : n(0) {}
    __device__ void push(int x) { values[n++] = x; }
    __device__ int pop() { return values[--n]; }
};
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void work(const int4 *in, int *out)
{
    __shared__ alignas(Stack) char room[sizeof(Stack)];
    __shared__ Stack *stack;
    if (threadIdx.x == 0) {
        stack = new (room) Stack;
        const int4 v = in[1];
        stack->push(v.x);
        stack->push(v.w);
    }
    __syncthreads();
    if (threadIdx.x == 31) {
        out[0] = stack->pop();
        out[1] = stack->pop();
        out[2] = fibonacci(10);
    }
}
int main()
{
    const int4 host[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    int4 *in;
    int *out, got[3];
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    work<<<1, 32>>>(in, out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    return verdict(got[0] == 8 && got[1] == 5 && got[2] == 55);
}
