"""How far apart ptxas issues an instruction and one that uses its result: writes tests/ptxas/distances.csv, run as
`python -m tests.ptxas.distances`.

Machine code for sm_75 and later carries in each instruction how many cycles the warp waits before its next one. With
nothing to put between, the sum of these from a maker to its reader is what ptxas knows about the hardware's fixed
latencies. Where a result is waited for with a scoreboard instead, the latency is not fixed and the table has 0. Needs
ptxas and nvdisasm; the file is for machines without them.
"""

import csv
import re
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.ptxas.expansion import module, version
from tests.ptxas.sass_slots import find_nvdisasm
from tests.support.nvidia_tools import PTXAS

TABLE = Path(__file__).parent / "distances.csv"
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")

HADD2S = (
    # for sm_80 and sm_90 ptxas takes two units in turn, HADD2 the second time
    "add.rn.f16x2 %r9, %r1, %r2; add.rn.f16x2 %r9, %r9, %r3;"
)
DOUBLE = "ld.volatile.global.f64 %g1, [%in+256];"
LOP3 = "lop3.b32 %r9, %r1, %r2, %r3, 0x1e;"
HMMA = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r1, %r2}, {%r3},"
HMMA_LONG = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r1, %r2, %r3, %r4}, {%r3, %r4},"
FIRST, AGAIN, KEPT = "{%f1, %f2, %f3, %f4};", "{%f5, %f6, %f7, %f8};", "mov.b32 %r9, %f5"
COMPARE = "setp.lt.s32 %p1, %r1, %r2;"
FMAS = r"FFMA|FADD|IMAD(?!\.HI|\.MOV)"


class Pair(NamedTuple):
    """`ptx` makes and uses a result, and leaves something in %r9; the others are patterns of the maker and the reader
    in machine code.
    """

    name: str
    ptx: str
    maker: str
    reader: str


