// The negative of a grey image.
//
// LAUNCH: invert<<<512, 256>>>(in: u8[524288]=random, out: u8[524288], 524288)

__global__ void invert(const unsigned char *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) {
        uchar4 v = reinterpret_cast<const uchar4 *>(in)[i];
        reinterpret_cast<uchar4 *>(out)[i] = make_uchar4(255 - v.x, 255 - v.y, 255 - v.z, 255 - v.w);
    }
}
