"""Loops of a known number of turns: written out they compute what the loops compute, without a jump; their accesses to
shared memory become offsets from one register, and wide where addresses allow it.

The other side of each comparison is the same text behind `.pragma "nounroll";`, which leaves all loops as they are.
"""

import numpy as np
import pytest

from gpuprof.isa.encoding import decode
from tests.assemble import test_unroll
from tests.assemble.test_unroll import LOAD, MIX, STORE, TURNS, kernel, opcodes, rolled, run
from tests.ptxas.sass_slots import find_nvdisasm
from tests.ptxas.whole_loops import LOOPS, asked, read_table, text_of
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text


def counting(body: str, **how) -> str:
    """A loop that has one turn whatever its bound."""
    return test_unroll.counting(body, guarded=False, **how)


SHARED = "shl.b32 %r20, %r2, 2; add.u32 %r21, %r40, %r20; ld.shared.u32 %r10, [%r21];" + MIX
FILL = (
    "st.shared.u32 [%r40], %r1; st.shared.u32 [%r40+4], %r3; st.shared.u32 [%r40+8], %r12; st.shared.u32 [%r40+12], 9;"
)
WHOLE = {
    "a sum": counting(LOAD, bound="7"),
    "one turn": counting(LOAD, bound="1"),
    "more than the bound": counting(LOAD, start="9", bound="3"),
    "unequal": counting(LOAD, bound="8", compares="ne.s32"),
    "by three": counting(LOAD, step=3, bound="23", compares="lt.u32"),
    "down": counting(LOAD, step=-1, start="8", bound="0", compares="gt.s32"),
    "up to and with": counting(LOAD, step=2, bound="8", compares="le.u32"),
    "from before 0, unsigned": counting(LOAD, start="-2", bound="3", compares="lt.u32"),
    "two turns at the least number": counting(LOAD, start="-2147483648", bound="-2147483646"),
    "a 64-bit counter": "mov.u64 %rd21, 0; LOOP: "
    + LOAD
    + "add.s64 %rd21, %rd21, 1; setp.lt.s64 %p1, %rd21, 6; @%p1 bra LOOP; cvt.u32.u64 %r11, %rd21; "
    "add.u32 %r9, %r9, %r11;",
    "the counter is read": counting("xor.b32 %r9, %r9, %r2;" + LOAD + "mad.lo.u32 %r9, %r2, %r2, %r9;", bound="6"),
    "counted at the start": "mov.u32 %r2, 0; LOOP: add.s32 %r2, %r2, 1;"
    + LOAD
    + "xor.b32 %r9, %r9, %r2; setp.lt.s32 %p1, %r2, 6; @%p1 bra LOOP;",
    "the counter is wanted afterwards": counting(LOAD, bound="6") + "add.u32 %r9, %r9, %r2;",
    "what was loaded last is wanted": "mov.u32 %r10, 3;" + counting(LOAD, bound="5") + "xor.b32 %r9, %r9, %r10;",
    "the pointer is wanted afterwards": counting(LOAD, bound="5") + "ld.global.u32 %r10, [%rd3+8];" + MIX,
    "pairs": counting(
        "ld.global.v2.u32 {%r10, %r11}, [%rd1]; add.u64 %rd1, %rd1, 8;" + MIX + "xor.b32 %r9, %r9, %r11;", bound="5"
    ),
    "stores": counting(LOAD + STORE, bound="5"),
    "each turn loads what the last one stored": counting(
        "ld.global.u32 %r10, [%rd4];" + MIX + "st.global.u32 [%rd4+4], %r9; add.u64 %rd4, %rd4, 4;", bound="6"
    ),
    "shared memory by the counter": FILL + counting(SHARED, bound="4"),
    "stored and loaded": FILL + counting(SHARED + "st.shared.u32 [%r40+8], %r9;", bound="4"),
    "guarded": counting(
        LOAD + "and.b32 %r13, %r10, 1; setp.eq.u32 %p4, %r13, 0; @%p4 add.u32 %r9, %r9, 99;", bound="5"
    ),
    "a value of some turns": counting(
        LOAD + "and.b32 %r13, %r10, 1; setp.eq.u32 %p4, %r13, 0; @%p4 mov.u32 %r12, %r10; xor.b32 %r9, %r9, %r12;",
        bound="5",
    ),
    "a way over": counting(
        LOAD + "setp.gt.u32 %p4, %r9, %r10; @%p4 bra OVER; add.u32 %r9, %r9, %r2; mov.u32 %r12, %r10; OVER: "
        "xor.b32 %r9, %r9, %r12;",
        bound="5",
    ),
    "the same in all turns": counting("mul.lo.u32 %r16, %r1, 77; xor.b32 %r9, %r9, %r16;" + LOAD, bound="5"),
    "carried from turn to turn": counting(
        "mov.u32 %r14, %r15; mov.u32 %r15, %r9;" + LOAD + "xor.b32 %r9, %r9, %r14;", bound="5"
    ),
    "exchanged in each turn": counting("mov.u32 %r14, %r9; mov.u32 %r9, %r12; mov.u32 %r12, %r14;" + LOAD, bound="5"),
    "a barrier": counting(LOAD + "bar.sync 0;", bound="5"),
    "a reduction": counting(LOAD + "red.global.add.u32 [%rd4], %r9;", bound="5"),
    "in another loop": "OUTER: "
    + counting(LOAD, bound="3")
    + "add.s32 %r12, %r12, -1; setp.ne.s32 %p5, %r12, 0; @%p5 bra OUTER;",
    "in a loop of unknown turns": "OUTER: "
    + counting(LOAD, bound="3")
    + "add.s32 %r3, %r3, -7; setp.gt.s32 %p5, %r3, 0; @%p5 bra OUTER;",
    "around another loop, of as many turns as its number": "mov.u32 %r16, 1; OUTER: "
    + counting(LOAD, bound="%r16")
    + "add.s32 %r16, %r16, 1; setp.ne.s32 %p5, %r16, 5; @%p5 bra OUTER;",
}


