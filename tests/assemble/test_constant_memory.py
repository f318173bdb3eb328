"""Variables in constant memory as operands; ptxas 13.0 for sm_80 loads none of them but the one whose place depends on
the thread.
"""

import numpy as np
import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.cuda import compile_cuda
from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text
from tests.support.running import run_source

SOURCE = """
__constant__ float weights[4] = {0.5f, 2.0f, 4.0f, 8.0f};
__constant__ double scale[2] = {3.0, 0.25};
__constant__ long long bias = 0x123456789aLL;

__global__ void weighted(float *out, const float *in)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum += in[threadIdx.x + i] * weights[i];
    out[threadIdx.x] = sum;
}

__global__ void scaled(double *out, long long *shifted, const double *in)
{
    out[threadIdx.x] = in[threadIdx.x] * scale[1] + scale[0];
    shifted[threadIdx.x] = bias + threadIdx.x;
}

__global__ void chosen(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x % 4] + weights[3];
}
"""
LAUNCHES = (
    "weighted<<<1, 32>>>(out: f32[32], in: f32[40]=arange)",
    "scaled<<<1, 32>>>(wide: f64[32], shifted: i64[32], many: f64[32]=arange)",
    "chosen<<<1, 32>>>(picked: f32[32])",
)


@pytest.mark.long
def test_values(tmp_path):
    arrays, _ = run_source(tmp_path, SOURCE, *LAUNCHES)
    lane = np.arange(32)
    weights = np.array([0.5, 2, 4, 8], np.float32)
    found = {name: arrays[name].copy_to_host() for name in ("out", "wide", "shifted", "picked")}
    assert found["out"].tolist() == [sum((x + i) * w for i, w in enumerate(weights.tolist())) for x in lane]
    assert found["wide"].tolist() == (lane * 0.25 + 3.0).tolist()
    assert found["shifted"].tolist() == (lane + 0x123456789A).tolist()
    assert found["picked"].tolist() == (weights[lane % 4] + 8).tolist()


def test_no_loads_where_the_place_is_known(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    program = assemble_program(compile_cuda(path))
    names = {
        function.display: [
            decode(row).op.name for row in program.code[function.first : function.first + function.count]
        ]
        for function in program.functions
    }
    loads = {kernel: [name for name in ops if name.startswith("LDC")] for kernel, ops in names.items()}
    assert loads == {"weighted": [], "scaled": [], "chosen": ["LDC.32"]}


PTX = """\
.version 8.0
.target sm_80
.address_size 64
.const .b32 word;
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [out];
    ld.const.u32 %r0, [word+4];
    st.global.u32 [%rd0], %r0;
    ret;
}
"""


def test_what_lies_outside_is_loaded():
    """The load says so when it runs; an operand of the bank would be zero."""
    assert "LDC.32" in [decode(row).op.name for row in assemble_text(PTX).code]
