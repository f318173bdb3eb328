"""The table live_registers of a loop, worked out by hand."""

import sqlite3

import pytest

from tests.support.command import gpuprof, write_files

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
// LAUNCH: k<<<1, 32>>>(u32[32])
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
LOOP:
    mad.lo.u32 %r1, %r1, %r0, 7;
    setp.lt.u32 %p0, %r1, 5;
    @%p0 bra LOOP;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""
# %r0 and %r1 live from their first writes on; at the end %r0 becomes an address of two words beside %r1.
EXPECTED = [
    ("S2R", 0), ("MOV", 1), ("BSSY", 2), ("IMAD", 2), ("ISETP.U32", 2), ("BRA", 2), ("MOV", 2), ("BSYNC", 3),
    ("IMAD.WIDE.U32", 3), ("STG.32", 3), ("EXIT", 0),
]  # fmt: skip


@pytest.mark.long
def test_registers_live_around_a_loop(tmp_path):
    write_files(tmp_path, {"k.ptx": KERNEL})
    assert gpuprof(tmp_path, "collect", "k.ptx")[0] == 0
    assert gpuprof(tmp_path, "correlate", "k.gprec")[0] == 0
    db = sqlite3.connect(tmp_path / "k.gpudb")
    query = (
        "SELECT opcode, registers FROM live_registers JOIN instructions USING (pc) WHERE opcode NOT LIKE 'LOAD.%' "
        "ORDER BY pc"
    )
    assert db.execute(query).fetchall() == EXPECTED
    db.close()
