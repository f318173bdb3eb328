"""Unrolled loops compute what the loops compute, whatever their number of turns; which loops those are, and that their
copies are found in the source.

The other side of each comparison is the same text behind `.pragma "nounroll";`, which leaves all loops as they are.
"""

import random

import numpy as np
import pytest

from gpuprof.isa.opcodes import TABLE
from tests.ptxas.sass_slots import find_nvdisasm
from tests.ptxas.unrolled import KNOWN, LOOPS, asked, read_table, text_of
from tests.support.matrices import long_from
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel

# Turns of the lanes of a warp: around the four and the two that are done at once, and far from them.
TURNS = np.array(
    [
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
        15,
        16,
        17,
        31,
        32,
        33,
        100,
        1000,
        0,
        3,
        5,
        1,
        2,
        6,
        7,
        30,
        999,
        1001,
    ],
    np.uint32,
)
SAME = [np.full(32, n, np.uint32) for n in (0, 1, 2, 3, 4, 5, 1000)]
N_WORDS = 1 << 13  # of the table, a lane's loads begin at its own place
ROLLED = '.pragma "nounroll";\n'


def kernel(body: str) -> str:
    """%r3 is the number of turns, %rd3 points into the table, %rd4 into words of the lane's own; %r9 becomes the
    result.
    """
    return f"""{PREAMBLE}.visible .entry k(.param .u64 turns, .param .u64 table, .param .u64 out)
{{
    .reg .b32 %r<64>; .reg .b64 %rd<64>; .reg .f32 %f<16>; .reg .pred %p<16>; .shared .align 16 .b8 shared[8192];
    ld.param.u64 %rd0, [turns]; ld.param.u64 %rd1, [table]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd0, %rd0, %rd5; ld.global.u32 %r3, [%rd0];
    add.u64 %rd3, %rd1, %rd5; mul.wide.u32 %rd6, %r1, 4096; add.u64 %rd4, %rd2, %rd6; mov.u32 %r9, 7; mov.u32 %r2, 0;
    mov.u32 %r40, shared; shl.b32 %r41, %r1, 7; add.u32 %r40, %r40, %r41; mov.u64 %rd9, %rd4; mov.u32 %r12, 5;
    {body}
    st.global.u32 [%rd9+4092], %r9;
    ret;
}}
"""


def counting(
    body: str, *, step: int = 1, compares: str = "lt.s32", start: str = "0", bound: str = "%r3", guarded: bool = True
) -> str:
    skip = f"setp.{compares} %p0, %r2, {bound}; @!%p0 bra END;" if guarded else ""
    return (
        f"mov.u32 %r2, {start}; {skip}\nLOOP: {body}\nadd.s32 %r2, %r2, {step}; setp.{compares} %p1, %r2, {bound}; "
        "@%p1 bra LOOP;\nEND:"
    )


