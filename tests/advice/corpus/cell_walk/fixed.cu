// Projects a small picture along many directions: each block sums all cells by some weights of row and column.
//
// LAUNCH: project<47><<<160, 256>>>(cells: u32[2048]=random, sums: u32[40960], 4)

constexpr int CELLS = 2048;

template <int width> __global__ void project(const unsigned *cells, unsigned *sums, int directions)
{
    __shared__ unsigned near[CELLS];
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x)
        near[i] = cells[i];
    __syncthreads();
    unsigned sum = 0;
    for (int direction = 0; direction < directions; direction++)
        for (int i = threadIdx.x; i < CELLS; i += blockDim.x) {
            int row = (i + direction) / width, column = (i + direction) % width;
            sum += near[i] * (blockIdx.x * row + column * direction);
        }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
