"""Reductions in shared memory that ptxas has the hardware do by a count of lanes (ATOMS.POPC.INC)."""

from pathlib import Path

import pytest

from gpuprof.isa.encoding import decode
from tests.ptxas.sass_slots import find_nvdisasm, machine_code
from tests.support.matrices import long_from
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    .shared .b32 words[128];
    ld.param.u64 %rd0, [p];
    ld.global.u32 %r1, [%rd0];
    and.b32 %r2, %r1, 124;
    mov.u32 %r3, words;
    add.u32 %r2, %r3, %r2;
    {instruction}
    ret;
}}
"""
FORMS = [
    ("red.shared.add.u32 [%r2], 1;", True),
    ("atom.shared.add.u32 %r0, [%r2], 1;", True),
    ("red.shared.inc.u32 [%r2], -1;", True),
    ("red.shared.add.u32 [%r2], 2;", False),
    ("red.shared.add.u32 [%r2], -1;", False),
    ("red.shared.add.u32 [%r2], %r1;", False),
    ("red.shared.inc.u32 [%r2], 1;", False),
    ("red.shared.dec.u32 [%r2], 1;", False),
    ("red.shared.or.b32 [%r2], 1;", False),
    ("red.global.add.u32 [%rd0], 1;", False),
    ("atom.shared.add.u32 %r0, [%r2], 1; st.global.u32 [%rd0], %r0;", False),
]


@pytest.mark.parametrize(("instruction", "counts"), FORMS)
def test_a_sum_of_ones_counts_lanes(instruction, counts):
    program = assemble_text(KERNEL.format(instruction=instruction))
    names = [decode(row).op.name for row in program.code]
    assert ("REDS.POPC.INC.U32" in names) == counts


@needs_ptxas
@pytest.mark.skipif(find_nvdisasm() is None, reason="nvdisasm is not installed")
@pytest.mark.parametrize(("instruction", "counts"), long_from(3, FORMS))
def test_ptxas_counts_lanes_of_the_same_forms(tmp_path: Path, instruction, counts):
    code = machine_code(KERNEL.format(instruction=instruction), tmp_path)["k"].code
    assert any(each.op.startswith("ATOMS.POPC.INC") for each in code) == counts
