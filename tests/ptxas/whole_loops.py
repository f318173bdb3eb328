"""Which loops of a known number of turns ptxas writes out: `python -m tests.ptxas.whole_loops` asks it with one small
kernel after the other and writes tests/ptxas/whole_loops.csv.

As in `unrolled`, every turn has one multiply-add of floats. A loop is written out if there are as many as turns, and no
jump.
"""

import csv
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.ptxas.sass_slots import find_nvdisasm, version
from tests.ptxas.unrolled import ADD, KERNEL, MUL, TURN
from tests.support.nvidia_tools import PTXAS

TABLE = Path(__file__).parent / "whole_loops.csv"
SUM = "fma.rn.f32 %f0, %f0, %f2, %f1;"
MOVED = "ld.shared.f32 %f1, [%r4]; add.u32 %r4, %r4, 4;" + ADD


def counted(turn: str, turns: int, *, step: int = 1, start: int = 0, compares: str = "lt.s32") -> str:
    return (
        f"mov.u32 %r3, {start};\nLOOP: {turn}\nadd.s32 %r3, %r3, {step}; "
        f"setp.{compares} %p1, %r3, {start + step * turns}; @%p1 bra LOOP;\nEND:"
    )


def nested(inner: str, turns: int) -> str:
    return f"mov.u32 %r30, 0;\nOUTER: {inner}\nadd.s32 %r30, %r30, 1; setp.ne.s32 %p9, %r30, {turns}; @%p9 bra OUTER;"


def shared_loads(n: int) -> str:
    """Loads by the counter, a multiply-add of the first alone."""
    return (
        "shl.b32 %r10, %r3, 2; add.u32 %r11, %r4, %r10; ld.shared.f32 %f1, [%r11];"
        + ADD
        + "".join(f"ld.shared.f32 %f2, [%r11+{512 * k}]; add.f32 %f0, %f0, %f2;" for k in range(1, n))
    )


