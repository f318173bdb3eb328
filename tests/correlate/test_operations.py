"""Arithmetic operations of launches, in the database: beside a count of the PTX one thread after another, and beside
counts that are worked out by hand.
"""

import sqlite3
from contextlib import closing

import pytest

from tests.references.ptx_operations import count
from tests.support.command import gpuprof, write_files
from tests.support.matrices import long_but_every

# Threads beyond `n` leave at once; the others turn (i & 3) + 1 times, and odd ones divide. Every result depends on the
# one before, so that nothing can be moved out of the loop, and all are stored.
BODY = """
    .reg .pred %p<5>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<6>;
    .reg .f32 %f<6>;
    .reg .f64 %d<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra END;
    mul.wide.u32 %rd2, %r5, 16;
    cvta.to.global.u64 %rd3, %rd1;
    add.u64 %rd4, %rd3, %rd2;
    ld.global.f32 %f1, [%rd4];
    ld.global.f64 %d1, [%rd4+8];
    ld.global.b32 %r10, [%rd4+4];
    mov.b32 %r11, %r10;
    and.b32 %r6, %r5, 3;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r5, 40;
    LOOP:
    fma.rn.f32 %f1, %f1, %f1, %f1;
    add.f32 %f1, %f1, 0f3FC00000;
    @%p2 mul.f32 %f1, %f1, %f1;
    fma.rn.f64 %d1, %d1, %d1, %d1;
    @!%p2 add.f64 %d1, %d1, %d1;
    fma.rn.f16x2 %r10, %r10, %r10, %r10;
    @%p2 add.f16x2 %r10, %r10, %r10;
    fma.rn.bf16x2 %r11, %r11, %r11, %r11;
    min.f32 %f1, %f1, 0f41200000;
    sin.approx.f32 %f1, %f1;
    add.u32 %r6, %r6, 4294967295;
    setp.ne.u32 %p3, %r6, 0;
    @%p3 bra LOOP;
    and.b32 %r7, %r5, 1;
    setp.ne.u32 %p4, %r7, 1;
    @%p4 bra STORE;
    div.rn.f32 %f1, 0f40000000, %f1;
    sqrt.rn.f64 %d1, %d1;
    STORE:
    st.global.f32 [%rd4], %f1;
    st.global.f64 [%rd4+8], %d1;
    st.global.b32 [%rd4+4], %r10;
    st.global.b32 [%rd4+4], %r11;
    END:
    ret;
"""
KERNEL = f"""\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{{BODY}}}
"""


def operations(folder, source: str, launch: str, chip: str = "a100", *, name="k.cu") -> dict[str, int]:
    """By precision, of one launch."""
    write_files(folder, {name: source})
    code, _, error = gpuprof(
        folder, "collect", name, "--launch", launch, "--chip", chip, "--period", "0", "-o", "k.gprec"
    )
    assert code == 0, error
    assert gpuprof(folder, "correlate", "k.gprec")[0] == 0
    with closing(sqlite3.connect(folder / "k.gpudb")) as db:
        return dict(db.execute("SELECT precision, SUM(operations) FROM operations GROUP BY precision"))


def without_integers(found: dict[str, int]) -> dict[str, int]:
    return {precision: n for precision, n in found.items() if precision != "int" and n}


@pytest.mark.parametrize("n", [0, 1, 41, 250, 288])
def test_beside_a_count_of_the_ptx_by_threads(tmp_path, n):
    found = operations(tmp_path, KERNEL, f"k<<<3, 96>>>(f32[1152]=random, {n})", name="k.ptx")
    expected = count(BODY, 3, 96, {"n": n})
    assert without_integers(found) == {precision: n for precision, n in expected.items() if precision}


