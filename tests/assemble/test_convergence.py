"""BSSY, BSYNC and YIELD: where the real assembler has them (ptxas 13.0, sm_80), in short kernels."""

import pytest

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, kernel_text

# too long to be guarded
LONG = " ".join(f"ld.global.u32 %r3, [%rd0+{4 * k}]; st.global.u32 [%rd0+{4 * k + 64}], %r3;" for k in range(5))
HEAD = "ld.param.u64 %rd0, [p0]; mov.u32 %r0, %tid.x; ld.param.u32 %r1, [p1];"
LANES, ALL = "setp.lt.u32 %p0, %r0, 7;", "setp.lt.u32 %p0, %r1, 7;"
SKIP = f"@%p0 bra OVER; {LONG} OVER: st.global.u32 [%rd0], %r1;"
LOOP = "mov.u32 %r2, 0; TURN: add.u32 %r2, %r2, 3; st.global.u32 [%rd0], %r2; setp.lt.u32 %p1, %r2, {}; @%p1 bra TURN;"
LAST = "st.global.u32 [%rd0+4], %r1;"


def marks(text: str) -> list[str]:
    """The marks, the branches and the accesses of a kernel, in order."""
    names = [decode(row).op.name for row in assemble_text(kernel_text(HEAD + text)).code]
    return [name for name in names if name in ("BSSY", "BSYNC", "YIELD", "BRA") or name.startswith("RED")]


@pytest.mark.parametrize(
    "text, expected",
    [
        (LANES + SKIP, ["BSSY", "BRA", "BSYNC"]),
        (ALL + SKIP, ["BRA"]),  # the lanes of a warp agree
        (LOOP.format("%r0") + LAST, ["BSSY", "BRA", "BSYNC"]),  # in front of the loop, and behind it
        (LOOP.format("%r1") + LAST, ["BRA"]),
        (LOOP.format("%r0"), ["BRA"]),  # nobody meets to leave
        # both ways out meet in one place
        (LANES + f"@%p0 bra OVER; {LOOP.format('%r0')} OVER: {LAST}", ["BSSY", "BRA", "BRA", "BSYNC"]),
        (LOOP.format("%r1").replace("st.global.u32 [%rd0], %r2", "red.global.add.u32 "
            "[%rd0], %r2"), ["YIELD", "REDG.ADD.U32", "BRA"]),
        (LOOP.format("%r1").replace("st.global.u32 [%rd0], %r2", "red.global.add.u32 [%rd0], %r2; "
            "red.global.add.u32 [%rd0+8], %r2"),
         ["YIELD", "REDG.ADD.U32", "REDG.ADD.U32", "BRA"]),
        ("red.global.add.u32 [%rd0], %r0;", ["REDG.ADD.U32"]),
    ],
)  # fmt: skip
def test_marks(text, expected):
    assert marks(text) == expected


def test_endless_loops_end_the_search():
    """Some lanes turn for ever, so that nobody can meet them: no mark, as ptxas has none. Both branches stay."""
    assert marks(f"{LANES} @%p0 bra HERE; {LONG} ret; HERE: bra HERE;") == ["BRA", "BRA"]
    assert marks(f"{LANES} @%p0 bra HERE; {LONG} ret; HERE: st.global.u32 [%rd0], %r1; bra HERE;") == ["BRA", "BRA"]
