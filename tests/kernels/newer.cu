// What needs sm_80: reductions in one instruction, and the rest of the bits that came with it.
//
// ARCH: sm_80
// LAUNCH: reductions<<<1, 64>>>(reductions: u32[512])

extern "C" __global__ void reductions(unsigned *out)
{
    int t = threadIdx.x;
    unsigned all = 0xffffffff, v = t * 2654435761u, *o = out + 8 * t;
    o[0] = __reduce_add_sync(all, v);
    o[1] = __reduce_min_sync(all, v);
    o[2] = __reduce_max_sync(all, v);
    o[3] = __reduce_min_sync(all, (int)v);
    o[4] = __reduce_max_sync(all, (int)v);
    o[5] = __reduce_and_sync(all, v | 0xf00f);
    o[6] = __reduce_or_sync(all, v & 0x1111);
    o[7] = t & 1 ? __reduce_xor_sync(0xaaaaaaaa, v) : __reduce_add_sync(0x55555555, (int)v);
}
