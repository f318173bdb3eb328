// Tensor cores: wmma in five types, 4-bit weights by lop3, 8-bit floats, flash attention by mma.sync.
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <stdint.h>
using namespace nvcuda;
// cudaTensorCoreGemm style
#define M_TILES 4
__global__ void simple_wmma_gemm(const half *a, const half *b, const float *c, float *d, int m_ld, int n_ld, int k_ld, float alpha,
                                 float beta)
{
    int lda = k_ld, ldb = k_ld, ldc = n_ld;
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, warpN = (blockIdx.y * blockDim.y + threadIdx.y);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_frag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc_frag, c_frag;
    wmma::fill_fragment(acc_frag, 0.0f);
    for (int i = 0; i < k_ld; i += 16) {
        int aRow = warpM * 16, bCol = warpN * 16;
        if (aRow < m_ld && i < k_ld && bCol < n_ld) {
            wmma::load_matrix_sync(a_frag, a + aRow * lda + i, lda);
            wmma::load_matrix_sync(b_frag, b + i + bCol * ldb, ldb);
            wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
        }
    }
    int cCol = warpN * 16, cRow = warpM * 16;
    if (cRow < m_ld && cCol < n_ld) {
        wmma::load_matrix_sync(c_frag, c + cCol + cRow * ldc, ldc, wmma::mem_row_major);
        for (int i = 0; i < c_frag.num_elements; i++)
            c_frag.x[i] = alpha * acc_frag.x[i] + beta * c_frag.x[i];
        wmma::store_matrix_sync(d + cCol + cRow * ldc, c_frag, ldc, wmma::mem_row_major);
    }
}
__global__ void dmma_gemm(const double *a, const double *b, double *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0);
    for (int i = 0; i < k; i += 4) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 8 * k + i, k);
        wmma::load_matrix_sync(fb, b + blockIdx.x * 8 * k + i, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 8 * n + blockIdx.x * 8, fc, n, wmma::mem_row_major);
}
__global__ void imma_gemm(const uint8_t *a, const uint8_t *b, int *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, uint8_t, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, uint8_t, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * k + i, k);
        wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * k + i, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}
