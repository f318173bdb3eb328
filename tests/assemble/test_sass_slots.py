"""Issue slots of the samples beside those of ptxas's machine code, which `sass_machine` runs; the stored table is of
tests/ptxas/sass_slots.py.
"""

import subprocess

import numpy as np
import pytest

from tests.ptxas import sass_machine
from tests.ptxas.sass_slots import SOURCES, find_nvdisasm, measure, ours, read_table
from tests.support.nvidia_tools import PTXAS, needs_ptxas

needs_nvdisasm = pytest.mark.skipif(
    find_nvdisasm() is None, reason="nvdisasm is not installed: pip install nvidia-cuda-nvdisasm"
)
BOUND = 0.10
# Where more than that is between the two, and why.
KNOWN = {
    "_Z7bitonicPj": "ours leaves blocks where they stand; ptxas puts the end of the loop behind its body, which saves "
    "a branch in each turn",
    "_Z11interleavedPKfPf": "ptxas multiplies an index by four in the access to shared memory, ours in front of it",
}


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_table_has_our_slots(source):
    found = ours(source)
    assert found == {row.kernel: row.ours for row in read_table() if row.source == source.name}, (
        "python -m tests.ptxas.sass_slots --write"
    )


def test_slots_are_those_of_the_real_assembler_within_ten_percent():
    beyond = {row.kernel: round(row.ratio, 3) for row in read_table() if abs(row.ratio - 1) > BOUND}
    assert beyond.keys() <= KNOWN.keys(), beyond


def test_all_slots_together():
    rows = read_table()
    logs = [np.log(row.ratio) for row in rows]
    assert len(rows) >= 18
    assert np.exp(np.mean(np.abs(logs))) - 1 <= 0.07, "the mean factor between the two"


@pytest.mark.long
@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize(
    "source",
    [path for path in SOURCES if path.stem in ("mandelbrot", "reduction", "saxpy", "spmv", "stencil3d", "constants")],
    ids=lambda path: path.stem,
)
def test_machine_code_computes_the_same_in_as_many_slots(source):
    stored = {row.kernel: row.theirs for row in read_table()}
    for each in measure(source):
        assert each.worst == 0.0, f"{each.row.kernel}: memory differs from what our emulator leaves"
        # another version of ptxas may differ a little
        assert each.row.theirs == pytest.approx(stored[each.row.kernel], rel=0.02)


COUNTED = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 1;
    setp.eq.u32 %p, %r1, 0;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd2, %rd0, %rd1;
    @%p bra EVEN;
    bar.warp.sync 0xaaaaaaaa;
    st.global.u32 [%rd2], %r0;
    ret;
EVEN:
    bar.warp.sync 0x55555555;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


@needs_ptxas
@needs_nvdisasm
def test_lanes_that_part_issue_twice(tmp_path):
    """Each side stores once for both warps: the machine counts every side of a warp."""
    (tmp_path / "k.ptx").write_text(COUNTED)
    subprocess.run([PTXAS, "-arch=sm_80", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")], check=True)
    kernel = sass_machine.disassemble(find_nvdisasm(), tmp_path / "k.cubin")["k"]
    base, memory = 1 << 20, np.full(256, 0xFF, np.uint8)
    launch = sass_machine.Grid((1, 1, 1), (64, 1, 1), base.to_bytes(8, "little"), 0, 0, memory, base, {})
    counts = sass_machine.run(kernel, launch)
    assert memory.view(np.uint32).tolist() == [i if i % 2 else 0 for i in range(64)]
    executed = [(code.op, int(count)) for code, count in zip(kernel.code, counts, strict=True) if count]
    assert sum(count for op, count in executed if op.startswith("STG")) == 4
    assert executed[0][1] == 2
