// Names that come without their header, as with nvcc: cuda_runtime.h includes <utility>, and <cmath> of libstdc++ much of <algorithm>.
__global__ void show(int v) { printf("%d\n", v); }
int main()
{
    int values[4] = {4, 3, 2, 1}, copies[4], *a = values, *b = copies;
    for (int v : {3, 1, 2})
        show<<<1, 1>>>(v);
    cudaDeviceSynchronize();
    std::swap(a, b);
    std::copy(values, values + 4, a);
    std::fill(values, values + 2, 0);
    std::pair<int, float> pair = std::make_pair(std::max(3, 7), std::min(1.5f, 2.5f));
    static_assert(std::is_same<decltype(std::move(pair)), std::pair<int, float> &&>::value, "a type");
    printf("%d %d %d %g %d %d\n", copies[0], std::equal(copies + 2, copies + 4, values + 2), pair.first, pair.second,
           std::numeric_limits<short>::max(), toupper('a'));
    static_assert(CUDART_VERSION == CUDA_VERSION, "one version");
    static_assert(CUDART_VERSION == __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10, "the compiler's too");
}
