// Scales each slice of a batch by a factor of its own.
//
// LAUNCH: scale<<<16, 256>>>(x: f32[12,4096]=random, factors: f32[12]=random, 0, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 1, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 2, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 3, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 4, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 5, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 6, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 7, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 8, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 9, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 10, 4096)
// LAUNCH: scale<<<16, 256>>>(x, factors, 11, 4096)

__global__ void scale(float *x, const float *factors, int first_slice, int length)
{
    int slice = first_slice + blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length)
        x[slice * length + i] *= factors[slice];
}