# name -> the turns that ptxas would write out, and the text
LOOPS = {
    **{f"{n} sums": (n, counted(SUM, n)) for n in (2, 8, 128, 1024)},
    **{f"{n} global loads": (n, counted(TURN, n)) for n in (2, 3, 4, 7, 8, 16, 33, 128)},
    **{f"{n} shared loads": (n, counted(MOVED, n)) for n in (2, 8, 16, 32, 64, 128)},
    **{f"{n} times {m} products": (n, counted(SUM + MUL * m, n))
       for m, n in ((10, 128), (10, 256), (20, 40), (20, 64), (30, 16), (30, 32), (60, 6), (60, 12), (100, 3), (100, 4),
                    (160, 2), (300, 2))},
    **{f"{n} times {k} shared loads, {m} products": (n, counted(shared_loads(k) + MUL * m, n))
       for m, k, n in ((30, 1, 32), (30, 1, 128), (30, 4, 128), (60, 1, 8), (60, 1, 32), (60, 4, 32), (60, 8, 64),
                       (100, 8, 16), (100, 8, 64))},
    "unequal": (8, counted(TURN, 8, compares="ne.s32")),
    "down": (8, counted(TURN, 8, start=8, step=-1, compares="gt.s32")),
    "by 3, unsigned": (8, counted(TURN, 8, step=3, compares="lt.u32")),
    "store": (8, counted(TURN + "st.global.f32 [%rd5], %f0; add.u64 %rd5, %rd5, 128;", 8)),
    "store to one place": (8, counted(TURN + "st.global.f32 [%rd5], %f0;", 8)),
    "guarded store": (8, counted(TURN + "setp.gt.f32 %p4, %f1, 0f00000000; @%p4 st.global.f32 [%rd5], %f1;", 8)),
    "shared store": (8, counted(TURN + "st.shared.f32 [%r4], %f0; add.u32 %r4, %r4, 4;", 8)),
    "short way over": (8, counted(TURN + "setp.gt.f32 %p4, %f1, 0f00000000; @%p4 bra OVER; add.f32 %f0, %f0, %f1; "
        "OVER:", 8)),
    "barrier": (8, counted(TURN + "bar.sync 0;", 8)),
    "shuffle": (8, counted(TURN + "shfl.sync.bfly.b32 %f0, %f0, 1, 31, -1;", 8)),
    "vote": (8, counted(TURN + "vote.sync.ballot.b32 %r9, %p3, -1; cvt.rn.f32.u32 %f3, %r9; add.f32 %f0, %f0, %f3;",
        8)),
    "atomic": (8, counted(TURN + "atom.global.add.u32 %r9, [%rd4], 1;", 8)),
    "reduction": (8, counted(TURN + "red.global.add.u32 [%rd4], 1;", 8)),
    "shared atomic": (8, counted(TURN + "atom.shared.add.u32 %r9, [%r4], 1;", 8)),
    "fence": (8, counted(TURN + "membar.gl;", 8)),
    "volatile load": (8, counted("ld.volatile.global.f32 %f1, [%rd3];" + ADD, 8)),
    "asynchronous copy": (8, counted(TURN + "cp.async.ca.shared.global [%r4], [%rd3], 4; cp.async.wait_all;", 8)),
    "integer division": (8, counted(TURN + "div.u32 %r9, %r9, %r5;", 8)),
    "nounroll": (8, counted('.pragma "nounroll";' + TURN, 8)),
    "negated branch": (8, "mov.u32 %r3, 0; LOOP: " + TURN + "add.s32 %r3, %r3, 1; setp.ge.s32 %p1, %r3, 8; "
        "@!%p1 bra LOOP;"),
    "branch out, jump back": (8, "mov.u32 %r3, 0; LOOP: " + TURN + "add.s32 %r3, %r3, 1; setp.eq.s32 %p1, %r3, 8; "
        "@%p1 bra END; bra LOOP; END:"),
    "test before the count": (8, "mov.u32 %r3, 0; LOOP: " + TURN + "setp.lt.s32 %p1, %r3, 8; add.s32 %r3, %r3, 1; "
        "@%p1 bra LOOP;"),
    "doubled": (8, "mov.u32 %r3, 1; LOOP: " + TURN + "shl.b32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 256; @%p1 bra LOOP;"),
    "64-bit counter": (8, "mov.u64 %rd20, 0; LOOP: " + TURN + "add.s64 %rd20, %rd20, 1; setp.lt.s64 %p1, %rd20, 8; "
        "@%p1 bra LOOP;"),
    "8 in 4": (32, nested(counted(TURN, 8), 4)),
    "8 in 32": (256, nested(counted(TURN, 8), 32)),
    "8 in 4, a barrier between": (32, nested(counted(TURN, 8) + "bar.sync 0;", 4)),
    "8 and 8 in 4": (64, nested(counted(TURN, 8) + counted(TURN, 8).replace("LOOP", "NEXT").replace("END", "OUT"), 4)),
}  # fmt: skip


class Row(NamedTuple):
    loop: str
    written_out: bool


def text_of(loop: str) -> str:
    return KERNEL.replace("BODY", LOOPS[loop][1])


def read_table() -> dict[str, bool]:
    with TABLE.open() as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return {loop: written_out == "True" for loop, written_out in list(rows)[1:]}


def asked(loops, folder: Path) -> list[Row]:
    return [Row(loop, _is_written_out(loop, folder)) for loop in loops]


def _is_written_out(loop: str, folder: Path) -> bool:
    (folder / "k.ptx").write_text(text_of(loop))
    subprocess.run(
        [PTXAS, "-arch=sm_80", str(folder / "k.ptx"), "-o", str(folder / "k.cubin")], check=True, capture_output=True
    )
    said = subprocess.run([find_nvdisasm(), str(folder / "k.cubin")], check=True, capture_output=True, text=True).stdout
    jumps = len(re.findall(r"\bBRA `", said)) - 1  # behind each kernel stands a jump to itself
    return len(re.findall(r"\bFFMA\b", said)) == LOOPS[loop][0] and not jumps


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, TABLE.open("w") as file:
        file.write(
            f"# loops that ptxas -arch=sm_80 writes out, {version()}; written by python -m tests.ptxas.whole_loops\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(asked(LOOPS, Path(folder)))


if __name__ == "__main__":
    main()
