// Weighted sums of the columns of a matrix; a thread does one column.
//
// LAUNCH: columns<<<128, 128>>>(in: u32[48,16384]=random, sums: u32[16384], 16384, 48)

__global__ void columns(const unsigned *in, unsigned *sums, int n, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    #pragma unroll 8
    for (int k = 0; k < rows; k++)
        sum += in[k * n + i] * (k + 1);
    sums[i] = sum;
}
