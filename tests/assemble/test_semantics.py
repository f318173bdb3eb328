"""Kernels on the emulator: optimised, unoptimised and spilled code must agree to the last bit, and with numpy where
that is easy.
"""

import numpy as np
import pytest

from gpuprof.assemble import assemble as assembler
from gpuprof.assemble.ir.defs import remove_dead
from gpuprof.assemble.registers.spill import allocate_within
from gpuprof.compile.cuda import compile_cuda
from tests.support.matrices import long_from
from tests.support.ptx_support import ptx_module, run_kernel

SOURCE = r"""
#include <stdio.h>
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursive(int *out, int n) { out[threadIdx.x] = fib(threadIdx.x % 8 + n) + n; }

struct Big { float v[9]; int n; };
__device__ __noinline__ void twist(Big &b, float k) { for (int i = 0; i < 9; i++) b.v[i] = b.v[i * 5 % 9] * k; b.n++; }
__device__ __noinline__ double twice(double x) { return x + x; }
__device__ __noinline__ double square(double x) { return x * x; }
__global__ void calls(float *a, int n) {
    Big b; b.n = n;
    for (int i = 0; i < 9; i++) b.v[i] = a[i + threadIdx.x];
    twist(b, a[3]);
    double (*f)(double) = n & 1 ? twice : square;
    a[threadIdx.x + 40] = b.v[4] + b.v[8] + b.n + (float)f(a[threadIdx.x]);
}

__global__ void switches(int *q, const char *s, int n) {
    int acc = threadIdx.x;
    for (int i = 0; i < n; i++) {
        switch (s[i]) {
        case 'a': acc += 1; break;
        case 'b': acc *= 3; break;
        case 'c': acc ^= q[i]; break;
        case 'd': acc -= q[i + 1]; break;
        case 'e': acc <<= 1; break;
        case 'f': acc = acc / 3; break;
        case 'g': continue;
        default: if (acc > 100000) { q[threadIdx.x + 64] = -1; return; }
        }
    }
    q[threadIdx.x + 64] = acc;
}

__global__ void many(float *a, const float *b) {
    float v[48];
    #pragma unroll
    for (int i = 0; i < 48; i++) v[i] = a[i * 32 + threadIdx.x];
    for (int k = 0; k < 20; k++) {
        #pragma unroll
        for (int i = 0; i < 48; i++) v[i] = v[i] * b[k] + v[(i + 1) % 48];
    }
    #pragma unroll
    for (int i = 0; i < 48; i++) a[i * 32 + threadIdx.x] = v[i];
}

__global__ void narrow(unsigned char *p, short *s, unsigned long long *m, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        short x = s[i];
        x = x * 3 + p[i];
        s[i] = x >> 2;
        p[i] = x < 0 ? p[i] >> 1 : min((int)p[i], (int)x);
        unsigned vote = __ballot_sync(~0u, x > 3);
        m[i] = ((unsigned long long)vote << 7 | __popc(vote)) / 5 + __shfl_xor_sync(~0u, x, 3);
    }
}

__global__ void tree(float *a) {
    extern __shared__ double sums[];
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    sums[threadIdx.x] = a[threadIdx.x];
    atomicAdd(&count, 1);
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) a[0] = sums[0] + count;
}

__global__ void vectors(float4 *v, uchar4 *c, double2 *d) {
    int i = threadIdx.x;
    float4 x = v[i];
    v[i] = make_float4(x.w, x.z + x.x, x.y, x.x * 2.0f);
    uchar4 y = c[i];
    c[i] = make_uchar4(y.w, y.x, y.z + 1, y.y);
    double2 z = d[i];
    d[i] = make_double2(z.y, -z.x);
}
"""


def cases() -> dict[str, tuple]:
    """Kernel -> (arguments, threads, dynamic shared bytes)."""
    random = np.random.default_rng(7)
    text = random.integers(97, 106, 64).astype(np.int8)
    return {
        "recursive": ([np.zeros(32, np.int32), 2], 32, 0),
        "calls": ([random.random(80, np.float32), 5], 32, 0),
        "switches": ([random.integers(0, 50, 128).astype(np.int32), text, 60], 32, 0),
        "many": ([random.random(48 * 32, np.float32), random.random(20, np.float32) / 2], 32, 0),
        "narrow": ([random.integers(0, 255, 96).astype(np.uint8), random.integers(-9000, 9000, 96).astype(np.int16),
            np.zeros(96, np.uint64), 96], 32, 0),
        "tree": ([random.random(128, np.float32)], 128, 1024),
        "vectors": ([random.random(128, np.float32), random.integers(0, 255, 128).astype(np.uint8), random.random(64)],
            32, 0),
    }  # fmt: skip


