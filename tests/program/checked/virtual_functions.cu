// Objects made on the device, whose virtual functions kernels call.
#include "check.h"
struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Strip : Shape {
    int length;
    __device__ Strip(int n) : length(n) {}
    __device__ int area() const override { return length; }
};
__global__ void make(Shape **shapes) { shapes[threadIdx.x] = threadIdx.x % 2 ? (Shape *)new Square(threadIdx.x) : new Strip(threadIdx.x); }
__global__ void areas(Shape **shapes, int *out) { out[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void drop(Shape **shapes) { delete shapes[threadIdx.x]; }
int main()
{
    Shape **shapes;
    int *out, got[32];
    CHECK(cudaMalloc(&shapes, 32 * sizeof *shapes));
    CHECK(cudaMalloc(&out, sizeof got));
    make<<<1, 32>>>(shapes);
    areas<<<1, 32>>>(shapes, out);
    drop<<<1, 32>>>(shapes);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 32; ++i)
        is_right &= got[i] == (i % 2 ? i * i : i);
    return verdict(is_right);
}
