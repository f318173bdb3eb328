// Does the search for the owner of an item split the warps? And does the kind of the item?
// LAUNCH: work<<<32, 256>>>(starts: i32[64]=arange, kinds: u8[8192]=random, out: f32[8192], 64, 128)
__global__ void work(const int *starts, const unsigned char *kinds, float *out, int owners, int each)
{
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = owners;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle] * each <= item) low = middle;
        else high = middle;
    }
    float v = low;
    switch (kinds[item] % 4) {
    case 0: for (int i = 0; i < 32; i++) v = sinf(v) + 1.0f; break;
    case 1: for (int i = 0; i < 8; i++) v = expf(v * 0.1f); break;
    case 2: v = v * v; break;
    default: for (int i = 0; i < 64; i++) v = v * 1.0001f + 0.5f;
    }
    out[item] = v;
}
