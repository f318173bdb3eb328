"""Kernels on the tensor pipe from source to numbers and cycles, and what guards and divergence do to matrix
instructions.
"""

import numpy as np
import pytest

import gpuprof
from gpuprof.compile.nvcc import compile_nvcc
from tests.paths import TESTS
from tests.support.matrices import long_from
from tests.support.nvidia_tools import skip_without_nvcc
from tests.support.ptx_support import assemble_text, run_kernel
from tests.support.running import run_file

PROGRAM = TESTS / "programs" / "tensor_gemm.cu"
RNG = np.random.default_rng(12)


@pytest.mark.parametrize("name, tile, transposed", [("pipelined", (64, 64), False), ("grouped", (64, 32), True)])
@pytest.mark.parametrize("compiler", long_from(1, ["clang", "nvcc"]))
def test_gemm(tmp_path, name, tile, transposed, compiler):
    path = PROGRAM
    if compiler == "nvcc":
        skip_without_nvcc()
        path = tmp_path / "gemm.ptx"
        path.write_text(compile_nvcc(PROGRAM, arch="sm_90a").ptx)
    m, n, k = 128, 64, 128
    a, b = RNG.standard_normal((m, k)).astype(np.float16), RNG.standard_normal((k, n)).astype(np.float16)
    gpu = gpuprof.Device("h200")
    module = gpu.load(path)
    c = np.zeros((m, n), np.float32)
    getattr(module, name)[(n // tile[1], m // tile[0]), 128](a, b.T.copy() if transposed else b, c, n, k)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # a rounding for each 16 of k
    bound = k / 16 * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
    assert (np.abs(c - exact) <= bound).all()


FRAGMENTS = """.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1) {
.shared .align 16 .b8 tile[1024];
.reg .b64 %x<4>; .reg .b32 %r<8>; .reg .b32 %a<4>; .reg .b32 %b<2>; .reg .f32 %d<4>; .reg .b32 %m<4>; .reg .pred %p<4>;
mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; mul.wide.u32 %x2, %r0, 16; ld.param.u64 %x0, [p0]; ld.param.u64 %x1, [p1]; add.u64 %x0, %x0, %x2;
mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 16, %r2;
mov.b32 %m0, 7; mov.b32 %m1, 7; mov.b32 %m2, 7; mov.b32 %m3, 7; mov.f32 %d0, 0f40E00000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;
mov.b32 %a0, 0x3C003C00; mov.b32 %a1, %a0; mov.b32 %a2, %a0; mov.b32 %a3, %a0; mov.b32 %b0, %a0; mov.b32 %b1, %a0;
shr.u32 %r4, %r0, 5; and.b32 %r4, %r4, 1; setp.eq.u32 %p0, %r4, 1;
BODY
st.global.v4.f32 [%x0], {%d0, %d1, %d2, %d3}; add.u64 %x1, %x1, %x2; st.global.v4.b32 [%x1], {%m0, %m1, %m2, %m3};
ret;
}
"""  # noqa: E501
MMA = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, "
    "{%d0, %d1, %d2, %d3};"
)


def run_fragments(body: str) -> tuple[np.ndarray, np.ndarray]:
    """D and the loaded matrices of 4 warps: (4, 32, 4) each. D begins as 7, and ones times ones adds 16."""
    d, m = run_kernel(
        assemble_text(FRAGMENTS.replace("BODY", body)),
        "k",
        [np.zeros((4, 32, 4), np.float32), np.zeros((4, 32, 4), np.uint32)],
        block=128,
    )
    return np.frombuffer(d, np.float32).reshape(4, 32, 4), np.frombuffer(m, np.uint32).reshape(4, 32, 4)


def test_guarded_by_warp():
    """Warps 1 and 3 go without."""
    d, m = run_fragments(
        "mov.b32 %r5, 9; st.shared.v4.b32 [%r3], {%r5, %r5, %r5, %r5}; bar.sync 0;"
        f"@!%p0 {MMA} @!%p0 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%m0, %m1, %m2, %m3}}, [%r3];"
    )
    assert [set(warp.reshape(-1)) for warp in d] == [{23.0}, {7.0}, {23.0}, {7.0}]
    assert [set(warp.reshape(-1)) for warp in m] == [{9}, {7}, {9}, {7}]


def test_a_guarded_store_leaves_memory_alone():
    _, m = run_fragments(
        "mov.b32 %r5, 9; st.shared.v4.b32 [%r3], {%r5, %r5, %r5, %r5}; bar.sync 0; setp.eq.u32 %p1, %r0, 999;"
        "@%p1 stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%a0, %a1, %a2, %a3}; bar.sync 0;"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%m0, %m1, %m2, %m3}, [%r3];"
    )
    assert (m == 9).all()


def test_lanes_meet_before_they_multiply():
    """Each lane goes round a loop as often as its number says, then all multiply."""
    d, _ = run_fragments(
        f"mov.u32 %r5, %r1; again: sub.u32 %r5, %r5, 1; setp.gt.s32 %p1, %r5, 0; @%p1 bra again; {MMA}"
    )
    assert (d == 23).all()


def test_a_matrix_of_zeros_needs_no_registers():
    d, _ = run_fragments(MMA.replace("{%b0, %b1}", "{%r6, %r7}").join(["mov.b32 %r6, 0; mov.b32 %r7, 0; ", ""]))
    assert (d == 7).all()


@pytest.mark.parametrize("chip, cycles", [("v100", 16), ("a100", 8), ("h200", 4 / 0.63)])
def test_throughput_of_the_pipe(tmp_path, chip, cycles):
    """16 * 8 * 16 multiply-adds at the chip's rate for f16 of a partition; four warps in each partition."""
    declared = " ".join(f".reg .f32 %e{i}<4>;" for i in range(8))
    sums = " ".join(f"add.f32 %d{i % 4}, %d{i % 4}, %e{i}{i % 4};" for i in range(8))
    found = []
    for count in (512, 256):
        body = "\n".join(MMA.replace("%d", f"%e{i % 8}") for i in range(64))
        body = f"mov.u32 %r5, 0; again: {body} add.u32 %r5, %r5, 64; setp.lt.u32 %p1, %r5, {count}; @%p1 bra again;"
        path = tmp_path / f"k{count}.ptx"
        path.write_text(FRAGMENTS.replace(".reg .pred", declared + " .reg .pred").replace("BODY", body + sums))
        _, results = run_file(path, "k<<<1, 512>>>(d: f32[2048], m: u32[2048])", chip_name=chip)
        found += results.cycles().values()
    assert (found[0] - found[1]) / (4 * 256 * cycles) == pytest.approx(1, rel=0.05)