# By hand: `threads` of them, each as the expression says.
CHAIN = """
__global__ void k(float* a, int n) {
    float x = a[blockIdx.x * 64 + threadIdx.x];
    for (int i = 0; i < n; i++) x = fmaf(x, x, 0.5f);
    a[blockIdx.x * 64 + threadIdx.x] = x;
}
"""
SAXPY = """
__global__ void k(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
HALVES = """
#include <cuda_fp16.h>
__global__ void k(__half2* a) {
    __half2 x = a[threadIdx.x];
    for (int i = 0; i < 10; i++) x = __hfma2(x, x, x);
    a[threadIdx.x] = __hadd2(x, x);
}
"""
DOUBLES = """
__global__ void k(double* a) {
    double x = a[threadIdx.x];
    for (int i = 0; i < 7; i++) x = fma(x, x, x) * x;
    a[threadIdx.x] = x;
}
"""
TILED = """
__global__ void k(const float* a, const float* b, float* c) {  // 64 x 64 x 64, blocks of 16 x 16
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < 64; k0 += 16) {
        as[ty][tx] = a[row * 64 + k0 + tx];
        bs[ty][tx] = b[(k0 + ty) * 64 + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * 64 + col] = sum;
}
"""
TENSOR = """
#include <mma.h>
using namespace nvcuda;
__global__ void k(const __half* a, const __half* b, float* c) {  // 32 x 32 x 64, a warp for each tile of 16 x 16
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int k = 0; k < 64; k += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * 64 + k, 64);
        wmma::load_matrix_sync(fb, b + k * 32 + blockIdx.x * 16, 32);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * 32 + blockIdx.x * 16, sum, 32, wmma::mem_row_major);
}
"""
INTEGERS = """
__global__ void k(int* a) {
    int x = a[threadIdx.x], d[4] = {x, x, x, x};
    for (int i = 0; i < 5; i++)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                     "{%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(x));
    a[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
"""
SPARSE = """
__global__ void k(unsigned* a) {  // of A, 16 x 32, every other element is there
    unsigned x = a[threadIdx.x], d[2] = {x, x};
    asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%2,%2,%2,%2}, "
                 "{%0,%1}, %3, 0x0;"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(x), "r"(0x44444444));
    a[threadIdx.x] = d[0] + d[1];
}
"""
BY_HAND = {
    "chain": (CHAIN, "k<<<3, 64>>>(f32[192]=random, 100)", {"f32": 192 * 100 * 2}),
    "chain of none": (CHAIN, "k<<<1, 64>>>(f32[64]=random, 0)", {}),
    "saxpy": (SAXPY, "k<<<8, 128>>>(1000, 2.0, f32[1000]=random, f32[1000]=random)", {"f32": 1000 * 2}),
    "halves": (HALVES, "k<<<1, 50>>>(u32[50]=random)", {"f16": 50 * (10 * 4 + 2)}),
    "doubles": (DOUBLES, "k<<<1, 33>>>(f64[33]=random)", {"f64": 33 * 7 * 3}),
    "tiled": (TILED, "k<<<(4, 4), (16, 16)>>>(f32[4096]=random, f32[4096]=random, f32[4096])", {"f32": 2 * 64**3}),
    "tensor": (TENSOR, "k<<<(2, 2), 32>>>(f16[2048]=random, f16[2048]=random, f32[1024])",
        {"tensor_f16": 2 * 32 * 32 * 64}),
    "integers": (INTEGERS, "k<<<2, 64>>>(i32[64]=random)", {"tensor_s8": 2 * 2 * 5 * 2 * 16 * 8 * 32}),
    "sparse": (SPARSE, "k<<<1, 32>>>(u32[32]=random)", {"tensor_f16": 16 * 8 * 32}),
}  # fmt: skip


@pytest.mark.parametrize("what", long_but_every(3, BY_HAND))
def test_by_hand(tmp_path, what):
    source, launch, expected = BY_HAND[what]
    assert without_integers(operations(tmp_path, source, launch)) == expected


@pytest.mark.long
@pytest.mark.parametrize("chip", ["v100", "h100", "h200"])
@pytest.mark.parametrize("what", ["tiled", "tensor"])
def test_the_chip_does_not_matter(tmp_path, what, chip):
    source, launch, expected = BY_HAND[what]
    assert without_integers(operations(tmp_path, source, launch, chip)) == expected


def test_every_instruction_has_its_own(tmp_path):
    """The loop's multiply-add has all operations, two for each turn of a thread."""
    operations(tmp_path, CHAIN, "k<<<3, 64>>>(f32[192]=random, 100)")
    with closing(sqlite3.connect(tmp_path / "k.gpudb")) as db:
        rows = db.execute(
            "SELECT opcode, line, i.thread_operations, SUM(operations) FROM operations o "
            "JOIN instructions i USING (pc) WHERE o.precision = 'f32' GROUP BY opcode, line"
        ).fetchall()
    assert rows == [("FFMA", 4, 2, 192 * 100 * 2)]
