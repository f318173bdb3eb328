// Classes that host and device share: operators, constructors, inheritance, structures as arguments.
#include "check.h"
struct Vector {
    float x, y, z;
    __host__ __device__ Vector operator+(const Vector &b) const { return {x + b.x, y + b.y, z + b.z}; }
    __host__ __device__ Vector operator*(float s) const { return {x * s, y * s, z * s}; }
    __host__ __device__ float dot(const Vector &b) const { return x * b.x + y * b.y + z * b.z; }
};
struct Body {
    Vector position, velocity;
};
struct Moving : Body {
    __host__ __device__ Moving(int i) : Body{{float(i), 1, 2}, {1, float(i), 0}} {}
    __host__ __device__ float after(float t) const { return (position + velocity * t).dot({1, 2, 4}); }
};
__global__ void step(float *out, Moving first, float t) { out[threadIdx.x] = Moving(threadIdx.x).after(t) + first.after(t); }
int main()
{
    float *device, host[64];
    CHECK(cudaMalloc(&device, sizeof host));
    step<<<1, 64>>>(device, Moving(3), 0.5f);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 64; ++i)
        is_right &= host[i] == Moving(i).after(0.5f) + Moving(3).after(0.5f);
    return verdict(is_right);
}
