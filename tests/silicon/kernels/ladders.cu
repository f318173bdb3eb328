// Loops of arithmetic in registers, one chain a thread. The swap and the store never happen; without them a compiler
// would know the result.

template <class T>
__device__ T chain(T value, size_t n, int trips)
{
    T factor = T(0.5), addend = T(1);
    if (n == 1) {
        T other = addend;
        addend = factor;
        factor = other;
    }
    for (int i = 0; i < trips; ++i)
        value = factor * value + addend;
    return value;
}

template <class T, int TRIPS>
__global__ void dependent(T *__restrict__ data, size_t n)
{
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        T value = chain(data[i], n, TRIPS);
        if (value == T(0))
            data[i] = value;
    }
}

// One lane of `stride` has a chain; the others wait for it.
template <class T, int TRIPS>
__global__ void dependent_strided(T *__restrict__ data, size_t n, size_t stride)
{
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * stride) {
        T value = i;
        if (i % stride == 0)
            value = chain(data[i], n, TRIPS);
        if (value == T(0))
            data[i / stride] = value;
    }
}
