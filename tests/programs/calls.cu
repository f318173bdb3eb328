// Recursion, mutual recursion, a table of functions, and objects with virtual functions made by another kernel.
__device__ void quicksort(int *a, int low, int high)
{
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    if (low < j)
        quicksort(a, low, j);
    if (i < high)
        quicksort(a, i, high);
}

__global__ void sort_rows(int *data, int n) { quicksort(data + (blockIdx.x * blockDim.x + threadIdx.x) * n, 0, n - 1); }

__device__ int is_odd(int n);
__device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }

__device__ int sum(int a, int b) { return a + b; }
__device__ int product(int a, int b) { return a * b; }
__device__ int (*operations[])(int, int) = {sum, product};

__global__ void call(int *even, int *applied)
{
    even[threadIdx.x] = is_even(threadIdx.x);
    applied[threadIdx.x] = operations[threadIdx.x % 2](threadIdx.x, 7);
}

struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Strip : Shape {
    float width, height;
    __device__ Strip(float width, float height) : width(width), height(height) {}
    __device__ float area() const override { return width * height; }
};

__global__ void make_shapes(Shape **shapes)
{
    int i = threadIdx.x;
    shapes[i] = i % 3 ? (Shape *)new Square(i) : new Strip(i, 0.5f);
}
__global__ void areas(Shape **shapes, float *out) { out[threadIdx.x] = shapes[threadIdx.x]->area(); }
