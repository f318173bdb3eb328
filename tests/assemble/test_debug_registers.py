"""Registers of the PTX in the final code: told where they hold what the PTX has, and nowhere else."""

from gpuprof.assemble.assemble import assemble_program
from gpuprof.assemble.debug_registers import DebugRegisters
from gpuprof.compile.module import PtxModule
from gpuprof.isa.encoding import decode

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
"""  # 8 lines

# Line 16 divides, in front of which nothing is stored; %r3 is not read behind line 15.
STRAIGHT = """\
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mad.lo.s32 %r2, %r1, 7, 3;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	xor.b32 %r3, %r2, 85;
	st.global.u32 [%rd3], %r3;
	add.s32 %r2, %r2, 1;
	st.global.u32 [%rd3+4], %r2;
	ret;
}
"""

LOOP = """\
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.b32 %r3, 0;
$L__BB0_1:
	add.s32 %r3, %r3, %r2;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p1, %r2, %r1;
	@%p1 bra $L__BB0_1;
	st.global.u32 [%rd1], %r3;
	ret;
}
"""


def kept(text: str, *names: str) -> list[tuple[int, str, list[str]]]:
    """Line of the PTX, opcode, and which of the registers are kept in front of it, of each final instruction."""
    found = DebugRegisters({"k": names})
    program = assemble_program(PtxModule("k.ptx", HEAD + text, {}, {}, "", "sm_80"), debug_registers=found)
    rows = zip(program.ptx_lines.tolist(), program.code, found.places["k"], strict=True)
    return [(line, decode(row).op.name, sorted(places)) for line, row, places in rows]


def test_a_value_is_told_between_its_write_and_the_next_of_its_place():
    """%r2 is written twice; in front of the second time it has the first value, also for what stands for line 16."""
    rows = kept(STRAIGHT, "r1", "r2", "r3")
    before = {line: names for line, _, names in rows}
    assert before[11] == ["r1"]
    assert "r2" in before[14] and "r3" not in before[14]
    assert "r3" in before[15]
    assert all("r2" not in names for line, _, names in rows if line <= 11)


def test_what_a_pass_has_copied_is_not_told():
    """The loop is unrolled by four: its counter is added to once for all copies."""
    rows = kept(LOOP, "r2", "r3")
    assert sum(line == 14 for line, _, _ in rows) > 1
    assert all(names == [] for line, _, names in rows if line in (14, 15, 16, 17))
    assert any(line > 17 or line < 13 for line, _, _ in rows)
