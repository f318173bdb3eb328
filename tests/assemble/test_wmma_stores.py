"""The stores of a wmma fragment: as wide as ptxas has them where the words of a lane follow each other in memory."""

import pytest

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, kernel_text

STORE = """\
.reg .f32 %v<8>;
ld.param.u64 %rd0, [p0];
cvta.to.global.u64 %rd1, %rd0;
mov.f32 %v0, 0f3F800000; mov.f32 %v1, %v0; mov.f32 %v2, %v0; mov.f32 %v3, %v0;
mov.f32 %v4, %v0; mov.f32 %v5, %v0; mov.f32 %v6, %v0; mov.f32 %v7, %v0;
wmma.store.d.sync.aligned.{layout}.m16n16k16.global.f32 [%rd1], {{%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}}, %r0;
"""


@pytest.mark.parametrize(("layout", "stores"), [("row", ["STG.64"] * 4), ("col", ["STG.32"] * 8)])
def test_pairs_of_a_row_are_one_store(layout, stores):
    program = assemble_text(kernel_text("mov.u32 %r0, 16;\n" + STORE.format(layout=layout)))
    names = [decode(row).op.name for row in program.code]
    assert [name for name in names if name.startswith("ST")] == stores