__global__ void bf16_tf32(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, const float *af, const float *bf, float *cf)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> ta;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> tb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> tc;
    wmma::fill_fragment(tc, 0.f);
    wmma::load_matrix_sync(ta, af, 8);
    wmma::load_matrix_sync(tb, bf, 8);
    for (int i = 0; i < ta.num_elements; i++)
        ta.x[i] = wmma::__float_to_tf32(ta.x[i]);
    for (int i = 0; i < tb.num_elements; i++)
        tb.x[i] = wmma::__float_to_tf32(tb.x[i]);
    wmma::mma_sync(tc, ta, tb, tc);
    wmma::store_matrix_sync(cf, tc, 16, wmma::mem_row_major);
}
// marlin-like int4 dequantisation with lop3
template <int lut> __device__ inline int lop3(int a, int b, int c)
{
    int res;
    asm volatile("lop3.b32 %0, %1, %2, %3, %4;\n" : "=r"(res) : "r"(a), "r"(b), "r"(c), "n"(lut));
    return res;
}
__device__ inline void dequant(int q, half2 *f)
{
    const int LO = 0x000f000f, HI = 0x00f000f0, EX = 0x64006400;
    int lo = lop3<(0xf0 & 0xcc) | 0xaa>(q, LO, EX), hi = lop3<(0xf0 & 0xcc) | 0xaa>(q, HI, EX);
    const int SUB = 0x64086408, MUL = 0x2c002c00, ADD = 0xd480d480;
    f[0] = __hsub2(*reinterpret_cast<half2 *>(&lo), *reinterpret_cast<const half2 *>(&SUB));
    f[1] = __hfma2(*reinterpret_cast<half2 *>(&hi), *reinterpret_cast<const half2 *>(&MUL), *reinterpret_cast<const half2 *>(&ADD));
}
__global__ void dequantise(const int *q, half2 *out)
{
    half2 f[2];
    int i = threadIdx.x;
    dequant(q[i], f);
    out[4 * i] = f[0];
    out[4 * i + 1] = f[1];
    dequant(q[i] >> 8, f);
    out[4 * i + 2] = f[0];
    out[4 * i + 3] = f[1];
}
__global__ void fp8(const float *x, __nv_fp8_storage_t *o, float *back, half2 *h2)
{
    int i = threadIdx.x;
    __nv_fp8_e4m3 v(x[i]);
    o[i] = v.__x;
    back[i] = float(v);
    __nv_fp8_e5m2 w(x[i]);
    back[i + blockDim.x] = float(w);
    __nv_fp8x2_storage_t p = __nv_cvt_float2_to_fp8x2(make_float2(x[i], -x[i]), __NV_SATFINITE, __NV_E4M3);
    __half2_raw r = __nv_cvt_fp8x2_to_halfraw2(p, __NV_E4M3);
    h2[i] = half2(r);
}
// flash attention: one warp, 16 queries, keys by 8, head 16
__device__ inline void mma16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline uint32_t pack(float a, float b)
{
    half2 h = __floats2half2_rn(a, b);
    return *(uint32_t *)&h;
}
__global__ void flash(const half *Q, const half *K, const half *V, float *O, int n, float scale)
{
    constexpr int D = 64;
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    int q0 = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
    __shared__ __align__(16) half sK[16][D + 8], sV[16][D + 8];
    uint32_t qa[4][4];
    for (int kk = 0; kk < 4; kk++) {
        const half *p = Q + (q0 + g) * D + kk * 16 + t * 2;
        qa[kk][0] = *(const uint32_t *)p;
        qa[kk][1] = *(const uint32_t *)(p + 8 * D);
        qa[kk][2] = *(const uint32_t *)(p + 8);
        qa[kk][3] = *(const uint32_t *)(p + 8 * D + 8);
    }
    float o[8][4] = {}, m0 = -INFINITY, m1 = -INFINITY, l0 = 0, l1 = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        __syncthreads();
        for (int i = threadIdx.x; i < 16 * D / 8; i += blockDim.x) {
            int r = i / (D / 8), c = i % (D / 8) * 8;
            __pipeline_memcpy_async(&sK[r][c], K + (k0 + r) * D + c, 16);
            __pipeline_memcpy_async(&sV[r][c], V + (k0 + r) * D + c, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        float s[2][4] = {};
        for (int j = 0; j < 2; j++)
            for (int kk = 0; kk < 4; kk++) {
                const half *p = &sK[j * 8 + g][kk * 16 + t * 2];
                mma16816(s[j], qa[kk], *(const uint32_t *)p, *(const uint32_t *)(p + 8));
            }
        float r0 = fmaxf(fmaxf(s[0][0], s[0][1]), fmaxf(s[1][0], s[1][1])) * scale,
              r1 = fmaxf(fmaxf(s[0][2], s[0][3]), fmaxf(s[1][2], s[1][3])) * scale;
        for (int d = 1; d < 4; d *= 2) {
            r0 = fmaxf(r0, __shfl_xor_sync(~0u, r0, d));
            r1 = fmaxf(r1, __shfl_xor_sync(~0u, r1, d));
        }
        float n0 = fmaxf(m0, r0), n1 = fmaxf(m1, r1), a0 = exp2f(m0 - n0), a1 = exp2f(m1 - n1);
        m0 = n0;
        m1 = n1;
        l0 *= a0;
        l1 *= a1;
        for (int j = 0; j < 2; j++) {
            s[j][0] = exp2f(s[j][0] * scale - m0);
            s[j][1] = exp2f(s[j][1] * scale - m0);
            s[j][2] = exp2f(s[j][2] * scale - m1);
            s[j][3] = exp2f(s[j][3] * scale - m1);
            l0 += s[j][0] + s[j][1];
            l1 += s[j][2] + s[j][3];
        }
        uint32_t pa[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
        for (int j = 0; j < 8; j++) {
            o[j][0] *= a0;
            o[j][1] *= a0;
            o[j][2] *= a1;
            o[j][3] *= a1;
            uint32_t b0, b1;
            uint32_t sp = (uint32_t)__cvta_generic_to_shared(&sV[lane % 16][j * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];\n" : "=r"(b0), "=r"(b1) : "r"(sp));
            mma16816(o[j], pa, b0, b1);
        }
    }
    for (int d = 1; d < 4; d *= 2) {
        l0 += __shfl_xor_sync(~0u, l0, d);
        l1 += __shfl_xor_sync(~0u, l1, d);
    }
    for (int j = 0; j < 8; j++) {
        float *p = O + (q0 + g) * D + j * 8 + t * 2;
        p[0] = o[j][0] / l0;
        p[1] = o[j][1] / l0;
        p[8 * D] = o[j][2] / l1;
        p[8 * D + 1] = o[j][3] / l1;
    }
}
