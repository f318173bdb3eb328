"""Short bodies behind a branch are guarded: also where both ways go back to a block that stands before them."""

import numpy as np

from gpuprof.isa.opcodes import TABLE
from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel

BACK = f"""{PREAMBLE}.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;
    ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1; mov.u32 %r1, 0; mov.u32 %r2, 1;
    bra START;
NEXT:
    add.u32 %r1, %r1, 1;
    setp.eq.u32 %p0, %r1, 9;
    @%p0 bra OUT;
START:
    and.b32 %r3, %r1, %r0;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra NEXT;
    mul.lo.u32 %r2, %r2, 3;
    xor.b32 %r2, %r2, %r1;
    bra NEXT;
OUT:
    st.global.u32 [%rd0], %r2;
    ret;
}}
"""  # noqa: E501


def by_hand(lane: int) -> int:
    value = 1
    for turn in range(9):
        if turn & lane:
            value = value * 3 ^ turn
    return value


def test_a_body_between_two_ways_back_is_guarded():
    program = assemble_text(BACK)
    names = [TABLE[number].name for number in program.code["opcode"]]
    guarded = [
        name
        for name, guard in zip(names, program.code["guard"].tolist(), strict=True)
        if guard != program.code["guard"][0]
    ]
    assert sorted(guarded) == ["BRA", "IMUL", "XOR"]
    assert names.count("BRA") == 3  # to the start, out, and one for both ways back
    (out,) = run_kernel(program, "k", [np.zeros(32, np.uint32)])
    assert np.frombuffer(out, np.uint32).tolist() == [by_hand(lane) for lane in range(32)]