@pytest.mark.parametrize("name", WHOLE)
def test_memory_is_that_of_the_loop(name):
    text = kernel(WHOLE[name])
    assert run(text, TURNS) == run(rolled(text), TURNS)


JUMPS = {"in a loop of unknown turns", "around another loop, of as many turns as its number"}


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in JUMPS])
def test_no_turn_has_a_jump(name):
    assert "BRA" not in opcodes(kernel(WHOLE[name]))


def accesses(body: str) -> list[tuple[str, int]]:
    rows = [decode(row) for row in assemble_text(kernel(body)).code]
    return [(row.op.name, row.imm) for row in rows if row.op.space == "shared"]


ROW = "and.b32 %r21, %r1, 7; shl.b32 %r22, %r21, 7; mov.u32 %r23, shared;"


def test_lanes_still_leave_between_a_written_out_loop_and_what_follows():
    """The blocks around `@%p5 exit;` stay apart, though one follows the other."""
    text = kernel(counting(LOAD, bound="3") + "setp.gt.u32 %p5, %r1, 20; @%p5 exit;")
    out = np.frombuffer(run(text, TURNS)[2], np.uint32)[1023::1024]
    assert opcodes(text).count("IMAD") == 2 + opcodes(rolled(text)).count("IMAD")
    assert np.nonzero(out)[0].tolist() == list(range(21))


def test_words_of_a_row_are_loaded_four_at_a_time():
    """(row * 32 + k) * 4, as compilers write it: the offsets of eight turns are 0, 4, to 28."""
    turn = (
        "shr.u32 %r24, %r22, 2; add.u32 %r25, %r24, %r2; shl.b32 %r26, %r25, 2; add.u32 %r27, %r23, %r26; "
        "ld.shared.u32 %r10, [%r27];" + MIX
    )
    assert accesses(ROW + counting(turn, bound="8")) == [("LDS.V4.32", 0), ("LDS.V4.32", 16)]


def test_a_number_that_is_set_in_zero_bits_is_added():
    """`row & 0x78 | k << 7`, times four: four neighbours of each of three turns."""
    turn = (
        "shl.b32 %r24, %r1, 3; and.b32 %r25, %r24, 120; shl.b32 %r26, %r2, 7; or.b32 %r27, %r26, %r25; "
        "shl.b32 %r28, %r27, 2; add.u32 %r29, %r23, %r28;"
        + "".join(f"ld.shared.u32 %r10, [%r29+{4 * k}];" + MIX for k in range(4))
    )
    assert accesses(ROW + counting(turn, bound="3")) == [("LDS.V4.32", 0), ("LDS.V4.32", 512), ("LDS.V4.32", 1024)]


def test_what_begins_between_two_rows_is_joined_where_the_sum_is_aligned():
    """The first address is 8 beyond a multiple of 16."""
    turn = "ld.shared.u32 %r10, [%r24];" + MIX + "add.u32 %r24, %r24, 4;"
    body = ROW + "add.u32 %r25, %r23, %r22; add.u32 %r24, %r25, 8;" + counting(turn, bound="8")
    assert accesses(body) == [("LDS.V2.32", 0), ("LDS.V4.32", 8), ("LDS.V2.32", 24)]


def test_a_store_that_may_touch_the_words_keeps_loads_apart():
    turn = "ld.shared.u32 %r10, [%r24]; st.shared.u32 [%r23], %r9;" + MIX + "add.u32 %r24, %r24, 4;"
    found = accesses(ROW + "add.u32 %r24, %r23, %r22;" + counting(turn, bound="4"))
    assert [name for name, _ in found] == ["LDS.32", "STS.32"] * 4


def test_words_are_what_was_stored():
    turns = np.arange(32, dtype=np.uint32)
    store = (
        "st.shared.u32 [%r40], %r3; st.shared.u32 [%r40+4], %r1; st.shared.u32 [%r40+8], 5; st.shared.u32 [%r40+12], 6;"
    )
    (_, _, out) = run(kernel(store + "mov.u32 %r9, 0;" + counting(SHARED, bound="4")), turns)
    lane = turns.astype(object)
    expected = [((int(n) * 31 + int(n)) * 31 + 5) * 31 + 6 for n in lane]
    assert np.frombuffer(out, np.uint32)[1023 : 32 * 1024 : 1024].tolist() == expected


def is_written_out(loop: str) -> bool:
    names = opcodes(text_of(loop))
    return names.count("FFMA") == LOOPS[loop][0] and "BRA" not in names


@pytest.mark.long
def test_loops_are_written_out_where_ptxas_does():
    theirs = read_table()
    assert {loop: is_written_out(loop) for loop in LOOPS} == theirs


@pytest.mark.long
@needs_ptxas
@pytest.mark.skipif(find_nvdisasm() is None, reason="nvdisasm is not installed: pip install nvidia-cuda-nvdisasm")
def test_the_table_is_what_ptxas_makes(tmp_path):
    loops = ["128 shared loads", "16 times 30 products", "32 times 30 products", "shuffle", "barrier", "8 in 4"]
    assert {row.loop: row.written_out for row in asked(loops, tmp_path)} == {loop: read_table()[loop] for loop in loops}