MIX = "mad.lo.u32 %r9, %r9, 31, %r10;"
LOAD = f"ld.global.u32 %r10, [%rd3]; {MIX} add.u64 %rd3, %rd3, 4;"
STORE = "st.global.u32 [%rd4], %r9; add.u64 %rd4, %rd4, 4;"
LONG = (
    "xor.b32 %r9, %r9, 85; mul.lo.u32 %r9, %r9, 7; shr.u32 %r11, %r9, 3; add.u32 %r9, %r9, %r11; xor.b32 %r9, %r9, %r2;"
    * 2
)
SKIP = f"and.b32 %r13, %r10, 3; setp.eq.u32 %p4, %r13, 0; @%p4 bra OVER; {LONG} OVER:"
UNROLLED = {
    "a sum": counting(LOAD),
    "first turn whatever the bound": counting(LOAD, guarded=False),
    "up to and with": counting(LOAD, compares="le.s32"),
    "unsigned": counting(LOAD, compares="lt.u32"),
    "unsigned, up to and with": counting(LOAD, compares="le.u32"),
    "unequal": counting(LOAD, compares="ne.s32"),
    "by three": counting(LOAD, step=3),
    "by three, first turn": counting(LOAD, step=3, compares="le.u32", guarded=False),
    "unsigned, from before 0": counting(LOAD, step=3, compares="lt.u32", start="-3", guarded=False),
    "unsigned, from long before 0, up to and with": counting(
        LOAD, step=128, compares="le.u32", start="-77", guarded=False
    ),
    "unsigned, down from beyond the greatest": "sub.u32 %r3, -1, %r3;"
    + counting(LOAD, step=-2, compares="gt.u32", start="1", guarded=False),
    "unsigned, from before 0 to a number": counting(
        LOAD + "xor.b32 %r9, %r9, %r2;", step=3, compares="lt.u32", start="-2", bound="900", guarded=False
    )
    + "xor.b32 %r9, %r9, %r2;",
    "from far below": counting(LOAD, start="-5"),
    "down": "mov.u32 %r2, %r3; mov.u32 %r3, 0;" + counting(LOAD, step=-1, compares="gt.s32", start="%r2"),
    "down to": "mov.u32 %r2, %r3; mov.u32 %r3, 0;" + counting(LOAD, step=-2, compares="ge.s32", start="%r2"),
    "down to zero": counting(LOAD, step=-1, compares="ne.u32", start="%r3", bound="0"),
    "down to a number": counting(LOAD, step=-1, compares="gt.s32", start="%r3", bound="3"),
    "up to a number": counting(LOAD, step=1, compares="lt.s32", start="%r3", bound="900"),
    "a bound near the least number": "neg.s32 %r3, %r3; sub.s32 %r3, -2147482600, %r3;"
    + counting(LOAD, start="-2147482620"),
    "a bound at the least number": "add.s32 %r3, %r3, -2147483648;" + counting(LOAD, start="-2147483648"),
    "a bound near the most": "add.s32 %r3, %r3, 2147482600;" + counting(LOAD, start="2147482600"),
    "64-bit counter": "cvt.u64.u32 %rd20, %r3; mov.u64 %rd21, 0; LOOP: "
    + LOAD
    + "add.s64 %rd21, %rd21, 1; setp.lt.s64 %p1, %rd21, %rd20; @%p1 bra LOOP;",
    "a pointer as counter": "mul.wide.u32 %rd20, %r3, 4; add.u64 %rd20, %rd3, %rd20; LOOP: "
    + LOAD
    + "setp.lt.u64 %p1, %rd3, %rd20; @%p1 bra LOOP;",
    "the bound first": "mov.u32 %r2, 0; LOOP: "
    + LOAD
    + "add.s32 %r2, %r2, 1; setp.gt.s32 %p1, %r3, %r2; @%p1 bra LOOP;",
    "counted at the start": "mov.u32 %r2, 0; LOOP: add.s32 %r2, %r2, 1;"
    + LOAD
    + "xor.b32 %r9, %r9, %r2; setp.lt.s32 %p1, %r2, %r3; @%p1 bra LOOP;",
    "the counter is read": counting("xor.b32 %r9, %r9, %r2;" + LOAD + "mad.lo.u32 %r9, %r2, %r2, %r9;"),
    "the counter is wanted afterwards": counting(LOAD) + "add.u32 %r9, %r9, %r2;",
    "what was loaded last is wanted": "mov.u32 %r10, 3;" + counting(LOAD) + "xor.b32 %r9, %r9, %r10;",
    "pairs": counting(
        "ld.global.v2.u32 {%r10, %r11}, [%rd1]; add.u64 %rd1, %rd1, 8;" + MIX + "xor.b32 %r9, %r9, %r11;"
    ),
    "stores": counting(LOAD + STORE),
    "each turn loads what the last one stored": counting(
        "ld.global.u32 %r10, [%rd4];" + MIX + "st.global.u32 [%rd4+4], %r9; add.u64 %rd4, %rd4, 4;"
    ),
    "each turn loads what three before it stored": counting(
        "ld.global.u32 %r10, [%rd4];" + MIX + "st.global.u32 [%rd4+12], %r9; add.u64 %rd4, %rd4, 4;"
    ),
    "shared memory": counting(
        "st.shared.u32 [%r40], %r9; ld.shared.u32 %r10, [%r40]; add.u32 %r40, %r40, 4;" + MIX, bound="20", start="%r3"
    ),
    "guarded": counting(LOAD + "and.b32 %r13, %r10, 1; setp.eq.u32 %p4, %r13, 0; @%p4 add.u32 %r9, %r9, 99;"),
    "a short way over": counting(LOAD + "setp.gt.u32 %p4, %r9, %r10; @%p4 bra OVER; add.u32 %r9, %r9, 5; OVER:"),
    "a long way over": counting(LOAD + SKIP),
    "on with the next turn": counting(
        "ld.global.u32 %r10, [%rd3]; add.u64 %rd3, %rd3, 4;" + SKIP.replace("OVER:", MIX + "OVER:")
    ),
    "an inner loop": "OUTER: " + counting(LOAD) + "add.s32 %r12, %r12, -1; setp.ne.s32 %p5, %r12, 0; @%p5 bra OUTER;",
    "two after each other": counting(LOAD) + counting(LOAD + STORE).replace("LOOP", "NEXT").replace("END", "OUT"),
    "carried from turn to turn": counting("mov.u32 %r14, %r15; mov.u32 %r15, %r9;" + LOAD + "xor.b32 %r9, %r9, %r14;"),
    "exchanged in each turn": counting("mov.u32 %r14, %r9; mov.u32 %r9, %r12; mov.u32 %r12, %r14;" + LOAD),
}
_FAR = f"{LONG * 6}"
ROLLED_LOOPS = {
    "its label says so": counting('.pragma "nounroll";' + LOAD),
    "a barrier": counting(LOAD + "bar.warp.sync -1;", bound="5"),
    "lanes exchange": counting(LOAD + "shfl.sync.bfly.b32 %r9, %r9, 1, 31, -1;", bound="5"),
    "an atomic": counting(LOAD + "red.global.add.u32 [%rd4], 1;"),
    "a fence": counting(LOAD + "membar.gl;"),
    "left in the middle": counting(LOAD + "setp.eq.u32 %p4, %r10, 1234; @%p4 bra END;"),
    "the test jumps out": "mov.u32 %r2, 0; LOOP: "
    + LOAD
    + "add.s32 %r2, %r2, 1; setp.ge.s32 %p1, %r2, %r3; @%p1 bra END; bra LOOP; END:",
    "a step that is not known": "mov.u32 %r2, 0; mov.u32 %r12, %ntid.x; LOOP: "
    + LOAD
    + "add.s32 %r2, %r2, %r12; setp.lt.s32 %p1, %r2, %r3; @%p1 bra LOOP;",
    "a bound that changes": counting(LOAD + "sub.u32 %r3, %r3, 1;"),
    "counted after the test": "mov.u32 %r2, 0; LOOP: "
    + LOAD
    + "setp.lt.s32 %p1, %r2, %r3; add.s32 %r2, %r2, 1; @%p1 bra LOOP;",
    "away from the bound": counting(LOAD, compares="gt.s32", step=1, start="%r3", bound="2147482000", guarded=False),
    "a step whose sums might wrap around": counting(LOAD, step=(1 << 16) + 1),
    "a number whose sums wrap around": counting(LOAD, start="%r1", bound="-2147483646"),
    "a guarded store": counting(
        LOAD + "setp.gt.u32 %p4, %r9, %r10; @%p4 st.global.u32 [%rd4], %r9; add.u64 %rd4, %rd4, 4;"
    ),
    "always the same word": counting(LOAD + "st.global.u32 [%rd4], %r9;"),
    "a long turn": counting(LOAD + _FAR),
    "many loads": counting(
        "".join(f"ld.global.u32 %r10, [%rd3+{4 * k}]; {MIX}" for k in range(16)) + "add.u64 %rd3, %rd3, 4;"
    ),
}


