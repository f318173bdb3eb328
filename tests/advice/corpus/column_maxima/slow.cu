// The largest hash in each of 1024 columns; a block does some rows of all columns.
//
// LAUNCH: maxima_of<<<41, 1024>>>(rows: u32[246,1024]=random, maxima: u32[1024], 246, 6)

constexpr int COLUMNS = 1024;

__device__ unsigned hashed(unsigned x)
{
    for (int round = 0; round < 48; round++)
        x = (x ^ x >> 3) * 5u;
    return x;
}

__global__ void maxima_of(const unsigned *rows, unsigned *maxima, int n, int rows_per_block)
{
    int column = threadIdx.x;
    int first = blockIdx.x * rows_per_block, end = min(n, first + rows_per_block);
    unsigned best = 0;
    for (int row = first; row < end; row++)
        best = max(best, hashed(rows[row * COLUMNS + column] * 1031 + row * 7 + column));
    atomicMax(&maxima[column], best);
}
