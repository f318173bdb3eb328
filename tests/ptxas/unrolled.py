"""Which loops ptxas unrolls: `python -m tests.ptxas.unrolled` asks it with one small kernel after the other and writes
tests/ptxas/unrolled.csv.

Every loop has one multiply-add of floats in each turn; how many of them the machine code has says how many turns were
copied.
"""

import csv
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.ptxas.sass_slots import find_nvdisasm, version
from tests.support.nvidia_tools import PTXAS

TABLE = Path(__file__).parent / "unrolled.csv"
ADD = "fma.rn.f32 %f0, %f1, %f1, %f0;"
LOAD = "ld.global.f32 %f1, [%rd3]; add.u64 %rd3, %rd3, 128;"
TURN = LOAD + ADD
KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m)
{
    .reg .b32 %r<64>; .reg .b64 %rd<64>; .reg .f32 %f<64>; .reg .pred %p<16>; .shared .align 16 .b8 shared[4096];
    ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; ld.param.u32 %r0, [n]; ld.param.u32 %r2, [m];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd0, %rd2; add.u64 %rd4, %rd1, %rd2; mov.f32 %f0, 0f00000000;
    add.u64 %rd5, %rd4, 8192; mov.u32 %r4, shared; mov.u32 %r5, %tid.y; mov.u32 %r6, %tid.z;
BODY
    st.global.f32 [%rd4], %f0;
    ret;
}
"""  # noqa: E501


def counted(
    turn: str,
    *,
    compares: str = "lt.s32",
    step: str = "1",
    start: str = "%r1",
    bound: str = "%r0",
    guarded: bool = True,
) -> str:
    skip = f"setp.{compares} %p0, %r3, {bound}; @!%p0 bra END;" if guarded else ""
    return (
        f"mov.u32 %r3, {start}; {skip}\nLOOP: {turn}\nadd.s32 %r3, %r3, {step}; setp.{compares} %p1, %r3, {bound}; "
        "@%p1 bra LOOP;\nEND:"
    )


def ended(end: str, turn: str = TURN) -> str:
    """A loop whose count and test are written out."""
    return f"mov.u32 %r3, %r1;\nLOOP: {turn}\n{end}\nEND:"


SPLIT = {  # how a function goes two ways; `ORDERED` is the order that ptxas itself gives the blocks
    "ORDERED": "setp.gt.s32 %p7, %r2, 0; @%p7 bra SECOND; {} bra BEHIND; SECOND: {} BEHIND:",
    "OTHER": "setp.gt.s32 %p7, %r2, 0; @%p7 bra FIRST; bra.uni SECOND; FIRST: {} bra BEHIND; SECOND: {} BEHIND:",
}
NEGATED = "neg.f32 %f0, %f0;"
OUT = "add.s32 %r3, %r3, 1; setp.{} %p1, %r3, %r0; @%p1 bra END; bra LOOP;"
MUL = "mul.rn.f32 %f0, %f0, %f1;"
LONG_SKIP = f"setp.gt.f32 %p4, %f1, 0f00000000; @%p4 bra OVER; {MUL * 15} OVER:"
LOOPS = {
    "sum": counted(TURN),
    "no memory": counted("fma.rn.f32 %f0, %f0, %f0, %f0;"),
    "le": counted(TURN, compares="le.s32"),
    "ne": counted(TURN, compares="ne.s32"),
    "gt, away from the bound": counted(TURN, compares="gt.s32"),
    "gt, down": counted(TURN, compares="gt.s32", step="-1"),
    "ge, down": counted(TURN, compares="ge.s32", step="-1"),
    "ne, down to 0": counted(TURN, compares="ne.s32", step="-1", start="%r0", bound="0"),
    "ne, by 2": counted(TURN, compares="ne.s32", step="2"),
    "lt, unsigned": counted(TURN, compares="lt.u32"),
    "le, unsigned": counted(TURN, compares="le.u32"),
    "ne, unsigned": counted(TURN, compares="ne.u32"),
    "gt, unsigned, down": counted(TURN, compares="gt.u32", step="-1"),
    "by 2": counted(TURN, step="2"),
    "by 1000": counted(TURN, step="1000"),
    "by what is not known": counted(TURN, step="%r2"),
    "first turn always": counted(TURN, guarded=False),
    "up to a number": counted(TURN, bound="100"),
    "bound changes": counted(TURN + "ld.global.u32 %r0, [%rd5];"),
    "operands of the test exchanged": ended("add.s32 %r3, %r3, 1; setp.gt.s32 %p1, %r0, %r3; @%p1 bra LOOP;"),
    "negated branch": ended("add.s32 %r3, %r3, 1; setp.ge.s32 %p1, %r3, %r0; @!%p1 bra LOOP;"),
    "branch out, jump back": ended("add.s32 %r3, %r3, 1; setp.ge.s32 %p1, %r3, %r0; @%p1 bra END; bra LOOP;"),
    "branch out, jump back, an if around": "setp.gt.s32 %p7, %r2, 0; @%p7 bra ONE; bra.uni BEHIND; ONE: "
        + ended(OUT.format("ge.s32")) + "BEHIND:",
    "branch out, jump back, blocks in order": SPLIT["ORDERED"].format(NEGATED, ended(OUT.format("ge.s32"))),
    "branch out, jump back, behind blocks in order": SPLIT["ORDERED"].format(NEGATED, NEGATED)
        + ended(OUT.format("ge.s32")),
    "branch out far, jump back": SPLIT["ORDERED"].format(ended(OUT.format("ge.s32")), NEGATED),
    "branch out, jump back, blocks in another order": SPLIT["OTHER"].format(ended(OUT.format("ge.s32")), NEGATED),
    "branch out where equal, jump back, blocks in another order": SPLIT["OTHER"].format(
        ended(OUT.format("eq.s32")), NEGATED),
    "branch out, jump back, second of blocks in another order": SPLIT["OTHER"].format(
        NEGATED, ended(OUT.format("eq.s32"))),
    "branch out, jump back, behind blocks in another order": SPLIT["OTHER"].format(NEGATED, NEGATED)
        + ended(OUT.format("ge.s32")),
    "negated branch, blocks in another order": SPLIT["OTHER"].format(
        ended("add.s32 %r3, %r3, 1; setp.ge.s32 %p1, %r3, %r0; @!%p1 bra LOOP;"), NEGATED),
    "test before the count": ended("setp.lt.s32 %p1, %r3, %r0; add.s32 %r3, %r3, 1; @%p1 bra LOOP;"),
    "count at the start": ended("setp.lt.s32 %p1, %r3, %r0; @%p1 bra LOOP;", "add.s32 %r3, %r3, 1;" + TURN),
    "doubled": ended("shl.b32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r0; @%p1 bra LOOP;"),
    "64-bit counter": "mov.u64 %rd20, %rd2; cvt.s64.s32 %rd21, %r0;" + ended("add.s64 %rd20, %rd20, 1; "
        "setp.lt.s64 %p1, %rd20, %rd21; @%p1 bra LOOP;"),
    "pointer as counter": "add.u64 %rd21, %rd3, %rd4;" + ended("setp.lt.u64 %p1, %rd3, %rd21; @%p1 bra LOOP;"),
    "a list": ended("setp.ne.u64 %p1, %rd3, 0; @%p1 bra LOOP;", "ld.global.f32 %f1, [%rd3+8]; "
        "ld.global.u64 %rd3, [%rd3];" + ADD),
    "nounroll": counted('.pragma "nounroll";' + TURN),
    "two pointers": counted(TURN + "ld.global.f32 %f2, [%rd5]; add.u64 %rd5, %rd5, 64; add.f32 %f0, %f0, %f2;"),
    "through an index": counted(
        "ld.global.u32 %r10, [%rd3]; add.u64 %rd3, %rd3, 128; mul.wide.s32 %rd10, %r10, 4; add.u64 %rd11, %rd0, %rd10; "
            "ld.global.f32 %f1, [%rd11];" + ADD
    ),
    "address from the counter": counted("mul.wide.s32 %rd10, %r3, 4; add.u64 %rd11, %rd0, %rd10; ld.global.f32 %f1, "
        "[%rd11];" + ADD),
    "counter read": counted(TURN + "cvt.rn.f32.s32 %f3, %r3; add.f32 %f0, %f0, %f3;"),
    "shared load": counted("ld.shared.f32 %f1, [%r4]; add.u32 %r4, %r4, 4;" + ADD),
    "volatile load": counted("ld.volatile.global.f32 %f1, [%rd3];" + ADD),
    "store": counted(TURN + "st.global.f32 [%rd5], %f0; add.u64 %rd5, %rd5, 128;"),
    "store to one place": counted(TURN + "st.global.f32 [%rd5], %f0;"),
    "guarded store": counted(TURN + "setp.gt.f32 %p4, %f1, 0f00000000; @%p4 st.global.f32 [%rd5], %f1; add.u64 %rd5, "
        "%rd5, 128;"),
    "store behind a branch": counted(TURN + LONG_SKIP.replace("OVER:", "st.global.f32 [%rd5], %f1; "
        "OVER: add.u64 %rd5, %rd5, 128;")),
    "guarded sum": counted(TURN + "setp.gt.f32 %p4, %f1, 0f00000000; @%p4 add.f32 %f0, %f0, %f1;"),
    "short way over": counted(TURN + "setp.gt.f32 %p4, %f1, 0f00000000; @%p4 bra OVER; add.f32 %f0, %f0, %f1; OVER:"),
    "long way over": counted(TURN + LONG_SKIP),
    "left in the middle": counted(TURN + "setp.gt.f32 %p4, %f1, 0f00000000; @%p4 bra END;"),
    "exit in the middle": counted(TURN + "setp.gt.f32 %p4, %f1, 0f00000000; @%p4 exit;"),
    "in another loop": f"mov.u32 %r30, 0;\nOUTER: {counted(TURN)}\nadd.s32 %r30, %r30, 1; setp.lt.s32 %p9, %r30, %r2; "
        "@%p9 bra OUTER;",
    "barrier": counted(TURN + "bar.sync 0;"),
    "shuffle": counted(TURN + "shfl.sync.bfly.b32 %f0, %f0, 1, 31, -1;"),
    "vote": counted(TURN + "vote.sync.ballot.b32 %r9, %p3, -1; cvt.rn.f32.u32 %f3, %r9; add.f32 %f0, %f0, %f3;"),
    "atomic": counted(TURN + "atom.global.add.u32 %r9, [%rd4], 1;"),
    "reduction": counted(TURN + "red.global.add.u32 [%rd4], 1;"),
    "shared atomic": counted(TURN + "atom.shared.add.u32 %r9, [%r4], 1;"),
    "fence": counted(TURN + "membar.gl;"),
    "asynchronous copy": counted(TURN + "cp.async.ca.shared.global [%r4], [%rd3], 4; cp.async.wait_all;"),
    "matrices": counted(
        TURN + "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f10, %f11, %f12, %f13}, {%r10, %r11}, {%r12}, "
            "{%f10, %f11, %f12, %f13};"
    ),
    **{f"{n} products": counted(TURN + MUL * n) for n in (10, 20, 40, 43, 44, 60)},
    **{f"{n} loads": counted("".join(f"ld.global.f32 %f3, [%rd3+{4 * k}]; add.f32 %f0, %f0, "
        "%f3;" for k in range(n - 1)) + TURN) for n in (4, 15, 16)},
    "15 loads, the pointer moved by each": counted("ld.global.f32 %f3, [%rd3]; add.f32 %f0, %f0, %f3; add.u64 %rd3, "
        "%rd3, 4;" * 14 + TURN),
    **{f"{n} guarded sums": counted(TURN + "setp.gt.f32 %p4, %f0, %f1; @%p4 add.f32 %f0, %f0, "
        "%f1;" * n) for n in (4, 10, 14, 15)},
}  # fmt: skip
# Where ours differs, and why.
KNOWN = {
    "15 loads, the pointer moved by each": "ours counts the slots of each sum, ptxas has made one of them before",
    "branch out far, jump back": "ptxas copies one turn more before code that another way leads to",
    "branch out, jump back, second of blocks in another order": "the same",
    "ne, unsigned": "ptxas has a turn before the four as with other unsigned numbers; ours, which falls back to the "
    "loop as it was, needs none",
}


class Row(NamedTuple):
    loop: str
    copies: int  # multiply-adds in all: one where the loop stays as it is


def text_of(loop: str) -> str:
    return KERNEL.replace("BODY", LOOPS[loop])


def read_table() -> dict[str, int]:
    with TABLE.open() as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return {loop: int(copies) for loop, copies in list(rows)[1:]}


def asked(loops, folder: Path) -> list[Row]:
    return [Row(loop, _copies(text_of(loop), folder)) for loop in loops]


def _copies(text: str, folder: Path) -> int:
    (folder / "k.ptx").write_text(text)
    subprocess.run(
        [PTXAS, "-arch=sm_80", str(folder / "k.ptx"), "-o", str(folder / "k.cubin")], check=True, capture_output=True
    )
    said = subprocess.run([find_nvdisasm(), str(folder / "k.cubin")], check=True, capture_output=True, text=True).stdout
    return len(re.findall(r"\bFFMA\b", said))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, TABLE.open("w") as file:
        file.write(
            f"# multiply-adds that ptxas -arch=sm_80 makes of one, {version()}; written by python -m "
            "tests.ptxas.unrolled\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(asked(LOOPS, Path(folder)))


if __name__ == "__main__":
    main()