PAIRS = (
    Pair("FFMA FFMA", "fma.rn.f32 %f9, %f1, %f2, %f3; fma.rn.f32 %f9, %f9, %f2, %f3; mov.b32 %r9, %f9", "FFMA", "FFMA"),
    Pair("FFMA LOP3", "fma.rn.f32 %f9, %f1, %f2, %f3; mov.b32 %r9, %f9; lop3.b32 %r9, %r9, %r2, %r3, "
        "0x1e", "FFMA", "LOP3"),
    Pair("LOP3 LOP3", f"{LOP3} shf.l.wrap.b32 %r9, %r9, %r2, %r3; lop3.b32 %r9, %r9, %r2, %r4, 0x1e", "SHF", "LOP3"),
    Pair("LOP3 FFMA", f"{LOP3} mov.b32 %f9, %r9; fma.rn.f32 %f9, %f9, %f2, %f3; mov.b32 %r9, %f9", "LOP3", "FFMA"),
    Pair("IMAD IMAD", "mad.lo.u32 %r9, %r1, %r2, %r3; mad.lo.u32 %r9, %r9, %r2, %r3", "IMAD", "IMAD"),
    Pair("IMAD.HI IMAD.HI", "mul.hi.u32 %r9, %r1, %r2; mul.hi.u32 %r9, %r9, %r3; mul.hi.u32 %r9, %r9, "
        "%r4", r"IMAD\.HI", r"IMAD\.HI"),
    Pair("IMAD.HI LOP3", "mul.hi.u32 %r9, %r1, %r2; lop3.b32 %r9, %r9, %r2, %r3, 0x1e", r"IMAD\.HI", "LOP3"),
    Pair("IMAD.HI IMAD", "mul.hi.u32 %r9, %r1, %r2; mad.lo.u32 %r9, %r9, %r2, %r3", r"IMAD\.HI", "IMAD "),
    Pair("LOP3 HADD2", f"{LOP3} {HADD2S.replace('%r1', '%r9')}", "LOP3", r"HADD2|HFMA2"),
    Pair("HADD2 HADD2", f"{HADD2S} add.rn.f16x2 %r9, %r9, %r4;", "HADD2 ", r"HADD2|HFMA2"),
    Pair("HADD2 LOP3", f"{HADD2S} lop3.b32 %r9, %r9, %r2, %r4, 0x1e", "HADD2 ", "LOP3"),
    Pair("HADD2 POPC", f"{HADD2S} popc.b32 %r9, %r9", "HADD2 ", "POPC"),
    Pair("HADD2 STG", HADD2S, "HADD2 ", "STG"),
    Pair("LOP3 POPC", f"{LOP3} popc.b32 %r9, %r9", "LOP3", "POPC"),
    Pair("FFMA MUFU", "fma.rn.f32 %f9, %f1, %f2, %f3; ex2.approx.ftz.f32 %f9, %f9; mov.b32 %r9, %f9", "FFMA", "MUFU"),
    Pair("LOP3 STG", LOP3, "LOP3", "STG"),
    Pair("LOP3 LDS", f"{LOP3} ld.volatile.shared.u32 %r9, [%r9]", "LOP3", "LDS"),
    Pair("I2F FFMA", "cvt.rn.f32.s32 %f9, %r1; fma.rn.f32 %f9, %f9, %f2, %f3; mov.b32 %r9, %f9", "I2F", "FFMA"),
    Pair("DFMA DFMA", f"{DOUBLE} fma.rn.f64 %g9, %g1, %g2, %g3; fma.rn.f64 %g9, %g9, %g2, %g3; mov.b64 {{%r9, %r8}}, "
        "%g9; xor.b32 %r9, %r9, %r8", "DFMA", "DFMA"),
    Pair("DFMA LOP3", f"{DOUBLE} fma.rn.f64 %g9, %g1, %g2, %g3; mov.b64 {{%r9, %r8}}, %g9; xor.b32 %r9, %r9, "
        "%r8", "DFMA", "LOP3"),
    Pair("DFMA STG", f"{DOUBLE} fma.rn.f64 %g9, %g1, %g2, %g3; st.volatile.global.f64 [%in+512], %g9; mov.u32 %r9, "
        "%r1", "DFMA", "STG"),
    Pair("ISETP SEL", f"{COMPARE} selp.b32 %r9, %r3, %r4, %p1", "ISETP", "SEL"),
    Pair("ISETP VOTE", f"{COMPARE} vote.sync.ballot.b32 %r9, %p1, -1", "ISETP", "VOTE"),
    Pair("VOTE LOP3", f"{COMPARE} vote.sync.ballot.b32 %r9, %p1, -1; lop3.b32 %r9, %r9, %r2, %r4, "
        "0x1e", "VOTE", "LOP3"),
    Pair("ISETP @STG", f"{COMPARE} @%p1 st.volatile.global.u32 [%in+512], %r3; mov.u32 %r9, %r1", "ISETP", ".*STG"),
    Pair("ISETP @MUFU", f"{COMPARE} mov.f32 %f9, %f1; @%p1 ex2.approx.ftz.f32 %f9, %f2; mov.b32 %r9, "
        "%f9", "ISETP", ".*MUFU"),
    Pair("ISETP @FADD", f"{COMPARE} mov.f32 %f9, %f1; @%p1 add.f32 %f9, %f2, %f3; mov.b32 %r9, %f9", "ISETP", ".*FADD"),
    Pair("ISETP @EXIT", f"{COMPARE} @%p1 ret; mov.u32 %r9, %r1", "ISETP", ".*EXIT"),
    Pair("HMMA.1688 HMMA.1688", f"{HMMA} {FIRST} {HMMA} {AGAIN} {KEPT}", "HMMA", "HMMA"),
    Pair("HMMA.1688 FADD", f"{HMMA} {FIRST} add.f32 %f5, %f5, %f1; {KEPT}", "HMMA", "FADD"),
    Pair("HMMA.1688 STG", f"{HMMA} {FIRST} {KEPT}", "HMMA", "STG"),
    Pair("HMMA.16816 HMMA.16816", f"{HMMA_LONG} {FIRST} {HMMA_LONG} {AGAIN} {KEPT}", "HMMA", "HMMA"),
    Pair("LOP3 HMMA.1688", f"{LOP3} {HMMA.replace('{%r3}', '{%r9}')} {FIRST} {KEPT}", "LOP3", "HMMA"),
)  # fmt: skip
NOT_THERE = {"sm_75": ("HMMA.16816 HMMA.16816",)}


