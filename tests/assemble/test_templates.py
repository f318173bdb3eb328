"""Instructions that are made after an earlier one of their form are what their handlers make of them."""

import pytest

from gpuprof.assemble.lower import lowering
from gpuprof.compile.cuda import compile_cuda
from tests.bench.large_ptx import KERNELS
from tests.support.ptx_support import assemble_text, kernel_text

FORMS = """
add.s32 %r1, %r2, %r3; add.s32 %r4, %r5, %r6; add.s32 %r4, %r4, %r4; add.s32 %r4, %r4, 7; add.s32 %r4, %r4, 8;
ld.global.u32 %r1, [%rd1+4]; ld.global.u32 %r2, [%rd2+4]; ld.global.u64 %rd1, [%rd1]; st.global.u32 [%rd2], %r1;
@%p1 add.s32 %r1, %r2, %r3; add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, %r6; mul.wide.s32 %rd1, %r1, %r2;
mul.wide.s32 %rd3, %r3, %r3; rem.u16 %rs1, %rs2, %rs3; rem.u16 %rs4, %rs5, %rs4; fma.rn.f32 %f1, %f2, %f3, %f2;
setp.lt.s32 %p1, %r1, %r2; setp.lt.s32 %p2, %r1, 5; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, gvar;
"""


def listing(text: str) -> list:
    program = assemble_text(text)
    return [program.code.tobytes(), program.ptx_lines.tolist(), program.relocations]


@pytest.fixture
def without(monkeypatch):
    def run(text: str) -> list:
        with monkeypatch.context() as patched:
            patched.setattr(lowering, "has_template", lambda inst: False)
            return listing(text)

    return run


def test_forms(without):
    text = kernel_text(FORMS.replace("mov.u32 %r3, gvar;", ""))
    assert listing(text) == without(text)


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.cu"))[:6], ids=lambda path: path.name)
def test_kernels(without, path):
    text = compile_cuda(path).ptx
    assert listing(text) == without(text)


def test_an_address_is_another_form_than_a_register():
    """`ld` takes no register for an address, also after one with such an address."""
    with pytest.raises(Exception, match="ld"):
        assemble_text(kernel_text("ld.global.u64 %rd1, [%rd2+0];\nld.global.u64 %rd3, %rd3;"))
