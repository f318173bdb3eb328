// A 3-D finite-difference step (7 points) with linear indexing: one thread per cell of an nx x ny x nz grid.
// Neighbours along x come from the same line, along y and z from lines far away.
//
// LAUNCH: heat<<<256, 256>>>(after: f32[32,32,64], before: f32[32,32,64]=random, 64, 32, 32, 0.1)

__global__ void heat(float *after, const float *before, int nx, int ny, int nz, float k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i % nx;
    int y = i / nx % ny;
    int z = i / (nx * ny);
    if (z >= nz)
        return;
    float centre = before[i];
    bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1;
    if (inside) {
        float around = before[i - 1] + before[i + 1]
                     + before[i - nx] + before[i + nx]
                     + before[i - nx * ny] + before[i + nx * ny];
        centre += k * (around - 6.0f * centre);
    }
    after[i] = centre;
}