def run(text: str, turns: np.ndarray) -> list[bytes]:
    table = np.random.default_rng(1).integers(0, 1 << 32, N_WORDS, np.uint32)
    return run_kernel(assemble_text(text), "k", [turns, table, np.zeros(32 * 1024 + 8, np.uint32)])


def opcodes(text: str) -> list[str]:
    return [TABLE[number].name for number in assemble_text(text).code["opcode"]]


def rolled(text: str) -> str:
    return text.replace(".visible", ROLLED + ".visible")


@pytest.mark.parametrize("name", long_from(12, UNROLLED))
def test_memory_is_that_of_the_loop(name):
    text = kernel(UNROLLED[name])
    assert opcodes(text).count("IMAD") >= 3 + opcodes(rolled(text)).count("IMAD"), "it was not unrolled"
    assert run(text, TURNS) == run(rolled(text), TURNS)


@pytest.mark.parametrize("turns", SAME, ids=lambda turns: str(turns[0]))
@pytest.mark.parametrize("name", ["a sum", "unequal", "first turn whatever the bound", "a long way over"])
def test_memory_where_all_lanes_have_as_many_turns(name, turns):
    text = kernel(UNROLLED[name])
    assert run(text, turns) == run(rolled(text), turns)


@pytest.mark.parametrize("name", ROLLED_LOOPS)
def test_loops_that_stay_as_they_are(name):
    text = kernel(ROLLED_LOOPS[name])
    assert opcodes(text) == opcodes(rolled(text))


def test_loops_are_unrolled_where_ptxas_unrolls_them():
    theirs = read_table()
    assert theirs.keys() == LOOPS.keys()
    copies = {loop: opcodes(text_of(loop)).count("FFMA") for loop in LOOPS}
    assert set(copies.values()) == {1, 7, 8}  # four, two and one; unsigned, one more before them
    assert {loop for loop in LOOPS if copies[loop] != theirs[loop]} == KNOWN.keys()


