// Each warp relaxes a row of 32 cells of its own in shared memory. A row takes 1 to 16 sweeps a round.
//
// LAUNCH: relax<<<40, 512>>>(rows: i32[640,32]=random, 16)

constexpr int WARPS = 16;

__device__ int sweeps_of(int row, int round)
{
    return 1 + (row * 5 + round * 3) % 16;
}

__global__ void relax(int *rows, int rounds)
{
    __shared__ int cells[WARPS][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = blockIdx.x * WARPS + warp;
    int value = rows[row * 32 + lane];
    for (int round = 0; round < rounds; round++) {
        cells[warp][lane] = value;
        __syncthreads();
        for (int sweep = sweeps_of(row, round); sweep > 0; sweep--) {
            int left = cells[warp][(lane + 31) % 32], right = cells[warp][(lane + 1) % 32];
            value = (left + 2 * value + right + 1) >> 2;
            __syncwarp();
            cells[warp][lane] = value;
            __syncwarp();
        }
    }
    rows[row * 32 + lane] = value;
}
