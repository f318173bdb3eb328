// Kernels with as many bytes of parameters as CUDA 12.1 allows (32,764), and as many parameters as these can be.
#include <cstdio>

struct Most {
    char v[32756];
};
__global__ void most(const Most b, int *o) { atomicAdd(o, b.v[threadIdx.x * 1023]); }

#define TEN(X) X##0, X##1, X##2, X##3, X##4, X##5, X##6, X##7, X##8, X##9
#define HUNDRED(X) TEN(X##0), TEN(X##1), TEN(X##2), TEN(X##3), TEN(X##4), TEN(X##5), TEN(X##6), TEN(X##7), TEN(X##8), TEN(X##9)
#define THOUSAND(X)                                                                                                                        \
    HUNDRED(X##0), HUNDRED(X##1), HUNDRED(X##2), HUNDRED(X##3), HUNDRED(X##4), HUNDRED(X##5), HUNDRED(X##6), HUNDRED(X##7),                \
        HUNDRED(X##8), HUNDRED(X##9)
__global__ void many(int *o, THOUSAND(char a), THOUSAND(char b), THOUSAND(char c), THOUSAND(char d), THOUSAND(char e))
{
    *o = a000 + e999;
}

int main()
{
    int *o, expected = 0;
    cudaMallocManaged(&o, sizeof *o);
    static Most given;
    for (int i = 0; i < 32756; ++i)
        given.v[i] = i % 100;
    for (int i = 0; i < 32; ++i)
        expected += given.v[i * 1023];
    *o = 0;
    most<<<1, 32>>>(given, o);
    printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), *o - expected);
    many<<<1, 1>>>(o, THOUSAND(1), THOUSAND(1), THOUSAND(1), THOUSAND(1), THOUSAND(1));
    printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), *o - (char)1000 - (char)1999);
}
