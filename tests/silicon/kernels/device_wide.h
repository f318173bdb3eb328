// What the kernels of device_sums.cu, device_scans.cu and device_sorts.cu share.
#pragma once

constexpr unsigned ALL = 0xffffffffu;

// A memset of n times 16 bytes.
__global__ void clear(uint4 *to, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = make_uint4(0, 0, 0, 0);
}

// 20 us in which a host makes its calls, and what was written goes through to the DRAM.
__global__ void pause() { __nanosleep(20000); }

// 16 bytes a thread, each byte times a number: about the shortest launch that a benchmark measures.
__global__ void multiply(const uint4 *from, uint4 *to, unsigned by)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 got = from[i];
    unsigned *words = &got.x;
#pragma unroll
    for (int k = 0; k < 4; k++)
        words[k] = ((words[k] & 0x00ff00ff) * by & 0x00ff00ff) | ((words[k] >> 8 & 0x00ff00ff) * by << 8 & 0xff00ff00);
    to[i] = got;
}
