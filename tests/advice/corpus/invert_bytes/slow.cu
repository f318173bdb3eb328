// The negative of a grey image.
//
// LAUNCH: invert<<<2048, 256>>>(in: u8[524288]=random, out: u8[524288], 524288)

__global__ void invert(const unsigned char *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 255 - in[i];
}