def kernel(name: str, pair: Pair) -> str:
    """Loads in order, the operand that all wait for last; then the pair, with nothing that could come between."""
    declared = [".reg .b32 %r<10>;", ".reg .f32 %f<10>;", ".reg .f64 %g<10>;", ".reg .pred %p<4>;", ".reg .b64 %in;"]
    loads = [f"ld.volatile.global.f64 %g{k}, [%in+{8 * k}];" for k in (2, 3)]
    loads += [f"ld.volatile.global.u32 %r{k}, [%in+{128 + 4 * k}];" for k in (4, 3, 2, 1)]
    moves = [f"mov.b32 %f{k}, %r{k};" for k in (1, 2, 3, 4)]
    body = ["ld.param.u64 %in, [p];", "ld.volatile.global.u64 %in, [%in];", *loads, *moves, pair.ptx.rstrip("; ") + ";"]
    return "\n".join(
        [
            f".visible .entry {name}(.param .u64 p) {{",
            *declared,
            *body,
            "st.volatile.global.u32 [%in+1024], %r9;",
            "ret;",
            "}",
        ]
    )


class Issued(NamedTuple):
    text: str
    stall: int
    scoreboard: bool  # whether its result is waited for with one


def issued(ptx: str, arch: str, folder: Path) -> dict[str, list[Issued]]:
    """The instructions of each kernel with their control bits: 41 to 44 of the upper word are the stall count, 46 to 48
    the scoreboard, 7 none.
    """
    path, cubin = folder / f"{arch}.ptx", folder / f"{arch}.cubin"
    path.write_text(ptx)
    subprocess.run([PTXAS, f"-arch={arch}", str(path), "-o", str(cubin)], check=True, capture_output=True)
    text = subprocess.run(
        [find_nvdisasm(), "-hex", "-c", str(cubin)], check=True, capture_output=True, text=True
    ).stdout
    found: dict[str, list[Issued]] = {}
    lines = text.splitlines()
    for line, following in pairwise(lines):
        if match := re.match(r"\s*\.section\s+\.text\.(\w+)", line):
            found[match[1]] = []
        elif match := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s+/\* 0x[0-9a-f]{16} \*/", line):
            control = int(re.search(r"0x([0-9a-f]{16})", following)[1], 16)
            list(found.values())[-1].append(Issued(match[1], control >> 41 & 15, control >> 46 & 7 != 7))
    return found


def distance(instructions: list[Issued], pair: Pair) -> int:
    """From the last maker to the reader behind it that names its result; 0 when that is waited for with a
    scoreboard.
    """
    for i in reversed(range(len(instructions))):
        text = instructions[i].text
        made = re.search(r"\b[RP]\d+", text.split(" ", 1)[1]) if re.match(pair.maker, text) and " " in text else None
        if not made:
            continue
        for j in range(i + 1, len(instructions)):
            reader = instructions[j].text
            sources = reader if reader.startswith(("@", "ST")) else reader.split(",", 1)[-1]
            if re.match(pair.reader, reader) and re.search(rf"\b{made[0]}\b", sources):
                return 0 if instructions[i].scoreboard else sum(each.stall for each in instructions[i:j])
    raise LookupError(f"{pair.name}: no maker and reader in {[each.text for each in instructions]}")


def measure(arch: str, folder: Path) -> dict[str, int]:
    wanted = [pair for pair in PAIRS if pair.name not in NOT_THERE.get(arch, ())]
    found = issued(module(arch, [kernel(f"k{n}", pair) for n, pair in enumerate(wanted)]), arch, folder)
    return {pair.name: distance(found[f"k{n}"], pair) for n, pair in enumerate(wanted)}


def read_table() -> dict[str, dict[str, int]]:
    """By pair and architecture."""
    with TABLE.open() as file:
        names, *rows = csv.reader(line for line in file if not line.startswith("#"))
    return {row[0]: {arch: int(cell) for arch, cell in zip(names[1:], row[1:], strict=True) if cell} for row in rows}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = {arch: measure(arch, Path(folder)) for arch in ARCHITECTURES}
    with TABLE.open("w") as file:
        file.write(
            f"# Cycles from a maker to its reader, {version()}; written by tests/ptxas/distances.py; 0: not fixed\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["pair", *ARCHITECTURES])
        writer.writerows([pair.name, *(found[arch].get(pair.name, "") for arch in ARCHITECTURES)] for pair in PAIRS)


if __name__ == "__main__":
    main()
