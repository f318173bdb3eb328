"""Calls under a guard that holds for some of a block's warps alone."""

import numpy as np

from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device

# Threads below 40 get memory, write 8 times their number there and read it again; the others keep 7.
TEXT = """\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<7>;
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 40;
    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2; mov.u64 %rd4, 16; mov.u64 %rd5, 7;
    { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd4; @%p1 call (r), malloc, (n); ld.param.b64 %rd6, [r]; }
    @%p1 st.u64 [%rd6], %rd2;
    @%p1 ld.u64 %rd5, [%rd6];
    st.global.u64 [%rd3], %rd5;
    ret;
}
"""


def test_memory_that_some_warps_ask_for(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(TEXT)
    device = open_device(Settings(), "a100")
    out = device.to_device(np.zeros(256, np.uint64))
    device.load(path).k[1, 256](out)
    assert out.copy_to_host().tolist() == [8 * thread for thread in range(40)] + [7] * 216
