// Every thread goes a long way by itself: a launch that is worth several processes. An argument: rounds.
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void walk(unsigned *out, const unsigned *in, int rounds)
{
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[id];
    for (int k = 0; k < rounds; ++k)
        x = x * 1664525u + 1013904223u;
    out[id] = x;
}
int main(int n_arguments, char **arguments)
{
    const int n = 512 * 256, rounds = n_arguments > 1 ? atoi(arguments[1]) : 20;
    std::vector<unsigned> values(n);
    for (int i = 0; i < n; ++i)
        values[i] = i;
    unsigned *in, *out;
    cudaMalloc(&in, 4 * n);
    cudaMalloc(&out, 4 * n);
    cudaMemcpy(in, values.data(), 4 * n, cudaMemcpyHostToDevice);
    puts("begun");
    fflush(stdout);
    walk<<<512, 256>>>(out, in, rounds);
    cudaMemcpy(values.data(), out, 4 * n, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (unsigned value : values)
        sum = sum * 31 + value;
    printf("%u\n", sum);
}