@pytest.fixture(scope="module")
def ptx(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("semantics") / "k.cu"
    path.write_text(SOURCE)
    return compile_cuda(path).ptx


@pytest.fixture(scope="module")
def plain(ptx):
    """The program without optimisation and scheduling."""
    patch = pytest.MonkeyPatch()
    patch.setattr(assembler, "optimize", lambda body, contracts: remove_dead(body))
    patch.setattr(assembler, "fit", lambda body, limit, is_wanted: allocate_within(body, limit))
    program = assembler.assemble_program(ptx_module(ptx))
    patch.undo()
    return program


@pytest.mark.parametrize("kernel", long_from(3, cases()))
def test_optimised_and_spilled_code_agree_with_plain_code(kernel: str, ptx: str, plain):
    arguments, block, dynamic = cases()[kernel]
    expected = run_kernel(plain, kernel, arguments, 1, block, dynamic)
    for limit in (None, 32, 24):
        program = assembler.assemble_program(ptx_module(ptx), max_registers=limit)
        assert run_kernel(program, kernel, arguments, 1, block, dynamic) == expected, limit


BY_VALUE = """\
.version 8.0
.target sm_80
.address_size 64
.func (.param .align 8 .b8 out[16]) swapped(.param .align 8 .b8 pair[16], .param .b32 add)
{
    .reg .b32 %r<4>; .reg .f64 %d;
    ld.param.u32 %r1, [pair+8];
    ld.param.f64 %d, [pair];
    ld.param.u32 %r2, [add];
    add.s32 %r3, %r1, %r2;
    st.param.b32 [out], %r3;
    st.param.f64 [out+8], %d;
    ret;
}
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f64 %d<3>;
    .local .align 8 .b8 mine[8];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 16;
    add.s64 %rd3, %rd1, %rd2;
    st.local.u32 [mine], %r1;
    ld.global.f64 %d1, [%rd3];
    {
        .param .align 8 .b8 argument[16];
        .param .b32 number;
        .param .align 8 .b8 result[16];
        st.param.f64 [argument], %d1;
        st.param.b32 [argument+8], 100;
        st.param.b32 [number], %r1;
        call.uni (result), swapped, (argument, number);
        ld.param.b32 %r2, [result];
        ld.param.f64 %d2, [result+8];
    }
    ld.local.u32 %r3, [mine];
    add.s32 %r4, %r2, %r3;
    st.global.f64 [%rd3], %d2;
    st.global.u32 [%rd3+8], %r4;
    ret;
}
"""


@pytest.mark.parametrize("change", [None, remove_dead])
def test_structs_by_value_travel_in_local_memory(change, monkeypatch):
    if change:
        monkeypatch.setattr(assembler, "optimize", lambda body, contracts: change(body))
    program = assembler.assemble_program(ptx_module(BY_VALUE))
    pairs = np.zeros(32, np.dtype([("d", "<f8"), ("i", "<i4"), ("pad", "<i4")]))
    pairs["d"] = np.arange(32) / 8
    (out,) = run_kernel(program, "k", [pairs.view(np.uint8)])
    pairs["i"] = 100 + 2 * np.arange(32)
    assert out == pairs.tobytes()
    assert program.kernel("k").local_nbytes == 16 + 32  # its own variable, rounded up, and the callee's two structs


def test_results_by_hand(ptx: str):
    """Three kernels against numpy, so that plain code is not only compared with itself."""
    program = assembler.assemble_program(ptx_module(ptx))
    arguments, block, dynamic = cases()["recursive"]
    fibonacci = [0, 1]
    while len(fibonacci) < 12:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    (out,) = run_kernel(program, "recursive", arguments, 1, block)
    assert np.frombuffer(out, np.int32).tolist() == [fibonacci[i % 8 + 2] + 2 for i in range(32)]

    arguments, block, dynamic = cases()["tree"]
    (out,) = run_kernel(program, "tree", arguments, 1, block, dynamic)
    assert np.frombuffer(out, np.float32)[0] == pytest.approx(arguments[0].astype(np.float64).sum() + 128, rel=1e-7)

    arguments, block, dynamic = cases()["vectors"]
    v, c, d = run_kernel(program, "vectors", arguments, 1, block)
    x, y, z = arguments[0].reshape(-1, 4), arguments[1].reshape(-1, 4), arguments[2].reshape(-1, 2)
    assert (
        np.frombuffer(v, np.float32).reshape(-1, 4) == np.stack([x[:, 3], x[:, 2] + x[:, 0], x[:, 1], x[:, 0] * 2], 1)
    ).all()
    assert (
        np.frombuffer(c, np.uint8).reshape(-1, 4) == np.stack([y[:, 3], y[:, 0], y[:, 2] + np.uint8(1), y[:, 1]], 1)
    ).all()
    assert (np.frombuffer(d, np.float64).reshape(-1, 2) == np.stack([z[:, 1], -z[:, 0]], 1)).all()


@pytest.mark.parametrize("n", [126, 127, 128, 160])
def test_more_predicates_than_there_are(n: int):
    """All are live at once; the 127th is P126, and what comes after it is kept elsewhere."""
    tests = "\n".join(f"ld.global.u32 %r{i}, [%rd1 + {4 * i}]; setp.gt.s32 %p{i}, %r{i}, 100;" for i in range(n))
    stores = "\n".join(f"@%p{i} st.global.u32 [%rd1 + {4 * i}], 7;" for i in range(n))
    program = assembler.assemble_program(
        ptx_module(f"""
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 x)
        {{
            .reg .pred %p<{n}>;
            .reg .b32 %r<{n}>;
            .reg .b64 %rd<2>;
            ld.param.u64 %rd1, [x];
            {tests}
            {stores}
            ret;
        }}
        """)
    )
    x = np.arange(n, dtype=np.int32) * 37 % 201
    (out,) = run_kernel(program, "k", [x], 1, 1)
    assert np.frombuffer(out, np.int32).tolist() == np.where(x > 100, 7, x).tolist()
