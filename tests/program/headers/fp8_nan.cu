// NaNs of each sign and source to each format of 8 bits, on the host and on the device: rows of fp8_nan.inc that differ.
#include <cstdio>
#include <cuda_fp8.h>
struct Row {
    int type; // of the source
    unsigned long long bits;
    unsigned char wanted[4];
};
enum { double_, float_, half_, bfloat16_ };
#define ROW(TYPE, BITS, A, B, C, D) {TYPE##_, BITS, {A, B, C, D}},
const Row rows[] = {
#include "fp8_nan.inc"
};
const int n = sizeof rows / sizeof *rows;
template <typename T, typename BITS> __host__ __device__ T of(BITS bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
__host__ __device__ unsigned char converted(int type, unsigned long long bits, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    switch (type) {
    case double_: return __nv_cvt_double_to_fp8(of<double>(bits), saturate, kind);
    case float_: return __nv_cvt_float_to_fp8(of<float>((unsigned int)bits), saturate, kind);
    case half_: return __nv_cvt_halfraw_to_fp8(of<__half_raw>((unsigned short)bits), saturate, kind);
    default: return __nv_cvt_bfloat16raw_to_fp8(of<__nv_bfloat16_raw>((unsigned short)bits), saturate, kind);
    }
}
__host__ __device__ void all(int type, unsigned long long bits, unsigned char *to)
{
    to[0] = converted(type, bits, __NV_SATFINITE, __NV_E4M3);
    to[1] = converted(type, bits, __NV_NOSAT, __NV_E4M3);
    to[2] = converted(type, bits, __NV_SATFINITE, __NV_E5M2);
    to[3] = converted(type, bits, __NV_NOSAT, __NV_E5M2);
}
__global__ void convert(const Row *row, unsigned char *to) { all(row[threadIdx.x].type, row[threadIdx.x].bits, to + 4 * threadIdx.x); }
int main()
{
    Row *copied;
    unsigned char *to;
    cudaMallocManaged(&copied, sizeof rows);
    cudaMallocManaged(&to, 4 * n);
    memcpy(copied, rows, sizeof rows);
    convert<<<1, n>>>(copied, to);
    cudaDeviceSynchronize();
    int n_wrong = 0;
    for (int i = 0; i < n; ++i) {
        unsigned char here[4];
        all(rows[i].type, rows[i].bits, here);
        n_wrong += memcmp(here, rows[i].wanted, 4) != 0;
        n_wrong += memcmp(to + 4 * i, rows[i].wanted, 4) != 0;
    }
    printf("%d of %d\n", n_wrong, 2 * n);
}
