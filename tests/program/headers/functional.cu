// nvstd::function on the host and on the device: empty, of functions, lambdas and large objects, copied, swapped, cleared.
#include <cstdio>
#include <nvfunctional>
__device__ int twice(int x) { return 2 * x; }
struct Large {
    int values[20];
    __host__ __device__ int operator()(int x) const { return x + values[19]; }
};
__host__ __device__ int checked()
{
    nvstd::function<int(int)> f, g = [](int x) { return x + 1; };
    int result = f ? 1 : 0;
    Large large;
    large.values[19] = 100;
    f = large;
    result = result * 1000 + f(7); // 107
    nvstd::function<int(int)> h(f);
    f.swap(g);
    result = result * 1000 + f(7) + g(7) + h(1); // 8 + 107 + 101
    h = nullptr;
    if (h == nullptr)
        result += 5;
    int three = 3;
    h = [three](int x) { return x * three; };
    return result * 10 + h(2);
}
__global__ void call(int *out)
{
    nvstd::function<int(int)> f = twice;
    nvstd::function<float()> half([=] { return 1.5f; });
    out[0] = checked();
    out[1] = f(21);
    out[2] = int(half() * 2);
}
int main()
{
    int *out;
    cudaMallocManaged(&out, 12);
    call<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    printf("%d %d %d %d\n", checked(), out[0], out[1], out[2]);
}
