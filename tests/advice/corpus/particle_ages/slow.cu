// Particles with eight properties each. `fill` makes them; `grow_old` is the pass that runs at every step.
//
// LAUNCH: fill<<<1024, 256>>>(particles: f32[262144], 32768)
// LAUNCH: grow_old<<<128, 256>>>(particles, ages: f32[32768], alive: u32[32768], 32768, 3.0)

enum Property { X, Y, Z, VX, VY, VZ, AGE, MASS, PROPERTIES };

__device__ int at(int particle, int property, int n)
{
    return particle * PROPERTIES + property;
}

__device__ float initial(int particle, int property)
{
    return (particle * 13 + property * 7) % 101;
}

__global__ void fill(float *particles, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    particles[e] = initial(e / PROPERTIES, e % PROPERTIES);
}

__global__ void grow_old(const float *particles, float *ages, unsigned *alive, int n, float born)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float age = particles[at(i, AGE, n)] - born;
    ages[i] = age;
    alive[i] = age > 0 && age < 90;
}
