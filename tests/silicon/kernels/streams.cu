// Vectors that are read and written once: each thread one element, a grid-stride loop, or a chunk of its own.

// A loop over the vector in steps of the grid.
__global__ void add_by_grid(const float *a, const float *b, float *c, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        c[i] = a[i] + b[i];
}

// The same with the sum first, as the order of its parameters has it.
__global__ void add_into(float *c, float *a, float *b, int n)
{
    int first = threadIdx.x + blockIdx.x * blockDim.x;
    int step = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += step)
        c[i] = a[i] + b[i];
}

// Each thread adds a chunk of neighbouring elements, `pitch` apart from the next thread's.
__global__ void add_by_chunk(const float *a, const float *b, float *c, int n, int pitch, int length)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * pitch;
    for (int i = first; i < first + length && i < n; ++i)
        c[i] = a[i] + b[i];
}

// One element a thread, without a bound.
__global__ void add_one(float *a, float *b, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

__global__ void add_two(float2 *a, float2 *b, float2 *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 x = a[i], y = b[i];
    c[i] = make_float2(x.x + y.x, x.y + y.y);
}

__global__ void add_four(float4 *a, float4 *b, float4 *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// One element a thread of two vectors that change places from launch to launch.
template <class T>
__global__ void increment(const T *__restrict__ from, T *__restrict__ to, size_t n)
{
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] + 1;
}

// Sums of vectors read from an offset, which need not be one of a sector; a block that does two or four times the
// work begins where it would without.
template <int TIMES>
__global__ void add_offset(const float *a, const float *b, float *c, int offset, size_t n)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t k = i + offset;
    if (k + (TIMES - 1) * blockDim.x < n) {
#pragma unroll
        for (int t = 0; t < TIMES; ++t)
            c[i + t * blockDim.x] = a[k + t * blockDim.x] + b[k + t * blockDim.x];
    }
}

// Pairs side by side, field by field.
struct Pair {
    float x, y;
};

__global__ void add_to_pairs(const Pair *__restrict__ from, Pair *to, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i].x = from[i].x + 10.0f;
        to[i].y = from[i].y + 20.0f;
    }
}

// All first fields before all second ones.
template <int COUNT>
struct Pairs {
    float x[COUNT], y[COUNT];
};

template <int COUNT>
__global__ void add_to_fields(const Pairs<COUNT> *__restrict__ from, Pairs<COUNT> *to, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to->x[i] = from->x[i] + 10.0f;
        to->y[i] = from->y[i] + 20.0f;
    }
}

// Sums of two square matrices; the threads of a warp lie in a row of 16, two rows a warp.
__global__ void add_rows(float *a, float *b, float *c, int columns, int rows)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i * columns + j;
    if (i < rows && j < columns)
        c[at] = a[at] + b[at];
}

// The same, with 16 threads of a warp in a column.
__global__ void add_columns(float *a, float *b, float *c, int columns, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int at = i * columns + j;
    if (i < rows && j < columns)
        c[at] = a[at] + b[at];
}

// Three bytes of colour to one of grey.
__global__ void grey(unsigned char *colours, unsigned char *greys, int width, int height)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < 0 || row >= height || column < 0 || column >= width)
        return;
    int at = row * width + column;
    unsigned char red = colours[3 * at], green = colours[3 * at + 1], blue = colours[3 * at + 2];
    greys[at] = (unsigned char)(0.21f * red + 0.71f * green + 0.07f * blue);
}
