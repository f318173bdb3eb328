"""Barriers between some of a block's warps: who waits, who does not, and for whom."""

import numpy as np
import pytest

from gpuprof.errors import KernelFault
from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel

TEXT = """\
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %rd<8>;
    .shared .align 4 .b8 words[1024];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    shr.u32 %r5, %r1, 5;
    mov.u32 %r7, 0;
    mov.u32 %r8, words; shl.b32 %r9, %r1, 2; add.u32 %r8, %r8, %r9;
    {body}
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7;
    ret;
}}
"""
# Who is late jumps behind everything else and back to ON: the others have long been at their barriers by then.
LATE = (
    "bra END; LATE: mov.u32 %r10, 0; SPIN: add.u32 %r10, %r10, 1; setp.lt.u32 %p7, %r10, 60; @%p7 bra SPIN; bra "
    "ON; END:"
)


def run(body: str, block: int, grid: int = 3) -> np.ndarray:
    out = np.zeros(block * grid, np.uint32)
    found = run_kernel(assemble_text(PREAMBLE + TEXT.format(body=body)), "k", [out], grid=grid, block=block)
    return np.frombuffer(found[0], np.uint32).reshape(grid, block)


def test_who_only_arrives_goes_on():
    """Warp 1 arrives at barrier 1 and goes to barrier 2, where warp 0 stands before it comes to barrier 1."""
    body = """setp.eq.u32 %p1, %r5, 1; @%p1 bra OTHER;
    bar.sync 2, 64; ld.shared.u32 %r7, [%r8+128]; bar.sync 1, 64; bra DONE;
OTHER: bar.arrive 1, 64; mov.u32 %r11, 7; st.shared.u32 [%r8], %r11; bar.sync 2, 64; mov.u32 %r7, 8;
DONE:"""
    assert (run(body, 64) == [7] * 32 + [8] * 32).all()


@pytest.mark.parametrize("late", [0, 1, 2, 3])
def test_an_open_barrier_frees_nobody_at_another(late):
    """Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2, one of the four late; each reads what its partner
    wrote before.
    """
    body = f"""add.u32 %r6, %r5, 1; shr.u32 %r6, %r5, 1; add.u32 %r6, %r6, 1;
    setp.eq.u32 %p1, %r5, {late}; @%p1 bra LATE;
ON: add.u32 %r11, %r1, 1; st.shared.u32 [%r8], %r11; bar.sync %r6, 64;
    xor.b32 %r12, %r1, 32; shl.b32 %r12, %r12, 2; mov.u32 %r13, words; add.u32 %r13, %r13, %r12; ld.shared.u32 %r7, [%r13]; {LATE}"""  # noqa: E501
    assert (run(body, 128) == (np.arange(128) ^ 32) + 1).all()


def test_reductions_of_several_barriers_at_once():
    """Barrier and count from registers, the predicate negated: warps 0 and 1 count at barrier 1, warps 2 and 3 at
    barrier 2.
    """
    body = """shr.u32 %r6, %r5, 1; add.u32 %r6, %r6, 1; mov.u32 %r11, 64; setp.lt.u32 %p1, %r1, 75;
    bar.red.popc.u32 %r7, %r6, %r11, !%p1; bar.red.and.pred %p2, %r6, %r11, %p1; bar.red.or.pred %p3, %r6, %r11, !%p1;
    @%p2 add.u32 %r7, %r7, 1000; @%p3 add.u32 %r7, %r7, 2000;"""
    assert (run(body, 128) == [1000] * 64 + [2053] * 64).all()


def test_a_barrier_again_and_again():
    """Ten rounds over two barriers in a block that ends within a warp: every round reads what the other warp wrote in
    it.
    """
    body = """mov.u32 %r14, 0; xor.b32 %r12, %r1, 32; min.u32 %r12, %r12, 47; shl.b32 %r12, %r12, 2; mov.u32 %r13, words; add.u32 %r13, %r13, %r12;
ROUND: mul.lo.u32 %r11, %r14, 100; add.u32 %r11, %r11, %r1; st.shared.u32 [%r8], %r11; bar.sync 1, 64;
    ld.shared.u32 %r11, [%r13]; add.u32 %r7, %r7, %r11; bar.sync 3, 64; add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, 10; @%p1 bra ROUND;"""  # noqa: E501
    assert (run(body, 48) == 4500 + 10 * np.minimum(np.arange(48) ^ 32, 47)).all()


@pytest.mark.parametrize("late", [0, 3])
def test_blocks_that_use_a_barrier_in_other_ways(late):
    """Even blocks meet two warps at a time, odd ones as a whole at the same barrier; each thread reads what its partner
    wrote.
    """
    body = f"""setp.eq.u32 %p1, %r5, {late}; @%p1 bra LATE;
ON: add.u32 %r11, %r1, 1; st.shared.u32 [%r8], %r11; and.b32 %r6, %r2, 1; setp.eq.u32 %p2, %r6, 0; @%p2 bra EVEN;
    bar.sync 1; mov.u32 %r14, 96; bra READ;
EVEN: shr.u32 %r6, %r5, 1; setp.eq.u32 %p3, %r6, 0; add.u32 %r6, %r6, 1; @%p3 bar.sync %r6, 64; @!%p3 bar.sync 5, 64; mov.u32 %r14, 32;
READ: xor.b32 %r12, %r1, %r14; shl.b32 %r12, %r12, 2; mov.u32 %r13, words; add.u32 %r13, %r13, %r12; ld.shared.u32 %r7, [%r13]; {LATE}"""  # noqa: E501
    threads = np.arange(128)
    assert (run(body, 128, 4) == [(threads ^ 32) + 1, (threads ^ 96) + 1] * 2).all()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("mov.u32 %r6, 16; bar.sync %r6, 64;", "barrier 16 with 64 threads"),
        ("mov.u32 %r6, 48; bar.sync 1, %r6;", "barrier 1 with 48 threads"),
        ("setp.ge.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64;", "deadlock: waits at barrier 1, where 32 of 64 threads"),
        (
            "setp.ge.u32 %p1, %r1, 32; @%p1 bar.sync 1; @!%p1 bar.sync 2;",
            "deadlock: waits at barrier 2, where 32 of 64 threads",
        ),
    ],
)
def test_barriers_that_cannot_open(body, text):
    with pytest.raises(KernelFault, match=text):
        run(body, 64, 1)