@pytest.mark.long
@needs_ptxas
@pytest.mark.skipif(find_nvdisasm() is None, reason="nvdisasm is not installed: pip install nvidia-cuda-nvdisasm")
def test_the_table_is_what_ptxas_makes(tmp_path):
    loops = ["sum", "ne", "gt, down", "shuffle", "guarded store", "15 loads", "16 loads", "44 products"]
    assert {row.loop: row.copies for row in asked(loops, tmp_path)} == {loop: read_table()[loop] for loop in loops}


def test_a_target_for_a_debugger_keeps_its_loops():
    text = kernel(UNROLLED["a sum"]).replace(".target sm_90", ".target sm_90, debug")
    assert opcodes(text) == opcodes(rolled(text))


@pytest.mark.parametrize("place", ["({}", "entry", "LOOP"])
def test_the_pragma_stands_before_kernels_in_them_and_in_loops(place):
    text = kernel(UNROLLED["a sum"])
    places = {
        "({}": text.replace(".visible", ROLLED + ".visible"),
        "entry": text.replace("{\n", ROLLED + "{\n", 1),
        "LOOP": text.replace("LOOP:", "LOOP: " + ROLLED, 1),
    }
    assert opcodes(places[place]).count("IMAD") == 1 < opcodes(text).count("IMAD")


def test_loads_of_four_turns_are_under_way_together():
    """The first product waits for the first load: all others stand before it, at offsets from one address."""
    program = assemble_text(kernel(UNROLLED["a sum"]))
    names = [TABLE[number].name for number in program.code["opcode"]]
    loads = [index for index, name in enumerate(names) if name == "LDG.32"][1:5]  # the first is the number of turns
    assert names[loads[0] : loads[3] + 1].count("IMAD") == 0
    assert [int(program.code["imm"][index]) for index in loads] == [0, 4, 8, 12]
    assert len({int(program.code["a"][index]) for index in loads}) == 1


def test_every_copy_is_of_its_own_line():
    """Seven copies of what stands in the loop: four, two and one."""
    text = kernel(counting("\nld.global.u32 %r10, [%rd3];\nmad.lo.u32 %r9, %r9, 31, %r10;\nadd.u64 %rd3, %rd3, 4;"))
    program = assemble_text(text)
    first = next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith("ld.global.u32 %r10"))
    lines = list(
        zip((TABLE[number].name for number in program.code["opcode"]), program.ptx_lines.tolist(), strict=True)
    )
    assert lines.count(("LDG.32", first)) == lines.count(("IMAD", first + 1)) == 7
    assert lines.count(("IADD.64", first + 2)) == 2  # once for four turns, once for two; nobody reads it after the last
    assert {line for _, line in lines} <= set(range(1, len(text.splitlines()) + 1))


def random_loop(seed: int) -> str:
    """Some statements over a few registers, loads and stores that may touch each other, a test of some kind."""
    rng = random.Random(seed)
    body, stored = [], False
    for _ in range(rng.randint(2, 7)):
        r, a, b = (f"%r{rng.randint(9, 13)}" for _ in range(3))
        guard = rng.choice(["", "", "", f"setp.lt.u32 %p6, {a}, {b}; @%p6 "])
        kind = rng.choice(["mad", "load", "load", "store", "xor", "counter"])
        offset = 4 * rng.randint(0, 4)
        if kind == "load":
            body.append(f"{guard}ld.global.u32 {r}, [%rd4+{offset}];")
        elif kind == "store":
            body.append(f"st.global.u32 [%rd4+{offset}], {r};")
            stored = True
        else:
            what = {
                "mad": f"mad.lo.u32 {r}, {a}, {b}, 3;",
                "xor": f"xor.b32 {r}, {a}, {b};",
                "counter": f"add.u32 {r}, {a}, %r2;",
            }[kind]
            body.append(guard + what)
    body.insert(rng.randint(0, len(body)), f"add.u64 %rd4, %rd4, {4 * rng.choice([1, 1, 2, -1])};")
    if not stored:
        body.append("st.global.u32 [%rd4], %r9;")
    loop = counting(
        "".join(body) + "xor.b32 %r9, %r9, %r10;",
        step=rng.choice([1, 1, 2, 5]),
        compares=rng.choice(["lt.s32", "le.s32", "lt.u32", "lt.s32", "le.u32"]),
        guarded=rng.random() < 0.7,
    )
    return (
        f"mov.u32 %r10, %r1; mov.u32 %r11, 3; mov.u32 %r13, 9; and.b32 %r3, %r3, 63; add.u64 %rd4, %rd4, 2048; {loop}"
    )


def test_random_loops():
    unrolled = 0
    for seed in range(24):
        text = kernel(random_loop(seed))
        unrolled += len(opcodes(text)) > len(opcodes(rolled(text)))
        assert run(text, TURNS) == run(rolled(text), TURNS), f"random_loop({seed})"
    assert unrolled >= 20
