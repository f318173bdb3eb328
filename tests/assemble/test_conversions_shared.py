"""Conversions that inline PTX repeats are made once in a block, as by ptxas 13.0; not across a write of their
source.
"""

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, kernel_text

HEAD = """\
.reg .b16 %h<2>;
.reg .f32 %v<4>;
ld.param.u64 %rd0, [p0];
cvta.to.global.u64 %rd1, %rd0;
ld.global.u16 %h0, [%rd1];
"""
CONVERT = "cvt.f32.bf16 %v{to}, %h0;\n"
STORE = "st.global.f32 [%rd1+{at}], %v{of};\n"


def conversions(body: str) -> int:
    program = assemble_text(kernel_text(HEAD + body))
    return [decode(row).op.name for row in program.code].count("CVT.F32.BF16")


def test_a_conversion_is_made_once():
    body = CONVERT.format(to=0) + CONVERT.format(to=1) + "fma.rn.f32 %v2, %v0, %v1, %v1;\n" + STORE.format(at=4, of=2)
    assert conversions(body) == 1


def test_a_new_source_is_converted_again():
    again = CONVERT.format(to=0) + "ld.global.u16 %h0, [%rd1+2];\n" + CONVERT.format(to=1)
    assert conversions(again + STORE.format(at=4, of=0) + STORE.format(at=8, of=1)) == 2


def test_a_result_that_was_written_over_is_made_again():
    body = CONVERT.format(to=0) + STORE.format(at=4, of=0) + "mov.f32 %v0, 0f3F800000;\n" + CONVERT.format(to=1)
    assert conversions(body + STORE.format(at=8, of=0) + STORE.format(at=12, of=1)) == 2
