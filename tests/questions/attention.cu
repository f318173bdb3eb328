// Attention over tiles: 64 queries a block, 64 keys at a time, heads of 64, f16 in, f32 sums.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#ifndef PAD
#define PAD 0
#endif
constexpr int TILE = 64, HEAD = 64, HALVES = HEAD + PAD, FLOATS = TILE + PAD / 2;

struct Shared {
    half q[TILE * HALVES], k[TILE * HALVES], v[TILE * HALVES], p[TILE * HALVES];
    float s[TILE * FLOATS], o[TILE * FLOATS];
    float top[TILE], sum[TILE];
};

__device__ void fetch(half *to, const half *from, int thread)
{
    for (int i = thread; i < TILE * HEAD / 8; i += 128)
        *(uint4 *)(to + i / (HEAD / 8) * HALVES + i % (HEAD / 8) * 8) = *(const uint4 *)(from + i * 8);
}

// LAUNCH: attention<<<(1, 2), 128, 84000>>>(q: f16[2,128,64]=random, k: f16[2,128,64]=random, v: f16[2,128,64]=random, o: f16[2,128,64], 128, 0.125)
__global__ void attention(const half *q, const half *k, const half *v, half *out, int length, float scale)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    Shared &t = *(Shared *)bytes;
    int thread = threadIdx.x, warp = thread / 32;
    size_t head = (size_t)blockIdx.y * length * HEAD;
    fetch(t.q, q + head + blockIdx.x * TILE * HEAD, thread);
    for (int i = thread; i < TILE * FLOATS; i += 128) t.o[i] = 0;
    if (thread < TILE) t.top[thread] = -1e30f, t.sum[thread] = 0;

    for (int begin = 0; begin < length; begin += TILE) {
        __syncthreads();
        fetch(t.k, k + head + begin * HEAD, thread);
        fetch(t.v, v + head + begin * HEAD, thread);
        __syncthreads();
        for (int column = 0; column < TILE; column += 16) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
            wmma::fill_fragment(s, 0.0f);
            for (int d = 0; d < HEAD; d += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
                wmma::load_matrix_sync(a, t.q + warp * 16 * HALVES + d, HALVES);
                wmma::load_matrix_sync(b, t.k + column * HALVES + d, HALVES);
                wmma::mma_sync(s, a, b, s);
            }
            wmma::store_matrix_sync(t.s + warp * 16 * FLOATS + column, s, FLOATS, wmma::mem_row_major);
        }
        __syncwarp();
        // Two threads a row.
        int row = warp * 16 + thread % 32 / 2, side = thread % 2;
        float *s = t.s + row * FLOATS + side * 32;
        float top = t.top[row], sum = 0;
        for (int i = 0; i < 32; i++) top = fmaxf(top, s[i] * scale);
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
        for (int i = 0; i < 32; i++) {
            float power = __expf(s[i] * scale - top);
            sum += power;
            t.p[row * HALVES + side * 32 + i] = __float2half(power);
        }
        sum += __shfl_xor_sync(~0u, sum, 1);
        float shrink = __expf(t.top[row] - top);
        for (int i = 0; i < 32; i++) t.o[row * FLOATS + side * 32 + i] *= shrink;
        __syncwarp();
        if (side == 0) t.top[row] = top, t.sum[row] = t.sum[row] * shrink + sum;
        __syncwarp();
        for (int column = 0; column < HEAD; column += 16) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> o;
            wmma::load_matrix_sync(o, t.o + warp * 16 * FLOATS + column, FLOATS, wmma::mem_row_major);
            for (int key = 0; key < TILE; key += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(a, t.p + warp * 16 * HALVES + key, HALVES);
                wmma::load_matrix_sync(b, t.v + key * HALVES + column, HALVES);
                wmma::mma_sync(o, a, b, o);
            }
            wmma::store_matrix_sync(t.o + warp * 16 * FLOATS + column, o, FLOATS, wmma::mem_row_major);
        }
        __syncwarp();
    }
    __syncthreads();
    for (int i = thread; i < TILE * HEAD; i += 128) {
        int row = i / HEAD, d = i % HEAD;
        out[head + (blockIdx.x * TILE + row) * HEAD + d] = __float2half(t.o[row * FLOATS + d] / t.sum[row]);
    }
}
