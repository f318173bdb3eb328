"""What lanes see of lanes that have exited or never were: PTX leaves it open, here it is zero, however many blocks run
together.
"""

import numpy as np
import pytest

from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel

TEXT = """\
.visible .entry k(.param .u64 out, .param .u32 living)
{{
    .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
    .shared .align 16 .b8 words[512];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    ld.param.u32 %r5, [living];
    setp.ge.u32 %p1, %r1, %r5;
    mov.u32 %r6, 77;
    {leave}
    add.u32 %r6, %r1, 1000;
    mov.u32 %r9, 0x3C003C00;
    {body}
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
DONE:
    ret;
}}
"""
LEAVE = ("@%p1 ret;", "@%p1 bra DONE;", "@%p1 exit;")


def run(leave: str, body: str, living: int, block: int, grid: int) -> np.ndarray:
    """(grid, block) of %r7 of the threads below `living`; the others' are 0."""
    program = assemble_text(PREAMBLE + TEXT.format(leave=leave, body=body))
    out = np.zeros(block * grid, np.uint32)
    return np.frombuffer(run_kernel(program, "k", [out, living], grid=grid, block=block)[0], np.uint32).reshape(
        grid, block
    )


@pytest.mark.parametrize("leave", LEAVE)
@pytest.mark.parametrize(("living", "block"), [(20, 32), (33, 64), (40, 96), (48, 48), (7, 20)])
def test_shuffle(leave, living, block):
    lanes = np.arange(block)
    other = lanes ^ 1
    wanted = np.where(lanes < living, np.where(other < min(living, block), 1000 + other, 0), 0)
    for grid in (1, 70):
        found = run(leave, "shfl.sync.bfly.b32 %r7, %r6, 1, 31, 0xffffffff;", living, block, grid)
        assert (found == wanted).all(), (grid, found)


@pytest.mark.parametrize("grid", [1, 70])
def test_transposed_matrix(grid):
    """Element (row, column) of a matrix comes from lane 4 * row + column / 2."""
    found = run(LEAVE[0], "movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r6;", 16, 32, grid)
    matrix = np.zeros(32, np.uint32)
    matrix[:16] = 1000 + np.arange(16)
    wanted = np.ascontiguousarray(matrix.view(np.uint16).reshape(8, 8).T).reshape(-1).view(np.uint32)[:16]
    assert (found[:, :16] == wanted).all()


@pytest.mark.parametrize("grid", [1, 70])
def test_matrix_product(grid):
    """Ones times ones, where lanes 16 to 31 would have had columns 4 to 7 of B: those of the result that lanes 4 * row
    + 2 and 3 hold.
    """
    body = (
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r9, %r9}, {%r9}, {%f0, %f0, %f0, "
        "%f0}; mov.b32 %r7, %f2;"
    )
    found = run(LEAVE[0], "mov.f32 %f0, 0f00000000; " + body, 16, 32, grid)
    assert found[:, :16].view(np.float32).tolist() == [[8.0, 8.0, 0.0, 0.0] * 4] * grid


@pytest.mark.parametrize("grid", [1, 70])
def test_matrix_stored(grid):
    """Lanes 4 to 7 are gone: with them what row 1 holds, and the addresses of rows 4 to 7, which therefore stay as they
    were.
    """
    middle = "add.u32 %r14, %r1, 24; and.b32 %r14, %r14, 31; setp.ge.u32 %p2, %r14, 28;"
    store = """mov.u32 %r10, words; shl.b32 %r11, %r1, 2; add.u32 %r12, %r10, %r11; add.u32 %r6, %r1, 1000; st.shared.u32 [%r12], %r6; bar.warp.sync 0xffffffff;
    @%p2 bra DONE;"""  # noqa: E501
    body = """shl.b32 %r11, %r1, 4; add.u32 %r13, %r10, %r11; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r13], {%r9};
    xor.b32 %r12, %r12, 16; ld.shared.u32 %r7, [%r12];"""
    found = run(middle + store, body, 32, 32, grid)
    lanes = np.arange(32)
    wanted = np.where(lanes < 4, 0, np.where(lanes < 16, 0x3C003C00, 1000 + (lanes ^ 4)))
    wanted[4:8] = 0  # these stored nothing at the end
    assert (found == wanted).all(), found[0]


BARRIERS = {
    "bar.sync 1, 64; mov.u32 %r7, 5;": 5,
    "barrier.sync 1, 64; mov.u32 %r7, 5;": 5,
    "setp.ne.u32 %p2, %r6, 0; bar.red.popc.u32 %r7, 2, 64, %p2;": None,  # the threads that are there
    "setp.ne.u32 %p2, %r6, 0; bar.red.and.pred %p3, 2, 64, %p2; selp.u32 %r7, 1, 0, %p3;": 1,
    "setp.lt.u32 %p2, %r1, 32; @%p2 bar.sync 3, 64; @!%p2 bar.arrive 3, 64; mov.u32 %r7, 6;": 6,
}


@pytest.mark.parametrize("body", BARRIERS)
@pytest.mark.parametrize(("living", "block"), [(48, 48), (50, 64), (33, 64)])
def test_barriers_count_whole_warps(body, living, block):
    """Thread counts are multiples of 32 (PTX ISA, barrier), also in a block, or of threads, that are not."""
    for grid in (1, 70):
        found = run(LEAVE[1], body, living, block, grid)
        assert (found[:, :living] == (BARRIERS[body] or living)).all(), found
